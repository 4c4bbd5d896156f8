//! Tests of `stream::memory`.

use stream::memory::*;
use stream::prelude::*;

fn attribute(block: &impl Logic) -> String {
    let Verilog::Custom(text) = block.hdl() else {
        panic!("a memory is text");
    };
    text.split('"').nth(1).unwrap_or("none").to_owned()
}

#[test]
fn memories_say_what_they_become() {
    assert_eq!(attribute(&LutRam::<Bits<8>, 4>::default()), "distributed");
    assert_eq!(attribute(&PairRam::<Bits<64>, 12>::default()), "block");
}

/// An entry is written at a rising edge with the enable, and read in the same cycle.
macro_rules! writes_at_an_enabled_edge {
    ($memory:ty, $address:ident, $data:ident) => {{
        let mut dut = <$memory>::default();
        dut.connect_all();
        let mut step = |clk: bool, enable: bool, value: u32| {
            dut.clock.next = Clock { clk };
            dut.write_enable.next = enable;
            dut.write_address.next = 5.into();
            dut.write_data.next = value.to_bits();
            dut.$address.next = 5.into();
            assert!(simulate(&mut dut, 20));
            dut.$data.val().to_u32()
        };
        assert_eq!(step(true, true, 7), 7, "an edge");
        assert_eq!(step(true, true, 8), 7, "no edge");
        assert_eq!(step(false, true, 9), 7, "the other edge");
        assert_eq!(step(true, false, 10), 7, "not enabled");
        assert_eq!(step(false, false, 11), 7);
        assert_eq!(step(true, true, 12), 12);
    }};
}

#[test]
fn entries_are_written_at_enabled_edges() {
    writes_at_an_enabled_edge!(LutRam::<Bits<8>, 4>, read_address, read_data);
    writes_at_an_enabled_edge!(EightPortRam::<Bits<8>, 4>, write_address, written);
}
