//! The Verilog of one block with a kernel, so that it stands alone: its children are empty modules.

use rust_hdl_core::prelude::*;

/// A block's own module, and the ports of its children's.
pub struct BlockText {
    /// The block with its parameters.
    pub name: String,
    /// Module `dut`, and below it an empty one for each module that it has.
    pub text: String,
    /// Bits of its registers, where each has its initial value.
    pub register_bits: usize,
    /// Modules that are empty.
    pub children: Vec<String>,
}

/// True if the block's text is made from a kernel.
pub fn has_kernel(block: &dyn Block) -> bool {
    matches!(block.hdl(), Verilog::Combinatorial(_))
}

impl BlockText {
    /// The text of a connected block with a kernel.
    pub fn of(block: &dyn Block, name: String) -> BlockText {
        let design = verilog::emit(block, "dut").expect("emits");
        let own = design.modules.iter().find(|module| module.name == "dut");
        let own = own.expect("the block's own module").text.clone();
        let used = design.modules.iter().filter(|module| {
            let opening = format!("    {} ", module.name);
            own.lines().any(|line| line.starts_with(&opening) && line.ends_with('('))
        });
        let (mut children, mut text) = (Vec::new(), own.clone());
        for module in used {
            text += &empty(&module.text);
            children.push(module.name.clone());
        }
        BlockText { name, register_bits: register_bits(&own), children, text }
    }
}

/// The module without content.
fn empty(text: &str) -> String {
    let from = text.find("module ").expect("a module");
    let ports = text[from..].split_inclusive(");\n").next().expect("a list of ports");
    let ports =
        ports.replace("output reg  ", "output wire ").replace("output reg ", "output wire ");
    format!("(* blackbox, keep *)\n{ports}endmodule\n")
}

/// The bits of the registers that the `initial` block of a module names.
fn register_bits(text: &str) -> usize {
    let lines = text.lines().map(str::trim);
    let initial = lines.skip_while(|line| *line != "initial begin").skip(1);
    let assignments = initial.take_while(|line| *line != "end");
    let names = assignments.map(|line| line.split(' ').next().unwrap_or(""));
    names.map(|name| bits(text, name)).sum()
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
