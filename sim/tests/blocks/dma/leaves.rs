//! The arithmetic of the requester means the same in Rust and in Verilog, and what its contract
//! says.
//!
//! ```text
//!   random inputs ──┬──► rust-hdl simulation ──┐
//!                   ├──► Verilator ────────────┴─ every output equal
//!                   └──► the contract, written out here ── the outputs that it defines, equal
//! ```

use std::collections::VecDeque;

use super::support::twin::{wide, Twin};
use dma::byte_enables::ByteEnables;
use dma::messages::Piece;
use dma::read::completion_credit::{CompletionCredit, CreditAccount, ReadCredit};
use dma::read::messages::ReadRecord;
use dma::read::rc_descriptor::{DescriptorCheck, DescriptorRead};
use dma::read::rc_split::{LaneMask, RcMarks, RcStart};
use ip::completion_buffer::CompletionBuffer;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use seed::{enough, seed};
use sim::harness::payload::bytes_of;

#[test]
fn byte_enables() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<ByteEnables>::new("byte_enables");
    for _ in 0..3000 {
        let address: u64 = random.random();
        // At most 256 dwords, and often nearly so few or so many.
        let most = 1024 - address % 4;
        let bytes = match random.random_range(0..4) {
            0 => random.random_range(1..=9),
            1 => random.random_range(most - 8..=most),
            _ => random.random_range(1..=most),
        };
        twin.set("address", address.to_bits(), |b| &mut b.address);
        twin.set("bytes", bytes.to_bits(), |b| &mut b.bytes);
        twin.settle();
        twin.check("dword_address", |b| b.dword_address.val());
        twin.check("dwords", |b| b.dwords.val());
        twin.check("first_be", |b| b.first_be.val());
        twin.check("last_be", |b| b.last_be.val());
        // Which bytes of a dword the request has.
        let dwords = (address % 4 + bytes).div_ceil(4);
        let enables = |dword: u64| -> u64 {
            let has = |byte: u64| (4 * dword + byte).wrapping_sub(address % 4) < bytes;
            (0..4).map(|byte| u64::from(has(byte)) << byte).sum()
        };
        let last = if dwords == 1 { 0 } else { enables(dwords - 1) };
        assert_eq!(twin.rust.dword_address.val().to_u64(), address & !3);
        assert_eq!(twin.rust.dwords.val().to_u64(), dwords);
        assert_eq!(twin.rust.first_be.val().to_u64(), enables(0));
        assert_eq!(twin.rust.last_be.val().to_u64(), last);
    }
}

#[test]
fn lane_mask() {
    let mut twin = Twin::<LaneMask>::new("lane_mask");
    for lane in 0..16u64 {
        for dwords in 0..=16u64 {
            twin.set("lane", lane.to_bits(), |b| &mut b.lane);
            twin.set("dwords", dwords.to_bits(), |b| &mut b.dwords);
            twin.settle();
            twin.check("mask", |b| b.mask.val());
            let ones = ((1u32 << dwords) - 1) << lane;
            assert_eq!(twin.rust.mask.val().to_u32(), (ones | ones >> 16) & 0xffff);
        }
    }
}

#[test]
fn completion_credit() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<CompletionCredit>::new("completion_credit");
    for _ in 0..3000 {
        let (address, bytes) = (random.random::<u64>(), random.random_range(1..=512u64));
        let rcb = random.random::<bool>();
        let piece = Piece { address: address.into(), bytes: bytes.into(), ..Piece::default() };
        twin.set("piece", piece, |b| &mut b.piece);
        twin.set("rcb", rcb, |b| &mut b.rcb);
        twin.settle();
        twin.check("credit", |b| b.credit.val());
        let boundary = if rcb { 128 } else { 64 };
        let headers = (address % boundary + bytes).div_ceil(boundary);
        let room = twin.rust.credit.val();
        assert_eq!(room.headers.to_u64(), headers);
        assert_eq!(room.data.to_u64(), (address % 16 + bytes).div_ceil(16));
    }
}

/// Reads of random sizes, which come back now and then: what is in use never exceeds the room, and
/// a read that fits waits for one cycle at most.
#[test]
fn credit_account() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<CreditAccount>::new("credit_account");
    let all = CompletionBuffer::default();
    let read = |random: &mut SmallRng| {
        let data = random.random_range(1..=33u32);
        (data.div_ceil(4), data)
    };
    let (mut wanted, mut behind) = (None, read(random));
    let mut in_flight = VecDeque::new();
    let (mut used, mut waits, mut taken, mut full) = ((0, 0), 0, 0, 0);
    for cycle in 0..20_000 {
        // Long phases of few and of many that come back.
        let is_slow = cycle / 500 % 2 == 0;
        let returns = random.random_ratio(if is_slow { 1 } else { 7 }, 8);
        let returned = match returns {
            true => in_flight.pop_front().unwrap_or((0, 0)),
            false => (0, 0),
        };
        let room = |(headers, data): (u32, u32)| ReadCredit {
            headers: headers.to_bits(),
            data: data.to_bits(),
        };
        twin.set("clock", Clock { clk: false }, |b| &mut b.clock);
        twin.set("reset", cycle < 2, |b| &mut b.reset);
        twin.set("is_wanted", wanted.is_some(), |b| &mut b.is_wanted);
        twin.set("wanted", room(wanted.unwrap_or((0, 0))), |b| &mut b.wanted);
        twin.set("following", room(behind), |b| &mut b.following);
        twin.set("give_back_headers", returned.0.to_bits(), |b| &mut b.give_back_headers);
        twin.set("give_back_data", returned.1.to_bits(), |b| &mut b.give_back_data);
        twin.set("take", false, |b| &mut b.take);
        twin.settle();
        twin.check("fits", |b| b.fits.val());
        let takes = cycle >= 2 && wanted.is_some() && twin.rust.fits.val();
        let after = wanted.map(|(headers, data)| (used.0 + headers, used.1 + data));
        let has_room = after.is_some_and(|it| it.0 <= all.headers && it.1 <= all.data);
        waits = if cycle >= 2 && has_room && !takes { waits + 1 } else { 0 };
        assert!(waits <= 1, "cycle {cycle}: it fits and waits");
        full += usize::from(cycle >= 2 && wanted.is_some() && !has_room);
        twin.set("take", takes, |b| &mut b.take);
        twin.settle();
        if let (true, Some(read), Some(sum)) = (takes, wanted, after) {
            assert!(has_room, "cycle {cycle}: {used:?} in use, {read:?} goes");
            used = sum;
            in_flight.push_back(read);
            taken += 1;
        }
        if takes || wanted.is_none() {
            wanted = random.random_ratio(7, 8).then_some(behind);
            if wanted.is_some() {
                behind = read(random);
            }
        }
        used = (used.0 - returned.0, used.1 - returned.1);
        twin.set("clock", Clock { clk: true }, |b| &mut b.clock);
        twin.settle();
        twin.check("headers_level", |b| b.headers_level.val());
        twin.check("data_level", |b| b.data_level.val());
        if cycle >= 2 {
            assert_eq!(twin.rust.headers_level.val().to_u32(), used.0);
            assert_eq!(twin.rust.data_level.val().to_u32(), used.1);
        }
    }
    enough("reads taken", taken, 5_000);
    enough("cycles without room", full as u64, 1_000);
}

/// Whether a completion continues its request: the contract of the check.
fn continues(low: u64, next: u64, remaining: u64) -> bool {
    let field = |at: u32, bits: u32| low >> at & ((1 << bits) - 1);
    let (lower, error, count) = (field(0, 12), field(12, 4), field(16, 13));
    let (is_last, dwords, status) = (field(30, 1) == 1, field(32, 11), field(43, 3));
    let is_poisoned = field(46, 1) == 1;
    let needed = (lower % 4 + remaining).div_ceil(4);
    error == 0
        && status == 0
        && !is_poisoned
        && lower == next
        && count == remaining
        && (1..=needed).contains(&dwords)
        && (!is_last || dwords == needed)
}

#[test]
fn descriptor_check() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut reader = Twin::<DescriptorRead>::new("descriptor_read");
    let mut twin = Twin::<DescriptorCheck>::new("descriptor_check");
    let mut good = 0;
    for _ in 0..6000 {
        // Mostly what belongs to the request, with one bit flipped in every other case.
        let (address, bytes) = (random.random_range(0..4096u64), random.random_range(1..=512u64));
        let received = random.random_range(0..bytes);
        let next = (address + received) % 4096;
        let needed = (next % 4 + bytes - received).div_ceil(4);
        // All of the rest, a part of it, or one more.
        let is_last = random.random::<bool>();
        let dwords = match random.random_range(0..8) {
            0 => needed + 1,
            1 => needed - 1,
            _ if is_last => needed,
            _ => random.random_range(1..=needed),
        };
        let mut low = next | (bytes - received) << 16 | u64::from(is_last) << 30 | dwords << 32;
        if random.random() {
            low ^= 1 << random.random_range(0..47);
        }
        let record = ReadRecord {
            end: ((address + bytes) % 4096).into(),
            bytes: bytes.into(),
            base: random.random_range(0..512u64).into(),
        };
        let descriptor = bit_cast::<96, 64>(low.to_bits());
        reader.set("descriptor", descriptor, |b| &mut b.descriptor);
        reader.settle();
        reader.check("announced", |b| b.announced.val());
        let announced = reader.rust.announced.val();
        assert_eq!(announced.dwords.to_u64(), low >> 32 & 0x7ff);
        twin.set("descriptor", descriptor, |b| &mut b.descriptor);
        twin.set("announced", announced, |b| &mut b.announced);
        twin.set("record", record, |b| &mut b.record);
        let remaining = bytes - received;
        twin.set("remaining", remaining.to_bits(), |b| &mut b.remaining);
        twin.settle();
        twin.check("good", |b| b.good.val());
        twin.check("remaining_after", |b| b.remaining_after.val());
        let is_good = continues(low, next, remaining);
        assert_eq!(twin.rust.good.val(), is_good, "{low:#x}, {remaining} left");
        if is_good {
            let left = (next % 4 + remaining).saturating_sub(4 * (low >> 32 & 0x7ff));
            assert_eq!(twin.rust.remaining_after.val().to_u64(), left, "{low:#x}");
            good += 1;
        }
    }
    assert!((2000..4000).contains(&good), "{good} of 6,000 were good");
}

#[test]
fn start_of_a_completion() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<RcStart>::new("rc_start");
    let mut ended = 0;
    for _ in 0..2000 {
        let data = wide::<512>(random);
        twin.set("data", data, |b| &mut b.data);
        let [starts, quarters, ends] = [4, 8, 4].map(|bits| random.random_range(0..1u64 << bits));
        let end_at: u64 = random.random_range(0..1 << 16);
        let marks = RcMarks {
            starts: starts.into(),
            quarters: quarters.into(),
            ends: ends.into(),
            end_at: end_at.into(),
            discontinue: random.random(),
        };
        let is_inside: bool = random.random();
        twin.set("marks", marks, |b| &mut b.marks);
        twin.set("is_inside", is_inside, |b| &mut b.is_inside);
        twin.settle();
        twin.check("part", |b| b.part.val());
        twin.check("descriptor", |b| b.descriptor.val());
        // Three dwords of descriptor from the quarter on, then payload up to the end or the last
        // dword. If the beat begins inside a completion, the first end is of that one.
        let part = twin.rust.part.val();
        let quarter = (quarters % 4) as usize;
        let descriptor = bytes_of(twin.rust.descriptor.val());
        assert_eq!(descriptor[..], bytes_of(data)[16 * quarter..16 * quarter + 12]);
        assert_eq!(part.present, starts & 1 == 1);
        let of = u32::from(is_inside);
        let ends_here = ends >> of & 1 == 1;
        assert_eq!(part.ends, ends_here);
        let first = 4 * quarter as u64 + 3;
        let end = if ends_here { (end_at >> (4 * of) & 15) + 1 } else { 16 };
        // An end before the payload is none of this completion.
        if end < first {
            continue;
        }
        ended += u64::from(ends_here);
        let lane = u64::from(descriptor[0] >> 2) % 16;
        assert_eq!(part.dwords.to_u64(), end - first);
        assert_eq!(part.lane.to_u64(), lane);
        assert_eq!((part.rotate.to_u64() + lane) % 16, first);
        let lanes = (0..end - first).map(|dword| 1 << ((lane + dword) % 16));
        assert_eq!(part.mask.to_u64(), lanes.sum::<u64>());
    }
    enough("completions that end in their beat", ended, 200);
}
