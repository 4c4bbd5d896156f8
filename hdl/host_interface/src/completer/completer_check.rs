//! Says what is to be done with a host request.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Exactly one of `push`, `write`, `read`, `refuse` and `ignore` is high.
//!
//! Source: PG213, completer request descriptor.

use crate::completer::completer_request::HostRequest;
use abi::registers;
use stream::prelude::*;

/// The check. See the module's head.
#[derive(LogicBlock)]
pub struct CompleterCheck {
    /// The request.
    pub request: Signal<In, HostRequest>,

    /// Push a line: write 16 whole dwords to one half of a push window.
    pub push: Signal<Out, Bit>,
    /// Write 1 to 16 dwords.
    pub write: Signal<Out, Bit>,
    /// Read 1 to 16 dwords.
    pub read: Signal<Out, Bit>,
    /// Answer with Unsupported Request.
    pub refuse: Signal<Out, Bit>,
    /// Do nothing: a posted request that is none of ours, or an invalid packet.
    pub ignore: Signal<Out, Bit>,
    /// The read asks for no byte.
    pub flush: Signal<Out, Bit>,
    /// Byte offset in BAR 0.
    pub address: Signal<Out, Bits<24>>,
    /// Dwords.
    pub dwords: Signal<Out, Bits<5>>,

    descriptor: Signal<Local, Bits<128>>,
    kind: Signal<Local, Bits<4>>,
    count: Signal<Local, Bits<11>>,
    fits: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    is_read: Signal<Local, Bit>,
    is_posted: Signal<Local, Bit>,
    is_line: Signal<Local, Bit>,
    in_window: Signal<Local, Bit>,

    memory_read: Constant<Bits<4>>,
    memory_write: Constant<Bits<4>>,
    first_message: Constant<Bits<4>>,
    dwords_max: Constant<Bits<11>>,
    no_dwords: Constant<Bits<11>>,
    one_dword: Constant<Bits<11>>,
    register_bar: Constant<Bits<3>>,
    no_bytes: Constant<Bits<4>>,
    all_bytes: Constant<Bits<4>>,
    doorbells: Constant<Bits<4>>,
    push_window: Constant<Bits<5>>,
    line_start: Constant<Bits<4>>,
}

impl Default for CompleterCheck {
    fn default() -> Self {
        assert_eq!(registers::DOORBELLS, 1 << 20, "decoded from bits 23:20");
        assert_eq!(registers::DOORBELL_STRIDE, 1 << 12);
        assert_eq!(registers::PUSH_WINDOW, 1 << 7, "two lines in bits 6");
        Self {
            request: Default::default(),
            push: Default::default(),
            write: Default::default(),
            read: Default::default(),
            refuse: Default::default(),
            ignore: Default::default(),
            flush: Default::default(),
            address: Default::default(),
            dwords: Default::default(),
            descriptor: Default::default(),
            kind: Default::default(),
            count: Default::default(),
            fits: Default::default(),
            is_write: Default::default(),
            is_read: Default::default(),
            is_posted: Default::default(),
            is_line: Default::default(),
            in_window: Default::default(),
            memory_read: Constant::new(0u32.to_bits()),
            memory_write: Constant::new(1u32.to_bits()),
            first_message: Constant::new(12u32.to_bits()),
            dwords_max: Constant::new(16u32.to_bits()),
            no_dwords: Constant::new(0u32.to_bits()),
            one_dword: Constant::new(1u32.to_bits()),
            register_bar: Constant::new(0u32.to_bits()),
            no_bytes: Constant::new(0u32.to_bits()),
            all_bytes: Constant::new(0xfu32.to_bits()),
            doorbells: Constant::new((registers::DOORBELLS >> 20).to_bits()),
            push_window: Constant::new((registers::PUSH_WINDOW >> 7).to_bits()),
            line_start: Constant::new(0u32.to_bits()),
        }
    }
}

impl Logic for CompleterCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.descriptor.next = self.request.val().descriptor;
        self.kind.next = self.descriptor.val().get_bits::<4>(75);
        self.count.next = self.descriptor.val().get_bits::<11>(64);
        self.fits.next = (self.count.val() != self.no_dwords.val())
            & (self.count.val() <= self.dwords_max.val())
            & (self.descriptor.val().get_bits::<3>(112) == self.register_bar.val());
        self.is_write.next = self.kind.val() == self.memory_write.val();
        self.is_read.next = self.kind.val() == self.memory_read.val();
        self.is_posted.next = self.is_write.val() | (self.kind.val() >= self.first_message.val());
        // BAR offset 23:20 the doorbells, 11:7 the window, 5:2 the line's first dword.
        self.in_window.next = (self.descriptor.val().get_bits::<4>(20) == self.doorbells.val())
            & (self.descriptor.val().get_bits::<5>(7) == self.push_window.val())
            & (self.descriptor.val().get_bits::<4>(2) == self.line_start.val());
        self.is_line.next = (self.count.val() == self.dwords_max.val())
            & (self.request.val().first_be == self.all_bytes.val())
            & (self.request.val().last_be == self.all_bytes.val());

        self.push.next = false;
        self.write.next = false;
        self.read.next = false;
        self.refuse.next = false;
        self.ignore.next = false;
        if self.request.val().discontinued {
            self.ignore.next = true;
        } else if self.is_write.val() & self.fits.val() {
            self.push.next = self.in_window.val() & self.is_line.val();
            self.write.next = !(self.in_window.val() & self.is_line.val());
        } else if self.is_read.val() & self.fits.val() {
            self.read.next = true;
        } else if self.is_posted.val() {
            self.ignore.next = true;
        } else {
            self.refuse.next = true;
        }
        self.flush.next = (self.request.val().first_be == self.no_bytes.val())
            & (self.count.val() == self.one_dword.val());
        self.address.next = bit_cast::<24, 22>(self.descriptor.val().get_bits::<22>(2)) << 2;
        self.dwords.next = self.count.val().get_bits::<5>(0);
    }
}
