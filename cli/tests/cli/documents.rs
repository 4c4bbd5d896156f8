//! The documents name files that exist, and figures that were measured; the map leaves none of the
//! crates out.

use std::path::Path;

use crate::run::ROOT;

/// Words in backquotes, and the targets of links.
fn names(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    quoted.chain(linked).map(str::to_owned).collect()
}

/// Whether a name is that of a file or folder, and not of a command.
fn is_path(name: &str) -> bool {
    name.contains('/') && !name.starts_with('/') && !name.contains([' ', '*', '$', ':', '<'])
}

/// Blocks of the card are named by their place in it; `sim/tests/verilog/crossings.rs`
/// compares those with the emitted one.
fn is_block(name: &str) -> bool {
    let top = ["datapath/", "host_interface/", "mac_link/", "mac_send/"];
    top.iter().any(|instance| name.starts_with(instance))
}

fn read(document: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{document}")).expect("a document")
}

#[test]
fn documents_files_and_links_exist() {
    for document in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/hardware.md"]
    {
        let mut checked = 0;
        for name in names(&read(document)) {
            if is_path(&name) && !is_block(&name) {
                let exists = Path::new(ROOT).join(&name).exists() || is_host(&name);
                assert!(exists, "{document}: {name}");
                checked += 1;
            }
        }
        assert!(checked > 0, "{document} names no file");
    }
}

/// The section on `host/src` names files below that folder.
fn is_host(name: &str) -> bool {
    Path::new(ROOT).join("host/src").join(name).exists()
}

#[test]
fn the_map_names_every_crate() {
    let manifest = read("Cargo.toml");
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next());
    let map = read("ARCHITECTURE.md");
    let members = members.expect("a list of members");
    for member in members.split('"').skip(1).step_by(2) {
        assert!(map.contains(&format!("`{member}")), "{member} is not in ARCHITECTURE.md");
    }
}

/// Card, host and their models build and test without any of what boards are.
#[test]
fn card_and_host_know_no_board() {
    let hdl = ["abi", "stream", "verilog", "ip", "tables", "rx_split", "tx_merge", "dma"];
    let hdl = hdl.iter().chain(&["host_interface", "block_default"]);
    let hdl = hdl.map(|name| format!("hdl/{name}"));
    let others = ["hdl", "host", "host/tcp", "sim/golden", "sim/pcie-sim", "sim/measure"];
    for member in hdl.chain(others.map(str::to_owned)) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let is_of_boards = |line: &str| {
            let name = line.split(['.', ' ', '=']).next();
            matches!(name, Some("board" | "host_board" | "sim_board"))
        };
        let found: Vec<&str> = manifest.lines().filter(|line| is_of_boards(line)).collect();
        assert_eq!(found, Vec::<&str>::new(), "{member}");
    }
}

/// Cell `cell` of the first row of the measured page that begins with these cells.
fn measured_cell<T: std::str::FromStr>(row: &str, cell: usize) -> T {
    let page = read("docs/bench.md");
    let row_start = format!("| {row} |");
    let line = page.lines().find(|line| line.starts_with(&row_start));
    let line = line.unwrap_or_else(|| panic!("docs/bench.md has no row {row}"));
    let text = line.split(" | ").nth(cell);
    let value = text.and_then(|text| text.split(',').next()?.parse().ok());
    value.unwrap_or_else(|| panic!("docs/bench.md: cell {cell} of {line}"))
}

/// Those of the host, which the page `docs/bench.md` has from one run.
#[test]
fn host_figures_match_the_measured_ones() {
    let rows = ["packet of 1448 B received", "descriptor of 1448 B sent", "pure ACK written"];
    let [received, sent, written] = rows.map(|row| measured_cell::<u64>(row, 1));
    let time = format!("{received} / {sent} / {written} ns; ");
    let [received, sent, written] = rows.map(|row| measured_cell::<u64>(row, 4));
    let counts = format!("{received} / {sent} / {written} instructions");
    assert_contains("docs/limits.md", &(time + &counts));

    for read in ["read once", "not read"] {
        let seconds = |stack: &str| {
            [1500, 9000].map(|mtu| measured_cell::<f64>(&format!("{stack} | {mtu} | {read}"), 3))
        };
        let ([kernel_1500, kernel_9000], ours) =
            (seconds("kernel TCP over veth"), seconds("ours, null"));
        // A page that names the kernel's congestion control has it in the README, too.
        let named = read_congestion_control();
        let named = named.map_or(String::new(), |name| format!(" ({})", name.to_uppercase()));
        let kernel = format!("the kernel's TCP{named}: {kernel_1500:.2} / {kernel_9000:.2} s");
        assert_contains("README.md", &format!("payload {read}"));
        assert_contains("README.md", &kernel);
        assert_contains("README.md", &format!("{:.3} / {:.3} s", ours[0], ours[1]));
    }
}

/// What the page says of the connection that ours is compared with.
fn read_congestion_control() -> Option<String> {
    let page = read("docs/bench.md");
    let row = page.lines().find(|line| line.starts_with("| kernel TCP over veth | 1500 |"));
    let mut cells = row.expect("a row of the kernel").trim_matches('|').split('|').map(str::trim);
    cells.nth(7).map(str::to_owned)
}

fn assert_contains(document: &str, text: &str) {
    assert!(read(document).contains(text), "{document} lacks {text}");
}
