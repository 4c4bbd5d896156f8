//! Where the card's two clocks meet, in its emitted Verilog: only where `docs/hardware.md` says.
//!
//! ```text
//!   default card ──> text of each module ─┬─> ASYNC_REG on both registers of a synchronizer
//!                                         ├─> no register reads a net of the other clock
//!                                         └─> blocks and crossings ──> tables of docs/hardware.md
//! ```
//! Each check fails on a text with a fault of its kind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abi::config::CONFIGS;
use hdl::crossings::domains::{ClockId, Domains};
use hdl::crossings::{constraints, ports, CLOCKS};
use hdl::emit::emit_card_for;
use ip::completion_buffer::CompletionBuffer;
use sim::switched::replace_once;

/// Names and texts of the card's modules.
type Modules = Vec<(String, String)>;

/// The modules bear the names of their blocks alone.
fn card() -> Modules {
    let card = emit_card_for("default", CompletionBuffer::default(), "");
    let card = card.expect("a configuration");
    card.expect("emits").design.texts()
}

fn domains_of(modules: &Modules) -> Domains {
    Domains::of(modules, "", &ports())
}

/// Synchronizers of which a register is not marked, and how many there are in all.
fn find_unmarked(modules: &Modules) -> (Vec<&str>, usize) {
    let is_synchronizer = |(name, _): &&(String, String)| name.starts_with("synchronizer");
    let synchronizers = Vec::from_iter(modules.iter().filter(is_synchronizer));
    let is_marked = |text: &str| {
        let lines = text.lines().map(str::trim);
        let marks = lines.filter_map(|line| line.strip_prefix("(* ASYNC_REG = \"TRUE\" *) reg "));
        let names = marks.filter_map(|declaration| declaration.split(' ').next_back());
        names.eq(["first;", "second;"])
    };
    let wrong = synchronizers.iter().filter(|(_, text)| !is_marked(text));
    let wrong = wrong.map(|(name, _)| name.as_str()).collect();
    (wrong, synchronizers.len())
}

/// The card with one text in a module for another.
fn plant_fault(module: &str, from: &str, to: &str) -> Modules {
    let mut modules = card();
    let it = modules.iter_mut().find(|(name, _)| name == module);
    let (_, text) = it.unwrap_or_else(|| panic!("no module {module}"));
    *text = replace_once(text, from, to);
    modules
}

#[test]
fn both_synchronizer_registers_are_marked() {
    let modules = card();
    let (wrong, count) = find_unmarked(&modules);
    assert_eq!(wrong, [""; 0]);
    // Single bits, and pointers of both depths.
    assert_eq!(count, 3);
    let elsewhere = modules.iter().filter(|(_, text)| text.contains("ASYNC_REG"));
    assert_eq!(elsewhere.count(), count, "marked outside a synchronizer");
    let bare = plant_fault(
        "synchronizer_7",
        "(* ASYNC_REG = \"TRUE\" *) reg [6:0] second",
        "reg [6:0] second",
    );
    assert_eq!(find_unmarked(&bare).0, ["synchronizer_7"]);
}

/// What a crossing's text lacks for its names to outlive synthesis.
fn unkept(modules: &Modules) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut lacks = |name: &str, text: &str, line: &str| {
        if !text.lines().any(|it| it.trim() == line) {
            wrong.push(format!("{name}: {line}"));
        }
    };
    for (name, text) in modules {
        let is = |stem: &str| name.starts_with(stem);
        if is("synchronizer") || is("async_fifo") || is("value_crossing") {
            lacks(name, text, "(* keep_hierarchy = \"yes\" *)");
        }
        if is("async_fifo") {
            let (_, bits) = name.rsplit_once('_').expect("widths");
            let top = bits.parse::<usize>().expect("bits of a pointer") - 1;
            for register in ["write_pointer", "write_gray", "read_pointer", "read_gray"] {
                let line = format!("(* keep = \"true\" *) reg  [{top}:0] {register};");
                lacks(name, text, &line);
            }
        }
    }
    wrong
}

#[test]
fn crossings_keep_borders_and_pointers() {
    assert_eq!(unkept(&card()), [""; 0]);
    for (module, text) in [
        ("synchronizer_1", "(* keep_hierarchy = \"yes\" *)\n"),
        ("async_fifo_521_5", "(* keep_hierarchy = \"yes\" *)\n"),
        ("value_crossing_5", "(* keep_hierarchy = \"yes\" *)\n"),
        ("async_fifo_4_7", "(* keep = \"true\" *) reg  [6:0] read_gray;"),
        ("async_fifo_4_7", "(* keep = \"true\" *) reg  [6:0] write_pointer;"),
    ] {
        let wrong = unkept(&plant_fault(module, text, ""));
        assert_eq!(wrong, [format!("{module}: {}", text.trim_end())]);
    }
}

#[test]
fn no_register_reads_other_clocks_net() {
    let domains = domains_of(&card());
    assert_eq!(domains.violations(), [""; 0]);
    // Blocks of registers, and inputs of blocks with one clock: it was looked at something.
    for (clock, domain) in CLOCKS.iter().enumerate() {
        let count = domains.readers_of(clock);
        assert!(count > 50, "{count} read with {}", domain.port);
    }
}

#[test]
fn each_way_around_crossing_is_found() {
    for (module, from, to, found) in [
        // A pointer past its synchronizer, a pointer that is not the gray-coded one.
        (
            "async_fifo_4_7",
            "read_gray == write_seen_q",
            "read_gray == write_gray",
            "packet_buffer/refusals/head,read_gray,read_pointer reads \
             /datapath/rx_split/intake/packet_buffer/refusals/",
        ),
        (
            "value_crossing_5",
            "toggle_seen_q != acknowledge",
            "toggle != acknowledge",
            "intake/gate/acknowledge,seen reads /datapath/rx_split/intake/gate/toggle",
        ),
        // A register, through logic.
        (
            "mac_send",
            ".flushed(flush_done)",
            ".flushed(flushed)",
            "/mac_send/guard.flushed reads /mac_send/",
        ),
        // An input of a block that has one clock; a block that has got the wrong one.
        (
            "packet_buffer",
            ".dropped(dropped)",
            ".dropped(fits)",
            "packet_buffer/tally.dropped reads /datapath/rx_split/intake/packet_buffer/fits",
        ),
        (
            "intake",
            "    parse parse (\n        .clock(mac_clock)",
            "    parse parse (\n        .clock(clock)",
            "intake/parse.sink_valid reads /datapath/rx_split/intake/",
        ),
        // The side of the memory that the other clock has.
        (
            "packet_buffer",
            ".write_enable(beat_valid)",
            ".write_enable(read_enable)",
            "packet_buffer/memory.write reads \
             /datapath/rx_split/intake/packet_buffer/read_enable",
        ),
        // A port of the card.
        (
            "zeronic",
            ".tx_axis_tready(tx_axis_tready)",
            ".tx_axis_tready(user_lnk_up)",
            "/mac_send/port.tready reads /mac_send/tx_axis_tready",
        ),
    ] {
        let violations = domains_of(&plant_fault(module, from, to)).violations();
        let is_found = violations.iter().any(|violation| violation.contains(found));
        assert!(is_found, "{to}: {violations:#?}");
    }
}

/// Words between backquotes in a table cell.
fn quoted_words(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// A clock by the name of its port.
fn clock(port: &str) -> ClockId {
    let place = CLOCKS.iter().position(|clock| clock.port == port);
    place.unwrap_or_else(|| panic!("no clock {port}"))
}

/// One file for all configurations: crossings do not depend on the sizes of tables.
#[test]
fn kept_constraints_match_cards_crossings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../constraints/common/crossings.xdc");
    for config in CONFIGS.map(|config| config.name) {
        let card = hdl::emit::emit_card(config).expect("a configuration");
        let text = constraints(&card.expect("emits"));
        if seed::blesses() {
            std::fs::write(&path, &text).expect("constraints/common is there");
        }
        let kept = std::fs::read_to_string(&path).expect("the file is kept");
        assert_eq!(kept, text, "{config}: ZERONIC_BLESS=1 writes it anew");
    }
}

/// A line for each kind of path that crosses, both registers of a pointer named.
#[test]
fn each_crossing_has_its_lines() {
    let card = hdl::emit::emit_card("small").expect("a configuration");
    let text = constraints(&card.expect("emits"));
    let at = "mac_send/crossing";
    for line in [
        format!(
            "set_bus_skew -from [get_cells {{{at}/read_gray_reg[*] {at}/read_pointer_reg[4]}}] \
             -to [get_pins {{{at}/read_seen/first_reg[*]/D}}] 3.103"
        ),
        format!(
            "set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports user_clk]] \
             -to [get_pins {{{at}/head_reg[*]/D}}] 3.103"
        ),
        "set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports gt_txusrclk2]] \
         -to [get_clocks -of_objects [get_ports user_clk]] 4.000"
            .to_owned(),
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(!text.contains("set_clock_groups"));
}

#[test]
fn clock_tables_match_the_card() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hardware.md");
    let text = std::fs::read_to_string(path).expect("docs/hardware.md is there");
    let (_, text) = text.split_once("\n## Clocks\n").expect("a section of clocks");
    let (mut blocks, mut crossings) = (BTreeMap::new(), BTreeSet::new());
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let paths = quoted_words(cells[0]).into_iter().map(str::to_owned);
        match (cells.len(), quoted_words(cells[1])[0]) {
            (3, port) => blocks.extend(paths.map(|path| (path, clock(port)))),
            (_, block) => {
                let [from, to] = quoted_words(cells[2])[..] else {
                    panic!("from a clock to a clock: {line}");
                };
                let clocks = (clock(from), clock(to));
                crossings.extend(paths.map(|path| (path, block.to_owned(), clocks)));
            }
        }
    }
    let domains = domains_of(&card());
    assert_eq!(blocks, domains.blocks);
    let found = domains.crossings.into_iter();
    let found = found.map(|it| (it.path, it.block, it.clocks));
    assert_eq!(crossings, found.collect());
}
