//! What the packets of a scenario cost, and what limits them.
//!
//! ```text
//!   scenario ──► Load of an average packet, each direction ──► limits.rs ──► limits
//!                                    is the link one that loses received frames? ◄─┘
//! ```

use super::buffers::floor_every;
use super::limits::{duplex_limits, limits_beside_rival, receive_limits, send_limits, Limit, Load};
use super::scenario::{Acks, Order, Scenario};

/// What the link to the host has to carry beyond the wire, so that no frame is lost in a long run:
/// its last percents are never filled.
const LINK_RESERVE: f64 = 1.03;

/// What an average packet of a direction costs.
fn average(scenario: &Scenario) -> Load {
    let flows = f64::from(scenario.flows);
    let sum = |of: &dyn Fn(u16) -> f64| (0..scenario.flows).map(of).sum::<f64>() / flows;
    let payload = sum(&|flow| scenario.payload_bytes(scenario.is_ipv6(flow)) as f64);
    let segment = sum(&|flow| {
        let (count, _) = scenario.list(flow);
        let sizes = (0..count).map(|slot| f64::from(scenario.segment_bytes(flow, slot)));
        sizes.sum::<f64>() / count as f64
    });
    let floors = sum(&|flow| 1.0 / floor_every(scenario.list(flow).0) as f64);
    // A packet without payload is not acknowledged.
    let is_pure = scenario.acks == Acks::Pure && payload > 0.0;
    Load {
        payload_bytes: payload,
        inline_bytes: 0.0,
        frame_bytes: scenario.frame_bytes() as f64,
        entries: 1.0,
        // A post for each segment, and a floor for several.
        commands: payload / segment * (1.0 + floors),
        slots: 0.0,
        pure_acks: if is_pure { 0.5 } else { 0.0 },
    }
}

/// Every limit of a scenario, each direction.
pub fn limits(scenario: &Scenario) -> Vec<Limit> {
    let receive = average(scenario);
    let burst = match scenario.order {
        Order::Random => 1,
        Order::InOrder => scenario.send_burst,
    };
    let mut send = Load {
        entries: 0.0,
        slots: 1.0 / f64::from(burst),
        ..receive
    };
    if scenario.all_inline() {
        send = Load {
            payload_bytes: 0.0,
            inline_bytes: send.payload_bytes,
            commands: 0.0,
            slots: 1.0,
            ..send
        };
    }
    match (scenario.receive, scenario.send) {
        (true, true) => duplex_limits(&scenario.pcie, &receive, &send),
        (true, false) => {
            let limits = receive_limits(&scenario.pcie, &receive);
            match scenario.rival {
                Some(_) => limits_beside_rival(&limits),
                None => limits,
            }
        }
        _ => send_limits(&scenario.pcie, &send),
    }
}

/// Whether the link may take less to the host than the wire brings, so that frames are lost.
pub fn link_is_short(scenario: &Scenario) -> bool {
    scenario.receive && link_over_wire(scenario) < LINK_RESERVE
}

/// How many times what the wire brings the link takes to the host.
pub fn link_over_wire(scenario: &Scenario) -> f64 {
    let limits = limits(scenario);
    let least = |names: &[&str]| {
        let of = limits.iter().filter(|limit| names.contains(&limit.by));
        of.map(|limit| limit.mpps).fold(f64::INFINITY, f64::min)
    };
    least(&["pcie up", "rq port"]) / least(&["wire"])
}

#[cfg(test)]
mod tests {
    use super::super::limits::tightest;
    use super::super::scenario::Size;
    use super::*;

    fn duplex(size: Size) -> Scenario {
        Scenario {
            receive: true,
            send: true,
            send_burst: 45,
            ..Scenario::new(size)
        }
    }

    #[test]
    fn short_packets_both_ways_are_more_than_the_link_carries() {
        for (bytes, is_short) in [(576, true), (640, true), (800, true), (1500, false)] {
            assert_eq!(
                link_is_short(&duplex(Size::Mtu(bytes))),
                is_short,
                "{bytes}"
            );
        }
        assert_eq!(tightest(&limits(&duplex(Size::Mtu(576)))).by, "pcie up");
        let alone = Scenario {
            receive: false,
            ..duplex(Size::Mtu(576))
        };
        assert!(!link_is_short(&alone));
    }

    /// Nothing acknowledges what has no payload.
    #[test]
    fn frames_without_payload_have_the_same_limits_whatever_the_acks() {
        let scenario = duplex(Size::Frame(64));
        let pure = Scenario {
            acks: Acks::Pure,
            ..scenario.clone()
        };
        assert_eq!(limits(&pure), limits(&scenario));
    }
}
