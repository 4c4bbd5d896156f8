//! A block in a module of its own that states what its streams promise.
//!
//! ```text
//!   inputs, free in every cycle ──┬─► dut ──┬─► what it offers      assert: it stands until taken
//!                                 └ what it is offered: assume the same
//! ```

use std::fmt::Write as _;

use hdl::ports::{Port, PortDirection};

use crate::properties::with_ranges;
use crate::rules::Rule;

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
            content: content
                .map(|port| (port.verilog_name(), port.bits))
                .collect(),
        });
    }
    streams
}

/// The module `top` around the module `dut`, with what its streams promise, and what the block's
/// rule says; `None` for a block with several clocks. It is put to the test where the block has an
/// offer that was not taken in the cycle before.
pub fn with_streams(ports: &[Port], streams: &[Stream], rule: Option<&Rule>) -> Option<String> {
    let mut clocks = ports.iter().filter(|port| port.is_clock);
    let clock = clocks.next().map_or(BESIDE.to_owned(), Port::verilog_name);
    if clocks.next().is_some() {
        return None;
    }
    let mut text = String::new();
    for (number, stream) in streams.iter().enumerate() {
        stream.state(number, &clock, rule, &mut text);
    }
    let stands = |stream: &Stream| !rule.is_some_and(|rule| is_of(rule.falls, stream));
    let sources = (0..).zip(streams);
    let sources = sources.filter(|(_, stream)| stream.is_source && stands(stream));
    let waits: Vec<String> = sources.map(|(at, _)| format!("waits_{at}")).collect();
    let reached = match waits.is_empty() {
        true => "1'b0".to_owned(),
        false => waits.join(" | "),
    };
    if let Some(rule) = rule {
        text += &with_ranges(rule.layouts, rule.assumes);
    }
    let resets = rule.map_or(&[][..], |rule| rule.resets);
    Some(in_module(ports, &text, &reached, resets))
}

/// Whether a text of `with_streams` states something: whether a stream of its block is held.
pub fn claims(text: &str) -> bool {
    text.contains(" assert(")
}

/// Whether a stream is on a list of names.
fn is_of(names: &[&str], stream: &Stream) -> bool {
    names.contains(&stream.name.as_str())
}

/// The clock beside a block that has none.
const BESIDE: &str = "beside";

/// The module `top` around the module `dut`, with a text about its ports. `reached` is true where
/// that is put to the test. All clocks of the block are one; a block without gets one beside it.
/// `in_reset` and `was_reset` tell of its resets, now and in the cycle before.
pub fn around(ports: &[Port], about: &str, reached: &str) -> String {
    in_module(ports, about, reached, &[])
}

fn in_module(ports: &[Port], about: &str, reached: &str, resets: &[&str]) -> String {
    let clock = ports.iter().find(|port| port.is_clock);
    let clock = clock.map_or(BESIDE.to_owned(), Port::verilog_name);
    let is_reset = |name: &str| name.ends_with("reset") || resets.contains(&name);
    let resets = ports.iter().filter(|port| {
        port.direction == PortDirection::Input && port.bits == 1 && is_reset(&port.name)
    });
    let resets: Vec<String> = resets.map(Port::verilog_name).collect();
    let reset = match resets.is_empty() {
        true => "1'b0".to_owned(),
        false => resets.join(" | "),
    };
    let mut text = String::from("module top (\n");
    let others = ports.iter().filter(|port| !port.is_clock);
    for port in others {
        let direction = match port.direction {
            PortDirection::Input => "input",
            _ => "output",
        };
        let name = port.verilog_name();
        let _ = writeln!(text, "  {direction} wire [{}:0] {name},", port.bits - 1);
    }
    let _ = writeln!(text, "  input wire {clock},\n  output wire reached\n);");
    let pins = ports.iter().map(|port| {
        let name = port.verilog_name();
        let net = if port.is_clock { &clock } else { &name };
        format!("    .{name}({net})")
    });
    let pins: Vec<String> = pins.collect();
    let _ = writeln!(text, "  dut dut (\n{}\n  );", pins.join(",\n"));
    let _ = writeln!(text, "  wire in_reset = {reset};\n  reg was_reset = 1'b1;");
    let _ = writeln!(text, "  always @(posedge {clock}) was_reset <= in_reset;");
    text += &about.replace("`CLOCK", &clock);
    let _ = writeln!(text, "  assign reached = {reached};\nendmodule");
    text
}

impl Stream {
    /// What was offered and not taken stands in the next cycle, unless a reset came between, or
    /// the rule says otherwise.
    fn state(&self, number: usize, clock: &str, rule: Option<&Rule>, text: &mut String) {
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
        let verb = match self.is_source {
            true => "assert",
            false => "assume",
        };
        let _ = writeln!(
            text,
            "  reg waits_{number} = 1'b0;\n  reg [{last}:0] offered_{number};\n  \
             always @(posedge {clock}) begin\n    \
             waits_{number} <= {valid} & ~{ready} & ~in_reset;\n    \
             offered_{number} <= {{{all}}};\n  end\n  \
             always @* if (waits_{number} & ~was_reset & ~in_reset) \
             {verb}({{{all}}} == offered_{number});",
            last = bits - 1,
        );
    }
}
