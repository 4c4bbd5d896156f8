//! Both blocks as the card joins them, and what surrounds them: feeder, MAC, pins, clocks.

use std::collections::VecDeque;

use ip::cmac::link::MacLink;
use ip::cmac::send::MacSend;
use sim::harness::mac::{Mac, CLOCK_PS};
use sim::harness::mac_pins::{MacPins, WireState};
use sim::switched::replace_once;
use stream::prelude::*;
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

pub struct Rig {
    pub model: Model,
    pub clocks: Clocks,
    user: ClockId,
    pub mac_clock: ClockId,
    pub mac: Mac,
    pub pins: MacPins,
    pub wire: WireState,
    pub queue: VecDeque<Vec<u8>>,
    at: usize,
    offering: bool,
    pub epoch: u32,
    pub number: u32,
    pub counts: [u64; 8],
}

pub fn design(fault: Option<(&str, &str)>) -> Design {
    let mut block = MacSide::default();
    let text = hdl::ports::emit(&mut block, "mac_side").expect("emits");
    let ports = hdl::ports::ports_of(&block);
    let (text, options) = match fault {
        // It ends soon.
        Some((from, to)) => (replace_once(&text, from, to), Options::QUICK),
        None => (text, Options::default()),
    };
    Design::build("mac_side", &text, &ports, options).expect("builds")
}

impl Rig {
    pub fn new(design: &Design) -> Rig {
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

    pub fn get(&self, port: &str) -> u64 {
        self.model.get(self.model.port(port))
    }

    pub fn set(&mut self, port: &str, value: u64) {
        let port = self.model.port(port);
        self.model.set(port, value);
    }

    pub fn write(&mut self, register: u32, value: u32) {
        self.set("settings$valid", 1);
        let payload = u64::from(register) | u64::from(value) << 24;
        self.set("settings$payload", payload);
        self.cycles(1);
        self.set("settings$valid", 0);
    }

    /// Queues a frame of the running epoch.
    pub fn push(&mut self, bytes: usize) {
        self.number += 1;
        let words = [self.epoch, self.number, bytes as u32];
        let mut frame: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        frame.extend((frame.len()..bytes).map(|at| (at as u32 * 7 + self.number) as u8));
        self.queue.push_back(frame);
    }

    /// Cycles of the user clock.
    pub fn cycles(&mut self, cycles: u64) {
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
    pub fn reset(&mut self, cycles: u64) {
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
    pub fn judge(&mut self, oldest: u32, last: &mut u32) -> usize {
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

    pub fn stop_clock(&mut self, runs: bool) {
        let Self { clocks, model, mac_clock, .. } = self;
        clocks.set_running(model, *mac_clock, runs);
    }
}
