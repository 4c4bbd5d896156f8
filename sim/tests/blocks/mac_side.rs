//! The send side at the MAC and the state of the wire: epochs, resets of the MAC, lost links,
//! pauses.
//!
//! ```text
//!   feeder ──> MacSend <──> MacLink ──> tx_axis, stat_rx_* ──> Mac, MacPins
//! ```
//! Each frame carries the number of its epoch and its own. A frame that leaves must be whole, of
//! the epoch that runs, and later than all frames before it.

mod rig;

use abi::registers as r;
use ip::cmac::send::MacSend;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rig::{design, Rig};
use seed::seed;
use sim::caught::caught_by;
use sim::harness::mac::CLOCK_PS;
use sim::harness::mac_pins::WireState;
use sim::harness::stall::Stall;
use verilate::block::design_of;
use verilate::clocks::Clocks;
use verilate::design::Design;
use verilate::options::Options;
use verilate::verilated::Model;

/// Places in `counted`, in the order of the contract's group "wire".
const UNSENT: usize = 0;
const CUT: usize = 1;
const LOSSES: usize = 2;
const ASKED: usize = 3;
const OBEYED: usize = 4;
const IGNORED: usize = 5;
const OVERFLOWS: usize = 6;
const UNDERFLOWS: usize = 7;

/// The status bit of a STATUS word's bit of the wire.
fn wire_bit(status: u32) -> u64 {
    u64::from(status >> r::STATUS_WIRE_BIT)
}

/// Five frames wait at a MAC that takes nothing; an epoch; the MAC takes again.
fn old_frames_stay(design: &Design, taken_beats: u64) {
    let mut rig = Rig::new(design);
    (0..5).for_each(|_| rig.push(500));
    rig.cycles(20 + taken_beats);
    rig.mac.block_send(true);
    rig.cycles(60);
    let mut last = 0;
    let before = rig.judge(1, &mut last);
    assert!(before < 5, "the MAC has taken all");
    rig.reset(16);
    // What the MAC has still to put on the wire was whole before.
    rig.mac.block_send(false);
    (0..3).for_each(|_| rig.push(300));
    rig.cycles(400);
    assert_eq!(rig.judge(2, &mut last), 3, "all of the new epoch");
    assert!(rig.mac.cut.len() <= 1, "{} frames cut", rig.mac.cut.len());
    assert_eq!(rig.counts[CUT], rig.mac.cut.len() as u64);
    for frame in &rig.mac.cut {
        let end = &frame.bytes[frame.bytes.len() - 64..];
        assert!(end.iter().all(|byte| *byte == 0), "old bytes in the last beat");
    }
}

#[test]
fn nothing_of_an_old_epoch_leaves() {
    let design = design(None);
    (0..30).for_each(|beats| old_frames_stay(&design, beats));
}

/// The send side alone: it is empty when for long nothing has come out of the crossing, however
/// long that takes.
#[test]
fn a_flush_lasts_until_nothing_crosses() {
    let mut block = MacSend::default();
    let design = design_of(&mut block, "mac_send", Options::default()).expect("builds");
    let mut model = design.model();
    model.clear_inputs();
    let mut clocks = Clocks::new();
    clocks.add(&mut model, "clock", 4000, 2000);
    let mac_clock = clocks.add(&mut model, "mac_clock", CLOCK_PS, 777);
    let [valid, flush, flushed] = ["frames$valid", "flush", "flushed"].map(|name| model.port(name));
    model.set(model.port("link_up"), 1);
    // Whether it is empty within so many cycles.
    let mut empties = |model: &mut Model, cycles: u64| {
        let start = clocks.cycles(mac_clock);
        while clocks.cycles(mac_clock) < start + cycles {
            clocks.step(model, &mut |_, _| {});
            if model.is_high(flushed) {
                return true;
            }
        }
        false
    };
    model.set(valid, 1);
    assert!(!empties(&mut model, 40), "there is no flush");
    model.set(flush, 1);
    assert!(!empties(&mut model, 200), "beats still cross");
    model.set(valid, 0);
    assert!(empties(&mut model, 60), "nothing crosses");
}

/// Epochs begin while the MAC's clock stands with frames behind it.
fn epochs_under_a_stopped_clock(epochs: u64) {
    let mut rig = Rig::new(&design(None));
    (0..9).for_each(|_| rig.push(1500));
    rig.cycles(60);
    rig.stop_clock(false);
    rig.cycles(10);
    let mut last = 0;
    rig.judge(1, &mut last);
    for _ in 0..epochs {
        rig.reset(16);
        rig.cycles(2);
    }
    rig.cycles(300);
    assert_eq!(rig.get("status") & 3, 0, "the clock stands, and STATUS says so");
    let unsent = rig.counts[UNSENT];
    rig.push(200);
    rig.cycles(20);
    assert_eq!(rig.counts[UNSENT], unsent + 1, "counted, not kept");
    rig.stop_clock(true);
    rig.cycles(200);
    assert_eq!(rig.get("status"), 7, "the link is back");
    let epoch = rig.epoch;
    (0..3).for_each(|_| rig.push(900));
    rig.cycles(300);
    assert_eq!(rig.judge(epoch, &mut last), 3, "{epochs} epochs");
}

#[test]
fn epochs_under_stopped_clock_lose_nothing() {
    for epochs in [1, 15, 16, 17, 65_534, 65_535] {
        epochs_under_a_stopped_clock(epochs);
    }
}

/// The MAC's clock stands with a frame at the port and others behind it, epochs begin, the clock
/// comes back with the MAC ready at its first edge.
fn clock_that_comes_back(design: &Design, bytes: usize, epochs: u64, reset_cycles: u64) -> Rig {
    let mut rig = Rig::new(design);
    rig.mac.block_send(true);
    rig.cycles(10);
    (0..9).for_each(|_| rig.push(bytes));
    rig.cycles(200);
    assert_eq!(rig.get("tx_axis_tvalid"), 1, "a frame is offered");
    rig.stop_clock(false);
    rig.cycles(10);
    for _ in 0..epochs {
        rig.reset(16);
        rig.cycles(2);
    }
    rig.cycles(300);
    // Ready at the first edge: what the MAC's side drives after an edge, driven before it.
    rig.mac.block_send(false);
    rig.mac.drive(&mut rig.model, u64::MAX / 2);
    assert_eq!(rig.get("tx_axis_tready"), 1);
    let in_reset = reset_cycles > 0;
    rig.wire.tx_reset = in_reset;
    rig.set("usr_tx_reset", u64::from(in_reset));
    rig.mac.hold_in_reset(false, in_reset);
    rig.stop_clock(true);
    if in_reset {
        let end = rig.clocks.cycles(rig.mac_clock) + reset_cycles;
        while rig.clocks.cycles(rig.mac_clock) < end {
            rig.cycles(1);
        }
        rig.wire.tx_reset = false;
    }
    rig.cycles(400);
    rig
}

/// Where the MAC's send side is in reset when its clock comes back, nothing old leaves; else frames
/// leave for some ten cycles, until the epoch is known there, and one that has begun ends bad.
fn clocks_that_come_back(design: &Design) {
    // Behind a frame of one beat the next one is there at once.
    for (bytes, epochs) in [(1500, 1), (1500, 3), (60, 1), (60, 3)] {
        for reset_cycles in [0, 1, 2, 3, 5, 10, 40] {
            let mut rig = clock_that_comes_back(design, bytes, epochs, reset_cycles);
            let (mut last, epoch) = (0, rig.epoch);
            let whole = rig.judge(1, &mut last);
            let cut = rig.mac.cut.len();
            // Without a reset the port goes on until the epoch is known there.
            let most = if reset_cycles == 0 { 1 } else { 0 };
            let beats = whole * bytes.div_ceil(64);
            assert!(beats <= 10 * most, "{whole} whole frames of an old epoch, {reset_cycles}");
            assert!(
                cut <= most,
                "{cut} frames of an old epoch begun, {reset_cycles} cycles of reset"
            );
            (0..3).for_each(|_| rig.push(900));
            rig.cycles(300);
            assert_eq!(rig.judge(epoch, &mut last), 3, "{epochs} epochs");
        }
    }
}

#[test]
fn returning_clock_releases_no_old_frame() {
    clocks_that_come_back(&design(None));
}

/// Frames wait at the MAC, the wire goes down, the MAC takes beats again.
fn wire_down_with_frames_at_the_port(design: &Design, down: WireState, moment: u64) {
    let mut rig = Rig::new(design);
    rig.mac.stall_send(Stall::Random(0.5), moment);
    (0..12).for_each(|_| rig.push(500));
    rig.cycles(20 + moment);
    rig.wire = down;
    rig.cycles(3);
    let mut last = 0;
    rig.judge(1, &mut last);
    let before = rig.mac.sent_count().frames;
    rig.cycles(600);
    rig.judge(1, &mut last);
    let leaving = rig.mac.sent_count().frames - before;
    // One is on its way to the MAC, one may stand at the port.
    assert!(leaving <= 2, "{leaving} frames left while the wire was down");
    let waiting = rig.mac.sent_count().frames + rig.counts[UNSENT];
    rig.wire = WireState::UP;
    rig.cycles(1_000);
    rig.judge(1, &mut last);
    let (sent, unsent) = (rig.mac.sent_count().frames, rig.counts[UNSENT]);
    assert_eq!(sent + unsent, 12, "{sent} sent, {unsent} unsent, {waiting} while down");
    assert_eq!(rig.counts[CUT], 0);
}

fn wires_down_at_any_moment(design: &Design) {
    let down = [
        WireState { aligned: false, ..WireState::UP },
        WireState { local_fault: true, ..WireState::UP },
        WireState { remote_fault: true, ..WireState::UP },
    ];
    for state in down {
        (0..60).for_each(|moment| wire_down_with_frames_at_the_port(design, state, moment));
    }
}

#[test]
fn frames_at_port_wait_for_wire() {
    wires_down_at_any_moment(&design(None));
}

#[test]
fn frame_after_mac_reset_is_whole() {
    let design = design(None);
    for wait in 0..60 {
        let mut rig = Rig::new(&design);
        rig.mac.stall_send(Stall::Random(0.3), wait);
        (0..6).for_each(|_| rig.push(700));
        rig.cycles(30 + wait);
        rig.wire.tx_reset = true;
        rig.cycles(1);
        rig.cycles(6);
        rig.wire.tx_reset = false;
        rig.cycles(600);
        let mut last = 0;
        let sent = rig.judge(1, &mut last) as u64;
        assert!(sent + rig.counts[CUT] == 6, "{sent} sent, {} cut", rig.counts[CUT]);
        assert!(rig.counts[CUT] <= 1);
    }
}

#[test]
fn lost_link_is_told_and_survived() {
    let mut rig = Rig::new(&design(None));
    rig.set("event_ready", 0);
    let mut last = 0;
    for kind in 0..4 {
        (0..4).for_each(|_| rig.push(9000));
        rig.cycles(150);
        let down = match kind {
            0 => WireState { aligned: false, ..WireState::UP },
            1 => WireState { local_fault: true, ..WireState::UP },
            2 => WireState { remote_fault: true, ..WireState::UP },
            _ => WireState::UP,
        };
        rig.wire = down;
        rig.stop_clock(kind != 3);
        // 1 ms is asked for; a clock that stands is the slowest to be seen.
        rig.cycles(300);
        assert_eq!(rig.get("status") & wire_bit(r::STATUS_WIRE_UP), 0, "kind {kind}");
        assert_eq!(rig.counts[LOSSES], kind + 1);
        assert_eq!(rig.get("event_valid"), 1, "owner 0 is told");
        (0..4).for_each(|_| rig.push(9000));
        rig.cycles(1_200);
        assert!(rig.queue.is_empty(), "frames wait for a dead link");
        rig.wire = WireState::UP;
        rig.stop_clock(true);
        rig.set("event_ready", 1);
        rig.cycles(1);
        rig.set("event_ready", 0);
        rig.cycles(100);
        assert_eq!(rig.get("status"), 7, "kind {kind}");
        assert_eq!(rig.get("event_value"), 7, "the event tells the state of now");
        rig.set("event_ready", 1);
        rig.cycles(1);
        rig.set("event_ready", 0);
        rig.cycles(1_500);
        rig.judge(1, &mut last);
    }
    let (sent, unsent) = (rig.mac.sent_count().frames, rig.counts[UNSENT]);
    assert_eq!(sent + unsent, 32, "{sent} sent, {unsent} unsent");
    assert!(unsent >= 16, "{unsent}");
    assert_eq!(rig.counts[CUT], 0, "a lost link cuts nothing at the port");
}

#[test]
fn pause_is_obeyed_between_frames_bounded() {
    let mut rig = Rig::new(&design(None));
    (0..3).for_each(|_| rig.push(9000));
    rig.wire.paused = true;
    rig.cycles(400);
    assert!(rig.mac.sent_count().frames > 0, "not obeyed unless enabled");
    rig.cycles(800);
    rig.write(r::MAC_CONTROL, r::MAC_CONTROL_PAUSE_RX);
    rig.write(r::PAUSE_LIMIT, 2_000);
    rig.cycles(200);
    let before = rig.mac.sent_count().frames;
    (0..3).for_each(|_| rig.push(9000));
    rig.cycles(1_500);
    assert_eq!(rig.mac.sent_count().frames, before, "paused");
    assert_ne!(rig.get("status") & wire_bit(r::STATUS_PAUSED), 0);
    rig.cycles(1_500);
    assert_ne!(rig.get("status") & wire_bit(r::STATUS_PAUSE_IGNORED), 0);
    assert!(rig.mac.sent_count().frames > before, "a pause beyond the limit is ignored");
    rig.wire.paused = false;
    rig.cycles(1_000);
    assert_eq!(rig.get("status"), 7);
    assert_eq!((rig.counts[OBEYED], rig.counts[IGNORED]), (1, 1));

    // In mid-frame: the frame is finished.
    (0..2).for_each(|_| rig.push(9000));
    rig.cycles(190);
    rig.wire.paused = true;
    rig.cycles(1_000);
    let mut last = 0;
    rig.judge(1, &mut last);
    rig.wire.paused = false;
    rig.cycles(1_000);
    rig.judge(1, &mut last);
    assert_eq!(last, 8);
}

fn a_level_asks_for_a_pause(design: &Design) {
    let mut rig = Rig::new(design);
    let asks = |rig: &Rig| rig.pins.asks_pause(&rig.model);
    rig.set("rx_buffer_beats", 256);
    rig.cycles(50);
    assert!(!asks(&rig), "not unless enabled");
    rig.write(r::MAC_CONTROL, r::MAC_CONTROL_PAUSE_TX);
    rig.cycles(50);
    assert!(asks(&rig));
    rig.set("rx_buffer_beats", 255);
    rig.cycles(100);
    assert!(asks(&rig), "256 cycles at least");
    rig.cycles(200);
    assert!(!asks(&rig));
    assert_eq!(rig.counts[ASKED], 1);
    rig.write(r::PAUSE_BEATS, 255);
    rig.cycles(50);
    assert!(asks(&rig), "the threshold is a register");
    rig.write(r::PAUSE_BEATS, 256);
    rig.cycles(300);
    assert!(!asks(&rig));
    rig.set("rx_buffer_beats", 256);
    rig.cycles(50);
    assert!(asks(&rig));
    // More than the register holds is a threshold that no buffer reaches.
    rig.set("rx_buffer_beats", 2_048);
    for beats in [0x1_0000, 0x1_0001, u32::MAX] {
        rig.write(r::PAUSE_BEATS, beats);
        rig.cycles(300);
        assert!(!asks(&rig), "{beats:#x} beats are kept as fewer");
        rig.write(r::PAUSE_BEATS, 2_048);
        rig.cycles(50);
        assert!(asks(&rig), "and as many as there are count");
    }
    rig.reset(16);
    rig.cycles(300);
    assert!(!asks(&rig), "an epoch turns it off");
}

#[test]
fn full_packet_buffer_requests_pause() {
    a_level_asks_for_a_pause(&design(None));
}

/// What runs on a design, and panics where a checker finds something.
type Scenario = fn(&Design);

/// What each of these moments must be guarded by, taken away.
#[test]
fn unguarded_moment_is_caught() {
    let wire = (
        "((requests_latest[1] | (~stat_rx_aligned)) | stat_rx_local_fault) | stat_rx_remote_fault",
        "requests_latest[1]",
    );
    let cases: [((&str, &str), &str, Scenario); 3] = [
        (wire, "frames left while the wire was down", wires_down_at_any_moment),
        (("(~hold) & settled", "~hold"), "of an old epoch", clocks_that_come_back),
        (("= beats_max", "= value[15:0]"), "are kept as fewer", a_level_asks_for_a_pause),
    ];
    for (fault, checker, scenario) in cases {
        let design = design(Some(fault));
        caught_by(checker, fault.1, || scenario(&design));
    }
}

#[test]
fn reports_of_the_mac_are_counted() {
    let mut rig = Rig::new(&design(None));
    for _ in 0..20 {
        rig.wire.overflow = true;
        rig.cycles(5);
        rig.wire.overflow = false;
        rig.wire.underflow = true;
        rig.cycles(5);
        rig.wire.underflow = false;
        rig.cycles(5);
    }
    rig.cycles(100);
    assert_eq!((rig.counts[OVERFLOWS], rig.counts[UNDERFLOWS]), (20, 20));
}

/// Everything at random; every frame is sent, or counted, or was forgotten by an epoch.
fn random(design: &Design, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut rig = Rig::new(design);
    rig.mac.stall_send(Stall::Random(0.3), seed);
    let (mut last, mut clock_runs) = (0, true);
    for _ in 0..400 {
        match random.random_range(0..12) {
            0..=4 => (0..random.random_range(1..6)).for_each(|_| {
                let bytes = [60, 64, 65, 1500, 9216][random.random_range(0..5)];
                rig.push(bytes);
            }),
            5 => rig.wire.aligned = random.random_bool(0.7),
            6 => rig.wire.paused = random.random_bool(0.5),
            7 if clock_runs => {
                // The epoch ends here: nothing older may leave from now on, but what the MAC has
                // taken.
                let cycles = random.random_range(16..40);
                rig.reset(cycles);
                rig.cycles(40);
                rig.judge(1, &mut last);
                last = last.max(rig.number);
            }
            8 => {
                clock_runs = random.random_bool(0.5);
                rig.stop_clock(clock_runs);
            }
            9 if clock_runs => {
                rig.wire.tx_reset = true;
                rig.cycles(2);
                rig.cycles(4);
                rig.wire.tx_reset = false;
            }
            10 => rig.write(r::MAC_CONTROL, random.random_range(0..8)),
            _ => rig.set("event_ready", u64::from(random.random_bool(0.5))),
        }
        rig.cycles(random.random_range(1..300));
        rig.judge(1, &mut last);
    }
    rig.wire = WireState::UP;
    rig.stop_clock(true);
    rig.write(r::MAC_CONTROL, 0);
    rig.cycles(40_000);
    rig.judge(1, &mut last);
    assert!(rig.queue.is_empty(), "frames wait for ever");
    rig.push(100);
    rig.cycles(300);
    assert_eq!(rig.judge(1, &mut last), 1, "traffic goes on");
}

#[test]
fn random_events_mix_nothing() {
    let (design, seed) = (design(None), seed());
    (0..12).for_each(|at| random(&design, seed.wrapping_add(at)));
}

#[test]
fn planted_faults_are_caught() {
    let old: Scenario = |design| (0..30).for_each(|beats| old_frames_stay(design, beats));
    for (fault, checker) in [
        ((".reset(flush),", ".reset(1'd0),"), "frame "),
        ((".flush(flush),", ".flush(1'd0),"), "violations"),
    ] {
        caught_by(checker, fault.1, || old(&design(Some(fault))));
    }
}
