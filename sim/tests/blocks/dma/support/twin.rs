//! A block as Rust and as Verilog, with the same inputs.

use rand::rngs::SmallRng;
use rand::Rng;
use rust_hdl_core::prelude::*;
use sim::harness::payload::bytes_of;
use verilate::block::design_of;
use verilate::options::Options;
use verilate::verilated::Model;

/// A block in both simulators.
pub struct Twin<B: Block> {
    /// In rust-hdl's simulation.
    pub rust: B,
    model: Model,
}

impl<B: Block + Default> Twin<B> {
    /// The block and its Verilog.
    pub fn new(name: &str) -> Twin<B> {
        let mut rust = B::default();
        let design = design_of(&mut rust, name, Options::default()).expect("builds");
        let model = design.model();
        Twin { rust, model }
    }

    /// Sets an input of both.
    pub fn set<T: Synth>(
        &mut self,
        name: &str,
        value: T,
        input: impl Fn(&mut B) -> &mut Signal<In, T>,
    ) {
        self.model.set_bytes(self.model.port(name), &bytes_of(value));
        input(&mut self.rust).next = value;
    }

    /// Settles both.
    pub fn settle(&mut self) {
        self.model.eval();
        assert!(simulate(&mut self.rust, 50));
    }

    /// Compares an output of both.
    pub fn check<T: Synth>(&self, name: &str, output: impl Fn(&B) -> T) {
        let expected = bytes_of(output(&self.rust));
        let mut actual = vec![0; expected.len()];
        self.model.get_bytes(self.model.port(name), &mut actual);
        assert_eq!(actual, expected, "{name}");
    }
}

/// Random bits.
pub fn wide<const N: usize>(random: &mut SmallRng) -> Bits<N> {
    let word = |random: &mut SmallRng| bit_cast::<N, 64>(random.random::<u64>().to_bits());
    (0..N.div_ceil(64)).fold(Bits::default(), |sum, _| (sum << 64) | word(random))
}
