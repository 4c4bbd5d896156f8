//! Decides what is to be done with a host request.
//!
//! | output | request |
//! |---|---|
//! | `push` | memory write of 16 whole dwords to one half of a push window |
//! | `board` | memory read of one dword, or memory write of one whole dword, in the board window |
//! | `write` | any other memory write of 1 to 16 dwords, outside the board window |
//! | `read` | memory read of 1 to 16 dwords outside the board window, or of no byte |
//! | `ignore` | any other posted request, and every packet that the hard block discontinued |
//! | `refuse` | any other non-posted request |
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Exactly one of `push`, `board`, `write`, `read`, `refuse` and `ignore` is high.
//!
//! Source: PG213, completer request descriptor.

use crate::completer::completer_request::HostRequest;
use abi::registers;
use stream::prelude::*;

/// The check. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(registers::DOORBELLS == 1 << 20, "decoded from bits 23:20")]
#[require(registers::DOORBELL_STRIDE == 1 << 12)]
#[require(registers::PUSH_WINDOW == 1 << 7, "two lines in bits 6")]
#[require(registers::BOARD_WINDOW == 1 << 18, "bits 23:20 are 0 and bits 19:18 are not")]
#[require(registers::BOARD_WINDOW_END == 1 << 20)]
pub struct CompleterCheck {
    /// The request to check.
    pub request: Signal<In, HostRequest>,

    /// Push a line: write 16 whole dwords to one half of a push window.
    pub push: Signal<Out, Bit>,
    /// Access the board window.
    pub board: Signal<Out, Bit>,
    /// The access of the board window is a write, else a read.
    pub board_writes: Signal<Out, Bit>,
    /// Write 1 to 16 dwords.
    pub write: Signal<Out, Bit>,
    /// Read 1 to 16 dwords.
    pub read: Signal<Out, Bit>,
    /// Reply with status Unsupported Request.
    pub refuse: Signal<Out, Bit>,
    /// Do nothing: a posted request that is not for the registers, or an invalid packet.
    pub ignore: Signal<Out, Bit>,
    /// The read names no byte.
    pub flush: Signal<Out, Bit>,
    /// Byte offset in BAR 0 of the first dword.
    pub address: Signal<Out, Bits<24>>,
    /// Number of dwords.
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
    in_board: Signal<Local, Bit>,
    is_one: Signal<Local, Bit>,
    is_whole: Signal<Local, Bit>,

    #[value(0)]
    memory_read: Constant<Bits<4>>,
    #[value(1)]
    memory_write: Constant<Bits<4>>,
    #[value(12)]
    first_message: Constant<Bits<4>>,
    #[value(16)]
    dwords_max: Constant<Bits<11>>,
    #[value(1)]
    one_dword: Constant<Bits<11>>,
    #[value(0)]
    register_bar: Constant<Bits<3>>,
    #[value(0xf)]
    all_bytes: Constant<Bits<4>>,
    #[value(u64::from(registers::DOORBELLS >> 20))]
    doorbells: Constant<Bits<4>>,
    #[value(u64::from(registers::PUSH_WINDOW >> 7))]
    push_window: Constant<Bits<5>>,
    #[value(0)]
    line_start: Constant<Bits<4>>,
}

impl Logic for CompleterCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.descriptor.next = self.request.val().descriptor;
        self.kind.next = self.descriptor.val().get_bits::<4>(75);
        self.count.next = self.descriptor.val().get_bits::<11>(64);
        self.fits.next = (self.count.val() != bits::<11>(0))
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

        self.in_board.next = (self.descriptor.val().get_bits::<4>(20) == bits::<4>(0))
            & self.descriptor.val().get_bits::<2>(18).any();
        self.is_one.next = self.count.val() == self.one_dword.val();
        self.is_whole.next = self.request.val().first_be == self.all_bytes.val();
        self.flush.next = (self.request.val().first_be == bits::<4>(0)) & self.is_one.val();
        self.push.next = false;
        self.board.next = false;
        self.board_writes.next = self.is_write.val();
        self.write.next = false;
        self.read.next = false;
        self.refuse.next = false;
        self.ignore.next = false;
        if self.request.val().discontinued {
            self.ignore.next = true;
        } else if self.is_write.val() & self.fits.val() & self.in_board.val() {
            self.board.next = self.is_one.val() & self.is_whole.val();
            self.ignore.next = !(self.is_one.val() & self.is_whole.val());
        } else if self.is_read.val() & self.fits.val() & self.in_board.val() {
            self.read.next = self.flush.val();
            self.board.next = self.is_one.val() & !self.flush.val();
            self.refuse.next = !self.is_one.val();
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
        self.address.next = bit_cast::<24, 22>(self.descriptor.val().get_bits::<22>(2)) << 2;
        self.dwords.next = self.count.val().get_bits::<5>(0);
    }
}
