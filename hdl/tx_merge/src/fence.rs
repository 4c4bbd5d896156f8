//! Holds each confirmation until all descriptors begun before it are finished.
//!
//! ```text
//!  confirmation_sink ──► 512 confirmations, each with `started` ──► confirmation_source
//!                                          released when `finished` has reached it ▲
//! ```
//! Timing: four cycles when nothing is in flight, three of them in the queue; one confirmation
//! every other cycle. `confirmation_source.valid` is a register.
//!
//! Invariants:
//! 1. Confirmations keep their order.
//! 2. Descriptors that begin later do not hold a confirmation back.
//! 3. The queue has a place for every confirmation that may be under way: none waits at
//!    `confirmation_sink`, where it would delay what was received after it. At 94 Gb/s each way,
//!    and with a post and a floor for every other packet, a hundred wait, because a descriptor
//!    takes 4 us from its look-up to its last frame.
//! 4. It relies on `started` and `finished` to count in steps of one, and on a confirmation that
//!    waits for fewer than 2^14 descriptors and leaves before 2^14 more have finished.
//!
//! Source: docs/specification.md, Fence.

use stream::prelude::*;

// The queue below has 2^9 places.
const _: () = assert!(CONFIRMATIONS_MAX <= 1 << 9);

/// A confirmation and the descriptors that it waits for.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Stamped {
    /// The confirmation.
    pub confirmation: Confirmation,
    /// Descriptors begun when the confirmation came, modulo 2^16: fewer than 2^15 are in flight.
    pub stamp: Bits<16>,
}

/// The fence. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Fence {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops all confirmations.
    pub reset: Signal<In, Bit>,

    /// Confirmations in.
    pub confirmation_sink: MessageSink<Confirmation>,
    /// Confirmations out, in order.
    pub confirmation_source: MessageSource<Confirmation>,
    /// Descriptors begun since reset, modulo 2^32.
    pub started: Signal<In, Bits<32>>,
    /// Descriptors finished since reset, modulo 2^32.
    pub finished: Signal<In, Bits<32>>,

    queue: BlockFifo<Stamped, 9, 10>,
    passed: DFF<Bit>,

    stamped: Signal<Local, Stamped>,
    ahead: Signal<Local, Bits<16>>,
    leaves: Signal<Local, Bit>,
}

impl Logic for Fence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, passed);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        self.stamped.next.confirmation = self.confirmation_sink.payload.val();
        self.stamped.next.stamp = self.started.val().get_bits::<16>(0);
        self.queue.sink.valid.next = self.confirmation_sink.valid.val();
        self.queue.sink.payload.next = self.stamped.val();
        self.confirmation_sink.ready.next = self.queue.sink.ready.val();

        self.ahead.next =
            self.finished.val().get_bits::<16>(0) - self.queue.source.payload.val().stamp;
        self.leaves.next = self.passed.q.val() & self.confirmation_source.ready.val();
        self.passed.d.next = self.queue.source.valid.val()
            & !self.ahead.val().get_bit(15)
            & !self.leaves.val()
            & !self.reset.val();
        self.confirmation_source.valid.next = self.passed.q.val();
        self.confirmation_source.payload.next = self.queue.source.payload.val().confirmation;
        self.queue.source.ready.next = self.leaves.val();
    }
}
