//! How fast a core of this machine is: the factor that the model takes.
//!
//! ```text
//!   a copy of memory that no cache holds ──┐
//!   TCP over veth, both ends ──────────────┼─► times of the table over times here: their mean
//!   a system call ── shown only            ┘
//! ```
//! The table has no time of a bare system call, so that one is shown and does not count. veth has
//! no driver, no DMA and no interrupts: its factor flatters this machine. Times are those for which
//! a thread had a core: others on the machine do not count, but for what they do to its caches.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::Duration;

use anyhow::{Context, Result};
use host::transport::VethPair;
use measure::cpu::kernel::{Kernel, BASELINE};
use measure::timing::cores::thread_time;
use model::setup::RANGES;
use model::table::{Pays, Per, Row, Table};
use serde_json::json;

use super::refusal::refused;
use crate::shared::options::UsageError;
use crate::shared::output::print;

/// Copied at a time: more than caches hold.
const COPY_BYTES: usize = 256 << 20;
/// Time of the copies, and of the calls.
const SHORT: Duration = Duration::from_millis(1500);
/// Time of TCP that counts; as long again is needed around it.
const TCP_TIME: Duration = Duration::from_millis(3500);
/// Size of IP packets of the connection, bytes.
const MTU_BYTES: u16 = 9000;

/// ns for a byte copied.
fn copy_ns() -> f64 {
    let from = vec![1u8; COPY_BYTES];
    let mut to = vec![0u8; COPY_BYTES];
    // The first copy pays for the pages.
    to.copy_from_slice(black_box(&from));
    let (started, mut copies) = (thread_time(), 0u32);
    while thread_time() - started < SHORT {
        to.copy_from_slice(black_box(&from));
        black_box(&to);
        copies += 1;
    }
    (thread_time() - started).as_nanos() as f64 / (f64::from(copies) * COPY_BYTES as f64)
}

/// ns of a system call that moves a byte.
fn call_ns() -> Result<f64> {
    let mut zeros = File::open("/dev/zero").context("/dev/zero")?;
    let mut byte = [0u8; 1];
    let (started, mut calls) = (thread_time(), 0u64);
    while thread_time() - started < SHORT {
        for _ in 0..1000 {
            zeros.read_exact(&mut byte)?;
        }
        calls += 1000;
    }
    Ok((thread_time() - started).as_nanos() as f64 / calls as f64)
}

/// CPU ns for a byte through the kernel's TCP, both ends, as the table says for full segments.
fn table_tcp_ns(path: &Row) -> f64 {
    let threads = [Pays::Sender, Pays::Receiver, Pays::Companion];
    let bytes: f64 = threads.iter().map(|pays| path.value(*pays, Per::Byte)).sum();
    let segments: f64 = threads.iter().map(|pays| path.value(*pays, Per::Segment)).sum();
    let calls: f64 = threads.iter().map(|pays| path.value(*pays, Per::Message)).sum();
    bytes + (segments + calls) / path.segment_bytes
}

/// Measures, prints.
pub fn run(table: &Table, as_json: bool) -> Result<bool> {
    let path = table.path("kernel-copy").map_err(refused)?;
    let (copy, call) = (copy_ns(), call_ns()?);
    let pair = VethPair::open(MTU_BYTES).map_err(|error| match error.is_refusal() {
        true => UsageError(format!("--calibrate needs network namespaces: {error}")).into(),
        false => anyhow::Error::from(error),
    })?;
    let kernel = Kernel { pair: &pair, way: BASELINE, touched: false };
    let tcp = kernel.measure(TCP_TIME)?.threads;
    let of_copy = path.value(Pays::Receiver, Per::Byte) / copy;
    let of_tcp = table_tcp_ns(path) / tcp;
    let factor = (of_copy * of_tcp).sqrt();
    RANGES[RANGES.len() - 1].check(factor).map_err(refused)?;
    if as_json {
        let all = json!({
            "core_factor": factor, "copy_ns_per_byte": copy, "copy_factor": of_copy,
            "call_ns": call, "tcp_s_per_gb": tcp, "tcp_factor": of_tcp,
        });
        print(&format!("{all:#}\n"))?;
        return Ok(true);
    }
    print(&format!(
        "copy: {copy:.3} ns/byte, factor {of_copy:.2}\n\
         system call: {call:.0} ns, shown only\n\
         TCP over veth, both ends: {tcp:.3} s/GB, factor {of_tcp:.2}\n\
         your core: {factor:.2} times an EPYC 7502; the two factors differ by {:.0} %\n\
         zeronic model --core {factor:.2} --out page.html\n",
        100.0 * (of_copy / of_tcp - 1.0).abs(),
    ))?;
    Ok(true)
}
