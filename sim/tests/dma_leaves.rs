//! The arithmetic of the requester means the same in Rust and in Verilog.
//!
//! ```text
//!   random inputs ──┬──► rust-hdl simulation ──┐
//!                   └──► Verilator ────────────┴─ every output equal
//! ```

use dma::byte_enables::ByteEnables;
use dma::rc_descriptor::{DescriptorCheck, DescriptorRead};
use dma::rc_split::{LaneMask, RcMarks, RcStart};
use dma::read_issue::{CompletionRoom, ReadRecord};
use dma::ready_write::PlannedTlp;
use dma::request::{Piece, RequestTlp};
use dma::step::BeatPlan;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use sim::bench::design_of;
use sim::design::Options;
use sim::payload::bytes_of;
use sim::stall::seed;
use sim::verilated::Model;

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
fn completion_room() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<CompletionRoom>::new("completion_room");
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
        twin.check("headers", |b| b.headers.val());
        twin.check("data", |b| b.data.val());
        let boundary = if rcb { 128 } else { 64 };
        let headers = (address % boundary + bytes).div_ceil(boundary);
        assert_eq!(twin.rust.headers.val().to_u64(), headers);
        assert_eq!(
            twin.rust.data.val().to_u64(),
            (address % 16 + bytes).div_ceil(16)
        );
    }
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
fn beat_plan() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut twin = Twin::<BeatPlan>::new("beat_plan");
    for _ in 0..2000 {
        let tlp = RequestTlp {
            header: wide(random),
            dwords: random.random_range(0..=256u64).into(),
            start: random.random_range(0..=0xffffu64).into(),
            ..RequestTlp::default()
        };
        let planned = PlannedTlp {
            tlp,
            fits: random.random(),
            rest: wide(random),
            position: wide(random),
            fits_straddled: random.random(),
            rest_straddled: wide(random),
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
        twin.set("position", wide(random), |b| &mut b.position);
        twin.set("offered", random.random(), |b| &mut b.offered);
        twin.set("planned", planned, |b| &mut b.planned);
        twin.set("number", wide(random), |b| &mut b.number);
        twin.settle();
        twin.check("can_start", |b| b.can_start.val());
        twin.check("present", |b| b.present.val());
        twin.check("step", |b| b.step.val());
        twin.check("rest_after", |b| b.rest_after.val());
        twin.check("position_after", |b| b.position_after.val());
    }
}
