//! The registers of a golden image: that it is one, and of which contract.
//!
//! ```text
//!   read_request ──► GOLDEN_ID, VERSION, else 0 ──► read_reply
//! ```
//! Timing: a reply one cycle after its request.
//!
//! Invariants:
//! 1. One request at a time: none is taken until the reply was.
//!
//! Source: `abi::registers`.

use abi::registers::{GOLDEN_ID_VALUE, ID, VERSION};
use abi::ABI_VERSION;
use stream::prelude::*;

/// The words. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct GoldenWords {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Byte offset in BAR 0 of a word to read.
    pub read_request: MessageSink<Bits<24>>,
    /// Its value.
    pub read_reply: MessageSource<Bits<32>>,

    valid: DFF<Bit>,
    value: DFF<Bits<32>>,

    #[value(u64::from(ID))]
    id_at: Constant<Bits<24>>,
    #[value(u64::from(VERSION))]
    version_at: Constant<Bits<24>>,
    #[value(u64::from(GOLDEN_ID_VALUE))]
    id: Constant<Bits<32>>,
    #[value(u64::from(ABI_VERSION))]
    version: Constant<Bits<32>>,
}

impl Logic for GoldenWords {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, value);
        self.read_request.ready.next = !self.valid.q.val();
        self.read_reply.valid.next = self.valid.q.val();
        self.read_reply.payload.next = self.value.q.val();
        if self.valid.q.val() {
            self.valid.d.next = !self.read_reply.ready.val();
        } else {
            self.valid.d.next = self.read_request.valid.val();
            self.value.d.next = bits::<32>(0);
            if self.read_request.payload.val() == self.id_at.val() {
                self.value.d.next = self.id.val();
            } else if self.read_request.payload.val() == self.version_at.val() {
                self.value.d.next = self.version.val();
            }
        }
    }
}
