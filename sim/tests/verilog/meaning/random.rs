//! Thousands of random kernels mean in Verilog what Rust means: their outputs, worked out here, in
//! Verilator and in Icarus.
//!
//! ```text
//!   seed ──► kernel ─┬─ emitted ──► one module ─┐ all of a batch below one top
//!                    │                          ├─► Verilator ──► outputs ─┐
//!                    │                          └─► Icarus ─────► outputs ─┼─ equal?
//!                    └─ its own evaluation ──────────────────────► outputs ┘
//! ```
//! The evaluation knows nothing of the emitter: it goes through the expressions with the types from
//! which the syntax tree, which has none, was made.

mod expression;
mod icarus;
mod kernel;

use std::fmt::Write;

use hdl::ports::{Port, PortDirection};
use kernel::{draw_inputs, Kernel, INPUTS, OUTPUTS};
use rand::rngs::SmallRng;
use rand::SeedableRng;
use skip::{skip, Need};
use verilate::design::Design;
use verilate::options::Options;

/// Kernels of one batch, and batches.
const KERNELS: usize = 250;
const BATCHES: u64 = 8;
const BATCHES_LONG: u64 = 80;
/// The batch that Verilator takes in every run: it builds one in half a minute, and finds this one
/// built.
const KEPT: u64 = 1;
/// Inputs that each kernel is given.
const VECTORS: usize = 30;

type Inputs = [u128; INPUTS.len()];
type Outputs = [u128; OUTPUTS.len()];
/// The outputs of a kernel, where a simulator can tell.
type Found = Option<Outputs>;

/// Bits of all outputs of one kernel.
fn output_bits() -> usize {
    OUTPUTS.iter().map(|(_, bits)| bits).sum()
}

/// The modules of some kernels.
fn modules(kernels: &[Kernel]) -> String {
    let module = |(number, kernel): (usize, &Kernel)| {
        let name = format!("kernel_{number}");
        kernel.verilog(&name).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    kernels.iter().enumerate().map(module).collect()
}

/// Pins that join inputs to signals of the same name.
fn input_pins() -> String {
    INPUTS.map(|(name, _)| format!(".{name}({name})")).join(", ")
}

/// Kernels below one top, whose output has theirs one after the other, the first one lowest.
fn top(kernels: usize) -> String {
    let mut top = "module dut (\n".to_owned();
    for (name, bits) in INPUTS {
        let _ = writeln!(top, "    input wire [{}:0] {name},", bits - 1);
    }
    let _ = writeln!(top, "    output wire [{}:0] out\n);", kernels * output_bits() - 1);
    let mut at = 0;
    for number in 0..kernels {
        let _ = write!(top, "    kernel_{number} k_{number} ({}", input_pins());
        for (name, bits) in OUTPUTS {
            let _ = write!(top, ", .{name}(out[{at} +: {bits}])");
            at += bits;
        }
        top += ");\n";
    }
    top + "endmodule\n"
}

fn ports(kernels: usize) -> Vec<Port> {
    let port = |name: &str, bits, direction| Port {
        name: name.to_owned(),
        direction,
        bits,
        is_clock: false,
    };
    let inputs = INPUTS.map(|(name, bits)| port(name, bits, PortDirection::Input));
    let out = port("out", kernels * output_bits(), PortDirection::Output);
    inputs.into_iter().chain([out]).collect()
}

/// The outputs of each kernel, from the bytes of the top's output, lowest first.
fn split(bytes: &[u8], kernels: usize) -> Vec<Found> {
    let bit = |at: usize| u128::from(bytes[at / 8] >> (at % 8) & 1);
    let mut at = 0;
    let mut next = |bits: usize| {
        let value = (0..bits).fold(0, |value, offset| value | bit(at + offset) << offset);
        at += bits;
        value
    };
    (0..kernels).map(|_| Some(OUTPUTS.map(|(_, bits)| next(bits)))).collect()
}

/// What Verilator makes of the inputs: a list of outputs for each of them.
fn run_verilator(text: &str, kernels: usize, vectors: &[Inputs]) -> Vec<Vec<Found>> {
    let design = Design::build("dut", text, &ports(kernels), Options::default()).expect("builds");
    // A random comparison may be one with a constant that decides it alone.
    let kinds = design.warnings().lines().filter_map(|line| line.strip_prefix("%Warning-"));
    let known = |kind: &str| kind.starts_with("CMPCONST:") || kind.starts_with("UNSIGNED:");
    assert!(kinds.clone().all(known), "{}", design.warnings());
    let mut model = design.model();
    model.clear_inputs();
    let mut outputs = vec![0; (kernels * output_bits()).div_ceil(8)];
    let run = |inputs: &Inputs| {
        for ((name, bits), value) in INPUTS.iter().zip(inputs) {
            let id = model.port(name);
            model.set_bytes(id, &value.to_le_bytes()[..bits.div_ceil(8)]);
        }
        model.eval();
        model.get_bytes(model.port("out"), &mut outputs);
        split(&outputs, kernels)
    };
    vectors.iter().map(run).collect()
}

fn judge(simulator: &str, kernels: &[Kernel], vectors: &[Inputs], found: &[Vec<Found>]) {
    assert_eq!(found.len(), vectors.len(), "{simulator}");
    for (inputs, found) in vectors.iter().zip(found) {
        assert_eq!(found.len(), kernels.len(), "{simulator}");
        for (number, (kernel, found)) in kernels.iter().zip(found).enumerate() {
            let right = kernel.outputs(inputs);
            if found.is_some_and(|found| found != right) {
                let text = kernel.verilog("kernel").expect("emits");
                panic!(
                    "{simulator}, kernel {number}, {INPUTS:?} = {inputs:x?}: \
                     {OUTPUTS:?} = {found:x?}, not {right:x?}\n{text}"
                );
            }
        }
    }
}

#[test]
fn random_kernels_mean_what_rust_means() {
    let icarus = icarus::locate().map_err(|error| skip(Need::Packages, error)).ok();
    let is_long = std::env::var_os("ZERONIC_LONG").is_some();
    let first = seed::seed();
    let drawn = first..first + if is_long { BATCHES_LONG } else { BATCHES };
    for seed in drawn.chain([KEPT]) {
        let mut random = SmallRng::seed_from_u64(seed);
        let kernels: Vec<Kernel> = (0..KERNELS).map(|_| Kernel::draw(&mut random)).collect();
        let vectors: Vec<Inputs> = (0..VECTORS).map(|_| draw_inputs(&mut random)).collect();
        let text = modules(&kernels);
        let judge = |simulator: &str, found: &[Vec<Found>]| {
            judge(&format!("{simulator}, batch of seed {seed}"), &kernels, &vectors, found);
        };
        if let Some(icarus) = &icarus {
            judge("Icarus", &icarus.run(&text, KERNELS, &vectors));
        }
        if is_long || seed == KEPT {
            judge("Verilator", &run_verilator(&(text + &top(KERNELS)), KERNELS, &vectors));
        }
    }
}
