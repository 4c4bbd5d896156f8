//! Blocks that derive `BlockDefault`: the values of their constants, and what their parameters must
//! fulfil.

#![allow(missing_docs)]

use stream::prelude::*;

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Message {
    pub valid: Bit,
    pub code: Bits<4>,
}

/// A reason with a code.
#[derive(Clone, Copy)]
enum Reason {
    Runt = 3,
}

const LAST: u64 = 9;

#[derive(LogicBlock, BlockDefault)]
struct Values {
    #[value(0x8000_0000)]
    literal: Constant<Bits<32>>,
    #[value(1 << 40)]
    shifted: Constant<Bits<41>>,
    #[value(Reason::Runt as u64)]
    reason: Constant<Bits<4>>,
    #[value(2 * LAST)]
    named: Constant<Bits<8>>,
    #[value(true)]
    bit: Constant<Bit>,
    #[value(Bits::<80>::mask() >> 8)]
    wide: Constant<Bits<80>>,
    #[value((1u128 << 75).to_bits::<128>())]
    long: Constant<Bits<128>>,
    #[value(Message { valid: true, ..Message::default() })]
    message: rust_hdl_core::prelude::Constant<Message>,
    #[value(|index| 8 * index as u64)]
    offsets: [Constant<Bits<9>>; 40],
}

impl Logic for Values {
    fn update(&mut self) {}
}

#[test]
fn constants_have_the_values_beside_them() {
    let block = Values::default();
    assert_eq!(block.literal.val(), 0x8000_0000);
    assert_eq!(block.shifted.val(), 1 << 40);
    assert_eq!(block.reason.val(), 3);
    assert_eq!(block.named.val(), 18);
    assert!(block.bit.val());
    assert_eq!(block.wide.val(), (!Bits::<80>::default()) >> 8);
    assert_eq!(block.long.val(), (1u128 << 75).to_bits::<128>());
    let message = block.message.val();
    assert!(message.valid && message.code == 0);
    let offsets = block.offsets.map(|offset| offset.val().to_u64());
    assert!(offsets.into_iter().eq((0..40).map(|index| 8 * index)));
}

#[derive(LogicBlock, BlockDefault)]
#[require(P == A + 1, "pointer width must be address width + 1")]
#[require(A < 32, "an address has fewer than 32 bits")]
struct Counter<T: Synth, const A: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, T>,
    pub seen: [Signal<Out, Bit>; 48],
    count: DFF<Bits<P>>,
    held: [[DFF<T>; 2]; 33],
    #[value(1u64 << A)]
    lap: Constant<Bits<P>>,
    #[value(Step::new(4))]
    step: Step,
}

impl<T: Synth, const A: usize, const P: usize> Logic for Counter<T, A, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count);
        clock!(self, clock, step);
        self.count.d.next = self.count.q.val() + 1;
        if self.count.q.val() == self.lap.val() {
            self.count.d.next = 0.into();
        }
        for i in 0..33 {
            self.held[i][0].clock.next = self.clock.val();
            self.held[i][0].d.next = self.data.val();
            self.held[i][1].clock.next = self.clock.val();
            self.held[i][1].d.next = self.held[i][0].q.val();
        }
        for i in 0..48 {
            self.seen[i].next = self.count.q.val() == 0;
        }
    }
}

/// Has an argument, hence no default.
#[derive(LogicBlock, BlockDefault)]
#[new(size: u64)]
#[require(size < 8, "{size} is too large")]
struct Step {
    pub clock: Signal<In, Clock>,
    #[value(size)]
    size: Constant<Bits<4>>,
}

impl Logic for Step {
    fn update(&mut self) {}
}

#[test]
fn parameters_children_and_arrays_are_made() {
    let block = Counter::<Bits<12>, 3, 4>::default();
    assert_eq!(block.lap.val(), 8);
    assert_eq!(block.step.size.val(), 4);
    assert!(block.held.iter().flatten().all(|held| held.q.val() == 0));
}

#[test]
#[should_panic(expected = "pointer width must be address width + 1")]
fn unsuitable_parameters_are_refused() {
    Counter::<Bit, 3, 5>::default();
}

#[test]
#[should_panic(expected = "9 is too large")]
fn unsuitable_arguments_are_refused() {
    Step::new(9);
}

#[derive(LogicBlock, BlockDefault)]
struct Small {
    #[value(16)]
    code: Constant<Bits<4>>,
}

impl Logic for Small {
    fn update(&mut self) {}
}

#[test]
#[should_panic(expected = "does not fit")]
fn too_large_value_is_refused() {
    let _ = Small::default().code.val();
}
