//! Writes completion entries for confirmed commands.
//!
//! ```text
//!  confirmation ─┬► [merge] ──► ring place, phase ──► write (one entry of 16 bytes)
//!                └► [pause] ───────────┘
//! ```
//! Timing: an entry is offered 5 cycles after its confirmation when nothing waits. While every
//! confirmation that comes can share it, it is offered up to a pause (see [`completion_pause`])
//! after the entry before it.
//!
//! Invariants:
//! 1. The entries of an owner name its commands in order. Each command is confirmed by the first
//!    entry with its index or a later one.
//! 2. A command that failed has an entry of its own. Successful commands of
//!    one owner may share an entry, if they came before the entry was begun. A command of another
//!    owner, or a failed one, ends the wait for more at once, and does not wait itself.
//! 3. The phase is 1 on the first pass over a ring after its enable word was written, and flips at
//!    each end of the ring. The ring has as many entries as the command ring.
//! 4. Confirmations for an owner that is not enabled are dropped.
//! 5. The host enables an owner again only when nothing of it is in flight: an older confirmation
//!    would appear in the new ring.
//!
//! Source: `abi::completion`; `docs/specification.md`, Rings and Fence.

pub mod completion_merge;
pub mod completion_pause;
pub mod completion_ring;

use crate::completion::completion_merge::CompletionMerge;
use crate::completion::completion_pause::CompletionPause;
use crate::completion::completion_ring::CompletionRing;
use crate::small_write::SmallWrite;
use stream::prelude::*;

/// What the writer does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CompletionPhase {
    /// Waits for a confirmation.
    Idle,
    /// Finds the place in the owner's ring.
    Locate,
    /// Finds the bus address.
    Address,
    /// Waits until the entry is taken.
    Offer,
    /// Waits until the ring's index can move.
    Advance,
}

/// The writer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(abi::completion::INDEX.offset == 0)]
pub struct CompletionWriter<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets every confirmation and disables every owner.
    pub reset: Signal<In, Bit>,
    /// Current epoch, written into each entry.
    pub epoch: Signal<In, Bits<16>>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Confirmations whose fence has passed, in fenced order.
    pub confirmation: MessageSink<Confirmation>,
    /// Completion entries to write, with relaxed ordering off, on the stream that carries the
    /// writes confirmed by them.
    pub write: MessageSource<SmallWrite>,

    merge: CompletionMerge,
    ring: CompletionRing<OWNER_BITS, OWNERS>,
    pause: CompletionPause,
    phase: DFF<CompletionPhase>,
    current: DFF<Confirmation>,
    entry: DFF<SmallWrite>,

    begins: Signal<Local, Bit>,
    entry_data: Signal<Local, Bits<128>>,
    #[value(abi::completion::PHASE.offset as u64)]
    phase_offset: Constant<Bits<7>>,
    #[value(abi::config::COMPLETION_BYTES as u64)]
    entry_bytes: Constant<Bits<5>>,
    #[value(abi::completion::STATUS.offset as u64)]
    status_offset: Constant<Bits<7>>,
    #[value(abi::completion::EPOCH.offset as u64)]
    epoch_offset: Constant<Bits<7>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for CompletionWriter<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, current, entry);
        clock!(self, clock, merge, ring, pause);
        self.merge.reset.next = self.reset.val();
        self.ring.reset.next = self.reset.val();
        self.pause.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.ring.settings);
        self.merge.confirmation.valid.next = self.confirmation.valid.val();
        self.merge.confirmation.payload.next = self.confirmation.payload.val();
        self.confirmation.ready.next = self.merge.confirmation.ready.val();

        self.ring.owner.next = bit_cast::<OWNER_BITS, 8>(self.current.q.val().owner);
        self.ring.advance.next = self.phase.q.val() == CompletionPhase::Advance;
        self.ring.start.next = self.phase.q.val() == CompletionPhase::Locate;
        self.entry_data.next = bit_cast::<128, 32>(self.current.q.val().index)
            | (bit_cast::<128, 8>(self.current.q.val().status) << self.status_offset.val())
            | (bit_cast::<128, 16>(self.epoch.val()) << self.epoch_offset.val())
            | (bit_cast::<128, 1>(self.ring.pass_is_odd.val().into()) << self.phase_offset.val());
        self.begins.next = (self.phase.q.val() == CompletionPhase::Idle)
            & (!self.pause.waits.val()
                | !self.merge.may_grow.val()
                | (self.merge.merged.val().owner != self.current.q.val().owner));
        self.merge.take_merged.next = self.begins.val();
        self.pause.confirmed.next = self.confirmation.valid.val();
        self.pause.written.next = false;
        self.write.valid.next = self.phase.q.val() == CompletionPhase::Offer;
        self.write.payload.next = self.entry.q.val();

        match self.phase.q.val() {
            CompletionPhase::Idle => {
                if self.begins.val() & self.merge.has_merged.val() {
                    self.current.d.next = self.merge.merged.val();
                    self.phase.d.next = CompletionPhase::Locate;
                }
            }
            CompletionPhase::Locate => {
                self.phase.d.next = CompletionPhase::Address;
            }
            CompletionPhase::Address => {
                self.entry.d.next.address = self.ring.address.val();
                self.entry.d.next.bytes = self.entry_bytes.val();
                self.entry.d.next.owner = self.current.q.val().owner;
                self.entry.d.next.data = self.entry_data.val();
                self.phase.d.next = CompletionPhase::Idle;
                if self.ring.enabled.val() {
                    self.phase.d.next = CompletionPhase::Offer;
                }
            }
            CompletionPhase::Offer => {
                if self.write.ready.val() {
                    self.phase.d.next = CompletionPhase::Advance;
                }
            }
            CompletionPhase::Advance => {
                if self.ring.advance_ready.val() {
                    self.pause.written.next = true;
                    self.phase.d.next = CompletionPhase::Idle;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = CompletionPhase::Idle;
        }
    }
}
