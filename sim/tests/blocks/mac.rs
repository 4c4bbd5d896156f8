//! The MAC model against the card's MAC sides, and its checks against planted faults.
//!
//! ```text
//!   Mac ──> rx_axis ──> MacReceive ──> AsyncFifo ──> MacSend ──> tx_axis ──> Mac
//! ```

use ip::cmac::receive::MacReceive;
use ip::cmac::send::MacSend;
use lab::frame::{wire_time_ps, Frame};
use rust_hdl_core::prelude::*;
use seed::seed;
use sim::harness::mac::{Mac, CLOCK_PS};
use sim::harness::stall::Stall;
use stream::async_fifo::AsyncFifo;
use stream::messages::PacketBeat;
use verilate::block::design_of;
use verilate::clocks::{ClockId, Clocks, Edge};
use verilate::options::Options;
use verilate::verilated::Model;

#[derive(LogicBlock, Default)]
struct Loopback {
    mac_clock: Signal<In, Clock>,
    clock: Signal<In, Clock>,
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
    receive: MacReceive,
    crossing: AsyncFifo<PacketBeat, 6, 7>,
    send: MacSend,
    beat: Signal<Local, PacketBeat>,
}

impl Logic for Loopback {
    #[hdl_gen]
    fn update(&mut self) {
        self.receive.mac_clock.next = self.mac_clock.val();
        self.crossing.write_clock.next = self.mac_clock.val();
        self.crossing.read_clock.next = self.clock.val();
        self.send.mac_clock.next = self.mac_clock.val();
        self.send.clock.next = self.clock.val();
        self.send.reset.next = false;
        self.send.link_up.next = true;
        self.send.flush_done.next = false;
        self.send.flush.next = false;
        self.send.hold.next = false;
        self.send.usr_tx_reset.next = false;
        self.receive.usr_rx_reset.next = false;
        self.receive.rx_axis_tdata.next = self.rx_axis_tdata.val();
        self.receive.rx_axis_tkeep.next = self.rx_axis_tkeep.val();
        self.receive.rx_axis_tvalid.next = self.rx_axis_tvalid.val();
        self.receive.rx_axis_tlast.next = self.rx_axis_tlast.val();
        self.receive.rx_axis_tuser.next = self.rx_axis_tuser.val();
        self.tx_axis_tdata.next = self.send.tx_axis_tdata.val();
        self.tx_axis_tkeep.next = self.send.tx_axis_tkeep.val();
        self.tx_axis_tvalid.next = self.send.tx_axis_tvalid.val();
        self.tx_axis_tlast.next = self.send.tx_axis_tlast.val();
        self.tx_axis_tuser.next = self.send.tx_axis_tuser.val();
        self.send.tx_axis_tready.next = self.tx_axis_tready.val();
        self.beat.next.data = self.receive.frames.data.val();
        self.beat.next.byte_count = self.receive.frames.byte_count.val();
        self.beat.next.last = self.receive.frames.last.val();
        self.beat.next.abort = self.receive.frames.abort.val();
        self.crossing.sink.valid.next = self.receive.frames.valid.val();
        self.crossing.sink.payload.next = self.beat.val();
        self.receive.frames.ready.next = self.crossing.sink.ready.val();
        self.send.frames.valid.next = self.crossing.source.valid.val();
        self.send.frames.data.next = self.crossing.source.payload.val().data;
        self.send.frames.byte_count.next = self.crossing.source.payload.val().byte_count;
        self.send.frames.last.next = self.crossing.source.payload.val().last;
        self.send.frames.abort.next = self.crossing.source.payload.val().abort;
        self.crossing.source.ready.next = self.send.frames.ready.val();
    }
}

/// Runs until `count` frames have been sent or `cycles_max` MAC cycles are over.
fn run(model: &mut Model, mac: &mut Mac, count: usize, cycles_max: u64) {
    let mut clocks = Clocks::new();
    let mac_clock = clocks.add(model, "mac_clock", CLOCK_PS, 1000);
    clocks.add(model, "clock", 4000, 0);
    while mac.sent.len() < count && clocks.cycles(mac_clock) < cycles_max {
        step(&mut clocks, model, mac, mac_clock);
    }
}

fn step(clocks: &mut Clocks, model: &mut Model, mac: &mut Mac, mac_clock: ClockId) {
    clocks.step(model, &mut |model, tick| {
        if tick.clock == mac_clock {
            match tick.edge {
                Edge::Before => mac.sample(model, tick.time_ps),
                Edge::After => mac.drive(model, tick.time_ps),
            }
        }
    });
}

fn frame(length: usize, salt: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 7 + index / 256 + salt) as u8).collect()
}

#[test]
fn all_frame_lengths_return_in_order() {
    let lengths = [60, 61, 63, 64, 65, 127, 128, 129, 1514, 4096, 9000, 9215, 9216, 60];
    let design = design_of(&mut Loopback::default(), "mac_loopback", Options::default());
    let design = design.expect("builds");
    let seed = seed();
    for stall in Stall::ALL {
        let mut model = design.model();
        let mut mac = Mac::new(&model, "rx_axis", "tx_axis");
        mac.stall_send(stall, seed);
        for (salt, length) in lengths.into_iter().enumerate() {
            let earliest_ps = if stall == Stall::None { 0 } else { salt as u64 * 5_000_000 };
            let frame = Frame { bytes: frame(length, salt), ..Frame::default() };
            mac.receive_frame(frame, earliest_ps);
        }
        run(&mut model, &mut mac, lengths.len(), 50_000);
        mac.assert_clean();
        let sent: Vec<&[u8]> = mac.sent.iter().map(|frame| &frame.bytes[..]).collect();
        assert_eq!(sent.len(), lengths.len(), "{stall:?}");
        for (salt, length) in lengths.into_iter().enumerate() {
            assert_eq!(sent[salt], frame(length, salt), "{length} bytes, {stall:?}");
        }
    }
}

#[test]
fn wire_time_is_kept_both_ways() {
    let design = design_of(&mut Loopback::default(), "mac_loopback", Options::default());
    let mut model = design.expect("builds").model();
    let mut mac = Mac::new(&model, "rx_axis", "tx_axis");
    let ends: Vec<u64> = (0..50)
        .map(|salt| mac.receive_frame(Frame { bytes: frame(1514, salt), ..Frame::default() }, 0))
        .collect();
    assert!(ends.windows(2).all(|pair| pair[1] - pair[0] == wire_time_ps(1514)));
    run(&mut model, &mut mac, 50, 50_000);
    assert_eq!(mac.sent.len(), 50);
    let first = mac.sent[0].time_ps - ends[0];
    assert!(mac.sent.iter().zip(&ends).all(|(frame, end)| frame.time_ps > *end));
    let last = mac.sent[49].time_ps - ends[49];
    // Each crossing may add a cycle of its reading clock.
    assert!(last <= first + 4000 + CLOCK_PS, "delay grew from {first} to {last} ps at line rate");
    let (received, sent) = (mac.received_count(), mac.sent_count());
    assert_eq!((received.frames, sent.frames, sent.bytes), (50, 50, 50 * 1514));
    assert!((received.gbps() - 98.44).abs() < 0.01, "{} Gb/s", received.gbps());
    assert!(sent.gbps() > 98.3, "{} Gb/s", sent.gbps());
}

#[test]
fn bad_frame_is_not_sent_on() {
    let design = design_of(&mut Loopback::default(), "mac_loopback", Options::default());
    let mut model = design.expect("builds").model();
    let mut mac = Mac::new(&model, "rx_axis", "tx_axis");
    mac.receive(frame(200, 1));
    mac.receive_frame(Frame { bytes: frame(300, 2), is_bad: true, time_ps: 0 }, 0);
    mac.receive(frame(400, 3));
    run(&mut model, &mut mac, 3, 2_000);
    mac.assert_clean();
    let lengths: Vec<usize> = mac.sent.iter().map(|frame| frame.bytes.len()).collect();
    assert_eq!(lengths, [200, 400]);
}

/// A card whose send port does what the test sets.
#[derive(LogicBlock, Default)]
struct Puppet {
    mac_clock: Signal<In, Clock>,
    rx_axis_tdata: Signal<In, Bits<512>>,
    rx_axis_tkeep: Signal<In, Bits<64>>,
    rx_axis_tvalid: Signal<In, Bit>,
    rx_axis_tlast: Signal<In, Bit>,
    rx_axis_tuser: Signal<In, Bit>,
    keep: Signal<In, Bits<64>>,
    valid: Signal<In, Bit>,
    last: Signal<In, Bit>,
    bad: Signal<In, Bit>,
    tx_axis_tdata: Signal<Out, Bits<512>>,
    tx_axis_tkeep: Signal<Out, Bits<64>>,
    tx_axis_tvalid: Signal<Out, Bit>,
    tx_axis_tlast: Signal<Out, Bit>,
    tx_axis_tuser: Signal<Out, Bit>,
    tx_axis_tready: Signal<In, Bit>,
}

impl Logic for Puppet {
    #[hdl_gen]
    fn update(&mut self) {
        self.tx_axis_tdata.next = self.rx_axis_tdata.val();
        self.tx_axis_tkeep.next = self.keep.val();
        self.tx_axis_tvalid.next = self.valid.val();
        self.tx_axis_tlast.next = self.last.val();
        self.tx_axis_tuser.next = self.bad.val();
    }
}

/// Offers one beat a cycle, (valid, keep, last, bad), and returns the breaches found.
fn breaches(beats: &[(u64, u64, u64, u64)]) -> Vec<String> {
    let design = design_of(&mut Puppet::default(), "mac_puppet", Options::default());
    let mut model = design.expect("builds").model();
    let mut mac = Mac::new(&model, "rx_axis", "tx_axis");
    let mut clocks = Clocks::new();
    let mac_clock = clocks.add(&mut model, "mac_clock", CLOCK_PS, 0);
    step(&mut clocks, &mut model, &mut mac, mac_clock);
    for (valid, keep, last, bad) in beats {
        for (port, value) in [("valid", valid), ("keep", keep), ("last", last), ("bad", bad)] {
            let port = model.port(port);
            model.set(port, *value);
        }
        step(&mut clocks, &mut model, &mut mac, mac_clock);
    }
    mac.violations.into_iter().map(|violation| violation.what).collect()
}

const FULL: (u64, u64, u64, u64) = (1, u64::MAX, 0, 0);
const END: (u64, u64, u64, u64) = (1, u64::MAX, 1, 0);
const IDLE: (u64, u64, u64, u64) = (0, 0, 0, 0);

#[test]
fn good_frames_break_no_rule() {
    assert_eq!(breaches(&[FULL, END, IDLE, END, IDLE]), [""; 0]);
}

#[test]
fn gap_inside_a_frame_is_caught() {
    assert_eq!(breaches(&[FULL, IDLE, END]), ["tvalid fell inside a frame"]);
}

#[test]
fn short_frame_is_caught() {
    assert_eq!(breaches(&[(1, u64::MAX >> 5, 1, 0)]), ["a frame of 59 bytes"]);
}

#[test]
fn wrong_keep_pattern_is_caught() {
    let found = breaches(&[FULL, (1, 0xff0f, 1, 0)]);
    assert_eq!(found, ["tkeep 0xff0f is not contiguous from byte 0"]);
    let found = breaches(&[(1, 0xff, 0, 0), END]);
    assert_eq!(found, ["tkeep 0xff on a beat that is not the last"]);
}

#[test]
fn frame_marked_bad_is_caught() {
    assert_eq!(breaches(&[FULL, (1, u64::MAX, 1, 1)]), ["a frame marked bad"]);
}
