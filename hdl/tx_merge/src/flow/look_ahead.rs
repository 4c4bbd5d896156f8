//! Says whether a look-up may begin: while little payload waits to be read.
//!
//! ```text
//!   begun ──► + ┌─────────────────┐
//!   dropped ──► - │ bytes to be read│──► open (less than 32 KiB)
//!   asked ──► - └─────────────────┘
//! ```
//! Timing: what is begun counts in the next cycle, what is dropped or read a cycle later.
//!
//! Invariants:
//! 1. Each byte that is begun is dropped or asked for, once, and not before.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct LookAhead {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is begun.
    pub reset: Signal<In, Bit>,

    /// Payload of a descriptor whose look-up begins.
    pub begun_bytes: PulseSink<Bits<18>>,
    /// Payload of a descriptor that will not be read.
    pub dropped_bytes: PulseSink<Bits<18>>,
    /// Payload whose read was asked for.
    pub asked_bytes: PulseSink<Bits<10>>,
    /// A look-up may begin.
    pub open: Signal<Out, Bit>,

    waiting: DFF<Bits<20>>,
    gone: DFF<Bits<20>>,

    excess: Signal<Local, Bits<5>>,
    begun: Signal<Local, Bits<20>>,
    dropped: Signal<Local, Bits<20>>,
    asked: Signal<Local, Bits<20>>,
}

impl Logic for LookAhead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, waiting, gone);
        self.excess.next = self.waiting.q.val().get_bits::<5>(15);
        self.open.next = !self.excess.val().any();
        self.begun.next = 0.into();
        if self.begun_bytes.valid.val() {
            self.begun.next = bit_cast::<20, 18>(self.begun_bytes.payload.val());
        }
        self.dropped.next = 0.into();
        if self.dropped_bytes.valid.val() {
            self.dropped.next = bit_cast::<20, 18>(self.dropped_bytes.payload.val());
        }
        self.asked.next = 0.into();
        if self.asked_bytes.valid.val() {
            self.asked.next = bit_cast::<20, 10>(self.asked_bytes.payload.val());
        }
        self.gone.d.next = self.dropped.val() + self.asked.val();
        self.waiting.d.next = (self.waiting.q.val() + self.begun.val()) - self.gone.q.val();
        if self.reset.val() {
            self.waiting.d.next = 0.into();
            self.gone.d.next = 0.into();
        }
    }
}
