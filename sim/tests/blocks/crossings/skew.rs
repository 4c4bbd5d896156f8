//! What a zero-delay simulation does not have: bits that leave one clock together and arrive at the
//! other at different times.
//!
//! ```text
//!   register ─┬───────────────► as it is ─┐
//!             └─► as it was ──► late ─────┴─ bit by bit, as `late_to_read` says ─► other clock
//! ```
//! A bit may be late for as long as [`Rates::skew_ps`], less than a period of the faster clock, as
//! the constraints of `docs/hardware.md` have it: what was written with the last edge may still be
//! on its way, nothing older. An entry on its way is wrong in every bit.
//!
//! The text of a block is changed where its registers are read with the other clock; with both
//! ports at 0 it does what it did before.

use hdl::ports::{emit, ports_of, Port, PortDirection};
use rand::rngs::SmallRng;
use rand::Rng;
use rust_hdl_core::prelude::Block;
use sim::switched::replace_once;
use verilate::clocks::{Clocks, Edge};
use verilate::design::Design;
use verilate::options::Options;
use verilate::verilated::{Model, PortId};

/// Ports that say which bits are late, on their way to the side that they name.
const LATE: [&str; 2] = ["late_to_read", "late_to_write"];
const LATE_BITS: usize = 64;

/// Two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Period of `write_clock`.
    pub write_ps: u64,
    /// Period of `read_clock`.
    pub read_ps: u64,
    /// First edges.
    pub phases_ps: [u64; 2],
    /// How late a bit may be.
    pub skew_ps: u64,
}

impl Rates {
    /// The slower period.
    pub fn slower_ps(&self) -> u64 {
        self.write_ps.max(self.read_ps)
    }

    /// Those of the card both ways, equal ones, nearly equal ones that drift through every phase,
    /// some far apart and some at random; with phases and skews at random.
    pub fn sweep(random: &mut SmallRng) -> Vec<Rates> {
        let fixed = [
            (3103, 4000),
            (4000, 3103),
            (4000, 4000),
            (4000, 4001),
            (4001, 4000),
            (1000, 9700),
            (9700, 1000),
            (2000, 4000),
        ];
        let mut periods = fixed.to_vec();
        for _ in 0..12 {
            periods.push((random.random_range(1000..10_000), random.random_range(1000..10_000)));
        }
        let mut rates = |(write_ps, read_ps): (u64, u64)| Rates {
            write_ps,
            read_ps,
            phases_ps: [random.random_range(0..write_ps), random.random_range(0..read_ps)],
            skew_ps: random.random_range(0..write_ps.min(read_ps)),
        };
        periods.into_iter().map(&mut rates).collect()
    }
}

/// One text for another, in one module.
#[derive(Clone)]
pub struct Change {
    /// The module; none: the top.
    pub module: Option<&'static str>,
    /// What stands there once.
    pub from: String,
    /// What is to stand there.
    pub to: String,
}

impl Change {
    /// In the top module.
    pub fn new(from: &str, to: &str) -> Change {
        Change { module: None, from: from.to_owned(), to: to.to_owned() }
    }

    /// In a module below.
    pub fn within(module: &'static str, from: &str, to: &str) -> Change {
        Change { module: Some(module), ..Change::new(from, to) }
    }
}

/// Builds a block as module `top` with ports for lateness and these changes of its text.
///
/// # Panics
/// If a change does not apply exactly once, or the text does not build.
pub fn build<B: Block>(block: &mut B, top: &str, changes: &[Change]) -> Design {
    let mut text = emit(block, top).expect("emits");
    let late = LATE.map(|port| format!("\n    input wire [{}:0] {port},", LATE_BITS - 1));
    let head = format!("module {top} (");
    replace(&mut text, top, &head, &format!("{head}{}", late.concat()));
    for change in changes {
        let module = change.module.unwrap_or(top);
        replace(&mut text, module, &change.from, &change.to);
    }
    let mut ports = ports_of(block);
    ports.extend(LATE.map(|port| Port {
        name: port.to_owned(),
        direction: PortDirection::Input,
        bits: LATE_BITS,
        is_clock: false,
    }));
    let built = Design::build(top, &text, &ports, Options::default());
    built.unwrap_or_else(|error| panic!("{top}: {error}"))
}

fn replace(text: &mut String, module: &str, from: &str, to: &str) {
    let start = text.find(&format!("module {module} (")).expect("the module is there");
    let length = text[start..].find("\nendmodule").expect("a module ends");
    let body = &text[start..start + length];
    let changed = replace_once(body, from, to);
    text.replace_range(start..start + length, &changed);
}

/// What a crossing is given, and the judge of what it makes of it.
pub trait Traffic {
    /// One side of an edge of `write_clock`.
    fn write(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String>;
    /// One side of an edge of `read_clock`.
    fn read(&mut self, model: &mut Model, edge: Edge, time_ps: u64) -> Result<(), String>;
    /// All is done.
    fn is_done(&self) -> bool;
}

/// Runs traffic through a crossing until it is done, 100,000 slower cycles at most; what is wrong,
/// with when.
pub fn run(
    model: &mut Model,
    rates: Rates,
    random: &mut SmallRng,
    traffic: &mut impl Traffic,
) -> Result<(), String> {
    let late = LATE.map(|port| model.find_port(port));
    let mut clocks = Clocks::new();
    let [write_phase, read_phase] = rates.phases_ps;
    let writes = clocks.add(model, "write_clock", rates.write_ps, write_phase);
    clocks.add(model, "read_clock", rates.read_ps, read_phase);
    // When each side last changed its registers.
    let mut last_ps = [None; 2];
    let mut outcome = Ok(());
    while outcome.is_ok() && !traffic.is_done() {
        clocks.step(model, &mut |model, tick| {
            let is_write = tick.clock == writes;
            if tick.edge == Edge::Before {
                for (port, last) in late.iter().zip(last_ps) {
                    set_late(model, *port, last, tick.time_ps, rates, random);
                }
                model.eval();
            } else {
                last_ps[usize::from(!is_write)] = Some(tick.time_ps);
            }
            let found = match is_write {
                true => traffic.write(model, tick.edge, tick.time_ps),
                false => traffic.read(model, tick.edge, tick.time_ps),
            };
            if let (Ok(()), Err(what)) = (&outcome, found) {
                outcome = Err(format!("{what}, {} ps, {rates:?}", tick.time_ps));
            }
        });
        if clocks.now_ps() > 100_000 * rates.slower_ps() {
            outcome = outcome.and(Err(format!("nothing moves any more, {rates:?}")));
        }
    }
    outcome
}

/// Any bits, if what the other side wrote last may still be on its way.
fn set_late(
    model: &mut Model,
    port: Option<PortId>,
    last_ps: Option<u64>,
    now_ps: u64,
    rates: Rates,
    random: &mut SmallRng,
) {
    let Some(port) = port else { return };
    let is_late = last_ps.is_some_and(|last_ps| now_ps - last_ps < rates.skew_ps);
    model.set(port, if is_late { random.random() } else { 0 });
}
