//! Every block of the card, from rust-hdl's simulator and from its Verilog, under the same random
//! inputs: every output compared before and after every clock edge.
//!
//! ```text
//!   registry ──> block ─┬─> rust-hdl's simulator ───────────────> ports ─┐
//!                       └─> Verilog ─> bank of many ─> Verilator ─> ports ┴─ equal?
//! ```
//! Leaf blocks (registers, no other children) share models, a bank for each crate; a block above
//! them has a model of its own. `cargo test` runs the leaf blocks; with `ZERONIC_LONG=1` all, which
//! goes on behind a block that differs, and leaves out those that an earlier run has compared as
//! they are now. A failure names block, port and step; `ZERONIC_SEED` replays it.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Instant;

use hdl::emit::on_large_stack;
use hdl::ports::{ports_of, Port, PortDirection};
use rust_hdl_core::prelude::*;
use sha2::{Digest, Sha256};
use verilate::design::Design;
use verilate::options::Options;
use verilate::toolchain::{hex, workspace_folder};
use verilate::verilated::{Model, PortId};

use super::support::{self, When, STEPS};

/// Rounds after which rust-hdl's simulator must have settled.
const SETTLE_MAX: usize = 200;

/// A block on both sides.
struct Pair {
    name: &'static str,
    rust: Box<dyn blocks::Subject>,
    stimulus: blocks::Stimulus,
    ports: Vec<Watched>,
}

struct Watched {
    port: Port,
    in_model: PortId,
}

/// The values of a block's ports in rust-hdl's simulator, in the order of `ports_of`.
#[derive(Default)]
struct Values {
    depth: usize,
    values: Vec<Vec<u8>>,
}

impl Probe for Values {
    fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth += 1;
    }

    fn visit_atom(&mut self, _: &str, signal: &dyn Atom) {
        let is_port = matches!(
            signal.kind(),
            AtomKind::InputParameter | AtomKind::OutputParameter | AtomKind::OutputPassthrough
        );
        if self.depth == 1 && is_port {
            let text = format!("{:x}", signal.verilog());
            let digits = text.rsplit("'h").next().unwrap_or_default().bytes().rev();
            let mut bytes = vec![0; signal.bits().div_ceil(8)];
            for (index, digit) in digits.enumerate() {
                let nibble = char::from(digit).to_digit(16).expect("hexadecimal") as u8;
                bytes[index / 2] |= nibble << (4 * (index % 2));
            }
            self.values.push(bytes);
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
}

impl Pair {
    fn settle(&mut self) {
        for _ in 0..SETTLE_MAX {
            self.rust.update_all();
            if !self.rust.has_changed() {
                return;
            }
        }
        panic!("{} does not settle in rust-hdl's simulator", self.name);
    }

    fn values(&self) -> Vec<Vec<u8>> {
        let mut values = Values::default();
        self.rust.accept("top", &mut values);
        values.values
    }

    fn give(&self, model: &mut Model) {
        for (watched, value) in self.ports.iter().zip(self.values()) {
            if watched.port.direction == PortDirection::Input {
                model.set_bytes(watched.in_model, &value);
            }
        }
    }

    fn compare(&self, model: &Model, step: usize, seed: u64) {
        for (watched, expected) in self.ports.iter().zip(self.values()) {
            if watched.port.direction != PortDirection::Output {
                continue;
            }
            let mut found = vec![0; expected.len()];
            model.get_bytes(watched.in_model, &mut found);
            assert_eq!(
                expected, found,
                "{}: {} in step {step}; replay with ZERONIC_SEED={seed}",
                self.name, watched.port.name
            );
        }
    }
}

/// One Verilog module with each block in it, its ports behind `bN_`.
fn bank(blocks: &[&dyn Block]) -> (String, Vec<Vec<Port>>) {
    let mut text = String::new();
    let (mut header, mut body) = (Vec::new(), String::new());
    let mut all = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let name = format!("b{index}");
        let design = verilog::emit(*block, &name).unwrap_or_else(|error| panic!("{error}"));
        text.push_str(&design.modules[0].text);
        let mut connections = Vec::new();
        let mut ports = ports_of(*block);
        for port in &mut ports {
            let inside = port.verilog_name();
            port.name = format!("{name}_{inside}");
            let direction = match port.direction {
                PortDirection::Input => "input",
                PortDirection::Output => "output",
                PortDirection::InOut => "inout",
            };
            header.push(format!("    {direction} wire [{}:0] {}", port.bits - 1, port.name));
            connections.push(format!(".{inside}({})", port.name));
        }
        body.push_str(&format!("{name} i{index} ({});\n", connections.join(", ")));
        all.push(ports);
    }
    text.push_str(&format!("module bank (\n{}\n);\n{body}endmodule\n", header.join(",\n")));
    (text, all)
}

fn run(mut pairs: Vec<Pair>, model: &mut Model, seed: u64) {
    for step in 0..STEPS {
        for pair in &mut pairs {
            pair.stimulus.values(&mut *pair.rust);
            pair.settle();
            pair.give(model);
        }
        model.eval();
        pairs.iter().for_each(|pair| pair.compare(model, step, seed));
        for pair in &mut pairs {
            if pair.stimulus.edge(&mut *pair.rust, step / 2) {
                pair.settle();
                pair.give(model);
            }
        }
        model.eval();
        pairs.iter().for_each(|pair| pair.compare(model, step, seed));
    }
}

fn pair(
    entry: &blocks::Entry,
    block: Box<dyn blocks::Subject>,
    ports: &[Port],
    model: &Model,
    seed: u64,
) -> Pair {
    Pair {
        name: entry.name,
        rust: block,
        stimulus: blocks::Stimulus::new(seed),
        ports: ports
            .iter()
            .map(|port| Watched { port: port.clone(), in_model: model.port(&port.name) })
            .collect(),
    }
}

type Made = (blocks::Entry, Box<dyn blocks::Subject>);

fn compare_bank(made: Vec<Made>, name: &str, seed: u64) {
    let views: Vec<&dyn Block> = made.iter().map(|(_, block)| &**block as &dyn Block).collect();
    let (text, ports) = bank(&views);
    let flat: Vec<Port> = ports.iter().flatten().cloned().collect();
    let design = Design::build("bank", &text, &flat, Options::QUICK);
    let mut model = design.unwrap_or_else(|error| panic!("{name}: {error}")).model();
    model.clear_inputs();
    let pairs = made.into_iter().zip(&ports);
    let pairs = pairs.map(|((entry, block), ports)| pair(&entry, block, ports, &model, seed));
    let pairs: Vec<Pair> = pairs.collect();
    println!("{name}: {} blocks, {STEPS} steps each", pairs.len());
    run(pairs, &mut model, seed);
}

/// A block in a model of its own.
fn compare_alone(entry: blocks::Entry, block: Box<dyn blocks::Subject>, text: &str, seed: u64) {
    let ports = ports_of(&*block);
    let design = Design::build("dut", text, &ports, Options::QUICK);
    let mut model = design.unwrap_or_else(|error| panic!("{}: {error}", entry.name)).model();
    model.clear_inputs();
    let pair = pair(&entry, block, &ports, &model, seed);
    run(vec![pair], &mut model, seed);
}

/// Says of blocks that they were compared before, as they are now.
struct Compared {
    folder: PathBuf,
    /// What decides the result beside a block's Verilog, which is made from its kernel: how it is
    /// driven and compared, and the sources of blocks that print their text themselves.
    beside: Vec<u8>,
}

impl Compared {
    fn new() -> Compared {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut beside = [
            include_str!("blocks.rs"),
            include_str!("support.rs"),
            include_str!("../../blocks/src/lib.rs"),
        ]
        .concat()
        .into_bytes();
        let mut printed: Vec<&str> = blocks::BLOCKS
            .iter()
            .filter(|entry| !matches!((entry.make)().hdl(), Verilog::Combinatorial(_)))
            .map(|entry| entry.file)
            .collect();
        printed.dedup();
        for file in printed {
            beside.extend(fs::read(root.join(file)).expect("the source is there"));
        }
        let folder = workspace_folder("ZERONIC_CACHE", ".cache").join("compared");
        fs::create_dir_all(&folder).expect("the cache is writable");
        Compared { folder, beside }
    }

    /// The file that is there once a block of this text was compared.
    fn mark(&self, text: &str) -> PathBuf {
        let digest = Sha256::new().chain_update(&self.beside).chain_update(text).finalize();
        self.folder.join(hex(&digest[..10]))
    }
}

/// Compares each block above the leaves, but those that were compared before as they are now
/// unless a seed is given; returns those that differ.
fn compare_long(seed: u64) -> Vec<String> {
    let compared = Compared::new();
    let is_replay = seed::is_replay();
    let mut differ = Vec::new();
    for entry in blocks::BLOCKS {
        let mut block = (entry.make)();
        block.connect_all();
        if support::run_time_of(entry, &*block) != When::Long {
            continue;
        }
        let design = verilog::emit(&*block, "dut").unwrap_or_else(|error| panic!("{error}"));
        let text = design.single_file();
        let mark = compared.mark(&text);
        if mark.is_file() && !is_replay {
            println!("{}: compared before", entry.name);
            continue;
        }
        let started = Instant::now();
        let compare = || compare_alone(*entry, block, &text, seed);
        match catch_unwind(AssertUnwindSafe(compare)) {
            Ok(()) => fs::write(&mark, entry.name).expect("the cache is writable"),
            Err(_) => differ.push(entry.name.to_owned()),
        }
        let seconds = started.elapsed().as_secs_f32();
        println!("{}: {STEPS} steps, {seconds:.1} s", entry.name);
    }
    differ
}

/// The blocks of a crate that run at that time.
fn make_blocks(of: &str, when: When) -> Vec<Made> {
    let entries = blocks::BLOCKS.iter();
    let entries = entries.filter(|entry| entry.name.split("::").next() == Some(of));
    let made = entries.map(|entry| {
        let mut block = (entry.make)();
        block.connect_all();
        (*entry, block)
    });
    made.filter(|(entry, block)| support::run_time_of(entry, &**block) == when).collect()
}

fn leaves_of(of: &str) {
    let seed = seed::seed();
    on_large_stack(|| compare_bank(make_blocks(of, When::Always), of, seed));
}

/// A test for the leaf blocks of each crate.
macro_rules! leaf_blocks {
    ($($test:ident: $of:literal,)*) => {
        /// The crates whose leaf blocks are compared.
        const CRATES: &[&str] = &[$($of),*];

        $(#[test]
        fn $test() {
            leaves_of($of);
        })*
    };
}

leaf_blocks! {
    leaf_blocks_of_stream: "stream",
    leaf_blocks_of_tables: "tables",
    leaf_blocks_of_rx_split: "rx_split",
    leaf_blocks_of_tx_merge: "tx_merge",
    leaf_blocks_of_dma: "dma",
    leaf_blocks_of_host_interface: "host_interface",
    leaf_blocks_of_ip: "ip",
    leaf_blocks_of_board: "board",
}

#[test]
fn no_leaf_block_is_left_out() {
    let entries = blocks::BLOCKS.iter();
    let leaves = entries.filter(|entry| blocks::is_leaf(&*(entry.make)()));
    let crates: BTreeSet<&str> = leaves.filter_map(|entry| entry.name.split("::").next()).collect();
    assert_eq!(crates, CRATES.iter().copied().collect());
}

#[test]
fn blocks_with_children() {
    if !skip::long_runs("it builds a model of each block and takes an hour") {
        return;
    }
    let seed = seed::seed();
    let differ = on_large_stack(|| compare_long(seed));
    assert_eq!(differ, [""; 0], "replay with ZERONIC_SEED={seed}");
}
