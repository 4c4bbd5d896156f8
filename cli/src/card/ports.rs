//! The table of the card's ports, with what each is for.
//!
//! Names, directions and meanings are those of the emitted Verilog, and follow the vendor's guides
//! PG213 (PCIe) and PG203 (100G MAC).

use std::collections::BTreeMap;
use std::fmt::Write;

use hdl::ports::{Port, PortDirection};

/// AXI4-Stream interfaces: prefix and what flows there.
const STREAMS: &[(&str, &str)] = &[
    ("s_axis_rq", "requests of the card to host memory (RQ, straddle on)"),
    ("m_axis_rc", "completions of the card's reads (RC, straddle on)"),
    ("m_axis_cq", "register accesses of the host (CQ, straddle off)"),
    ("s_axis_cc", "completions of register reads (CC, straddle off)"),
    ("rx_axis", "frames from the wire; cannot be stalled"),
    ("tx_axis", "frames to the wire; no gap inside a frame"),
];

/// What the head of the top module says about its ports: lines of name, direction, width and
/// meaning, which the emitter takes from the blocks' own sources.
fn meanings(head: &str) -> BTreeMap<&str, &str> {
    let row = |line| {
        let rest = str::strip_prefix(line, "//   ")?;
        let (name, rest) = rest.split_once(' ')?;
        let (_direction, rest) = rest.trim_start().split_once(' ')?;
        let (_bits, meaning) = rest.trim_start().split_once(' ')?;
        Some((name, meaning.trim()))
    };
    let head = head.lines().take_while(|line| !line.starts_with("module "));
    head.filter_map(row).collect()
}

/// What flows where a port belongs to a stream.
fn stream(name: &str) -> Option<&'static str> {
    let of = STREAMS.iter().find(|(prefix, _)| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with('_'))
    });
    of.map(|(_, stream)| *stream)
}

/// The table as Markdown; `verilog` is the text of the top module.
pub fn port_table(title: &str, ports: &[Port], verilog: &str) -> String {
    let meanings = meanings(verilog);
    let mut text =
        format!("# Ports of the card\n\n{title}. Directions are seen from the card.\n\n");
    text.push_str("| name | direction | bits | meaning |\n|---|---|---|---|\n");
    for port in ports {
        let direction = match port.direction {
            PortDirection::Input => "in",
            PortDirection::Output => "out",
            PortDirection::InOut => "inout",
        };
        let meaning = meanings.get(port.name.as_str()).unwrap_or(&"");
        let stream = stream(&port.name).map_or(String::new(), |stream| format!("{stream}: "));
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "| `{}` | {direction} | {} | {stream}{meaning} |", port.name, port.bits);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_row_agrees_with_the_verilog() {
        let port = |name: &str, direction, bits| Port {
            name: name.to_owned(),
            direction,
            bits,
            is_clock: false,
        };
        let ports = [
            port("rx_axis_tdata", PortDirection::Output, 512),
            port("link_up", PortDirection::Input, 1),
            port("rx_axisx", PortDirection::InOut, 2),
        ];
        let verilog = "// head\n//   rx_axis_tdata  output  512  data of a beat\n\
                       //   link_up  input  1  the wire carries frames\nmodule card(\n\
                       //   rx_axisx  inout  2  this is not the head\n";
        let expected = "\
# Ports of the card

Small sizes. Directions are seen from the card.

| name | direction | bits | meaning |
|---|---|---|---|
| `rx_axis_tdata` | out | 512 | frames from the wire; cannot be stalled: data of a beat |
| `link_up` | in | 1 | the wire carries frames |
| `rx_axisx` | inout | 2 |  |
";
        assert_eq!(port_table("Small sizes", &ports, verilog), expected);
    }
}
