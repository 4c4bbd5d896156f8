//! The configuration port of the device, as registers: which image is loaded, and what was loaded.
//!
//! ```text
//!   COMMAND ──► one of two programs ──► select, reads, word ══ ICAPE3
//!   STATUS, BOOT_STATUS ◄─────────────────────── word ═══════════╝
//! ```
//! Timing: a reply one cycle after its access. A word is four cycles long. The words of a load
//! begin 131 us after its command, so that the reply reaches the host first.
//!
//! Invariants:
//! 1. The port gets no word but those of the programs: a load of the golden or of the user's slot,
//!    a read of BOOTSTS. No other register of the device is written or read.
//! 2. Direction changes only while the port is not selected.
//!
//! On error: STATUS says that the last command was refused.
//!
//! Source: `abi::window`; UG570 (IPROG using ICAP; WBSTAR holds address bits 31:8 of a flash with
//! addresses of 32 bits; registers CMD, WBSTAR, BOOTSTS).

use crate::description::FlashPlan;
use crate::window::access::{WindowAccess, WindowReply};
use abi::window::PortOperation;
use stream::prelude::*;

/// The end of the device's port.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct PortLines {
    /// The port is selected.
    pub select: Signal<Out, Bit>,
    /// It is read; otherwise written.
    pub reads: Signal<Out, Bit>,
    /// Word to write.
    pub word: Signal<Out, Bits<32>>,
    /// Word read.
    pub read_word: Signal<In, Bits<32>>,
}

/// Steps of both programs.
const STEPS: usize = 32;
/// Step that a load of an image begins with.
const LOAD: usize = 1;
/// Step of a load that gives the address.
const LOAD_ADDRESS: usize = 5;
/// Last step of a load.
const LOAD_LAST: usize = 8;
/// Step that a read of BOOTSTS begins with.
const READ: usize = 9;
/// Steps in which the direction is that of a read.
const READING: std::ops::Range<usize> = 17..26;
/// Step at whose end the word has come: seven clocks of the port after it was selected.
const READ_WORD: usize = 24;
/// Last step of a read.
const READ_LAST: usize = 31;

const DUMMY: u64 = 0xffff_ffff;
const SYNC: u64 = 0xaa99_5566;
const NONE: u64 = 0x2000_0000;
const WRITE_ADDRESS: u64 = 0x3002_0001;
const WRITE_COMMAND: u64 = 0x3000_8001;
const READ_BOOT_STATUS: u64 = 0x2802_c001;
const LOAD_COMMAND: u64 = 0x0f;
const LEAVE_COMMAND: u64 = 0x0d;

/// The word of a step.
const fn word(step: usize) -> u64 {
    match step {
        LOAD | READ => DUMMY,
        2 | 10 => SYNC,
        4 => WRITE_ADDRESS,
        6 | 27 => WRITE_COMMAND,
        7 => LOAD_COMMAND,
        12 => READ_BOOT_STATUS,
        28 => LEAVE_COMMAND,
        _ => NONE,
    }
}

/// Bit n: step n has it.
fn steps(has: impl Fn(usize) -> bool) -> u64 {
    (0..STEPS).fold(0, |all, step| all | u64::from(has(step)) << step)
}

/// Whether the port is selected: not beside a change of direction.
fn is_selected(step: usize) -> bool {
    let (first, end) = (READING.start, READING.end);
    ![0, first - 1, first, end - 1, end].contains(&step)
}

/// The port of a device with flash chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct ConfigurationPort {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The device's port.
    pub lines: PortLines,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    command: DFF<Bits<32>>,
    refused: DFF<Bit>,
    boot_status: DFF<Bits<32>>,
    loads: DFF<Bit>,
    waited: DFF<Bits<15>>,
    /// Step under way; 0: none.
    step: DFF<Bits<5>>,
    cycle: DFF<Bits<2>>,
    selected: DFF<Bit>,
    reading: DFF<Bit>,
    out: DFF<Bits<32>>,

    address: Signal<Local, Bits<20>>,
    at: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    is_load: Signal<Local, Bit>,
    is_read: Signal<Local, Bit>,
    is_busy: Signal<Local, Bit>,
    has_waited: Signal<Local, Bit>,
    ends_step: Signal<Local, Bit>,
    image: Signal<Local, Bits<32>>,
    #[value(|step| word(step))]
    words: [Constant<Bits<32>>; STEPS],
    #[value(|step| step as u64)]
    numbers: [Constant<Bits<5>>; STEPS],
    #[value(steps(is_selected))]
    selects: Constant<Bits<32>>,
    #[value(steps(|step| READING.contains(&step)))]
    reads: Constant<Bits<32>>,
    #[value(u64::from(plan.golden_bytes >> 8))]
    golden: Constant<Bits<32>>,
    #[value(u64::from(plan.slot_bytes >> 8))]
    user: Constant<Bits<32>>,
    #[value(PortOperation::BootGolden as u64)]
    boot_golden: Constant<Bits<32>>,
    #[value(PortOperation::BootUser as u64)]
    boot_user: Constant<Bits<32>>,
    #[value(PortOperation::ReadStatus as u64)]
    read_status: Constant<Bits<32>>,
    #[value(LOAD as u64)]
    load: Constant<Bits<5>>,
    #[value(LOAD_ADDRESS as u64)]
    load_address: Constant<Bits<5>>,
    #[value(LOAD_LAST as u64)]
    load_last: Constant<Bits<5>>,
    #[value(READ as u64)]
    read_first: Constant<Bits<5>>,
    #[value(READ_WORD as u64)]
    read_word: Constant<Bits<5>>,
    #[value(READ_LAST as u64)]
    read_last: Constant<Bits<5>>,
    #[value(1)]
    one_step: Constant<Bits<5>>,
    #[value(1)]
    one_cycle: Constant<Bits<2>>,
    #[value(1)]
    one: Constant<Bits<15>>,
}

impl Logic for ConfigurationPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            valid,
            answer,
            command,
            refused,
            boot_status,
            loads,
            waited
        );
        dff_setup!(self, clock, step, cycle, selected, reading, out);
        self.address.next = self.access.payload.val().address;
        self.at.next = self.address.val().get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.is_load.next = (self.written.val() == self.boot_golden.val())
            | (self.written.val() == self.boot_user.val());
        self.is_read.next = self.written.val() == self.read_status.val();
        self.is_busy.next = self.loads.q.val() | (self.step.q.val() != bits::<5>(0));
        self.has_waited.next = self.waited.q.val().all();
        self.ends_step.next = self.cycle.q.val().all();

        if self.loads.q.val() {
            self.waited.d.next = self.waited.q.val() + self.one.val();
            if self.has_waited.val() {
                self.loads.d.next = false;
                self.step.d.next = self.load.val();
            }
        }
        self.cycle.d.next = self.cycle.q.val() + self.one_cycle.val();
        if self.ends_step.val() & (self.step.q.val() != bits::<5>(0)) {
            self.step.d.next = self.step.q.val() + self.one_step.val();
            if (self.step.q.val() == self.load_last.val())
                | (self.step.q.val() == self.read_last.val())
            {
                self.step.d.next = bits::<5>(0);
            }
            if self.step.q.val() == self.read_word.val() {
                self.boot_status.d.next = self.lines.read_word.val();
            }
        }
        if self.access.valid.val()
            & self.access.payload.val().write
            & (self.at.val() == bits::<10>(0))
        {
            self.refused.d.next = self.is_busy.val() | !(self.is_load.val() | self.is_read.val());
            if !self.is_busy.val() & (self.is_load.val() | self.is_read.val()) {
                self.command.d.next = self.written.val();
                self.loads.d.next = self.is_load.val();
                self.cycle.d.next = bits::<2>(0);
                self.waited.d.next = bits::<15>(0);
                if self.is_read.val() {
                    self.step.d.next = self.read_first.val();
                }
            }
        }

        self.image.next = self.golden.val();
        if self.command.q.val() == self.boot_user.val() {
            self.image.next = self.user.val();
        }
        self.out.d.next = bits::<32>(0);
        for i in 0..32 {
            if self.step.q.val() == self.numbers[i].val() {
                self.out.d.next = self.words[i].val();
            }
        }
        if self.step.q.val() == self.load_address.val() {
            self.out.d.next = self.image.val();
        }
        self.selected.d.next = self.selects.val().get_bit(self.step.q.val().index());
        self.reading.d.next = self.reads.val().get_bit(self.step.q.val().index());
        self.lines.select.next = self.selected.q.val();
        self.lines.reads.next = self.reading.q.val();
        self.lines.word.next = self.out.q.val();

        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.at.val() == bits::<10>(0) {
            self.answer.d.next.data = self.command.q.val();
        } else if self.at.val() == bits::<10>(1) {
            self.answer.d.next.data = bit_cast::<32, 1>(self.is_busy.val().into())
                | (bit_cast::<32, 1>(self.refused.q.val().into()) << 1);
        } else if self.at.val() == bits::<10>(2) {
            self.answer.d.next.data = self.boot_status.q.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
