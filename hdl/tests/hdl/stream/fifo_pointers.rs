//! Tests of `stream::fifo_pointers`.

use stream::fifo_pointers::*;
use stream::prelude::*;

#[test]
fn step_meets_exactly_next_value() {
    for (mut dut, lap) in [(StepMeets::default(), 0), (StepMeets::a_lap_later(), 16)] {
        let dut: &mut StepMeets<5> = &mut dut;
        dut.connect_all();
        check_all(dut).unwrap();
        for from in 0..32u64 {
            for to in 0..32u64 {
                dut.from.next = from.to_bits();
                dut.to.next = to.to_bits();
                assert!(simulate(dut, 10));
                assert_eq!(dut.meets.val(), (from + 1 + lap) % 32 == to, "{from} {to}");
            }
        }
    }
}

#[test]
fn reset_takes_nothing() {
    let mut dut = FifoPointers::<3>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut room = Vec::new();
    for cycle in 0..12u32 {
        dut.clock.next = Clock { clk: false };
        dut.reset.next = (3..7).contains(&cycle);
        assert!(simulate(&mut dut, 20));
        dut.write.next = dut.has_space.val();
        dut.read.next = false;
        assert!(simulate(&mut dut, 20));
        room.push(dut.has_space.val());
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
    }
    // Two are held when the reset begins; after it four are stored in four cycles.
    let none = |cycle: &usize| !room[*cycle];
    assert_eq!(Vec::from_iter((0..12).filter(none)), [0, 4, 5, 6, 7]);
    assert_eq!(dut.write_pointer.val().to_u32(), 4);
    assert!(!dut.has_space.val() && dut.has_message.val());
}
