//! A block in both texts, so that Yosys can compare them: its children are cut out, its registers
//! and ports have the same names.
//!
//! ```text
//!   block ─┬─> stock text ── flip-flops kept, other children empty ─> gold
//!          └─> our text ──── names of the stock, children empty ────> gate
//! ```
//! A child that is no flip-flop becomes an empty module with the same ports in both: its inputs
//! are compared, its outputs may be anything. What is proven of a block so holds for any equal
//! children, and children are blocks of the registry with a line of their own.

use std::collections::BTreeSet;

use hdl::ports::{ports_of, Port, PortDirection};
use rust_hdl_core::prelude::*;

use verilate::stock;

/// A block in both texts.
pub struct Pair {
    /// The block with its parameters.
    pub name: String,
    /// Rust-hdl's text.
    pub gold: String,
    /// Ours, in its names.
    pub gate: String,
    /// Bits of its registers, where each has its initial value in our text.
    pub register_bits: usize,
    /// Children beside flip-flops.
    pub children: usize,
}

struct Child {
    name: String,
    ports: Vec<Port>,
}

/// The children with their ports.
#[derive(Default)]
struct Children {
    depth: usize,
    found: Vec<Child>,
}

impl Probe for Children {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.depth += 1;
        if self.depth == 2 {
            self.found.push(Child { name: name.to_owned(), ports: ports_of(node) });
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
}

impl Child {
    fn is_flip_flop(&self) -> bool {
        let ports = self.ports.iter().map(|port| port.name.as_str());
        ports.eq(["d", "q", "clock"])
    }

    fn module(&self) -> String {
        format!("dut{}{}", stock::JOINT, stock::port_name(&self.name))
    }

    /// The child without content, in the stock's names.
    fn empty(&self) -> String {
        let ports = self.ports.iter().map(|port| {
            let direction = match port.direction {
                PortDirection::Input => "input",
                PortDirection::Output => "output",
                PortDirection::InOut => "inout",
            };
            let name = stock::port_name(&port.name);
            format!("{direction} wire [{}:0] {name}", port.bits - 1)
        });
        let ports: Vec<String> = ports.collect();
        let (module, ports) = (self.module(), ports.join(", "));
        format!("(* blackbox, keep *) module {module}({ports});\nendmodule\n")
    }
}

/// True if Yosys can compare the block's texts: its text is made from a kernel.
pub fn has_kernel(block: &dyn Block) -> bool {
    matches!(block.hdl(), Verilog::Combinatorial(_))
}

impl Pair {
    /// Both texts of a connected block with a kernel.
    pub fn of(block: &dyn Block, name: String) -> Pair {
        let mut children = Children::default();
        block.accept("dut", &mut children);
        let (flip_flops, children): (Vec<Child>, Vec<Child>) =
            children.found.into_iter().partition(Child::is_flip_flop);
        let design = verilog::emit(block, "dut").expect("emits");
        let modules = &design.modules;
        let top = modules.iter().find(|module| module.name == "dut");
        let ours = top.expect("the block's own module").text.clone();
        let stubs: String = children.iter().map(Child::empty).collect();
        let registers = registers(&design, &ours);
        Pair {
            name,
            gold: gold(&stock::emit_top(block, "dut"), &flip_flops) + &stubs,
            gate: gate(ours, &registers, &ports_of(block), &children) + &stubs,
            register_bits: registers.iter().map(|register| register.bits).sum(),
            children: children.len(),
        }
    }
}

/// The block's own module and its flip-flops.
fn gold(text: &str, flip_flops: &[Child]) -> String {
    let mut kept = vec!["dut".to_owned()];
    kept.extend(flip_flops.iter().map(Child::module));
    let modules = text.split("\nmodule ").skip(1).filter(|module| {
        let name = module.split(['(', ' ']).next().unwrap_or("");
        kept.iter().any(|kept| kept == name)
    });
    let modules = modules.map(|module| format!("module {module}\n"));
    undefined_elsewhere(&modules.collect::<String>())
}

/// The text with `x` as the outcome of a `case` for numbers that no variant of its enumeration
/// has: Rust has no such value, so there the reference says nothing.
fn undefined_elsewhere(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for line in text.lines() {
        let code = line.trim();
        if code.starts_with("case ") {
            open.push((out.len(), false));
        } else if code.starts_with("default") {
            open.iter_mut().rev().take(1).for_each(|last| last.1 = true);
        } else if code == "endcase" {
            if let Some((from, false)) = open.pop() {
                let inside = out[from..].iter();
                let names: BTreeSet<&str> = inside.filter_map(|line| assigned(line)).collect();
                let undefined = names.iter().map(|name| format!("{name} = 'bx; "));
                let undefined = undefined.collect::<String>();
                out.push(format!("default: begin {undefined}end"));
            }
        }
        out.push(line.to_owned());
    }
    out.join("\n") + "\n"
}

/// The signal that a line assigns, whole or in part.
fn assigned(line: &str) -> Option<&str> {
    let (target, _) = line.trim().split_once(" = ")?;
    let name = target.split('[').next()?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// A register of ours.
struct Register {
    name: String,
    bits: usize,
    in_stock: String,
}

/// Each register of ours with the name that it has in the flattened stock text.
fn registers(design: &verilog::Design, text: &str) -> Vec<Register> {
    let lines = text.lines().map(str::trim);
    let initial = lines.skip_while(|line| *line != "initial begin").skip(1);
    let assignments = initial.take_while(|line| *line != "end");
    assignments
        .map(|line| {
            let name = line.split(' ').next().unwrap_or("");
            let origin = design.explain(name).expect("the register is known");
            let field = origin.field.expect("a register is a field");
            let field = field.strip_suffix(".q").expect("a register has an output");
            Register {
                name: name.to_owned(),
                bits: bits(text, name),
                in_stock: format!("{}.q", field.replace('.', stock::JOINT)),
            }
        })
        .collect()
}

/// The bits of a register, from its declaration.
fn bits(text: &str, register: &str) -> usize {
    let is_declaration = |line: &&str| {
        let text = line.trim().trim_start_matches("(* keep = \"true\" *) ");
        text.starts_with("reg ") && text.ends_with(&format!(" {register};"))
    };
    let declaration = text.lines().find(is_declaration).expect("is declared");
    let range = declaration.split_once('[').map(|(_, rest)| rest);
    let range = range.and_then(|rest| rest.split_once(":0]"));
    range.map_or(1, |(last, _)| last.parse::<usize>().expect("a number") + 1)
}

/// Our text with the stock's names: of children, of ports, and of registers, which Yosys so knows
/// as the flattened stock's.
fn gate(mut text: String, registers: &[Register], ports: &[Port], children: &[Child]) -> String {
    for child in children {
        text = with_child(&text, child);
    }
    for port in ports {
        let (ours, stock) = (port.verilog_name(), stock::port_name(&port.name));
        if ours != stock {
            text = stock::whole_words(&text, &ours, &stock);
        }
    }
    for register in registers {
        // An escaped name ends with a space.
        text = stock::whole_words(&text, &register.name, &format!("\\{} ", register.in_stock));
    }
    text
}

/// The text with one child's instance as the stock names it.
fn with_child(text: &str, child: &Child) -> String {
    let ours = child.name.replace('$', "_");
    let is_instance = |line: &str| {
        let mut words = line.trim().split(' ');
        let (_, name, open) = (words.next(), words.next(), words.next());
        name == Some(&ours) && open == Some("(") && line.ends_with('(')
    };
    let mut out = Vec::new();
    let (mut inside, mut found) = (false, false);
    for line in text.lines() {
        if is_instance(line) {
            (inside, found) = (true, true);
            let name = stock::port_name(&child.name);
            out.push(format!("{} {name} (", child.module()));
            continue;
        }
        inside &= line.trim() != ");";
        let pin = line.trim().strip_prefix('.').filter(|_| inside);
        let pin = pin.and_then(|pin| pin.split_once('('));
        let port = pin.and_then(|(pin, net)| {
            let port = child.ports.iter().find(|port| port.verilog_name() == pin)?;
            Some((port, net))
        });
        out.push(match port {
            Some((port, net)) => format!(".{}({net}", stock::port_name(&port.name)),
            None => line.to_owned(),
        });
    }
    assert!(found, "no instance {ours} in\n{text}");
    out.join("\n") + "\n"
}
