//! Yosys infers what each memory says it is to become; modules are mapped for themselves; a black
//! box is refused. A memory in banks, which no list of the tests' small tables is, shows what was
//! written. The kept report is of the card as it is.
//!
//! ```text
//!   memory block ──> Verilog ──> Yosys (synth_xilinx -family xcup -uram) ──> primitives
//!   card ──> Verilog ──> fingerprint ──> that of docs/area.md?   in every run; ZERONIC_LONG: all
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use seed::seed;
use stream::block_ram::BlockRam;
use stream::fifo::Fifo;
use stream::memory::LutRam;
use verilate::area::fingerprint::fingerprint;
use verilate::area::flat::{Flat, FlatError};
use verilate::area::measure;
use verilate::area::netlist::Netlist;
use verilate::area::report::{kept_fingerprint, DOMAINS, PORT_LEVELS_MAX, XCVU9P};
use verilate::area::synthesis::{synthesize, Part};
use verilate::area::usage::{blocks, memories, shift_registers};
use verilate::block::design_of;
use verilate::options::Options;

/// A memory block and the name that its module gets.
type Named = (&'static str, Box<dyn Block>);

/// Kinds of the primitives that each memory became, and the flip-flops beside them. They are mapped
/// together: a run of Yosys costs more than what it maps.
fn infer_primitives<const N: usize>(named: [Named; N]) -> [(Vec<String>, u64); N] {
    let parts = named.map(|(name, mut block)| {
        block.connect_all();
        let text = verilog::emit(&*block, name).expect("emits").single_file();
        (name, text)
    });
    let each = parts.each_ref().map(|(name, text)| Part::whole(name, text));
    let netlist = synthesize(&each).expect("synthesizes");
    parts.each_ref().map(|(name, _)| became(&netlist, name))
}

fn became(netlist: &Netlist, name: &str) -> (Vec<String>, u64) {
    let flat = Flat::of(netlist, name).expect("is complete");
    let memories = memories(&flat);
    assert_eq!(memories.len(), 1, "{memories:?}");
    assert!(
        memories[0].is_registered || memories[0].primitives.keys().all(|k| k.starts_with("RAM32"))
    );
    let kinds = memories[0].primitives.keys().cloned().collect();
    (kinds, blocks(&flat, 0)[0].usage.registers)
}

#[test]
fn module_alone_costs_same_as_inside() {
    let mut block = Fifo::<Bits<12>, 2, 3>::default();
    block.connect_all();
    let design = verilog::emit(&block, "fifo").expect("emits");
    let modules = design.texts();
    assert!(modules.len() > 1, "the FIFO has a memory");
    let usage = |parts: &[Part]| {
        let netlist = synthesize(parts).expect("synthesizes");
        let flat = Flat::of(&netlist, "fifo").expect("is complete");
        blocks(&flat, 2)
    };
    let each = usage(&Part::each_of(&modules));
    let found: BTreeSet<&str> = each.iter().map(|block| block.module.as_str()).collect();
    assert_eq!(found, modules.iter().map(|module| module.0.as_str()).collect());
    assert_eq!(each, usage(&[Part::whole("fifo", &design.single_file())]));
    assert!(each[0].usage.luts > 0 && each[0].usage.memory_luts > 0);
}

/// Module in which a vendor's part, or nothing known, stands behind a LUT.
fn with_planted(name: &str, kind: &str) -> String {
    format!(
        "module {name} (input wire a, input wire b, output wire q);\n\
         (* keep *) {kind} inside (.I(a & b), .O(q));\nendmodule\n"
    )
}

#[test]
fn black_box_is_refused_by_name() {
    // A part of the card, one of the vendor's library that is none, and a box of one's own.
    let own = "(* blackbox *) module engine (input wire I, output wire O);\nendmodule\n";
    let netlist = synthesize(&[
        Part::whole("known", &with_planted("known", "BUFG")),
        Part::whole("vendor", &with_planted("vendor", "BUFGCE")),
        Part::whole("own", &(own.to_owned() + &with_planted("own", "engine"))),
    ]);
    let netlist = netlist.expect("synthesizes");
    let luts_of = |top| Flat::of(&netlist, top).map(|flat| blocks(&flat, 0)[0].usage.luts);
    assert_eq!(luts_of("known"), Ok(1));
    for (module, kind) in [("vendor", "BUFGCE"), ("own", "engine")] {
        let unknown = FlatError::Unknown {
            kind: kind.to_owned(),
            name: "inside".to_owned(),
            module: module.to_owned(),
        };
        assert_eq!(luts_of(module), Err(unknown));
    }
    let missing = [Part::whole("missing", &with_planted("missing", "engine"))];
    let refused = synthesize(&missing).expect_err("no such module");
    assert!(refused.to_string().contains("engine"), "{refused}");
}

#[test]
fn flip_flops_are_no_memory() {
    let text = "module delay (input wire clock, input wire d, output wire q);\n\
         reg [7:0] row = 8'd0;\nalways @(posedge clock) row <= {row[6:0], d};\n\
         assign q = row[7];\nendmodule\n";
    let netlist = synthesize(&[Part::whole("delay", text)]).expect("synthesizes");
    let flat = Flat::of(&netlist, "delay").expect("is complete");
    assert_eq!(memories(&flat), []);
    let found = shift_registers(&flat);
    assert_eq!((found.primitives["SRL16E"], found.instances), (1, 1));
    assert_eq!(blocks(&flat, 0)[0].usage.memory_luts, 1);
}

/// Name of the card's top module; names and texts of all.
fn card() -> (&'static str, Vec<(String, String)>) {
    let card = hdl::emit::emit_card("default").expect("a configuration");
    let card = card.expect("emits");
    (card.top, card.design.texts())
}

fn read_table() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/area.md");
    std::fs::read_to_string(path).expect("docs/area.md is kept")
}

#[test]
fn kept_report_matches_the_card() {
    let (_, modules) = card();
    assert_eq!(
        kept_fingerprint(&read_table()),
        Some(fingerprint(&modules).as_str()),
        "the card has changed: `cargo run --release -- bench area --report docs/area.md` \
         measures it anew"
    );
}

/// The numbers of a line that ends with `levels, to keep to N.`: found, and allowed.
fn kept_to(line: &str) -> Option<(u32, u32)> {
    let (found, limit) = line.strip_suffix('.')?.split_once(" levels, to keep to ")?;
    let found = found.rsplit(' ').next()?;
    Some((found.parse().ok()?, limit.parse().ok()?))
}

/// What is wrong with the levels of a report.
fn too_long(text: &str) -> Vec<String> {
    let kept: Vec<(u32, u32)> = text.lines().filter_map(kept_to).collect();
    let limits = DOMAINS.map(|domain| domain.levels_max);
    let limits: Vec<u32> = limits.into_iter().chain([PORT_LEVELS_MAX]).collect();
    let mut wrong: Vec<String> = Vec::new();
    let found: Vec<u32> = kept.iter().map(|(_, limit)| *limit).collect();
    if found != limits {
        wrong.push(format!("limits {found:?}, not {limits:?}"));
    }
    let over = kept.iter().filter(|(found, limit)| found > limit);
    wrong.extend(over.map(|(found, limit)| format!("{found} levels, not {limit}")));
    let ports = text.split("\n## Ports\n").nth(1).unwrap_or_default();
    let ports = ports.split("\n## ").next().unwrap_or_default();
    if !ports.trim_end().ends_with("None.") {
        wrong.push(format!("ports:{ports}"));
    }
    wrong
}

#[test]
fn kept_report_keeps_its_levels() {
    let kept = read_table();
    assert_eq!(too_long(&kept), Vec::<String>::new());
    // Each of them is seen.
    for (levels, more) in [
        ("at 250.00 MHz (`user_clk`): ", "8 levels"),
        ("at 322.27 MHz (`gt_txusrclk2`): ", "6 levels"),
        ("between a port and a register: ", "3 levels"),
    ] {
        let (before, after) = kept.split_once(levels).expect(levels);
        let (_, after) = after.split_once(" levels").expect("levels");
        let longer = format!("{before}{levels}{more}{after}");
        assert_eq!(too_long(&longer).len(), 1, "{levels}");
    }
}

/// Module with a gate of `inputs` inputs between its ports and a flip-flop.
fn behind_a_port(inputs: usize) -> (String, String) {
    let name = format!("behind_{inputs}");
    let text = format!(
        "module {name} (input wire user_clk, input wire gt_txusrclk2,\n\
         input wire [{}:0] cfg_state, output wire cfg_done);\n\
         reg first = 1'd0;\nreg second = 1'd0;\n\
         always @(posedge user_clk) begin first <= &cfg_state; second <= first; end\n\
         assign cfg_done = second;\nendmodule\n",
        inputs - 1
    );
    (name, text)
}

#[test]
fn port_exceeding_two_levels_is_found() {
    // Mapped in one run, from which each takes its own.
    let modules = [6, 12, 64].map(behind_a_port);
    let [one, two, more] = modules.each_ref().map(|(top, _)| {
        let report = measure(top, &modules).expect("is mapped");
        let shown = too_long(&report.markdown(&XCVU9P));
        assert_eq!(shown.is_empty(), report.port_levels() <= 2, "{shown:?}");
        report.port_levels()
    });
    assert_eq!((one, two), (1, 2));
    assert!(more > 2, "{more}");
}

/// Takes many minutes where the cache is empty; afterwards what has changed.
#[test]
fn report_equals_the_kept_one() {
    if !skip::long_runs("it has Yosys map the whole card") {
        return;
    }
    let (top, modules) = card();
    let report = measure(top, &modules).expect("is mapped");
    let (kept, text) = (read_table(), report.markdown(&XCVU9P));
    let mut lines = kept.lines().zip(text.lines());
    let differs = lines.find(|(kept, found)| kept != found);
    assert_eq!(
        differs, None,
        "`cargo run --release -- bench area --report docs/area.md` writes it anew"
    );
    assert_eq!(kept.len(), text.len());
}

#[test]
fn memories_become_what_they_say() {
    let [lut, block, zeroed, ultra, banked, banked_block] = infer_primitives([
        ("lut_ram", Box::new(LutRam::<Bits<14>, 5>::default())),
        ("block_ram", Box::new(BlockRam::<Bits<72>, 9>::default())),
        ("zeroed_ram", Box::new(BlockRam::<Bits<72>, 9>::zeroed())),
        ("ultra_ram", Box::new(BlockRam::<Bits<72>, 12>::default())),
        ("banked_ram", Box::new(BlockRam::<Bits<72>, 14>::default())),
        ("banked_block_ram", Box::new(BlockRam::<Bits<35>, 14>::zeroed())),
    ]);
    let are_all = |kinds: &[String], what: &str| {
        let fit = kinds.iter().all(|kind| kind.starts_with(what));
        assert!(fit && !kinds.is_empty(), "{kinds:?}, not {what}");
    };
    are_all(&lut.0, "RAM32");
    for (kinds, registers) in [block, zeroed] {
        are_all(&kinds, "RAMB");
        assert_eq!(registers, 72, "the latch is the memory's own");
    }
    assert_eq!(ultra, (vec!["URAM288".to_owned()], 72));
    assert_eq!(banked, (vec!["URAM288".to_owned()], 4 * 72));
    are_all(&banked_block.0, "RAMB");
    assert_eq!(banked_block.1, 4 * 35);
}

/// Entries in all banks, read and written at random: each read shows what was written last when it
/// was latched, for as long as nothing else moves on.
#[test]
fn banked_memory_shows_written_data() {
    let random = &mut SmallRng::seed_from_u64(seed());
    let mut memory = BlockRam::<Bits<72>, 17>::default();
    let design = design_of(&mut memory, "banks", Options::default()).expect("builds");
    let mut model = design.model();
    let port = |name: &str| model.port(name);
    let (clock, read_enable, write_enable) =
        (port("clock"), port("read_enable"), port("write_enable"));
    let register_enable = port("register_enable");
    let (read_address, write_address) = (port("read_address"), port("write_address"));
    let (read_data, write_data) = (port("read_data"), port("write_data"));
    model.clear_inputs();
    model.eval();
    let mut written = BTreeMap::new();
    let (mut latched, mut shown, mut compared) = (None, None, 0);
    for _ in 0..20_000 {
        // Neighbours of a few entries, in every bank.
        let place = |random: &mut SmallRng| {
            (random.random_range(0..32u64) << 12) | (random.random_range(0..8u64) * 585)
        };
        let (reads, writes) = (place(random), place(random));
        let bytes: [u8; 9] = random.random();
        let (enabled, stores) = (random.random_bool(0.7), random.random_bool(0.5));
        let moves = random.random_bool(0.7);
        model.set(read_address, reads);
        model.set(read_enable, u64::from(enabled));
        model.set(register_enable, u64::from(moves));
        model.set(write_address, writes);
        model.set_bytes(write_data, &bytes);
        model.set(write_enable, u64::from(stores));
        for level in [1, 0] {
            model.set(clock, level);
            model.eval();
        }
        if moves {
            shown = latched;
        }
        if enabled {
            latched = written.get(&reads).copied();
        }
        if stores {
            written.insert(writes, bytes);
        }
        if let Some(expected) = shown {
            let mut actual = [0; 9];
            model.get_bytes(read_data, &mut actual);
            assert_eq!(actual, expected, "entry {reads}");
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared} compared");
}
