//! A card that sums up packets, in front of a transport: every byte arrives as without it.

use host::headers::builder::{Route, Tcp};
use host::headers::layout::{ACK, HEADER_BYTES_MAX};
use host::headers::packet::{parse_tcp, TcpHeader};
use host::headers::run::Run;
use host::transport::{Transport, Tuning};
use seed::seed_or;

use crate::rig::{address, Rig};
use crate::wire::Faults;
use crate::{exchange, kernel_peer, linux, small_buffers, smoltcps, MIB, PEER, US};

const PSH: u8 = 0x08;
const PACKETS_MAX: u32 = 64;

/// A run that is open: the header of its first packet, and all it sums up.
struct Open {
    header: Vec<u8>,
    first: TcpHeader,
    run: Run,
}

/// Sums packets up, and counts what it has delivered.
#[derive(Default)]
pub struct Summing {
    open: Option<Open>,
    pub packets: u64,
    pub deliveries: u64,
}

impl Summing {
    /// Takes the header of a packet with so many bytes of payload.
    pub fn take(&mut self, transport: &mut dyn Transport, header: &[u8], payload_bytes: usize) {
        let parsed = parse_tcp(header).expect("TCP");
        self.packets += 1;
        let bytes = payload_bytes as u32;
        if self.joins(&parsed, header, bytes) {
            self.join(&parsed, bytes);
            if self.open.as_ref().is_some_and(is_over) {
                self.flush(transport);
            }
            return;
        }
        self.flush(transport);
        let is_pushed = parsed.flags & PSH != 0;
        let run = Run {
            packets: 1,
            segment_bytes: bytes,
            last_bytes: bytes,
            acknowledgement: parsed.acknowledgement,
            window: parsed.window,
            timestamps: parsed.timestamp,
            is_pushed,
        };
        self.open = Some(Open { header: header.to_vec(), first: parsed, run });
        let may_open = parsed.flags == ACK && bytes > 0 && header.len() <= HEADER_BYTES_MAX;
        if !may_open {
            self.flush(transport);
        }
    }

    fn joins(&self, parsed: &TcpHeader, header: &[u8], bytes: u32) -> bool {
        let Some(Open { header: before, first, run }) = &self.open else { return false };
        let end = first.sequence.wrapping_add(run.payload_bytes(0..run.packets));
        let is_newer = |number: u32, than: u32| number.wrapping_sub(than) as i32 >= 0;
        (parsed.source, parsed.destination) == (first.source, first.destination)
            && header.len() == before.len()
            && parsed.sequence == end
            && parsed.flags & !PSH == ACK
            && (1..=run.segment_bytes).contains(&bytes)
            && is_newer(parsed.acknowledgement, run.acknowledgement)
            && parsed.timestamp.map(|it| it.0) >= run.timestamps.map(|it| it.0)
    }

    fn join(&mut self, parsed: &TcpHeader, bytes: u32) {
        if let Some(Open { run, .. }) = &mut self.open {
            run.packets += 1;
            run.last_bytes = bytes;
            run.acknowledgement = parsed.acknowledgement;
            run.window = parsed.window;
            run.timestamps = parsed.timestamp;
            run.is_pushed = parsed.flags & PSH != 0;
        }
    }

    /// Delivers what is open.
    pub fn flush(&mut self, transport: &mut dyn Transport) {
        let Some(Open { header, run, .. }) = self.open.take() else { return };
        let bytes = run.payload_bytes(0..run.packets);
        self.deliveries += 1;
        match run.packets {
            1 => transport.deliver(&header, bytes as usize).expect("a packet is taken"),
            _ => transport.deliver_run(&header, &run).expect("a run is taken"),
        }
    }
}

fn is_over(open: &Open) -> bool {
    let run = &open.run;
    run.is_pushed || run.last_bytes < run.segment_bytes || run.packets == PACKETS_MAX
}

/// Everything arrives, and in far fewer pieces; more than 64 KiB are several for the kernel.
fn sums_up(mut rig: Rig, ipv6: bool, seed: u64) {
    rig.summing = Some(Summing::default());
    exchange(&mut rig, ipv6, 8 * MIB, seed);
    let counters = rig.transport.counters();
    let summing = rig.summing.as_ref().expect("it sums up");
    println!("{} packets in {}, {counters:?}", summing.packets, summing.deliveries);
    assert!(summing.deliveries * 2 < summing.packets, "{} deliveries", summing.deliveries);
}

#[test]
fn kernel_takes_runs_as_one_packet() {
    for (ipv6, mtu) in [(false, 1500), (true, 1500), (false, 9000), (true, 9000)] {
        let seed = seed_or(0x5eed_0052);
        let tuning = Tuning::REAL_TIME;
        let (Some(transport), Some(peer)) = (linux(mtu, tuning), kernel_peer(mtu, tuning)) else {
            return;
        };
        sums_up(Rig::new(transport, peer, Faults::NONE, seed), ipv6, seed);
    }
}

#[test]
fn smoltcp_takes_runs_packet_by_packet() {
    let seed = seed_or(0x5eed_0053);
    let mut rig = smoltcps(1500, small_buffers(), Faults::NONE, seed);
    rig.summing = Some(Summing::default());
    exchange(&mut rig, false, MIB, seed);
    let summing = rig.summing.as_ref().expect("it sums up");
    let counters = rig.transport.counters();
    // The answer to the question for a link address is no packet.
    let delivered = summing.packets..summing.packets + 3;
    assert!(delivered.contains(&counters.receive_headers), "{} packets", summing.packets);
    assert!(summing.deliveries < summing.packets, "nothing was summed up");
}

/// The lengths of IP have 16 bits, so 64 packets of 1,448 bytes are two frames for the kernel.
#[test]
fn a_long_run_is_several_frames() {
    let Some(mut transport) = linux(1500, Tuning::REAL_TIME) else { return };
    let (from, to) = (address(PEER, false, 5001), address(US, false, 5001));
    let tcp = Tcp { flags: ACK, ..Tcp::default() };
    let (header, _) = Route { macs: [[2; 6]; 2], from, to }.tcp(&tcp, 1448);
    let mut run = Run {
        packets: 64,
        segment_bytes: 1448,
        last_bytes: 1448,
        acknowledgement: 0,
        window: 0,
        timestamps: None,
        is_pushed: false,
    };
    for (packets, frames) in [(45, 1), (46, 2), (64, 2)] {
        run.packets = packets;
        let before = transport.counters();
        transport.deliver_run(&header, &run).expect("a run is taken");
        let after = transport.counters();
        assert_eq!(after.receive_headers - before.receive_headers, frames, "{packets} packets");
        let bytes = after.receive_payload_bytes - before.receive_payload_bytes;
        assert_eq!(bytes, u64::from(packets) * 1448);
    }
}

/// With losses, every byte arrives nevertheless: a run ends where a packet is missing.
#[test]
fn runs_survive_a_bad_wire() {
    let seed = seed_or(0x5eed_0054);
    let tuning = Tuning::REAL_TIME;
    if let (Some(transport), Some(peer)) = (linux(1500, tuning), kernel_peer(1500, tuning)) {
        let mut rig = Rig::new(transport, peer, Faults::ONE_PERCENT, seed);
        rig.summing = Some(Summing::default());
        exchange(&mut rig, false, 4 * MIB, seed);
    }
}
