//! The null card takes what is right and refuses what is wrong.

use abi::config::{METADATA_BYTES, SMALL};
use abi::send_descriptor as d;
use host::control::commands::FlowName;
use host::control::descriptor::{tcp_send, Payload};
use host::control::packet::parse_tcp;
use sim::null_card::rig::{NullRig, RigConfig, RigError, FRAME_PAYLOAD_BYTES};
use sim::null_card::Wrong;

const BATCH: usize = 64;

fn config(flows: usize) -> RigConfig {
    RigConfig {
        card: SMALL,
        flows,
        send_bytes: FRAME_PAYLOAD_BYTES,
        ack_every_second: false,
        receive: (1 << 18, 4),
        send: (BATCH as u32 * FRAME_PAYLOAD_BYTES, 0),
    }
}

/// Positions wrap 64 KiB after the start.
#[test]
fn packets_come_in_order_and_every_flow_has_its_turn() {
    for (flows, ack_every_second) in [(1, false), (1, true), (16, false), (64, false)] {
        let mut rig = NullRig::open(RigConfig {
            ack_every_second,
            ..config(flows)
        })
        .unwrap();
        let mut offered = 0;
        for _ in 0..100 {
            rig.step().unwrap();
            offered += rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, flows);
            assert!(rig.poll().unwrap());
        }
        rig.settle().unwrap();
        assert!(offered > 99 * BATCH, "{flows} flows: {offered} packets");
        let counters = rig.provider.counters();
        assert_eq!(counters.withheld_headers, 0);
        assert_eq!(counters.copied_payload_bytes, 0);
        let acks = rig.card.counters().headers as usize;
        let wanted = match (flows, ack_every_second) {
            (1, true) => offered / 2,
            (1, false) => 2 * 100,
            _ => flows.min(BATCH) * 100,
        };
        assert!(
            (wanted..wanted + 16 * flows + 64).contains(&acks),
            "{flows} flows: {acks} ACKs"
        );
    }
}
