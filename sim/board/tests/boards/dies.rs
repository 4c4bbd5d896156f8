//! No net of the card crosses two borders between dies, on any board, as its floorplan says.
//!
//! ```text
//!   emitted card ──> nets between placed parts ─┐
//!   floorplan.xdc ──> part ──> die ─────────────┴──> a die apart at most?
//! ```

use std::collections::BTreeMap;

use board::boards::BOARDS;
use board::description::Board;
use board::xdc::{floorplan, BETWEEN_CELLS, CARD_PATH};
use hdl::crossings::places::Places;
use hdl::crossings::{ports, CLOCKS};
use hdl::emit::{emit_card, PREFIX};

/// Modules of a card: names and texts.
fn modules(config: &str) -> Vec<(String, String)> {
    let card = emit_card(config).expect("a configuration").expect("emits");
    card.design.texts()
}

/// The cells of a floorplan below the card with their dies: pblocks of one die alone.
fn parse_dies(text: &str) -> BTreeMap<&str, u32> {
    let mut dies = BTreeMap::new();
    let mut cells = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split([' ', '[', ']', '{', '}']).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            ["resize_pblock", "get_pblocks", block, "-add", slr] => {
                let die = slr.strip_prefix("SLR").and_then(|die| die.parse().ok());
                dies.insert(*block, die.expect("a die"));
            }
            ["add_cells_to_pblock", "get_pblocks", block, "get_cells", cell] => {
                let cell = cell.strip_prefix(CARD_PATH).expect("below the card");
                if let Some(die) = dies.get(block) {
                    cells.insert(cell.trim_start_matches('/'), *die);
                }
            }
            _ => {}
        }
    }
    cells
}

/// What is wrong with the floorplan of a board for a card: nets that cross two borders.
fn too_far(modules: &[(String, String)], board: &Board, text: &str) -> Vec<String> {
    let dies = parse_dies(text);
    let mut cells: BTreeMap<&str, &str> = dies.keys().map(|cell| (*cell, *cell)).collect();
    // They are where they may be best, if the floorplan does not say.
    cells.extend(BETWEEN_CELLS.map(|cell| (cell, cell)));
    let places = Places::of(modules, PREFIX, &cells, &ports());
    let mut wrong: Vec<String> = Vec::new();
    wrong.extend(places.unplaced.iter().map(|it| format!("{it} is in no part")));
    let die = |part: &str| match part {
        part if part == CLOCKS[0].port => Some(board.pcie.die),
        part if part == CLOCKS[1].port => Some(board.mac.die),
        part => dies.get(part).copied(),
    };
    for ((from, to), net) in &places.links {
        match (die(from), die(to)) {
            (Some(a), Some(b)) if a.abs_diff(b) > 1 => {
                wrong.push(format!("{from} (die {a}) to {to} (die {b}): {net}"));
            }
            // Between neighbours the tool may place what the floorplan leaves open.
            (Some(_), Some(_)) => {}
            _ if board.pcie.die.abs_diff(board.mac.die) > 1 => {
                wrong.push(format!("{from} to {to}: no die for one of them"));
            }
            _ => {}
        }
    }
    wrong
}

#[test]
fn no_net_crosses_two_die_borders() {
    for (config, is_far) in [("lab", false), ("default-slices", true)] {
        let modules = modules(config);
        for board in BOARDS {
            let text = floorplan(board, is_far);
            let wrong = too_far(&modules, board, &text);
            assert_eq!(wrong, Vec::<String>::new(), "{} {config}", board.name);
        }
    }
}

#[test]
fn net_across_two_borders_is_found() {
    let modules = modules("small");
    let board = BOARDS.iter().find(|board| board.die_between().is_some());
    let board = board.expect("a board with two borders");
    let text = floorplan(board, false);
    assert_eq!(too_far(&modules, board, &text), Vec::<String>::new());
    let wrong = |text: &str| too_far(&modules, board, text);

    // What is between them in either of the dies, or left open.
    let between = format!("pblock_between] -add {{SLR{}}}", board.die_between().expect("a die"));
    assert!(text.contains(&between), "{text}");
    for die in [board.pcie.die, board.mac.die] {
        let moved = text.replace(&between, &format!("pblock_between] -add {{SLR{die}}}"));
        assert!(!wrong(&moved).is_empty(), "die {die}");
    }
    for cell in BETWEEN_CELLS {
        let line = |line: &&str| !line.contains(&format!("/{cell} "));
        let open: Vec<&str> = text.lines().filter(line).collect();
        assert!(!wrong(&open.join("\n")).is_empty(), "{cell}");
    }

    // A wire of the front, past the registers.
    let (from, to) = (".wire_status(mac_link_status)", ".wire_status({7{mac_receive_cut}})");
    let planted = modules.iter().map(|(name, text)| (name.clone(), text.replace(from, to)));
    let planted: Vec<(String, String)> = planted.collect();
    assert_ne!(planted, modules, "{from}");
    let wrong = too_far(&planted, board, &text);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].contains("mac_receive_cut"), "{wrong:?}");
}

#[test]
fn block_without_place_is_found() {
    let modules = modules("small");
    let places = Places::of(&modules, PREFIX, &BTreeMap::from([("datapath", "datapath")]), &[]);
    let unplaced = ["host_interface", "mac_link", "mac_receive", "mac_send"];
    let unplaced: Vec<String> = unplaced.iter().map(|it| (*it).to_owned()).collect();
    let found = places.unplaced.into_iter().filter(|it| !it.contains('/'));
    assert_eq!(found.collect::<Vec<String>>(), unplaced);
}
