//! Completion timeout: finds the read that has waited too long.
//!
//! ```text
//!   issue ──► start time by tag ──┐
//!   [scan_tag: 0, 1, ... 255] ────┴──► age in eighths of the timeout ──► [expired, expired_tag]
//! ```
//! Timing: one tag is scanned in each cycle; `expired` comes one cycle after its tag was scanned. A
//! timeout is found between `timeout_cycles` and 1.25 `timeout_cycles` + 256 cycles after the
//! issue.
//!
//! Source: PG213, tag management for non-posted transactions (client managed).

use crate::read::tag::{Tag, TAG_BITS};
use stream::prelude::*;

/// Least completion timeout: every tag is scanned before its age wraps.
pub const TIMEOUT_CYCLES_MIN: u32 = 4 << TAG_BITS;

/// The block. See the module's head.
///
/// A read is given up after `timeout_cycles`, at least [`TIMEOUT_CYCLES_MIN`].
#[derive(LogicBlock, BlockDefault)]
#[new(timeout_cycles: u32)]
#[require(timeout_cycles >= TIMEOUT_CYCLES_MIN, "timeout of {timeout_cycles} cycles")]
pub struct TagTimer {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// Tag that is scanned in this cycle.
    pub scan_tag: Signal<Out, Tag>,
    /// The read of the scanned tag waits for completions; combinational reply.
    pub scan_waits: Signal<In, Bit>,

    /// The read of the tag scanned one cycle before had waited too long. It may have ended since.
    pub expired: Signal<Out, Bit>,
    /// Tag scanned one cycle before.
    pub expired_tag: Signal<Out, Tag>,

    started: LutRam<Bits<4>, TAG_BITS>,
    prescaler: DFF<Bits<32>>,
    now: DFF<Bits<4>>,
    scan: DFF<Tag>,
    late: DFF<Bit>,
    late_tag: DFF<Tag>,

    age: Signal<Local, Bits<4>>,
    #[value(u64::from(timeout_cycles / 8 - 1))]
    tick_last: Constant<Bits<32>>,
}

impl Logic for TagTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, prescaler, now, scan, late, late_tag);
        clock!(self, clock, started);
        self.started.write_address.next = self.issue_tag.val();
        self.started.write_data.next = self.now.q.val();
        self.started.write_enable.next = self.issue.val();

        self.prescaler.d.next = self.prescaler.q.val() + 1;
        if self.prescaler.q.val() == self.tick_last.val() {
            self.prescaler.d.next = 0.into();
            self.now.d.next = self.now.q.val() + 1;
        }
        self.scan.d.next = self.scan.q.val() + 1;
        self.started.read_address.next = self.scan.q.val();
        self.age.next = self.now.q.val() - self.started.read_data.val();
        self.scan_tag.next = self.scan.q.val();
        // The eighth in which the read began may have been almost over, hence nine.
        self.late.d.next = self.scan_waits.val() & (self.age.val() >= 9);
        self.late_tag.d.next = self.scan.q.val();
        self.expired.next = self.late.q.val();
        self.expired_tag.next = self.late_tag.q.val();
    }
}
