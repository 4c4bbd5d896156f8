//! What the way from a block to a model refuses, and why it says so.

use hdl::ports::{Port, PortDirection};
use rust_hdl_core::prelude::*;
use verilate::block::{design_of, BlockError};
use verilate::design::Design;
use verilate::error::BuildError;
use verilate::options::Options;

/// Its kernel is custom text with the bug that the emitter would make of `(a + 1) == b`.
#[derive(LogicBlock, Default)]
struct Widened {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    is_next: Signal<Out, Bit>,
    sum: Signal<Out, Bits<8>>,
}

impl Logic for Widened {
    fn update(&mut self) {
        self.sum.next = self.a.val() + 1;
        self.is_next.next = self.a.val() + 1 == self.b.val();
    }

    fn connect(&mut self) {
        self.is_next.connect();
        self.sum.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) begin\n  sum = a + 32'h1;\n  is_next = (a + 32'h1) == b;\nend".into(),
        )
    }
}

#[test]
fn sum_widened_under_comparison_is_refused() {
    let design = design_of(&mut Widened::default(), "widened", Options::default());
    let Err(BlockError::Width(findings)) = design else { panic!("it was accepted") };
    assert!(findings.iter().all(|finding| finding.line.starts_with("is_next = ")), "{findings:?}");
}

#[derive(LogicBlock, Default)]
struct Open {
    a: Signal<In, Bit>,
    nothing_drives_this: Signal<Out, Bit>,
}

impl Logic for Open {
    #[hdl_gen]
    fn update(&mut self) {}
}

#[test]
fn open_output_is_refused_and_named() {
    let design = design_of(&mut Open::default(), "open", Options::default());
    let error = design.err().expect("it must be refused").to_string();
    assert!(error.contains("nothing_drives_this"), "{error}");
}

#[test]
fn refused_text_is_error_with_reason() {
    let text = "module broken(input wire a, output wire b);\n  assign b = c;\nendmodule\n";
    let error = Design::build("broken", text, &[], Options::default()).err().expect("refused");
    let message = error.to_string();
    assert!(message.contains("Verilator refused broken"), "{message}");
    assert!(message.contains("definition of variable: 'c'"), "{message}");
}

#[derive(LogicBlock, Default)]
struct Wires {
    a: Signal<In, Bits<8>>,
    b: Signal<Out, Bits<8>>,
}

impl Logic for Wires {
    #[hdl_gen]
    fn update(&mut self) {
        self.b.next = self.a.val();
    }
}

#[test]
fn table_not_fitting_design_is_error() {
    let text = hdl::ports::emit(&mut Wires::default(), "wires").expect("emits");
    let mut ports = hdl::ports::ports_of(&Wires::default());
    ports[1].bits = 9;
    let error = Design::build("wires", &text, &ports, Options::default());
    let error = error.err().expect("the shim does not compile");
    assert!(matches!(&error, BuildError::Compile { message, .. } if message.contains("\"b\"")));
}

/// Verilator gives such ports another name in its class, and says so; its own header decides.
#[test]
fn ports_may_have_cpp_names() {
    let taken = ["delete", "queue", "stdin", "vector__map"];
    let port =
        |name: &str, direction| Port { name: name.to_owned(), direction, bits: 8, is_clock: false };
    let mut ports: Vec<Port> = taken.map(|name| port(name, PortDirection::Input)).into();
    ports.push(port("short", PortDirection::Output));
    let text = format!(
        "module taken(input wire [7:0] {}, output wire [7:0] short);\n  \
         assign short = {};\nendmodule\n",
        taken.join(", input wire [7:0] "),
        taken.join(" + ")
    );
    let design = Design::build("taken", &text, &ports, Options::QUICK).expect("builds");
    let mut model = design.model();
    for (value, name) in taken.into_iter().enumerate() {
        model.set(model.port(name), 1 << value);
    }
    model.eval();
    assert_eq!(model.get(model.port("short")), 15);
}

#[test]
fn port_missing_in_text_is_named() {
    let text = hdl::ports::emit(&mut Wires::default(), "wires").expect("emits");
    let mut ports = hdl::ports::ports_of(&Wires::default());
    ports[1].name = "queue".to_owned();
    let error = Design::build("wires", &text, &ports, Options::default());
    let message = error.err().expect("there is no such port").to_string();
    assert!(message.contains("wires has no port queue"), "{message}");
}

#[test]
fn concurrent_builds_of_one_design_agree() {
    let text = hdl::ports::emit(&mut Wires::default(), "wires_twice").expect("emits");
    let ports = hdl::ports::ports_of(&Wires::default());
    std::thread::scope(|scope| {
        for value in 0..4 {
            let (text, ports) = (&text, &ports);
            scope.spawn(move || {
                let design = Design::build("wires_twice", text, ports, Options::default());
                let mut model = design.expect("builds").model();
                let (a, b) = (model.port("a"), model.port("b"));
                model.set(a, 0x100 + value);
                model.eval();
                assert_eq!(model.get(b), value, "cut to the port's 8 bits");
            });
        }
    });
}

/// Bytes that are not given are zero, whatever was there, and bits beyond a port are cut off.
#[test]
fn port_is_set_from_fewer_bytes() {
    let port = |name: &str, bits, direction| Port {
        name: name.to_owned(),
        direction,
        bits,
        is_clock: false,
    };
    let sizes = [20, 60, 100];
    let mut ports = Vec::new();
    let (mut heads, mut lines) = (Vec::new(), String::new());
    for bits in sizes {
        ports.push(port(&format!("in_{bits}"), bits, PortDirection::Input));
        ports.push(port(&format!("out_{bits}"), bits, PortDirection::Output));
        let top = bits - 1;
        heads.push(format!("input wire [{top}:0] in_{bits}, output wire [{top}:0] out_{bits}"));
        lines += &format!("  assign out_{bits} = in_{bits};\n");
    }
    let text = format!("module passed({});\n{lines}endmodule\n", heads.join(", "));
    let design = Design::build("passed", &text, &ports, Options::QUICK).expect("builds");
    let mut model = design.model();
    for bits in sizes {
        let (from, to) = (model.port(&format!("in_{bits}")), model.port(&format!("out_{bits}")));
        let bytes = bits.div_ceil(8);
        for given in [0, 1, 2, bytes] {
            model.set_bytes(from, &[0xff; 16]);
            model.set_bytes(from, &vec![0xa5; given]);
            model.eval();
            let mut expected = vec![0; bytes];
            expected[..given].fill(0xa5);
            expected[bytes - 1] &= 0x0f;
            let mut found = vec![0; bytes];
            model.get_bytes(to, &mut found);
            assert_eq!(found, expected, "{given} bytes of {bits} bits");
        }
        // Whoever asks for more than a port has gets zeros, also of what it is driven with.
        model.set_bytes(from, &[0xff; 24]);
        model.eval();
        let mut all = vec![0xff; bytes];
        all[bytes - 1] = 0x0f;
        all.resize(24, 0);
        for port in [from, to] {
            let mut found = [0xee; 24];
            model.get_bytes(port, &mut found);
            assert_eq!(found[..], all, "24 bytes of {bits} bits");
        }
        model.set_bytes(from, &[0xff; 16]);
        model.clear_inputs();
        model.eval();
        let mut found = vec![1; bytes];
        model.get_bytes(to, &mut found);
        assert_eq!(found, vec![0; bytes], "{bits} bits cleared");
    }
}
