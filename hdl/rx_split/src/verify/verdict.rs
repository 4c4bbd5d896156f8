//! The verdict over a frame, from everything known at its last beat.
//!
//! Timing: latency one cycle, one beat per cycle, no back-pressure. `parsed` must hold the frame's
//! entry when its last beat arrives, and is taken with it.
//!
//! Invariants:
//! 1. The first check that fails is the reason: that of the ingress gate, malformed_ip,
//!    ip_checksum, malformed_l4, l4_checksum.
//!
//! Source: docs/specification.md, Checks.

use crate::messages::{PacketInfo, ParsedPacket, RxBeat};
use abi::reason::DropReason;
use stream::prelude::*;

/// The verdict. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Verdict {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Beats of the frame.
    pub beats: PulseSink<RxBeat>,
    /// Bytes of the frame up to the end of the beat at `beats`.
    pub frame_bytes: Signal<In, Bits<14>>,
    /// What the parser found, one message for each frame.
    pub parsed: MessageSink<ParsedPacket>,
    /// The IPv4 header checksum is right, valid with the last beat.
    pub ip_good: Signal<In, Bit>,
    /// The L4 checksum is right, valid with the last beat.
    pub l4_good: Signal<In, Bit>,
    /// Beats with their verdict, one cycle later.
    pub source: PulseSource<RxBeat>,
    /// Everything about the packet, valid with its last beat at `source`.
    pub info: Signal<Out, PacketInfo>,

    valid: DFF<Bit>,
    beat: DFF<RxBeat>,
    info_held: DFF<PacketInfo>,

    packet: Signal<Local, PacketInfo>,
    malformed_ip: Signal<Local, Bit>,
    bad_ip: Signal<Local, Bit>,
    bad_l4: Signal<Local, Bit>,
    #[value(DropReason::MalformedIp as u64)]
    reason_malformed_ip: Constant<DropCode>,
    #[value(DropReason::IpChecksum as u64)]
    reason_ip_checksum: Constant<DropCode>,
    #[value(DropReason::MalformedL4 as u64)]
    reason_malformed_l4: Constant<DropCode>,
    #[value(DropReason::L4Checksum as u64)]
    reason_l4_checksum: Constant<DropCode>,
}

impl Logic for Verdict {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, beat, info_held);
        self.source.valid.next = self.valid.q.val();
        self.source.payload.next = self.beat.q.val();
        self.info.next = self.info_held.q.val();
        self.valid.d.next = self.beats.valid.val();
        self.beat.d.next = self.beats.payload.val();
        self.parsed.ready.next = self.beats.valid.val() & self.beats.payload.val().last;

        self.packet.next = self.parsed.payload.val().info;
        self.malformed_ip.next = self.parsed.payload.val().ip
            & (self.parsed.payload.val().malformed_ip
                | (self.parsed.payload.val().ip_end > bit_cast::<17, 14>(self.frame_bytes.val())));
        self.bad_ip.next = self.parsed.payload.val().ipv4 & !self.ip_good.val();
        self.bad_l4.next = self.packet.val().transport
            & !self.packet.val().unverified
            & (self.parsed.payload.val().checksum_missing | !self.l4_good.val());

        if self.beats.payload.val().last & !self.beats.payload.val().refused {
            self.beat.d.next.refused = self.malformed_ip.val()
                | self.bad_ip.val()
                | (self.packet.val().transport & self.packet.val().malformed)
                | self.bad_l4.val();
            self.beat.d.next.reason = self.reason_l4_checksum.val();
            if self.packet.val().transport & self.packet.val().malformed {
                self.beat.d.next.reason = self.reason_malformed_l4.val();
            }
            if self.bad_ip.val() {
                self.beat.d.next.reason = self.reason_ip_checksum.val();
            }
            if self.malformed_ip.val() {
                self.beat.d.next.reason = self.reason_malformed_ip.val();
            }
        }

        if self.beats.valid.val() & self.beats.payload.val().last {
            self.info_held.d.next = self.packet.val();
            self.info_held.d.next.frame_bytes = self.frame_bytes.val();
            if !self.packet.val().transport {
                self.info_held.d.next.payload_bytes =
                    self.frame_bytes.val() - bit_cast::<14, 8>(self.packet.val().header_bytes);
            }
        }
    }
}
