//! The packet drivers around a FIFO, and the monitor against planted faults.
//!
//! ```text
//!   PacketSource ──> sink │ FrameFifo │ source ──> PacketSink
//!   test ports ─────────> Puppet ────────────────> StreamMonitor
//! ```

use rust_hdl_core::prelude::*;
use seed::seed;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::sink::PacketSink;
use sim::harness::source::{Packet, PacketSource};
use sim::harness::stall::Stall;
use stream::frame_fifo::FrameFifo;

fn packet(length: usize, salt: usize) -> Packet {
    let bytes = (0..length).map(|index| (index * 13 + index / 251 + salt) as u8).collect();
    Packet { bytes, abort: salt % 5 == 4, meta: Vec::new() }
}

#[test]
fn packets_pass_fifo_under_stalls() {
    let lengths = [1, 2, 63, 64, 65, 127, 128, 129, 200, 640, 1500, 64, 1];
    let seed = seed();
    Stall::matrix(seed, |source_stall, sink_stall, seed| {
        let mut fifo = FrameFifo::<6, 7>::new(false, false);
        let mut bench = Bench::of(&mut fifo, "frame_fifo_test").expect("builds");
        let mut source = PacketSource::new(&bench.model, "sink", source_stall, seed);
        let mut sink = PacketSink::new(&bench.model, "source", sink_stall, seed);
        let mut into = StreamMonitor::new(&bench.model, "sink");
        let mut out = StreamMonitor::new(&bench.model, "source");
        for (salt, length) in lengths.into_iter().enumerate() {
            source.push(packet(length, salt));
        }
        while sink.packets.len() < lengths.len() {
            bench.cycle(&mut [&mut source, &mut sink, &mut into, &mut out]);
            assert!(bench.now() < 5_000, "{} packets", sink.packets.len());
        }
        for (salt, length) in lengths.into_iter().enumerate() {
            assert_eq!(sink.packets[salt], packet(length, salt), "{length} bytes");
        }
        into.assert_clean();
        out.assert_clean();
        assert_eq!(into.handshakes(), out.handshakes());
        assert!(source.is_done() && !sink.is_partial());
    });
}

/// A packet stream that does what the test sets.
#[derive(LogicBlock, Default)]
struct Puppet {
    clock: Signal<In, Clock>,
    set_valid: Signal<In, Bit>,
    set_data: Signal<In, Bits<512>>,
    set_byte_count: Signal<In, Bits<7>>,
    set_last: Signal<In, Bit>,
    set_abort: Signal<In, Bit>,
    packets: stream::packet::PacketSource,
}

impl Logic for Puppet {
    #[hdl_gen]
    fn update(&mut self) {
        self.packets.valid.next = self.set_valid.val();
        self.packets.data.next = self.set_data.val();
        self.packets.byte_count.next = self.set_byte_count.val();
        self.packets.last.next = self.set_last.val();
        self.packets.abort.next = self.set_abort.val();
    }
}

#[derive(Clone, Copy)]
struct Beat {
    valid: u64,
    ready: u64,
    data: u8,
    byte_count: u64,
    last: u64,
    abort: u64,
}

const TAKEN: Beat = Beat { valid: 1, ready: 1, data: 1, byte_count: 64, last: 0, abort: 0 };
const LAST: Beat = Beat { last: 1, ..TAKEN };
const WAITING: Beat = Beat { ready: 0, ..LAST };
const IDLE: Beat = Beat { valid: 0, ..TAKEN };

fn breaches(beats: &[Beat]) -> Vec<String> {
    let mut bench = Bench::of(&mut Puppet::default(), "packet_puppet").expect("builds");
    let mut monitor = StreamMonitor::new(&bench.model, "packets");
    for beat in beats {
        bench.set("set_valid", beat.valid);
        bench.set("packets$ready", beat.ready);
        bench.set("set_byte_count", beat.byte_count);
        bench.set("set_last", beat.last);
        bench.set("set_abort", beat.abort);
        let data = bench.model.port("set_data");
        bench.model.set_bytes(data, &[beat.data; 64]);
        bench.model.eval();
        bench.cycle(&mut [&mut monitor as &mut dyn Agent]);
    }
    monitor.violations.into_iter().map(|violation| violation.what).collect()
}

#[test]
fn good_beats_break_no_rule() {
    assert_eq!(breaches(&[IDLE, TAKEN, WAITING, LAST, IDLE, LAST]), [""; 0]);
}

#[test]
fn withdrawn_offer_is_caught() {
    assert_eq!(breaches(&[WAITING, IDLE]), ["valid fell before its handshake"]);
}

#[test]
fn offer_that_changes_is_caught() {
    let changed = Beat { data: 2, ..LAST };
    assert_eq!(breaches(&[WAITING, changed]), ["data changed while valid waited for ready"]);
}

#[test]
fn wrong_counts_and_aborts_are_caught() {
    let short = Beat { byte_count: 63, ..TAKEN };
    assert_eq!(breaches(&[short]), ["63 bytes in a beat that is not the last"]);
    let empty = Beat { byte_count: 0, ..LAST };
    assert_eq!(breaches(&[empty]), ["0 bytes in the last beat"]);
    let early = Beat { abort: 1, ..TAKEN };
    assert_eq!(breaches(&[early]), ["abort before the last beat"]);
}
