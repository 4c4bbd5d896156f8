//! The timestamp of a packet whose flow may demand one.
//!
//! ```text
//!  options ─┬─► NOP, NOP, timestamp? ──► found, value at once
//!           └─► otherwise, if demanded: search, one byte per cycle ──► found, value when `ready`
//! ```
//! Timing: `ready` is high at once for the layout that RFC 7323 recommends (appendix A), and where
//! no timestamp is demanded; otherwise after at most 42 cycles.
//!
//! Invariants:
//! 1. With `ready`, `found` and `value` are those of the packet at hand, if it is `demanded`.
//!
//! Source: RFC 7323, 3.2 and appendix A.

use crate::classify::messages::RuleInput;
use crate::classify::options::Options;
use crate::messages::Word32;
use stream::prelude::*;

/// The timestamp. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Timestamp {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: a search in progress is forgotten.
    pub reset: Signal<In, Bit>,

    /// The packet at hand.
    pub packet: Signal<In, RuleInput>,
    /// There is a packet at hand, and its flow demands a timestamp.
    pub demanded: Signal<In, Bit>,
    /// The packet at hand leaves in this cycle.
    pub leaves: Signal<In, Bit>,
    /// The packet at hand may leave.
    pub ready: Signal<Out, Bit>,
    /// The packet has a timestamp, valid with `ready`.
    pub found: Signal<Out, Bit>,
    /// TSval of that timestamp, valid with `ready`.
    pub value: Signal<Out, Bits<32>>,

    search: Options,
    searched: DFF<Bit>,

    options: Signal<Local, Bits<320>>,
    word: Signal<Local, Word32>,
    is_usual: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
}

impl Logic for Timestamp {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, searched);
        clock!(self, clock, search);
        self.options.next = self.packet.val().options;
        self.is_usual.next = self.packet.val().usual;
        self.word.next.byte0 = self.options.val().get_bits::<8>(32);
        self.word.next.byte1 = self.options.val().get_bits::<8>(40);
        self.word.next.byte2 = self.options.val().get_bits::<8>(48);
        self.word.next.byte3 = self.options.val().get_bits::<8>(56);

        self.start.next = self.demanded.val() & !self.is_usual.val() & !self.searched.q.val();
        self.search.start.next = self.start.val();
        self.search.options.next = self.options.val();
        self.search.option_bytes.next = self.packet.val().option_bytes;
        self.ready.next = !self.demanded.val()
            | self.is_usual.val()
            | (self.searched.q.val() & !self.search.busy.val());
        self.found.next = self.search.found.val();
        self.value.next = self.search.value.val();
        if self.is_usual.val() {
            self.found.next = true;
            self.value.next = self.word.val().into();
        }
        if self.start.val() {
            self.searched.d.next = true;
        }
        if self.leaves.val() | self.reset.val() {
            self.searched.d.next = false;
        }
    }
}
