//! Instructions of the host's calls: this program under Callgrind, in a mode of its own.

use std::process::{Command, Stdio};

use super::error::{Result, StackError};
use super::meter::{Meter, Program, COUNTED};
use super::work::{Worker, Workload};

/// Batches before those that are counted.
const WARM_UP_BATCHES: usize = 32;
/// Batches that are counted.
const BATCHES: usize = 32;

/// Whether Valgrind is there.
pub fn is_there() -> bool {
    let mut valgrind = Command::new("valgrind");
    let valgrind = valgrind.arg("--version").stdin(Stdio::null());
    valgrind.output().is_ok_and(|output| output.status.success())
}

/// The child's part: works on so many flows, and returns how much it has worked off.
pub fn count(program: Program, work: Workload, flows: usize) -> Result<u64> {
    let mut worker = Worker::open(work, flows)?;
    for _ in 0..WARM_UP_BATCHES.max(work.warm_up_batches(flows)) {
        worker.batch(work, flows, &mut Meter::Off)?;
    }
    worker.judge_later(work, flows, BATCHES)?;
    let mut meter = Meter::Instructions(program);
    let items = (0..BATCHES).map(|_| worker.batch(work, flows, &mut meter)).sum();
    worker.judge()?;
    items
}

/// Instructions of one packet, header, message or ACK, on so many flows.
pub fn instructions(program: Program, work: Workload, flows: usize) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(std::env::current_exe()?)
        .args((program.count_arguments)(work.name(), flows))
        .output()?;
    let (said, noted) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let said = noted.trim().to_owned();
        return Err(StackError::Valgrind { work: work.name(), said });
    }
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let collected = noted.lines().find_map(|line| {
        let (_, value) = line.split_once("Collected :")?;
        number(value)
    });
    match (collected, number(&said)) {
        (Some(collected), Some(items)) if collected > 0.0 => Ok(collected / items),
        _ => Err(StackError::NothingCounted { work: work.name() }),
    }
}
