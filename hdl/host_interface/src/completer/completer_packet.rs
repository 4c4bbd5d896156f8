//! Builds the one or two beats of a completion.
//!
//! ```text
//!  dwords 0..3 descriptor | dwords 3.. data, or of a refusal: byte enables, request descriptor
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. A completion of more than 13 dwords of data takes two beats, any other one.
//!
//! Source: PG213, completer completion descriptor, Completions with Error Status.

use crate::completer::completer_fields::CompleterFields;
use crate::completer::completer_request::HostRequest;
use stream::prelude::*;

/// The packet. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterPacket {
    /// The request that the completion belongs to.
    pub request: Signal<In, HostRequest>,
    /// Data that were read, dword 0 in bits 31:0.
    pub data: Signal<In, Bits<512>>,
    /// Reply with status Unsupported Request.
    pub refused: Signal<In, Bit>,

    /// First beat.
    pub first: Signal<Out, Bits<512>>,
    /// Dwords used in the first beat.
    pub first_keep: Signal<Out, Bits<16>>,
    /// Second beat; undefined without `two_beats`.
    pub second: Signal<Out, Bits<512>>,
    /// Dwords used in the second beat.
    pub second_keep: Signal<Out, Bits<16>>,
    /// The completion takes two beats.
    pub two_beats: Signal<Out, Bit>,
    /// Place of the last dword in its beat.
    pub last_dword: Signal<Out, Bits<4>>,

    fields: CompleterFields,

    descriptor: Signal<Local, Bits<128>>,
    body: Signal<Local, Bits<512>>,
    dwords: Signal<Local, Bits<6>>,
    beyond: Signal<Local, Bits<4>>,
    first_mask: Signal<Local, Bits<16>>,

    #[value(96)]
    header_bits: Constant<Bits<7>>,
    #[value(416)]
    rest_bits: Constant<Bits<9>>,
    #[value(32)]
    log_bits: Constant<Bits<6>>,
    #[value(3)]
    header_dwords: Constant<Bits<6>>,
    #[value(8)]
    log_dwords: Constant<Bits<6>>,
    #[value(1)]
    one: Constant<Bits<6>>,
    #[value(0xffff)]
    full_mask: Constant<Bits<16>>,
}

impl Logic for CompleterPacket {
    #[hdl_gen]
    fn update(&mut self) {
        self.fields.request.next = self.request.val();
        self.fields.refused.next = self.refused.val();

        self.descriptor.next = self.request.val().descriptor;
        self.body.next = self.data.val();
        self.dwords.next =
            bit_cast::<6, 5>(self.descriptor.val().get_bits::<5>(64)) + self.header_dwords.val();
        if self.refused.val() {
            self.body.next = bit_cast::<512, 4>(self.request.val().first_be)
                | (bit_cast::<512, 4>(self.request.val().last_be) << 4)
                | (bit_cast::<512, 128>(self.descriptor.val()) << self.log_bits.val());
            self.dwords.next = self.log_dwords.val();
        }

        self.first.next = self.fields.header.val() | (self.body.val() << self.header_bits.val());
        self.second.next = self.body.val() >> self.rest_bits.val();

        // Header and data are 19 dwords at most: a second beat has three.
        self.beyond.next = self.dwords.val().get_bits::<4>(0);
        self.two_beats.next = self.dwords.val().get_bit(4) & self.beyond.val().any();
        self.last_dword.next = (self.dwords.val() - self.one.val()).get_bits::<4>(0);
        self.first_mask.next = self.full_mask.val() << self.beyond.val();
        self.first_keep.next = !self.first_mask.val();
        if self.dwords.val().get_bit(4) {
            self.first_keep.next = self.full_mask.val();
        }
        self.second_keep.next = !self.first_mask.val();
    }
}
