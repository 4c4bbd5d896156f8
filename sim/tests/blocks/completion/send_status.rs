//! The newest index of each send ring, and how it shares a write client with the completions.

use std::collections::{BTreeMap, VecDeque};

use abi::registers;
use host_interface::ring::send_status::SendStatus;
use host_interface::small_write::SmallWrite;
use host_interface::write_mux::WriteMux;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::payload::{bytes_of, field};
use sim::harness::sink::{MessageSink, PacketSink};
use sim::harness::source::MessageSource;
use sim::harness::stall::Stall;
use stream::prelude::*;
use verilate::verilated::{Model, PortId};
use verilate::width::lint_width_warnings;

use super::{base, bits_from, enable, Pulses, OWNERS};

#[test]
fn each_owners_last_index_reaches_host() {
    Stall::matrix(seed(), |_, sink, seed| {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut bench =
            Bench::of(&mut SendStatus::<2, 4>::default(), "send_status").expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        let mut settings = Pulses::new("settings");
        let mut taken = Pulses::new("taken");
        let mut write = MessageSink::new(&bench.model, "write", sink, seed);
        let mut monitor = StreamMonitor::new(&bench.model, "write");
        // Owner 3 stays disabled.
        for owner in 0..3 {
            enable(&mut settings, owner, registers::CONTEXT_SEND_STATUS, 4);
        }
        bench.cycles(20, &mut [&mut settings]);
        let mut newest = BTreeMap::new();
        for _ in 0..400 {
            let owner = random.random_range(0..OWNERS);
            let index = newest.entry(owner).or_insert(0u32.wrapping_sub(30 * owner));
            *index = index.wrapping_add(random.random_range(1..3));
            taken.queue.push_back(bytes_of(RingFetch {
                owner: u64::from(owner).into(),
                index: u64::from(*index).into(),
            }));
            let pause = random.random_range(1..20);
            bench.cycles(pause, &mut [&mut taken, &mut write, &mut monitor]);
        }
        bench.cycles(800, &mut [&mut taken, &mut write, &mut monitor]);
        monitor.assert_clean();
        let mut seen = BTreeMap::new();
        let writes = write.messages.len();
        for message in write.messages {
            let address = field::<SmallWrite>(&message, "address");
            let owner = ((address - base(0)) >> 32) as u32;
            assert_eq!(address, base(owner));
            assert_eq!(field::<SmallWrite>(&message, "bytes"), 4);
            let data = bits_from(&message, 69);
            let index = u32::from_le_bytes(data[..4].try_into().expect("4 bytes"));
            let before = seen.insert(owner, index);
            let step = index.wrapping_sub(before.unwrap_or(0u32.wrapping_sub(30 * owner)));
            assert!((1..1 << 31).contains(&step), "owner {owner} went back to {index}");
        }
        newest.remove(&3);
        assert_eq!(seen, newest);
        assert!(writes < 120, "{writes} writes for 400 descriptors");
    });
}

/// Records the pulses of a bundle.
struct PulseLog {
    valid: PortId,
    payload: PortId,
    pulses: Vec<Vec<u8>>,
}

impl PulseLog {
    fn new(model: &Model, name: &str) -> PulseLog {
        let port = |field: &str| model.port(&format!("{name}${field}"));
        PulseLog { valid: port("valid"), payload: port("payload"), pulses: Vec::new() }
    }
}

impl Agent for PulseLog {
    fn sample(&mut self, model: &Model) {
        if model.is_high(self.valid) {
            let mut pulse = vec![0; RingFetch::BITS.div_ceil(8)];
            model.get_bytes(self.payload, &mut pulse);
            self.pulses.push(pulse);
        }
    }

    fn drive(&mut self, _model: &mut Model) {}
}

#[test]
fn senders_share_client_by_jobs() {
    Stall::matrix(seed(), |source, sink, seed| {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut bench = Bench::of(&mut WriteMux::default(), "write_mux").expect("builds");
        lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
        let model = &bench.model;
        let mut senders = ["completion", "send_status"]
            .map(|name| MessageSource::new(model, name, source, seed ^ name.len() as u64));
        let mut job = MessageSink::new(model, "write_job", sink, seed);
        let mut data = PacketSink::new(model, "write_data", sink, seed ^ 9);
        let mut monitors = ["write_job", "write_data"].map(|n| StreamMonitor::new(model, n));
        let mut expected = [VecDeque::new(), VecDeque::new()];
        // Owner and index that are told once the job is accepted: commands confirmed, or slots.
        let mut told = [VecDeque::new(), VecDeque::new()];
        let mut pulses = ["confirmed", "reported"].map(|name| PulseLog::new(model, name));
        for index in 0..200u64 {
            for (which, sender) in senders.iter_mut().enumerate() {
                let bytes = if which == 0 { 16 } else { 4 };
                let value: u64 = random.random();
                sender.push_struct(SmallWrite {
                    address: ((which as u64) << 40 | index << 6).into(),
                    bytes: bytes.into(),
                    data: value.into(),
                    owner: (index & 3).into(),
                });
                let more = if which == 0 { value.wrapping_add(1) } else { value };
                told[which].push_back((index & 3, more & 0xffff_ffff));
                let mut content = value.to_le_bytes().to_vec();
                content.resize(16, 0);
                content.truncate(bytes as usize);
                expected[which].push_back((index << 6, content));
            }
        }
        while job.messages.len() < 400 || data.packets.len() < 400 {
            let [first, second] = &mut senders;
            let [a, b] = &mut monitors;
            let [confirmed, reported] = &mut pulses;
            let before = job.messages.len();
            bench.cycle(&mut [first, second, &mut job, &mut data, a, b, confirmed, reported]);
            assert!(bench.now() < 50_000);
            for (which, log) in pulses.iter_mut().enumerate() {
                for pulse in log.pulses.drain(..) {
                    // In the cycle in which the job was accepted: never before it.
                    assert_eq!(job.messages.len(), before + 1, "told before it was accepted");
                    let owner = field::<RingFetch>(&pulse, "owner");
                    let index = field::<RingFetch>(&pulse, "index");
                    assert_eq!(told[which].pop_front(), Some((owner, index)));
                }
            }
        }
        assert!(told.iter().all(VecDeque::is_empty), "not told: {told:?}");
        monitors.iter().for_each(StreamMonitor::assert_clean);
        for (message, packet) in job.messages.iter().zip(data.packets) {
            let address = field::<WriteJob>(message, "address");
            let which = (address >> 40) as usize;
            let (offset, content) = expected[which].pop_front().expect("was sent");
            assert_eq!(address & 0xff_ffff_ffff, offset);
            assert_eq!(field::<WriteJob>(message, "bytes"), content.len() as u64);
            assert_eq!(field::<WriteJob>(message, "relaxed"), 0);
            assert_eq!(packet.bytes, content);
        }
    });
}
