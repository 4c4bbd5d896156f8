//! Reports when the link's flow control holds back the card's requests.
//!
//! ```text
//!  requests ─────────────┐
//!  fc_ph, fc_pd, nph_av ─┴──► events: requests, with the two credit stalls filled in
//! ```
//! Timing: combinational. The hard block shows its credits some cycles late.
//!
//! Invariants:
//! 1. `posted_credit_stall_cycles`: a beat waits for the hard block while posted credit for a write
//!    of 256 bytes is short.
//! 2. `nonposted_credit_stall_cycles`: the hard block has no credit for a read left. Real hardware
//!    may always show 0 there; nothing except this counter depends on it.
//!
//! Source: PG213, flow control (`cfg_fc_sel` 4: available for sending); `abi::counters`, group
//! "requests".

use stream::prelude::*;

/// The credit stalls. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CreditStalls {
    /// Events of the requester in this cycle.
    pub requests: Signal<In, RequestEvents>,
    /// Posted header credits that the link partner offers.
    pub fc_ph: Signal<In, Bits<8>>,
    /// Posted data credits that the link partner offers, in units of 16 bytes.
    pub fc_pd: Signal<In, Bits<12>>,
    /// Non-posted header credits that the link partner offers, up to 15.
    pub nph_av: Signal<In, Bits<4>>,
    /// Events of the requester together with the credit stalls.
    pub events: Signal<Out, RequestEvents>,

    all: Signal<Local, RequestEvents>,
    /// 256 bytes in units of 16.
    #[value(16)]
    write_data: Constant<Bits<12>>,
}

impl Logic for CreditStalls {
    #[hdl_gen]
    fn update(&mut self) {
        self.all.next = self.requests.val();
        self.all.next.posted_credit_stall_cycles = self.requests.val().rq_stall_cycles
            & (!self.fc_ph.val().any() | (self.fc_pd.val() < self.write_data.val()));
        self.all.next.nonposted_credit_stall_cycles = !self.nph_av.val().any();
        self.events.next = self.all.val();
    }
}
