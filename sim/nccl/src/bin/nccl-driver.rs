//! `nccl-driver`: drives a network plugin through random legal orders of NCCL's calls.
//!
//! The cards of this project's plugin are named by `ZERONIC_CARD`, as for NCCL.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use clap::Parser;
use nccl_harness::driver::cost::{cost, idle, Cost};
use nccl_harness::driver::lone::{connect_many, hold, reach};
use nccl_harness::driver::plant::{Fault, Planted};
use nccl_harness::driver::{run, Report, Settings};
use nccl_harness::net::{lines, linked, load, Net};

/// Drives a network plugin as NCCL does.
#[derive(Parser)]
struct Arguments {
    /// The plugin; without one that of this project.
    #[arg(long)]
    plugin: Option<PathBuf>,
    /// Version of the interface, 8 to 12.
    #[arg(long, default_value_t = 12)]
    version: u32,
    /// First seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seeds.
    #[arg(long, default_value_t = 20)]
    count: u64,
    /// Ends each schedule with requests in flight.
    #[arg(long)]
    abort: bool,
    /// Plants a fault before the plugin, which is to be found.
    #[arg(long)]
    plant: Option<Fault>,
    /// Seconds until a schedule is stuck.
    #[arg(long, default_value_t = 60)]
    limit_s: u64,
    /// Connects so many communicators each way, and says how long it took.
    #[arg(long)]
    comms: Option<usize>,
    /// Says how much CPU time a message of 4 KiB takes at each end, beside the endpoint alone; this
    /// folder is for sockets. The environment names two golden cards.
    #[arg(long)]
    cost: Option<PathBuf>,
    /// Says which share of a core a card takes in so many seconds without messages.
    #[arg(long)]
    idle: Option<u64>,
    /// Listens by a handle in this file, posts a receive and never comes back.
    #[arg(long)]
    hold: Option<PathBuf>,
    /// Connects to the handle of a file, and says how it learns that the other one is gone.
    #[arg(long)]
    reach: Option<PathBuf>,
    /// Prints what the plugin has logged.
    #[arg(long)]
    verbose: bool,
    /// Fails if the plugin says that the CPU copied any byte, and that no packet was sent again:
    /// where a busy machine lets a timer expire, a packet comes twice.
    #[arg(long)]
    no_copies: bool,
}

/// What the plugin says before these words, at most, in all of its counts.
fn count_before(words: &str, lines: &[String]) -> Option<u64> {
    let counts = lines.iter().filter_map(|line| {
        let before = line.split(words).next()?;
        before.rsplit(' ').next()?.parse::<u64>().ok().filter(|_| before.len() < line.len())
    });
    counts.max()
}

fn say_cost(net: &dyn Net, folder: &Path) -> Result<()> {
    let rounds = cost(net, folder)?;
    let median = rounds.median();
    let Cost { alone_us, threads_us, calls_us } = median;
    let [least_us, most_us] = rounds.added_range_us();
    println!(
        "4096 bytes, CPU of each end: {threads_us:.2} us by the plugin's thread and \
         {calls_us:.2} us in its calls; {alone_us:.2} us by the endpoint alone: \
         {:.2} us added, {least_us:.2} to {most_us:.2} in all rounds",
        median.added_us()
    );
    Ok(())
}

fn drive(arguments: &Arguments) -> Result<()> {
    let version = arguments.version;
    let net: Box<dyn Net> = match &arguments.plugin {
        Some(path) => load(path, version)?.net,
        None => linked(version).with_context(|| format!("no version {version}"))?,
    };
    let net: Box<dyn Net> = match arguments.plant {
        Some(fault) => Box::new(Planted::new(net, fault)),
        None => net,
    };
    ensure!(net.init() == 0, "init has failed: {:?}", lines());
    if let Some(count) = arguments.comms {
        let [one, other] = connect_many(&*net, count)?;
        println!("{count} communicators each way: {one:?}, {other:?}");
        return Ok(());
    }
    if let Some(folder) = &arguments.cost {
        return say_cost(&*net, folder);
    }
    if let Some(seconds) = arguments.idle {
        let percent = idle(&*net, Duration::from_secs(seconds))?;
        println!("a card at rest takes {percent:.2} % of a core");
        return Ok(());
    }
    if let Some(file) = &arguments.hold {
        return hold(&*net, file);
    }
    if let Some(file) = &arguments.reach {
        println!("known to be gone by {}", reach(&*net, file)?);
        return Ok(());
    }
    let mut all = Report::default();
    for seed in arguments.seed..arguments.seed + arguments.count {
        let settings = Settings {
            aborts: arguments.abort,
            registers: seed % 2 == 0,
            limit_s: arguments.limit_s,
            narrow: None,
        };
        let report = run(&*net, seed, settings);
        all.add(&report.with_context(|| format!("seed {seed}"))?);
    }
    let logged = lines();
    if arguments.verbose {
        logged.iter().for_each(|line| println!("{line}"));
    }
    let copied_bytes = count_before(" bytes copied by the CPU", &logged).unwrap_or(0);
    let again = count_before(" packets again", &logged);
    println!(
        "v{version}: {} seeds from {}, {} sends, {} empty, {} groups received, {} retries, {} \
         bytes, copied {copied_bytes}, packets again {}",
        arguments.count,
        arguments.seed,
        all.sends,
        all.empty,
        all.receives,
        all.retries,
        all.bytes,
        again.unwrap_or(0)
    );
    let may_copy = !arguments.no_copies || again.is_some_and(|packets| packets > 0);
    ensure!(may_copy || copied_bytes == 0, "{copied_bytes} bytes were copied");
    ensure!(net.finalize() == 0, "finalize has failed");
    Ok(())
}

fn main() -> ExitCode {
    match drive(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nccl-driver: {error:#}");
            ExitCode::FAILURE
        }
    }
}
