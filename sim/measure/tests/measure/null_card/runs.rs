//! Entries that stand for runs of packets, on the null card.

use measure::null_card::rig::{NullRig, RigConfig, FRAME_PAYLOAD_BYTES};

use super::{config, BATCH};

/// Each byte is written, read and judged; a batch of 64 packets is so many entries.
#[test]
fn runs_bring_the_same_bytes() {
    for (run_packets, entries_each) in [(1, 64), (2, 32), (45, 2), (64, 1), (1000, 1)] {
        let flows = 1;
        let mut rig =
            NullRig::open(RigConfig { reads: true, run_packets, ..config(flows) }).unwrap();
        let before = rig.provider.counters();
        let mut offered = 0;
        for _ in 0..100 {
            rig.step().unwrap();
            offered += rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, flows);
            rig.poll().unwrap();
        }
        rig.settle().unwrap();
        assert_eq!(offered, 100 * BATCH, "{run_packets}: a window was closed");
        let counters = rig.provider.counters();
        let entries = counters.header_entries - before.header_entries;
        assert_eq!(entries, 100 * entries_each, "runs of {run_packets}");
        let packets = counters.run_packets - before.run_packets;
        assert_eq!(packets, if run_packets > 1 { offered as u64 } else { 0 });
        assert!(rig.received_count() > 20, "{} buffers", rig.received_count());
        assert_eq!((counters.copied_payload_bytes, counters.withheld_headers), (0, 0));
    }
}

/// Flows that take turns packet by packet have an entry for each.
#[test]
fn flows_in_turn_have_no_runs() {
    let mut rig = NullRig::open(RigConfig { run_packets: 64, ..config(16) }).unwrap();
    for burst in [1, 4] {
        rig.card.set_burst(burst);
        let before = rig.provider.counters();
        for _ in 0..20 {
            rig.step().unwrap();
            assert_eq!(rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, 16), BATCH);
            rig.poll().unwrap();
        }
        let after = rig.provider.counters();
        let entries = after.header_entries - before.header_entries;
        assert_eq!(entries, (20 * BATCH / burst) as u64, "bursts of {burst}");
    }
}
