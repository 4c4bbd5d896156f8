//! Drops the packets of an owner whose packets hold more than their share of the packet buffer.
//!
//! ```text
//!  sink ──► [beats, held by its owner] ──► held + charge > free? ─┬─► no ──► source
//!             shares ◄── release                                  └─► yes ─► drop_count
//! ```
//! An owner may hold as much as is free after it (a dynamic threshold): alone half of the shared
//! beats, and with k owners that do not get their packets off the card, each 1/(k + 1) of them. A
//! stalled owner cannot exhaust the buffer for others, nor for ingress.
//!
//! Timing: one packet per cycle, latency one cycle. The accounts that a packet is judged by may
//! miss the packet before it.
//!
//! Invariants:
//! 1. A packet passes whole or is dropped whole, before anything is reserved for it.
//! 2. At most [`DROPPED_BEATS_MAX`] beats of dropped packets wait for a release.
//! 3. Confirmations always pass.
//! 4. A packet that waits is judged anew in each cycle, by the accounts of that cycle: what is
//!    offered may change or fall until it is taken.
//!
//! On error: the packet is dropped as `buffer_share_full`; its beats are freed by the release of a
//! later packet, or by a release of its own once 64 dropped beats wait.
//!
//! Source: docs/specification.md, Share of the packet buffer; decision 7.

pub mod shares;

use crate::messages::{Release, RxItem, RxItemKind};
use crate::share_check::shares::{Shares, COMMON_BEATS};
use abi::config::{BEAT_BYTES, FRAME_BYTES_MAX};
use abi::reason::DropReason;
use stream::prelude::*;

/// Least charge of a packet, in beats: bounds the number of packets after the check.
pub const CHARGE_MIN: usize = 8;
const _: () = assert!(CHARGE_MIN == 1 << 3);
/// Dropped beats from which on a release is sent.
const RELEASE_BEATS: usize = 64;
const _: () = assert!(RELEASE_BEATS == 1 << 6);
/// Most dropped beats without a release.
pub const DROPPED_BEATS_MAX: usize = RELEASE_BEATS + FRAME_BYTES_MAX / BEAT_BYTES;
const _: () = assert!(DROPPED_BEATS_MAX < COMMON_BEATS && DROPPED_BEATS_MAX < 1 << 8);

/// What may happen to the packet at hand if it is kept, and if it is refused: computed before it is
/// known which of the two it is.
#[derive(LogicBlock, Default)]
pub struct ShareWays {
    /// There is a packet at hand.
    pub valid: Signal<In, Bit>,
    /// Refused, the packet makes a release due.
    pub releases: Signal<In, Bit>,
    /// No drop can be counted in this cycle.
    pub drop_busy: Signal<In, Bit>,
    /// `source` takes what is offered.
    pub source_ready: Signal<In, Bit>,
    /// The accounts are being cleared: nothing enters.
    pub clearing: Signal<In, Bit>,

    /// If the packet is kept, it leaves in this cycle.
    pub kept_leaves: Signal<Out, Bit>,
    /// If the packet is kept, the next one may enter in this cycle.
    pub kept_accepts: Signal<Out, Bit>,
    /// If the packet is refused, it leaves in this cycle.
    pub refused_leaves: Signal<Out, Bit>,
    /// If the packet is refused, the next one may enter in this cycle.
    pub refused_accepts: Signal<Out, Bit>,
    /// If the packet is refused, a release is offered in its place.
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
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The next packet comes to hand in this cycle.
    pub offered: Signal<In, Bit>,
    /// Beats that the owner of the packet offered holds.
    pub held: Signal<In, Bits<16>>,
    /// Beats of the packet offered.
    pub beats: Signal<In, Bits<16>>,
    /// The packet offered has fewer beats than the least charge.
    pub is_few: Signal<Out, Bit>,
    /// Beats of the packet buffer that are free.
    pub free: Signal<In, Bits<16>>,
    /// The packet at hand exceeds its owner's share.
    pub exceeds: Signal<Out, Bit>,

    of_many: DFF<Bits<16>>,
    of_few: DFF<Bits<16>>,
    was_few: DFF<Bit>,

    few: Signal<Local, Bit>,
    demand: Signal<Local, Bits<16>>,
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
        // Both are less than 2^15, so the sign decides.
        self.exceeds.next = (self.free.val() - self.demand.val()).get_bit(15);
    }
}

/// The check, for a packet buffer of 2^BUFFER_BITS beats and 2^OWNER_BITS owners. See the module's
/// head.
#[derive(LogicBlock, BlockDefault)]
pub struct ShareCheck<const BUFFER_BITS: usize, const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets inside and all accounts are forgotten. For 2^OWNER_BITS cycles
    /// after it nothing enters.
    pub reset: Signal<In, Bit>,

    /// Packets and confirmations in order.
    pub sink: MessageSink<RxItem>,
    /// Packets and confirmations that pass, in order, and releases of dropped packets among them.
    pub source: MessageSource<RxItem>,
    /// One pulse for each packet dropped, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// Another drop is counted in this cycle: none is made here.
    pub drop_busy: Signal<In, Bit>,
    /// Packets that left the packet buffer, with the charge that they give back.
    pub release: PulseSink<Release>,

    shares: Shares<BUFFER_BITS, OWNER_BITS>,
    ways: ShareWays,
    valid: DFF<Bit>,
    packet: DFF<RxItem>,
    beats: DFF<Bits<8>>,
    charge: DFF<Bits<8>>,
    demand: ShareDemand,
    dropped: DFF<Bits<8>>,

    offered: Signal<Local, RxItem>,
    offered_beats: Signal<Local, Bits<16>>,
    taken: Signal<Local, Bits<8>>,
    is_packet: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    releases: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    #[value(CHARGE_MIN as u64)]
    charge_min: Constant<Bits<16>>,
    #[value(DropReason::BufferShareFull as u64)]
    buffer_share_full: Constant<DropCode>,
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize> Logic
    for ShareCheck<BUFFER_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, packet, beats, charge, dropped);
        clock!(self, clock, demand, shares);
        self.shares.reset.next = self.reset.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.shares.give);

        // At hand: pass or drop.
        self.is_packet.next = self.packet.q.val().kind == RxItemKind::Packet;
        self.refused.next = self.is_packet.val() & self.demand.exceeds.val();
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
            self.source.payload.next.kind = RxItemKind::Release;
            self.source.payload.next.walk = false;
            self.source.payload.next.charge = 0.into();
        }
        self.drop_count.valid.next = self.leaves.val() & self.refused.val();
        self.drop_count.payload.next = self.buffer_share_full.val();
        self.shares.take.next = self.leaves.val() & !self.refused.val() & self.is_packet.val();
        self.shares.take_owner.next = self.packet.q.val().owner;
        self.shares.take_charge.next = self.charge.q.val();
        if self.leaves.val() & self.is_packet.val() {
            self.dropped.d.next = 0.into();
            if self.refused.val() & !self.releases.val() {
                self.dropped.d.next = self.dropped.q.val() + self.beats.q.val();
            }
        }

        // Before it: what the next packet takes, and what its owner holds.
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
            self.dropped.d.next = 0.into();
        }
    }
}
