//! The packet buffer: keeps frames until they are verified, then until they are written to memory;
//! it is the crossing of the receive path from the MAC's clock to the card's.
//!
//! ```text
//!  mac_clock                                         │ clock
//!  beats ─► register ─► 2^BUFFER_BITS beats of memory ┼─────► read port
//!    │ last: commit, or roll back                    │
//!    ├─► facts of a good frame ──► AsyncFifo ────────┼─────► packets
//!    ├─► reason of a refused one ► AsyncFifo ────────┼─────► drop_count, frame_done
//!  has_space ◄── beats free ◄───── Freed ◄───────────┼────── release
//! ```
//! Ports in `mac_clock`: `beats`, `info`, `has_space`. All others are in `clock`.
//!
//! The memory is written with 322 MHz and read with 250 MHz: beats of 64 bytes come as fast as the
//! wire brings them. One message per frame crosses, and the wire brings at most 148.8 million
//! frames per second.
//!
//! Beats enter through a register: on boards on which the buffer is in another die than the parser,
//! nothing else is in their path across the border.
//!
//! Timing: one beat per cycle; a packet is offered a cycle of `mac_clock` and three to four of
//! `clock` after its last beat. Freed beats can be written again after some ten cycles.
//!
//! Invariants:
//! 1. Not one byte of a refused frame is offered; its beats are free at once.
//! 2. `has_space` falls while [`IN_FLIGHT_MAX`] beats, or as many packets, still fit.
//! 3. A beat is read only after the message that names it has crossed.
//! 4. `reset` frees all packets except those that still wait. These are offered in the new epoch:
//!    they meet its tables, in which nothing of the old one is valid.
//! 5. Every frame is offered or counted as a drop, and makes one pulse of `frame_done`.
//!
//! On error: a refused frame is rolled back and its reason is counted.
//!
//! Source: docs/specification.md, Clocks and Reset; decision 3.

pub mod frame_tally;
pub mod freed;

use crate::align::BeatPair;
use crate::messages::{LinkFacts, PacketInfo, Release, RxBeat, StoredPacket};
use crate::packet_buffer::frame_tally::FrameTally;
use crate::packet_buffer::freed::Freed;
use stream::prelude::*;

/// Most beats between the ingress gate and the packet buffer, with a margin.
pub const IN_FLIGHT_MAX: usize = 24;
/// log2 of the packets, and of the drops, that can wait to cross. The card takes one of each per
/// cycle, faster than frames of 64 bytes follow each other, and the MAC lets no shorter one pass
/// (PG203, ctl_rx_min_packet_len).
pub const PACKET_BITS: usize = 6;

/// The packet buffer, of 2^BUFFER_BITS beats. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require((9..16).contains(&BUFFER_BITS), "a packet buffer holds at least three giant frames")]
pub struct PacketBuffer<const BUFFER_BITS: usize> {
    /// MAC clock, 322 MHz: the clock of `beats`, `info` and `has_space`.
    pub mac_clock: Signal<In, Clock>,
    /// PCIe user clock, 250 MHz: the clock of the read side.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets that were taken are forgotten and their beats freed; packets that
    /// still wait are kept.
    pub reset: Signal<In, Bit>,

    /// Judged beats, in `mac_clock`; a frame whose last beat has `refused` is rolled back.
    pub beats: PulseSink<RxBeat>,
    /// What is known about the packet, in `mac_clock`, valid with its last beat.
    pub info: Signal<In, PacketInfo>,
    /// Facts of the headers before TCP of the frame that ends next, in `mac_clock`.
    pub link: Signal<In, LinkFacts>,
    /// In `mac_clock`: a frame ends, and `link` is of the next one.
    pub link_taken: Signal<Out, Bit>,
    /// To the ingress gate, in `mac_clock`: everything on its way and one beat more fits.
    pub has_space: Signal<Out, Bit>,

    /// Verified packets in order of arrival.
    pub packets: MessageSource<StoredPacket>,
    /// One pulse for each refused frame, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// One pulse for each frame that came in, offered or dropped.
    pub frame_done: Signal<Out, Bit>,
    /// A verified packet is taken from the queue in this cycle.
    pub packet_taken: Signal<Out, Bit>,
    /// A verified packet is offered in this cycle and not taken.
    pub packet_stalled: Signal<Out, Bit>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<BUFFER_BITS>>,
    /// Reads `read_address`; without it `read_data` keeps its value.
    pub read_enable: Signal<In, Bit>,
    /// Beat that was read and the one after it, one cycle after `read_enable`.
    pub read_data: Signal<Out, BeatPair>,
    /// Packets that were read for the last time: the beats before the pointer are free.
    pub release: PulseSink<Release>,
    /// Beats in use: the highest of an interval.
    pub beats_peak: Signal<Out, Bits<16>>,
    /// Almost full: `beats_peak` is a quarter of the memory or more. Writes to memory should go
    /// first.
    pub almost_full: Signal<Out, Bit>,

    memory: PairRam<Bits<512>, BUFFER_BITS>,
    waiting: AsyncFifo<StoredPacket, { PACKET_BITS }, { PACKET_BITS + 1 }>,
    refusals: AsyncFifo<DropCode, { PACKET_BITS }, { PACKET_BITS + 1 }>,
    freed: Freed,
    tally: FrameTally,
    level: PeakCrossing,

    beat_valid: DFF<Bit>,
    beat: DFF<RxBeat>,
    packet_info: DFF<PacketInfo>,
    write_pointer: DFF<Bits<16>>,
    commit_pointer: DFF<Bits<16>>,
    held: DFF<Bits<16>>,
    fits: DFF<Bit>,
    dropped: DFF<Bit>,
    reason: DFF<DropCode>,

    write_next: Signal<Local, Bits<16>>,
    finished: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    #[value(((1usize << BUFFER_BITS) - IN_FLIGHT_MAX) as u64)]
    beats_max: Constant<Bits<16>>,
    #[value(1 << (BUFFER_BITS - 2))]
    quarter: Constant<Bits<16>>,
    #[value(((1 << PACKET_BITS) - IN_FLIGHT_MAX) as u64)]
    packets_max: Constant<Bits<7>>,
}

impl<const BUFFER_BITS: usize> Logic for PacketBuffer<BUFFER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, mac_clock, beat_valid, beat, packet_info);
        dff_setup!(self, mac_clock, write_pointer, commit_pointer, held, fits);
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
        self.almost_full.next = self.level.peak.val() >= self.quarter.val();
        self.beat_valid.d.next = self.beats.valid.val(); // The MAC's side.
        self.beat.d.next = self.beats.payload.val();
        self.packet_info.d.next = self.info.val();
        self.held.d.next = self.write_pointer.q.val() - self.freed.pointer.val();
        self.fits.d.next = (self.held.q.val() < self.beats_max.val())
            & (self.waiting.level.val() < self.packets_max.val());
        self.has_space.next = self.fits.q.val();
        self.memory.write_address.next = bit_cast::<BUFFER_BITS, 16>(self.write_pointer.q.val());
        self.memory.write_data.next = self.beat.q.val().data;
        self.memory.write_enable.next = self.beat_valid.q.val();
        self.write_next.next = self.write_pointer.q.val() + 1; // Then commit or roll back.
        self.finished.next = self.beat_valid.q.val() & self.beat.q.val().last;
        self.refusals.sink.valid.next = self.finished.val() & self.beat.q.val().refused;
        self.refusals.sink.payload.next = self.beat.q.val().reason;
        self.waiting.sink.valid.next = self.finished.val() & !self.beat.q.val().refused;
        self.waiting.sink.payload.next.start = self.commit_pointer.q.val();
        self.waiting.sink.payload.next.stop = self.write_next.val();
        self.waiting.sink.payload.next.info = self.packet_info.q.val();
        self.waiting.sink.payload.next.link = self.link.val();
        self.link_taken.next = self.finished.val();
        if self.beat_valid.q.val() {
            self.write_pointer.d.next = self.write_next.val();
        }
        if self.finished.val() & self.beat.q.val().refused {
            self.write_pointer.d.next = self.commit_pointer.q.val();
        }
        if self.finished.val() & !self.beat.q.val().refused {
            self.commit_pointer.d.next = self.write_next.val();
        }
        self.packets.valid.next = self.waiting.source.valid.val(); // The card's side.
        self.packets.payload.next = self.waiting.source.payload.val();
        self.waiting.source.ready.next = self.packets.ready.val();
        self.takes.next = self.waiting.source.valid.val() & self.packets.ready.val();
        self.packet_taken.next = self.takes.val();
        self.packet_stalled.next = self.waiting.source.valid.val() & !self.packets.ready.val();
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
