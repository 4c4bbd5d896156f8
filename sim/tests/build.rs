//! What the way from a block to a model refuses, and why it says so.

use rust_hdl_core::prelude::*;
use sim::bench::{design_of, BlockError};
use sim::design::{BuildError, Design, Options};

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
fn sum_widened_below_a_comparison_is_refused() {
    let design = design_of(&mut Widened::default(), "widened", Options::default());
    let Err(BlockError::Width(findings)) = design else {
        panic!("it was accepted")
    };
    assert!(
        findings
            .iter()
            .all(|finding| finding.line.starts_with("is_next = ")),
        "{findings:?}"
    );
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
fn text_that_verilator_refuses_is_an_error_with_its_reason() {
    let text = "module broken(input wire a, output wire b);\n  assign b = c;\nendmodule\n";
    let error = Design::build("broken", text, &[], Options::default())
        .err()
        .expect("refused");
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
fn table_that_does_not_fit_the_design_is_an_error() {
    let text = hdl::ports::emit(&mut Wires::default(), "wires").expect("emits");
    let mut ports = hdl::ports::ports_of(&Wires::default());
    ports[1].bits = 9;
    let error = Design::build("wires", &text, &ports, Options::default());
    let error = error.err().expect("the shim does not compile");
    assert!(matches!(&error, BuildError::Compile { message, .. } if message.contains("\"b\"")));
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
