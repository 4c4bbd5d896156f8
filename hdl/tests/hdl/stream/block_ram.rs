//! Tests of `stream::block_ram`.

use stream::block_ram::*;
use stream::prelude::*;

fn text(block: &impl Logic) -> String {
    let Verilog::Custom(text) = block.hdl() else {
        panic!("a memory is text");
    };
    text
}

fn attribute(block: &impl Logic) -> String {
    let text = text(block);
    text[text.find("ram_style").unwrap()..].split('"').nth(1).unwrap().to_owned()
}

#[test]
fn memories_say_what_they_become() {
    assert_eq!(attribute(&BlockRam::<Bits<521>, 9>::default()), "block");
    assert_eq!(attribute(&BlockRam::<Bits<63>, 12>::default()), "block");
    assert_eq!(attribute(&BlockRam::<Bits<64>, 12>::default()), "ultra");
    assert_eq!(attribute(&BlockRam::<Bits<400>, 11>::default()), "block");
    assert_eq!(attribute(&BlockRam::<Bits<16>, 16>::zeroed()), "block");
}

#[test]
fn deep_memories_are_cut() {
    assert!(!text(&BlockRam::<Bits<72>, 12>::default()).contains("bank"));
    assert!(text(&BlockRam::<Bits<72>, 14>::default()).contains("bank < 4;"));
    assert!(text(&BlockRam::<Bits<16>, 16>::default()).contains("bank < 2;"));
    let zeroed = text(&BlockRam::<Bits<16>, 16>::zeroed());
    assert!(zeroed.contains("memory_1[write_address[14:0]]") && !zeroed.contains("memory_2"));
    assert!(!text(&BlockRam::<Bits<16>, 15>::zeroed()).contains("bank"));
    assert!(text(&BlockRam::<Bits<35>, 14>::default()).contains("bank < 4;"));
    assert!(!text(&BlockRam::<Bits<32>, 14>::default()).contains("bank"));
}

#[test]
fn read_data_are_latched_then_registered() {
    let mut dut = BlockRam::<Bits<8>, 4>::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut edge = |write: Option<(u32, u32)>, read: Option<u32>, register: bool| {
        dut.clock.next = Clock { clk: false };
        assert!(simulate(&mut dut, 20));
        dut.write_enable.next = write.is_some();
        let (address, data) = write.unwrap_or_default();
        dut.write_address.next = address.to_bits();
        dut.write_data.next = data.to_bits();
        dut.read_enable.next = read.is_some();
        dut.read_address.next = read.unwrap_or_default().to_bits();
        dut.register_enable.next = register;
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
        dut.read_data.val().to_u32()
    };
    edge(Some((3, 30)), None, false);
    edge(Some((4, 40)), Some(3), false);
    assert_eq!(edge(Some((3, 31)), Some(3), true), 30, "the register follows");
    assert_eq!(edge(None, Some(4), false), 30, "it stays");
    assert_eq!(edge(None, Some(3), true), 40, "the latch went on");
    assert_eq!(edge(None, None, true), 31, "the old value only when it was written");
    assert_eq!(edge(None, None, true), 31, "the latch stays");
}
