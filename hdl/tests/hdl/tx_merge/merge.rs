//! Tests of `tx_merge::merge`.

use stream::prelude::*;
use tx_merge::merge::*;
use tx_merge::messages::{FrameCut, ReadFacts};

/// Payload that is known to have come may leave its memory a cycle later than its length. What is
/// offered then is the next frame's header.
#[test]
fn read_bytes_wait_for_their_beat() {
    let mut dut = Merge::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let mut cut =
        FrameCut { descriptor_end: true, payload_bytes: 10.into(), ..FrameCut::default() };
    cut.layout.header_bytes = 60.into();
    dut.cut.payload.next = cut;
    dut.read_facts.payload.next =
        ReadFacts { beats: 0.into(), last_bytes: 10.into(), failed: false };
    dut.header.valid.next = true;
    dut.payload.last.next = true;
    dut.payload.byte_count.next = 10.into();
    dut.facts.ready.next = true;
    dut.ended.ready.next = true;
    dut.frames.ready.next = true;
    // Beats of frames that leave in so many cycles; one frame is cut, of one read.
    let (mut is_cut, mut is_read) = (false, false);
    let mut leave = |has_payload: bool, cycles: u32| {
        let mut beats = 0;
        for _ in 0..cycles {
            dut.clock.next = Clock { clk: false };
            dut.cut.valid.next = !is_cut;
            dut.read_facts.valid.next = !is_read;
            dut.payload.valid.next = has_payload;
            assert!(simulate(&mut dut, 20));
            is_cut |= dut.cut.ready.val();
            is_read |= dut.read_facts.ready.val();
            beats += u32::from(dut.frames.valid.val());
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        beats
    };
    assert_eq!(leave(false, 20), 0, "there is no beat of the read");
    assert_eq!(leave(true, 20), 2, "60 and 10 bytes");
}
