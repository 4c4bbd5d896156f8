//! `bench all`: every row of the page.
//!
//! Each row is a command line, run as a user would run it; several can run at a time, as figures
//! are in simulated time. The page is rewritten after each row, so that the rows
//! measured so far are kept when a long run is interrupted.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{mpsc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, Parser, ValueEnum};
use measure::cpu::Report;
use measure::latency;
use network::measure::{fairness, incast, loss};

use super::area;
use super::connections::{self, CONNECTIONS_MAX};
use super::cpu::CpuArguments;
use super::dma;
use super::host::HostArguments;
use super::networks::measure_for_page;
use super::page::{Page, PageFiles, Row, RUNS_TITLE};
use super::speed;
use super::throughput::ThroughputArguments;
use crate::shared::config::ConfigName;
use crate::shared::options::{time_us, UsageError};
use crate::shared::output::print;

/// Goal of one flow, over its limit: 98.5 of 99.0 Gb/s.
const ONE_FLOW: f64 = 0.995;
/// Each direction of both at once, over the figure of one.
const BOTH: f64 = 0.97;
/// Many flows over one, and out of order over in order.
const AS_ONE: f64 = 0.99;
/// Small frames over what the link carries.
const SMALL: f64 = 0.9;
/// Numbers of flows.
const FLOWS: [u32; 4] = [16, 256, 4096, 16_384];

/// Groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// One flow in order.
    One,
    /// Many flows.
    Flows,
    /// Out of order.
    Order,
    /// Pure ACKs.
    Acks,
    /// Other completion sizes.
    Completions,
    /// Frame sizes.
    Frames,
    /// More than the link to the host carries, with and without pause.
    Pause,
    /// One header entry for a run of packets.
    Runs,
    /// Two owners on one wire.
    Owners,
    /// The DMA engines alone.
    Dma,
    /// Latency.
    Latency,
    /// Speed of the simulation.
    Sim,
    /// The host's control stack: ns, instructions and allocations of a packet.
    Host,
    /// CPU seconds for a GB, beside the kernel's TCP.
    Cpu,
    /// As many connections as the card has flows.
    Connections,
    /// Our own TCP on simulated networks: loss, fairness, incast.
    Networks,
    /// LUTs, memories and longest paths.
    Area,
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Section::One => "One flow",
            Section::Flows => "Many flows, round robin",
            Section::Order => {
                "Out of order, IPv4 and IPv6 mixed, 4 and 64 KiB segments, and beside it in order"
            }
            Section::Acks => "One pure ACK for every two segments",
            Section::Completions => {
                "Sending with smaller completions, or a smaller buffer for them"
            }
            Section::Frames => "Frame sizes at wire speed",
            Section::Pause => {
                "More than the link carries, dropped or held back by the peer (802.3x)"
            }
            Section::Owners => {
                "Two owners on one wire: a full header queue of one costs the other nothing"
            }
            Section::Runs => RUNS_TITLE,
            Section::Dma => "The DMA engines alone",
            Section::Latency => "Latency",
            Section::Sim => "Speed of the simulation",
            Section::Host => "The host's control stack",
            Section::Cpu => "CPU time of host stack and kernel",
            Section::Connections => "Many connections",
            Section::Networks => "Our own TCP on simulated networks",
            Section::Area => "Area",
        }
    }
}

/// Arguments of `zeronic bench all`.
#[derive(Clone, Debug, Args)]
pub struct AllArguments {
    /// Folder for benchmarks.md, benchmarks.html and benchmarks.json
    #[arg(long, value_name = "DIR", default_value = "benchmarks")]
    out: PathBuf,
    /// Only these groups of rows
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SECTION")]
    only: Vec<Section>,
    /// Least simulated time of each row, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Quick run, a few minutes instead of twenty (two cores, --jobs 2): skips the area, rows with
    /// many flows and out of order at MTU 9000; does not wait for segment lists to wrap
    #[arg(long)]
    quick: bool,
    /// Rows that are measured in parallel, each on one core
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Use the figures that `bench area --json` wrote, instead of mapping the card
    #[arg(long, value_name = "FILE")]
    area: Option<PathBuf>,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    config: ConfigName,
}

/// A row's words as a command line.
#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    throughput: ThroughputArguments,
}

/// A command line and its goal as a share of its limit, where there is one.
type Goal = (String, Option<f64>);

/// Flows that the tables of a configuration take, each with a region for each direction.
fn flows_max(name: ConfigName) -> u32 {
    let sizes = name.sizes();
    (1 << sizes.flow_bits).min(1 << sizes.region_bits >> 1)
}

/// Lines of each word, MTU and end.
fn each(words: &[&str], mtus: &[u32], rest: &str, goal: Option<f64>) -> Vec<Goal> {
    let mut lines = Vec::new();
    for mtu in mtus {
        for word in words {
            let share = if *word == "duplex" { BOTH } else { 1.0 };
            let line = format!("{word} --mtu {mtu} {rest}").trim().to_owned();
            lines.push((line, goal.map(|goal| goal * share)));
        }
    }
    lines
}

/// The command lines of a group.
fn lines(section: Section, config: ConfigName, quick: bool) -> Vec<Goal> {
    let both = ["rx", "tx", "duplex"];
    let mtus = [9000, 1500];
    let most = flows_max(config);
    let as_one = Some(ONE_FLOW * AS_ONE);
    match section {
        Section::One => each(&both, &mtus, "--flows 1", Some(ONE_FLOW)),
        Section::Flows => flow_lines(most),
        Section::Order => {
            let (many, mtus) = (most.min(256), if quick { &mtus[1..] } else { &mtus[..] });
            let mut lines = each(&both, mtus, "--flows 1 --order random", as_one);
            let rest = format!("--flows {many} --order random");
            lines.extend(each(&both, mtus, &rest, as_one));
            let rest = format!("--flows {many} --ip mixed");
            lines.extend(each(&both, mtus, &rest, as_one));
            lines
        }
        Section::Acks => each(&both, &mtus, "--flows 1 --acks pure", Some(ONE_FLOW)),
        Section::Completions => ["--completion 64", "--completion 128", "--completion-headers 128"]
            .iter()
            .flat_map(|slot| {
                let mut lines = each(&["tx"], &mtus, &format!("--flows 1 {slot}"), None);
                lines.push((format!("tx --frame 64 --flows 1 {slot}"), None));
                let many = most.min(16_384);
                lines.extend(each(&["tx"], &[1500], &format!("--flows {many} {slot}"), None));
                lines
            })
            .collect(),
        Section::Frames => {
            let sizes = |word: &'static str| FRAMES.iter().map(move |bytes| (word, bytes));
            let line = |(word, bytes)| (format!("{word} --frame {bytes} --flows 1"), Some(SMALL));
            let mut lines: Vec<Goal> = sizes("rx").chain(sizes("tx")).map(line).collect();
            lines.push(("rx --frame 64-9216 --flows 1".to_owned(), Some(ONE_FLOW)));
            lines
        }
        Section::Pause => {
            ["--frame 64", "--frame 128", "--frame 1518 --lanes 8", "--frame 9216 --lanes 8"]
                .iter()
                .flat_map(|what| {
                    ["", " --pause", " --pause --pause-beats 32"].map(|how| (what, how))
                })
                .map(|(what, how)| (format!("rx {what} --flows 1{how}"), None))
                .collect()
        }
        // Nothing of the first owner may be lost: the rest is rounding.
        Section::Owners => ["undrained", "greedy"]
            .iter()
            .map(|kind| {
                let line = format!("rx --frame 64 --flows 1 --rival {kind}");
                (line, Some(ONE_FLOW))
            })
            .collect(),
        Section::Runs => run_lines(most),
        Section::Dma | Section::Latency | Section::Sim | Section::Area => Vec::new(),
        Section::Host | Section::Cpu | Section::Connections | Section::Networks => Vec::new(),
    }
}

/// Rising numbers of flows, and all of them with one packet in each descriptor.
fn flow_lines(most: u32) -> Vec<Goal> {
    let both = ["rx", "tx", "duplex"];
    let goal = Some(ONE_FLOW * AS_ONE);
    let mut lines = Vec::new();
    for count in FLOWS.into_iter().filter(|count| *count <= most) {
        let mtus: &[u32] = if count == most { &[9000, 1500] } else { &[1500] };
        lines.extend(each(&both, mtus, &format!("--flows {count}"), goal));
    }
    let rest = format!("--flows {} --burst 1", most.min(16_384));
    lines.extend(each(&["tx", "duplex"], &[1500], &rest, goal));
    lines
}

/// One flow, and many with bursts of packets, with an entry for each packet and for runs. Of
/// many flows lists need not wrap: every flow has had its turns before.
fn run_lines(most: u32) -> Vec<Goal> {
    let mut lines = Vec::new();
    let mut add = |words: String, goal: f64| {
        for mode in ["off", "on"] {
            lines.push((format!("rx {words} --coalesce {mode}"), Some(goal)));
        }
    };
    for mtu in [9000, 1500] {
        add(format!("--mtu {mtu} --flows 1"), ONE_FLOW);
    }
    for flows in RUN_FLOWS.into_iter().filter(|flows| *flows <= most) {
        for burst in RUN_BURSTS {
            let words = format!("--mtu 1500 --flows {flows} --burst {burst} --wraps 0");
            add(words, ONE_FLOW * AS_ONE);
        }
    }
    lines
}

/// Flows whose packets are summed up.
const RUN_FLOWS: [u32; 3] = [64, 256, 16_384];
/// Packets of such a flow in a row.
const RUN_BURSTS: [u32; 4] = [1, 2, 8, 44];

/// Around the beats of the data path, the header slot, the classical MTU and the longest frame.
const FRAMES: [u32; 20] = [
    64, 65, 69, 72, 79, 80, 96, 128, 129, 192, 256, 384, 512, 768, 1024, 1280, 1518, 2048, 4096,
    9216,
];

fn measure(line: &str, goal: Option<f64>, arguments: &AllArguments) -> Result<Row> {
    let (config, time) = (arguments.config.name(), arguments.time);
    let says_wraps = line.contains("--wraps");
    let wraps = if arguments.quick && !says_wraps { " --wraps 0" } else { "" };
    let line = format!("{line} --time {time}{wraps} --config {config}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let parsed = Line::try_parse_from(&words)?.throughput;
    let (receive, send) = (words[0] != "tx", words[0] != "rx");
    // Progress bars of parallel rows would overwrite each other.
    let report = parsed.measure(receive, send, arguments.jobs == 1)?;
    Ok(Row { line, goal, report })
}

/// Measures everything, writes the pages.
pub fn run(arguments: &AllArguments) -> Result<bool> {
    let is_wanted = |s: &&Section| match arguments.only.is_empty() {
        true => !arguments.quick || !matches!(s, Section::Flows | Section::Area),
        false => arguments.only.contains(s),
    };
    let area = arguments.area.as_deref().map(area::read).transpose()?;
    let files = PageFiles::prepare(&arguments.out)?;
    let sections: Vec<Section> =
        Section::value_variants().iter().filter(is_wanted).copied().collect();
    let mut page = Page { area, ..Page::default() };
    measure_alone(&sections, arguments, &files, &mut page)?;
    measure_rows(&sections, arguments, &files, &mut page)?;
    if page.area.is_none() && sections.contains(&Section::Area) {
        print("bench area\n")?;
        page.area = Some(measure::area::measure(arguments.config.name())?);
        page.write(&files)?;
    }
    Ok(page.is_ok())
}

/// Measures what is one figure or is measured in wall-clock time: one after the other.
fn measure_alone(
    sections: &[Section],
    arguments: &AllArguments,
    files: &PageFiles,
    page: &mut Page,
) -> Result<()> {
    for section in sections {
        match section {
            Section::Latency => {
                print("bench latency\n")?;
                page.latency = Some(latency::measure(arguments.config.name(), arguments.time)?);
            }
            Section::Dma => {
                print("bench dma\n")?;
                page.dma = Some(dma::measure(arguments.time)?);
            }
            Section::Sim => {
                print("bench sim\n")?;
                page.speed = Some(speed::measure(arguments.config, arguments.time)?);
            }
            Section::Host => {
                print("bench host\n")?;
                page.host = Some(HostArguments::of_page(arguments.quick).measure()?);
            }
            Section::Cpu => {
                print("bench cpu\n")?;
                page.cpu = measure_cpu(arguments.quick)?;
            }
            Section::Connections => {
                print("bench connections\n")?;
                page.connections = Some(connections::measure(CONNECTIONS_MAX, false)?);
            }
            Section::Networks => measure_networks(arguments.quick, page)?,
            _ => continue,
        }
        page.write(files)?;
    }
    Ok(())
}

/// The figures of `bench loss`, `fairness` and `incast`.
fn measure_networks(is_quick: bool, page: &mut Page) -> Result<()> {
    print("bench loss\n")?;
    page.loss = Some(measure_for_page::<loss::Parameters>(is_quick)?);
    print("bench fairness\n")?;
    page.fairness = Some(measure_for_page::<fairness::Parameters>(is_quick)?);
    print("bench incast\n")?;
    page.incast = Some(measure_for_page::<incast::Parameters>(is_quick)?);
    Ok(())
}

/// The figures of `bench cpu`: without those of Linux TCP through the card where a machine forbids
/// TAP devices, none where it forbids network namespaces.
fn measure_cpu(is_quick: bool) -> anyhow::Result<Option<Report>> {
    for has_linux in [true, false] {
        match CpuArguments::of_page(is_quick, has_linux).measure() {
            Ok(report) => return Ok(Some(report)),
            Err(error) if error.is::<UsageError>() => print(&format!("  {error}\n"))?,
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// A row that is to be measured.
struct Task {
    section: usize,
    row: usize,
    line: String,
    goal: Option<f64>,
}

impl Task {
    /// Many flows take minutes, and longest with long packets: they come last, so that a run
    /// that is ended early has most of the page.
    fn order(&self) -> (bool, bool) {
        let is_long = self.line.contains("--flows 16384") || self.line.contains("--flows 4096");
        (is_long, is_long && self.line.contains("--mtu 9000"))
    }
}

/// Measures the rows of all groups, several at a time; the page is written after each.
fn measure_rows(
    sections: &[Section],
    arguments: &AllArguments,
    files: &PageFiles,
    page: &mut Page,
) -> Result<()> {
    let started = Instant::now();
    let mut tasks = Vec::new();
    let mut rows: Vec<Vec<Option<Row>>> = Vec::new();
    for (section, name) in sections.iter().enumerate() {
        let lines = lines(*name, arguments.config, arguments.quick);
        rows.push(lines.iter().map(|_| None).collect());
        let task = |(row, (line, goal))| Task { section, row, line, goal };
        tasks.extend(lines.into_iter().enumerate().map(task));
    }
    tasks.sort_by_key(Task::order);
    let count = tasks.len();
    let (tasks, (done, measured)) = (Mutex::new(VecDeque::from(tasks)), mpsc::channel());
    let next = || tasks.lock().ok()?.pop_front();
    std::thread::scope(|scope| {
        for _ in 0..count.min(arguments.jobs.into()) {
            let done = done.clone();
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(task) = next() {
                    let row = measure(&task.line, task.goal, arguments);
                    let row = row.with_context(|| task.line.clone());
                    // The receiver is gone when another row has failed.
                    if done.send((task.section, task.row, row)).is_err() {
                        break;
                    }
                }
            });
            thread.context("no thread for a row; fewer --jobs need fewer")?;
        }
        drop(done);
        for (number, (section, at, row)) in (1..).zip(measured) {
            let row = row?;
            let minutes = started.elapsed().as_secs() / 60;
            let (line, summary) = (&row.line, row.summary());
            let said = format!("[{number}/{count}, {minutes} min] bench {line}\n{summary}\n");
            rows[section][at] = Some(row);
            page.sections = sections_so_far(sections, &rows);
            page.write(files)?;
            print(&said)?;
        }
        Ok(())
    })
}

/// The groups of which something was measured, with the rows that were.
fn sections_so_far(
    sections: &[Section],
    rows: &[Vec<Option<Row>>],
) -> Vec<(&'static str, Vec<Row>)> {
    let group = |(section, rows): (&Section, &Vec<Option<Row>>)| {
        let rows: Vec<Row> = rows.iter().flatten().cloned().collect();
        (!rows.is_empty()).then(|| (section.title(), rows))
    };
    sections.iter().zip(rows).filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_command_line() {
        for config in ConfigName::value_variants() {
            let lines = Section::value_variants().iter().flat_map(|it| lines(*it, *config, false));
            for (line, goal) in lines {
                let line = format!("{line} --config {}", config.name());
                let words: Vec<&str> = line.split_whitespace().collect();
                let parsed = Line::try_parse_from(&words).expect("a command line");
                let scenario = parsed.throughput.scenario(words[0] != "tx", words[0] != "rx");
                assert_eq!(scenario.check(), Ok(()), "{line}");
                assert!(goal.is_none_or(|goal| (0.85..1.0).contains(&goal)));
            }
        }
    }
}
