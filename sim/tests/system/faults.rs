//! What goes wrong on the bus is counted, told to whom it concerns, and stops nobody else.
//!
//! ```text
//!   fault in one read ──► card ──► counter, stopped ring or event of its owner
//!                             └──► every other ring and flow goes on
//! ```

use abi::config::COMMAND_BYTES;
use abi::reason::SendError;
use abi::{header_entry as h, registers as r};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::DeviceConfig;
use host::driver::error::DriverError;
use host::driver::rings::HeaderEntry;
use host::headers::packet::parse_tcp;
use host::records::commands as cmd;
use host::records::commands::{Acceptance, Direction, FlowInstall, FlowName, Segment};
use host::records::descriptor::{self, raw, Payload};
use host::records::ticket::Ticket;
use lab::time::ADVANCE_CYCLES;
use pcie_sim::{Fault, PcieConfig, Target};
use sim::card::SimulatedCard;
use sim::direct::Direct;
use sim::harness::traffic::{Addresses, PacketSpec};
use verilate::options::Options;

/// Payload of each flow.
const PAYLOAD_BYTES: u32 = 1000;

fn open() -> Direct {
    let config = PcieConfig::default();
    let card = SimulatedCard::new("small", config.clone(), Options::default());
    // Every send slot is read from its ring, so that the read can fail.
    let rings = DeviceConfig { push_slots: false, ..DeviceConfig::with_seed(1) };
    Direct::open(card.expect("it builds"), &config, rings)
}

/// Lets the card work: 25 microseconds.
fn work(direct: &mut Direct) {
    direct.machine.host.device.poll().expect("it polls");
    (0..25).for_each(|_| direct.run(ADVANCE_CYCLES));
}

fn nop(direct: &mut Direct) -> Ticket {
    direct.machine.host.device.command([0; COMMAND_BYTES])
}

/// The nth read from now on, counted from 0, is answered with wrong data.
fn poison(direct: &mut Direct, nth: u64) {
    let pcie = &mut direct.machine.card.borrow_mut().pcie;
    pcie.inject(Fault::Poison, Target::Nth(nth));
}

fn frame(id: u8) -> Vec<u8> {
    (0..80).map(|at| at ^ id).collect()
}

#[test]
fn unmapped_register_writes_are_counted() {
    let mut direct = open();
    let before = direct.counters();
    assert_eq!(before["registers_unmapped"], 0);
    for offset in [r::ID, r::EPOCH, 0x40, 0x9000, r::DOORBELLS + r::DOORBELL_STATUS] {
        let bus = direct.machine.host.device.bus();
        bus.write_register(offset, 1).expect("it is a register");
    }
    // Half a register, then a whole one: the second takes effect.
    let bar = PcieConfig::default().bars[0].base;
    for bytes in [&[1, 2][..], &[3, 0, 0, 0]] {
        let pcie = &mut direct.machine.card.borrow_mut().pcie;
        let address = bar + u64::from(r::CONTROL);
        pcie.mmio_write(address, bytes).expect("the link is up");
    }
    work(&mut direct);
    let after = direct.counters();
    assert_eq!(after["registers_unmapped"], 5);
    assert_eq!(after["registers_malformed"], 1);
    assert_eq!(after["registers_unsupported"], 0);
    direct.assert_clean();
}

#[test]
fn failed_command_read_stops_ring_tells_owner() {
    let mut direct = open();
    poison(&mut direct, 0);
    let lost = nop(&mut direct);
    work(&mut direct);
    let counters = direct.counters();
    assert_eq!(counters["command_rings_stopped"], 1);
    assert_eq!(counters["read_errors"], 1);
    assert_eq!(counters["send_rings_stopped"], 0);
    assert!(!direct.machine.host.device.is_confirmed(lost));
    let stopped = |direct: &mut Direct, owner| {
        direct.machine.host.device.stopped_rings(owner).expect("a register")
    };
    assert_eq!(stopped(&mut direct, 0), (true, false));
    let nobody = direct.machine.host.device.stopped_rings(1);
    assert!(matches!(nobody, Err(DriverError::UnknownOwner { owner: 1, open: 1 })));
    // The send ring of the same owner goes on.
    direct.machine.host.device.send(raw(&frame(1)));
    work(&mut direct);
    assert_eq!(direct.sent(), [frame(1)]);
    direct.assert_clean();
}

#[test]
fn failed_send_read_stops_ring_tells_owner() {
    let mut direct = open();
    poison(&mut direct, 0);
    direct.machine.host.device.send(raw(&frame(1)));
    work(&mut direct);
    let counters = direct.counters();
    assert_eq!(counters["send_rings_stopped"], 1);
    assert_eq!(counters["command_rings_stopped"], 0);
    assert_eq!(direct.machine.host.device.stopped_rings(0).expect("a register"), (false, true));
    let ticket = nop(&mut direct);
    work(&mut direct);
    assert!(direct.machine.host.device.is_confirmed(ticket), "commands go on");
    assert!(direct.sent().is_empty());
    direct.assert_clean();
}

/// Two flows with a send segment each; returns their names and where their bytes lie.
fn two_flows(direct: &mut Direct) -> Vec<(FlowName, u64, Vec<u8>)> {
    let mut flows = Vec::new();
    let mut last = None;
    for id in 1..3u16 {
        let kind = MemoryKind::Application;
        let memory = direct.machine.host.device.bus().allocate(kind, 4096, 4096);
        let memory = memory.expect("memory");
        let bytes: Vec<u8> = (0..4096u32).map(|at| (at * 7) as u8 ^ id as u8).collect();
        direct.fill(&memory, 0, &bytes);
        let name = FlowName { flow: id, generation: id as u8 };
        let acceptance = Acceptance { floor: 0, ack_low: 0, ack_high: 0, ..Acceptance::default() };
        let (region, mut commands) = direct.machine.host.regions.register(memory, 0).expect("room");
        commands.push(cmd::flow_install(&FlowInstall {
            name,
            owner: 0,
            domain: 0,
            acceptance,
            send_floor: 0,
            lists: [(u32::from(id) * 8, 3), (u32::from(id) * 8, 3)],
        }));
        let segment = Segment {
            index: 0,
            position: 0,
            bytes: 4096,
            region: region.index,
            region_key: region.key,
            offset: 0,
        };
        commands.push(cmd::segment_post(name, Direction::Send, &segment));
        for command in commands {
            last = Some(direct.machine.host.device.command(command));
        }
        flows.push((name, memory.address, bytes));
    }
    work(direct);
    assert!(direct.machine.host.device.is_confirmed(last.expect("commands")));
    assert_eq!(direct.machine.host.device.take_refused(), None);
    flows
}

fn send(direct: &mut Direct, name: FlowName, position: u32) {
    let spec = PacketSpec::tcp(
        Addresses::V4([10, 0, 0, 1], [10, 0, 1, name.flow as u8]),
        (1, name.flow),
        (position, 0),
        0x10,
        Vec::new(),
    );
    let mut packet = spec.frame(0);
    packet.truncate(54);
    let header = parse_tcp(&packet).expect("a TCP header");
    let payload =
        Payload { name, position, bytes: PAYLOAD_BYTES, mss_bytes: 1460, segment_index: 0 };
    direct.machine.host.device.send(descriptor::send(&packet, (&header).into(), &payload));
}

#[test]
fn failed_payload_read_costs_one_frame() {
    for fault in [Fault::Poison, Fault::UnsupportedRequest, Fault::CompleterAbort, Fault::Lost] {
        let mut direct = open();
        let flows = two_flows(&mut direct);
        let (broken, address, _) = flows[0].clone();
        let hit = address + 600..address + 601;
        let target = Target::Address(hit);
        direct.machine.card.borrow_mut().pcie.inject(fault, target);
        for position in [0, PAYLOAD_BYTES] {
            for (name, ..) in &flows {
                send(&mut direct, *name, position);
            }
        }
        // The hard block gives a lost read up after 50 microseconds.
        (0..6).for_each(|_| work(&mut direct));

        // The second frame of the flow and both of the other one went out.
        let bodies: Vec<Vec<u8>> = direct.sent().iter().map(|f| f[54..].to_vec()).collect();
        let part = |flow: usize, position: u32| {
            let at = position as usize;
            flows[flow].2[at..at + PAYLOAD_BYTES as usize].to_vec()
        };
        let expected = [part(1, 0), part(0, PAYLOAD_BYTES), part(1, PAYLOAD_BYTES)];
        assert!(bodies == expected, "{fault:?}: {} frames", bodies.len());

        let counters = direct.counters();
        assert_eq!(counters["payload_reads_failed"], 1, "{fault:?}");
        assert_eq!(counters[SendError::ReadFailed.name()], 1, "{fault:?}");
        let is_lost = u64::from(fault == Fault::Lost);
        assert_eq!(counters["read_timeouts"], is_lost, "{fault:?}");
        assert_eq!(counters["tags_quarantined_peak"], is_lost, "{fault:?}");
        let status = direct.machine.host.device.bus().read_register(r::STATUS).expect("status");
        assert_eq!(u64::from(status & 1), is_lost, "{fault:?}");

        let mut entry = HeaderEntry::default();
        assert!(direct.machine.host.device.next_header(&mut entry).expect("memory"));
        let field = |field: abi::field::Field| field.get(&entry.metadata);
        assert_eq!(field(h::KIND), u64::from(h::KIND_EVENT));
        assert_eq!(field(h::FLOW), u64::from(broken.flow));
        assert_eq!(field(h::DISPOSITION), SendError::ReadFailed as u64);
        assert_eq!(field(h::EVENT_VALUE), 0);
        assert!(!direct.machine.host.device.next_header(&mut entry).expect("memory"));
        direct.assert_clean();
    }
}

#[test]
fn stages_say_where_time_goes() {
    let mut direct = open();
    let flows = two_flows(&mut direct);
    let before = direct.counters();
    for round in 0..8 {
        for (name, ..) in &flows {
            send(&mut direct, *name, round * 100);
        }
    }
    work(&mut direct);
    assert_eq!(direct.sent().len(), 16);
    let after = direct.counters();
    let moved = |name: &str| after[name] - before[name];
    assert_eq!(moved("tx_descriptors"), 16);
    assert_eq!(moved("tx_frames"), 16);
    // 1,054 bytes are 17 beats.
    assert_eq!(moved("tx_beats"), 16 * 17);
    assert!(moved("read_jobs") >= 17 && moved("read_tlps") >= moved("read_jobs"));
    assert!(moved("rq_beats") > 0 && moved("rc_beats") >= 16 * 1000 / 64);
    let samples: u64 =
        after.keys().filter(|name| name.starts_with("read_latency")).map(|name| moved(name)).sum();
    assert!(samples > 0 && samples <= moved("read_tlps"));
    // The round trip of the model is 900 ns.
    assert!(moved("read_latency_below_512_ns") == 0, "{after:#?}");
    assert!((1..=256).contains(&after["reads_in_flight_peak"]));
    assert!(after["completion_headers_peak"] <= 256);
    for quiet in ["read_errors", "read_timeouts", "flushes_failed", "posted_credit_stall_cycles"] {
        assert_eq!(after[quiet], 0, "{quiet}");
    }
    direct.assert_clean();
}

#[test]
fn mac_stores_report_their_fill() {
    let mut direct = open();
    let flows = two_flows(&mut direct);
    let peaks = |direct: &mut Direct| {
        let counters = direct.counters();
        ["rx_buffer_beats_peak", "tx_fifo_beats_peak"].map(|name| counters[name])
    };
    assert_eq!(peaks(&mut direct), [0, 0]);
    // Of no known protocol: each frame is stored to its end before anything of it is read.
    let receive = |direct: &mut Direct, bytes: usize| {
        let mut frame = vec![0x5a; bytes];
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        direct.receive(frame, false);
        work(direct);
    };
    receive(&mut direct, 9_000);
    assert_eq!(peaks(&mut direct), [9_000usize.div_ceil(64) as u64, 0]);
    receive(&mut direct, 60);
    send(&mut direct, flows[0].0, 0);
    work(&mut direct);
    let sent = direct.sent();
    let beats = sent[0].len().div_ceil(64) as u64;
    assert_eq!(peaks(&mut direct), [9_000usize.div_ceil(64) as u64, beats]);
    // Peaks belong to an epoch.
    let bus = direct.machine.host.device.bus();
    bus.write_register(r::CONTROL, r::CONTROL_RESET).expect("a reset");
    assert_eq!(peaks(&mut direct), [0, 0]);
}
