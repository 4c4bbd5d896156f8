//! Decides when each beat of a descriptor is taken, and which part of the header goes with it.
//!
//! ```text
//!  beat of the packet   0 (metadata) │ 1            │ last         │ (next packet's 0)
//!  what is handed on                 │ header beat  │ header beat  │ rest of the header, fields
//! ```
//! Timing: one beat per cycle. All outputs follow the registers and the inputs of the same cycle.
//!
//! Invariants:
//! 1. A header has as many beats as its bytes need, at least 1 and at most those that came.
//! 2. `close` comes in the cycle after the last beat at the earliest, together with the last beat
//!    of a header that is not complete by then.

use stream::prelude::*;

/// Decides whether a beat would be taken. It is a block of its own because the ring waits for it:
/// that path must stay short.
#[derive(LogicBlock, Default)]
pub struct BeatTake {
    /// A descriptor may be begun.
    pub may_begin: Signal<In, Bit>,
    /// A descriptor is begun, and more beats of it follow.
    pub in_body: Signal<In, Bit>,
    /// A descriptor has come to its last beat and is not closed.
    pub closing: Signal<In, Bit>,
    /// Fields and numbers would be taken.
    pub fields_ready: Signal<In, Bit>,
    /// All beats of the descriptor's header were handed on.
    pub complete: Signal<In, Bit>,
    /// A header beat would be taken.
    pub header_ready: Signal<In, Bit>,
    /// A beat would be taken.
    pub ready: Signal<Out, Bit>,

    header_free: Signal<Local, Bit>,
}

impl Logic for BeatTake {
    #[hdl_gen]
    fn update(&mut self) {
        self.header_free.next = self.complete.val() | self.header_ready.val();
        self.ready.next = self.may_begin.val()
            & (!self.closing.val() | (self.fields_ready.val() & self.header_free.val()));
        if self.in_body.val() {
            self.ready.next = self.header_free.val();
        }
    }
}

/// The control. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DescriptorControl {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the descriptor under way.
    pub reset: Signal<In, Bit>,

    /// A descriptor may be begun: the send direction runs.
    pub may_begin: Signal<In, Bit>,
    /// A beat is offered.
    pub beat_valid: Signal<In, Bit>,
    /// The beat is the descriptor's last one.
    pub beat_last: Signal<In, Bit>,
    /// Length of the header, from the metadata that was taken.
    pub header_bytes: Signal<In, Bits<8>>,
    /// A header beat would be taken.
    pub header_ready: Signal<In, Bit>,
    /// Fields and numbers would be taken.
    pub fields_ready: Signal<In, Bit>,

    /// A beat would be taken.
    pub beat_ready: Signal<Out, Bit>,
    /// A descriptor's first beat is taken.
    pub first: Signal<Out, Bit>,
    /// Another beat of the descriptor is taken.
    pub body: Signal<Out, Bit>,
    /// The descriptor is taken to its end: hand on its fields.
    pub close: Signal<Out, Bit>,
    /// A header beat is offered.
    pub header_valid: Signal<Out, Bit>,
    /// Number of the header beat that is offered.
    pub header_beat: Signal<Out, Bits<3>>,
    /// With `close`: beats of the header.
    pub template_beats: Signal<Out, Bits<3>>,

    taking: BeatTake,
    in_body: DFF<Bit>,
    closing: DFF<Bit>,
    complete: DFF<Bit>,
    beats: DFF<Bits<3>>,

    is_last: Signal<Local, Bit>,
    header_free: Signal<Local, Bit>,
    offers: Signal<Local, Bit>,
    opens: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    goes_on: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    beats_after: Signal<Local, Bits<3>>,
}

impl Logic for DescriptorControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_body, closing, complete, beats);
        self.header_free.next = self.complete.q.val() | self.header_ready.val();
        self.closes.next = self.closing.q.val() & self.fields_ready.val() & self.header_free.val();
        self.opens.next = self.may_begin.val()
            & !self.in_body.q.val()
            & (!self.closing.q.val() | self.closes.val());
        self.begins.next = self.opens.val() & self.beat_valid.val();
        self.goes_on.next = self.in_body.q.val() & self.header_free.val() & self.beat_valid.val();
        self.taking.may_begin.next = self.may_begin.val();
        self.taking.in_body.next = self.in_body.q.val();
        self.taking.closing.next = self.closing.q.val();
        self.taking.fields_ready.next = self.fields_ready.val();
        self.taking.complete.next = self.complete.q.val();
        self.taking.header_ready.next = self.header_ready.val();
        self.beat_ready.next = self.taking.ready.val();
        self.first.next = self.begins.val();
        self.body.next = self.goes_on.val();
        self.close.next = self.closes.val();

        self.offers.next = !self.complete.q.val()
            & ((self.in_body.q.val() & self.beat_valid.val())
                | (self.closing.q.val() & self.fields_ready.val()));
        self.header_valid.next = self.offers.val();
        self.header_beat.next = self.beats.q.val();
        self.is_last.next =
            self.beats.q.val() == bit_cast::<3, 2>((self.header_bytes.val() - 1).get_bits::<2>(6));
        self.beats_after.next = self.beats.q.val() + 1;
        self.template_beats.next = self.beats_after.val();
        if self.complete.q.val() {
            self.template_beats.next = self.beats.q.val();
        }

        if self.offers.val() & self.header_ready.val() {
            self.beats.d.next = self.beats_after.val();
            self.complete.d.next = self.is_last.val();
        }
        if self.closes.val() {
            self.closing.d.next = false;
        }
        if self.begins.val() {
            self.in_body.d.next = true;
            self.beats.d.next = 0.into();
            self.complete.d.next = false;
        }
        if self.goes_on.val() & self.beat_last.val() {
            self.in_body.d.next = false;
            self.closing.d.next = true;
        }
        if self.reset.val() {
            self.in_body.d.next = false;
            self.closing.d.next = false;
        }
    }
}
