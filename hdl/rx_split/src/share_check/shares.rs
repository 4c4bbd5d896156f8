//! How much of the packet buffer each owner's packets hold.
//!
//! ```text
//!  take (owner, charge) ──► taken[owner] ──┐
//!  give (owner, charge) ──► given[owner] ──┴─► held = taken - given     free = shared - all held
//! ```
//! Timing: `held` follows `owner` in the same cycle and includes what was taken or given in earlier
//! cycles; `free` is a register. After `reset` the memories are cleared, one owner per cycle, while
//! `clearing` is high.
//!
//! Invariants:
//! 1. Nothing may be taken or given while `clearing`.
//!
//! Source: docs/specification.md, Share of the packet buffer.

use crate::messages::Release;
use stream::prelude::*;

/// Beats of the packet buffer that belong to no owner: frames not judged yet, and dropped ones.
pub const COMMON_BEATS: usize = 512;

/// The accounts of 2^OWNER_BITS owners in a packet buffer of 2^BUFFER_BITS beats. See the module's
/// head.
#[derive(LogicBlock, BlockDefault)]
pub struct Shares<const BUFFER_BITS: usize, const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all accounts are cleared.
    pub reset: Signal<In, Bit>,

    /// Owner whose account is shown.
    pub owner: Signal<In, Bits<8>>,
    /// Beats that the packets of `owner` hold.
    pub held: Signal<Out, Bits<16>>,
    /// Beats that no packet holds, of those that owners share.
    pub free: Signal<Out, Bits<16>>,
    /// The accounts are being cleared.
    pub clearing: Signal<Out, Bit>,

    /// A packet takes its charge.
    pub take: Signal<In, Bit>,
    /// Owner of that packet.
    pub take_owner: Signal<In, Bits<8>>,
    /// Charge of that packet, in beats.
    pub take_charge: Signal<In, Bits<8>>,
    /// Packets that give their charge back.
    pub give: PulseSink<Release>,

    /// Beats taken: one copy is shown, one is added to.
    taken: [LutRam<Bits<16>, OWNER_BITS>; 2],
    /// Beats given back: one copy is shown, one is added to.
    given: [LutRam<Bits<16>, OWNER_BITS>; 2],
    total: DFF<Bits<16>>,
    left: DFF<Bits<16>>,
    cleared: DFF<Bits<9>>,

    runs: Signal<Local, Bit>,
    clear_at: Signal<Local, Bits<OWNER_BITS>>,
    taken_now: Signal<Local, Bits<16>>,
    given_now: Signal<Local, Bits<16>>,
    total_kept: Signal<Local, Bits<16>>,
    total_taken: Signal<Local, Bits<16>>,
    give_at: Signal<Local, Bits<OWNER_BITS>>,
    #[value(shared_beats(BUFFER_BITS))]
    shared_beats: Constant<Bits<16>>,
    #[value(1 << OWNER_BITS)]
    owners: Constant<Bits<9>>,
}

/// Beats of a packet buffer of 2^`buffer_bits` beats that owners share.
fn shared_beats(buffer_bits: usize) -> u64 {
    let shared = (1usize << buffer_bits).checked_sub(COMMON_BEATS);
    shared.expect("a packet buffer of 1,024 beats") as u64
}

impl<const BUFFER_BITS: usize, const OWNER_BITS: usize> Logic for Shares<BUFFER_BITS, OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total, left, cleared);
        for i in 0..2 {
            self.taken[i].clock.next = self.clock.val();
            self.given[i].clock.next = self.clock.val();
        }
        self.runs.next = self.cleared.q.val() == self.owners.val();
        self.clearing.next = !self.runs.val();
        self.clear_at.next = bit_cast::<OWNER_BITS, 9>(self.cleared.q.val());
        if !self.runs.val() {
            self.cleared.d.next = self.cleared.q.val() + 1;
        }

        self.taken[0].read_address.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.given[0].read_address.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.held.next = self.taken[0].read_data.val() - self.given[0].read_data.val();
        self.free.next = self.left.q.val();

        self.taken[1].read_address.next = bit_cast::<OWNER_BITS, 8>(self.take_owner.val());
        self.taken_now.next =
            self.taken[1].read_data.val() + bit_cast::<16, 8>(self.take_charge.val());
        self.give_at.next = bit_cast::<OWNER_BITS, 8>(self.give.payload.val().owner);
        self.given[1].read_address.next = self.give_at.val();
        self.given_now.next =
            self.given[1].read_data.val() + bit_cast::<16, 8>(self.give.payload.val().charge);
        for i in 0..2 {
            self.taken[i].write_address.next = bit_cast::<OWNER_BITS, 8>(self.take_owner.val());
            self.taken[i].write_data.next = self.taken_now.val();
            self.taken[i].write_enable.next = self.take.val() | !self.runs.val();
            self.given[i].write_address.next = self.give_at.val();
            self.given[i].write_data.next = self.given_now.val();
            self.given[i].write_enable.next = self.give.valid.val() | !self.runs.val();
            if !self.runs.val() {
                self.taken[i].write_address.next = self.clear_at.val();
                self.taken[i].write_data.next = 0.into();
                self.given[i].write_address.next = self.clear_at.val();
                self.given[i].write_data.next = 0.into();
            }
        }

        // Both sums are computed before it is known whether a packet takes its charge.
        self.total_kept.next = self.total.q.val();
        if self.give.valid.val() {
            self.total_kept.next =
                self.total.q.val() - bit_cast::<16, 8>(self.give.payload.val().charge);
        }
        self.total_taken.next = self.total_kept.val() + bit_cast::<16, 8>(self.take_charge.val());
        self.total.d.next = self.total_kept.val();
        if self.take.val() {
            self.total.d.next = self.total_taken.val();
        }
        self.left.d.next = self.shared_beats.val() - self.total.q.val();
        if self.reset.val() {
            self.cleared.d.next = 0.into();
            self.total.d.next = 0.into();
        }
    }
}
