//! One block in rust-hdl's simulator and in Verilator, by the names of its ports.

use rand::rngs::SmallRng;
use rand::Rng;
use rust_hdl_core::prelude::*;

/// A value that a port carries.
pub trait PortValue: Copy + PartialEq {
    /// Any value; zeros and ones more often than chance would have it.
    fn random(random: &mut SmallRng) -> Self;
    /// The value, least significant byte first.
    fn bytes(self) -> Vec<u8>;
}

impl PortValue for bool {
    fn random(random: &mut SmallRng) -> bool {
        random.random()
    }

    fn bytes(self) -> Vec<u8> {
        vec![u8::from(self)]
    }
}

impl<const N: usize> PortValue for Bits<N> {
    fn random(random: &mut SmallRng) -> Bits<N> {
        let style: u8 = random.random_range(0..8);
        let mut value = Bits::<N>::default();
        for _ in 0..N.div_ceil(16) {
            let word: u16 = match style {
                0 => 0,
                1 => u16::MAX,
                _ => random.random(),
            };
            let word = bit_cast::<N, 16>(bits::<16>(u64::from(word)));
            value = (value << 16u64) | word;
        }
        value
    }

    fn bytes(self) -> Vec<u8> {
        let byte = |index: usize| {
            let rest = self >> (8 * index as u64);
            bit_cast::<8, N>(rest).to_u8()
        };
        (0..N.div_ceil(8)).map(byte).collect()
    }
}

/// Defines a test: name, block, steps, then its ports.
macro_rules! cosim {
    (
        $name:ident: $block:expr, $steps:expr,
        clocks [$($clock:ident),*],
        inputs [$($($input:ident).+),*],
        outputs [$($($output:ident).+),*]
    ) => {
        #[test]
        fn $name() {
            use cosim::PortValue;
            let mut rust = $block;
            rust.connect_all();
            rust_hdl_core::check_error::check_all(&rust).expect("checks");
            let text = verilog::emit(&rust, "dut").expect("emits").single_file();
            let ports = hdl::ports::ports_of(&rust);
            let options = verilate::options::Options::default();
            let design = verilate::design::Design::build("dut", &text, &ports, options);
            let design = design.expect("builds");
            assert_eq!(design.warnings(), "", "Verilator warns");
            let mut model = design.model();
            model.clear_inputs();
            let seed = seed::seed();
            let mut random = rand::SeedableRng::seed_from_u64(seed);
            let port = |text: &str| text.replace(' ', "").replace('.', "$");
            $(rust.$clock.next = Clock { clk: false };)*
            let mut levels: Vec<(&str, bool)> = vec![$((stringify!($clock), false)),*];
            for step in 0..$steps {
                $(
                    let value = PortValue::random(&mut random);
                    rust.$($input).+.next = value;
                    let id = model.port(&port(stringify!($($input).+)));
                    model.set_bytes(id, &value.bytes());
                )*
                for settled in [false, true] {
                    if settled && !levels.is_empty() {
                        let index = step as usize / 2 % levels.len();
                        levels[index].1 = !levels[index].1;
                        for (name, level) in &levels {
                            $(if *name == stringify!($clock) {
                                rust.$clock.next = Clock { clk: *level };
                            })*
                            let id = model.port(name);
                            model.set(id, u64::from(*level));
                        }
                    }
                    assert!(simulate(&mut rust, 100), "step {step}: does not settle");
                    model.eval();
                    $(
                        let id = model.port(&port(stringify!($($output).+)));
                        let expected = rust.$($output).+.val().bytes();
                        let mut found = vec![0; expected.len()];
                        model.get_bytes(id, &mut found);
                        assert_eq!(
                            expected,
                            found,
                            "{} in step {step}, seed {seed}",
                            stringify!($($output).+)
                        );
                    )*
                }
            }
        }
    };
}

pub(crate) use cosim;
