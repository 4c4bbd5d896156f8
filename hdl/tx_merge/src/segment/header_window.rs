//! Makes the bytes of a frame's header that differ from its template's, for
//! [`super::header_patch`].
//!
//! ```text
//!  work ──► lengths, numbers, flags ──► registers ──► start, window, mask
//! ```
//! Values are big-endian in the header: their first byte lies low.
//!
//! Timing: one cycle.

use crate::messages::{FrameCut, HeaderLayout, HeaderNumbers};
use crate::segment::segment_frame::HeaderWork;
use stream::prelude::*;

/// The window of the IP header, from byte 2 of it on.
#[derive(LogicBlock, Default)]
pub struct L3Window {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The header beat to make.
    pub work: Signal<In, HeaderWork>,
    /// Byte offset of the window in the frame.
    pub start: Signal<Out, Bits<8>>,
    /// Bytes of the window, first one low.
    pub window: Signal<Out, Bits<128>>,
    /// Bytes of the window that replace the template's, one bit each.
    pub mask: Signal<Out, Bits<16>>,

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
    length_mask: Signal<Local, Bits<16>>,
    id_mask: Signal<Local, Bits<16>>,
    checksum_mask: Signal<Local, Bits<16>>,
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
            self.length_mask.next = 0x003.into();
        }
        self.id_mask.next = 0.into();
        if self.sets_id.q.val() {
            self.id_mask.next = 0x00c.into();
        }
        self.checksum_mask.next = 0.into();
        if self.clears.q.val() {
            self.checksum_mask.next = 0x300.into();
        }
        self.mask.next = self.length_mask.val() | self.id_mask.val() | self.checksum_mask.val();
    }
}

/// The window of the TCP or UDP header, from byte 4 of it on.
#[derive(LogicBlock, Default)]
pub struct L4Window {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The header beat to make.
    pub work: Signal<In, HeaderWork>,
    /// Byte offset of the window in the frame.
    pub start: Signal<Out, Bits<8>>,
    /// Bytes of the window, first one low.
    pub window: Signal<Out, Bits<128>>,
    /// Bytes of the window that replace the template's, one bit each.
    pub mask: Signal<Out, Bits<16>>,

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
    rewrite_mask: Signal<Local, Bits<16>>,
    checksum_mask: Signal<Local, Bits<16>>,
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
                self.rewrite_mask.next = 0x0003.into();
            }
            if self.clears.q.val() {
                self.checksum_mask.next = 0x000c.into();
            }
        } else {
            self.window.next = bit_cast::<128, 32>(self.first.q.val())
                | (bit_cast::<128, 8>(self.flags.q.val()) << 72);
            if self.rewrites.q.val() {
                self.rewrite_mask.next = 0x020f.into();
            }
            if self.clears.q.val() {
                self.checksum_mask.next = 0x3000.into();
            }
        }
        self.mask.next = self.rewrite_mask.val() | self.checksum_mask.val();
    }
}
