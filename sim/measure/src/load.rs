//! What the packets of a scenario cost, and what limits them.
//!
//! ```text
//!   scenario ──► Load of an average packet, each direction ──► limits.rs ──► limits
//!                                    is the link one that loses received frames? ◄─┘
//! ```

use pcie_sim::PcieConfig;

use crate::limits::{
    duplex_limits, entry_bytes, limits_beside_rival, receive_limits, send_limits, Limit, Load,
};
use crate::packets::buffers::floor_every;
use crate::packets::frames::header_bytes;
use crate::scenario::{Acks, Order, Scenario, Size, RIVAL_FRAMES};

/// How much faster than the wire the link to the host must be for no frame to be lost in a long
/// run: the last percents of the link cannot be used.
const LINK_RESERVE: f64 = 1.035;

/// As `LINK_RESERVE`, where every second frame is followed by a pure ACK.
pub const PURE_ACKS_RESERVE: f64 = 1.015;

/// Share of the frames that may be lost beyond what their limit says where short ones fill the wire
/// both ways: writes and reads then meet in the same beats. Measured: 8 % at 65 to 100 bytes.
const SHORT_BOTH_WAYS_RESERVE: f64 = 0.1;

/// Packets with payload that the card places in a second, millions, where the link would take more:
/// shorter frames beyond it may be lost, although figures are compared with the link's limit.
/// Measured: 92.2 at 65 and 92.4 at 69 bytes.
const PLACED_MPPS: f64 = 92.0;

/// The flows of one IP version: packets of different payload are cut into different numbers of
/// TLPs, so that no packet of average length stands for both.
struct Class {
    flows: Vec<u16>,
    is_ipv6: bool,
}

impl Class {
    /// The classes that have flows.
    fn all(scenario: &Scenario) -> Vec<Class> {
        let of = |is_ipv6| {
            let flows = (0..scenario.flows).filter(|flow| scenario.is_ipv6(*flow) == is_ipv6);
            let flows: Vec<u16> = flows.collect();
            (!flows.is_empty()).then_some(Class { flows, is_ipv6 })
        };
        [false, true].into_iter().filter_map(of).collect()
    }

    /// Sum of the turns of all flows of the class.
    fn turns(&self, scenario: &Scenario) -> f64 {
        let turns = self.flows.iter().map(|flow| scenario.turns(*flow));
        turns.map(f64::from).sum()
    }

    /// What a received packet costs.
    fn receive(&self, scenario: &Scenario) -> Load {
        let payload = scenario.payload_bytes(self.is_ipv6) as f64;
        // A post for each segment, and a floor for several.
        let commands = self.flows.iter().map(|flow| {
            let (segments, _) = scenario.list(*flow);
            let each = scenario.list_bytes(*flow) as f64 / segments as f64;
            let floors = 1.0 / floor_every(segments) as f64;
            f64::from(scenario.turns(*flow)) * payload / each * (1.0 + floors)
        });
        let commands = commands.sum::<f64>() / self.turns(scenario);
        // A packet without payload is not acknowledged.
        let is_pure = scenario.acks == Acks::Pure && payload > 0.0;
        let entry = entry_bytes(header_bytes(self.is_ipv6, scenario.timestamps()));
        Load {
            payload_bytes: payload,
            inline_bytes: 0.0,
            frame_bytes: scenario.frame_bytes() as f64,
            entry_bytes: entry,
            commands,
            slots: 0.0,
            pure_acks: if is_pure { 0.5 } else { 0.0 },
            ack_frame_bytes: scenario.ack_frame_bytes(self.is_ipv6) as f64,
            ack_entry_bytes: entry,
        }
    }

    /// What a sent packet costs.
    fn send(&self, scenario: &Scenario) -> Load {
        let receive = self.receive(scenario);
        let burst = match scenario.order {
            Order::Random => 1,
            Order::InOrder => scenario.send_burst,
        };
        let (payload_bytes, inline_bytes, slots) = match scenario.is_inline(self.is_ipv6) {
            true => (0.0, receive.payload_bytes, 1.0),
            false => (receive.payload_bytes, 0.0, 1.0 / f64::from(burst)),
        };
        Load {
            payload_bytes,
            inline_bytes,
            slots,
            entry_bytes: 0.0,
            commands: if inline_bytes > 0.0 { 0.0 } else { receive.commands },
            ..receive
        }
    }

    fn limits(&self, scenario: &Scenario) -> Vec<Limit> {
        let (receive, send) = (self.receive(scenario), self.send(scenario));
        match (scenario.receive, scenario.send) {
            (true, true) => duplex_limits(&scenario.pcie, &receive, &send),
            (true, false) => receive_limits(&scenario.pcie, &receive),
            _ => send_limits(&scenario.pcie, &send),
        }
    }
}

/// What packets of one size take of each resource, microseconds on the mean of the classes, and
/// their payload.
fn costs(scenario: &Scenario) -> (Vec<(&'static str, f64)>, f64) {
    let (mut costs, mut payload) = (Vec::<(&'static str, f64)>::new(), 0.0);
    let classes = Class::all(scenario);
    let turns: f64 = classes.iter().map(|class| class.turns(scenario)).sum();
    for class in classes {
        let share = class.turns(scenario) / turns;
        payload += share * scenario.payload_bytes(class.is_ipv6) as f64;
        for limit in class.limits(scenario) {
            add(&mut costs, limit.by, share / limit.mpps);
        }
    }
    (costs, payload)
}

fn add(costs: &mut Vec<(&'static str, f64)>, by: &'static str, cost: f64) {
    match costs.iter_mut().find(|(known, _)| *known == by) {
        Some((_, sum)) => *sum += cost,
        None => costs.push((by, cost)),
    }
}

/// Every limit of a scenario, each direction. Flows and sizes take turns: what a packet takes of
/// each resource is the mean of what those of the classes and sizes take.
pub fn limits(scenario: &Scenario) -> Vec<Limit> {
    let (costs, payload) = match scenario.size {
        Size::Sweep(first, last) if first < last => {
            let share = 1.0 / f64::from(scenario.sizes());
            let (mut all, mut payload) = (Vec::new(), 0.0);
            let mut one = scenario.clone();
            for bytes in first..=last {
                one.size = Size::Sweep(bytes, bytes);
                let (costs, of_size) = costs(&one);
                payload += share * of_size;
                costs.iter().for_each(|(by, cost)| add(&mut all, by, share * cost));
            }
            (all, payload)
        }
        _ => costs(scenario),
    };
    let limit = |(by, cost): (&'static str, f64)| Limit {
        mpps: 1.0 / cost,
        gbps: payload * 8.0 / cost / 1000.0,
        by,
    };
    let limits: Vec<Limit> = costs.into_iter().map(limit).collect();
    match scenario.rival {
        Some(_) => limits_beside_rival(&limits, RIVAL_FRAMES),
        None => limits,
    }
}

/// Whether frames may be lost where the header queue is full.
pub fn may_lose(scenario: &Scenario) -> bool {
    scenario.fills_wire() || link_is_short(scenario)
}

/// Whether card and link may take less to the host than the wire brings, so that frames are lost.
pub fn link_is_short(scenario: &Scenario) -> bool {
    scenario.receive && link_over_wire(scenario) < LINK_RESERVE
}

/// How many times what the wire brings card and link take to the host.
pub fn link_over_wire(scenario: &Scenario) -> f64 {
    let limits = limits(scenario);
    let least = |names: &[&str]| {
        let of = limits.iter().filter(|limit| names.contains(&limit.by));
        of.map(|limit| limit.mpps).fold(f64::INFINITY, f64::min)
    };
    let has_payload = limits.iter().any(|limit| limit.gbps > 0.0);
    let placed = if has_payload { PLACED_MPPS } else { f64::INFINITY };
    least(&["pcie up", "rq port"]).min(placed) / least(&["wire"])
}

/// Whether a slot holds the card back by more than its limits account for.
fn is_held_back(pcie: &PcieConfig) -> bool {
    let nominal = PcieConfig {
        link: pcie.link,
        mps_bytes: pcie.mps_bytes,
        mrrs_bytes: pcie.mrrs_bytes,
        rcb_bytes: pcie.rcb_bytes,
        completion_payload_bytes: pcie.completion_payload_bytes,
        completion_headers: pcie.completion_headers,
        dram_bytes: pcie.dram_bytes,
        seed: pcie.seed,
        ..PcieConfig::default()
    };
    *pcie != nominal
}

/// Share of the received frames that may be lost at most: what card and link do not carry of the
/// wire, and the reserve. For a slot that holds the card back there is no bound.
pub fn lost_share_max(scenario: &Scenario) -> f64 {
    if is_held_back(&scenario.pcie) {
        return 1.0;
    }
    let reserve = match scenario.fills_wire() && scenario.send {
        true => SHORT_BOTH_WAYS_RESERVE,
        false => LINK_RESERVE - 1.0,
    };
    (1.0 - link_over_wire(scenario)).max(0.0) + reserve
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::tightest_limit;
    use crate::scenario::Family;

    fn duplex(size: Size) -> Scenario {
        Scenario { receive: true, send: true, send_burst: 45, ..Scenario::new(size) }
    }

    #[test]
    fn short_packets_duplex_exceed_the_link() {
        for (bytes, is_short) in [(576, true), (640, true), (700, false), (1500, false)] {
            assert_eq!(link_is_short(&duplex(Size::Mtu(bytes))), is_short, "{bytes}");
        }
        assert_eq!(tightest_limit(&limits(&duplex(Size::Mtu(576)))).by, "wire");
        assert_eq!(tightest_limit(&limits(&duplex(Size::Frame(100)))).by, "rq port");
        let alone = Scenario { receive: false, ..duplex(Size::Mtu(576)) };
        assert!(!link_is_short(&alone));
    }

    /// 64 bytes of payload take three half beats of the requester port, 44 take two.
    #[test]
    fn mixed_packets_limit_by_their_costs() {
        let mixed = Scenario {
            receive: true,
            flows: 2,
            family: Family::Mixed,
            ..Scenario::new(Size::Frame(122))
        };
        let port = |scenario: &Scenario| {
            let limits = limits(scenario);
            let port = limits.iter().find(|limit| limit.by == "rq port");
            port.expect("a limit").mpps
        };
        // Four more take the header entry, and 500 million are there each second.
        let expected = 500.0 / (4.0 + (3.0 + 2.0) / 2.0);
        assert!((port(&mixed) / expected - 1.0).abs() < 0.01, "{}", port(&mixed));
    }

    /// Nothing acknowledges what has no payload.
    #[test]
    fn payloadless_frames_have_ack_independent_limits() {
        let scenario = duplex(Size::Frame(64));
        let pure = Scenario { acks: Acks::Pure, ..scenario.clone() };
        assert_eq!(limits(&pure), limits(&scenario));
    }
}
