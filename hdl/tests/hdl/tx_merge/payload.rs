//! Tests of `tx_merge::payload`.

use stream::prelude::*;
use tx_merge::payload::*;

/// More reads of one beat than there is room for verdicts: what is not taken is not kept.
#[test]
fn beat_without_verdict_room_is_dropped() {
    let mut dut = Payload::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    dut.read_data.last.next = true;
    dut.read_data.byte_count.next = 64.into();
    // Beats that are taken, and beats and verdicts that leave, in so many cycles.
    let mut run = |offers: bool, leaves: bool, cycles: u32| {
        let mut counts = [0; 3];
        for _ in 0..cycles {
            dut.clock.next = Clock { clk: false };
            dut.read_data.valid.next = offers;
            dut.payload.ready.next = leaves;
            dut.read_facts.ready.next = leaves;
            assert!(simulate(&mut dut, 20));
            let pairs = [
                dut.read_data.valid.val() & dut.read_data.ready.val(),
                dut.payload.valid.val() & dut.payload.ready.val(),
                dut.read_facts.valid.val() & dut.read_facts.ready.val(),
            ];
            for (count, is_moved) in counts.iter_mut().zip(pairs) {
                *count += u32::from(is_moved);
            }
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        counts
    };
    let [taken, ..] = run(true, false, 200);
    assert!((100..200).contains(&taken), "{taken} are taken");
    assert_eq!(run(false, true, 300), [0, taken, taken]);
}
