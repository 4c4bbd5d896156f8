//! The words that the device's configuration port gets, and when.
//!
//! ```text
//!   request ─┬─ load ──► wait 164 us ──► steps 1 to 8 ───┐
//!            └─ read ──────────────────► steps 9 to 33 ──┴─► select, reads, word ══ ICAPE3
//!   reply ◄── the word read, after the last step
//! ```
//! Timing: a step is a cycle of the port's clock. A request is taken, and its reply given, in the
//! cycle of its last step.
//!
//! Invariants:
//! 1. The port gets no word but those of the steps.
//! 2. Direction changes only while the port is not selected.
//! 3. One request at a time; the sink of the replies must have room.
//!
//! Source: UG570 (IPROG using ICAP; WBSTAR holds address bits 31:8 of a flash with addresses of 32
//! bits; registers CMD, WBSTAR, BOOTSTS).

use crate::description::FlashPlan;
use stream::prelude::*;

/// What the port is to do.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PortRequest {
    /// Read BOOTSTS; otherwise load an image.
    pub reads: Bit,
    /// The image is that of the user's slot; otherwise the golden one.
    pub is_user: Bit,
}

/// The end of the device's port.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PortSide"]
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

/// [`PortLines`] from the other side.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "PortLines"]
pub struct PortSide {
    /// The port is selected.
    pub select: Signal<In, Bit>,
    /// It is read; otherwise written.
    pub reads: Signal<In, Bit>,
    /// Word to write.
    pub word: Signal<In, Bits<32>>,
    /// Word read.
    pub read_word: Signal<Out, Bits<32>>,
}

/// Steps of both programs.
const STEPS: usize = 34;
/// Step that a load of an image begins with.
const LOAD: usize = 1;
/// Step of a load that gives the address.
const LOAD_ADDRESS: usize = 5;
/// Last step of a load.
const LOAD_LAST: usize = 8;
/// Step that a read of BOOTSTS begins with.
const READ: usize = 9;
/// Steps in which the direction is that of a read.
const READING: std::ops::Range<usize> = 17..28;
/// Step at whose end the word has come: seven clocks of the port after it was selected, as the pins
/// follow their step by a cycle.
const READ_WORD: usize = 26;
/// Last step of a read.
const READ_LAST: usize = 33;

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
        6 | 29 => WRITE_COMMAND,
        7 => LOAD_COMMAND,
        12 => READ_BOOT_STATUS,
        30 => LEAVE_COMMAND,
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

/// The program of a device with flash chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct PortProgram {
    /// Clock of the block and of the port, 100 MHz.
    pub clock: Signal<In, Clock>,
    /// What to do.
    pub request: MessageSink<PortRequest>,
    /// Its end: BOOTSTS where that was to be read.
    pub reply: MessageSource<Bits<32>>,
    /// The device's port.
    pub lines: PortLines,

    waits: DFF<Bit>,
    waited: DFF<Bits<14>>,
    /// Step under way; 0: none.
    step: DFF<Bits<6>>,
    came: DFF<Bits<32>>,
    selected: DFF<Bit>,
    reading: DFF<Bit>,
    out: DFF<Bits<32>>,

    is_idle: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    #[value(word)]
    words: [Constant<Bits<32>>; STEPS],
    #[value(|step| step as u64)]
    numbers: [Constant<Bits<6>>; STEPS],
    #[value(steps(is_selected))]
    selects: Constant<Bits<34>>,
    #[value(steps(|step| READING.contains(&step)))]
    reads: Constant<Bits<34>>,
    #[value(u64::from(plan.golden_bytes >> 8))]
    golden: Constant<Bits<32>>,
    #[value(u64::from(plan.slot_bytes >> 8))]
    user: Constant<Bits<32>>,
    #[value(LOAD as u64)]
    load: Constant<Bits<6>>,
    #[value(LOAD_ADDRESS as u64)]
    load_address: Constant<Bits<6>>,
    #[value(LOAD_LAST as u64)]
    load_last: Constant<Bits<6>>,
    #[value(READ as u64)]
    read_first: Constant<Bits<6>>,
    #[value(READ_WORD as u64)]
    read_word: Constant<Bits<6>>,
    #[value(READ_LAST as u64)]
    read_last: Constant<Bits<6>>,
    #[value(1)]
    one_step: Constant<Bits<6>>,
    #[value(1)]
    one: Constant<Bits<14>>,
}

impl Logic for PortProgram {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, waits, waited, step, came, selected, reading, out);
        self.is_idle.next = !self.waits.q.val() & (self.step.q.val() == bits::<6>(0));
        self.ends.next = (self.step.q.val() == self.load_last.val())
            | (self.step.q.val() == self.read_last.val());
        self.request.ready.next = self.ends.val();
        self.reply.valid.next = self.ends.val();
        self.reply.payload.next = self.came.q.val();
        if self.step.q.val() == self.read_word.val() {
            self.came.d.next = self.lines.read_word.val();
        }
        self.waited.d.next = self.waited.q.val() + self.one.val();
        if self.is_idle.val() {
            self.waited.d.next = bits::<14>(0);
            if self.request.valid.val() {
                self.waits.d.next = !self.request.payload.val().reads;
                if self.request.payload.val().reads {
                    self.step.d.next = self.read_first.val();
                }
            }
        } else if self.waits.q.val() {
            if self.waited.q.val().all() {
                self.waits.d.next = false;
                self.step.d.next = self.load.val();
            }
        } else if self.ends.val() {
            self.step.d.next = bits::<6>(0);
        } else {
            self.step.d.next = self.step.q.val() + self.one_step.val();
        }

        self.out.d.next = bits::<32>(0);
        for i in 0..34 {
            if self.step.q.val() == self.numbers[i].val() {
                self.out.d.next = self.words[i].val();
            }
        }
        if self.step.q.val() == self.load_address.val() {
            self.out.d.next = self.golden.val();
            if self.request.payload.val().is_user {
                self.out.d.next = self.user.val();
            }
        }
        self.selected.d.next = self.selects.val().get_bit(self.step.q.val().index());
        self.reading.d.next = self.reads.val().get_bit(self.step.q.val().index());
        self.lines.select.next = self.selected.q.val();
        self.lines.reads.next = self.reading.q.val();
        self.lines.word.next = self.out.q.val();
    }
}
