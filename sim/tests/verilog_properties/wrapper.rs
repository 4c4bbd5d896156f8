//! A block in a module of its own that states what its streams promise.
//!
//! ```text
//!   inputs, free in every cycle ──┬─► dut ──┬─► what it offers      assert: it stands until taken
//!                                 └ what it is offered: assume the same
//! ```

use std::fmt::Write as _;

use hdl::ports::{Port, PortDirection};

/// A stream among the ports of a block.
#[derive(Clone, Debug)]
pub struct Stream {
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

/// The module `top` around the module `dut`, with what its streams promise; `None` for a block
/// without clock or with several. It is put to the test where the block has an offer that was not
/// taken in the cycle before.
pub fn with_streams(ports: &[Port], streams: &[Stream]) -> Option<String> {
    let mut clocks = ports.iter().filter(|port| port.is_clock);
    let clock = clocks.next().filter(|_| clocks.next().is_none())?;
    let mut text = String::new();
    for (number, stream) in streams.iter().enumerate() {
        stream.state(number, &clock.verilog_name(), &mut text);
    }
    let sources = (0..).zip(streams).filter(|(_, stream)| stream.is_source);
    let waits: Vec<String> = sources.map(|(at, _)| format!("waits_{at}")).collect();
    Some(around(ports, &text, &waits.join(" | ")))
}

/// The module `top` around the module `dut`, with a text about its ports. `reached` is true where
/// that is put to the test. All clocks of the block are one; a block without gets one beside it.
/// `in_reset` and `was_reset` tell of its resets, now and in the cycle before.
pub fn around(ports: &[Port], about: &str, reached: &str) -> String {
    let clock = ports.iter().find(|port| port.is_clock);
    let clock = clock.map_or("beside".to_owned(), Port::verilog_name);
    let resets = ports.iter().filter(|port| {
        port.direction == PortDirection::Input && port.bits == 1 && port.name.ends_with("reset")
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
    /// What was offered and not taken stands in the next cycle, unless a reset came between.
    fn state(&self, number: usize, clock: &str, text: &mut String) {
        let (valid, ready) = (&self.valid, &self.ready);
        let names = self.content.iter().map(|(name, _)| name.as_str());
        let names: Vec<&str> = std::iter::once(valid.as_str()).chain(names).collect();
        let bits: usize = 1 + self.content.iter().map(|(_, bits)| bits).sum::<usize>();
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
