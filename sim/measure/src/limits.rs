//! Physical limits, shown beside every measured figure.
//!
//! ```text
//!   wire      one packet takes 20 (preamble, gap) + frame bytes, FCS included, at 100 Gb/s
//!   up        lanes / (payload + header entry + 24 a write TLP + shares of ring traffic)
//!   rq port   2 half beats of 32 bytes in 4 ns / (each TLP: 16 + payload, in whole half beats)
//!   down      lanes / (payload + 20 a completion + descriptor slots + shares of ring traffic)
//!   reads     bytes in flight / round trip: completion headers x boundary, or completion data
//! ```
//! Lanes: 16 x 8 GT/s x 128/130, less 2.5 % for DLLPs: 15.36 GB/s each way (all of [`PcieConfig`]).
//! The port has 512 bits at 250 MHz; a TLP begins with its beat or in its middle (PG213, straddle).
//! Each formula is optimistic: pieces are cut as few times as possible, nothing waits for anything.
//! A measurement begins and ends with a poll of the host, one every 256 ns: in a millisecond a
//! figure may exceed its limit by 0.05 %. A larger excess is an error of the measurement.

use abi::config::{COMMAND_BYTES, METADATA_BYTES, SLOT_BYTES};
use lab::frame::BYTE_PS;
use model::pcie::Slot;
use model::wire::frame_bytes_on_wire;
use pcie_sim::PcieConfig;

/// Descriptor of a request on the requester port.
const DESCRIPTOR_BYTES: f64 = 16.0;
/// Bytes of a dword.
const DWORD_BYTES: u32 = 4;
/// A TLP may begin at multiples of this.
const HALF_BEAT_BYTES: f64 = 32.0;
/// Half beats that the port takes in a nanosecond.
const HALF_BEATS_PER_NS: f64 = 2.0 / pcie_sim::CYCLE_NS as f64;

/// What one packet carries and costs; averages, so fractions occur.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Payload bytes of a packet that cross the link by themselves.
    pub payload_bytes: f64,
    /// Payload bytes of a packet that lie in its send slot.
    pub inline_bytes: f64,
    /// Frame bytes, FCS included.
    pub frame_bytes: f64,
    /// Bytes written for its header entry; 0: it causes none.
    pub entry_bytes: f64,
    /// Commands that the host posts for it.
    pub commands: f64,
    /// Send-ring slots that it takes.
    pub slots: f64,
    /// Frames that only acknowledge it, in the other direction.
    pub pure_acks: f64,
    /// Bytes of such a frame, FCS included.
    pub ack_frame_bytes: f64,
    /// Bytes written for the header entry of such a frame.
    pub ack_entry_bytes: f64,
}

/// The limit of one direction, and by what it is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Packets a second, in millions.
    pub mpps: f64,
    /// Payload, Gb/s.
    pub gbps: f64,
    /// `wire`, `pcie up`, `rq port`, `pcie down` or `reads in flight`.
    pub by: &'static str,
}

/// Nanoseconds that a frame of that many bytes, FCS included, occupies the wire.
pub fn wire_ns(frame_bytes: f64) -> f64 {
    frame_bytes_on_wire(frame_bytes) * BYTE_PS as f64 / 1000.0
}

/// Bytes that one direction of the lanes carries in a nanosecond.
pub fn lanes_bytes_per_ns(pcie: &PcieConfig) -> f64 {
    let per_cycle = pcie.link.bytes_per_cycle_fixed() as f64 / f64::from(1 << 20);
    per_cycle / pcie_sim::CYCLE_NS as f64
}

/// Bytes written for the entry of a header, in whole dwords.
pub const fn entry_bytes(header_bytes: usize) -> f64 {
    (METADATA_BYTES + header_bytes).next_multiple_of(4) as f64
}

/// The simulated slot, for the formulas that hold of any.
pub fn slot(pcie: &PcieConfig) -> Slot {
    Slot {
        bytes_per_ns: lanes_bytes_per_ns(pcie),
        mps_bytes: pcie.mps_bytes.into(),
        mrrs_bytes: pcie.mrrs_bytes.into(),
        rcb_bytes: pcie.rcb_bytes.into(),
        completion_payload_bytes: pcie.completion_payload_bytes.into(),
        request_overhead_bytes: pcie.link.request_overhead_bytes.into(),
        completion_overhead_bytes: pcie.link.completion_overhead_bytes.into(),
        latency_ns: pcie.latency_ns as f64,
        completion_headers: pcie.completion_headers.into(),
        completion_data_bytes: f64::from(pcie.completion_data * 16),
    }
}

/// Half beats of the requester port that one write of `bytes` takes, cut only at the maximum
/// payload size.
pub fn write_half_beats(pcie: &PcieConfig, bytes: f64) -> f64 {
    let largest = f64::from(pcie.mps_bytes);
    let of = |payload: f64| ((DESCRIPTOR_BYTES + payload) / HALF_BEAT_BYTES).ceil();
    let rest = bytes % largest;
    let last = if rest > 0.0 { of(rest) } else { 0.0 };
    (bytes / largest).floor() * of(largest) + last
}

/// Half beats that one write of payload takes: the mean of the four alignments to a dword.
pub fn payload_half_beats(pcie: &PcieConfig, bytes: f64) -> f64 {
    let from = |first: u32| {
        let dwords = ((bytes + f64::from(first)) / f64::from(DWORD_BYTES)).ceil();
        write_half_beats(pcie, dwords * f64::from(DWORD_BYTES))
    };
    match bytes > 0.0 {
        true => (0..DWORD_BYTES).map(from).sum::<f64>() / f64::from(DWORD_BYTES),
        false => 0.0,
    }
}

/// Half beats that the requests for `bytes` of a long read take.
pub fn request_half_beats(pcie: &PcieConfig, bytes: f64) -> f64 {
    bytes / f64::from(pcie.mrrs_bytes)
}

/// Lane bytes from the card to the host for one received packet of `load`.
pub fn receive_up(pcie: &PcieConfig, load: &Load) -> f64 {
    let payload = slot(pcie).write_bytes(load.payload_bytes);
    let entry = slot(pcie).write_bytes(load.entry_bytes);
    payload + entry + commands_up(pcie, load) + slots_up(pcie, load.pure_acks)
}

/// Half beats of the requester port for one received packet of `load`.
pub fn receive_port(pcie: &PcieConfig, load: &Load) -> f64 {
    let entry = write_half_beats(pcie, load.entry_bytes);
    let asked = load.commands * COMMAND_BYTES as f64 + load.pure_acks * SLOT_BYTES as f64;
    payload_half_beats(pcie, load.payload_bytes) + entry + request_half_beats(pcie, asked)
}

/// Half beats of the requester port for one sent packet.
pub fn send_port(pcie: &PcieConfig, load: &Load) -> f64 {
    let entries = load.pure_acks * write_half_beats(pcie, load.ack_entry_bytes);
    let ring = load.slots * SLOT_BYTES as f64 + load.commands * COMMAND_BYTES as f64;
    request_half_beats(pcie, load.payload_bytes + ring) + entries
}

/// Lane bytes from the host to the card for one received packet.
pub fn receive_down(pcie: &PcieConfig, load: &Load) -> f64 {
    commands_down(pcie, load) + slots_down(pcie, load.pure_acks)
}

/// Lane bytes from the card to the host for one sent packet.
pub fn send_up(pcie: &PcieConfig, load: &Load) -> f64 {
    let entries = load.pure_acks * slot(pcie).write_bytes(load.ack_entry_bytes);
    let reads = slot(pcie).request_bytes(load.payload_bytes);
    reads + slots_up(pcie, load.slots) + commands_up(pcie, load) + entries
}

/// Lane bytes from the host to the card for one sent packet.
pub fn send_down(pcie: &PcieConfig, load: &Load) -> f64 {
    let payload = slot(pcie).completion_bytes(load.payload_bytes);
    payload + slots_down(pcie, load.slots) + commands_down(pcie, load)
}

fn commands_up(pcie: &PcieConfig, load: &Load) -> f64 {
    // Commands are fetched in long reads; one completion entry confirms a fetched batch at best,
    // which is too little to count.
    slot(pcie).request_bytes(load.commands * COMMAND_BYTES as f64)
}

fn commands_down(pcie: &PcieConfig, load: &Load) -> f64 {
    slot(pcie).completion_bytes(load.commands * COMMAND_BYTES as f64)
}

fn slots_up(pcie: &PcieConfig, slots: f64) -> f64 {
    slot(pcie).request_bytes(slots * SLOT_BYTES as f64)
}

fn slots_down(pcie: &PcieConfig, slots: f64) -> f64 {
    slot(pcie).completion_bytes(slots * SLOT_BYTES as f64)
}

/// Limits from rates in packets a nanosecond.
fn limits(load: &Load, candidates: &[(&'static str, f64)]) -> Vec<Limit> {
    let limit = |&(by, packets_per_ns): &(&'static str, f64)| Limit {
        mpps: packets_per_ns * 1000.0,
        gbps: packets_per_ns * (load.payload_bytes + load.inline_bytes) * 8.0,
        by,
    };
    let real = candidates.iter().filter(|(_, rate)| rate.is_finite());
    real.map(limit).collect()
}

/// The tightest of several limits.
pub fn tightest_limit(limits: &[Limit]) -> Limit {
    let none = Limit { mpps: f64::INFINITY, gbps: f64::INFINITY, by: "nothing" };
    limits.iter().fold(none, |least, limit| if limit.mpps < least.mpps { *limit } else { least })
}

/// Packets per nanosecond that can be acknowledged on the wire of the other direction.
fn ack_wire(load: &Load) -> f64 {
    1.0 / (load.pure_acks * wire_ns(load.ack_frame_bytes))
}

/// The limits of receiving alone.
pub fn receive_limits(pcie: &PcieConfig, load: &Load) -> Vec<Limit> {
    let lanes = lanes_bytes_per_ns(pcie);
    let candidates = [
        ("wire", 1.0 / wire_ns(load.frame_bytes)),
        ("pcie up", lanes / receive_up(pcie, load)),
        ("rq port", HALF_BEATS_PER_NS / receive_port(pcie, load)),
        ("pcie down", lanes / receive_down(pcie, load)),
        ("wire of ACKs", ack_wire(load)),
    ];
    limits(load, &candidates)
}

/// The limits of an owner beside a rival on the same wire: its share of the wire. The link is no
/// limit where it carries that share for each: what the rival offers beyond is lost to the rival.
pub fn limits_beside_rival(alone: &[Limit], rival_frames: u32) -> Vec<Limit> {
    let owners = 1.0 + f64::from(rival_frames);
    let wire = alone.iter().filter(|limit| limit.by == "wire");
    let share = |limit: &Limit| Limit {
        mpps: limit.mpps / owners,
        gbps: limit.gbps / owners,
        by: limit.by,
    };
    wire.map(share).collect()
}

/// The limits of sending alone.
pub fn send_limits(pcie: &PcieConfig, load: &Load) -> Vec<Limit> {
    let lanes = lanes_bytes_per_ns(pcie);
    let read = load.payload_bytes + load.slots * SLOT_BYTES as f64;
    let candidates = [
        ("wire", 1.0 / wire_ns(load.frame_bytes)),
        ("pcie up", lanes / send_up(pcie, load)),
        ("rq port", HALF_BEATS_PER_NS / send_port(pcie, load)),
        ("pcie down", lanes / send_down(pcie, load)),
        ("reads in flight", slot(pcie).reads_bytes_per_ns() / read),
        ("wire of ACKs", ack_wire(load)),
    ];
    limits(load, &candidates)
}

/// The limits of each direction when both run at the same packet rate.
pub fn duplex_limits(pcie: &PcieConfig, receive: &Load, send: &Load) -> Vec<Limit> {
    let lanes = lanes_bytes_per_ns(pcie);
    let up = receive_up(pcie, receive) + send_up(pcie, send);
    let port = receive_port(pcie, receive) + send_port(pcie, send);
    let down = receive_down(pcie, receive) + send_down(pcie, send);
    let read = send.payload_bytes + send.slots * SLOT_BYTES as f64;
    // ACKs of one direction share the wire with the data of the other.
    let acks = receive.pure_acks.max(send.pure_acks) * wire_ns(receive.ack_frame_bytes);
    let frame_bytes = receive.frame_bytes.max(send.frame_bytes);
    let candidates = [
        ("wire", 1.0 / (wire_ns(frame_bytes) + acks)),
        ("pcie up", lanes / up),
        ("rq port", HALF_BEATS_PER_NS / port),
        ("pcie down", lanes / down),
        ("reads in flight", slot(pcie).reads_bytes_per_ns() / read),
    ];
    limits(receive, &candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(payload: f64, frame: f64) -> Load {
        Load {
            payload_bytes: payload,
            frame_bytes: frame,
            entry_bytes: entry_bytes(66),
            ..Load::default()
        }
    }

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    /// TCP with timestamps over IPv4: 52 bytes of headers in the MTU.
    #[test]
    fn wire_goodput_matches_its_known_value() {
        let pcie = PcieConfig::default();
        let wire = |payload, frame| receive_limits(&pcie, &load(payload, frame))[0];
        near(wire(8948.0, 9018.0).gbps, 99.0, 0.01);
        near(wire(1448.0, 1518.0).gbps, 94.15, 0.005);
        near(wire(0.0, 64.0).mpps, 148.8, 0.05);
    }

    /// One write for header and metadata, of a whole slot or of what it holds, or a second one of
    /// half a slot: what the lanes must carry at wire speed with MTU 1500.
    #[test]
    fn header_and_metadata_share_one_write() {
        let pcie = PcieConfig::default();
        let packet = load(1448.0, 1518.0);
        let whole_slot = Load { entry_bytes: SLOT_BYTES as f64, ..packet };
        let gbps = |bytes: f64| bytes * 8.0 / wire_ns(1518.0);
        near(gbps(receive_up(&pcie, &packet)), 111.6, 0.05);
        let together = receive_up(&pcie, &whole_slot);
        near(gbps(together), 113.4, 0.05);
        near(gbps(together + slot(&pcie).write_bytes(64.0)), 119.1, 0.05);
    }

    /// What the model takes for a slot of the third generation is the simulated one.
    #[test]
    fn simulated_slot_is_the_modelled_one() {
        let simulated = slot(&PcieConfig::default());
        let modelled = Slot::new(3, 16).expect("a slot");
        near(simulated.bytes_per_ns, modelled.bytes_per_ns, 1e-6);
        assert_eq!(Slot { bytes_per_ns: modelled.bytes_per_ns, ..simulated }, modelled);
    }

    #[test]
    fn lanes_carry_what_the_design_says() {
        let pcie = PcieConfig::default();
        near(lanes_bytes_per_ns(&pcie), 15.36, 0.005);
        let limit = |payload, frame| tightest_limit(&receive_limits(&pcie, &load(payload, frame)));
        near(limit(1448.0, 1518.0).gbps, 94.15, 0.005);
        // The entry of 54 bytes of header takes 112 lane bytes, but 4 half beats of the port.
        let short = Load { entry_bytes: entry_bytes(54), ..load(0.0, 64.0) };
        let all = receive_limits(&pcie, &short);
        let up = all.iter().find(|limit| limit.by == "pcie up");
        near(up.expect("a limit").mpps, 137.14, 0.05);
        assert_eq!(tightest_limit(&all).by, "rq port");
        near(tightest_limit(&all).mpps, 125.0, 0.001);
    }

    /// One half beat for each request of `mrrs_bytes`, beside what is written.
    #[test]
    fn packet_fetches_take_port_room() {
        let pcie = PcieConfig::default();
        let alone = load(1448.0, 1518.0);
        let fetches = Load {
            commands: f64::from(pcie.mrrs_bytes) / COMMAND_BYTES as f64,
            pure_acks: f64::from(pcie.mrrs_bytes) / SLOT_BYTES as f64,
            ..alone
        };
        let more = receive_port(&pcie, &fetches) - receive_port(&pcie, &alone);
        near(more, 2.0, 1e-9);
    }

    /// Of 14 bytes, begun at the third byte of a dword, there are five dwords: no half beat holds
    /// them and their descriptor.
    #[test]
    fn payload_cost_follows_mean_alignment() {
        let pcie = PcieConfig::default();
        for (bytes, half_beats) in
            [(0.0, 0.0), (13.0, 1.0), (14.0, 1.25), (70.0, 3.0), (256.0, 9.75)]
        {
            near(payload_half_beats(&pcie, bytes), half_beats, 1e-9);
        }
    }

    #[test]
    fn small_completions_few_headers_limit_sending() {
        let send = Load { slots: 1.0 / 45.0, entry_bytes: 0.0, ..load(1448.0, 1518.0) };
        let with = |size: u32, headers: u32| {
            let pcie = PcieConfig {
                completion_payload_bytes: size,
                completion_headers: headers,
                ..PcieConfig::default()
            };
            tightest_limit(&send_limits(&pcie, &send))
        };
        assert_eq!(with(256, 256).by, "wire");
        assert_eq!(with(64, 256).by, "pcie down");
        near(with(64, 256).gbps, 93.4, 0.3);
        assert_eq!(with(128, 128).by, "reads in flight");
        near(with(128, 128).gbps, 69.8, 0.3);
    }

    /// Payload in the send slot costs no read of its own and counts as payload all the same.
    #[test]
    fn inline_payload_is_payload() {
        let pcie = PcieConfig::default();
        let inline = Load { inline_bytes: 7.0, slots: 1.0, ..load(0.0, 65.0) };
        let limit = tightest_limit(&send_limits(&pcie, &inline));
        assert_eq!(limit.by, "pcie down");
        near(limit.gbps, limit.mpps * 7.0 * 8.0 / 1000.0, 1e-9);
    }

    #[test]
    fn both_directions_share_the_lanes() {
        let pcie = PcieConfig::default();
        let receive = load(1448.0, 1518.0);
        let send = Load { slots: 1.0, entry_bytes: 0.0, ..receive };
        let limit = |pcie: &PcieConfig| tightest_limit(&duplex_limits(pcie, &receive, &send));
        assert_eq!(limit(&pcie).by, "wire");
        let narrow = PcieConfig { link: pcie_sim::LinkConfig { lanes: 8, ..pcie.link }, ..pcie };
        assert!(limit(&narrow).gbps < 60.0);
    }
}
