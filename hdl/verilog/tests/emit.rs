//! Modules, names, origins and refusals, shown on blocks small enough to check by eye.

use rust_hdl_core::prelude::*;
use rust_hdl_macros::{hdl_gen, LogicBlock, LogicInterface};
use rust_hdl_widgets::dff::DFF;
use rust_hdl_widgets::dff_setup;
use verilog::{emit, Reason};

#[derive(Clone, Debug, Default, LogicInterface)]
struct Numbers {
    valid: Signal<In, Bit>,
    value: Signal<In, Bits<8>>,
}

#[derive(LogicBlock, Default)]
struct Sum<const N: usize> {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<N>>,
    sum: Signal<Out, Bits<N>>,
    total: DFF<Bits<N>>,
}

impl<const N: usize> Logic for Sum<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total);
        self.sum.next = self.total.q.val();
        if self.a.val().any() {
            self.total.d.next = self.total.q.val() + self.a.val();
        }
    }
}

#[derive(LogicBlock, Default)]
struct Card {
    clock: Signal<In, Clock>,
    numbers: Numbers,
    out: Signal<Out, Bits<8>>,
    lanes: [Sum<8>; 3],
    narrow: Sum<2>,
    numbers_valid: DFF<Bit>,
}

impl Logic for Card {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, numbers_valid);
        clock!(self, clock, narrow);
        self.numbers_valid.d.next = self.numbers.valid.val();
        self.narrow.a.next = bit_cast::<2, 8>(self.numbers.value.val());
        for i in 0..3 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].a.next = self.numbers.value.val();
        }
        self.out.next = self.lanes[0].sum.val() + bit_cast::<8, 2>(self.narrow.sum.val());
        if self.numbers_valid.q.val() {
            self.out.next = self.lanes[1].sum.val() ^ self.lanes[2].sum.val();
        }
    }
}

fn connected<B: Block + Default>() -> B {
    let mut block = B::default();
    block.connect_all();
    block
}

#[test]
fn equal_blocks_share_module_others_differ() {
    let design = emit(&connected::<Card>(), "card").expect("emits");
    let names: Vec<&str> = design.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["lanes_0", "narrow", "card"]);
    let text = design.single_file();
    for instance in ["lanes_0 lanes_0 (", "lanes_0 lanes_1 (", "lanes_0 lanes_2 ("] {
        assert!(text.contains(instance), "{instance} in\n{text}");
    }
}

#[test]
fn registers_are_reg_processes_owned() {
    let design = emit(&connected::<Sum<8>>(), "sum").expect("emits");
    let expected = "\
    reg  [7:0] total;

    initial begin
        total = 8'd0;
    end

    assign sum = total;

    always @(posedge clock) begin
        if (|a) begin
            total <= total + a;
        end
    end
endmodule
";
    let text = &design.modules[0].text;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn output_repeats_from_run_to_run() {
    let text = || emit(&connected::<Card>(), "card").expect("emits").single_file();
    assert_eq!(text(), text());
}

#[test]
fn taken_name_yields_to_port() {
    let design = emit(&connected::<Card>(), "card").expect("emits");
    let text = &design.modules[2].text;
    assert!(text.contains("numbers_valid__q <= numbers_valid;"), "{text}");
}

#[test]
fn timing_report_names_lead_to_fields() {
    let design = emit(&connected::<Card>(), "card").expect("emits");
    let explained = |path: &str| {
        let origin = design.explain(path);
        origin.map(|origin| (origin.module, origin.field))
    };
    let of = |module: &str, field: &str| -> Result<_, verilog::UnknownName> {
        Ok((module.to_owned(), Some(field.to_owned())))
    };
    for path in [
        "card/lanes_2/total_reg[3]/D",
        "lanes_2.total",
        "board_i/nic/lanes_2/total_reg[3]_rep__0/CE",
        "lanes_2/total[3]_i_2__1/I0",
        "lanes_2/\\total[3] ",
    ] {
        assert_eq!(explained(path), of("lanes_0", "total.q"), "{path}");
    }
    assert_eq!(explained("narrow.total"), of("narrow", "total.q"));
    assert_eq!(explained("numbers_value[7]"), of("card", "numbers.value"));
    assert_eq!(explained("lanes_1"), Ok(("lanes_0".to_owned(), None)));
    assert_eq!(design.explain("lanes_2/total_reg[3]").map(|o| o.bit), Ok(Some(3)));
}

#[derive(LogicBlock, Default)]
struct Banks {
    clock: Signal<In, Clock>,
    value: Signal<In, Bit>,
}

impl Logic for Banks {
    fn update(&mut self) {}

    fn connect(&mut self) {}

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "\
genvar bank;
generate for (bank = 0; bank < 2; bank = bank + 1) begin : bank_of
   reg memory;
   always @(posedge clock) memory <= value;
end endgenerate
"
            .to_owned(),
        )
    }
}

#[test]
fn generate_loop_names_lead_to_field() {
    let design = emit(&connected::<Banks>(), "banks").expect("emits");
    let field = |path| design.explain(path).map(|origin| origin.field);
    let memory = Ok(Some("memory".to_owned()));
    assert_eq!(field("banks/bank_of[1].memory_reg_uram_0/CLK"), memory);
    assert_eq!(field("banks/memory"), memory);
    assert_eq!(field("banks/bank_of[1]"), Ok(None));
}

#[test]
fn wrong_names_say_end_and_neighbours() {
    let design = emit(&connected::<Card>(), "card").expect("emits");
    let wrong = |path| {
        let error = design.explain(path).expect_err("is wrong");
        (error.path.clone(), error.part.clone(), error.near.clone(), error.to_string())
    };
    let (path, part, near, text) = wrong("card/lanes_1/totla_reg[3]/D");
    assert_eq!((&path[..], &part[..]), ("lanes_1", "totla_reg[3]"));
    assert_eq!(near, ["total"]);
    assert!(text.contains("lanes_1 (module lanes_0) has no 'totla_reg[3]'"), "{text}");
    assert_eq!(wrong("lanes_2/total/total").1, "total", "no pin");
    assert_eq!(wrong("lane_1/total").0, "");
}

#[test]
fn each_module_has_file_and_list_place() {
    let design = emit(&connected::<Card>(), "card").expect("emits");
    let files = design.files();
    let (name, list) = files.last().expect("a list");
    assert_eq!(name, "files.f");
    assert_eq!(list, "lanes_0.v\nnarrow.v\ncard.v\n");
    for ((file, module), (name, text)) in list.lines().zip(&design.modules).zip(&files) {
        assert_eq!(file, name);
        assert!(text.contains(&module.text));
    }
}

/// A block with ports, a local and a register, for a kernel that is refused.
macro_rules! block {
    ($name:ident) => {
        #[derive(LogicBlock, Default)]
        struct $name {
            clock: Signal<In, Clock>,
            a: Signal<In, Bits<8>>,
            c: Signal<In, Bit>,
            out: Signal<Out, Bits<8>>,
            bit_out: Signal<Out, Bit>,
            local: Signal<Local, Bits<8>>,
            held: DFF<Bits<8>>,
        }
    };
}

fn assert_refused<B: Block + Default>(place: &str, reason: Reason) {
    let error = emit(&connected::<B>(), "top").expect_err("is refused");
    assert_eq!(error.block, "top");
    assert_eq!((error.place.as_str(), error.reason), (place, reason));
}

block!(Latch);

impl Logic for Latch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        if self.c.val() {
            self.out.next = self.a.val();
        }
    }
}

#[test]
fn latch_is_refused() {
    assert_refused::<Latch>("out", Reason::Latch);
}

block!(SumAsOffset);

impl Logic for SumAsOffset {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.bit_out.next = self.a.val().get_bit((self.a.val() + 1).index());
    }
}

#[test]
fn sum_as_offset_is_refused() {
    assert_refused::<SumAsOffset>("a + 32'h1", Reason::OffsetArithmetic);
}

block!(LiteralBeyondItsWidth);

impl Logic for LiteralBeyondItsWidth {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.out.next = self.a.val() + 0x1ff;
    }
}

#[test]
fn literal_beyond_its_width_is_refused() {
    assert_refused::<LiteralBeyondItsWidth>("a + 32'h1ff", Reason::LiteralTooWide(8));
}

block!(BitsFromBeyondTheEnd);

impl Logic for BitsFromBeyondTheEnd {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        for i in 9..10 {
            self.out.next = self.a.val().get_bits::<8>(i);
        }
    }
}

block!(BitBeyondTheEnd);

impl Logic for BitBeyondTheEnd {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        for i in 8..9 {
            self.bit_out.next = self.a.val().get_bit(i);
        }
    }
}

#[test]
fn parts_beyond_the_end_are_refused() {
    let beyond = |end| Reason::PartBeyondEnd { end, width: 8 };
    assert_refused::<BitsFromBeyondTheEnd>("a", beyond(17));
    assert_refused::<BitBeyondTheEnd>("a", beyond(9));
}

block!(ReadBeforeAssignmentInOneProcess);

impl Logic for ReadBeforeAssignmentInOneProcess {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        if self.c.val() {
            self.out.next = self.local.val();
            self.local.next = self.a.val();
        } else {
            self.local.next = self.held.q.val();
            self.out.next = self.a.val();
        }
        self.local.next = self.a.val();
    }
}

#[test]
fn read_before_assignment_is_refused() {
    assert_refused::<ReadBeforeAssignmentInOneProcess>("local", Reason::ReadTooEarly);
}

#[derive(LogicBlock, Default)]
struct AskedBetween {
    a: Signal<In, Bit>,
    answer: Signal<Out, Bit>,
    asked: Signal<Local, Bit>,
}

impl Logic for AskedBetween {
    #[hdl_gen]
    fn update(&mut self) {
        self.asked.next = self.a.val();
        self.answer.next = false;
        if self.asked.val() {
            self.answer.next = true;
        }
        self.asked.next = false;
    }
}

#[test]
fn value_read_by_condition_is_kept() {
    let text = emit(&connected::<AskedBetween>(), "asked").expect("emits");
    let text = text.single_file();
    assert!(text.contains("asked = a;"), "{text}");
    assert!(!text.contains("initial"), "there is no register:\n{text}");
}

#[derive(LogicBlock, Default)]
struct AllOfIt {
    a: Signal<In, Bits<8>>,
    out: Signal<Out, Bits<8>>,
}

impl Logic for AllOfIt {
    #[hdl_gen]
    fn update(&mut self) {
        self.out.next = self.a.val().get_bits::<8>(0);
    }
}

#[test]
fn whole_part_has_no_range() {
    let text = emit(&connected::<AllOfIt>(), "all").expect("emits");
    let text = text.single_file();
    assert!(text.contains("assign out = a;"), "{text}");
}

#[test]
fn module_head_lists_its_ports() {
    let text = emit(&connected::<AllOfIt>(), "all").expect("emits");
    let text = text.single_file();
    let ports = "//   a    input      8\n//   out  output     8\n";
    assert!(text.contains(ports), "{text}");
}

#[derive(LogicBlock, Default)]
struct Lanes {
    a: [Signal<In, Bit>; 2],
    out: [Signal<Out, Bit>; 2],
}

impl Logic for Lanes {
    #[hdl_gen]
    fn update(&mut self) {
        for lane_at in 0..2 {
            self.out[lane_at].next = self.a[lane_at].val();
        }
    }
}

#[test]
fn index_name_may_have_several_words() {
    let text = emit(&connected::<Lanes>(), "lanes").expect("emits");
    let text = text.single_file();
    assert!(text.contains("assign out_1 = a_1;"), "{text}");
}
