//! Figures of the two emitters, rust-hdl's own and ours, in one run.
//!
//! ```text
//!   block ─┬─ stock text ─┬─> Verilator ─────────────> model ─┐
//!          │              └─> Yosys, by modules ─> LUTs, FFs  ├─ same inputs ─> cycles per second
//!          └─ our text ───── likewise ────────────────────────┘
//! ```
//! Times are those on the processor, of this thread or of the tools, so that a busy machine
//! changes them little. Yosys maps both texts in runs of some modules, the others as empty boxes:
//! in one run its ABC would go over the whole design for each module.
//! `ZERONIC_LONG=1 cargo test --workspace --test verilog_figures -- --nocapture` prints the table;
//! `ZERONIC_BLOCKS=RxSplit,Completer` has it measure those blocks alone.

use std::time::Instant;

use hdl::ports::{ports_of, Port, PortDirection};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use verilate::area::flat::Flat;
use verilate::area::netlist::Netlist;
use verilate::area::synthesis::{synthesize, Part};
use verilate::area::usage;
use verilate::design::Design;
use verilate::options::Options;
use verilate::stock;
use verilate::verilated::{Model, PortId};

/// Inputs prepared once, so that the measured loop only copies them.
const PATTERNS: usize = 64;
/// Turns of each model, and how long one is.
const TURNS: usize = 101;
const SLICE_SECONDS: f64 = 0.02;
/// A tool that takes less for both texts is run again.
const ROUNDS_SECONDS: f64 = 100.0;

/// For each input its values, in the words that Verilator stores.
type Patterns = Vec<(String, Vec<Vec<u32>>)>;

struct Figures {
    lines: usize,
    modules: usize,
    build_seconds: f64,
    yosys_seconds: f64,
    luts: u64,
    registers: u64,
}

/// Seconds that this thread has run.
fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or(0.0, |ns: f64| ns / 1e9)
}

/// Seconds for which programs that this process has started, and that have ended, have run.
fn tool_seconds() -> f64 {
    /// What Linux counts in, for any processor that it runs on today.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, behind_name) = text.rsplit_once(')').expect("the program's name");
    let of_children = behind_name.split_whitespace().skip(13).take(2);
    let ticks: f64 = of_children.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

/// A text with its modules.
struct Text {
    whole: String,
    parts: Vec<Part>,
}

impl Text {
    /// Its text after a comment that makes it new to every cache.
    fn stamped(&self) -> Text {
        let stamp = format!("// {:?}\n", Instant::now());
        let parts = self.parts.iter().cloned().map(|mut part| {
            part.text.insert_str(0, &stamp);
            part
        });
        Text { whole: format!("{stamp}{}", self.whole), parts: parts.collect() }
    }
}

struct Candidate {
    figures: Figures,
    model: Model,
}

/// Builds a model of a text that no cache knows, and says what that took.
fn build(text: &Text, ports: &[Port]) -> (Model, f64) {
    let text = text.stamped();
    let started = tool_seconds();
    let design = Design::build("dut", &text.whole, ports, Options::default()).expect("builds");
    let seconds = tool_seconds() - started;
    let mut model = design.model();
    model.clear_inputs();
    (model, seconds)
}

/// Maps a text that no cache knows, and says what that took.
fn map(text: &Text) -> (Netlist, f64) {
    let started = tool_seconds();
    let netlist = synthesize(&text.stamped().parts).expect("synthesizes");
    (netlist, tool_seconds() - started)
}

/// Which of both goes first in a turn: neither is always behind the other.
fn order(turn: usize) -> [usize; 2] {
    [turn % 2, 1 - turn % 2]
}

/// What `run` makes of both texts in turns, as often as [`ROUNDS_SECONDS`] allow, with the least
/// time of each: what else the machine does only adds to it.
fn least<M, I>(inputs: &[I; 2], run: impl Fn(&I) -> (M, f64)) -> [(M, f64); 2] {
    let mut best = inputs.each_ref().map(&run);
    let mut spent: f64 = best.iter().map(|(_, seconds)| seconds).sum();
    for turn in 1.. {
        if spent >= ROUNDS_SECONDS {
            break;
        }
        for side in order(turn) {
            let (_, seconds) = run(&inputs[side]);
            spent += seconds;
            best[side].1 = best[side].1.min(seconds);
        }
    }
    best
}

/// A text with what building and mapping it gave.
fn candidate(text: &Text, built: (Model, f64), mapped: (Netlist, f64)) -> Candidate {
    let (model, build_seconds) = built;
    let (netlist, yosys_seconds) = mapped;
    let flat = Flat::of(&netlist, "dut").expect("is complete");
    let usage = usage::blocks(&flat, 0)[0].usage;
    let figures = Figures {
        lines: text.whole.lines().count(),
        modules: text.parts.len(),
        build_seconds,
        yosys_seconds,
        luts: usage.luts,
        registers: usage.registers,
    };
    Candidate { figures, model }
}

/// Both texts, built and mapped.
fn prepare(texts: &[(Text, Vec<Port>); 2]) -> [Candidate; 2] {
    let [stock_built, ours_built] = least(texts, |(text, ports)| build(text, ports));
    let [stock_mapped, ours_mapped] = least(texts, |(text, _)| map(text));
    let [(stock, _), (ours, _)] = texts;
    [candidate(stock, stock_built, stock_mapped), candidate(ours, ours_built, ours_mapped)]
}

/// Runs both clocks edges of `cycles` cycles under the patterns.
fn run(model: &mut Model, clocks: &[PortId], inputs: &[(PortId, Vec<Vec<u32>>)], cycles: usize) {
    for cycle in 0..cycles {
        for (port, patterns) in inputs {
            let words = &patterns[cycle % PATTERNS];
            match words[..] {
                [word] => model.set(*port, u64::from(word)),
                [low, high] => model.set(*port, u64::from(high) << 32 | u64::from(low)),
                _ => model.words_mut(*port).copy_from_slice(words),
            }
        }
        clocks.iter().for_each(|clock| model.set(*clock, 1));
        model.eval();
        clocks.iter().for_each(|clock| model.set(*clock, 0));
        model.eval();
    }
}

/// The names of the clocks; the other inputs with random values, resets kept low.
fn stimulus(ports: &[Port]) -> (Vec<String>, Patterns) {
    let mut random = SmallRng::seed_from_u64(1);
    let is_input = |port: &&Port| port.direction == PortDirection::Input;
    let (clocks, inputs): (Vec<&Port>, Vec<&Port>) =
        ports.iter().filter(is_input).partition(|port| port.is_clock);
    let patterns: Patterns = inputs
        .iter()
        .map(|port| {
            let mut pattern = || -> Vec<u32> {
                let mut words = vec![0; port.bits.div_ceil(32)];
                words.iter_mut().for_each(|word| *word = random.random());
                if let (Some(last), spare @ 1..) = (words.last_mut(), port.bits % 32) {
                    *last &= (1 << spare) - 1;
                }
                if port.name.contains("reset") {
                    words.fill(0);
                }
                words
            };
            (port.name.clone(), (0..PATTERNS).map(|_| pattern()).collect())
        })
        .collect();
    let clocks = clocks.iter().map(|port| port.name.clone()).collect();
    (clocks, patterns)
}

/// The modules of rust-hdl's text, which declares ports behind their list.
fn stock_parts(text: &str) -> Vec<Part> {
    let modules = text.split("\nmodule ").skip(1);
    let parts = modules.map(|module| {
        let name = module.split(['(', ' ']).next().unwrap_or_default();
        let is_port = |line: &&str| {
            let first = line.trim_start().split(' ').next().unwrap_or_default();
            ["input", "output", "inout"].contains(&first)
        };
        let ports: Vec<&str> = module.lines().filter(is_port).collect();
        let (head, _) = module.split_once(';').unwrap_or_default();
        let ports = ports.join("\n").replace("output reg ", "output wire ");
        Part {
            name: name.to_owned(),
            text: format!("module {module}\n"),
            stub: format!("(* blackbox *) module {head};\n{ports}\nendmodule\n"),
        }
    });
    parts.collect()
}

/// A candidate's ports, found once.
struct Driven {
    clocks: Vec<PortId>,
    inputs: Vec<(PortId, Vec<Vec<u32>>)>,
}

impl Driven {
    fn new(model: &Model, name: fn(&str) -> String, stimulus: &(Vec<String>, Patterns)) -> Driven {
        let (clocks, patterns) = stimulus;
        let port = |field: &String| model.port(&name(field));
        let inputs = patterns.iter();
        Driven {
            clocks: clocks.iter().map(port).collect(),
            inputs: inputs.map(|(name, p)| (port(name), p.clone())).collect(),
        }
    }

    /// Cycles per second of the processor, for a moment.
    fn rate(&self, model: &mut Model) -> f64 {
        const CYCLES: usize = 500;
        run(model, &self.clocks, &self.inputs, CYCLES);
        let (mut cycles, started) = (0, thread_seconds());
        while thread_seconds() - started < SLICE_SECONDS {
            run(model, &self.clocks, &self.inputs, CYCLES);
            cycles += CYCLES;
        }
        cycles as f64 / (thread_seconds() - started)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Cycles per second of both and their ratio, medians over many short turns: what else the machine
/// does at a time slows down neighbouring turns alike.
fn speeds(candidates: &mut [Candidate; 2], ports: &[Port]) -> ([f64; 2], f64) {
    let stimulus = stimulus(ports);
    let driven = [
        Driven::new(&candidates[0].model, stock::port_name, &stimulus),
        Driven::new(&candidates[1].model, str::to_owned, &stimulus),
    ];
    let turns: Vec<[f64; 2]> = (0..TURNS)
        .map(|turn| {
            let mut rates = [0.0; 2];
            for side in order(turn) {
                rates[side] = driven[side].rate(&mut candidates[side].model);
            }
            rates
        })
        .collect();
    let rates = [0, 1].map(|side: usize| median(turns.iter().map(|turn| turn[side]).collect()));
    let ratios = turns.iter().map(|[stock, ours]| ours / stock);
    (rates, median(ratios.collect()))
}

/// Prints the line of the block that `make` makes, unless `ZERONIC_BLOCKS` leaves it out.
fn compare<B: Block>(name: &str, make: impl FnOnce() -> B) {
    let is_asked = |wanted: String| wanted.split(',').any(|block| block == name);
    if !std::env::var("ZERONIC_BLOCKS").map_or(true, is_asked) {
        return;
    }
    let mut block = make();
    block.connect_all();
    check_all(&block).expect("checks");
    let ports = ports_of(&block);
    let ours = verilog::emit(&block, "dut").expect("emits");
    let modules = ours.texts();
    let stock_text = stock::emit(&block, "dut");
    let stock_text = Text { parts: stock_parts(&stock_text), whole: stock_text };
    let ours = Text { parts: Part::each_of(&modules), whole: ours.single_file() };
    let mut stock_ports = ports.clone();
    for port in &mut stock_ports {
        port.name = stock::port_name(&port.name);
    }
    let mut candidates = prepare(&[(stock_text, stock_ports), (ours, ports.clone())]);
    let (rates, ratio) = speeds(&mut candidates, &ports);
    let [stock, ours] = candidates.map(|candidate| candidate.figures);
    println!(
        "{name:12} lines {:6} {:6}  modules {:4} {:4}  build s {:5.1} {:5.1}  \
         yosys s {:5.1} {:5.1}  LUT {:6} {:6}  FF {:6} {:6}  kcycles/s {:7.0} {:7.0}  x{:.2}",
        stock.lines,
        ours.lines,
        stock.modules,
        ours.modules,
        stock.build_seconds,
        ours.build_seconds,
        stock.yosys_seconds,
        ours.yosys_seconds,
        stock.luts,
        ours.luts,
        stock.registers,
        ours.registers,
        rates[0] / 1e3,
        rates[1] / 1e3,
        ratio,
    );
}

#[test]
fn figures_of_both_emitters() {
    if !skip::long_runs("it prints figures and takes minutes") {
        return;
    }
    // Verilator's runtime, which all models share, is compiled before any time is taken.
    let empty = "module empty(input wire a);\nendmodule\n";
    Design::build("empty", empty, &[], Options::default()).expect("builds");
    println!("each pair: stock, ours");
    compare("MacReceive", ip::cmac::receive::MacReceive::default);
    compare("MacSend", ip::cmac::send::MacSend::default);
    compare("TxMerge", tx_merge::TxMerge::default);
    compare("Requester", dma::requester::Requester::default);
    compare("Completer", host_interface::completer::Completer::default);
    compare("RxSplit", rx_split::RxSplit::<10, 2, 4>::default);
}
