//! Tests of `tables::segment_list::die_hop`.

use stream::prelude::*;
use tables::segment_list::die_hop::*;

/// Sends messages with stalls on both sides, a reset in between; what comes, and how many
/// cycles the first takes.
fn run(mut dut: DieHop<Bits<8>>, stalls: bool) -> (u64, Option<u64>) {
    dut.connect_all();
    check_all(&dut).expect("checks");
    let (mut sent, mut got, mut first) = (0u64, 0u64, None);
    for cycle in 0..600u64 {
        dut.clock.next = Clock { clk: false };
        assert!(simulate(&mut dut, 20));
        let reset = cycle < 4;
        dut.sink_reset.next = reset;
        dut.source_reset.next = reset;
        dut.sink.valid.next = !reset && cycle >= 20 && (!stalls || cycle % 5 != 1);
        dut.sink.payload.next = (sent & 0xff).to_bits();
        dut.source.ready.next = !stalls || (cycle / 40) % 2 == 1;
        assert!(simulate(&mut dut, 20));
        if dut.source.valid.val() && dut.source.ready.val() {
            assert_eq!(dut.source.payload.val().to_u64(), got & 0xff, "cycle {cycle}");
            got += 1;
            first = first.or(Some(cycle - 20));
        }
        if dut.sink.valid.val() && dut.sink.ready.val() {
            sent += 1;
        }
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    assert!(sent - got <= 16, "{sent} in, {got} out");
    (got, first)
}

#[test]
fn near_it_is_wires() {
    assert_eq!(run(DieHop::default(), false), (580, Some(0)));
    run(DieHop::default(), true);
}

#[test]
fn far_hop_takes_two_cycles_full_rate() {
    assert_eq!(run(DieHop::far(), false), (578, Some(2)));
    let (got, _) = run(DieHop::far(), true);
    assert!(got > 200, "{got}");
}
