//! Every rule of the checker, broken once on purpose.
//!
//! ```text
//!   a card that breaks one rule --> [ pcie-sim ] --> exactly that violation first
//! ```

use crate::card::{rq_words, Bench};
use pcie_sim::descriptor::{cc, rq, rq_user};
use pcie_sim::{
    CardOutputs, CcBeat, MemoryId, PcieConfig, Request, Rights, RqBeat, Stream, Violation,
};

const BUS: u64 = 0x10_0000_0000;
const BAR: u64 = 0x20_0000_0000;

fn bench_of(config: PcieConfig) -> Bench {
    let mut bench = Bench::new(config);
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench
}

fn bench() -> Bench {
    bench_of(PcieConfig::default())
}

fn first_violation(bench: &Bench) -> Violation {
    bench.sim.violations().first().expect("a violation").violation.clone()
}

/// The first violation after one request whose words `spoil` has changed.
fn after(request: Request, spoil: impl Fn(&mut Vec<u32>)) -> Violation {
    let mut bench = bench();
    let mut words = rq_words(&request);
    spoil(&mut words);
    bench.card.issue_raw(words, request.first_be, request.last_be);
    bench.run(400);
    first_violation(&bench)
}

fn leave_untouched(_: &mut Vec<u32>) {}

#[test]
fn descriptor_fields() {
    let field = |field: pcie_sim::descriptor::Field, value| {
        after(Request::read(BUS, 4, 0), move |words| field.set(words, value))
    };
    let must_be_zero = |name, value| Violation::DescriptorField { stream: Stream::Rq, name, value };
    assert_eq!(field(rq::ADDRESS_TYPE, 1), must_be_zero("address type", 1));
    assert_eq!(field(rq::POISONED, 1), must_be_zero("poisoned", 1));
    assert_eq!(field(rq::REQUESTER_ID_ENABLE, 1), must_be_zero("requester id enable", 1));
    assert_eq!(field(rq::TRAFFIC_CLASS, 3), must_be_zero("traffic class", 3));
    assert_eq!(field(rq::FORCE_ECRC, 1), must_be_zero("force ecrc", 1));
    assert_eq!(field(rq::TYPE, 4), Violation::RequestType(4));
    assert_eq!(field(rq::DWORD_COUNT, 0), Violation::DwordCount(0));
    assert_eq!(field(rq::DWORD_COUNT, 1025), Violation::DwordCount(1025));
}

#[test]
fn sizes_and_pages() {
    let long = after(Request::write(BUS, &[0; 260]), leave_untouched);
    assert_eq!(long, Violation::PayloadTooLong { bytes: 260, mps: 256 });
    let long = after(Request::read(BUS, 516, 0), leave_untouched);
    assert_eq!(long, Violation::ReadTooLong { bytes: 516, mrrs: 512 });
    let crossing = after(Request::read(BUS + 0xff0, 32, 0), leave_untouched);
    assert_eq!(crossing, Violation::PageCrossing { address: BUS + 0xff0, bytes: 32 });
    let crossing = after(Request::write(BUS + 0xffe, &[1; 4]), leave_untouched);
    assert_eq!(crossing, Violation::PageCrossing { address: BUS + 0xffc, bytes: 8 });
}

#[test]
fn byte_enables() {
    let with = |dwords: u16, address, first_be, last_be| {
        let mut bench = bench();
        let mut request = Request::read(address, usize::from(dwords) * 4, 0);
        (request.first_be, request.last_be) = (first_be, last_be);
        bench.card.issue(request);
        bench.run(400);
        bench.sim.violations().first().map(|report| report.violation.clone())
    };
    for (dwords, address, first, last, legal) in [
        (1, BUS, 0x0, 0x0, true),
        (1, BUS, 0x5, 0x0, true),
        (1, BUS, 0xf, 0x1, false),
        (2, BUS, 0x5, 0xa, true),
        (2, BUS + 4, 0x5, 0xf, false),
        (2, BUS, 0xf, 0x0, false),
        (2, BUS, 0x0, 0xf, false),
        (3, BUS, 0xc, 0x3, true),
        (3, BUS, 0x3, 0xf, false),
        (3, BUS, 0xf, 0xc, false),
        (3, BUS, 0xf, 0x0, false),
    ] {
        let expected = Violation::ByteEnables { first, last, dwords };
        let expected = (!legal).then_some(expected);
        assert_eq!(with(dwords, address, first, last), expected, "{dwords} {first:x} {last:x}");
    }
}

#[test]
fn tags() {
    let mut bench = bench_of(PcieConfig { extended_tags: false, ..PcieConfig::default() });
    bench.card.issue(Request::read(BUS, 4, 31));
    bench.card.issue(Request::read(BUS, 4, 32));
    bench.settle();
    assert_eq!(first_violation(&bench), Violation::TagRange { tag: 32, limit: 32 });

    let mut bench = bench_of(PcieConfig::default());
    bench.card.issue(Request::read(BUS, 4, 7));
    bench.card.issue(Request::read(BUS, 4, 7));
    bench.settle();
    assert_eq!(first_violation(&bench), Violation::TagReused(7));
}

#[test]
fn tag_frees_once_card_takes_completion() {
    let mut bench = bench();
    bench.card.rc_stall_permille = 1000;
    bench.card.issue(Request::read(BUS, 4, 7));
    bench.run(600);
    assert!(bench.sim.inputs().rc.tvalid);
    bench.card.issue(Request::read(BUS, 4, 7));
    bench.run(10);
    assert_eq!(first_violation(&bench), Violation::TagReused(7));
}

#[test]
fn completion_buffer() {
    let mut bench = bench();
    for tag in 0..33 {
        bench.card.issue(Request::read(BUS, 512, tag));
    }
    bench.run(100);
    let expected = Violation::BufferOversubscribed { headers: 264, data: 1056 };
    assert_eq!(first_violation(&bench), expected);

    let config =
        PcieConfig { check_reservation: false, completion_data: 64, ..PcieConfig::default() };
    let mut bench = bench_of(config);
    bench.card.rc_stall_permille = 1000;
    for tag in 0..3 {
        bench.card.issue(Request::read(BUS, 512, tag));
    }
    bench.run(600);
    assert_eq!(first_violation(&bench), Violation::BufferOverrun { tag: 2, headers: 5, data: 80 });
    bench.card.rc_stall_permille = 0;
    bench.run(14_000);
    let lost: Vec<_> = bench.card.completions.iter().filter(|c| c.error == 9).collect();
    assert_eq!(lost.len(), 1, "what found no room is lost");
    assert_eq!((lost[0].tag, bench.bytes_of(2)), (2, vec![]));
}

#[test]
fn bus_mastering_and_interrupts() {
    let mut bench = bench();
    bench.sim.set_bus_master(false);
    bench.card.issue(Request::write(BUS, &[1; 4]));
    bench.card.issue(Request::read(BUS, 4, 9));
    bench.run(100);
    bench.assert_clean();
    assert_eq!((bench.card.completions[0].tag, bench.card.completions[0].error), (9, 2));
    assert_eq!(bench.sim.fault_log().len(), 2);
    bench.run(1000);
    bench.card.issue(Request::write(BUS + 64, &[1; 4]));
    bench.run(10);
    let found = first_violation(&bench);
    assert!(matches!(found, Violation::NotBusMaster { address, cycles }
        if address == BUS + 64 && cycles > 1000));

    let mut bench = bench_of(PcieConfig::default());
    bench.sim.set_msix(true, true);
    bench.run(1001);
    bench.card.issue(Request::write(0xfee0_0000, &[1; 4]));
    bench.run(400);
    let found = first_violation(&bench);
    assert!(matches!(found, Violation::InterruptsOff { address: 0xfee0_0000, .. }));
}

/// Drives RQ beats by hand, one a cycle, and returns the first violation.
fn framing(beats: &[RqBeat]) -> Violation {
    let mut bench = bench();
    for beat in beats {
        let outputs = CardOutputs { rq: *beat, rc_tready: true, ..CardOutputs::default() };
        bench.step_with(&outputs);
    }
    bench.run(10);
    first_violation(&bench)
}

/// The beat of a read that is legal by itself.
fn read_beat() -> RqBeat {
    let mut beat = RqBeat { tkeep: 0xffff, tvalid: true, ..RqBeat::default() };
    beat.tdata[..4].copy_from_slice(&rq_words(&Request::read(BUS, 4, 0)));
    rq_user::FIRST_BE[0].set(&mut beat.tuser, 0xf);
    rq_user::IS_SOP.set(&mut beat.tuser, 1);
    rq_user::IS_EOP.set(&mut beat.tuser, 1);
    rq_user::EOP_POINTER[0].set(&mut beat.tuser, 3);
    beat
}

/// The two beats of a write of 64 bytes.
fn write_beats() -> [RqBeat; 2] {
    let words = rq_words(&Request::write(BUS, &[1; 64]));
    let mut beats = [RqBeat { tkeep: 0xffff, tvalid: true, ..RqBeat::default() }; 2];
    beats[0].tdata.copy_from_slice(&words[..16]);
    beats[1].tdata[..4].copy_from_slice(&words[16..]);
    rq_user::FIRST_BE[0].set(&mut beats[0].tuser, 0xf);
    rq_user::LAST_BE[0].set(&mut beats[0].tuser, 0xf);
    rq_user::IS_SOP.set(&mut beats[0].tuser, 1);
    rq_user::IS_EOP.set(&mut beats[1].tuser, 1);
    rq_user::EOP_POINTER[0].set(&mut beats[1].tuser, 3);
    beats
}

fn with(beat: RqBeat, change: impl Fn(&mut RqBeat)) -> RqBeat {
    let mut beat = beat;
    change(&mut beat);
    beat
}

#[test]
fn request_framing() {
    let read = read_beat();
    let keep = with(read, |b| b.tkeep = 0xf);
    assert_eq!(framing(&[keep]), Violation::Keep { stream: Stream::Rq, tkeep: 0xf });

    let second_only = with(read, |b| rq_user::IS_SOP.set(&mut b.tuser, 2));
    let flags = Violation::StartFlags { is_sop: 2, running: false };
    assert_eq!(framing(&[second_only]), flags);

    let none = with(read, |b| rq_user::IS_SOP.set(&mut b.tuser, 0));
    assert_eq!(framing(&[none]), Violation::StartFlags { is_sop: 0, running: false });

    let middle = with(read, |b| rq_user::SOP_POINTER[0].set(&mut b.tuser, 2));
    assert_eq!(framing(&[middle]), Violation::StartPointer { pointer: 2 });

    let no_end = with(read, |b| rq_user::IS_EOP.set(&mut b.tuser, 0));
    let mismatch = Violation::EndMismatch { is_eop: 0, pointer: 3, expected: 3 };
    assert_eq!(framing(&[no_end]), mismatch);

    let wrong_end = with(read, |b| rq_user::EOP_POINTER[0].set(&mut b.tuser, 4));
    let mismatch = Violation::EndMismatch { is_eop: 1, pointer: 4, expected: 3 };
    assert_eq!(framing(&[wrong_end]), mismatch);

    let discontinued = with(read, |b| rq_user::DISCONTINUE.set(&mut b.tuser, 1));
    assert_eq!(framing(&[discontinued]), Violation::Discontinued(Stream::Rq));

    let hints = with(read, |b| rq_user::TPH_PRESENT.set(&mut b.tuser, 1));
    assert_eq!(framing(&[hints]), Violation::SideBand { name: "tph_present", value: 1 });

    let offset = with(read, |b| rq_user::ADDRESS_OFFSET.set(&mut b.tuser, 5));
    assert_eq!(framing(&[offset]), Violation::SideBand { name: "addr_offset", value: 5 });
}

#[test]
fn second_start_follows_first_half_end() {
    // A write of 32 bytes ends at dword 11: nothing may start at dword 8.
    let mut beat = RqBeat { tkeep: 0xffff, tvalid: true, ..RqBeat::default() };
    let words = rq_words(&Request::write(BUS, &[1; 32]));
    beat.tdata[..12].copy_from_slice(&words);
    beat.tdata[8..12].copy_from_slice(&words[..4]);
    rq_user::FIRST_BE[0].set(&mut beat.tuser, 0xf);
    rq_user::LAST_BE[0].set(&mut beat.tuser, 0xf);
    rq_user::IS_SOP.set(&mut beat.tuser, 3);
    rq_user::SOP_POINTER[1].set(&mut beat.tuser, 2);
    rq_user::IS_EOP.set(&mut beat.tuser, 1);
    rq_user::EOP_POINTER[0].set(&mut beat.tuser, 11);
    assert_eq!(framing(&[beat]), Violation::StartPointer { pointer: 2 });

    // Two starts while a packet runs are one too many.
    let [head, tail] = write_beats();
    let starts = with(tail, |b| rq_user::IS_SOP.set(&mut b.tuser, 3));
    assert_eq!(framing(&[head, starts]), Violation::StartFlags { is_sop: 3, running: true });
}

#[test]
fn request_framing_over_two_beats() {
    let [head, tail] = write_beats();
    let gap = RqBeat::default();
    let dropped = Violation::ValidDroppedInPacket(Stream::Rq);
    assert_eq!(framing(&[head, gap, tail]), dropped);

    let early = with(head, |b| rq_user::IS_EOP.set(&mut b.tuser, 1));
    let mismatch = Violation::EndMismatch { is_eop: 1, pointer: 0, expected: 16 };
    assert_eq!(framing(&[early, tail]), mismatch);

    let restart = with(tail, |b| {
        rq_user::IS_SOP.set(&mut b.tuser, 1);
        rq_user::SOP_POINTER[0].set(&mut b.tuser, 0);
    });
    assert_eq!(framing(&[head, restart]), Violation::StartPointer { pointer: 0 });
}

#[test]
fn offers_must_stay() {
    let config = PcieConfig { rq_stall_permille: 1000, ..PcieConfig::default() };
    let offer = CardOutputs { rq: read_beat(), ..CardOutputs::default() };
    let mut bench = bench_of(config.clone());
    bench.step_with(&offer);
    bench.step_with(&CardOutputs::default());
    assert_eq!(first_violation(&bench), Violation::OfferChanged(Stream::Rq));

    let config = PcieConfig { cc_stall_permille: 1000, ..config };
    let mut bench = bench_of(config);
    let beat = CcBeat { tvalid: true, tkeep: 7, tlast: true, ..CcBeat::default() };
    bench.step_with(&CardOutputs { cc: beat, ..CardOutputs::default() });
    bench.step_with(&CardOutputs::default());
    assert_eq!(first_violation(&bench), Violation::OfferChanged(Stream::Cc));
}

/// The first violation after a register read whose completion `spoil` has changed.
fn after_read(bytes: usize, spoil: fn(&mut [u32])) -> Violation {
    let mut bench = bench();
    bench.card.spoil_cc = Some(spoil);
    bench.sim.mmio_read(BAR + 0x14, bytes).unwrap();
    bench.run(1000);
    first_violation(&bench)
}

#[test]
fn completion_fields() {
    let field = |name, has, expected| Violation::CompletionField { tag: 0, name, has, expected };
    let lower = after_read(4, |w| cc::LOWER_ADDRESS.set(w, 0x10));
    assert_eq!(lower, field("lower address", 0x10, 0x14));
    let count = after_read(4, |w| cc::BYTE_COUNT.set(w, 8));
    assert_eq!(count, field("byte count", 8, 4));
    let requester = after_read(4, |w| cc::REQUESTER_ID.set(w, 0x0100));
    assert_eq!(requester, field("requester id", 0x0100, 0));
    let class = after_read(4, |w| cc::TRAFFIC_CLASS.set(w, 1));
    assert_eq!(class, field("traffic class", 1, 0));
    let attributes = after_read(4, |w| cc::ATTRIBUTES.set(w, 2));
    assert_eq!(attributes, field("attributes", 2, 0));
    let status = after_read(4, |w| cc::STATUS.set(w, 3));
    let announced = 8;
    assert_eq!(status, Violation::PacketLength { has: 4, announced });
    let tag = after_read(4, |w| cc::TAG.set(w, 9));
    assert_eq!(tag, Violation::UnexpectedCompletion(9));
    let length = after_read(8, |w| cc::DWORD_COUNT.set(w, 1));
    assert_eq!(length, Violation::PacketLength { has: 5, announced: 4 });
    let locked = after_read(4, |w| cc::LOCKED.set(w, 1));
    let expected = Violation::DescriptorField { stream: Stream::Cc, name: "locked", value: 1 };
    assert_eq!(locked, expected);
}

#[test]
fn short_excess_or_missing_completion_violates() {
    let mut bench = bench();
    bench.card.mute = true;
    bench.sim.mmio_read(BAR + 0x10, 8).unwrap();
    bench.run(300);
    let mut words = vec![0; 4];
    cc::LOWER_ADDRESS.set(&mut words, 0x10);
    cc::BYTE_COUNT.set(&mut words, 8);
    cc::DWORD_COUNT.set(&mut words, 1);
    bench.card.send_cc(&words);
    bench.run(10);
    let short = Violation::CompletionField { tag: 0, name: "dword count", has: 1, expected: 2 };
    assert_eq!(first_violation(&bench), short);
    bench.sim.take_violations();
    bench.card.send_cc(&words);
    bench.run(10);
    assert_eq!(first_violation(&bench), Violation::UnexpectedCompletion(0));

    let mut bench = bench_of(PcieConfig::default());
    bench.card.mute = true;
    bench.sim.mmio_read(BAR + 0x20, 4).unwrap();
    bench.run(13_000);
    assert_eq!(
        first_violation(&bench),
        Violation::CompletionMissing { tag: 0, address: BAR + 0x20 }
    );
}

#[test]
fn unknown_status_is_named_after_length() {
    let mut bench = bench();
    bench.card.mute = true;
    bench.sim.mmio_read(BAR, 4).unwrap();
    bench.run(300);
    let mut words = vec![0; 8];
    cc::STATUS.set(&mut words, 3);
    bench.card.send_cc(&words);
    bench.run(10);
    assert_eq!(first_violation(&bench), Violation::CompletionStatus { tag: 0, status: 3 });
}

#[test]
fn completion_framing() {
    let beat = |tkeep, tlast| CcBeat { tvalid: true, tkeep, tlast, ..CcBeat::default() };
    let run = |beats: &[CcBeat]| {
        let mut bench = bench();
        for cc in beats {
            bench.step_with(&CardOutputs { cc: *cc, ..CardOutputs::default() });
        }
        first_violation(&bench)
    };
    let keep = |tkeep| Violation::Keep { stream: Stream::Cc, tkeep };
    assert_eq!(run(&[beat(0b1011, true)]), keep(0b1011));
    assert_eq!(run(&[beat(0xff, false)]), keep(0xff));
    assert_eq!(run(&[beat(0b11, true)]), Violation::PacketLength { has: 2, announced: 3 });
    let dropped = Violation::ValidDroppedInPacket(Stream::Cc);
    assert_eq!(run(&[beat(0xffff, false), CcBeat::default()]), dropped);
    let mut discontinued = beat(0b111, true);
    discontinued.tuser[0] = 1 << 16;
    assert_eq!(run(&[discontinued]), Violation::Discontinued(Stream::Cc));
}
