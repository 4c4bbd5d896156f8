//! `bench all`: every row of the page.
//!
//! Each row is a command line, run as a user would run it. The page is written anew after each
//! group, so that what was measured stays when a long run is ended.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, Parser, ValueEnum};

use super::area::Figures;
use super::latency;
use super::page::{Page, Row};
use super::speed;
use super::throughput::ThroughputArguments;
use crate::demo::ConfigName;

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
            Section::Completions => "Sending with smaller completions",
            Section::Frames => "Frame sizes at wire speed",
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
    #[arg(long, default_value_t = 1000, value_name = "US")]
    time: u64,
    /// Leave out the 16,384 flows, whose lists take 90 ms to wrap twice, and do not wait for other
    /// lists either: minutes instead of an hour and a half
    #[arg(long)]
    quick: bool,
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
        Section::Completions => ["--completion 64", "--completion 128"]
            .iter()
            .flat_map(|rest| each(&["tx"], &format!("--flows 1 {rest}"), ONE_FLOW))
            .collect(),
        Section::Frames => ["rx", "tx"]
            .iter()
            .flat_map(|word| FRAMES.iter().map(move |bytes| (word, bytes)))
            .map(|(word, bytes)| (format!("{word} --frame {bytes} --flows 1"), SMALL))
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
    let report = parsed.measure(receive, send)?;
    Ok(Row { line, goal, report })
}

/// Measures everything, writes the pages.
pub fn run(arguments: &AllArguments) -> Result<bool> {
    let is_wanted = |s: &&Section| match arguments.only.is_empty() {
        true => !arguments.quick || **s != Section::Flows,
        false => arguments.only.contains(s),
    };
    let sections: Vec<Section> = Section::value_variants()
        .iter()
        .filter(is_wanted)
        .copied()
        .collect();
    let count = sections.iter().map(|s| lines(*s).len().max(1)).sum();
    let mut steps = Steps {
        started: Instant::now(),
        done: 0,
        count,
    };
    let mut page = Page {
        area: arguments.area.as_deref().map(Figures::read).transpose()?,
        ..Page::default()
    };
    for section in sections {
        let mut rows = Vec::new();
        for (line, goal) in lines(section) {
            steps.announce(&format!("bench {line}"));
            let row = measure(&line, goal, arguments).with_context(|| line.clone())?;
            println!("{}", row.summary());
            rows.push(row);
        }
        match section {
            Section::Latency => {
                steps.announce("bench latency");
                page.latency = Some(latency::measure(arguments.config, arguments.time)?);
            }
            Section::Sim => {
                steps.announce("bench sim");
                page.speed = Some(speed::measure(arguments.config, arguments.time)?);
            }
            _ => page.sections.push((section.title(), rows)),
        }
        page.write(&arguments.out)?;
    }
    Ok(page.is_ok())
}

/// How far the run is.
struct Steps {
    started: Instant,
    done: usize,
    count: usize,
}

impl Steps {
    fn announce(&mut self, what: &str) {
        self.done += 1;
        let minutes = self.started.elapsed().as_secs() / 60;
        println!("[{}/{}, {minutes} min] {what}", self.done, self.count);
    }
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
