//! The port table of a block.

use hdl::ports::*;
use rust_hdl_core::prelude::*;
use stream::packet::PacketSink;

#[derive(LogicBlock, Default)]
struct Inner {
    a: Signal<In, Bit>,
    b: Signal<Out, Bit>,
}

impl Logic for Inner {
    #[hdl_gen]
    fn update(&mut self) {
        self.b.next = self.a.val();
    }
}

#[derive(LogicBlock, Default)]
struct Outer {
    clock: Signal<In, Clock>,
    packets: PacketSink,
    inner: Inner,
    last: Signal<Out, Bits<3>>,
}

impl Logic for Outer {
    #[hdl_gen]
    fn update(&mut self) {
        self.inner.a.next = self.packets.valid.val();
        self.packets.ready.next = self.inner.b.val();
        self.last.next = bits::<3>(1);
    }
}

#[test]
fn ports_follow_field_order_bundles_in_place() {
    let ports = ports_of(&Outer::default());
    let listed: Vec<_> =
        ports.iter().map(|port| (&port.name[..], port.direction, port.bits)).collect();
    use PortDirection::{Input, Output};
    let expected = [
        ("clock", Input, 1),
        ("packets$valid", Input, 1),
        ("packets$ready", Output, 1),
        ("packets$data", Input, 512),
        ("packets$byte_count", Input, 7),
        ("packets$last", Input, 1),
        ("packets$abort", Input, 1),
        ("last", Output, 3),
    ];
    assert_eq!(listed, expected);
    assert!(ports[0].is_clock && !ports[1].is_clock);
}

#[test]
fn top_has_given_name_children_their_own() {
    let text = emit(&mut Outer::default(), "card").expect("emits");
    assert!(text.contains("module card ("), "{text}");
    assert!(text.contains("    inner inner ("), "{text}");
    assert!(!text.contains("module top"), "{text}");
}
