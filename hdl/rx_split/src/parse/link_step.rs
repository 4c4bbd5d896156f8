//! Keeps what of the headers before TCP must be equal in a run, from a frame's first beat to its
//! last.
//!
//! ```text
//!  first beat, network ──► addresses, tags, traffic ──► queue (16) ──► facts
//! ```
//! Timing: one frame per cycle in and out, latency one cycle. A frame's facts are taken within 16
//! frames: the checks after the parser take eleven cycles.
//!
//! Invariants:
//! 1. The facts of frames leave in the order of the frames, refused ones too.
//!
//! Source: docs/specification.md, Runs; RFC 791, RFC 8200, IEEE 802.1Q.

use crate::messages::{LinkFacts, NetworkInfo, RxBeat};
use stream::prelude::*;

/// The step. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct LinkStep {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// Beats after the first part of the parser.
    pub beats: PulseSink<RxBeat>,
    /// What the frame's first beat holds, with that beat.
    pub network: Signal<In, NetworkInfo>,
    /// Facts of the oldest frame inside.
    pub facts: Signal<Out, LinkFacts>,
    /// The oldest frame leaves.
    pub taken: Signal<In, Bit>,

    waiting: Fifo<LinkFacts, 4, 5>,

    data: Signal<Local, Bits<512>>,
    info: Signal<Local, NetworkInfo>,
    ip: Signal<Local, Bits<64>>,
    made: Signal<Local, LinkFacts>,
    /// Version, header length and traffic class.
    #[value(0xffff)]
    class_v4: Constant<Bits<32>>,
    /// DF in byte 6, which stands for the length's second byte.
    #[value(0x4000_0000)]
    unfragmented: Constant<Bits<32>>,
    /// Version 4 and a header of 20 bytes.
    #[value(0x45)]
    without_options: Constant<Bits<8>>,
}

impl Logic for LinkStep {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, waiting);
        self.waiting.reset.next = false;
        self.data.next = self.beats.payload.val().data;
        self.info.next = self.network.val();
        self.made.next.addresses = self.data.val().get_bits::<96>(0);
        self.made.next.tags = 0.into();
        self.ip.next = self.data.val().get_bits::<64>(112);
        if self.info.val().l3_offset == 18 {
            self.made.next.tags = bit_cast::<64, 32>(self.data.val().get_bits::<32>(96));
            self.ip.next = self.data.val().get_bits::<64>(144);
        }
        if self.info.val().l3_offset == 22 {
            self.made.next.tags = self.data.val().get_bits::<64>(96);
            self.ip.next = self.data.val().get_bits::<64>(176);
        }
        self.made.next.traffic = self.ip.val().get_bits::<32>(0);
        self.made.next.plain = true;
        if self.info.val().ipv4 {
            self.made.next.traffic = (self.ip.val().get_bits::<32>(0) & self.class_v4.val())
                | (self.ip.val().get_bits::<32>(24) & self.unfragmented.val());
            self.made.next.plain = (self.ip.val().get_bits::<8>(0) == self.without_options.val())
                & !self.ip.val().get_bit(55);
        }
        self.waiting.sink.valid.next = self.beats.valid.val() & self.beats.payload.val().first;
        self.waiting.sink.payload.next = self.made.val();
        self.facts.next = self.waiting.source.payload.val();
        self.waiting.source.ready.next = self.taken.val();
    }
}
