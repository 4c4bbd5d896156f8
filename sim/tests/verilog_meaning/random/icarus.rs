//! A batch of kernels in Icarus Verilog.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use verilate::icarus::{Icarus, IcarusError};

use super::kernel::{INPUTS, OUTPUTS};
use super::{input_pins, Inputs, Outputs};

/// Icarus, from this machine or fetched.
pub fn locate() -> Result<Simulator, IcarusError> {
    Icarus::locate().map(Simulator)
}

/// Runs batches.
pub struct Simulator(Icarus);

impl Simulator {
    /// What it makes of the inputs: a list of outputs for each of them.
    pub fn run(&self, modules: &str, kernels: usize, vectors: &[Inputs]) -> Vec<Vec<Outputs>> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("icarus");
        fs::create_dir_all(&folder).expect("a folder");
        let text = modules.to_owned() + &bench(kernels, vectors);
        let said = self.0.simulate(&folder, "bench", &text).expect("Icarus runs");
        let lines: Vec<Outputs> = said.lines().map(outputs_of).collect();
        lines.chunks(kernels).map(<[Outputs]>::to_vec).collect()
    }
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
