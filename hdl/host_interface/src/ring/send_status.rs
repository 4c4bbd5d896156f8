//! Reports to the host how far the card has taken over each send ring.
//!
//! ```text
//!  taken ──► newest index of every owner, owners with a new index ──► scan ──► write (4 bytes)
//! ```
//! Timing: one owner per cycle is looked at. After a write 256 cycles pass before the next one, in
//! which at most 113 of the shortest frames leave: a fast ring costs little of the link.
//!
//! Invariants:
//! 1. The last index taken of an enabled owner is always written in the end; older ones may be
//!    skipped. Indices written for an owner never go back until its enable word is written.
//! 2. Owners with a new index are served round robin.
//!
//! Source: `abi::registers::CONTEXT_SEND_STATUS`; `docs/specification.md`, Send status.

use crate::owner::owner_registers::{OwnerAddress, OwnerRegisters};
use crate::owner::owner_set::OwnerSet;
use crate::small_write::SmallWrite;
use abi::registers;
use stream::prelude::*;

/// What the block does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SendStatusPhase {
    /// Looks for an owner with a new index.
    Scan,
    /// Waits until the write is taken.
    Offer,
    /// Waits 256 cycles.
    Pause,
}

/// The status writer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SendStatus<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disables every owner and forgets which indices are new.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Owner, and the consumer index after a descriptor that was taken over.
    pub taken: PulseSink<RingFetch>,
    /// Writes of a consumer index to its owner's `CONTEXT_SEND_STATUS`.
    pub write: MessageSource<SmallWrite>,

    registers: OwnerRegisters<OWNER_BITS>,
    #[value(OwnerAddress::new(registers::CONTEXT_SEND_STATUS))]
    place: OwnerAddress<OWNER_BITS>,
    newest: LutRam<Bits<32>, OWNER_BITS>,
    news: OwnerSet<OWNER_BITS, OWNERS>,
    owners: OwnerSet<OWNER_BITS, OWNERS>,
    phase: DFF<SendStatusPhase>,
    current: DFF<Bits<OWNER_BITS>>,
    status: DFF<SmallWrite>,
    pause: DFF<Bits<8>>,

    enables: Signal<Local, Bit>,
    enabled_owner: Signal<Local, Bits<OWNER_BITS>>,
    due: Signal<Local, Bits<OWNERS>>,
    serve: Signal<Local, Bit>,
    #[value(4)]
    status_bytes: Constant<Bits<5>>,
    #[value(1)]
    owner_one: Constant<Bits<OWNER_BITS>>,
    #[value(1)]
    one: Constant<Bits<8>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for SendStatus<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, current, status, pause);
        clock!(self, clock, registers, place, newest, news, owners);
        self.news.reset.next = self.reset.val();
        self.owners.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.write);
        self.place.changed.valid.next = self.registers.changed.valid.val();
        self.place.changed.payload.next = self.registers.changed.payload.val();

        self.enables.next =
            self.registers.changed.valid.val() & self.registers.changed.payload.val().enable;
        self.enabled_owner.next =
            bit_cast::<OWNER_BITS, 8>(self.registers.changed.payload.val().owner);
        self.owners.add.next =
            self.enables.val() & self.registers.changed.payload.val().data.get_bit(0);
        self.owners.add_owner.next = self.enabled_owner.val();
        self.owners.remove.next = self.enables.val();
        self.owners.remove_owner.next = self.enabled_owner.val();

        self.newest.write_address.next = bit_cast::<OWNER_BITS, 8>(self.taken.payload.val().owner);
        self.newest.write_data.next = self.taken.payload.val().index;
        self.newest.write_enable.next = self.taken.valid.val();
        self.news.add.next = self.taken.valid.val();
        self.news.add_owner.next = bit_cast::<OWNER_BITS, 8>(self.taken.payload.val().owner);
        // An owner that is enabled again has no new index; it is served in another cycle.
        self.due.next = self.news.members.val() & self.owners.members.val();
        self.serve.next = (self.phase.q.val() == SendStatusPhase::Scan)
            & self.due.val().get_bit(self.current.q.val().index())
            & !self.enables.val();
        self.news.remove.next = self.serve.val() | self.enables.val();
        self.news.remove_owner.next = self.current.q.val();
        if self.enables.val() {
            self.news.remove_owner.next = self.enabled_owner.val();
        }

        self.newest.read_address.next = self.current.q.val();
        self.place.owner.next = self.current.q.val();
        self.write.valid.next = self.phase.q.val() == SendStatusPhase::Offer;
        self.write.payload.next = self.status.q.val();
        match self.phase.q.val() {
            SendStatusPhase::Scan => {
                self.status.d.next.address = self.place.address.val();
                self.status.d.next.bytes = self.status_bytes.val();
                self.status.d.next.owner = bit_cast::<8, OWNER_BITS>(self.current.q.val());
                self.status.d.next.data = bit_cast::<128, 32>(self.newest.read_data.val());
                self.current.d.next = self.current.q.val() + self.owner_one.val();
                if self.serve.val() {
                    self.phase.d.next = SendStatusPhase::Offer;
                }
            }
            SendStatusPhase::Offer => {
                if self.write.ready.val() {
                    self.phase.d.next = SendStatusPhase::Pause;
                }
            }
            SendStatusPhase::Pause => {
                self.pause.d.next = self.pause.q.val() + self.one.val();
                if self.pause.q.val().all() {
                    self.phase.d.next = SendStatusPhase::Scan;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = SendStatusPhase::Scan;
        }
    }
}
