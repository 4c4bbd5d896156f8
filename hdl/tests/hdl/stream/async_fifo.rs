//! Tests of `stream::async_fifo`.

use stream::async_fifo::*;
use stream::prelude::*;

use super::two_clocks::{Edge, TwoClocks};

/// Sends 200 messages between two clocks with the given half periods and start phase.
fn crosses(write_half_ps: u64, read_half_ps: u64, phase_ps: u64, gate: u64) {
    let mut dut = AsyncFifo::<Bits<16>, 3, 4>::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let (mut sent, mut got) = (0u64, 0u64);
    let mut clocks = TwoClocks::new(write_half_ps, read_half_ps, phase_ps);
    dut.write_clock.next = Clock { clk: false };
    dut.read_clock.next = Clock { clk: false };
    let mut edges = 0u64;
    while got < 200 {
        edges += 1;
        assert!(edges < 100_000, "stalled after {got} messages");
        dut.sink.valid.next = sent < 200 && !(edges * 7 + sent).is_multiple_of(gate);
        dut.sink.payload.next = bits::<16>(sent);
        dut.source.ready.next = (edges * 5 + got) % gate != 1;
        assert!(simulate(&mut dut, 20));
        match clocks.next_edge() {
            Edge::Write(clk) => {
                if clk && dut.sink.valid.val() && dut.sink.ready.val() {
                    sent += 1;
                }
                dut.write_clock.next = Clock { clk };
            }
            Edge::Read(clk) => {
                if clk && dut.source.valid.val() && dut.source.ready.val() {
                    assert_eq!(dut.source.payload.val().to_u64(), got);
                    got += 1;
                }
                dut.read_clock.next = Clock { clk };
            }
        }
        assert!(simulate(&mut dut, 20));
    }
}

#[test]
fn order_holds_at_any_ratio() {
    for (write_half, read_half) in [(2000, 1552), (1552, 2000), (2000, 2000), (500, 9000)] {
        for phase in [0, 333, 1001] {
            crosses(write_half, read_half, phase, 3);
            crosses(write_half, read_half, phase, 1_000_000);
        }
    }
}
