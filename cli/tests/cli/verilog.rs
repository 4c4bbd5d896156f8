//! `zeronic verilog`: the files it writes.

use crate::run::{accepted, folder, ROOT};

#[test]
fn card_ports_and_manual_are_written() {
    let out = folder("verilog");
    let path = out.to_str().expect("a path");
    let board = ["verilog", "--board", "vcu118", "--config", "small"];
    accepted(&[&board[..], &["--out", path]].concat());
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("a file");
    let verilog = read("zeronic.v");
    assert!(verilog.contains("module zeronic_small "), "no top module");
    let ports = read("ports.md");
    let rows: Vec<_> = ports
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert!(rows.len() > 10, "{ports}");
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        assert!(verilog.contains(name), "port {name} is not in the Verilog");
        assert!(
            !cells[4].is_empty(),
            "port {name} has no meaning in cli/src/ports.rs"
        );
        assert!(!name.contains('$'), "port {name} is not flat");
    }
    let manual = std::fs::read_to_string(format!("{ROOT}/docs/registers.md")).expect("a file");
    assert_eq!(read("registers.md"), manual);
}

#[test]
fn the_manual_alone_needs_no_board() {
    let manual = accepted(&["verilog", "--manual", "-"]);
    assert!(manual.starts_with("# Register manual"), "{manual}");
}
