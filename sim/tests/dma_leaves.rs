//! The arithmetic of the requester means the same in Rust and in Verilog.
//!
//! ```text
//!   random inputs ──┬──► rust-hdl simulation ──┐
//!                   └──► Verilator ────────────┴─ every output equal
//! ```

use std::collections::VecDeque;

use dma::byte_enables::ByteEnables;
use dma::messages::{Piece, RequestTlp};
use dma::packer::beat_planner::BeatPlanner;
use dma::packer::ready_write::FittedTlp;
use dma::read::completion_credit::{CompletionCredit, CreditAccount, ReadCredit};
use dma::read::messages::ReadRecord;
use dma::read::rc_descriptor::{DescriptorCheck, DescriptorRead};
use dma::read::rc_split::{LaneMask, RcMarks, RcStart};
use ip::completion_buffer::CompletionBuffer;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use seed::seed;
use sim::harness::payload::bytes_of;
use verilate::block::design_of;
use verilate::options::Options;
use verilate::verilated::Model;

/// A block in both simulators.
struct Twin<B: Block> {
    rust: B,
    model: Model,
}

impl<B: Block + Default> Twin<B> {
    fn new(name: &str) -> Twin<B> {
        let mut rust = B::default();
        let design = design_of(&mut rust, name, Options::default()).expect("builds");
        let model = design.model();
        Twin { rust, model }
    }

    /// Sets an input of both.
    fn set<T: Synth>(
        &mut self,
        name: &str,
        value: T,
        input: impl Fn(&mut B) -> &mut Signal<In, T>,
    ) {
        self.model
            .set_bytes(self.model.port(name), &bytes_of(value));
        input(&mut self.rust).next = value;
    }

    fn settle(&mut self) {
        self.model.eval();
        assert!(simulate(&mut self.rust, 50));
    }

    /// Compares an output of both.
    fn check<T: Synth>(&self, name: &str, output: impl Fn(&B) -> T) {
        let expected = bytes_of(output(&self.rust));
        let mut actual = vec![0; expected.len()];
        self.model.get_bytes(self.model.port(name), &mut actual);
        assert_eq!(actual, expected, "{name}");
    }
}

fn wide<const N: usize>(random: &mut SmallRng) -> Bits<N> {
    let word = |random: &mut SmallRng| bit_cast::<N, 64>(random.random::<u64>().to_bits());
    (0..N.div_ceil(64)).fold(Bits::default(), |sum, _| (sum << 64) | word(random))
}

#[test]
fn byte_enables() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<ByteEnables>::new("byte_enables");
    for _ in 0..3000 {
        twin.set("address", wide(random), |b| &mut b.address);
        twin.set("bytes", random.random_range(1..=1020u64).to_bits(), |b| {
            &mut b.bytes
        });
        twin.settle();
        twin.check("dword_address", |b| b.dword_address.val());
        twin.check("dwords", |b| b.dwords.val());
        twin.check("first_be", |b| b.first_be.val());
        twin.check("last_be", |b| b.last_be.val());
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
        let piece = Piece {
            address: address.into(),
            bytes: bytes.into(),
            ..Piece::default()
        };
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
        twin.set("give_back_headers", returned.0.to_bits(), |b| {
            &mut b.give_back_headers
        });
        twin.set("give_back_data", returned.1.to_bits(), |b| {
            &mut b.give_back_data
        });
        twin.set("take", false, |b| &mut b.take);
        twin.settle();
        twin.check("fits", |b| b.fits.val());
        let takes = cycle >= 2 && wanted.is_some() && twin.rust.fits.val();
        let after = wanted.map(|(headers, data)| (used.0 + headers, used.1 + data));
        let has_room = after.is_some_and(|it| it.0 <= all.headers && it.1 <= all.data);
        waits = if cycle >= 2 && has_room && !takes {
            waits + 1
        } else {
            0
        };
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
    assert!(
        taken > 5_000 && full > 1_000,
        "{taken} taken, full for {full} cycles"
    );
}

#[test]
fn descriptor_check() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut reader = Twin::<DescriptorRead>::new("descriptor_read");
    let mut twin = Twin::<DescriptorCheck>::new("descriptor_check");
    let mut good = 0;
    for _ in 0..3000 {
        // Mostly what belongs to the request, with one bit flipped in every other case.
        let (address, bytes) = (
            random.random_range(0..4096u64),
            random.random_range(1..=512u64),
        );
        let received = random.random_range(0..bytes);
        let next = (address + received) % 4096;
        let dwords = (next % 4 + bytes - received).div_ceil(4);
        let mut low = next | (bytes - received) << 16 | 1 << 30 | dwords << 32;
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
        twin.set("descriptor", descriptor, |b| &mut b.descriptor);
        twin.set("announced", announced, |b| &mut b.announced);
        twin.set("record", record, |b| &mut b.record);
        let remaining = (bytes - received).to_bits();
        twin.set("remaining", remaining, |b| &mut b.remaining);
        twin.settle();
        twin.check("good", |b| b.good.val());
        twin.check("remaining_after", |b| b.remaining_after.val());
        good += usize::from(twin.rust.good.val());
    }
    assert!((1400..1800).contains(&good), "{good} of 3,000 were good");
}

#[test]
fn start_of_a_completion() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<RcStart>::new("rc_start");
    for _ in 0..500 {
        twin.set("data", wide(random), |b| &mut b.data);
        let marks = RcMarks {
            starts: wide(random),
            quarters: wide(random),
            ends: wide(random),
            end_at: wide(random),
            discontinue: random.random(),
        };
        twin.set("marks", marks, |b| &mut b.marks);
        twin.set("is_inside", random.random(), |b| &mut b.is_inside);
        twin.settle();
        twin.check("part", |b| b.part.val());
        twin.check("descriptor", |b| b.descriptor.val());
    }
}

#[test]
fn beat_planner() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<BeatPlanner>::new("beat_planner");
    for _ in 0..2000 {
        let tlp = RequestTlp {
            header: wide(random),
            dwords: random.random_range(0..=256u64).into(),
            start: random.random_range(0..=0xffffu64).into(),
            ..RequestTlp::default()
        };
        let planned = FittedTlp {
            tlp,
            fits: random.random(),
            rest: wide(random),
            leaves_half: random.random(),
            position: wide(random),
            fits_straddled: random.random(),
            rest_straddled: wide(random),
            leaves_half_straddled: random.random(),
            position_straddled: wide(random),
            last_dword: wide(random),
        };
        let rest = [
            0,
            random.random_range(0..=20),
            random.random_range(0..=256u64),
        ];
        twin.set("rest", rest[random.random_range(0..3)].to_bits(), |b| {
            &mut b.rest
        });
        twin.set("is_open", random.random(), |b| &mut b.is_open);
        twin.set("position", wide(random), |b| &mut b.position);
        twin.set("starts", random.random(), |b| &mut b.starts);
        twin.set("fitted", planned, |b| &mut b.fitted);
        twin.set("number", wide(random), |b| &mut b.number);
        twin.settle();
        twin.check("plan", |b| b.plan.val());
        twin.check("rest_after", |b| b.rest_after.val());
        twin.check("is_open_after", |b| b.is_open_after.val());
        twin.check("is_long_after", |b| b.is_long_after.val());
        twin.check("position_after", |b| b.position_after.val());
    }
}
