//! What the lint of kernels finds.

use hdl::lint::*;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
struct Good {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    sum: Signal<Local, Bits<8>>,
    match_three: Signal<Local, Bit>,
    hit: Signal<Out, Bit>,
    wide: Signal<Out, Bits<16>>,
    count: DFF<Bits<8>>,
}

impl Logic for Good {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count);
        self.sum.next = self.a.val() + self.b.val();
        self.match_three.next = self.a.val() == 3;
        self.hit.next = (self.sum.val() == self.count.q.val()) & !self.match_three.val();
        self.wide.next = bit_cast::<16, 8>(self.sum.val()) << 2;
        self.count.d.next = self.count.q.val() + 1;
    }
}

#[derive(LogicBlock, Default)]
struct Bad {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    choices: Signal<In, Bits<16>>,
    mixed: Signal<Out, Bit>,
    compared: Signal<Out, Bit>,
    cast: Signal<Out, Bits<16>>,
    inverted: Signal<Out, Bits<16>>,
    shifted: Signal<Out, Bits<8>>,
    reduced: Signal<Out, Bit>,
    chosen: Signal<Out, Bit>,
    begin: Signal<Out, Bit>,
}

impl Logic for Bad {
    #[hdl_gen]
    fn update(&mut self) {
        self.mixed.next = self.a.val() & self.b.val() == self.b.val();
        self.compared.next = (self.a.val() + 1) == self.b.val();
        self.cast.next = bit_cast::<16, 8>(self.a.val() - self.b.val());
        self.inverted.next = bit_cast::<16, 8>(!self.a.val());
        self.shifted.next = (self.a.val() + self.b.val()) >> 1;
        self.reduced.next = (self.a.val() + self.b.val()).any();
        self.chosen.next = self.choices.val().get_bit((self.a.val() + 1).index());
        self.begin.next = false;
    }
}

#[derive(LogicBlock, Default)]
struct Parent {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    choices: Signal<In, Bits<16>>,
    child: Bad,
}

impl Logic for Parent {
    #[hdl_gen]
    fn update(&mut self) {
        self.child.a.next = self.a.val();
        self.child.b.next = self.b.val();
        self.child.choices.next = self.choices.val();
    }
}

#[test]
fn good_block_has_no_finding() {
    let mut block = Good::default();
    block.connect_all();
    assert_eq!(lint(&block, "good"), vec![]);
}

#[test]
fn every_bad_line_is_found_with_its_path() {
    let mut block = Parent::default();
    block.connect_all();
    let findings = lint(&block, "dut");
    assert!(findings.iter().all(|f| f.block == "dut$child"), "{findings:?}");
    let of = |rule| findings.iter().filter(|f| f.rule == rule).count();
    assert_eq!(of(Rule::MixedOperators), 1);
    assert_eq!(of(Rule::ReservedName), 1);
    let unsized_wraps: Vec<_> = findings
        .iter()
        .filter(|f| f.rule == Rule::UnsizedWrap)
        .map(|f| f.expression.as_str())
        .collect();
    assert_eq!(
        unsized_wraps,
        [
            "(a + 32'h1) == b",
            "bit_cast::<16>(a - b)",
            "bit_cast::<16>(!a)",
            "(a + b) >> 32'h1",
            "(a + b).any()",
            "choices.get_bit((a + 32'h1))",
        ]
    );
}

#[test]
fn emit_refuses_and_names_the_expression() {
    let error = hdl::ports::emit(&mut Bad::default(), "bad").expect_err("must be refused");
    assert!(error.to_string().contains("bad: `a & b == b`"), "{error}");
}
