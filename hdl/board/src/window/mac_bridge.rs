//! From the board window, in the user clock, to the MAC's registers in their own clock.
//!
//! ```text
//!   access ──► requests (crossing) ──► CoreAccess ══ core
//!   reply ◄── time-out, late ◄── replies (crossing) ◄──┘
//! ```
//! Timing: about 12 cycles of each clock. After 2,000 cycles (8 us) without an answer there is an
//! error instead; the card waits 10 us.
//!
//! Invariants:
//! 1. The core gets one access at a time: while it owes an answer, accesses are refused.
//!
//! 2. After `reset` nobody waits for the access under way, and its answer is dropped; the core
//!    still owes it, so the next access is refused until it has come.
//!
//! On error: an access without an answer (the core's clock stands) is answered with SLVERR, as are
//! those that come before the late answer, which is dropped.

use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use crate::window::core_access::CoreAccess;
use ip::mac_sides::CoreMaster;
use stream::prelude::*;

/// The bridge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MacBridge {
    /// Clock of the window, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets who waits for an answer.
    pub reset: Signal<In, Bit>,
    /// Clock of the core's registers.
    pub core_clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// Registers of the core, in `core_clock`.
    pub core: CoreMaster,

    requests: AsyncFifo<WindowAccess, 4, 5>,
    replies: AsyncFifo<WindowReply, 4, 5>,
    core_access: CoreAccess,
    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    owed: DFF<Bit>,
    waits: DFF<Bit>,
    cycles: DFF<Bits<11>>,

    #[value(1)]
    one: Constant<Bits<11>>,
    #[value(1999)]
    last_cycle: Constant<Bits<11>>,
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
}

impl Logic for MacBridge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, owed, waits, cycles);
        self.core_access.clock.next = self.core_clock.val();
        self.requests.write_clock.next = self.clock.val();
        self.requests.read_clock.next = self.core_clock.val();
        self.replies.write_clock.next = self.core_clock.val();
        self.replies.read_clock.next = self.clock.val();
        MessageSource::<WindowAccess>::join(
            &mut self.requests.source,
            &mut self.core_access.request,
        );
        MessageSource::<WindowReply>::join(&mut self.core_access.reply, &mut self.replies.sink);
        CoreMaster::link(&mut self.core, &mut self.core_access.core);

        self.requests.sink.payload.next = self.access.payload.val();
        self.requests.sink.valid.next = self.access.valid.val() & !self.owed.q.val();
        self.replies.source.ready.next = true;
        self.valid.d.next = false;
        self.cycles.d.next = self.cycles.q.val() + self.one.val();
        if self.access.valid.val() {
            if self.owed.q.val() {
                self.valid.d.next = true;
                self.answer.d.next.data = bits::<32>(0);
                self.answer.d.next.response = self.refused.val();
            } else {
                self.owed.d.next = true;
                self.waits.d.next = true;
                self.cycles.d.next = 0.into();
            }
        } else if self.waits.q.val() & (self.cycles.q.val() == self.last_cycle.val()) {
            self.waits.d.next = false;
            self.valid.d.next = true;
            self.answer.d.next.data = bits::<32>(0);
            self.answer.d.next.response = self.refused.val();
        }
        if self.replies.source.valid.val() {
            self.owed.d.next = false;
            if self.waits.q.val() {
                self.waits.d.next = false;
                self.valid.d.next = true;
                self.answer.d.next = self.replies.source.payload.val();
            }
        }
        if self.reset.val() {
            self.waits.d.next = false;
            self.valid.d.next = false;
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
