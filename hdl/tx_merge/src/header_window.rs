//! The bytes of a frame's header that differ from its template's: see [`crate::header_patch`].
//!
//! ```text
//!  work ──► lengths, numbers, flags ──► registers ──► start, window, mask
//! ```
//! Timing: one cycle. Values are big-endian in the header: their first byte lies low.

use crate::plan::{FrameCut, HeaderLayout, HeaderNumbers};
use crate::segment_frame::HeaderWork;
use stream::prelude::*;

/// The window of the IP header.
#[derive(LogicBlock, Default)]
pub struct L3Window {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// What to make.
    pub work: Signal<In, HeaderWork>,
    /// First byte of the window.
    pub start: Signal<Out, Bits<8>>,
    /// Its bytes.
    pub window: Signal<Out, Bits<128>>,
    /// Ones for those that are set.
    pub mask: Signal<Out, Bits<128>>,

    at: DFF<Bits<8>>,
    bytes: DFF<Bits<32>>,
    sets_length: DFF<Bit>,
    sets_id: DFF<Bit>,
    clears: DFF<Bit>,

    cut: Signal<Local, FrameCut>,
    layout: Signal<Local, HeaderLayout>,
    numbers: Signal<Local, HeaderNumbers>,
    length: Signal<Local, Bits<16>>,
    second: Signal<Local, Bits<16>>,
    length_mask: Signal<Local, Bits<128>>,
    id_mask: Signal<Local, Bits<128>>,
    checksum_mask: Signal<Local, Bits<128>>,
}

impl Logic for L3Window {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, bytes, sets_length, sets_id, clears);
        self.cut.next = self.work.val().cut;
        self.layout.next = self.cut.val().layout;
        self.numbers.next = self.work.val().numbers;
        self.length.next =
            self.work.val().frame_bytes - bit_cast::<16, 8>(self.layout.val().l3_offset);
        self.second.next = self.numbers.val().identification;
        if self.layout.val().ipv6 {
            self.second.next =
                self.work.val().frame_bytes - bit_cast::<16, 8>(self.layout.val().l3_offset) - 40;
        }
        self.at.d.next = self.layout.val().l3_offset + 2;
        self.bytes.d.next = bit_cast::<32, 8>(self.length.val().get_bits::<8>(8))
            | (bit_cast::<32, 8>(self.length.val().get_bits::<8>(0)) << 8)
            | (bit_cast::<32, 8>(self.second.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.second.val().get_bits::<8>(0)) << 24);
        self.sets_length.d.next = self.work.val().rewrite & !self.layout.val().ipv6;
        self.sets_id.d.next = self.work.val().rewrite;
        self.clears.d.next = self.layout.val().ip_checksum;

        self.start.next = self.at.q.val();
        self.window.next = bit_cast::<128, 32>(self.bytes.q.val());
        self.length_mask.next = 0.into();
        if self.sets_length.q.val() {
            self.length_mask.next = 0xffff.into();
        }
        self.id_mask.next = 0.into();
        if self.sets_id.q.val() {
            self.id_mask.next = 0xffff.into();
        }
        self.checksum_mask.next = 0.into();
        if self.clears.q.val() {
            self.checksum_mask.next = 0xffff.into();
        }
        self.mask.next =
            self.length_mask.val() | (self.id_mask.val() << 16) | (self.checksum_mask.val() << 64);
    }
}

/// The window of the TCP or UDP header.
#[derive(LogicBlock)]
pub struct L4Window {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// What to make.
    pub work: Signal<In, HeaderWork>,
    /// First byte of the window.
    pub start: Signal<Out, Bits<8>>,
    /// Its bytes.
    pub window: Signal<Out, Bits<128>>,
    /// Ones for those that are set.
    pub mask: Signal<Out, Bits<128>>,

    at: DFF<Bits<8>>,
    first: DFF<Bits<32>>,
    flags: DFF<Bits<8>>,
    rewrites: DFF<Bit>,
    clears: DFF<Bit>,
    udp: DFF<Bit>,

    cut: Signal<Local, FrameCut>,
    layout: Signal<Local, HeaderLayout>,
    numbers: Signal<Local, HeaderNumbers>,
    length: Signal<Local, Bits<16>>,
    sequence_number: Signal<Local, Bits<32>>,
    flag_mask: Signal<Local, Bits<8>>,
    rewrite_mask: Signal<Local, Bits<128>>,
    checksum_mask: Signal<Local, Bits<128>>,
    tcp_bytes: Constant<Bits<128>>,
    tcp_checksum: Constant<Bits<128>>,
    udp_checksum: Constant<Bits<128>>,
}

impl Default for L4Window {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            work: Default::default(),
            start: Default::default(),
            window: Default::default(),
            mask: Default::default(),
            at: Default::default(),
            first: Default::default(),
            flags: Default::default(),
            rewrites: Default::default(),
            clears: Default::default(),
            udp: Default::default(),
            cut: Default::default(),
            layout: Default::default(),
            numbers: Default::default(),
            length: Default::default(),
            sequence_number: Default::default(),
            flag_mask: Default::default(),
            rewrite_mask: Default::default(),
            checksum_mask: Default::default(),
            tcp_bytes: Constant::new((0xffff_ffffu128 | 0xff << 72).to_bits()),
            tcp_checksum: Constant::new((0xffffu128 << 96).to_bits()),
            udp_checksum: Constant::new((0xffffu128 << 16).to_bits()),
        }
    }
}

impl Logic for L4Window {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, first, flags, rewrites, clears, udp);
        self.cut.next = self.work.val().cut;
        self.layout.next = self.cut.val().layout;
        self.numbers.next = self.work.val().numbers;
        self.length.next =
            self.work.val().frame_bytes - bit_cast::<16, 8>(self.layout.val().l4_offset);
        self.sequence_number.next = self.numbers.val().sequence;
        self.at.d.next = self.layout.val().l4_offset + 4;
        self.first.d.next = bit_cast::<32, 8>(self.sequence_number.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.sequence_number.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.sequence_number.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.sequence_number.val().get_bits::<8>(0)) << 24);
        if self.layout.val().udp {
            self.first.d.next = bit_cast::<32, 8>(self.length.val().get_bits::<8>(8))
                | (bit_cast::<32, 8>(self.length.val().get_bits::<8>(0)) << 8);
        }
        // CWR belongs to the first frame, FIN and PSH to the last.
        self.flag_mask.next = 0x76.into();
        if self.work.val().first & self.cut.val().descriptor_end {
            self.flag_mask.next = 0xff.into();
        } else if self.work.val().first {
            self.flag_mask.next = 0xf6.into();
        } else if self.cut.val().descriptor_end {
            self.flag_mask.next = 0x7f.into();
        }
        self.flags.d.next = self.numbers.val().flags & self.flag_mask.val();
        self.rewrites.d.next = self.work.val().rewrite;
        self.clears.d.next = self.layout.val().l4_checksum;
        self.udp.d.next = self.layout.val().udp;

        self.start.next = self.at.q.val();
        self.window.next = bit_cast::<128, 32>(self.first.q.val());
        self.rewrite_mask.next = 0.into();
        self.checksum_mask.next = 0.into();
        if self.udp.q.val() {
            if self.rewrites.q.val() {
                self.rewrite_mask.next = 0xffff.into();
            }
            if self.clears.q.val() {
                self.checksum_mask.next = self.udp_checksum.val();
            }
        } else {
            self.window.next = bit_cast::<128, 32>(self.first.q.val())
                | (bit_cast::<128, 8>(self.flags.q.val()) << 72);
            if self.rewrites.q.val() {
                self.rewrite_mask.next = self.tcp_bytes.val();
            }
            if self.clears.q.val() {
                self.checksum_mask.next = self.tcp_checksum.val();
            }
        }
        self.mask.next = self.rewrite_mask.val() | self.checksum_mask.val();
    }
}
