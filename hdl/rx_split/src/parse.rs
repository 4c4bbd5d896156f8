//! First part of the parser: Ethernet, VLAN tags and the IP header, all from the first beat.
//!
//! ```text
//!  beats ──► VLAN: shift by 0, 4 or 8 bytes ──► IP fields ──► offsets, lengths ──► beats, network
//! ```
//! Timing: one beat per cycle, latency three cycles, no back-pressure.
//!
//! Invariants:
//! 1. `network` belongs to the frame of the beat that `source` shows, and holds until the next
//!    first beat.
//! 2. Lengths beyond the frame are not found here: `verify` compares `ip_end` with the frame's end.
//!
//! Source: docs/specification.md, Parsing; RFC 791, RFC 8200, IEEE 802.1Q.

pub mod ethernet;
pub mod ip_step;
pub mod link_step;
pub mod window;

use crate::messages::{NetworkInfo, RxBeat};
use crate::parse::ethernet::Ethernet;
use crate::parse::ip_step::{IpFields, IpStep};
use stream::prelude::*;

/// The first part of the parser. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Parse {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Numbered beats from the ingress gate.
    pub sink: PulseSink<RxBeat>,
    /// Beats of `sink`, three cycles later.
    pub source: PulseSource<RxBeat>,
    /// What the frame's first beat holds, from the first to the last beat of the frame at `source`.
    pub network: Signal<Out, NetworkInfo>,

    ethernet: Ethernet,
    ip: IpStep,
    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    valid_3: DFF<Bit>,
    beat_1: DFF<RxBeat>,
    beat_2: DFF<RxBeat>,
    beat_3: DFF<RxBeat>,
    held: DFF<NetworkInfo>,

    fields: Signal<Local, IpFields>,
    info: Signal<Local, NetworkInfo>,
    length: Signal<Local, Bits<16>>,
    header_bytes: Signal<Local, Bits<16>>,
    l3_offset: Signal<Local, Bits<8>>,
    base: Signal<Local, Bits<8>>,
    below: Signal<Local, Bit>,
}

impl Logic for Parse {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid_1, valid_2, valid_3, beat_1, beat_2, beat_3);
        dff_setup!(self, clock, held);
        clock!(self, clock, ethernet, ip);
        self.valid_1.d.next = self.sink.valid.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.valid_3.d.next = self.valid_2.q.val();
        if self.sink.valid.val() {
            self.beat_1.d.next = self.sink.payload.val();
        }
        if self.valid_1.q.val() {
            self.beat_2.d.next = self.beat_1.q.val();
        }
        if self.valid_2.q.val() {
            self.beat_3.d.next = self.beat_2.q.val();
        }
        self.source.valid.next = self.valid_3.q.val();
        self.source.payload.next = self.beat_3.q.val();
        self.network.next = self.held.q.val();
        self.ethernet.beat.next = self.sink.payload.val();
        self.ethernet.first.next = self.sink.valid.val() & self.sink.payload.val().first;
        self.ip.valid.next = self.valid_1.q.val() & self.beat_1.q.val().first;
        self.ip.header.next = self.ethernet.header.val();

        // Third step: offsets and lengths, kept for the whole frame.
        self.fields.next = self.ip.fields.val();
        self.info.next = self.fields.val().info;
        self.length.next = self.fields.val().length;
        self.header_bytes.next = bit_cast::<16, 8>(self.fields.val().header_bytes);
        self.l3_offset.next = self.info.val().l3_offset;
        self.base.next = self.l3_offset.val();
        self.below.next = self.info.val().ipv4 & (self.length.val() < self.header_bytes.val());
        if self.info.val().ipv6 {
            self.base.next = self.l3_offset.val() + 40;
            self.below.next = false;
        }
        if self.valid_2.q.val() & self.beat_2.q.val().first {
            self.held.d.next = self.info.val();
            self.held.d.next.malformed = self.info.val().malformed | self.below.val();
            self.held.d.next.l4_offset = self.l3_offset.val() + self.fields.val().header_bytes;
            self.held.d.next.ip_end =
                bit_cast::<17, 8>(self.base.val()) + bit_cast::<17, 16>(self.length.val());
            self.held.d.next.l4_bytes = self.length.val() - self.header_bytes.val();
            if self.info.val().ipv6 {
                self.held.d.next.l4_bytes = self.length.val();
            }
        }
    }
}
