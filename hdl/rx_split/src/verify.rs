//! Judges a frame at its last beat: lengths and checksums.
//!
//! ```text
//!  beats ─┬─► delay ───────────────────────────────┐
//!         ├─► sum of the IPv4 header ──► fold ──┐  ▼
//!         └─► sum of L4 + pseudo header ► fold ─┴► verdict ──► beats, info
//!  parsed ──► FIFO ─────────────────────────────┘
//! ```
//! Timing: one beat per cycle, latency nine cycles, no back-pressure.
//!
//! Invariants:
//! 1. The first check that fails is the reason: that of the ingress gate, malformed_ip,
//!    ip_checksum, malformed_l4, l4_checksum.
//! 2. Ethernet padding counts in no sum: the range ends where the IP length says.
//!
//! On error: the last beat leaves with `refused` and the reason.
//!
//! Source: docs/specification.md, Checks; decision 3.

pub mod beat_sum;
pub mod checksum_fold;
pub mod delay;
pub mod pseudo_sum;
pub mod quarter_sum;
pub mod range_mask;
pub mod verdict;

use crate::messages::{NetworkInfo, PacketInfo, ParsedPacket, RxBeat};
use crate::verify::beat_sum::BeatSum;
use crate::verify::checksum_fold::ChecksumFold;
use crate::verify::delay::Delay;
use crate::verify::pseudo_sum::PseudoSum;
use crate::verify::verdict::Verdict;
use stream::prelude::*;

/// The judge of frames. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Verify {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Beats after the first part of the parser.
    pub beats: PulseSink<RxBeat>,
    /// What the frame's first beat holds, from its first to its last beat.
    pub network: Signal<In, NetworkInfo>,
    /// What the parser found, one pulse for each frame, within seven cycles of its last beat.
    pub parsed: PulseSink<ParsedPacket>,
    /// Beats with their verdict: the last one of a frame has `refused` and `reason`.
    pub source: PulseSource<RxBeat>,
    /// Everything about the packet, valid with its last beat at `source`.
    pub info: Signal<Out, PacketInfo>,

    delay: Delay,
    ip_sum: BeatSum,
    ip_fold: ChecksumFold,
    l4_sum: BeatSum,
    l4_fold: ChecksumFold,
    pseudo: PseudoSum,
    waiting: Fifo<ParsedPacket, 4, 5>,
    verdict: Verdict,
}

impl Logic for Verify {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, delay, ip_sum, ip_fold, l4_sum, l4_fold, pseudo);
        clock!(self, clock, waiting, verdict);
        self.waiting.reset.next = false;

        PulseSink::<RxBeat>::link(&mut self.beats, &mut self.delay.sink);
        PulseSink::<RxBeat>::link(&mut self.beats, &mut self.ip_sum.beats);
        PulseSink::<RxBeat>::link(&mut self.beats, &mut self.l4_sum.beats);
        self.ip_sum.range_start.next = self.network.val().l3_offset;
        self.ip_sum.range_stop.next = bit_cast::<17, 8>(self.network.val().l4_offset);
        self.l4_sum.range_start.next = self.network.val().l4_offset;
        self.l4_sum.range_stop.next = self.network.val().ip_end;
        self.pseudo.network.next = self.network.val();
        self.ip_fold.sum.next = self.ip_sum.sum.val();
        self.ip_fold.extra.next = 0.into();
        self.l4_fold.sum.next = self.l4_sum.sum.val();
        self.l4_fold.extra.next = self.pseudo.sum.val();

        self.waiting.sink.valid.next = self.parsed.valid.val();
        self.waiting.sink.payload.next = self.parsed.payload.val();
        MessageSource::<ParsedPacket>::join(&mut self.waiting.source, &mut self.verdict.parsed);
        PulseSource::<RxBeat>::join(&mut self.delay.source, &mut self.verdict.beats);
        self.verdict.frame_bytes.next = self.delay.frame_bytes.val();
        self.verdict.ip_good.next = self.ip_fold.good.val();
        self.verdict.l4_good.next = self.l4_fold.good.val();
        PulseSource::<RxBeat>::link(&mut self.source, &mut self.verdict.source);
        self.info.next = self.verdict.info.val();
    }
}
