//! Serves the fetch of a send slot from the copy that software pushed with its doorbell.
//!
//! ```text
//!  pushed, settings ──► [hold] ── named: owner, index ─┐
//!                          │ two beats                  │
//!  ring_job ───────────────┼───────────── the same? ────┴─ no ──► read_job
//!  ring_data ◄─────────────┴◄──────────────────────────────────── read_data
//! ```
//! Timing: a fetch that hits is served in the next two cycles. Other fetches and their read data
//! pass combinationally.
//!
//! Invariants:
//! 1. A pushed slot serves only a fetch of that one slot of that owner, once, and only when no read
//!    of the ring is in flight and no push comes in this cycle. In every other case the ring is
//!    read: a push can be dropped, but never be wrong.
//! 2. `ring_data` keeps the order of `ring_job`. A job that was offered to `dma.read` stays with
//!    it.
//!
//! On error: nothing can fail here. A slot that was pushed in any other way is not used.
//!
//! Source: `docs/specification.md`, Pushed slots.

use crate::ring::pushed_data_mux::PushedDataMux;
use crate::ring::pushed_hold::PushedHold;
use crate::ring::ring_plan::FetchInFlight;
use abi::config;
use stream::prelude::*;

// The literal of the kernel: a slot is 2^7 bytes.
const _: () = assert!(config::SLOT_BYTES == 1 << 7);

/// The push window of the send rings. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PushedSlot<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the slot and every fetch.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host; a line pushed after one comes at least two cycles after it.
    pub settings: PulseSink<RegisterWrite>,
    /// Halves of slots, written to the push windows.
    pub pushed: PulseSink<PushedLine>,

    /// Reads that the ring requests.
    pub ring_job: MessageSink<ReadJob>,
    /// Entries that `ring_job` reads; valid from the cycle before the job is offered.
    pub ring_of: Signal<In, FetchInFlight>,
    /// Entries for the ring, one packet for each `ring_job`, in order.
    pub ring_data: PacketSource,

    /// Reads that go to the host: one client of `dma.read`.
    pub read_job: MessageSource<ReadJob>,
    /// Read data of `read_job`, in order.
    pub read_data: PacketSink,
    /// A fetch was served from the pushed slot (one cycle).
    pub served: Signal<Out, Bit>,

    hold: PushedHold<OWNER_BITS>,
    data_mux: PushedDataMux,
    offered: DFF<Bit>,
    in_flight: DFF<Bits<5>>,
    is_wanted: DFF<Bit>,

    passes: Signal<Local, Bit>,
    slots: Signal<Local, Bits<5>>,
    same_owner: Signal<Local, Bit>,
    hits: Signal<Local, Bit>,
    serves: Signal<Local, Bit>,
    issues: Signal<Local, Bit>,

    #[value(1)]
    one: Constant<Bits<5>>,
}

impl<const OWNER_BITS: usize> Logic for PushedSlot<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offered, in_flight, is_wanted);
        clock!(self, clock, hold, data_mux);
        self.hold.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.hold.settings);
        self.hold.pushed.valid.next = self.pushed.valid.val();
        self.hold.pushed.payload.next = self.pushed.payload.val();
        self.data_mux.reset.next = self.reset.val();
        self.passes.next = self.data_mux.passes.val();
        self.hold.locked.next = !self.passes.val();

        // A fetch of its owner uses the slot or passes it: it is not needed again.
        self.same_owner.next = self.hold.named.val().owner == self.ring_of.val().owner;
        self.slots.next = self.ring_job.payload.val().bytes.get_bits::<5>(7);
        // A slot that was named a cycle ago is still the same: a push makes `named.valid` fall.
        self.is_wanted.d.next = self.hold.named.val().valid
            & self.same_owner.val()
            & (self.hold.named.val().index == self.ring_of.val().index);
        self.hits.next = self.hold.named.val().valid
            & self.is_wanted.q.val()
            & (self.slots.val() == self.one.val())
            & (self.in_flight.q.val() == bits::<5>(0))
            & !self.offered.q.val()
            & !self.pushed.valid.val();
        self.serves.next = self.ring_job.valid.val() & self.passes.val() & self.hits.val();
        self.read_job.valid.next = self.ring_job.valid.val() & self.passes.val() & !self.hits.val();
        self.read_job.payload.next = self.ring_job.payload.val();
        self.issues.next = self.ring_job.valid.val()
            & self.passes.val()
            & !self.hits.val()
            & self.read_job.ready.val();
        self.ring_job.ready.next =
            self.passes.val() & (self.hits.val() | self.read_job.ready.val());
        self.offered.d.next = self.ring_job.valid.val()
            & self.passes.val()
            & !self.hits.val()
            & !self.read_job.ready.val();
        self.hold.used.next = self.same_owner.val() & (self.serves.val() | self.issues.val());
        self.served.next = self.serves.val();

        // No read is in flight while the slot leaves.
        self.data_mux.serve.next = self.serves.val();
        self.data_mux.first.next = self.hold.first.val();
        self.data_mux.second.next = self.hold.second.val();
        PacketSink::link(&mut self.read_data, &mut self.data_mux.read_data);
        PacketSource::link(&mut self.ring_data, &mut self.data_mux.ring_data);
        if self.issues.val() & !self.data_mux.read_ends.val() {
            self.in_flight.d.next = self.in_flight.q.val() + self.one.val();
        } else if self.data_mux.read_ends.val() & !self.issues.val() {
            self.in_flight.d.next = self.in_flight.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.offered.d.next = false;
            self.in_flight.d.next = 0.into();
        }
    }
}
