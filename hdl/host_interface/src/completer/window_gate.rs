//! Hands accesses to the board window, or refuses them at once: nothing waits for it.
//!
//! ```text
//!  request, starts ──► access ── not taken ──► refused
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. An access is offered for one cycle: it is taken then, or refused.

use crate::completer::completer_request::HostRequest;
use crate::messages::WindowAccess;
use stream::prelude::*;

/// The gate. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WindowGate {
    /// An access begins.
    pub starts: Signal<In, Bit>,
    /// It is a write, else a read.
    pub writes: Signal<In, Bit>,
    /// Byte offset in BAR 0.
    pub address: Signal<In, Bits<24>>,
    /// The request.
    pub request: Signal<In, HostRequest>,
    /// The access, to the board window.
    pub access: MessageSource<WindowAccess>,
    /// The access is refused.
    pub refused: Signal<Out, Bit>,
}

impl Logic for WindowGate {
    #[hdl_gen]
    fn update(&mut self) {
        self.access.valid.next = self.starts.val();
        self.access.payload.next.write = self.writes.val();
        self.access.payload.next.address = self.address.val().get_bits::<20>(0);
        self.access.payload.next.data = self.request.val().data.get_bits::<32>(0);
        self.access.payload.next.descriptor = self.request.val().descriptor;
        self.access.payload.next.first_be = self.request.val().first_be;
        self.refused.next = self.starts.val() & !self.access.ready.val();
    }
}
