//! The registry of blocks: every block of the sources is in it, and its inputs follow from a seed.

use blocks::{is_leaf, Stimulus, BLOCKS, MISSING};
use rust_hdl_core::prelude::*;

#[test]
fn every_block_is_here() {
    assert_eq!(MISSING, [""; 0], "give them a line in sim/blocks/sizes.rs");
    assert!(BLOCKS.len() > 200, "{} blocks found", BLOCKS.len());
    let mut names: Vec<_> = BLOCKS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), BLOCKS.len(), "two blocks of one name");
}

#[test]
fn equal_seeds_give_equal_inputs() {
    let entry = BLOCKS.iter().find(|entry| entry.name == "stream::fifo::Fifo");
    let entry = entry.expect("the FIFO is a block");
    let run = || {
        let mut block = (entry.make)();
        block.connect_all();
        let mut stimulus = Stimulus::new(7);
        for _ in 0..10 {
            stimulus.values(&mut *block);
            assert!(stimulus.edge(&mut *block, 0));
            block.update_all();
        }
        let mut seen = Values::default();
        block.accept("top", &mut seen);
        seen.0
    };
    assert_eq!(run(), run());
    assert!(run().iter().any(|value| !value.ends_with("h0")), "all zero");
}

#[test]
fn leaves_have_flip_flops_only() {
    let leaf = |name: &str| {
        let entry = BLOCKS.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("no block {name}"));
        is_leaf(&*(entry.make)())
    };
    assert!(leaf("ip::keep_count::KeepCount") && leaf("stream::memory::LutRam"));
    assert!(leaf("stream::async_fifo::Synchronizer") && !leaf("stream::fifo::Fifo"));
}

#[derive(Default)]
struct Values(Vec<String>);

impl Probe for Values {
    fn visit_atom(&mut self, _: &str, signal: &dyn Atom) {
        self.0.push(format!("{:x}", signal.verilog()));
    }
}
