//! `bench loss`, `fairness`, `incast`: our own TCP on simulated networks, without a card.
//!
//! ```text
//!   cases ─► a thread for each core ─► outcomes in order ─┬─► report, table, JSON
//!                                                         └─► lines of a shard (--shard)
//! ```

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use measure::networks::measure_cases;
use network::measure::loss::Fault;
use network::measure::{fairness, incast, loss, Measurement};

use crate::shard::{lines, Head, Shard};
use crate::shared::failure;
use crate::shared::output::{json_file, print, ResultFile};
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

/// Arguments of `zeronic bench loss`, `fairness` and `incast`.
#[derive(Clone, Debug, Args)]
pub struct NetworkArguments {
    /// Seeds of each row, from 1 on [default: 10; fairness: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Run the k-th of n parts, and write its lines of JSON to FILE or standard output
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl NetworkArguments {
    /// Seeds of each row, where they are given.
    pub fn seeds(&self) -> Option<u64> {
        self.seeds
    }

    /// Where the figures go.
    pub fn json(&self) -> Option<&Path> {
        self.json.as_deref()
    }
}

/// The table of a report.
pub struct Shown {
    /// Its head.
    pub head: &'static [&'static str],
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// What is below its goal.
    pub below: Vec<String>,
}

/// A measurement with a table.
pub trait Show: Measurement {
    /// The table of a report.
    fn show(&self, report: &Self::Report) -> Shown;
}

/// Measures for the page: on one seed alone where time is short. A goal that is not reached is a
/// row of the page, a run that is not exact an error.
pub fn measure_for_page<M: Measurement>(is_quick: bool) -> Result<M::Report> {
    let mut parameters = M::default();
    if is_quick {
        parameters.common_mut().seeds = 1;
    }
    let outcomes = measure_all(&parameters, &parameters.cases())?;
    let wrong = outcomes.iter().filter(|outcome| !M::is_exact(outcome)).count();
    match wrong {
        0 => Ok(parameters.report(&outcomes)),
        _ => Err(failure::wrong(format!("bench {}: {wrong} runs are wrong", M::NAME))),
    }
}

/// Measures, prints, writes.
pub fn run<M: Show>(arguments: &NetworkArguments) -> Result<bool> {
    run_with(M::default(), "", arguments)
}

/// The same with other parameters, which these options have set.
pub fn run_with<M: Show>(
    mut parameters: M,
    options: &str,
    arguments: &NetworkArguments,
) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let mut command = format!("zeronic bench {}{options}", M::NAME);
    if let Some(seeds) = arguments.seeds {
        parameters.common_mut().seeds = seeds;
        command += &format!(" --seeds {seeds}");
    }
    let cases = parameters.cases();
    let count = cases.len();
    let Some(shard) = arguments.shard else {
        let outcomes = measure_all(&parameters, &cases)?;
        return finish(&parameters, &outcomes, json);
    };
    let (numbers, cases): (Vec<usize>, Vec<M::Case>) =
        cases.into_iter().enumerate().filter(|(number, _)| shard.has(*number)).unzip();
    let outcomes = measure_all(&parameters, &cases)?;
    let outcomes = numbers.into_iter().zip(outcomes).collect();
    let text = lines(&Head::new(M::NAME, shard, count, &command, &parameters)?, outcomes)?;
    match json {
        Some(json) => json.write(text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(true)
}

/// Prints and writes the report of all outcomes.
pub fn finish<M: Show>(
    parameters: &M,
    outcomes: &[M::Outcome],
    json: Option<ResultFile>,
) -> Result<bool> {
    let report = parameters.report(outcomes);
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let shown = parameters.show(&report);
    let mut table = table(shown.head);
    table.add_rows(&shown.rows);
    print(&format!("parameters: {}\n", serde_json::to_string(parameters)?))?;
    print_judged(&table, M::is_ok(&report), &shown.below)?;
    Ok(M::is_ok(&report))
}

/// Runs all cases and says how far it is; the outcomes have the order of the cases.
fn measure_all<M: Measurement>(parameters: &M, cases: &[M::Case]) -> Result<Vec<M::Outcome>> {
    let mut progress = Progress::new(cases.len() as u64, Unit::Count("runs"));
    Ok(measure_cases(parameters, cases, &mut |done| progress.set(done, ""))?)
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A goal, and whether it is reached.
fn goal(goal: Option<f64>, is_reached: bool) -> String {
    let said = |goal| format!("{}: {}", percent(goal), if is_reached { "yes" } else { "no" });
    goal.map_or_else(String::new, said)
}

/// What disturbs, in words.
fn words(fault: Fault, parameters: &loss::Parameters) -> String {
    match fault {
        Fault::Loss(share) => format!("{} % lost", 100.0 * share),
        Fault::Late(share) => format!("{} % late by up to a round trip", 100.0 * share),
        Fault::Double(share) => format!("{} % doubled", 100.0 * share),
        Fault::Burst(packets) => {
            format!("{} % lost in bursts of {packets}", 100.0 * parameters.burst_loss)
        }
    }
}

impl Show for loss::Parameters {
    fn show(&self, report: &loss::Report) -> Shown {
        let (mut rows, mut below) = (Vec::new(), Vec::new());
        for row in &report.rows {
            let (name, fault) = (row.controller.name(), words(row.fault, self));
            if !row.is_reached() {
                let (median, worst) = (percent(row.median), percent(row.worst));
                below.push(format!("{name}, {fault}: median {median}, worst {worst}"));
            }
            rows.push(vec![
                name.to_owned(),
                format!("{} MiB", row.window_bytes >> 20),
                fault,
                percent(row.median),
                percent(row.worst),
                goal(row.to_reach, row.is_reached()),
                row.timeouts.to_string(),
            ]);
        }
        for formula in &report.go_back_n {
            let fault = words(Fault::Loss(formula.loss), self);
            let (name, median) =
                ("go-back-N, by formula".to_owned(), percent(formula.goodput_fraction));
            let none = String::new;
            rows.push(vec![name, none(), fault, median, none(), none(), none()]);
        }
        let head = &["controller", "window", "disturbed by", "median", "worst", "to reach", "RTOs"];
        Shown { head, rows, below }
    }
}

impl Show for fairness::Parameters {
    fn show(&self, report: &fairness::Report) -> Shown {
        let (mut rows, mut below) = (Vec::new(), Vec::new());
        for row in &report.rows {
            let name = row.controller.name();
            let (part, jain) = (percent(row.long_fraction), format!("{:.3}", row.fairness));
            if !row.is_reached() {
                let flows = format!("{} long and {} short flows", row.longs, row.shorts);
                below.push(format!("{name}, {flows}: {part} of what is left, Jain {jain}"));
            }
            rows.push(vec![
                name.to_owned(),
                row.longs.to_string(),
                row.shorts.to_string(),
                format!("{:.1}", row.long_gbps),
                format!("{:.1}", row.short_gbps),
                part,
                jain,
                format!("{:.0}", row.short_p50_us),
                format!("{:.0}", row.short_p99_us),
                format!("{} packets", row.queue_packets_max),
                row.lost_in_buffer.to_string(),
                row.timeouts.to_string(),
            ]);
        }
        let head = &[
            "controller",
            "long",
            "short",
            "long Gb/s",
            "short Gb/s",
            "of what is left",
            "Jain",
            "short p50 us",
            "p99 us",
            "queue",
            "lost",
            "RTOs",
        ];
        Shown { head, rows, below }
    }
}

impl Show for incast::Parameters {
    fn show(&self, report: &incast::Report) -> Shown {
        let (mut rows, mut below) = (Vec::new(), Vec::new());
        for row in &report.rows {
            let name = row.controller.name();
            let (part, worst) = (percent(row.link_fraction), percent(row.link_fraction_worst));
            if !row.is_reached() {
                let (senders, timeouts) = (row.senders, row.timeouts);
                below.push(format!(
                    "{name}, {senders} senders: {part} of the link, worst {worst}, {timeouts} RTOs"
                ));
            }
            rows.push(vec![
                name.to_owned(),
                row.senders.to_string(),
                part,
                worst,
                row.timeouts.to_string(),
                format!("{} bytes", row.repeated_bytes),
                format!("{:.0}", row.time_p50_us),
                format!("{:.0}", row.time_max_us),
                format!("{} packets", row.queue_packets_max),
                row.lost_in_buffer.to_string(),
            ]);
        }
        let head = &[
            "controller",
            "senders",
            "of the link",
            "worst",
            "RTOs",
            "sent again",
            "p50 us",
            "last us",
            "queue",
            "lost",
        ];
        Shown { head, rows, below }
    }
}
