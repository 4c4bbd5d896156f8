//! Drops the packets of an owner whose packets hold more than their share of the packet store.
//!
//! ```text
//!  sink ──► [beats, held by its owner] ──► held + charge > free? ─┬─► no ──► source
//!             shares ◄── release                                  └─► yes ─► drop_count
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | packets and confirmations, in order |
//! | source | out | the same, less what was dropped; now and then a release of dropped packets |
//! | drop_count, drop_busy | out, in | drops; another one is counted in this cycle: wait |
//! | release | in | packets that left the store, with what they had taken |
//!
//! An owner may hold as much as is free after it (a dynamic threshold): alone half of the room, and
//! with k owners that do not get their packets off the card each 1/(k + 1) of it. What one owner
//! leaves lying never takes the room of another, and the frames of the MAC always find some.
//!
//! Timing: one packet a cycle, latency one cycle. The accounts that a packet is judged by may miss
//! the packet before it.
//!
//! Invariants:
//! 1. A packet passes whole or is dropped whole, before anything is reserved for it.
//! 2. Of dropped packets at most [`DROPPED_BEATS_MAX`] beats wait for a release.
//! 3. Confirmations always pass.

pub mod shares;

use crate::messages::{Placement, PlacementKind, Release};
use crate::share_check::shares::{Shares, COMMON_BEATS};
use abi::config::{BEAT_BYTES, FRAME_BYTES_MAX};
use abi::reason::DropReason;
use stream::prelude::*;

/// Least charge of a packet, beats: bounds the packets behind the check.
pub const CHARGE_MIN: usize = 8;
const _: () = assert!(CHARGE_MIN == 1 << 3);
/// Dropped beats after which a release is sent.
const RELEASE_BEATS: usize = 64;
const _: () = assert!(RELEASE_BEATS == 1 << 6);
/// Most dropped beats without a release.
pub const DROPPED_BEATS_MAX: usize = RELEASE_BEATS + FRAME_BYTES_MAX / BEAT_BYTES;
const _: () = assert!(DROPPED_BEATS_MAX < COMMON_BEATS && DROPPED_BEATS_MAX < 1 << 8);

/// What may happen to the packet at hand if it is kept, and if it is refused: known before it is
/// known which of both it is.
#[derive(LogicBlock, Default)]
pub struct ShareWays {
    /// There is a packet.
    pub valid: Signal<In, Bit>,
    /// Refused, it makes a release due.
    pub releases: Signal<In, Bit>,
    /// No drop can be counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// `source` takes what is offered.
    pub source_ready: Signal<In, Bit>,
    /// Nothing comes in.
    pub clearing: Signal<In, Bit>,

    /// Kept, it leaves in this cycle,
    pub kept_leaves: Signal<Out, Bit>,
    /// and then there is room for the next one.
    pub kept_accepts: Signal<Out, Bit>,
    /// Refused, it leaves,
    pub refused_leaves: Signal<Out, Bit>,
    /// there is room for the next one,
    pub refused_accepts: Signal<Out, Bit>,
    /// and a release is offered.
    pub refused_offers: Signal<Out, Bit>,

    kept: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
}

impl Logic for ShareWays {
    #[hdl_gen]
    fn update(&mut self) {
        self.kept.next = self.valid.val() & self.source_ready.val();
        self.kept_leaves.next = self.kept.val();
        self.kept_accepts.next = (!self.valid.val() | self.kept.val()) & !self.clearing.val();
        self.refused_offers.next = self.valid.val() & self.releases.val() & !self.drop_busy.val();
        self.refused.next = self.valid.val()
            & !self.drop_busy.val()
            & (!self.releases.val() | self.source_ready.val());
        self.refused_leaves.next = self.refused.val();
        self.refused_accepts.next = (!self.valid.val() | self.refused.val()) & !self.clearing.val();
    }
}

/// Whether what an owner would hold with one packet more exceeds what is free.
#[derive(LogicBlock, BlockDefault)]
pub struct ShareDemand {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The packet comes to hand.
    pub offered: Signal<In, Bit>,
    /// Beats that its owner holds.
    pub held: Signal<In, Bits<16>>,
    /// Its beats.
    pub beats: Signal<In, Bits<16>>,
    /// They are fewer than the least charge.
    pub is_few: Signal<Out, Bit>,
    /// Beats that are free.
    pub free: Signal<In, Bits<16>>,
    /// The packet at hand wants more.
    pub exceeds: Signal<Out, Bit>,

    of_many: DFF<Bits<16>>,
    of_few: DFF<Bits<16>>,
    was_few: DFF<Bit>,

    few: Signal<Local, Bit>,
    demand: Signal<Local, Bits<16>>,
    left: Signal<Local, Bits<16>>,
    #[value(CHARGE_MIN as u64)]
    charge_min: Constant<Bits<16>>,
}

impl Logic for ShareDemand {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, of_many, of_few, was_few);
        self.few.next = !self.beats.val().get_bits::<13>(3).any();
        self.is_few.next = self.few.val();
        if self.offered.val() {
            self.was_few.d.next = self.few.val();
            self.of_many.d.next = self.held.val() + self.beats.val();
            self.of_few.d.next = self.held.val() + self.charge_min.val();
        }
        self.demand.next = self.of_many.q.val();
        if self.was_few.q.val() {
            self.demand.next = self.of_few.q.val();
        }
        // Both are less than 2^15: the sign tells.
        self.left.next = self.free.val() - self.demand.val();
        self.exceeds.next = self.left.val().get_bit(15);
    }
}

/// The check. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ShareCheck<const A: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Packets and confirmations.
    pub sink: MessageSink<Placement>,
    /// Those that pass.
    pub source: MessageSource<Placement>,
    /// Packets dropped.
    pub drop_count: PulseSource<DropCode>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// Packets that left the store.
    pub release: PulseSink<Release>,

    shares: Shares<A, B>,
    ways: ShareWays,
    valid: DFF<Bit>,
    packet: DFF<Placement>,
    beats: DFF<Bits<8>>,
    charge: DFF<Bits<8>>,
    demand: ShareDemand,
    dropped: DFF<Bits<8>>,

    offered: Signal<Local, Placement>,
    offered_beats: Signal<Local, Bits<16>>,
    taken: Signal<Local, Bits<8>>,
    refused: Signal<Local, Bit>,
    dropped_now: Signal<Local, Bits<8>>,
    releases: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    #[value(CHARGE_MIN as u64)]
    charge_min: Constant<Bits<16>>,
    #[value(0)]
    no_beats: Constant<Bits<8>>,
    #[value(DropReason::BufferShareFull as u64)]
    buffer_share_full: Constant<DropCode>,
}

impl<const A: usize, const B: usize> Logic for ShareCheck<A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, packet, beats, charge, dropped);
        clock!(self, clock, demand, shares);
        self.shares.reset.next = self.reset.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.shares.give);

        // At hand: pass or drop.
        self.refused.next =
            (self.packet.q.val().kind == PlacementKind::Packet) & self.demand.exceeds.val();
        self.dropped_now.next = self.dropped.q.val() + self.beats.q.val();
        self.releases.next = self.dropped.q.val().get_bits::<2>(6).any();
        self.ways.valid.next = self.valid.q.val();
        self.ways.releases.next = self.releases.val();
        self.ways.drop_busy.next = self.drop_busy.val();
        self.ways.source_ready.next = self.source.ready.val();
        self.ways.clearing.next = self.shares.clearing.val();
        self.leaves.next = self.ways.kept_leaves.val();
        self.accepts.next = self.ways.kept_accepts.val();
        self.source.valid.next = self.valid.q.val();
        if self.refused.val() {
            self.leaves.next = self.ways.refused_leaves.val();
            self.accepts.next = self.ways.refused_accepts.val();
            self.source.valid.next = self.ways.refused_offers.val();
        }
        self.source.payload.next = self.packet.q.val();
        self.source.payload.next.charge = self.charge.q.val();
        if self.refused.val() {
            self.source.payload.next.kind = PlacementKind::Release;
            self.source.payload.next.walk = false;
            self.source.payload.next.charge = bits::<8>(0);
        }
        self.drop_count.valid.next = self.leaves.val() & self.refused.val();
        self.drop_count.payload.next = self.buffer_share_full.val();
        self.shares.take.next = self.leaves.val()
            & !self.refused.val()
            & (self.packet.q.val().kind == PlacementKind::Packet);
        self.shares.take_owner.next = self.packet.q.val().owner;
        self.shares.take_charge.next = self.charge.q.val();
        if self.leaves.val() & (self.packet.q.val().kind == PlacementKind::Packet) {
            self.dropped.d.next = self.no_beats.val();
            if self.refused.val() & !self.releases.val() {
                self.dropped.d.next = self.dropped_now.val();
            }
        }

        // Behind it: what the next packet takes, and what its owner holds.
        self.offered.next = self.sink.payload.val();
        self.offered_beats.next = self.offered.val().stop - self.offered.val().start;
        self.demand.free.next = self.shares.free.val();
        self.demand.offered.next = self.accepts.val();
        self.demand.held.next = self.shares.held.val();
        self.demand.beats.next = self.offered_beats.val();
        self.taken.next = bit_cast::<8, 16>(self.offered_beats.val());
        if self.demand.is_few.val() {
            self.taken.next = bit_cast::<8, 16>(self.charge_min.val());
        }
        self.shares.owner.next = self.offered.val().owner;
        self.sink.ready.next = self.accepts.val();
        if self.accepts.val() {
            self.valid.d.next = self.sink.valid.val();
            self.packet.d.next = self.offered.val();
            self.beats.d.next = bit_cast::<8, 16>(self.offered_beats.val());
            self.charge.d.next = self.taken.val();
        } else if self.leaves.val() {
            self.valid.d.next = false;
        }
        if self.reset.val() {
            self.valid.d.next = false;
            self.dropped.d.next = self.no_beats.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a packet of `beats` is refused, of an owner that holds `held`.
    fn refuses(held: u64, beats: u64, free: i64) -> bool {
        let mut dut = ShareDemand::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        for clk in [false, true] {
            dut.clock.next = Clock { clk };
            dut.offered.next = true;
            dut.held.next = held.to_bits();
            dut.beats.next = beats.to_bits();
            dut.free.next = (free as u64 & 0xffff).to_bits();
            assert!(simulate(&mut dut, 20));
        }
        dut.exceeds.val()
    }

    #[test]
    fn what_exceeds_the_room_is_refused_even_where_none_is_left() {
        let least = CHARGE_MIN as i64;
        assert!(!refuses(0, 1, least) && refuses(0, 1, least - 1));
        assert!(!refuses(100, 24, 124) && refuses(100, 24, 123));
        assert!(refuses(0, 1, 0) && refuses(0, 1, -5) && refuses(0, 145, -145));
    }
}
