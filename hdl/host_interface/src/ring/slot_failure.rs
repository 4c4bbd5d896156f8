//! Reports a send ring that stopped to its owner: inserts a descriptor that could not be read
//! between the others.
//!
//! ```text
//!  ring_failed ──► owners (16) ──┐
//!  slots ────────────────────────┴─► descriptor_fetch, descriptor
//! ```
//! Timing: combinational for what comes from the splitter; a failure takes three cycles.
//!
//! Invariants:
//! 1. Failures are inserted between packets, and before the next packet even when packets follow
//!    each other without a pause.
//! 2. A ring fails once until it is enabled again: at most 16 owners wait. A failure past these is
//!    dropped.
//! 3. It relies on the splitter: the beats of a descriptor come once its message is taken, and
//!    before the next message.
//!
//! Source: `docs/specification.md`, Stopped rings.

use stream::prelude::*;

/// What is handed on.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SlotFailurePhase {
    /// What comes from the splitter.
    Pass,
    /// The message of a failure.
    Name,
    /// The first beat of a failure.
    First,
    /// The second beat of a failure, aborted.
    Second,
}

/// The insertion of failures. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SlotFailure {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the packet in work and all failures.
    pub reset: Signal<In, Bit>,

    /// Owner of a send ring that stopped.
    pub ring_failed: PulseSink<Bits<8>>,
    /// Owner and first index of the descriptor that comes from the
    /// [`crate::ring::slot_splitter::SlotSplitter`].
    pub slots_fetch: MessageSink<RingFetch>,
    /// Descriptors from the splitter.
    pub slots: PacketSink,

    /// Owner and first index of the descriptor that follows; index 0 for a failure.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Descriptors from the splitter, and 2 beats of zeros, aborted, for each failure.
    pub descriptor: PacketSource,

    owners: Fifo<Bits<8>, 4, 5>,
    phase: DFF<SlotFailurePhase>,
    open: DFF<Bit>,

    pass: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    #[value(abi::config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl Logic for SlotFailure {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, open);
        clock!(self, clock, owners);
        self.owners.reset.next = self.reset.val();
        self.owners.sink.valid.next = self.ring_failed.valid.val();
        self.owners.sink.payload.next = self.ring_failed.payload.val();
        self.pass.next = self.phase.q.val() == SlotFailurePhase::Pass;

        self.descriptor_fetch.valid.next = self.slots_fetch.valid.val();
        self.descriptor_fetch.payload.next = self.slots_fetch.payload.val();
        self.slots_fetch.ready.next = self.pass.val() & self.descriptor_fetch.ready.val();
        self.descriptor.valid.next = self.slots.valid.val();
        self.descriptor.data.next = self.slots.data.val();
        self.descriptor.byte_count.next = self.beat_bytes.val();
        self.descriptor.last.next = self.slots.last.val();
        self.descriptor.abort.next = self.slots.abort.val();
        self.slots.ready.next = self.pass.val() & self.descriptor.ready.val();
        if !self.pass.val() {
            self.descriptor_fetch.valid.next = self.phase.q.val() == SlotFailurePhase::Name;
            self.descriptor_fetch.payload.next.owner = self.owners.source.payload.val();
            self.descriptor_fetch.payload.next.index = 0.into();
            self.descriptor.valid.next = self.phase.q.val() != SlotFailurePhase::Name;
            self.descriptor.data.next = 0.into();
            self.descriptor.last.next = self.phase.q.val() == SlotFailurePhase::Second;
            self.descriptor.abort.next = self.phase.q.val() == SlotFailurePhase::Second;
        }

        // A failure is inserted when nothing of the next packet has been offered yet.
        self.begins.next =
            self.pass.val() & (self.slots_fetch.valid.val() | self.slots.valid.val());
        self.ends.next = self.pass.val()
            & self.slots.valid.val()
            & self.descriptor.ready.val()
            & self.slots.last.val();
        self.fails.next = self.owners.source.valid.val()
            & (self.ends.val() | (!self.open.q.val() & !self.begins.val()));
        if self.ends.val() {
            self.open.d.next = false;
        } else if self.begins.val() {
            self.open.d.next = true;
        }
        self.owners.source.ready.next = false;
        match self.phase.q.val() {
            SlotFailurePhase::Pass => {
                if self.fails.val() {
                    self.phase.d.next = SlotFailurePhase::Name;
                }
            }
            SlotFailurePhase::Name => {
                if self.descriptor_fetch.ready.val() {
                    self.phase.d.next = SlotFailurePhase::First;
                }
            }
            SlotFailurePhase::First => {
                if self.descriptor.ready.val() {
                    self.phase.d.next = SlotFailurePhase::Second;
                }
            }
            SlotFailurePhase::Second => {
                if self.descriptor.ready.val() {
                    self.owners.source.ready.next = true;
                    self.phase.d.next = SlotFailurePhase::Pass;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = SlotFailurePhase::Pass;
            self.open.d.next = false;
        }
    }
}
