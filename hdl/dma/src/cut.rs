//! Cuts a job into pieces of one TLP each.
//!
//! ```text
//!   job ──►┌────────┐──► piece   [address, cut) [cut, ...) ... [..., end)
//!  limit ─►│ Cutter │
//! by_lines►└────────┘            cuts: multiples of 128 << limit bytes, or by lines
//! ```
//! By lines a piece goes as far as its limit and the page allow, to a multiple of 64 bytes: as few
//! pieces as there can be if none may end inside a line of the host's caches.
//!
//! Timing: latency two cycles, output registered, one piece a cycle, no idle cycle between jobs.
//! `job.ready` follows `piece.ready` in the same cycle.
//!
//! Invariants:
//! 1. The pieces of a job are contiguous, in rising order, and cover exactly its bytes.
//! 2. No piece is longer than its limit, crosses a page or, but for the last, ends inside a line.
//!    If not cut by lines, none crosses a multiple of its limit either.
//!
//! Source: PCI Express Base 3.0, 2.2.7 (no request crosses 4 KiB).

use crate::request::{CutJob, Piece};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Cutter {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the job at hand.
    pub reset: Signal<In, Bit>,

    /// Jobs in.
    pub job: MessageSink<CutJob>,
    /// Pieces out.
    pub piece: MessageSource<Piece>,
    /// Longest piece: 128 << limit bytes, 0 to 3.
    pub limit: Signal<In, Bits<2>>,
    /// Cut at the last line inside the limit, not at its multiples.
    pub by_lines: Signal<In, Bit>,

    busy: DFF<Bit>,
    first: DFF<Bit>,
    address: DFF<Bits<64>>,
    bytes: DFF<Bits<16>>,
    relaxed: DFF<Bit>,
    client: DFF<Bits<2>>,
    full: DFF<Bit>,
    stage: DFF<Piece>,

    lines: Signal<Local, Bits<7>>,
    low_lines: Signal<Local, Bits<7>>,
    line: Signal<Local, Bits<7>>,
    from: Signal<Local, Bits<7>>,
    end_line: Signal<Local, Bits<7>>,
    cut: Signal<Local, Bits<13>>,
    room_in_page: Signal<Local, Bits<13>>,
    room: Signal<Local, Bits<11>>,
    page: Signal<Local, Bits<52>>,
    is_last: Signal<Local, Bit>,
    piece_bytes: Signal<Local, Bits<11>>,
    bytes_after: Signal<Local, Bits<16>>,
    address_after: Signal<Local, Bits<64>>,
    take_piece: Signal<Local, Bit>,
    take_job: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    result: Signal<Local, Piece>,
}

impl Logic for Cutter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, first, address, bytes, relaxed, client, full, stage);

        // In lines of 64 bytes within the page, which ends at line 64.
        self.lines.next = bits::<7>(2) << self.limit.val();
        self.low_lines.next = self.lines.val() - 1;
        self.line.next = bit_cast::<7, 6>(self.address.q.val().get_bits::<6>(6));
        self.from.next = self.line.val() & !self.low_lines.val();
        if self.by_lines.val() {
            self.from.next = self.line.val();
        }
        self.end_line.next = self.from.val() + self.lines.val();
        self.cut.next = bit_cast::<13, 7>(self.end_line.val()) << 6;
        if self.end_line.val().get_bit(6) {
            self.cut.next = 4096.into();
        }
        self.room_in_page.next =
            self.cut.val() - bit_cast::<13, 12>(self.address.q.val().get_bits::<12>(0));
        self.room.next = bit_cast::<11, 13>(self.room_in_page.val());
        self.is_last.next = self.bytes.q.val() <= bit_cast::<16, 11>(self.room.val());
        self.piece_bytes.next = self.room.val();
        if self.is_last.val() {
            self.piece_bytes.next = bit_cast::<11, 16>(self.bytes.q.val());
        }
        self.bytes_after.next = self.bytes.q.val() - bit_cast::<16, 11>(self.room.val());
        self.page.next = self.address.q.val().get_bits::<52>(12);
        if self.end_line.val().get_bit(6) {
            self.page.next = self.address.q.val().get_bits::<52>(12) + 1;
        }
        self.address_after.next = (bit_cast::<64, 52>(self.page.val()) << 12)
            | bit_cast::<64, 12>(self.cut.val().get_bits::<12>(0));

        self.result.next.address = self.address.q.val();
        self.result.next.bytes = self.piece_bytes.val();
        self.result.next.first = self.first.q.val();
        self.result.next.last = self.is_last.val();
        self.result.next.relaxed = self.relaxed.q.val();
        self.result.next.client = self.client.q.val();
        self.has_room.next = !self.full.q.val() | self.piece.ready.val();
        if self.has_room.val() {
            self.full.d.next = self.busy.q.val();
            self.stage.d.next = self.result.val();
        }
        self.piece.payload.next = self.stage.q.val();
        self.piece.valid.next = self.full.q.val();

        self.take_piece.next = self.busy.q.val() & self.has_room.val();
        self.take_job.next =
            !self.reset.val() & (!self.busy.q.val() | (self.take_piece.val() & self.is_last.val()));
        self.job.ready.next = self.take_job.val();
        if self.take_piece.val() {
            self.address.d.next = self.address_after.val();
            self.bytes.d.next = self.bytes_after.val();
            self.first.d.next = false;
            self.busy.d.next = !self.is_last.val();
        }
        if self.take_job.val() & self.job.valid.val() {
            self.address.d.next = self.job.payload.val().address;
            self.bytes.d.next = self.job.payload.val().bytes;
            self.relaxed.d.next = self.job.payload.val().relaxed;
            self.client.d.next = self.job.payload.val().client;
            self.first.d.next = true;
            self.busy.d.next = true;
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.full.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_of(
        (address, bytes): (u64, u64),
        limit: u64,
        by_lines: bool,
    ) -> Vec<(u64, u64, bool, bool)> {
        let mut dut = Cutter::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut pieces = Vec::new();
        dut.limit.next = limit.into();
        dut.by_lines.next = by_lines;
        dut.piece.ready.next = true;
        dut.job.payload.next = CutJob {
            address: address.into(),
            bytes: bytes.into(),
            ..CutJob::default()
        };
        dut.job.valid.next = true;
        for _ in 0..200 {
            dut.clock.next = Clock { clk: false };
            assert!(simulate(&mut dut, 20));
            if dut.piece.valid.val() {
                let piece = dut.piece.payload.val();
                let (at, count) = (piece.address.to_u64(), piece.bytes.to_u64());
                pieces.push((at, count, piece.first, piece.last));
                if piece.last {
                    return pieces;
                }
                dut.job.valid.next = false;
            }
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        panic!("no last piece: {pieces:?}");
    }

    /// Address and bytes.
    const JOBS: [(u64, u64); 9] = [
        (0, 1),
        (0x1234_5678_9abc_dfff, 2),
        (0xffff_f001, 4096),
        (0x3fd, 1448),
        (0x1fc1, 1448),
        (127, 129),
        (0xfc0, 64),
        (0xfff, 2),
        (0x1_0000_0000, 16_384),
    ];

    /// Checks what holds for every cut; gives the pieces' addresses and bytes.
    fn checked(job: (u64, u64), limit: u64, by_lines: bool) -> Vec<(u64, u64)> {
        let pieces = pieces_of(job, limit, by_lines);
        let mut next = job.0;
        for (index, (at, count, first, last)) in pieces.iter().enumerate() {
            assert_eq!(*at, next);
            assert!(*count <= 128 << limit && at % 4096 + count <= 4096);
            assert_eq!(*first, index == 0);
            assert_eq!(*last, index + 1 == pieces.len());
            next = at + count;
            assert!(*last || next.is_multiple_of(64), "{next:#x}");
        }
        assert_eq!(next, job.0 + job.1);
        pieces.iter().map(|piece| (piece.0, piece.1)).collect()
    }

    #[test]
    fn pieces_cover_the_job_and_keep_to_boundaries() {
        for limit in 0..4 {
            for job in JOBS {
                let boundary = 128u64 << limit;
                for (at, count) in checked(job, limit, false) {
                    assert!(at % boundary + count <= boundary, "{at:#x} {count}");
                }
            }
        }
    }

    /// Each piece but the last could not have reached the next line.
    #[test]
    fn by_lines_there_are_as_few_pieces_as_can_be() {
        for limit in 0..4 {
            for job in JOBS {
                let pieces = checked(job, limit, true);
                for (at, count) in &pieces[..pieces.len() - 1] {
                    let is_full = count + 64 > 128 << limit;
                    let ends_page = (at + count).is_multiple_of(4096);
                    assert!(is_full || ends_page, "{at:#x} {count}");
                }
            }
        }
        assert_eq!(checked((0x3fd, 1448), 1, true).len(), 6);
        assert_eq!(checked((0x3fd, 1448), 1, false).len(), 7);
    }
}
