//! How much of the packet store each owner's packets hold.
//!
//! ```text
//!  take (owner, charge) ──► taken[owner] ──┐
//!  give (owner, charge) ──► given[owner] ──┴─► held = taken - given     free = room - all held
//! ```
//! Timing: `held` follows `owner` in the same cycle and knows what was taken or given in earlier
//! cycles; `free` is a register. After `reset` the memories are cleared, one owner a cycle, while
//! `clearing` is high.
//!
//! Invariants:
//! 1. Nothing is taken or given while `clearing`.

use crate::messages::Release;
use stream::prelude::*;

/// Beats of the store that are no owner's: frames that are not judged yet, dropped ones.
pub const COMMON_BEATS: usize = 512;

/// The accounts of 2^B owners in a store of 2^A beats. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Shares<const A: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Whose account to show.
    pub owner: Signal<In, Bits<8>>,
    /// Beats that the owner's packets hold.
    pub held: Signal<Out, Bits<16>>,
    /// Beats that no packet holds.
    pub free: Signal<Out, Bits<16>>,
    /// The accounts are being cleared.
    pub clearing: Signal<Out, Bit>,

    /// A packet takes its charge.
    pub take: Signal<In, Bit>,
    /// Whose packet.
    pub take_owner: Signal<In, Bits<8>>,
    /// The charge.
    pub take_charge: Signal<In, Bits<8>>,
    /// A packet gives its charge back.
    pub give: PulseSink<Release>,

    /// Beats taken: shown, and added to.
    taken: [LutRam<Bits<16>, B>; 2],
    /// Beats given back: shown, and added to.
    given: [LutRam<Bits<16>, B>; 2],
    total: DFF<Bits<16>>,
    left: DFF<Bits<16>>,
    cleared: DFF<Bits<9>>,

    runs: Signal<Local, Bit>,
    clear_at: Signal<Local, Bits<B>>,
    taken_now: Signal<Local, Bits<16>>,
    given_now: Signal<Local, Bits<16>>,
    total_kept: Signal<Local, Bits<16>>,
    total_taken: Signal<Local, Bits<16>>,
    give_at: Signal<Local, Bits<B>>,
    #[value((1usize << A).checked_sub(COMMON_BEATS).expect("a store of 1,024 beats") as u64)]
    room: Constant<Bits<16>>,
    #[value(1 << B)]
    owners: Constant<Bits<9>>,
    #[value(0)]
    zero: Constant<Bits<16>>,
}

impl<const A: usize, const B: usize> Logic for Shares<A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total, left, cleared);
        for i in 0..2 {
            self.taken[i].clock.next = self.clock.val();
            self.given[i].clock.next = self.clock.val();
        }
        self.runs.next = self.cleared.q.val() == self.owners.val();
        self.clearing.next = !self.runs.val();
        self.clear_at.next = bit_cast::<B, 9>(self.cleared.q.val());
        if !self.runs.val() {
            self.cleared.d.next = self.cleared.q.val() + 1;
        }

        self.taken[0].read_address.next = bit_cast::<B, 8>(self.owner.val());
        self.given[0].read_address.next = bit_cast::<B, 8>(self.owner.val());
        self.held.next = self.taken[0].read_data.val() - self.given[0].read_data.val();
        self.free.next = self.left.q.val();

        self.taken[1].read_address.next = bit_cast::<B, 8>(self.take_owner.val());
        self.taken_now.next =
            self.taken[1].read_data.val() + bit_cast::<16, 8>(self.take_charge.val());
        self.give_at.next = bit_cast::<B, 8>(self.give.payload.val().owner);
        self.given[1].read_address.next = self.give_at.val();
        self.given_now.next =
            self.given[1].read_data.val() + bit_cast::<16, 8>(self.give.payload.val().charge);
        for i in 0..2 {
            self.taken[i].write_address.next = bit_cast::<B, 8>(self.take_owner.val());
            self.taken[i].write_data.next = self.taken_now.val();
            self.taken[i].write_enable.next = self.take.val() | !self.runs.val();
            self.given[i].write_address.next = self.give_at.val();
            self.given[i].write_data.next = self.given_now.val();
            self.given[i].write_enable.next = self.give.valid.val() | !self.runs.val();
            if !self.runs.val() {
                self.taken[i].write_address.next = self.clear_at.val();
                self.taken[i].write_data.next = self.zero.val();
                self.given[i].write_address.next = self.clear_at.val();
                self.given[i].write_data.next = self.zero.val();
            }
        }

        // Both sums are there before it is known whether a packet takes its charge.
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
        self.left.d.next = self.room.val() - self.total.q.val();
        if self.reset.val() {
            self.cleared.d.next = 0.into();
            self.total.d.next = self.zero.val();
        }
    }
}
