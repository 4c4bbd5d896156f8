//! Judges a frame at its last beat: lengths and checksums.
//!
//! ```text
//!  beats ─┬─► delay ───────────────────────────────┐
//!         ├─► sum of the IPv4 header ──► fold ──┐  ▼
//!         └─► sum of L4 + pseudo header ► fold ─┴► verdict ──► beats, info
//!  parsed ──► FIFO ─────────────────────────────┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | beats, network | in | beats behind the first part of the parser, and what the first told |
//! | parsed | in | what the parser found, within seven cycles of the frame's last beat |
//! | source | out | the beats; the last one has `refused` and `reason` |
//! | info | out | everything about the packet, valid with the last beat |
//!
//! Timing: one beat a cycle, latency nine cycles, no back-pressure.
//!
//! Invariants:
//! 1. The first check that fails names the reason: the door's, malformed_ip, ip_checksum,
//!    malformed_l4,
//!    l4_checksum.
//! 2. Ethernet padding counts in no sum: the range ends where the IP length says.

pub mod beat_sum;
pub mod delay;
pub mod fold;
pub mod pseudo;
pub mod quarter_sum;
pub mod range_mask;
pub mod verdict;

use crate::messages::{NetworkInfo, PacketInfo, ParsedPacket, RxBeat};
use crate::verify::beat_sum::BeatSum;
use crate::verify::delay::Delay;
use crate::verify::fold::Fold;
use crate::verify::pseudo::Pseudo;
use crate::verify::verdict::Verdict;
use stream::prelude::*;

/// The judge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Verify {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Beats of the frame.
    pub beats: PulseSink<RxBeat>,
    /// What the first beat told.
    pub network: Signal<In, NetworkInfo>,
    /// What the parser found.
    pub parsed: PulseSink<ParsedPacket>,
    /// Beats, judged.
    pub source: PulseSource<RxBeat>,
    /// The packet, valid with its last beat.
    pub info: Signal<Out, PacketInfo>,

    delay: Delay,
    ip_sum: BeatSum,
    ip_fold: Fold,
    l4_sum: BeatSum,
    l4_fold: Fold,
    pseudo: Pseudo,
    waiting: Fifo<ParsedPacket, 4, 5>,
    verdict: Verdict,
    #[value(0)]
    zero: Constant<Bits<32>>,
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
        self.ip_fold.extra.next = self.zero.val();
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
