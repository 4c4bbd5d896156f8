//! The send side at the MAC and the state of the wire: epochs, resets of the MAC, lost links,
//! pauses.
//!
//! ```text
//!   feeder ──> MacSend <──> MacLink ──> tx_axis, stat_rx_* ──> Mac, MacPins
//! ```
//! Each frame carries the number of its epoch and its own. A frame that leaves must be whole, of
//! the epoch that runs, and later than all frames before it.

use abi::registers as r;
use ip::cmac::link::MacLink;
use ip::cmac::send::MacSend;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::caught::caught_by;
use sim::harness::mac::{Mac, CLOCK_PS};
use sim::harness::mac_pins::{MacPins, WireState};
use sim::harness::stall::Stall;
use sim::switched::replaced;
use stream::prelude::*;
use verilate::block::design_of;
use verilate::clocks::{ClockId, Clocks, Edge};
use verilate::design::Design;
use verilate::options::Options;
use verilate::verilated::Model;

/// Both blocks as the card joins them.
#[derive(LogicBlock, Default)]
struct MacSide {
    clock: Signal<In, Clock>,
    mac_clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    settings: PulseSink<RegisterWrite>,
    frames: PacketSink,
    rx_buffer_beats: Signal<In, Bits<16>>,
    event_ready: Signal<In, Bit>,
    rx_axis_tdata: Signal<In, Bits<512>>,
    rx_axis_tkeep: Signal<In, Bits<64>>,
    rx_axis_tvalid: Signal<In, Bit>,
    rx_axis_tlast: Signal<In, Bit>,
    rx_axis_tuser: Signal<In, Bit>,
    tx_axis_tdata: Signal<Out, Bits<512>>,
    tx_axis_tkeep: Signal<Out, Bits<64>>,
    tx_axis_tvalid: Signal<Out, Bit>,
    tx_axis_tlast: Signal<Out, Bit>,
    tx_axis_tuser: Signal<Out, Bit>,
    tx_axis_tready: Signal<In, Bit>,
    usr_rx_reset: Signal<In, Bit>,
    usr_tx_reset: Signal<In, Bit>,
    stat_rx_aligned: Signal<In, Bit>,
    stat_rx_local_fault: Signal<In, Bit>,
    stat_rx_remote_fault: Signal<In, Bit>,
    tx_ovfout: Signal<In, Bit>,
    tx_unfout: Signal<In, Bit>,
    stat_rx_pause_req: Signal<In, Bits<9>>,
    ctl_tx_pause_req: Signal<Out, Bits<9>>,
    status: Signal<Out, Bits<7>>,
    sends_fail: Signal<Out, Bit>,
    event_valid: Signal<Out, Bit>,
    event_value: Signal<Out, Bits<32>>,
    counted: Signal<Out, Bits<8>>,
    send: MacSend,
    link: MacLink,
    events: Signal<Local, WireEvents>,
    event_message: Signal<Local, SendEvent>,
}

impl Logic for MacSide {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, send, link);
        self.send.mac_clock.next = self.mac_clock.val();
        self.link.mac_clock.next = self.mac_clock.val();
        self.send.reset.next = self.reset.val();
        self.link.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.link.settings);
        PacketSink::link(&mut self.frames, &mut self.send.frames);
        self.link.rx_buffer_beats.next = self.rx_buffer_beats.val();
        self.tx_axis_tdata.next = self.send.tx_axis_tdata.val();
        self.tx_axis_tkeep.next = self.send.tx_axis_tkeep.val();
        self.tx_axis_tvalid.next = self.send.tx_axis_tvalid.val();
        self.tx_axis_tlast.next = self.send.tx_axis_tlast.val();
        self.tx_axis_tuser.next = self.send.tx_axis_tuser.val();
        self.send.tx_axis_tready.next = self.tx_axis_tready.val();
        self.send.usr_tx_reset.next = self.usr_tx_reset.val();
        self.link.stat_rx_aligned.next = self.stat_rx_aligned.val();
        self.link.stat_rx_local_fault.next = self.stat_rx_local_fault.val();
        self.link.stat_rx_remote_fault.next = self.stat_rx_remote_fault.val();
        self.link.tx_ovfout.next = self.tx_ovfout.val();
        self.link.tx_unfout.next = self.tx_unfout.val();
        self.link.stat_rx_pause_req.next = self.stat_rx_pause_req.val();
        self.ctl_tx_pause_req.next = self.link.ctl_tx_pause_req.val();
        self.link.flush_request.next = self.send.flush_request.val();
        self.send.flush_done.next = self.link.flush_done.val();
        self.send.flush.next = self.link.flush.val();
        self.link.flushed.next = self.send.flushed.val();
        self.send.hold.next = self.link.hold.val();
        self.send.link_up.next = self.link.link_up.val();
        self.status.next = self.link.status.val();
        self.sends_fail.next = self.link.sends_fail.val();
        self.event_valid.next = self.link.link_event.valid.val();
        self.event_message.next = self.link.link_event.payload.val();
        self.event_value.next = self.event_message.val().position;
        self.link.link_event.ready.next = self.event_ready.val();
        self.events.next = self.link.events.val();
        self.events.next.tx_frames_unsent = self.send.unsent.val();
        self.events.next.tx_frames_cut = self.send.cut.val();
        self.counted.next = self.events.val().into();
    }
}

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

struct Rig {
    model: Model,
    clocks: Clocks,
    user: ClockId,
    mac_clock: ClockId,
    mac: Mac,
    pins: MacPins,
    wire: WireState,
    queue: std::collections::VecDeque<Vec<u8>>,
    at: usize,
    offering: bool,
    epoch: u32,
    number: u32,
    counts: [u64; 8],
}

fn design(fault: Option<(&str, &str)>) -> Design {
    let mut block = MacSide::default();
    let text = hdl::ports::emit(&mut block, "mac_side").expect("emits");
    let ports = hdl::ports::ports_of(&block);
    let (text, options) = match fault {
        // It ends soon.
        Some((from, to)) => (replaced(&text, from, to), Options::QUICK),
        None => (text, Options::default()),
    };
    Design::build("mac_side", &text, &ports, options).expect("builds")
}

impl Rig {
    fn new(design: &Design) -> Rig {
        let mut model = design.model();
        model.clear_inputs();
        let mut clocks = Clocks::new();
        let user = clocks.add(&mut model, "clock", 4000, 2000);
        let mac_clock = clocks.add(&mut model, "mac_clock", CLOCK_PS, 777);
        let mut mac = Mac::new(&model, "rx_axis", "tx_axis");
        mac.allow_cuts();
        let pins = MacPins::new(&model);
        let mut rig = Rig {
            model,
            clocks,
            user,
            mac_clock,
            mac,
            pins,
            wire: WireState::UP,
            queue: Default::default(),
            at: 0,
            offering: false,
            epoch: 1,
            number: 0,
            counts: [0; 8],
        };
        rig.cycles(60);
        assert_eq!(rig.get("status"), 7, "the link is up");
        rig
    }

    fn get(&self, port: &str) -> u64 {
        self.model.get(self.model.port(port))
    }

    fn set(&mut self, port: &str, value: u64) {
        let port = self.model.port(port);
        self.model.set(port, value);
    }

    fn write(&mut self, register: u32, value: u32) {
        self.set("settings$valid", 1);
        let payload = u64::from(register) | u64::from(value) << 24;
        self.set("settings$payload", payload);
        self.cycles(1);
        self.set("settings$valid", 0);
    }

    /// Queues a frame of the running epoch.
    fn push(&mut self, bytes: usize) {
        self.number += 1;
        let words = [self.epoch, self.number, bytes as u32];
        let mut frame: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        frame.extend((frame.len()..bytes).map(|at| (at as u32 * 7 + self.number) as u8));
        self.queue.push_back(frame);
    }

    /// Cycles of the user clock.
    fn cycles(&mut self, cycles: u64) {
        let end = self.clocks.cycles(self.user) + cycles;
        while self.clocks.cycles(self.user) < end {
            let Self { model, clocks, user, mac, pins, wire, .. } = self;
            let (user, wire) = (*user, *wire);
            let (mut taken, mut counted, mut after) = (false, 0, false);
            let offering = self.offering;
            clocks.step(model, &mut |model, tick| match (tick.clock == user, tick.edge) {
                (true, Edge::Before) => {
                    taken = offering && model.is_high(model.port("frames$ready"));
                    counted = model.get(model.port("counted"));
                }
                (true, Edge::After) => after = true,
                (false, Edge::Before) => mac.sample(model, tick.time_ps),
                (false, Edge::After) => {
                    pins.drive(model, &wire);
                    mac.hold_in_reset(wire.rx_reset, wire.tx_reset);
                    mac.drive(model, tick.time_ps);
                }
            });
            for (place, count) in self.counts.iter_mut().enumerate() {
                *count += counted >> place & 1;
            }
            if after {
                self.feed(taken);
            }
        }
    }

    /// Offers the next beat.
    fn feed(&mut self, taken: bool) {
        if taken {
            self.offering = false;
            self.at += 64;
            if self.queue.front().is_some_and(|it| self.at >= it.len()) {
                self.queue.pop_front();
                self.at = 0;
            }
        }
        if self.offering {
            return;
        }
        self.set("frames$valid", 0);
        let Some(frame) = self.queue.front().cloned() else {
            return;
        };
        let rest = &frame[self.at..];
        let count = rest.len().min(64);
        let data = self.model.port("frames$data");
        self.model.set_bytes(data, &rest[..count]);
        self.set("frames$byte_count", count as u64);
        self.set("frames$last", u64::from(count == rest.len()));
        self.set("frames$valid", 1);
        self.offering = true;
    }

    /// A new epoch: what waits above is forgotten, as the card does.
    fn reset(&mut self, cycles: u64) {
        self.queue.clear();
        self.at = 0;
        self.offering = false;
        self.set("frames$valid", 0);
        self.set("reset", 1);
        self.cycles(cycles);
        self.set("reset", 0);
        self.epoch += 1;
    }

    /// Checks the frames that left since the last call: whole, in order, none older than `oldest`.
    fn judge(&mut self, oldest: u32, last: &mut u32) -> usize {
        self.mac.assert_clean();
        let count = self.mac.sent.len();
        for frame in self.mac.sent.drain(..) {
            let word = |at: usize| {
                u32::from_le_bytes(frame.bytes[4 * at..][..4].try_into().expect("four bytes"))
            };
            let (epoch, number, bytes) = (word(0), word(1), word(2));
            assert!(epoch >= oldest, "a frame of epoch {epoch} left in epoch {oldest}");
            assert!(number > *last, "frame {number} after {last}");
            assert_eq!(frame.bytes.len(), bytes as usize, "frame {number}");
            let body = frame.bytes.iter().enumerate().skip(12);
            let wrong = body.filter(|(at, byte)| **byte != (*at as u32 * 7 + number) as u8);
            assert_eq!(wrong.count(), 0, "frame {number} is mixed");
            *last = number;
        }
        count
    }

    fn stop_clock(&mut self, runs: bool) {
        let Self { clocks, model, mac_clock, .. } = self;
        clocks.set_running(model, *mac_clock, runs);
    }
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
fn epochs_under_a_stopped_clock_leave_nothing_and_lose_nothing() {
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
fn a_clock_that_comes_back_lets_no_old_frame_out() {
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
fn frames_at_the_port_wait_for_the_wire() {
    wires_down_at_any_moment(&design(None));
}

#[test]
fn after_a_reset_of_the_mac_the_next_frame_is_whole() {
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
fn a_lost_link_is_seen_told_and_survived() {
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
fn a_pause_is_obeyed_between_frames_and_not_for_ever() {
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
fn a_full_packet_buffer_asks_for_a_pause() {
    a_level_asks_for_a_pause(&design(None));
}

/// What runs on a design, and panics where a checker finds something.
type Scenario = fn(&Design);

/// What each of these moments must be guarded by, taken away.
#[test]
fn a_moment_without_its_guard_is_caught() {
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
