//! Tests of `dma::cutter`.

use dma::cutter::*;
use dma::messages::CutJob;
use stream::prelude::*;

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
    dut.job.payload.next =
        CutJob { address: address.into(), bytes: bytes.into(), ..CutJob::default() };
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

/// Checks the invariants that hold for every cut; returns address and length of the pieces.
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
fn pieces_cover_job_within_boundaries() {
    for limit in 0..4 {
        for job in JOBS {
            let boundary = 128u64 << limit;
            for (at, count) in checked(job, limit, false) {
                assert!(at % boundary + count <= boundary, "{at:#x} {count}");
            }
        }
    }
}

/// No piece except the last could have reached the next line.
#[test]
fn lines_need_fewest_possible_pieces() {
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
