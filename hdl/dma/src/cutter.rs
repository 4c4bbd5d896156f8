//! Cuts a job into pieces of one TLP each.
//!
//! ```text
//!   job ──►┌────────┐──► piece   [address, cut) [cut, ...) ... [..., end)
//!  limit ─►│ Cutter │
//! by_lines►└────────┘            cuts: multiples of 128 << limit bytes, or by lines
//! ```
//! If cut by lines, a piece goes as far as its limit and the page allow, up to a multiple of 64
//! bytes: this gives the fewest pieces of which none ends inside a cache line of the host.
//!
//! The registers count bytes from the start of the job's current page (4 KiB): where the current
//! piece begins and is cut, and where the job ends.
//!
//! Timing: latency two cycles, one piece per cycle, no idle cycle between jobs. `piece` is a
//! register; `job.ready` follows `piece.ready` in the same cycle.
//!
//! Invariants:
//! 1. The pieces of a job are contiguous, in rising order, and cover exactly its bytes.
//! 2. No piece is longer than its limit, crosses a page or, except for the last, ends inside a
//!    line.
//! 3. If not cut by lines, no piece crosses a multiple of its limit either.
//!
//! Source: PCI Express Base 3.0, 2.2.7 (no request crosses 4 KiB).

use crate::messages::{CutJob, Piece};
use stream::prelude::*;

/// End of the first piece of a job and end of the job, counted from the start of its first page.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct FirstCut {
    /// Bus address of the first byte of the job.
    pub address: Signal<In, Bits<64>>,
    /// Length of the job, 1 to 16,384.
    pub bytes: Signal<In, Bits<16>>,
    /// Length limit of a piece in lines of 64 bytes.
    pub lines: Signal<In, Bits<7>>,
    /// Cut at the last line within the limit; otherwise at multiples of the limit.
    pub by_lines: Signal<In, Bit>,
    /// Line of the page before which the first piece is cut, at most 64, which is the end of the
    /// page.
    pub line: Signal<Out, Bits<7>>,
    /// Byte after the last one of the job, counted from the start of its first page.
    pub job_end: Signal<Out, Bits<15>>,

    start: Signal<Local, Bits<7>>,
    cut: Signal<Local, Bits<7>>,
}

impl Logic for FirstCut {
    #[hdl_gen]
    fn update(&mut self) {
        self.start.next = bit_cast::<7, 6>(self.address.val().get_bits::<6>(6));
        self.cut.next = (self.start.val() | (self.lines.val() - 1)) + 1;
        if self.by_lines.val() {
            self.cut.next = self.start.val() + self.lines.val();
        }
        self.line.next = self.cut.val();
        if self.cut.val().get_bit(6) {
            self.line.next = 64.into();
        }
        self.job_end.next = bit_cast::<15, 16>(self.bytes.val())
            + bit_cast::<15, 12>(self.address.val().get_bits::<12>(0));
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Cutter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the current job and the piece that is offered.
    pub reset: Signal<In, Bit>,

    /// Jobs to cut.
    pub job: MessageSink<CutJob>,
    /// Pieces of the jobs, in order.
    pub piece: MessageSource<Piece>,
    /// Length limit of a piece: 128 << limit bytes. It must not change while a job is cut.
    pub limit: Signal<In, Bits<2>>,
    /// Cut at the last line within the limit; otherwise at multiples of the limit.
    pub by_lines: Signal<In, Bit>,

    first_cut: FirstCut,
    busy: DFF<Bit>,
    first: DFF<Bit>,
    page: DFF<Bits<52>>,
    start: DFF<Bits<12>>,
    cut_line: DFF<Bits<7>>,
    job_end: DFF<Bits<15>>,
    job_held: DFF<CutJob>,
    full: DFF<Bit>,
    stage: DFF<Piece>,

    lines: Signal<Local, Bits<7>>,
    job_address: Signal<Local, Bits<64>>,
    cut_after: Signal<Local, Bits<7>>,
    cut: Signal<Local, Bits<15>>,
    cut_to: Signal<Local, Bits<15>>,
    is_last: Signal<Local, Bit>,
    take_piece: Signal<Local, Bit>,
    take_job: Signal<Local, Bit>,
    has_space: Signal<Local, Bit>,
    result: Signal<Local, Piece>,
}

impl Logic for Cutter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, first, page, start, cut_line);
        dff_setup!(self, clock, job_end, job_held, full, stage);

        // The current piece ends at the cut or, if that comes first, at the end of the job.
        self.cut.next = bit_cast::<15, 7>(self.cut_line.q.val()) << 6;
        self.is_last.next = self.job_end.q.val() <= self.cut.val();
        self.cut_to.next = self.cut.val();
        if self.is_last.val() {
            self.cut_to.next = self.job_end.q.val();
        }
        self.result.next.address =
            (bit_cast::<64, 52>(self.page.q.val()) << 12) | bit_cast::<64, 12>(self.start.q.val());
        self.result.next.bytes =
            bit_cast::<11, 15>(self.cut_to.val()) - bit_cast::<11, 12>(self.start.q.val());
        self.result.next.first = self.first.q.val();
        self.result.next.last = self.is_last.val();
        self.result.next.relaxed = self.job_held.q.val().relaxed;
        self.result.next.shares = self.job_held.q.val().shares;
        self.result.next.client = self.job_held.q.val().client;
        self.has_space.next = !self.full.q.val() | self.piece.ready.val();
        if self.has_space.val() {
            self.full.d.next = self.busy.q.val();
            self.stage.d.next = self.result.val();
        }
        self.piece.payload.next = self.stage.q.val();
        self.piece.valid.next = self.full.q.val();

        // Cuts are counted in lines of 64 bytes within the page, which ends at line 64. A piece
        // that begins at a cut has the full number of lines, in either way of cutting.
        self.lines.next = bits::<7>(2) << self.limit.val();
        self.job_address.next = self.job.payload.val().address;
        self.first_cut.address.next = self.job_address.val();
        self.first_cut.bytes.next = self.job.payload.val().bytes;
        self.first_cut.lines.next = self.lines.val();
        self.first_cut.by_lines.next = self.by_lines.val();
        self.cut_after.next = self.cut_line.q.val() + self.lines.val();

        self.take_piece.next = self.busy.q.val() & self.has_space.val();
        self.take_job.next =
            !self.reset.val() & (!self.busy.q.val() | (self.has_space.val() & self.is_last.val()));
        self.job.ready.next = self.take_job.val();
        if self.take_piece.val() {
            self.start.d.next = bit_cast::<12, 15>(self.cut.val());
            self.cut_line.d.next = self.cut_after.val();
            if self.cut_after.val().get_bit(6) {
                self.cut_line.d.next = 64.into();
            }
            if self.cut_line.q.val().get_bit(6) {
                self.page.d.next = self.page.q.val() + 1;
                self.cut_line.d.next = self.lines.val();
                self.job_end.d.next = self.job_end.q.val() - 4096;
            }
            self.first.d.next = false;
            self.busy.d.next = !self.is_last.val();
        }
        if self.take_job.val() {
            self.page.d.next = self.job_address.val().get_bits::<52>(12);
            self.start.d.next = self.job_address.val().get_bits::<12>(0);
            self.cut_line.d.next = self.first_cut.line.val();
            self.job_end.d.next = self.first_cut.job_end.val();
            self.job_held.d.next = self.job.payload.val();
            self.first.d.next = true;
            self.busy.d.next = self.job.valid.val();
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.full.d.next = false;
        }
    }
}
