//! Random kernels: statements over the ports of one block, what they are in rust-hdl's syntax
//! tree, and what each output then is.

use rand::rngs::SmallRng;
use rand::Rng;
use rust_hdl_core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression as Ast,
    VerilogStatement,
};
use rust_hdl_core::prelude::*;

use super::expression::{ones, Draw, Node, Readable, Scope};

/// How deep expressions are nested.
const DEPTH_MAX: usize = 4;

/// Inputs of the block, name and width.
pub const INPUTS: [(&str, usize); 7] =
    [("a", 8), ("b", 8), ("c", 1), ("by", 4), ("at", 6), ("n", 16), ("wide", 100)];
/// Locals in the order in which they are assigned.
const LOCALS: [(&str, usize); 4] = [("l3", 3), ("l8", 8), ("l16", 16), ("l100", 100)];
/// Outputs, name and width.
pub const OUTPUTS: [(&str, usize); 6] =
    [("o1", 1), ("o3", 3), ("o8", 8), ("o16", 16), ("o40", 40), ("o100", 100)];

/// A statement; targets by their place in locals, then outputs.
#[derive(Clone, Debug)]
enum Step {
    Assign(usize, Node),
    If(Node, Vec<Step>, Vec<Step>),
}

/// The ports and locals of every kernel.
#[derive(LogicBlock, Default)]
pub struct Drawn {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    c: Signal<In, Bit>,
    by: Signal<In, Bits<4>>,
    at: Signal<In, Bits<6>>,
    n: Signal<In, Bits<16>>,
    wide: Signal<In, Bits<100>>,
    o1: Signal<Out, Bit>,
    o3: Signal<Out, Bits<3>>,
    o8: Signal<Out, Bits<8>>,
    o16: Signal<Out, Bits<16>>,
    o40: Signal<Out, Bits<40>>,
    o100: Signal<Out, Bits<100>>,
    l3: Signal<Local, Bits<3>>,
    l8: Signal<Local, Bits<8>>,
    l16: Signal<Local, Bits<16>>,
    l100: Signal<Local, Bits<100>>,
    steps: Steps,
}

/// What the block does: it is no signal.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<Step>);

impl Logic for Steps {
    fn update(&mut self) {}
}

impl Block for Steps {
    fn connect_all(&mut self) {}

    fn update_all(&mut self) {}

    fn has_changed(&self) -> bool {
        false
    }

    fn accept(&self, _name: &str, _probe: &mut dyn Probe) {}
}

impl Logic for Drawn {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.o1.connect();
        self.o3.connect();
        self.o8.connect();
        self.o16.connect();
        self.o40.connect();
        self.o100.connect();
        self.l3.connect();
        self.l8.connect();
        self.l16.connect();
        self.l100.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Combinatorial(code_of(&self.steps.0))
    }
}

/// All that a kernel of so many assigned locals may read.
fn readable(assigned: usize) -> Vec<Readable> {
    let all = INPUTS.iter().chain(&LOCALS[..assigned]);
    all.map(|&(name, bits)| Readable { name, bits }).collect()
}

fn target(at: usize) -> (&'static str, usize) {
    LOCALS.get(at).copied().unwrap_or_else(|| OUTPUTS[at - LOCALS.len()])
}

fn code_of(steps: &[Step]) -> VerilogBlock {
    let signals = readable(LOCALS.len());
    let scope = Scope { signals: &signals, values: &[] };
    let code = |step: &Step| match step {
        Step::Assign(at, node) => VerilogStatement::Assignment(
            Ast::Signal(format!("{}$next", target(*at).0)),
            scope.ast(node),
        ),
        Step::If(test, then, otherwise) => VerilogStatement::If(VerilogConditional {
            test: scope.ast(test),
            then: code_of(then),
            otherwise: match otherwise.is_empty() {
                true => VerilogBlockOrConditional::None,
                false => VerilogBlockOrConditional::Block(code_of(otherwise)),
            },
        }),
    };
    steps.iter().map(code).collect()
}

/// A kernel.
pub struct Kernel(Vec<Step>);

impl Kernel {
    /// Draws one: each local, then each output, assigned at least once; some assigned again, or
    /// under a condition.
    pub fn draw(random: &mut SmallRng) -> Kernel {
        let mut steps = Vec::new();
        for at in 0..LOCALS.len() + OUTPUTS.len() {
            let signals = readable(at.min(LOCALS.len()));
            let mut draw = Draw { random, signals, may_shift: at >= LOCALS.len() };
            let bits = target(at).1;
            let assign = |draw: &mut Draw<'_>| {
                let depth = draw.random.random_range(1..=DEPTH_MAX);
                Step::Assign(at, draw.node(bits, depth))
            };
            steps.push(assign(&mut draw));
            if draw.random.random_ratio(1, 3) {
                let test = draw.node(1, DEPTH_MAX - 1);
                let then = vec![assign(&mut draw)];
                let otherwise = match draw.random.random() {
                    true => vec![assign(&mut draw)],
                    false => Vec::new(),
                };
                steps.push(Step::If(test, then, otherwise));
            }
        }
        Kernel(steps)
    }

    /// Its Verilog, as a module of this name.
    pub fn verilog(&self, name: &str) -> Result<String, verilog::EmitError> {
        let mut block = Drawn { steps: Steps(self.0.clone()), ..Drawn::default() };
        block.connect_all();
        Ok(verilog::emit(&block, name)?.single_file())
    }

    /// The outputs at these inputs.
    pub fn outputs(&self, inputs: &[u128; INPUTS.len()]) -> [u128; OUTPUTS.len()] {
        let signals = readable(LOCALS.len());
        let mut values = inputs.to_vec();
        values.resize(INPUTS.len() + LOCALS.len() + OUTPUTS.len(), 0);
        run(&self.0, &signals, &mut values);
        std::array::from_fn(|at| values[INPUTS.len() + LOCALS.len() + at])
    }
}

fn run(steps: &[Step], signals: &[Readable], values: &mut [u128]) {
    for step in steps {
        match step {
            Step::Assign(at, node) => {
                let value = Scope { signals, values }.value(node, target(*at).1);
                values[INPUTS.len() + at] = value;
            }
            Step::If(test, then, otherwise) => {
                let holds = Scope { signals, values }.value(test, 1) == 1;
                run(if holds { then } else { otherwise }, signals, values);
            }
        }
    }
}

/// Values for all inputs; zeros and ones more often than chance would have it.
pub fn draw_inputs(random: &mut SmallRng) -> [u128; INPUTS.len()] {
    std::array::from_fn(|at| {
        let most = ones(INPUTS[at].1);
        match random.random_range(0..6) {
            0 => 0,
            1 => most,
            2 => most - random.random_range(0..=most.min(2)),
            _ => random.random::<u128>() & most,
        }
    })
}
