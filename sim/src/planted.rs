//! A card with faults planted in its Verilog, each switched on by number while it runs.
//!
//! ```text
//!   emitted card ── at_input, at_output ──► the same card, and a port `planted_fault`
//!        .port(net)   becomes   .port(TOP.planted_fault == 3 ? wrong : net)
//! ```
//! Faults are planted where stages meet, at named ports of named instances, so they do not depend
//! on the inside of a stage. One model holds them all: a check runs on it with fault 0, that is
//! none, where it must pass, and with the fault that breaks its rule, where it must fail.
//!
//! Invariants
//! 1. A module, instance or port that does not occur exactly once is a panic that names it: a fault
//!    is never silently left out.

use hdl::emit::emit_card_for;
use hdl::ports::Port;
use ip::completion_buffer::CompletionBuffer;

use verilate::design::Design;
use verilate::error::BuildError;
use verilate::options::Options;

use crate::switched::{fault_port, is_on, with_port};

/// The Verilog text of the card. See the head of the module.
pub struct Planted {
    top: &'static str,
    verilog: String,
    ports: Vec<Port>,
}

impl Planted {
    /// The card of a named configuration, without a fault yet. Its modules have no prefix: faults
    /// name them after their blocks.
    ///
    /// # Panics
    /// If there is no such configuration, or it does not emit.
    pub fn card(config: &str) -> Planted {
        let emitted = emit_card_for(config, CompletionBuffer::default(), "");
        let emitted = emitted.unwrap_or_else(|| panic!("no configuration '{config}'"));
        let card = emitted.unwrap_or_else(|error| panic!("{config}: {error}"));
        let mut ports = card.ports;
        ports.push(fault_port());
        Planted { top: card.top, verilog: with_port(card.top, &card.design.single_file()), ports }
    }

    /// Byte offset of a module.
    fn module(&self, name: &str) -> usize {
        let mut found = self
            .verilog
            .match_indices("module ")
            .filter(|(at, _)| *at == 0 || self.verilog[..*at].ends_with('\n'))
            .map(|(at, _)| at)
            .filter(|at| {
                let rest = &self.verilog[at + "module ".len()..];
                rest.starts_with(name) && !rest[name.len()..].starts_with(is_name)
            });
        match (found.next(), found.next()) {
            (Some(at), None) => at,
            _ => panic!("module `{name}` is not in the card, or there are several"),
        }
    }

    /// Byte offset and text of what is connected to a port.
    fn connection(&self, module: &str, instance: &str, port: &str) -> (usize, &str) {
        let start = self.module(module);
        let rest = &self.verilog[start..];
        let body = &rest[..rest.find("\nendmodule").expect("a module ends")];
        let opening = format!(" {instance} (");
        let at = body
            .find(&opening)
            .unwrap_or_else(|| panic!("`{module}` has no instance `{instance}`"));
        let instance_text = &body[at..at + body[at..].find(");").expect("an instance ends")];
        let opening = format!(".{port}(");
        let within = instance_text
            .find(&opening)
            .unwrap_or_else(|| panic!("`{module}.{instance}` has no port `{port}`"));
        let from = within + opening.len();
        let length = instance_text[from..].find(')').unwrap_or_else(|| {
            panic!("`{module}.{instance}.{port}` is connected in a way not known here")
        });
        let net = &instance_text[from..from + length];
        let is_plain = |letter: char| is_name(letter) || "[:]".contains(letter);
        assert!(
            !net.is_empty() && net.chars().all(is_plain),
            "`{module}.{instance}.{port}` is connected to `{net}`, not to a net or bits of one"
        );
        (start + at + from, net)
    }

    /// The net, or the bits of one, at a port of an instance.
    pub fn net(&self, module: &str, instance: &str, port: &str) -> String {
        self.connection(module, instance, port).1.to_owned()
    }

    /// With `fault`, an input of an instance gets `wrong(net)` in place of the net.
    pub fn at_input(
        &mut self,
        fault: u8,
        [module, instance, port]: [&str; 3],
        wrong: impl Fn(&str) -> String,
    ) {
        let (at, net) = self.connection(module, instance, port);
        let net = net.to_owned();
        let text = format!("{} ? {} : {net}", is_on(self.top, fault.into()), wrong(&net));
        self.verilog.replace_range(at..at + net.len(), &text);
    }

    /// With `fault`, an output of the top module leaves it as `wrong(net)`.
    pub fn at_output(
        &mut self,
        fault: u8,
        [instance, port]: [&str; 2],
        wrong: impl Fn(&str) -> String,
    ) {
        let top = self.top;
        let (at, net) = self.connection(top, instance, port);
        let net = net.to_owned();
        let known = self.ports.iter().find(|port| port.name == net);
        let bits = known.unwrap_or_else(|| panic!("`{net}` is not a port of the card")).bits;
        let inner = format!("planted_{net}");
        self.verilog.replace_range(at..at + net.len(), &inner);
        let (is_on, wrong) = (is_on(self.top, fault.into()), wrong(&inner));
        let text = format!(
            "\n    wire [{}:0] {inner};\n    assign {net} = {is_on} ? {wrong} : {inner};",
            bits - 1
        );
        // After the port list: a net is declared before it is used.
        let start = self.module(top);
        let head = self.verilog[start..].find(");").expect("a port list ends") + 2;
        self.verilog.insert_str(start + head, &text);
    }

    /// Builds the model with all its faults.
    pub fn build(self) -> Result<Design, BuildError> {
        Design::build(self.top, &self.verilog, &self.ports, Options::default())
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// A value of `width` bits in which the bits from `at` on are those of `inner`.
pub fn with_bits(net: &str, width: usize, (at, bits): (usize, usize), inner: &str) -> String {
    let mut parts = Vec::new();
    if at + bits < width {
        parts.push(format!("{net}[{}:{}]", width - 1, at + bits));
    }
    parts.push(inner.to_owned());
    if at > 0 {
        parts.push(format!("{net}[{}:0]", at - 1));
    }
    format!("{{{}}}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use hdl::ports::PortDirection;

    use super::*;

    const TEXT: &str = "module top (
    input wire a,
    output wire b
);
    leaf first (
        .x(a),
        .y(b)
    );
endmodule

module leaf (
    input wire x,
    output wire y
);
    assign y = x;
endmodule
";

    fn tiny() -> Planted {
        let port = |name: &str, direction| Port {
            name: name.to_owned(),
            direction,
            bits: 1,
            is_clock: false,
        };
        Planted {
            top: "top",
            verilog: TEXT.to_owned(),
            ports: vec![port("a", PortDirection::Input), port("b", PortDirection::Output)],
        }
    }

    #[test]
    fn faults_stand_at_named_ports() {
        let mut planted = tiny();
        planted.at_input(3, ["top", "first", "x"], |net| format!("~{net}"));
        planted.at_output(4, ["first", "y"], |net| format!("~{net}"));
        for text in [
            ".x((top.planted_fault == 8'd3) ? ~a : a)",
            ".y(planted_b)",
            "assign b = (top.planted_fault == 8'd4) ? ~planted_b : planted_b;",
        ] {
            assert!(planted.verilog.contains(text), "{}", planted.verilog);
        }
    }

    #[test]
    fn bits_are_replaced_where_they_lie() {
        assert_eq!(with_bits("n", 8, (0, 1), "1'd1"), "{n[7:1], 1'd1}");
        assert_eq!(with_bits("n", 8, (2, 6), "f"), "{f, n[1:0]}");
    }

    #[test]
    #[should_panic(expected = "module `middle` is not in the card")]
    fn missing_module_is_named() {
        tiny().net("middle", "first", "x");
    }

    #[test]
    #[should_panic(expected = "`top` has no instance `second`")]
    fn missing_instance_is_named() {
        tiny().net("top", "second", "x");
    }

    #[test]
    #[should_panic(expected = "`top.first` has no port `z`")]
    fn missing_port_is_named() {
        tiny().net("top", "first", "z");
    }
}
