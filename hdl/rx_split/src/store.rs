//! The packet store: keeps frames until they are verified, then until they are written out; and the
//! way of the receive path from the MAC's clock to the card's.
//!
//! ```text
//!  mac_clock                              │ clock
//!  beats ──► 2^A beats of memory ─────────┼──────────► read port
//!    │ last: commit, or roll back         │
//!    ├─► facts of a good frame ──► AsyncFifo ──► packets ─┐
//!    ├─► reason of a refused one ► AsyncFifo ──► drop_count, frame_done
//!  room ◄── beats free ◄───── Freed ◄────┼── release
//! ```
//! | port | clock | direction | meaning |
//! |---|---|---|---|
//! | beats, info | mac_clock | in | judged beats; the packet's facts with the last one |
//! | room | mac_clock | out | to the door: what is on its way and one beat more fits |
//! | packets | clock | out | verified packets in order |
//! | read_address, read_enable, read_data | clock | in, out | a beat and the next, a cycle later |
//! | release | clock | in | everything before this pointer is forgotten |
//! | drop_count, frame_done | clock | out | a frame was dropped, with its reason; one came in |
//! | beats_peak | clock | out | beats of memory in use, the highest of an interval |
//! | crowded | clock | out | that is a quarter of the memory or more |
//!
//! The memory is written with 322 MHz and read with 250 MHz: beats of 64 bytes come as fast as the
//! wire brings them, and what crosses is one message a frame, of which the wire brings at most
//! 148.8 million a second.
//!
//! Timing: one beat a cycle; a packet is offered three to four cycles of `clock` behind its last
//! beat. Freed beats can be written again after some ten cycles.
//!
//! Invariants:
//! 1. Not one byte of a refused frame is offered; its room is free at once.
//! 2. `room` falls while [`IN_FLIGHT_MAX`] beats, or as many packets, still fit.
//! 3. A beat is read only after the message that names it has crossed.
//! 4. `reset` frees all packets but those that still wait. These are offered in the new epoch: they
//!    meet its tables, in which nothing of the old one is valid.
//! 5. Every frame is offered or counted as a drop, and moves `frame_done`, once.

pub mod frame_tally;
pub mod freed;

use crate::align::BeatPair;
use crate::messages::{PacketInfo, Release, RxBeat, StoredPacket};
use crate::store::frame_tally::FrameTally;
use crate::store::freed::Freed;
use stream::prelude::*;

/// Most beats between the door and the store, with a margin.
pub const IN_FLIGHT_MAX: usize = 24;
/// log2 of the packets, and of the drops, that can wait to cross. The card takes one of each a
/// cycle, faster than frames of 64 bytes follow each other, and the MAC lets no shorter one pass
/// (PG203, ctl_rx_min_packet_len).
pub const PACKET_BITS: usize = 6;

/// The store. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require((9..16).contains(&A), "a store holds at least three giant frames")]
pub struct Store<const A: usize> {
    /// Clock of the MAC.
    pub mac_clock: Signal<In, Clock>,
    /// Clock of the card.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Judged beats.
    pub beats: PulseSink<RxBeat>,
    /// The packet, valid with its last beat.
    pub info: Signal<In, PacketInfo>,
    /// The door may admit a beat.
    pub room: Signal<Out, Bit>,

    /// Verified packets.
    pub packets: MessageSource<StoredPacket>,
    /// Dropped frames.
    pub drop_count: PulseSource<DropCode>,
    /// A frame came in, to be offered or dropped.
    pub frame_done: Signal<Out, Bit>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<A>>,
    /// It is read; without it the beat read last stays.
    pub read_enable: Signal<In, Bit>,
    /// That beat and the next, one cycle later.
    pub read_data: Signal<Out, BeatPair>,
    /// Pointer up to which memory is free again.
    pub release: PulseSink<Release>,
    /// Beats in use, the highest of an interval.
    pub beats_peak: Signal<Out, Bits<16>>,
    /// A quarter of the memory or more is in use: what is received had better leave.
    pub crowded: Signal<Out, Bit>,

    memory: PairRam<Bits<512>, A>,
    waiting: AsyncFifo<StoredPacket, { PACKET_BITS }, { PACKET_BITS + 1 }>,
    refusals: AsyncFifo<DropCode, { PACKET_BITS }, { PACKET_BITS + 1 }>,
    freed: Freed,
    tally: FrameTally,
    level: PeakCrossing,

    write_pointer: DFF<Bits<16>>,
    commit_pointer: DFF<Bits<16>>,
    held: DFF<Bits<16>>,
    has_room: DFF<Bit>,
    dropped: DFF<Bit>,
    reason: DFF<DropCode>,

    write_next: Signal<Local, Bits<16>>,
    finished: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    #[value(((1usize << A) - IN_FLIGHT_MAX) as u64)]
    beats_max: Constant<Bits<16>>,
    #[value(1 << (A - 2))]
    quarter: Constant<Bits<16>>,
    #[value(((1 << PACKET_BITS) - IN_FLIGHT_MAX) as u64)]
    packets_max: Constant<Bits<7>>,
}

impl<const A: usize> Logic for Store<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, write_pointer, commit_pointer);
        dff_setup!(self, mac_clock, held, has_room);
        dff_setup!(self, clock, dropped, reason);
        clock!(self, clock, freed, tally);
        self.memory.write_clock.next = self.mac_clock.val();
        self.memory.read_clock.next = self.clock.val();
        self.waiting.write_clock.next = self.mac_clock.val();
        self.waiting.read_clock.next = self.clock.val();
        self.refusals.write_clock.next = self.mac_clock.val();
        self.refusals.read_clock.next = self.clock.val();
        self.freed.mac_clock.next = self.mac_clock.val();
        self.freed.reset.next = self.reset.val();
        self.level.write_clock.next = self.mac_clock.val();
        self.level.read_clock.next = self.clock.val();
        self.level.level.next = self.held.q.val();
        self.beats_peak.next = self.level.peak.val();
        self.crowded.next = self.level.peak.val() >= self.quarter.val();

        // The MAC's side: write, then commit or roll back.
        self.held.d.next = self.write_pointer.q.val() - self.freed.pointer.val();
        self.has_room.d.next = (self.held.q.val() < self.beats_max.val())
            & (self.waiting.level.val() < self.packets_max.val());
        self.room.next = self.has_room.q.val();
        self.memory.write_address.next = bit_cast::<A, 16>(self.write_pointer.q.val());
        self.memory.write_data.next = self.beats.payload.val().data;
        self.memory.write_enable.next = self.beats.valid.val();

        self.write_next.next = self.write_pointer.q.val() + 1;
        self.finished.next = self.beats.valid.val() & self.beats.payload.val().last;
        self.refusals.sink.valid.next = self.finished.val() & self.beats.payload.val().refused;
        self.refusals.sink.payload.next = self.beats.payload.val().reason;
        self.waiting.sink.valid.next = self.finished.val() & !self.beats.payload.val().refused;
        self.waiting.sink.payload.next.start = self.commit_pointer.q.val();
        self.waiting.sink.payload.next.stop = self.write_next.val();
        self.waiting.sink.payload.next.info = self.info.val();
        if self.beats.valid.val() {
            self.write_pointer.d.next = self.write_next.val();
        }
        if self.finished.val() {
            if self.beats.payload.val().refused {
                self.write_pointer.d.next = self.commit_pointer.q.val();
            } else {
                self.commit_pointer.d.next = self.write_next.val();
            }
        }

        // The card's side: packets and drops as they have crossed.
        self.packets.valid.next = self.waiting.source.valid.val();
        self.packets.payload.next = self.waiting.source.payload.val();
        self.waiting.source.ready.next = self.packets.ready.val();
        self.takes.next = self.waiting.source.valid.val() & self.packets.ready.val();
        self.refusals.source.ready.next = true;
        self.dropped.d.next = self.refusals.source.valid.val();
        self.reason.d.next = self.refusals.source.payload.val();
        self.drop_count.valid.next = self.dropped.q.val();
        self.drop_count.payload.next = self.reason.q.val();
        self.tally.taken.next = self.takes.val();
        self.tally.dropped.next = self.dropped.q.val();
        self.frame_done.next = self.tally.frame_done.val();
        self.memory.read_address.next = self.read_address.val();
        self.memory.read_enable.next = self.read_enable.val();
        self.read_data.next.even = self.memory.read_even.val();
        self.read_data.next.odd = self.memory.read_odd.val();
        self.read_data.next.odd_first = self.memory.odd_first.val();
        self.freed.taken.next = self.takes.val();
        self.freed.taken_stop.next = self.waiting.source.payload.val().stop;
        PulseSink::<Release>::link(&mut self.release, &mut self.freed.release);
    }
}
