//! Goes through the owners in turn and decides which interrupt is written.
//!
//! ```text
//!  Look ──► Compare ──► Judge ──► quiet: next owner
//!                         ├─────► masked: pending, disarm, next owner
//!                         └─────► Offer ──taken──► Leave ──left──► next owner
//! ```
//! Timing: three cycles for an owner without an interrupt. A message ends its owner's turn when it
//! has left.
//!
//! Invariants: those of [`crate::interrupt`], and:
//! 1. One message is under way at a time. `sending` is high from the cycle after it was decided
//!    until it has left.

use crate::interrupt::interrupt_rings::InterruptRings;
use crate::owner::owner_set::OwnerSet;
use crate::small_write::SmallWrite;
use stream::prelude::*;

/// What the scan does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum InterruptPhase {
    /// Reads the state of the owner.
    Look,
    /// Compares it with what the owner has seen, and with the time.
    Compare,
    /// Decides.
    Judge,
    /// Waits until the message is taken.
    Offer,
    /// Waits until the message has left.
    Leave,
}

/// The scan. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct InterruptScan<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disarms every owner and forgets what is pending.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Owner and producer index of a header queue that grew.
    pub header_produced: PulseSink<RingFetch>,
    /// Owner, and commands of it that are confirmed.
    pub confirmed: PulseSink<RingFetch>,
    /// Owner, and consumer index of its send ring.
    pub reported: PulseSink<RingFetch>,
    /// The host has enabled MSI-X.
    pub msix_enable: Signal<In, Bit>,
    /// The host has masked the function.
    pub msix_mask: Signal<In, Bit>,

    /// Vector of the owner that is looked at.
    pub vector: Signal<Out, Bits<OWNER_BITS>>,
    /// Message address of `vector`.
    pub address: Signal<In, Bits<64>>,
    /// Message data of `vector`.
    pub data: Signal<In, Bits<32>>,
    /// Vectors that are not masked.
    pub unmasked: Signal<In, Bits<OWNERS>>,

    /// Messages to write.
    pub write: MessageSource<SmallWrite>,
    /// A message that was taken has not left, once its write job was accepted.
    pub under_way: Signal<In, Bit>,
    /// A message that was decided on has not left.
    pub sending: Signal<Out, Bit>,
    /// Pending bits; bit n is owner n.
    pub pending: Signal<Out, Bits<OWNERS>>,

    rings: InterruptRings<OWNER_BITS, OWNERS>,
    held_back: OwnerSet<OWNER_BITS, OWNERS>,
    phase: DFF<InterruptPhase>,
    current: DFF<Bits<OWNER_BITS>>,
    is_pending: DFF<Bit>,
    message: DFF<SmallWrite>,

    waiting: Signal<Local, Bits<OWNERS>>,
    is_open: Signal<Local, Bit>,
    judges: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
    fires: Signal<Local, Bit>,
    next_owner: Signal<Local, Bits<OWNER_BITS>>,
    #[value(1)]
    one: Constant<Bits<OWNER_BITS>>,
    #[value(4)]
    message_bytes: Constant<Bits<5>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for InterruptScan<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, current, is_pending, message);
        clock!(self, clock, rings, held_back);
        self.rings.reset.next = self.reset.val();
        self.held_back.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.rings.settings);
        PulseSink::<RingFetch>::link(&mut self.header_produced, &mut self.rings.header_produced);
        PulseSink::<RingFetch>::link(&mut self.confirmed, &mut self.rings.confirmed);
        PulseSink::<RingFetch>::link(&mut self.reported, &mut self.rings.reported);
        self.rings.msix_enable.next = self.msix_enable.val();
        self.next_owner.next = self.current.q.val() + self.one.val();
        self.vector.next = self.current.q.val();
        self.rings.scan.next = self.current.q.val();
        self.waiting.next = self.held_back.members.val();
        self.pending.next = self.waiting.val();
        self.is_open.next =
            self.unmasked.val().get_bit(self.current.q.val().index()) & !self.msix_mask.val();

        self.is_pending.d.next =
            self.waiting.val().get_bit(self.current.q.val().index()) & self.msix_enable.val();
        self.judges.next = (self.phase.q.val() == InterruptPhase::Judge) & self.rings.ready.val();
        self.due.next = self.rings.due.val();
        self.fires.next =
            self.judges.val() & self.is_open.val() & (self.due.val() | self.is_pending.q.val());
        self.rings.disarm.next = self.judges.val() & self.due.val();
        self.rings.fired.next = self.fires.val();
        self.held_back.add.next = self.judges.val() & self.due.val() & !self.is_open.val();
        self.held_back.add_owner.next = self.current.q.val();
        self.held_back.remove.next = self.fires.val();
        self.held_back.remove_owner.next = self.current.q.val();

        self.write.valid.next = self.phase.q.val() == InterruptPhase::Offer;
        self.write.payload.next = self.message.q.val();
        self.sending.next = (self.phase.q.val() == InterruptPhase::Offer)
            | (self.phase.q.val() == InterruptPhase::Leave)
            | self.under_way.val();
        match self.phase.q.val() {
            InterruptPhase::Look => self.phase.d.next = InterruptPhase::Compare,
            InterruptPhase::Compare => self.phase.d.next = InterruptPhase::Judge,
            InterruptPhase::Judge => {
                if self.fires.val() {
                    self.message.d.next.address = self.address.val();
                    self.message.d.next.bytes = self.message_bytes.val();
                    self.message.d.next.owner = bit_cast::<8, OWNER_BITS>(self.current.q.val());
                    self.message.d.next.data = bit_cast::<128, 32>(self.data.val());
                    self.phase.d.next = InterruptPhase::Offer;
                } else if self.judges.val() {
                    self.current.d.next = self.next_owner.val();
                    self.phase.d.next = InterruptPhase::Look;
                }
            }
            InterruptPhase::Offer => {
                if self.write.ready.val() {
                    self.phase.d.next = InterruptPhase::Leave;
                }
            }
            InterruptPhase::Leave => {
                // The writer is free again when the write engine has the message.
                if self.write.ready.val() & !self.under_way.val() {
                    self.current.d.next = self.next_owner.val();
                    self.phase.d.next = InterruptPhase::Look;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = InterruptPhase::Look;
        }
    }
}
