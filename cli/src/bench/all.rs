//! `bench all`: every row of the page.
//!
//! Each row is a command line, run as a user would run it; several can run at a time, as figures
//! are in simulated time. The page is written anew after each row, so that what was measured stays
//! when a long run is ended.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{mpsc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, Parser, ValueEnum};
use indicatif::ProgressBar;

use super::area::Figures;
use super::latency;
use super::page::{Page, PageFiles, Row};
use super::speed;
use super::throughput::{progress_bar, ThroughputArguments};
use crate::demo::ConfigName;
use crate::options::time_us;
use crate::output::print;

/// Goodput of one flow that is to be reached, over its limit: 98.5 of 99.0 Gb/s.
const ONE_FLOW: f64 = 0.995;
/// Each direction of both at once, over the figure of one.
const BOTH: f64 = 0.97;
/// Many flows over one, and out of order over in order.
const AS_ONE: f64 = 0.99;
/// Small frames over what the link carries.
const SMALL: f64 = 0.9;

/// Groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// One flow in order.
    One,
    /// 16,384 flows.
    Flows,
    /// Out of order.
    Order,
    /// Pure ACKs.
    Acks,
    /// Other completion sizes.
    Completions,
    /// Frame sizes.
    Frames,
    /// Two owners on one wire.
    Owners,
    /// Latency.
    Latency,
    /// Speed of the simulation.
    Sim,
}

impl Section {
    fn title(self) -> &'static str {
        match self {
            Section::One => "One flow",
            Section::Flows => "16,384 flows, round robin",
            Section::Order => "Out of order, IPv4 and IPv6 mixed, 4 and 64 KiB segments",
            Section::Acks => "One pure ACK for every two segments",
            Section::Completions => {
                "Sending with smaller completions, or a smaller buffer for them"
            }
            Section::Frames => "Frame sizes at wire speed",
            Section::Owners => {
                "Two owners on one wire: what one has no room for costs the other nothing"
            }
            Section::Latency => "Latency",
            Section::Sim => "Speed of the simulation",
        }
    }
}

/// What to measure.
#[derive(Clone, Debug, Args)]
pub struct AllArguments {
    /// Folder for benchmarks.md, benchmarks.html and benchmarks.json
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only these groups of rows
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SECTION")]
    only: Vec<Section>,
    /// Simulated time of each row at least, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Leave out the 16,384 flows, whose lists take 90 ms to wrap twice, and do not wait for other
    /// lists either: a few minutes instead of ten to fifteen (two cores, --jobs 2)
    #[arg(long)]
    quick: bool,
    /// Rows that are measured at a time, each on a core
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Figures that `bench area --json` wrote, for the page
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

/// The command lines of a group, each with the share of its limit that is to be reached.
fn lines(section: Section) -> Vec<(String, f64)> {
    let each = |words: &[&str], rest: &str, goal: f64| -> Vec<(String, f64)> {
        let mut lines = Vec::new();
        for mtu in [9000, 1500] {
            for word in words {
                let goal = if *word == "duplex" { goal * BOTH } else { goal };
                lines.push((format!("{word} --mtu {mtu} {rest}").trim().to_owned(), goal));
            }
        }
        lines
    };
    let both = ["rx", "tx", "duplex"];
    match section {
        Section::One => each(&both, "--flows 1", ONE_FLOW),
        Section::Flows => each(&both, "--flows 16384", ONE_FLOW * AS_ONE),
        Section::Order => [1, 256]
            .iter()
            .flat_map(|flows| {
                let rest = format!("--flows {flows} --order random");
                each(&both, &rest, ONE_FLOW * AS_ONE)
            })
            .collect(),
        Section::Acks => each(&both, "--flows 1 --acks pure", ONE_FLOW),
        Section::Completions => [
            "--completion 64",
            "--completion 128",
            "--completion-headers 128",
        ]
        .iter()
        .flat_map(|rest| each(&["tx"], &format!("--flows 1 {rest}"), ONE_FLOW))
        .collect(),
        Section::Frames => ["rx", "tx"]
            .iter()
            .flat_map(|word| FRAMES.iter().map(move |bytes| (word, bytes)))
            .map(|(word, bytes)| (format!("{word} --frame {bytes} --flows 1"), SMALL))
            .collect(),
        // Nothing of the first owner may be lost: the rest is rounding.
        Section::Owners => ["undrained", "greedy"]
            .iter()
            .map(|kind| (format!("rx --frame 64 --flows 1 --rival {kind}"), ONE_FLOW))
            .collect(),
        Section::Latency | Section::Sim => Vec::new(),
    }
}

/// Around the beats of the data path, the header slot, the classical MTU and the longest frame.
const FRAMES: [u32; 20] = [
    64, 65, 69, 72, 79, 80, 96, 128, 129, 192, 256, 384, 512, 768, 1024, 1280, 1518, 2048, 4096,
    9216,
];

fn measure(line: &str, goal: f64, arguments: &AllArguments) -> Result<Row> {
    let (config, time) = (arguments.config.name(), arguments.time);
    let wraps = if arguments.quick { " --wraps 0" } else { "" };
    let line = format!("{line} --time {time}{wraps} --config {config}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let parsed = Line::try_parse_from(&words)?.throughput;
    let (receive, send) = (words[0] != "tx", words[0] != "rx");
    // Bars of several rows would write over each other.
    let bar = match arguments.jobs {
        1 => progress_bar()?,
        _ => ProgressBar::hidden(),
    };
    let report = parsed.measure(receive, send, &bar)?;
    Ok(Row { line, goal, report })
}

/// Measures everything, writes the pages.
pub fn run(arguments: &AllArguments) -> Result<bool> {
    let is_wanted = |s: &&Section| match arguments.only.is_empty() {
        true => !arguments.quick || **s != Section::Flows,
        false => arguments.only.contains(s),
    };
    let files = PageFiles::prepare(&arguments.out)?;
    let sections: Vec<Section> = Section::value_variants()
        .iter()
        .filter(is_wanted)
        .copied()
        .collect();
    let mut page = Page {
        area: arguments.area.as_deref().map(Figures::read).transpose()?,
        ..Page::default()
    };
    // Alone: the speed of the simulation is measured by the clock on the wall.
    for section in &sections {
        match section {
            Section::Latency => {
                print("bench latency\n")?;
                page.latency = Some(latency::measure(arguments.config, arguments.time)?);
            }
            Section::Sim => {
                print("bench sim\n")?;
                page.speed = Some(speed::measure(arguments.config, arguments.time)?);
            }
            _ => continue,
        }
        page.write(&files)?;
    }
    measure_rows(&sections, arguments, &files, &mut page)?;
    Ok(page.is_ok())
}

/// A row that is to be measured.
struct Task {
    section: usize,
    row: usize,
    line: String,
    goal: f64,
}

impl Task {
    /// Many flows take minutes, and longest with long packets: they come last, so that a run
    /// that is ended early has most of the page.
    fn order(&self) -> (bool, bool) {
        let is_long = self.line.contains("--flows 16384");
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
        let lines = lines(*name);
        rows.push(lines.iter().map(|_| None).collect());
        let task = |(row, (line, goal))| Task {
            section,
            row,
            line,
            goal,
        };
        tasks.extend(lines.into_iter().enumerate().map(task));
    }
    tasks.sort_by_key(Task::order);
    let count = tasks.len();
    let (tasks, (done, measured)) = (Mutex::new(VecDeque::from(tasks)), mpsc::channel());
    let next = || tasks.lock().ok()?.pop_front();
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            let done = done.clone();
            scope.spawn(move || {
                while let Some(task) = next() {
                    let row = measure(&task.line, task.goal, arguments);
                    let row = row.with_context(|| task.line.clone());
                    // Nobody listens any more when another row has failed.
                    if done.send((task.section, task.row, row)).is_err() {
                        break;
                    }
                }
            });
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
        for section in Section::value_variants() {
            for (line, goal) in lines(*section) {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert!(Line::try_parse_from(&words).is_ok(), "{line}");
                assert!((0.85..1.0).contains(&goal));
            }
        }
    }
}
