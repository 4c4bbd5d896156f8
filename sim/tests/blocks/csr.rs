//! The register block: identity, control, epochs, and counters read while they count.
//!
//! ```text
//!   pulses, register writes ──► Csr ──► read_reply = what a plain count of the pulses says
//! ```

use abi::config::{EPOCH_MAX, SMALL};
use abi::counters as n;
use abi::flow_key::SECRET_WORDS;
use abi::registers as r;
use abi::ABI_VERSION;
use host_interface::csr::Csr;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::sink::MessageSink;
use sim::harness::source::MessageSource;
use sim::harness::stall::Stall;
use verilate::width::lint_width_warnings;

struct Test {
    bench: Bench,
    request: MessageSource,
    reply: MessageSink,
    monitor: StreamMonitor,
}

impl Test {
    fn new(source: Stall, sink: Stall, seed: u64) -> Test {
        let mut bench = Bench::of_shared("csr", "", || Csr::new(&SMALL)).expect("builds");
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
        self.bench.cycle(&mut [&mut self.request, &mut self.reply, &mut self.monitor]);
    }

    fn read(&mut self, address: u32) -> u32 {
        self.request.push_u64(u64::from(address));
        let start = self.bench.now();
        while self.reply.messages.is_empty() {
            self.cycle();
            assert!(self.bench.now() < start + 1_000, "no reply for {address:#x}");
        }
        self.monitor.assert_clean();
        self.reply.pop_u64().expect("there is one") as u32
    }

    /// A counter: the low word latches the high one.
    fn read_64(&mut self, address: u32) -> u64 {
        let low = self.read(address);
        u64::from(self.read(address + 4)) << 32 | u64::from(low)
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
        test.bench.set("tables_busy", 1);
        assert_eq!(test.read(r::STATUS), 0b110 | r::STATUS_TABLES_BUSY);
        test.bench.set("requests_pending", 1);
        test.bench.set("wire_status", 0x25);
        let wire = r::STATUS_WIRE_UP | r::STATUS_WIRE_ALIGNED | r::STATUS_PAUSED;
        let expected = 0b110 | r::STATUS_TABLES_BUSY | r::STATUS_REQUESTS_PENDING | wire;
        assert_eq!(test.read(r::STATUS), expected);
        test.bench.set("ltssm_state", 0x10);
        test.bench.set("power_state", 1);
        assert_eq!(test.read(r::PCIE_STATE), 0x110);
        for address in [0x40, 0x1000, r::CONTEXTS, 0x8ff0, 0x9000, r::DOORBELLS, 0xff_fffc] {
            assert_eq!(test.read(address), 0, "{address:#x}");
        }
    });
}

#[test]
fn each_cause_begins_epoch_stops_both() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let causes =
        ["command", "user_reset", "hot_reset", "power_state", "bus_master", "flr_in_process"];
    for cause in causes {
        let epoch = test.epoch();
        test.write(r::CONTROL, r::CONTROL_RX | r::CONTROL_TX);
        assert_eq!(test.read(r::CONTROL), r::CONTROL_RX | r::CONTROL_TX);
        match cause {
            "command" => test.write(r::CONTROL, r::CONTROL_RX | r::CONTROL_RESET),
            "bus_master" => test.bench.set(cause, 0),
            // D3hot.
            "power_state" => test.bench.set(cause, 4),
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
fn read_waits_for_reset_end() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let epoch = test.epoch();
    test.write(r::CONTROL, r::CONTROL_RESET);
    let start = test.bench.now();
    assert_eq!(test.epoch(), epoch + 1);
    assert!(test.bench.now() - start >= 16);
    assert_eq!(test.bench.get("reset"), 0);
}

#[test]
fn epochs_count_from_one_to_last() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let mut last = test.bench.get("epoch");
    for _ in 0..0x1_0000 {
        test.write(r::CONTROL, r::CONTROL_RESET);
        let epoch = test.bench.get("epoch");
        assert_eq!(epoch, if last == u64::from(EPOCH_MAX) { 1 } else { last + 1 });
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
    stages: [[u64; 8]; GROUPS.len()],
}

/// Ports of the groups of stage counters, in the order of `COUNTER_GROUPS`, and their counters.
/// Faults come on ports of their own.
const GROUPS: [(&str, u8); 9] = [
    ("work", 0xff),
    ("", 0),
    ("requests", 0xff),
    ("activity$reads", 0xff),
    ("activity$latency", 0xff),
    ("path_ends", 0x3f),
    ("wire_events", 0xff),
    ("board_events", 0xf),
    ("run_events", 0xff),
];

/// Ports of the faults, and their place in the group. The block finds the third itself.
const FAULTS: [(&str, usize); 7] = [
    ("registers_malformed", 0),
    ("registers_unsupported", 1),
    ("command_rings_stopped", 3),
    ("send_rings_stopped", 4),
    ("activity$payload_failed", 5),
    ("activity$flush_failed", 6),
    ("activity$unexpected", 7),
];

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
        let groups = GROUPS.iter().zip(&mut self.stages);
        for ((port, used), counts) in groups.filter(|((port, _), _)| !port.is_empty()) {
            let events = random.random::<u8>() & used;
            test.bench.set(port, u64::from(events));
            for (index, count) in counts.iter_mut().enumerate() {
                *count += u64::from(events >> index & 1);
            }
        }
        for (port, index) in FAULTS {
            let fault = random.random_bool(0.3);
            test.bench.set(port, u64::from(fault));
            self.stages[1][index] += u64::from(fault);
        }
        test.cycle();
    }

    fn stop(test: &mut Test) {
        for port in ["drop_count", "disposition_count", "send_error_count"] {
            test.bench.set(&format!("{port}$valid"), 0);
        }
        let groups = GROUPS.iter().filter(|(port, _)| !port.is_empty());
        groups.for_each(|(port, _)| test.bench.set(port, 0));
        let faults = FAULTS.iter();
        faults.for_each(|(port, _)| test.bench.set(port, 0));
        // Tallies reach the totals within this time.
        (0..16).for_each(|_| test.cycle());
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
    let mut banks: Vec<(u32, &[u64])> = vec![
        (n::COUNTERS_DROP, &counts.drops),
        (n::COUNTERS_DISPOSITION, &counts.dispositions),
        (n::COUNTERS_SEND_ERROR, &counts.send_errors),
    ];
    let groups = (n::COUNTERS_STAGE..).step_by(n::COUNTER_GROUP_STRIDE as usize);
    banks.extend(groups.zip(counts.stages.iter().map(|group| &group[..])));
    for (base, values) in banks {
        for (index, &value) in values.iter().enumerate() {
            if base == n::COUNTERS_DROP && index == 0 {
                continue;
            }
            assert_eq!(test.read_64(base + 8 * index as u32), value, "{base:#x} {index}");
        }
    }
}

#[test]
fn the_card_says_what_it_counts() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    let info = n::COUNTER_GROUPS.len() as u32 | (n::PEAKS.len() as u32) << 8;
    assert_eq!(test.read(n::COUNTERS_INFO), info);
    assert_eq!(GROUPS.len(), n::COUNTER_GROUPS.len());
}

#[test]
fn peaks_keep_the_epochs_maximum() {
    let levels = [
        "activity$reads_in_flight",
        "activity$completion_headers",
        "activity$completion_data",
        "activity$writes_in_flight",
        "activity$write_beats",
        "activity$tags_quarantined",
        "rx_buffer_beats",
        "tx_fifo_beats",
    ];
    assert_eq!(levels.len(), n::PEAKS.len());
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut test = Test::new(Stall::None, Stall::None, seed);
    for round in 0..3 {
        let mut highest = [0; 8];
        for _ in 0..200 {
            for (level, highest) in levels.iter().zip(&mut highest) {
                let value = random.random_range(0..=u64::from(u16::MAX) >> (4 * round));
                test.bench.set(level, value);
                *highest = value.max(*highest);
            }
            test.cycle();
        }
        let read = |test: &mut Test, at: u32| test.read_64(n::COUNTERS_PEAK + 8 * at);
        for level in levels {
            test.bench.set(level, 0);
        }
        for (at, &highest) in (0..).zip(&highest) {
            assert_eq!(read(&mut test, at), highest, "{}", levels[at as usize]);
        }
        test.write(r::CONTROL, r::CONTROL_RESET);
        (0..30).for_each(|_| test.cycle());
        assert!((0..8).all(|at| read(&mut test, at) == 0));
    }
}

/// Offsets that a driver may write, from the list of registers.
fn is_writable(offset: u32) -> bool {
    let owners = 1u32 << SMALL.owner_bits;
    let secrets = (0..2).flat_map(|bank| {
        let base = r::HASH_SECRET + bank * r::HASH_SECRET_STRIDE;
        (0..SECRET_WORDS as u32).map(move |word| base + 4 * word)
    });
    let profiles = (0..8).map(|word| r::PROFILES + 4 * word);
    let flushes = (2..8).map(|word| r::FLUSH + 4 * word);
    let contexts = (0..owners).flat_map(|owner| {
        let base = r::CONTEXTS + owner * r::CONTEXT_STRIDE;
        (0..=r::CONTEXT_ENABLE / 4).map(move |word| base + 4 * word)
    });
    let table = (0..4 * owners).map(|word| r::MSIX_TABLE + 4 * word);
    let doorbells = (0..owners).flat_map(|owner| {
        let base = r::DOORBELLS + owner * r::DOORBELL_STRIDE;
        let words = (0..=r::DOORBELL_ARM_SENDS / 4).map(move |word| base + 4 * word);
        words.filter(move |at| *at != base + r::DOORBELL_STATUS)
    });
    let single = [
        r::CONTROL,
        r::INTERRUPT_INTERVAL,
        r::INTERRUPT_ENTRIES,
        r::MAC_CONTROL,
        r::PAUSE_LIMIT,
        r::PAUSE_BEATS,
        r::COALESCE_CYCLES,
    ]
    .into_iter();
    let all = single.chain(secrets).chain(profiles).chain(flushes);
    all.chain(contexts).chain(table).chain(doorbells).any(|at| at == offset)
}

#[test]
fn writes_that_go_nowhere_are_counted() {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut test = Test::new(Stall::None, Stall::None, seed);
    // Every word up to the end of the contexts' page and around each later array, and random ones.
    let near = |base: u32| (base - 0x40..base + 0x140).step_by(4);
    let mut offsets: Vec<u32> = (0..0x2400).step_by(4).collect();
    offsets.extend(near(r::MSIX_TABLE));
    for page in 0..=1 << SMALL.owner_bits {
        offsets.extend(near(r::DOORBELLS + page * r::DOORBELL_STRIDE));
    }
    offsets.extend((0..500).map(|_| random.random_range(0..0x40_0000u32) * 4));
    let mut unmapped = 0;
    for &offset in &offsets {
        // A reset in between would only cost time.
        test.write(offset, 0);
        unmapped += u64::from(!is_writable(offset));
    }
    // A line pushed to an owner that is not there.
    let owners = 1 << SMALL.owner_bits;
    for owner in [0, owners - 1, owners, 255] {
        test.bench.set("pushed$valid", 1);
        let port = test.bench.model.port("pushed$payload");
        test.bench.model.set_bytes(port, &[owner]);
        test.cycle();
        test.bench.set("pushed$valid", 0);
        unmapped += u64::from(owner >= owners);
    }
    (0..20).for_each(|_| test.cycle());
    let faults = n::COUNTERS_STAGE + n::COUNTER_GROUP_STRIDE;
    assert_eq!(test.read_64(faults + 8 * 2), unmapped);
    assert!(unmapped > 1_000 && unmapped < offsets.len() as u64 - 100);
}

#[test]
fn msix_reads_wait_for_message() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    test.bench.set("msix_read_data", 0x77);
    let mut wait = |at: u32, busy: u64| {
        test.bench.set("msix_busy", busy);
        test.request.push_u64(at.into());
        (0..100).for_each(|_| test.cycle());
        let meanwhile = test.reply.pop_u64();
        test.bench.set("msix_busy", 0);
        (0..10).for_each(|_| test.cycle());
        (meanwhile, test.reply.pop_u64())
    };
    for at in [r::MSIX_TABLE, r::MSIX_TABLE + 12, r::MSIX_PENDING] {
        assert_eq!(wait(at, 0), (Some(0x77), None), "{at:#x}");
        assert_eq!(wait(at, 1), (None, Some(0x77)), "{at:#x}");
    }
    for at in [r::ID, r::MSIX_TABLE - 4, r::MSIX_TABLE + 0x1_0000, r::STATUS] {
        let (meanwhile, after) = wait(at, 1);
        assert!(meanwhile.is_some() && after.is_none(), "{at:#x}");
    }
}

#[test]
fn stopped_rings_show_in_owners_page() {
    let mut test = Test::new(Stall::None, Stall::None, 1);
    for owner in 0..1 << SMALL.owner_bits {
        let page = r::DOORBELLS + owner * r::DOORBELL_STRIDE;
        for status in 0..4 {
            test.bench.set("status", status);
            assert_eq!(test.read(page + r::DOORBELL_STATUS), status as u32);
            assert_eq!(test.read(page + r::DOORBELL_ARM), 0);
            assert_eq!(test.read(page + r::DOORBELL_ARM_COMMANDS), 0);
        }
    }
    let beyond = r::DOORBELLS + (r::DOORBELL_STRIDE << SMALL.owner_bits);
    assert_eq!(test.read(beyond + r::DOORBELL_STATUS), 0);
}
