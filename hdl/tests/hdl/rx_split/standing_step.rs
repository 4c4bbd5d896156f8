//! Tests of `rx_split::admit::standing_step`.

use rx_split::admit::standing_step::*;
use stream::prelude::*;

/// Cycle in which the packet is taken.
const READ: usize = 3;
const OURS: u64 = 5;

/// Moves cursors as `moves` says, a flow for each cycle around the read, and returns the cursor
/// that the packet sees, and the one it must see. Cursors are numbers of cycles.
fn see(moves: &[Option<u64>; 6]) -> (u32, u32) {
    let mut dut = StandingStep::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let (mut table, mut read) = ([9u64; 8], [9u64; 2]);
    for cycle in 0..=READ + 3 {
        dut.clock.next = Clock { clk: false };
        dut.offered_flow.next = if cycle == READ { OURS } else { OURS + 1 }.to_bits();
        dut.stored.next = read[0].to_bits();
        let moved = moves.get(cycle).copied().flatten();
        dut.written.valid.next = moved.is_some();
        dut.written.payload.next.flow = moved.unwrap_or(OURS).to_bits();
        dut.written.payload.next.cursor = (cycle as u64 + 10).to_bits();
        assert!(simulate(&mut dut, 20));
        // The tables: what is read was written before this cycle.
        read = [read[1], table[OURS as usize]];
        if dut.to_write.valid.val() {
            let write = dut.to_write.payload.val();
            table[write.flow.to_u32() as usize] = u64::from(write.cursor.to_u32());
        }
        if cycle < READ + 3 {
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
    }
    let ours = |cycle: &usize| moves[*cycle] == Some(OURS);
    let newest = (0..=READ + 1).rev().find(ours);
    let expected = newest.map_or(9, |cycle| cycle as u32 + 10);
    (dut.standing.val().cursor.to_u32(), expected)
}

#[test]
fn packet_sees_every_earlier_move() {
    for number in 0..3usize.pow(6) {
        let digit = |cycle: usize| number / 3usize.pow(cycle as u32) % 3;
        let moves = std::array::from_fn(|cycle| [None, Some(OURS), Some(OURS - 1)][digit(cycle)]);
        let (seen, expected) = see(&moves);
        assert_eq!(seen, expected, "{moves:?}");
    }
}
