//! Limits how far look-ups run before the reads: one may begin while little payload waits.
//!
//! ```text
//!   begun ─────► + ┌─────────────────┐
//!   dropped ───► - │ bytes to be read│──► open (less than 32 KiB)
//!   requested ─► - └─────────────────┘
//! ```
//! Timing: `open` is a function of registers. Bytes begun count in the next cycle, bytes dropped or
//! requested a cycle later.
//!
//! Invariants:
//! 1. Each byte that is begun is dropped or requested, once, and not before.

use stream::prelude::*;

/// What waits to be read afterwards, with and without a look-up that begins. A block of its own, so
/// that both are there before it is known whether one begins. Combinational.
#[derive(LogicBlock, Default)]
pub struct WaitingBytes {
    /// Bytes that wait.
    pub waiting: Signal<In, Bits<20>>,
    /// Bytes that no longer do.
    pub removed: Signal<In, Bits<20>>,
    /// Payload of the look-up.
    pub bytes: Signal<In, Bits<18>>,
    /// Bytes that wait afterwards without it.
    pub kept: Signal<Out, Bits<20>>,
    /// Bytes that wait afterwards with it.
    pub grown: Signal<Out, Bits<20>>,

    left: Signal<Local, Bits<20>>,
}

impl Logic for WaitingBytes {
    #[hdl_gen]
    fn update(&mut self) {
        self.left.next = self.waiting.val() - self.removed.val();
        self.kept.next = self.left.val();
        self.grown.next = self.left.val() + bit_cast::<20, 18>(self.bytes.val());
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct LookAhead {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Sets the count of bytes to 0.
    pub reset: Signal<In, Bit>,

    /// Payload of a descriptor whose look-up begins.
    pub begun_bytes: PulseSink<Bits<18>>,
    /// Payload of a descriptor that will not be read.
    pub dropped_bytes: PulseSink<Bits<18>>,
    /// Payload whose read was issued.
    pub requested_bytes: PulseSink<Bits<10>>,
    /// A look-up may begin.
    pub open: Signal<Out, Bit>,

    waiting: DFF<Bits<20>>,
    removed: DFF<Bits<20>>,
    after: WaitingBytes,

    dropped: Signal<Local, Bits<20>>,
    requested: Signal<Local, Bits<20>>,
}

impl Logic for LookAhead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, waiting, removed);
        self.open.next = !self.waiting.q.val().get_bits::<5>(15).any();
        self.after.waiting.next = self.waiting.q.val();
        self.after.removed.next = self.removed.q.val();
        self.after.bytes.next = self.begun_bytes.payload.val();
        self.dropped.next = 0.into();
        if self.dropped_bytes.valid.val() {
            self.dropped.next = bit_cast::<20, 18>(self.dropped_bytes.payload.val());
        }
        self.requested.next = 0.into();
        if self.requested_bytes.valid.val() {
            self.requested.next = bit_cast::<20, 10>(self.requested_bytes.payload.val());
        }
        self.removed.d.next = self.dropped.val() + self.requested.val();
        self.waiting.d.next = self.after.kept.val();
        if self.begun_bytes.valid.val() {
            self.waiting.d.next = self.after.grown.val();
        }
        if self.reset.val() {
            self.waiting.d.next = 0.into();
            self.removed.d.next = 0.into();
        }
    }
}
