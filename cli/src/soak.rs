//! `zeronic soak`: random demos, each a process of its own, and the command that repeats each.
//!
//! ```text
//!   seed ──► Draw ──► `zeronic demo ...` ──► a child of this program ──► exact, or the reason
//!                                            ended at the limit         one line, JSON at the end
//! ```
//! A child that panics, crashes or hangs fails alone. The limit is in wall-clock time and far above
//! what a demo takes: it ends what hangs, it judges no speed.
//!
//! On the golden model no demo has a kernel at an end, and no result has a time: the same seed
//! gives the same bytes, on any machine, in one run or in shards that `merge` joins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use host::transport::IPV6_MTU_BYTES_MIN;
use pcie_sim::PcieConfig;
use serde::{Deserialize, Serialize};
use sim::card::SimulatedCard;
use verilate::options::Options;

use crate::shard::{lines, Head, Shard, ShardFile};
use crate::shared::config::ModelName;
use crate::shared::failure::STATUSES;
use crate::shared::options::{moved_bytes, Bytes, UsageError};
use crate::shared::output::{json_file, print, ResultFile};
use crate::shared::progress::{Progress, Unit};
use crate::shared::stack::{name_other, OWN};

/// How often it is seen whether a child has ended.
const LOOK: Duration = Duration::from_millis(20);
/// MTUs that are drawn as often as all others together: the least of IPv4 and of IPv6, Ethernet's,
/// the largest.
const MTU_EDGES: [u64; 4] = [576, 1280, 1500, 9000];
/// Largest probability of a fault of the wire, per mille.
const FAULT_PERMILLE_MAX: u64 = 100;
/// Faults of the wire, by option.
const FAULTS: [&str; 4] = ["--loss", "--reorder", "--duplicate", "--corrupt"];
/// What a line of a child says that tells why it failed.
const TELLING: [&str; 4] = ["zeronic: ", "rule broken: ", "WRONG", "NOT CONSERVED"];
/// What the first of the two lines of a panic says.
const PANICKED: &str = " panicked at ";
/// TCPs of either end that a run follows from its seed with.
const STACKS: [&str; 2] = ["smoltcp", "tcp"];
/// The kernel's where the machine has it: its timers run by the wall clock.
const STACK_OF_MACHINE: &str = "auto";
/// What `merge` finds it by.
pub const NAME: &str = "soak";

/// Arguments of `zeronic soak`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct SoakArguments {
    /// Demos to run
    #[arg(long, default_value_t = 20, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: u32,
    /// Seed of the draw: the same seed gives the same demos
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Most bytes that a demo moves each way (plain, or with KiB, MiB or GiB)
    #[arg(long, default_value = "1MiB", value_name = "MAX", value_parser = moved_bytes)]
    bytes: Bytes,
    /// Wall-clock time after which a demo is ended and counts as failed
    #[arg(long, default_value_t = 300, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
    /// Model of the card; with golden, the same seed gives the same bytes: no demo has a kernel at
    /// an end
    #[arg(long, value_enum, default_value_t = ModelName::Rtl)]
    model: ModelName,
    /// Run the k-th of n parts, on the golden model, and write its lines of JSON to FILE or
    /// standard output
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What the demos follow from, on the golden model.
#[derive(Debug, Serialize, Deserialize)]
struct Parameters {
    runs: u32,
    seed: u64,
    bytes: u64,
}

/// One finished demo.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    /// What repeats it.
    command: String,
    /// Every byte was right.
    ok: bool,
    /// Wall-clock time that it took; not of the golden model, so that results can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Why it failed.
    reason: Option<String>,
}

/// All results.
#[derive(Debug, Serialize)]
struct Results {
    ok: bool,
    seed: u64,
    runs: Vec<Run>,
}

/// Runs the demos. True when every one of them is exact.
pub fn run(arguments: &SoakArguments) -> Result<bool> {
    let is_golden = arguments.model == ModelName::Golden;
    if arguments.shard.is_some() && !is_golden {
        let message = "--shard needs --model golden: the results of others have times";
        return Err(UsageError(message.to_owned()).into());
    }
    let json = json_file(arguments.json.as_deref())?;
    let (runs, seed, bytes) = (arguments.runs, arguments.seed, arguments.bytes.0);
    let mut draw = Draw(seed);
    let demos: Vec<Demo> = (0..runs).map(|_| draw.demo(bytes, arguments.model)).collect();
    if !is_golden {
        build_cards(&demos)?;
    }
    let Some(shard) = arguments.shard else {
        let numbered = Vec::from_iter(demos.iter().enumerate());
        let runs = run_all(&numbered, arguments, true)?;
        return finish(seed, runs.into_iter().map(|(_, run)| run).collect(), json);
    };
    let of_shard = demos.iter().enumerate().filter(|(number, _)| shard.has(*number));
    let results = run_all(&Vec::from_iter(of_shard), arguments, false)?;
    let command =
        format!("zeronic soak --model golden --runs {runs} --seed {seed} --bytes {bytes}");
    let head = Head::new(NAME, shard, demos.len(), &command, &Parameters { runs, seed, bytes })?;
    let text = lines(&head, results)?;
    match json {
        Some(json) => json.write(text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(true)
}

/// The report of all shards.
pub fn merge(shards: &[ShardFile], json: Option<ResultFile>) -> Result<bool> {
    let parameters = serde_json::from_value(shards[0].head.parameters.clone());
    let parameters: Parameters =
        parameters.map_err(|error| UsageError(format!("parameters of {NAME}: {error}")))?;
    let mut runs = BTreeMap::new();
    for shard in shards {
        runs.extend(shard.read_outcomes::<Run>()?);
    }
    finish(parameters.seed, runs.into_values().collect(), json)
}

/// Writes and prints what all have come to.
fn finish(seed: u64, runs: Vec<Run>, json: Option<ResultFile>) -> Result<bool> {
    let (count, failed) = (runs.len(), runs.iter().filter(|run| !run.ok).count());
    let results = Results { ok: failed == 0, seed, runs };
    if let Some(json) = json {
        json.write_json(&results)?;
    }
    print(&match failed {
        0 => format!("all {count} runs are exact\n"),
        _ => format!("{failed} of {count} runs FAILED\n"),
    })?;
    Ok(results.ok)
}

/// Runs demos one after the other, and prints a line of each or none.
fn run_all(
    demos: &[(usize, &Demo)],
    arguments: &SoakArguments,
    is_told: bool,
) -> Result<Vec<(usize, Run)>> {
    let program = std::env::current_exe().context("this program has no path")?;
    let limit = Duration::from_secs(arguments.limit);
    let mut progress = Progress::new(demos.len() as u64, Unit::Count("demos"));
    let mut runs = Vec::new();
    for (done, (number, demo)) in demos.iter().enumerate() {
        let message = format!(": {}", demo.command());
        let mut command = Command::new(&program);
        command.args(&demo.arguments);
        let start = Instant::now();
        let ended = watch(&mut command, limit, || progress.set(done as u64, &message))?;
        let seconds = start.elapsed().as_secs_f64();
        let run = Run {
            command: demo.command(),
            ok: ended.is_ok(),
            seconds: (arguments.model == ModelName::Rtl).then_some(seconds),
            reason: ended.err(),
        };
        if is_told {
            let line = format!("run {} of {}: {}\n", number + 1, demos.len(), run.text());
            progress.suspend(|| print(&line))?;
        }
        runs.push((*number, run));
    }
    progress.clear();
    Ok(runs)
}

impl Run {
    /// The line of a run.
    fn text(&self) -> String {
        let command = &self.command;
        let time = |word| self.seconds.map(|seconds| format!(" {word} {seconds:.1} s"));
        match &self.reason {
            None => format!("exact{}: {command}", time("in").unwrap_or_default()),
            Some(reason) => {
                let time = time("after").unwrap_or_default();
                format!("FAILED{time} ({reason}): {command}")
            }
        }
    }
}

/// Builds the cards that the demos need, so that no demo's time has the build in it.
fn build_cards(demos: &[Demo]) -> Result<()> {
    let configs: BTreeSet<&str> = demos.iter().map(|demo| demo.config).collect();
    for config in configs {
        SimulatedCard::new(config, PcieConfig::default(), Options::default())
            .context("the card does not build")?;
    }
    Ok(())
}

/// Runs a child to its end, with a call of `look` now and then. `Err` is the reason why it failed.
fn watch(
    command: &mut Command,
    limit: Duration,
    look: impl FnMut(),
) -> Result<std::result::Result<(), String>> {
    let (mut output, sink) = std::io::pipe().context("a pipe for a demo")?;
    command.stdin(Stdio::null()).stderr(sink.try_clone()?);
    let child = command.stdout(sink).spawn();
    let mut child = child.context("a demo does not start")?;
    // The command holds this side's ends of the pipe, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).map(|_| text)
    });
    let status = end(&mut child, limit, look)?;
    let Ok(text) = reader.join() else {
        unreachable!("the reader does not panic");
    };
    let text = text.context("the output of a demo")?;
    Ok(match status {
        None => Err(format!("no end within {} s", limit.as_secs())),
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(reason(status, &String::from_utf8_lossy(&text))),
    })
}

/// How a child ended by itself; `None` if it had to be ended.
fn end(child: &mut Child, limit: Duration, mut look: impl FnMut()) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        look();
        thread::sleep(LOOK);
    }
}

/// The exit status, and what the child said about it.
fn reason(status: ExitStatus, text: &str) -> String {
    let mut parts = vec![status.to_string()];
    let mut lines = text.lines().map(|line| line.trim_matches([' ', '│']));
    while let Some(line) = lines.next() {
        if line.contains(PANICKED) {
            parts.extend([line, lines.next().unwrap_or_default()].map(str::to_owned));
        } else if TELLING.iter().any(|word| line.contains(word))
            && !line.ends_with(&name_other(OWN))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            parts.push(words.join(" "));
        }
    }
    parts.join("; ")
}

/// A demo to run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Demo {
    config: &'static str,
    arguments: Vec<String>,
}

impl Demo {
    /// The command that repeats it.
    fn command(&self) -> String {
        format!("zeronic {}", self.arguments.join(" "))
    }
}

/// The generator of the demos: SplitMix64 (Steele, Lea, Flood 2014).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `count`.
    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A number of bytes: short ones as often as long ones, on a scale of powers of two.
    fn bytes(&mut self, most: u64) -> u64 {
        let low = 1 << self.below(u64::from(most.ilog2()) + 1);
        low + self.below(low.min(most - low + 1))
    }

    fn mtu(&mut self) -> u64 {
        let edge = self.one(&MTU_EDGES);
        let any = MTU_EDGES[0] + self.below(MTU_EDGES[3] - MTU_EDGES[0] + 1);
        self.one(&[edge, any])
    }

    /// The next demo. Every demo takes equally many numbers, whatever they are.
    fn demo(&mut self, bytes_max: u64, model: ModelName) -> Demo {
        let mut arguments = vec!["demo".to_owned()];
        let mut option = |name: &str, value: &dyn Display| {
            arguments.extend([name.to_owned(), value.to_string()]);
        };
        option("--bytes", &self.bytes(bytes_max));
        let mut stacks = STACKS.to_vec();
        match model {
            ModelName::Rtl => stacks.push(STACK_OF_MACHINE),
            ModelName::Golden => option("--model", &model.name()),
        }
        option("--peer", &self.one(&stacks));
        option("--transport", &self.one(&stacks));
        option("--controller", &self.one(&["model", "cubic", "dctcp"]));
        option("--memory", &self.one(&["dram", "gpu"]));
        let config = self.one(&["default", "small"]);
        option("--config", &config);
        let (mtu, ipv6) = (self.mtu(), self.one(&[false, true]));
        option("--mtu", &mtu);
        for fault in FAULTS {
            let permille = self.below(FAULT_PERMILLE_MAX + 1);
            let permille = self.one(&[0, permille]);
            let per_cent = format!("{}.{}%", permille / 10, permille % 10);
            option(fault, &per_cent);
        }
        option("--seed", &self.below(1 << 32));
        if ipv6 && mtu >= u64::from(IPV6_MTU_BYTES_MIN) {
            arguments.push("--ipv6".to_owned());
        }
        Demo { config, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arguments;
    use clap::Parser;

    fn demos_on(model: ModelName, seed: u64, bytes_max: u64) -> Vec<Demo> {
        let mut draw = Draw(seed);
        (0..500).map(|_| draw.demo(bytes_max, model)).collect()
    }

    fn demos(seed: u64, bytes_max: u64) -> Vec<Demo> {
        demos_on(ModelName::Rtl, seed, bytes_max)
    }

    #[test]
    fn a_seed_gives_the_same_demos() {
        assert_eq!(demos(7, 1 << 20), demos(7, 1 << 20));
        assert_ne!(demos(7, 1 << 20), demos(8, 1 << 20));
    }

    #[test]
    fn demos_are_commands_within_the_limits() {
        let (mut least, mut most, mut both) = (u64::MAX, 0, BTreeSet::new());
        for demo in demos(3, 5000) {
            let words = demo.command();
            let parsed = Arguments::try_parse_from(words.split(' '));
            assert!(parsed.is_ok(), "{words}: {parsed:?}");
            let value = |name: &str| {
                let at = demo.arguments.iter().position(|word| word == name);
                let text = &demo.arguments[at.expect("an option") + 1];
                text.trim_end_matches('%').parse::<f64>().expect("a number")
            };
            let bytes = value("--bytes") as u64;
            (least, most) = (least.min(bytes), most.max(bytes));
            assert!(FAULTS.iter().all(|fault| value(fault) <= 10.0), "{words}");
            let ipv6 = words.contains("--ipv6");
            assert!(!ipv6 || value("--mtu") >= 1280.0, "{words}");
            both.insert((ipv6, value("--loss") > 0.0, demo.config));
        }
        assert!(least < 4 && (4500..=5000).contains(&most), "{least} {most}");
        assert_eq!(both.len(), 8, "{both:?}");
        assert!(demos(3, 1).iter().all(|demo| demo.arguments[2] == "1"));
    }

    /// On the golden model nothing is left to the machine; on the RTL every TCP has its turn.
    #[test]
    fn a_demo_on_the_golden_model_has_no_kernel() {
        let golden = demos_on(ModelName::Golden, 5, 5000);
        let is_golden = |demo: &Demo| demo.command().contains(" --model golden ");
        assert!(golden.iter().all(is_golden));
        for (demos, stacks) in [(golden, 2), (demos(5, 5000), 3)] {
            for end in ["--peer", "--transport"] {
                let found: BTreeSet<&str> = demos
                    .iter()
                    .filter_map(|demo| {
                        let at = demo.arguments.iter().position(|word| word == end)?;
                        demo.arguments.get(at + 1).map(String::as_str)
                    })
                    .collect();
                assert_eq!(found.len(), stacks, "{found:?}");
                assert_eq!(found.contains("auto"), stacks == 3);
            }
        }
    }

    fn run_watched(script: &str, limit: Duration) -> std::result::Result<(), String> {
        let mut command = Command::new("sh");
        watch(command.args(["-c", script]), limit, || ()).expect("a shell")
    }

    #[test]
    fn failures_have_a_reason() {
        let limit = Duration::from_secs(100);
        assert_eq!(run_watched("echo; echo x >&2", limit), Ok(()));
        assert_eq!(
            run_watched(
                "echo 'zeronic: no tap; using our own TCP instead' >&2
                 echo '│ frames  9, NOT CONSERVED │'
                 exit 1",
                limit
            ),
            Err("exit status: 1; frames 9, NOT CONSERVED".to_owned())
        );
        assert_eq!(
            run_watched(
                "echo \"thread 'main' panicked at a.rs:1:2:\" >&2; echo why >&2; exit 101",
                limit
            ),
            Err("exit status: 101; thread 'main' panicked at a.rs:1:2:; why".to_owned())
        );
        let killed = run_watched("kill -9 $$", limit).unwrap_err();
        assert!(killed.starts_with("signal: 9"), "{killed}");
        // `exec`, or the shell's child would go on and hold the pipe.
        let hung = run_watched("exec sleep 1000", Duration::from_secs(1));
        assert_eq!(hung, Err("no end within 1 s".to_owned()));
    }
}
