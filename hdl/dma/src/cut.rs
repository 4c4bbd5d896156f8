//! Cuts a job at the boundaries that one TLP must not cross.
//!
//! ```text
//!   job ──►┌────────┐──► piece   [address, boundary) [boundary, ...) ... [..., end)
//!          │ Cutter │
//!  limit ─►└────────┘            boundaries: multiples of 128 << limit bytes
//! ```
//! Timing: latency two cycles, output registered, one piece a cycle, no idle cycle between jobs.
//! `job.ready` follows `piece.ready` in the same cycle.
//!
//! Invariants:
//! 1. The pieces of a job are contiguous, in rising order, and cover exactly its bytes.
//! 2. No piece crosses a multiple of its limit. Limits divide 4,096, so none crosses a page.
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
    /// Boundary: 128 << limit bytes, 0 to 3.
    pub limit: Signal<In, Bits<2>>,

    busy: DFF<Bit>,
    first: DFF<Bit>,
    address: DFF<Bits<64>>,
    bytes: DFF<Bits<16>>,
    relaxed: DFF<Bit>,
    client: DFF<Bits<2>>,
    full: DFF<Bit>,
    stage: DFF<Piece>,

    limit_bytes: Signal<Local, Bits<11>>,
    low_mask: Signal<Local, Bits<11>>,
    offset: Signal<Local, Bits<11>>,
    room: Signal<Local, Bits<11>>,
    is_last: Signal<Local, Bit>,
    piece_bytes: Signal<Local, Bits<11>>,
    bytes_after: Signal<Local, Bits<16>>,
    boundary: Signal<Local, Bits<64>>,
    take_piece: Signal<Local, Bit>,
    take_job: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    result: Signal<Local, Piece>,
}

impl Logic for Cutter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, first, address, bytes, relaxed, client, full, stage);

        self.limit_bytes.next = bits::<11>(128) << self.limit.val();
        self.low_mask.next = self.limit_bytes.val() - 1;
        self.offset.next = bit_cast::<11, 64>(self.address.q.val()) & self.low_mask.val();
        self.room.next = self.limit_bytes.val() - self.offset.val();
        self.is_last.next = self.bytes.q.val() <= bit_cast::<16, 11>(self.room.val());
        self.piece_bytes.next = self.room.val();
        if self.is_last.val() {
            self.piece_bytes.next = bit_cast::<11, 16>(self.bytes.q.val());
        }
        self.bytes_after.next = self.bytes.q.val() - bit_cast::<16, 11>(self.room.val());
        self.boundary.next = (self.address.q.val() | bit_cast::<64, 11>(self.low_mask.val())) + 1;

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
            self.address.d.next = self.boundary.val();
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

    fn pieces_of(address: u64, bytes: u64, limit: u64) -> Vec<(u64, u64, bool, bool)> {
        let mut dut = Cutter::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut pieces = Vec::new();
        dut.limit.next = limit.into();
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

    #[test]
    fn pieces_cover_the_job_and_keep_to_boundaries() {
        for limit in 0..4 {
            for (address, bytes) in [
                (0, 1),
                (0x1234_5678_9abc_dfff, 2),
                (0xffff_f001, 4096),
                (0x3fd, 1448),
                (127, 129),
                (0x1_0000_0000, 16_384),
            ] {
                let boundary = 128u64 << limit;
                let pieces = pieces_of(address, bytes, limit);
                let mut next = address;
                for (index, (at, count, first, last)) in pieces.iter().enumerate() {
                    assert_eq!(*at, next);
                    assert!(
                        at % boundary + count <= boundary,
                        "{at:#x} {count} {boundary}"
                    );
                    assert_eq!(*first, index == 0);
                    assert_eq!(*last, index + 1 == pieces.len());
                    next = at + count;
                }
                assert_eq!(next, address + bytes);
            }
        }
    }
}
