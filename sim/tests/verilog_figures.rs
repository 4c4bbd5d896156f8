//! Figures of the two emitters, rust-hdl's own and ours, in one run.
//!
//! ```text
//!   block ─┬─ stock text ─┬─> Verilator ─> model ─┐
//!          │              └─> Yosys ─> LUTs, FFs  ├─ same random inputs ─> cycles per second
//!          └─ our text ───── likewise ────────────┘
//! ```
//! Times are those of this thread on the processor, so that a busy machine changes them little.
//! `ZERONIC_LONG=1 cargo test -p sim --test verilog_figures -- --nocapture` prints the table.

use std::time::Instant;

use hdl::ports::{ports_of, Port, PortDirection};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use sim::area::synthesis::{synthesize, Part};
use sim::design::{Design, Options};
use sim::verilated::{Model, PortId};

#[path = "verilog_support/stock.rs"]
mod stock;

/// Inputs prepared once, so that the measured loop only copies them.
const PATTERNS: usize = 64;

/// For each input its values, in the words that Verilator stores.
type Patterns = Vec<(String, Vec<Vec<u32>>)>;

struct Figures {
    lines: usize,
    modules: usize,
    build_seconds: f64,
    yosys_seconds: f64,
    luts: u64,
    registers: u64,
    cycles_per_second: Vec<f64>,
}

/// Seconds that this thread has run.
fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or(0.0, |ns: f64| ns / 1e9)
}

/// Wall-clock seconds of Yosys, LUTs and flip-flops.
fn mapped(text: &str) -> (f64, u64, u64) {
    let started = Instant::now();
    let netlist = synthesize(&[Part::whole("dut", text)]).expect("synthesizes");
    let seconds = started.elapsed().as_secs_f64();
    let flat = sim::area::flat::Flat::of(&netlist, "dut").expect("is complete");
    let usage = sim::area::usage::blocks(&flat, 0)[0].usage;
    (seconds, usage.luts, usage.registers)
}

struct Candidate {
    figures: Figures,
    model: Model,
}

fn prepare(text: &str, ports: &[Port]) -> Candidate {
    let started = Instant::now();
    let design = Design::build("dut", text, ports, Options::default()).expect("builds");
    let build_seconds = started.elapsed().as_secs_f64();
    let mut model = design.model();
    model.clear_inputs();
    let is_module = |line: &&str| line.trim_start().starts_with("module ");
    let (yosys_seconds, luts, registers) = mapped(text);
    Candidate {
        figures: Figures {
            lines: text.lines().count(),
            modules: text.lines().filter(is_module).count(),
            build_seconds,
            yosys_seconds,
            luts,
            registers,
            cycles_per_second: Vec::new(),
        },
        model,
    }
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
    let (clocks, inputs): (Vec<&Port>, Vec<&Port>) = ports
        .iter()
        .filter(is_input)
        .partition(|port| port.is_clock);
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
            (
                port.name.clone(),
                (0..PATTERNS).map(|_| pattern()).collect(),
            )
        })
        .collect();
    let clocks = clocks.iter().map(|port| port.name.clone()).collect();
    (clocks, patterns)
}

fn compare<B: Block>(name: &str, mut block: B) {
    block.connect_all();
    check_all(&block).expect("checks");
    let ports = ports_of(&block);
    let stamp = format!("// {:?}\n", Instant::now());
    let ours = verilog::emit(&block, "dut").expect("emits").single_file();
    let mut stock_ports = ports.clone();
    for port in &mut stock_ports {
        port.name = stock::port_name(&port.name);
    }
    let mut candidates = [
        prepare(&(stamp.clone() + &stock::emit(&block, "dut")), &stock_ports),
        prepare(&(stamp + &ours), &ports),
    ];
    let (clocks, patterns) = stimulus(&ports);
    for round in 0..6 {
        let candidate = &mut candidates[round % 2];
        let name_of = |field: &str| match round % 2 {
            0 => stock::port_name(field),
            _ => field.to_owned(),
        };
        let model = &mut candidate.model;
        let clocks: Vec<PortId> = clocks
            .iter()
            .map(|port| model.port(&name_of(port)))
            .collect();
        let inputs: Vec<(PortId, Vec<Vec<u32>>)> = patterns
            .iter()
            .map(|(name, patterns)| (model.port(&name_of(name)), patterns.clone()))
            .collect();
        run(model, &clocks, &inputs, 2_000);
        let (mut cycles, started) = (0, thread_seconds());
        while thread_seconds() - started < 0.5 {
            run(model, &clocks, &inputs, 2_000);
            cycles += 2_000;
        }
        let rate = f64::from(cycles) / (thread_seconds() - started);
        candidate.figures.cycles_per_second.push(rate);
    }
    let [stock, ours] = candidates.map(|candidate| candidate.figures);
    let best = |figures: &Figures| {
        figures
            .cycles_per_second
            .iter()
            .fold(0.0, |a: f64, b| a.max(*b))
    };
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
        best(&stock) / 1e3,
        best(&ours) / 1e3,
        best(&ours) / best(&stock),
    );
}

#[test]
fn figures_of_both_emitters() {
    if std::env::var_os("ZERONIC_LONG").is_none() {
        println!("skipped: set ZERONIC_LONG=1; it prints figures and takes minutes");
        return;
    }
    println!("each pair: stock, ours");
    compare("MacReceive", hdl::ip::cmac::MacReceive::default());
    compare("MacSend", hdl::ip::cmac::MacSend::default());
    compare("TxMerge", tx_merge::TxMerge::default());
    compare("Requester", dma::requester::Requester::default());
    compare("Completer", dma::completer::Completer::default());
    compare("RxSplit", rx_split::RxSplit::<10, 2, 4>::default());
}
