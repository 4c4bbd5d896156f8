//! A block in a module of its own that states what its streams promise.
//!
//! ```text
//!   inputs, free in every cycle ──┬─► dut ──┬─► what it offers      assert: it stands until taken
//!                                 └ what it is offered: assume the same
//! ```

use std::fmt::Write as _;

use hdl::ports::{Port, PortDirection};

use crate::properties::rules::Rule;
use crate::properties::seen::with_nets;
use crate::properties::stated::with_ranges;

/// A stream among the ports of a block.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The name of its bundle.
    name: String,
    /// The block offers; otherwise it is offered.
    pub is_source: bool,
    /// Names in the Verilog: `valid`, `ready`, and all that stands with them.
    valid: String,
    ready: String,
    content: Vec<(String, usize)>,
}

/// The streams of a block: bundles with `valid` one way and `ready` the other.
pub fn streams_of(ports: &[Port]) -> Vec<Stream> {
    let with = |end: &'static str| {
        let ports = ports.iter();
        ports.filter_map(move |port| Some((port.name.strip_suffix(end)?, port)))
    };
    let mut streams = Vec::new();
    for (name, valid) in with("$valid") {
        let ready = with("$ready").find(|(other, _)| *other == name);
        let Some((_, ready)) = ready.filter(|(_, ready)| ready.direction != valid.direction) else {
            continue;
        };
        let prefix = format!("{name}$");
        let inside = |port: &&Port| {
            port.name.starts_with(&prefix)
                && port.direction == valid.direction
                && port.name != valid.name
        };
        let content = ports.iter().filter(inside);
        streams.push(Stream {
            name: name.to_owned(),
            is_source: valid.direction == PortDirection::Output,
            valid: valid.verilog_name(),
            ready: ready.verilog_name(),
            content: content.map(|port| (port.verilog_name(), port.bits)).collect(),
        });
    }
    streams
}

/// The module `top` around the module `dut`, with what its streams promise, and what the block's
/// rule says. It is put to the test where the block has an offer that was not taken in the cycle
/// before, or a part of it has.
pub fn with_streams(ports: &[Port], rule: Option<&Rule>) -> String {
    let joint = rule.map_or(String::new(), |rule| with_nets(rule.joint));
    let text = claims(ports, rule, Role::Whole) + &joint;
    let reached = waits(ports, rule, Role::Whole);
    let resets = rule.map_or(&[][..], |rule| rule.resets);
    in_module(ports, &text, &reached, resets)
}

/// The ports of a block that tell it that an offer which is to stand is taken.
pub fn readies(ports: &[Port], rule: Option<&Rule>) -> Vec<String> {
    let held = held_streams(ports, rule, Role::Whole);
    held.into_iter().map(|(_, stream)| stream.ready).collect()
}

/// A text in which the block reads one of its inputs inverted: the fault that is planted. The last
/// module is that around the block.
pub fn with_inverted(text: &str, input: &str) -> String {
    let (before, after) = text
        .rsplit_once(&format!("    .{input}({input})"))
        .unwrap_or_else(|| panic!("no pin {input}"));
    format!("{before}    .{input}(~{input}){after}")
}

/// What is stated of a block: of itself, or of a part of the block that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What it offers is to be proven; what it is offered is assumed.
    Whole,
    /// Of a part the other way round: its own line proves what it offers.
    Part,
}

/// The module of a part: its outputs are anything that its streams and its rule allow, and what
/// these assume is asserted.
pub fn part(module: &str, ports: &[Port], rule: Option<&Rule>) -> String {
    let declared = ports.iter().map(|port| {
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        let name = port.verilog_name();
        format!("  {direction} wire [{}:0] {name}", port.bits - 1)
    });
    let declared: Vec<String> = declared.collect();
    let outputs = ports.iter();
    let outputs = outputs.filter(|port| port.direction != PortDirection::Input);
    let mut text = format!("module {module} (\n{}\n);\n", declared.join(",\n"));
    for port in outputs {
        let (name, last) = (port.verilog_name(), port.bits - 1);
        let _ = writeln!(text, "  (* anyseq *) wire [{last}:0] any_{name};");
        let _ = writeln!(text, "  assign {name} = any_{name};");
    }
    let resets = rule.map_or(&[][..], |rule| rule.resets);
    let claims = claims(ports, rule, Role::Part);
    let waits = waits(ports, rule, Role::Part);
    let reached = format!("  (* keep *) wire {REACHED} = {waits};\n");
    text + &describe_ports(ports, &claims, resets, Role::Part) + &reached + "endmodule\n"
}

/// What the streams of a block and its rule say.
fn claims(ports: &[Port], rule: Option<&Rule>, role: Role) -> String {
    let mut text = String::new();
    for (number, stream) in streams_of(ports).iter().enumerate() {
        stream.state(number, rule, role, &mut text);
    }
    let Some(rule) = rule else {
        return text;
    };
    let mut said = with_widths(ports, &with_ranges(rule.layouts, rule.says));
    if rule.is_function {
        said += &function(ports);
    }
    text += &match role {
        Role::Whole => said,
        Role::Part => {
            let assumed = said.replace("assume(", "ASSERT(");
            assumed.replace("assert(", "assume(").replace("ASSERT(", "assert(")
        }
    };
    text
}

/// What is the same in all inputs as in the cycle before is the same in all outputs.
fn function(ports: &[Port]) -> String {
    let all = |direction: PortDirection| {
        let ports = ports.iter().filter(|port| port.direction == direction);
        let bits: usize = ports.clone().map(|port| port.bits).sum();
        let names: Vec<String> = ports.map(Port::verilog_name).collect();
        (bits, names.join(", "))
    };
    let (input_bits, inputs) = all(PortDirection::Input);
    let (output_bits, outputs) = all(PortDirection::Output);
    format!(
        "  reg has_before = 1'b0;\n  reg [{}:0] inputs_before;\n  reg [{}:0] outputs_before;\n  \
         always @({GLOBAL}) begin\n    has_before <= 1'b1;\n    \
         inputs_before <= {{{inputs}}};\n    \
         outputs_before <= {{{outputs}}};\n  end\n  \
         always @* if (has_before & {{{inputs}}} == inputs_before)\n    \
         assert({{{outputs}}} == outputs_before);\n",
        input_bits - 1,
        output_bits - 1,
    )
}

/// The signal of a part that says whether the whole is in reset.
pub const OF_WHOLE: &str = "reset_of_whole";

/// The signal of the whole that says so.
pub const IN_RESET: &str = "in_reset";

/// The signal that is high where no offer needs to stand.
const EXCUSED: &str = "excused";

/// The signal that is high where what a block says is put to the test.
pub const REACHED: &str = "put_to_the_test";

/// The streams, with their numbers, whose offers are to be proven to stand.
fn held_streams(ports: &[Port], rule: Option<&Rule>, role: Role) -> Vec<(usize, Stream)> {
    let streams = streams_of(ports).into_iter().enumerate();
    let held = streams.filter(|(_, stream)| {
        stream.is_source == (role == Role::Whole)
            && !rule.is_some_and(|rule| is_of(rule.falls, stream))
    });
    held.collect()
}

/// That an offer which is to stand was not taken.
fn waits(ports: &[Port], rule: Option<&Rule>, role: Role) -> String {
    let held = held_streams(ports, rule, role).into_iter();
    let waits: Vec<String> = held.map(|(at, _)| format!("waits_{at}")).collect();
    match waits.is_empty() {
        true => "1'b0".to_owned(),
        false => waits.join(" | "),
    }
}

/// A text with the widths of ports, which it names as `BITS(PORT)`.
fn with_widths(ports: &[Port], text: &str) -> String {
    let mut text = text.to_owned();
    for port in ports {
        let name = format!("`BITS({})", port.verilog_name());
        text = text.replace(&name, &port.bits.to_string());
    }
    text
}

/// Whether a stream is on a list of names.
fn is_of(names: &[&str], stream: &Stream) -> bool {
    names.contains(&stream.name.as_str())
}

/// The clock of all, of which the solver makes its steps.
const GLOBAL: &str = "$global_clock";

/// The module `top` around the module `dut`, with a text about its ports. `reached` is true where
/// that is put to the test. All clocks of the block are one. `in_reset` and `was_reset` tell of its
/// resets, now and in the cycle before.
pub fn around(ports: &[Port], about: &str, reached: &str) -> String {
    in_module(ports, about, reached, &[])
}

fn in_module(ports: &[Port], said: &str, reached: &str, resets: &[&str]) -> String {
    let mut text = String::from("module top (\n");
    for port in ports {
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        let name = port.verilog_name();
        let _ = writeln!(text, "  {direction} wire [{}:0] {name},", port.bits - 1);
    }
    let _ = writeln!(text, "  output wire {REACHED}\n);");
    let pins = ports.iter().map(|port| {
        let name = port.verilog_name();
        format!("    .{name}({name})")
    });
    let pins: Vec<String> = pins.collect();
    let _ = writeln!(text, "  dut dut (\n{}\n  );", pins.join(",\n"));
    text += &describe_ports(ports, said, resets, Role::Whole);
    let _ = writeln!(text, "  assign {REACHED} = {reached};\nendmodule");
    text
}

/// A text about the ports of a block, with its resets in front. A part without any is reset with
/// the whole; and while the whole is, no offer of a part needs to stand: its own reset may come
/// later.
/// The solver is told when that is.
fn describe_ports(ports: &[Port], said: &str, resets: &[&str], role: Role) -> String {
    let mut text = String::new();
    let is_reset = |port: &&Port| match resets.is_empty() {
        true => {
            let is_input = port.direction == PortDirection::Input;
            is_input && port.bits == 1 && port.name.ends_with("reset")
        }
        false => resets.contains(&port.name.as_str()),
    };
    let resets = ports.iter().filter(is_reset);
    let mut resets: Vec<String> = resets.map(Port::verilog_name).collect();
    let excused = match role {
        Role::Whole => IN_RESET.to_owned(),
        Role::Part => {
            text += &format!("  (* keep, anyseq *) wire {OF_WHOLE};\n");
            if resets.is_empty() {
                resets.push(OF_WHOLE.to_owned());
            }
            format!("{IN_RESET} | {OF_WHOLE}")
        }
    };
    let reset = match resets.is_empty() {
        true => "1'b0".to_owned(),
        false => resets.join(" | "),
    };
    text += &format!("  wire {IN_RESET} = {reset};\n  reg was_reset = 1'b1;\n");
    text += &format!("  wire {EXCUSED} = {excused};\n");
    let _ = writeln!(text, "  always @({GLOBAL}) was_reset <= in_reset;");
    text + &said.replace("posedge `CLOCK", GLOBAL)
}

impl Stream {
    /// What was offered and not taken stands in the next cycle, unless a reset came between, or
    /// the rule says otherwise.
    fn state(&self, number: usize, rule: Option<&Rule>, role: Role, text: &mut String) {
        if rule.is_some_and(|rule| is_of(rule.falls, self)) {
            return;
        }
        let (valid, ready) = (&self.valid, &self.ready);
        let stands = !rule.is_some_and(|rule| is_of(rule.changes, self));
        let content = self.content.iter().filter(|_| stands);
        let names = content.clone().map(|(name, _)| name.as_str());
        let names: Vec<&str> = std::iter::once(valid.as_str()).chain(names).collect();
        let bits: usize = 1 + content.map(|(_, bits)| bits).sum::<usize>();
        let all = names.join(", ");
        let verb = match self.is_source == (role == Role::Whole) {
            true => "assert",
            false => "assume",
        };
        let of_stream = rule.and_then(|rule| {
            let mut resets = rule.resets_of.iter();
            resets.find(|(name, _)| *name == self.name)
        });
        let reset = of_stream.map_or(EXCUSED.to_owned(), |(_, port)| match role {
            Role::Whole => (*port).to_owned(),
            Role::Part => format!("({port} | {OF_WHOLE})"),
        });
        let _ = writeln!(
            text,
            "  reg waits_{number} = 1'b0;\n  reg [{last}:0] offered_{number};\n  \
             always @({GLOBAL}) begin\n    \
             waits_{number} <= {valid} & ~{ready} & ~{reset};\n    \
             offered_{number} <= {{{all}}};\n  end\n  \
             always @* if (waits_{number} & ~{reset}) \
             {verb}({{{all}}} == offered_{number});",
            last = bits - 1,
        );
    }
}
