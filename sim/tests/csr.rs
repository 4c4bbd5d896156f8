//! The register block: identity, control, epochs, and counters read while they count.
//!
//! ```text
//!   pulses, register writes ──► Csr ──► read_reply = what a plain count of the pulses says
//! ```

use abi::config::SMALL;
use abi::registers as r;
use abi::ABI_VERSION;
use hdl::csr::Csr;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::bench::Bench;
use sim::monitor::StreamMonitor;
use sim::sink::MessageSink;
use sim::source::MessageSource;
use sim::stall::{seed, Stall};
use sim::width::lint_width_warnings;

struct Test {
    bench: Bench,
    request: MessageSource,
    reply: MessageSink,
    monitor: StreamMonitor,
}

impl Test {
    fn new(source: Stall, sink: Stall, seed: u64) -> Test {
        let mut bench = Bench::of(&mut Csr::new(&SMALL), "csr").expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        bench.set("bus_master", 1);
        bench.set("link_up", 1);
        let mut test = Test {
            request: MessageSource::new(&bench.model, "read_request", source, seed),
            reply: MessageSink::new(&bench.model, "read_reply", sink, seed),
            monitor: StreamMonitor::new(&bench.model, "read_reply"),
            bench,
        };
        test.cycle();
        test
    }

    fn cycle(&mut self) {
        self.bench
            .cycle(&mut [&mut self.request, &mut self.reply, &mut self.monitor]);
    }

    fn read(&mut self, address: u32) -> u32 {
        self.request.push_u64(u64::from(address));
        let start = self.bench.now();
        while self.reply.messages.is_empty() {
            self.cycle();
            assert!(
                self.bench.now() < start + 1_000,
                "no reply for {address:#x}"
            );
        }
        self.monitor.assert_clean();
        self.reply.pop_u64().expect("there is one") as u32
    }

    fn write(&mut self, address: u32, value: u32) {
        self.bench.set("settings$valid", 1);
        let payload = u64::from(address) | u64::from(value) << 24;
        self.bench.set("settings$payload", payload);
        self.cycle();
        self.bench.set("settings$valid", 0);
    }

    fn epoch(&mut self) -> u32 {
        self.read(r::EPOCH)
    }
}

#[test]
fn identity_and_sizes() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut test = Test::new(source, sink, seed);
        assert_eq!(test.read(r::ID), r::ID_VALUE);
        assert_eq!(test.read(r::VERSION), ABI_VERSION);
        assert_eq!(test.read(r::SIZES_0), u32::from_le_bytes([6, 5, 12, 6]));
        assert_eq!(test.read(r::SIZES_1), u32::from_le_bytes([6, 2, 0, 0]));
        assert_eq!(test.read(r::STATUS), 0b110);
        for address in [0x40, 0x1000, r::CONTEXTS, 0x9000, r::DOORBELLS, 0xff_fffc] {
            assert_eq!(test.read(address), 0, "{address:#x}");
        }
    });
}

#[test]
fn every_cause_begins_an_epoch_and_stops_both_directions() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    for cause in ["command", "user_reset", "bus_master", "flr_in_process"] {
        let epoch = test.epoch();
        test.write(r::CONTROL, r::CONTROL_RX | r::CONTROL_TX);
        assert_eq!(test.read(r::CONTROL), r::CONTROL_RX | r::CONTROL_TX);
        match cause {
            "command" => test.write(r::CONTROL, r::CONTROL_RX | r::CONTROL_RESET),
            "bus_master" => test.bench.set(cause, 0),
            _ => test.bench.set(cause, 1),
        }
        test.cycle();
        assert_eq!(test.bench.get("reset"), 1, "{cause}");
        (0..30).for_each(|_| test.cycle());
        match cause {
            "bus_master" => test.bench.set(cause, 1),
            "command" => {}
            _ => test.bench.set(cause, 0),
        }
        assert_eq!(test.epoch(), epoch + 1, "{cause}");
        assert_eq!(test.read(r::CONTROL), 0, "{cause}");
    }
}

#[test]
fn read_waits_for_the_end_of_a_reset() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let epoch = test.epoch();
    test.write(r::CONTROL, r::CONTROL_RESET);
    let start = test.bench.now();
    assert_eq!(test.epoch(), epoch + 1);
    assert!(test.bench.now() - start >= 16);
    assert_eq!(test.bench.get("reset"), 0);
}

#[test]
fn epoch_skips_zero() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let mut last = test.bench.get("epoch");
    for _ in 0..0x1_0000 {
        test.write(r::CONTROL, r::CONTROL_RESET);
        let epoch = test.bench.get("epoch");
        assert_eq!(epoch, if last == 0xffff { 1 } else { last + 1 });
        last = epoch;
    }
}

#[test]
fn table_reads_go_to_the_interrupts() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    test.bench.set("msix_read_data", 0x1234_5678);
    assert_eq!(test.read(r::MSIX_TABLE + 0x1c), 0x1234_5678);
    assert_eq!(test.read(r::MSIX_PENDING), 0x1234_5678);
    assert_eq!(test.read(0x2_0000), 0);
}

/// Pulses of one cycle, and what they add up to.
#[derive(Default)]
struct Counts {
    drops: [u64; 16],
    dispositions: [u64; 16],
    send_errors: [u64; 8],
    stages: [u64; 8],
}

impl Counts {
    fn pulse(&mut self, test: &mut Test, random: &mut SmallRng) {
        let mut bank = |name: &str, counts: &mut [u64]| {
            let index = random.random_range(0..counts.len());
            let valid = random.random_bool(0.6);
            test.bench.set(&format!("{name}$valid"), u64::from(valid));
            test.bench.set(&format!("{name}$payload"), index as u64);
            counts[index] += u64::from(valid);
        };
        bank("drop_count", &mut self.drops);
        bank("disposition_count", &mut self.dispositions);
        bank("send_error_count", &mut self.send_errors);
        let mac = random.random_bool(0.3);
        test.bench.set("mac_dropped", u64::from(mac));
        let events: u8 = random.random();
        test.bench.set("stage_events", u64::from(events));
        for (index, count) in self.stages.iter_mut().enumerate() {
            *count += u64::from(events >> index & 1);
        }
        // The bank's own count of the first reason is not shown: the MAC side's is.
        self.drops[0] = 0;
        test.cycle();
    }

    fn stop(test: &mut Test) {
        for port in ["drop_count", "disposition_count", "send_error_count"] {
            test.bench.set(&format!("{port}$valid"), 0);
        }
        test.bench.set("mac_dropped", 0);
        test.bench.set("stage_events", 0);
    }
}

#[test]
fn counters_count_every_pulse() {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut test = Test::new(Stall::None, Stall::None, seed);
    let mut counts = Counts::default();
    for _ in 0..5_000 {
        counts.pulse(&mut test, &mut random);
    }
    Counts::stop(&mut test);
    let banks: [(u32, &[u64]); 4] = [
        (r::COUNTERS_DROP, &counts.drops),
        (r::COUNTERS_DISPOSITION, &counts.dispositions),
        (r::COUNTERS_SEND_ERROR, &counts.send_errors),
        (r::COUNTERS_STAGE, &counts.stages),
    ];
    for (base, values) in banks {
        for (index, &value) in values.iter().enumerate() {
            if base == r::COUNTERS_DROP && index == 0 {
                continue;
            }
            let low = test.read(base + 8 * index as u32);
            let high = test.read(base + 8 * index as u32 + 4);
            assert_eq!(
                u64::from(low) | u64::from(high) << 32,
                value,
                "{base:#x} {index}"
            );
        }
    }
}

#[test]
fn mac_drops_are_the_first_drop_counter() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    test.bench.set("mac_dropped", 1);
    (0..7).for_each(|_| test.cycle());
    test.bench.set("mac_dropped", 0);
    assert_eq!(test.read(r::COUNTERS_DROP), 7);
    assert_eq!(test.read(r::COUNTERS_DROP + 4), 0);
}
