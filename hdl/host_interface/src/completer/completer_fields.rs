//! Computes the descriptor of the completion of a request.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Requester id, tag, traffic class, attributes and address type are those of the request.
//! 2. The completer is named by its function alone; the hard block adds bus and device.
//!
//! Source: PG213, completer completion descriptor; PCI Express Base 3.0, 2.3.1.1.

use crate::completer::completer_request::HostRequest;
use stream::prelude::*;

/// The computation. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterFields {
    /// The request that the completion belongs to.
    pub request: Signal<In, HostRequest>,
    /// The request is refused.
    pub refused: Signal<In, Bit>,
    /// Completion descriptor: 3 dwords in the low bits, zeros above.
    pub header: Signal<Out, Bits<512>>,

    descriptor: Signal<Local, Bits<128>>,
    first_be: Signal<Local, Bits<4>>,
    last_be: Signal<Local, Bits<4>>,
    count: Signal<Local, Bits<13>>,
    is_read: Signal<Local, Bit>,
    lead: Signal<Local, Bits<13>>,
    trail: Signal<Local, Bits<13>>,
    byte_count: Signal<Local, Bits<13>>,
    lower_address: Signal<Local, Bits<7>>,
    dword_0: Signal<Local, Bits<32>>,
    dword_1: Signal<Local, Bits<32>>,
    dword_2: Signal<Local, Bits<32>>,

    #[value(1)]
    one: Constant<Bits<13>>,
    #[value(2)]
    two: Constant<Bits<13>>,
    #[value(3)]
    three: Constant<Bits<13>>,
    #[value(4)]
    four: Constant<Bits<13>>,
    #[value(0)]
    memory_read: Constant<Bits<4>>,
    #[value(1 << 11)]
    status_unsupported: Constant<Bits<32>>,
}

impl Logic for CompleterFields {
    #[hdl_gen]
    fn update(&mut self) {
        self.descriptor.next = self.request.val().descriptor;
        self.first_be.next = self.request.val().first_be;
        self.count.next = bit_cast::<13, 11>(self.descriptor.val().get_bits::<11>(64));
        self.is_read.next = self.descriptor.val().get_bits::<4>(75) == self.memory_read.val();
        self.last_be.next = self.request.val().last_be;
        if self.count.val() == self.one.val() {
            self.last_be.next = self.first_be.val();
        }

        // Disabled bytes before the first enabled one and after the last one.
        self.lead.next = 0.into();
        if self.first_be.val().get_bit(0) {
            self.lead.next = 0.into();
        } else if self.first_be.val().get_bit(1) {
            self.lead.next = self.one.val();
        } else if self.first_be.val().get_bit(2) {
            self.lead.next = self.two.val();
        } else if self.first_be.val().get_bit(3) {
            self.lead.next = self.three.val();
        }
        self.trail.next = 0.into();
        if self.last_be.val().get_bit(3) {
            self.trail.next = 0.into();
        } else if self.last_be.val().get_bit(2) {
            self.trail.next = self.one.val();
        } else if self.last_be.val().get_bit(1) {
            self.trail.next = self.two.val();
        } else if self.last_be.val().get_bit(0) {
            self.trail.next = self.three.val();
        }
        self.byte_count.next = (self.count.val() << 2) - self.lead.val() - self.trail.val();
        self.lower_address.next = (bit_cast::<7, 5>(self.descriptor.val().get_bits::<5>(2)) << 2)
            | self.lead.val().get_bits::<7>(0);
        if !self.is_read.val() {
            self.byte_count.next = self.four.val();
            self.lower_address.next = 0.into();
        } else if (self.count.val() == self.one.val()) & (self.first_be.val() == bits::<4>(0)) {
            self.byte_count.next = self.one.val();
        }

        self.dword_0.next = bit_cast::<32, 7>(self.lower_address.val())
            | (bit_cast::<32, 2>(self.descriptor.val().get_bits::<2>(0)) << 8)
            | (bit_cast::<32, 13>(self.byte_count.val()) << 16);
        self.dword_1.next = bit_cast::<32, 13>(self.count.val())
            | (bit_cast::<32, 16>(self.descriptor.val().get_bits::<16>(80)) << 16);
        if self.refused.val() {
            self.dword_1.next = self.status_unsupported.val()
                | (bit_cast::<32, 16>(self.descriptor.val().get_bits::<16>(80)) << 16);
        }
        self.dword_2.next = bit_cast::<32, 8>(self.descriptor.val().get_bits::<8>(96))
            | (bit_cast::<32, 8>(self.descriptor.val().get_bits::<8>(104)) << 8)
            | (bit_cast::<32, 3>(self.descriptor.val().get_bits::<3>(121)) << 25)
            | (bit_cast::<32, 3>(self.descriptor.val().get_bits::<3>(124)) << 28);
        self.header.next = bit_cast::<512, 32>(self.dword_0.val())
            | (bit_cast::<512, 32>(self.dword_1.val()) << 32)
            | (bit_cast::<512, 32>(self.dword_2.val()) << 64);
    }
}
