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

use crate::messages::{Placement, Release};
use crate::shares::{Shares, COMMON_BEATS};
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

/// The check. See the module's head.
#[derive(LogicBlock)]
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
    pub drop_count: PulseSource<Bits<4>>,
    /// Another drop is counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// Packets that left the store.
    pub release: PulseSink<Release>,

    shares: Shares<A, B>,
    valid: DFF<Bit>,
    packet: DFF<Placement>,
    beats: DFF<Bits<8>>,
    charge: DFF<Bits<8>>,
    held: DFF<Bits<16>>,
    dropped: DFF<Bits<8>>,

    offered: Signal<Local, Placement>,
    offered_beats: Signal<Local, Bits<16>>,
    demand: Signal<Local, Bits<16>>,
    refused: Signal<Local, Bit>,
    dropped_now: Signal<Local, Bits<8>>,
    releases: Signal<Local, Bit>,
    emits: Signal<Local, Bit>,
    may_leave: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    charge_min: Constant<Bits<16>>,
    no_beats: Constant<Bits<8>>,
    header_queue_full: Constant<Bits<4>>,
}

impl<const A: usize, const B: usize> Default for ShareCheck<A, B> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sink: Default::default(),
            source: Default::default(),
            drop_count: Default::default(),
            drop_busy: Default::default(),
            release: Default::default(),
            shares: Default::default(),
            valid: Default::default(),
            packet: Default::default(),
            beats: Default::default(),
            charge: Default::default(),
            held: Default::default(),
            dropped: Default::default(),
            offered: Default::default(),
            offered_beats: Default::default(),
            demand: Default::default(),
            refused: Default::default(),
            dropped_now: Default::default(),
            releases: Default::default(),
            emits: Default::default(),
            may_leave: Default::default(),
            leaves: Default::default(),
            accepts: Default::default(),
            charge_min: Constant::new((CHARGE_MIN as u64).to_bits()),
            no_beats: Constant::new(0u64.to_bits()),
            header_queue_full: Constant::new((DropReason::HeaderQueueFull as u64).to_bits()),
        }
    }
}

impl<const A: usize, const B: usize> Logic for ShareCheck<A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, packet, beats, charge, held, dropped);
        self.shares.clock.next = self.clock.val();
        self.shares.reset.next = self.reset.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.shares.give);

        // At hand: pass or drop.
        self.demand.next = self.held.q.val() + bit_cast::<16, 8>(self.charge.q.val());
        self.refused.next =
            (self.packet.q.val().kind == 0) & (self.demand.val() > self.shares.free.val());
        self.dropped_now.next = self.dropped.q.val() + self.beats.q.val();
        self.releases.next = self.dropped_now.val().get_bits::<2>(6).any();
        self.emits.next = !self.refused.val() | self.releases.val();
        self.may_leave.next = self.valid.q.val() & !(self.refused.val() & self.drop_busy.val());
        self.leaves.next = self.may_leave.val() & (!self.emits.val() | self.source.ready.val());
        self.source.valid.next = self.may_leave.val() & self.emits.val();
        self.source.payload.next = self.packet.q.val();
        self.source.payload.next.charge = self.charge.q.val();
        if self.refused.val() {
            self.source.payload.next.kind = bits::<2>(1);
            self.source.payload.next.walk = false;
            self.source.payload.next.charge = bits::<8>(0);
        }
        self.drop_count.valid.next = self.leaves.val() & self.refused.val();
        self.drop_count.payload.next = self.header_queue_full.val();
        self.shares.take.next =
            self.leaves.val() & !self.refused.val() & (self.packet.q.val().kind == 0);
        self.shares.take_owner.next = self.packet.q.val().owner;
        self.shares.take_charge.next = self.charge.q.val();
        if self.leaves.val() & (self.packet.q.val().kind == 0) {
            self.dropped.d.next = self.no_beats.val();
            if self.refused.val() & !self.releases.val() {
                self.dropped.d.next = self.dropped_now.val();
            }
        }

        // Behind it: what the next packet takes, and what its owner holds.
        self.offered.next = self.sink.payload.val();
        self.offered_beats.next = self.offered.val().stop - self.offered.val().start;
        self.shares.owner.next = self.offered.val().owner;
        self.accepts.next = (!self.valid.q.val() | self.leaves.val()) & !self.shares.clearing.val();
        self.sink.ready.next = self.accepts.val();
        if self.accepts.val() {
            self.valid.d.next = self.sink.valid.val();
            self.packet.d.next = self.offered.val();
            self.beats.d.next = bit_cast::<8, 16>(self.offered_beats.val());
            self.held.d.next = self.shares.held.val();
            self.charge.d.next = bit_cast::<8, 16>(self.offered_beats.val());
            if !self.offered_beats.val().get_bits::<13>(3).any() {
                self.charge.d.next = bit_cast::<8, 16>(self.charge_min.val());
            }
        } else if self.leaves.val() {
            self.valid.d.next = false;
        }
        if self.reset.val() {
            self.valid.d.next = false;
            self.dropped.d.next = self.no_beats.val();
        }
    }
}
