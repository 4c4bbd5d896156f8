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
