//! Every block of the card, found in the sources, with random inputs for each.
//!
//! ```text
//!   hdl/**/src/*.rs ── build.rs ──> BLOCKS: name, sizes, place, how to make one
//!                                   Drive: how to give each of its inputs a random value
//! ```
//! A new block is here as soon as it is in the sources. One with parameters of its own, or made by
//! `new`, needs a line in `sizes.rs`; without it the block is in [`MISSING`], and a test fails.
#![forbid(unsafe_code)]

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;

/// A block that can be made.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its path in Rust.
    pub name: &'static str,
    /// Its parameters, as in Rust; empty if it has none.
    pub sizes: &'static str,
    /// Its source file, from the root of the repository.
    pub file: &'static str,
    /// Line of its struct.
    pub line: usize,
    /// Makes one, not yet connected.
    pub make: fn() -> Box<dyn Subject>,
}

impl Entry {
    /// Its name with its parameters, as the tables of what is proven have it.
    pub fn title(&self) -> String {
        let sizes = self.sizes.trim_start_matches("::");
        let is_kept = |c: &char| !"{} ".contains(*c);
        let sizes: String = sizes.chars().filter(is_kept).collect();
        format!("{}{}", self.name, sizes.replace("abi::config::", ""))
    }
}

/// True for a block with flip-flops and no other children.
pub fn is_leaf(block: &dyn Block) -> bool {
    let mut children = Children::default();
    block.accept("top", &mut children);
    let is_flip_flop = |ports: &Vec<String>| ports[..] == ["d", "q", "clock"];
    children.ports.iter().all(is_flip_flop)
}

/// The ports of each child.
#[derive(Default)]
struct Children {
    depth: usize,
    ports: Vec<Vec<String>>,
}

impl Probe for Children {
    fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth += 1;
        if self.depth == 2 {
            self.ports.push(Vec::new());
        }
    }

    fn visit_atom(&mut self, name: &str, _: &dyn Atom) {
        if let (2, Some(child)) = (self.depth, self.ports.last_mut()) {
            child.push(name.to_owned());
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
}

/// A block with inputs that can be driven.
pub trait Subject: Block + Drive {}

impl<T: Block + Drive> Subject for T {}

/// What takes random values.
pub trait Drive {
    /// Gives every input a value.
    fn drive(&mut self, stimulus: &mut Stimulus);

    /// Gives a value that is mostly zero: resets would keep a block from doing anything.
    fn drive_rarely(&mut self, stimulus: &mut Stimulus) {
        self.drive(stimulus);
    }
}

/// A source of values and clock levels.
pub struct Stimulus {
    random: SmallRng,
    /// Levels of the clocks in the order of their fields.
    levels: Vec<bool>,
    /// Clocks met so far in this drive.
    met: usize,
    /// Clocks change, the rest keeps its values; otherwise the other way round.
    is_edge: bool,
}

/// One in so many resets is high.
const RESET_RARITY: u32 = 64;

impl Stimulus {
    /// All clocks low.
    pub fn new(seed: u64) -> Stimulus {
        Stimulus {
            random: SmallRng::seed_from_u64(seed),
            levels: Vec::new(),
            met: 0,
            is_edge: false,
        }
    }

    /// New values for everything except clocks.
    pub fn values(&mut self, block: &mut dyn Subject) {
        self.is_edge = false;
        self.met = 0;
        block.drive(self);
        self.levels.resize(self.met, false);
    }

    /// Inverts the clock of that number; returns whether the block has a clock.
    pub fn edge(&mut self, block: &mut dyn Subject, clock: usize) -> bool {
        let Some(count) = std::num::NonZeroUsize::new(self.levels.len()) else { return false };
        let level = &mut self.levels[clock % count];
        *level = !*level;
        self.is_edge = true;
        self.met = 0;
        block.drive(self);
        true
    }

    /// One of several.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.random_range(0..choices.len())]
    }
}

impl Drive for bool {
    fn drive(&mut self, stimulus: &mut Stimulus) {
        *self = stimulus.random.random();
    }

    fn drive_rarely(&mut self, stimulus: &mut Stimulus) {
        *self = stimulus.random.random_ratio(1, RESET_RARITY);
    }
}

/// Any value; zeros, ones, small numbers, and the last value and the one after it, more often than
/// chance would have them.
impl<const N: usize> Drive for Bits<N> {
    fn drive(&mut self, stimulus: &mut Stimulus) {
        let style = stimulus.random.random_range(0..8);
        if style == 0 {
            return;
        }
        if style == 1 {
            *self = *self + 1;
            return;
        }
        let mut value = Bits::<N>::default();
        for place in 0..N.div_ceil(16) {
            let is_low = place + 1 == N.div_ceil(16);
            let word: u16 = match style {
                2 => 0,
                3 => u16::MAX,
                4 if is_low => stimulus.random.random_range(0..8),
                4 => 0,
                _ => stimulus.random.random(),
            };
            let word = bit_cast::<N, 16>(bits::<16>(u64::from(word)));
            value = (value << 16u64) | word;
        }
        *self = value;
    }
}

impl Drive for Clock {
    fn drive(&mut self, stimulus: &mut Stimulus) {
        if stimulus.is_edge {
            self.clk = stimulus.levels[stimulus.met];
        }
        stimulus.met += 1;
    }
}

impl<T: Synth + Drive> Drive for Signal<In, T> {
    fn drive(&mut self, stimulus: &mut Stimulus) {
        let is_clock = T::descriptor().name == "clock";
        if is_clock || !stimulus.is_edge {
            self.next.drive(stimulus);
        }
    }

    fn drive_rarely(&mut self, stimulus: &mut Stimulus) {
        if !stimulus.is_edge {
            self.next.drive_rarely(stimulus);
        }
    }
}

impl<T: Synth> Drive for Signal<Out, T> {
    fn drive(&mut self, _: &mut Stimulus) {}
}

impl<T: Drive, const N: usize> Drive for [T; N] {
    fn drive(&mut self, stimulus: &mut Stimulus) {
        self.iter_mut().for_each(|part| part.drive(stimulus));
    }
}

include!(concat!(env!("OUT_DIR"), "/blocks.rs"));
