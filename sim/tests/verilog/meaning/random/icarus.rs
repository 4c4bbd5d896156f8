//! A batch of kernels in Icarus Verilog.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use verilate::icarus::{Icarus, IcarusError};

use super::kernel::{INPUTS, OUTPUTS};
use super::{input_pins, Found, Inputs, Outputs};

/// Icarus, from this machine or fetched.
pub fn locate() -> Result<Simulator, IcarusError> {
    Icarus::locate().map(Simulator)
}

/// Runs batches.
pub struct Simulator(Icarus);

impl Simulator {
    /// What it makes of the inputs: a list of outputs for each of them, of those kernels that it
    /// can judge.
    pub fn run(&self, modules: &str, kernels: usize, vectors: &[Inputs]) -> Vec<Vec<Found>> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("icarus");
        fs::create_dir_all(&folder).expect("a folder");
        let text = modules.to_owned() + &bench(kernels, vectors);
        let said = self.0.simulate(&folder, "bench", &text);
        let (printed, warnings) = said.expect("Icarus runs");
        let unjudged = never_run(&text, &warnings);
        assert!(unjudged.len() < kernels / 10, "{} of {kernels} are not judged", unjudged.len());
        let found = |(at, line): (usize, &str)| match unjudged.contains(&(at % kernels)) {
            true => None,
            false => Some(outputs_of(line)),
        };
        let lines: Vec<Found> = printed.lines().enumerate().map(found).collect();
        lines.chunks(kernels).map(<[Found]>::to_vec).collect()
    }
}

/// Kernels with a process that never runs. Icarus folds constants before it looks for what a
/// process reads, and says where it then finds nothing.
fn never_run(text: &str, warnings: &str) -> BTreeSet<usize> {
    let line_of = |warning: &str| {
        let (place, what) = warning.split_once(": warning: ")?;
        let line = place.rsplit(':').next()?.parse::<usize>().ok()?;
        what.starts_with("@* found no sensitivities").then_some(line)
    };
    let kernel_of = |line: usize| {
        let modules =
            text.lines().take(line).filter_map(|line| line.strip_prefix("module kernel_"));
        modules.last()?.split(' ').next()?.parse::<usize>().ok()
    };
    warnings.lines().filter_map(line_of).filter_map(kernel_of).collect()
}

/// A module that gives the inputs one after the other, and prints each time a line for each kernel.
fn bench(kernels: usize, vectors: &[Inputs]) -> String {
    let mut text = "module bench;\n".to_owned();
    for (name, bits) in INPUTS {
        let _ = writeln!(text, "    reg [{}:0] {name};", bits - 1);
    }
    for number in 0..kernels {
        let _ = writeln!(text, "    kernel_{number} k_{number} ({});", input_pins());
    }
    text += "    task show;\n    begin\n";
    let format = OUTPUTS.map(|_| "%h").join(" ");
    for number in 0..kernels {
        let outputs = OUTPUTS.map(|(name, _)| format!("k_{number}.{name}")).join(", ");
        let _ = writeln!(text, "        $display(\"{format}\", {outputs});");
    }
    text += "    end\n    endtask\n    initial begin\n";
    for inputs in vectors {
        for ((name, bits), value) in INPUTS.iter().zip(inputs) {
            let _ = writeln!(text, "        {name} = {bits}'h{value:x};");
        }
        text += "        #1 show;\n";
    }
    text + "    end\nendmodule\n"
}

fn outputs_of(line: &str) -> Outputs {
    let numbers: Vec<u128> = line
        .split_whitespace()
        .map(|word| u128::from_str_radix(word, 16))
        .collect::<Result<_, _>>()
        .unwrap_or_else(|_| panic!("an output is unknown: {line}"));
    numbers.try_into().expect("an output each")
}
