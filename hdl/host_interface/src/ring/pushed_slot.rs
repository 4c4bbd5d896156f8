//! Answers the fetch of a send slot that the host has pushed along with its doorbell.
//!
//! ```text
//!  pushed, settings ──► [hold] ── named: owner, index ─┐
//!                          │ two beats                  │
//!  ring_job ───────────────┼───────────── the same? ────┴─ no ──► read_job
//!  ring_data ◄─────────────┴◄──────────────────────────────────── read_data
//! ```
//! | port | meaning and duty |
//! |---|---|
//! | `settings` | register writes; a line pushed after one comes at least two cycles after it |
//! | `pushed` | one half of a slot in an owner's push window |
//! | `ring_job`, `ring_of` | what the ring wants read; which entries these are, a cycle before |
//! | `ring_data` | its answers, in order |
//! | `read_job`, `read_data` | one client of `dma.read` |
//! | `served` | a fetch was answered from here (one cycle) |
//!
//! Timing: a fetch that hits is answered in the next two cycles; the others pass in no time.
//!
//! Invariants:
//! 1. A pushed slot answers only a fetch of that one slot of that owner, once, and only when no
//!    read of the ring is in flight and no push comes in. Whatever else happens, the ring is read:
//!    a push can be lost, never wrong.
//! 2. Answers keep the order of the jobs. A job that was offered to `dma.read` stays with it.
//!
//! On error: nothing can fail here; a slot that was pushed in any other way is not used.
//!
//! Source: `docs/specification.md`, Rings.

use crate::ring::pushed_answer::PushedAnswer;
use crate::ring::pushed_hold::PushedHold;
use crate::ring::ring_plan::FetchInFlight;
use abi::config;
use stream::prelude::*;

// The literal of the kernel: a slot is 2^7 bytes.
const _: () = assert!(config::SLOT_BYTES == 1 << 7);

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedSlot<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot and every fetch.
    pub reset: Signal<In, Bit>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Lines pushed.
    pub pushed: PulseSink<PushedLine>,

    /// What the ring wants read.
    pub ring_job: MessageSink<ReadJob>,
    /// Which entries these are.
    pub ring_of: Signal<In, FetchInFlight>,
    /// Its answers.
    pub ring_data: PacketSource,

    /// Reads.
    pub read_job: MessageSource<ReadJob>,
    /// Their answers.
    pub read_data: PacketSink,
    /// A fetch was answered from here.
    pub served: Signal<Out, Bit>,

    hold: PushedHold<O>,
    answer: PushedAnswer,
    offered: DFF<Bit>,
    in_flight: DFF<Bits<5>>,
    is_wanted: DFF<Bit>,

    passes: Signal<Local, Bit>,
    bytes: Signal<Local, Bits<16>>,
    slots: Signal<Local, Bits<5>>,
    same_owner: Signal<Local, Bit>,
    hits: Signal<Local, Bit>,
    serves: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    one_more: Signal<Local, Bits<5>>,
    one_less: Signal<Local, Bits<5>>,

    #[value(0)]
    none: Constant<Bits<5>>,
    #[value(1)]
    one: Constant<Bits<5>>,
}

impl<const O: usize> Logic for PushedSlot<O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offered, in_flight, is_wanted);
        clock!(self, clock, hold, answer);
        self.hold.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.hold.settings);
        self.hold.pushed.valid.next = self.pushed.valid.val();
        self.hold.pushed.payload.next = self.pushed.payload.val();
        self.answer.reset.next = self.reset.val();
        self.passes.next = self.answer.passes.val();
        self.hold.locked.next = !self.passes.val();

        // A fetch that goes past the slot leaves no use for it.
        self.same_owner.next = self.hold.named.val().owner == self.ring_of.val().owner;
        self.bytes.next = self.ring_job.payload.val().bytes;
        self.slots.next = self.bytes.val().get_bits::<5>(7);
        // A slot that was named before is still the same: a push makes the name fall.
        self.is_wanted.d.next = self.hold.named.val().valid
            & self.same_owner.val()
            & (self.hold.named.val().index == self.ring_of.val().index);
        self.hits.next = self.hold.named.val().valid
            & self.is_wanted.q.val()
            & (self.slots.val() == self.one.val())
            & (self.in_flight.q.val() == self.none.val())
            & !self.offered.q.val()
            & !self.pushed.valid.val();
        self.serves.next = self.ring_job.valid.val() & self.passes.val() & self.hits.val();
        self.read_job.valid.next = self.ring_job.valid.val() & self.passes.val() & !self.hits.val();
        self.read_job.payload.next = self.ring_job.payload.val();
        self.asks.next = self.ring_job.valid.val()
            & self.passes.val()
            & !self.hits.val()
            & self.read_job.ready.val();
        self.ring_job.ready.next =
            self.passes.val() & (self.hits.val() | self.read_job.ready.val());
        self.offered.d.next = self.ring_job.valid.val()
            & self.passes.val()
            & !self.hits.val()
            & !self.read_job.ready.val();
        self.hold.used.next = self.same_owner.val() & (self.serves.val() | self.asks.val());
        self.served.next = self.serves.val();

        // No read is in flight while the slot goes out.
        self.answer.serve.next = self.serves.val();
        self.answer.first.next = self.hold.first.val();
        self.answer.second.next = self.hold.second.val();
        PacketSink::link(&mut self.read_data, &mut self.answer.read_data);
        PacketSource::link(&mut self.ring_data, &mut self.answer.ring_data);
        self.one_more.next = self.in_flight.q.val() + self.one.val();
        self.one_less.next = self.in_flight.q.val() - self.one.val();
        if self.asks.val() & !self.answer.answered.val() {
            self.in_flight.d.next = self.one_more.val();
        } else if self.answer.answered.val() & !self.asks.val() {
            self.in_flight.d.next = self.one_less.val();
        }
        if self.reset.val() {
            self.offered.d.next = false;
            self.in_flight.d.next = self.none.val();
        }
    }
}
