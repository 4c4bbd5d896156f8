//! Settings of the vendor's cores: `docs/hardware.md` says what `bitstream/ip.tcl` sets, and
//! nothing else.

use std::collections::BTreeMap;
use std::path::Path;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).expect("a file of the project")
}

/// Parameters that the script sets, and their values, a variable of `board.tcl` by its name.
fn of_script(script: &str) -> BTreeMap<String, String> {
    let words = script.split_whitespace().collect::<Vec<_>>();
    let pairs = words.windows(2).filter_map(|pair| {
        let name = pair[0].strip_prefix("CONFIG.")?;
        Some((name.to_owned(), pair[1].to_owned()))
    });
    pairs.collect()
}

/// Parameters that the page names in its column `parameter`, and their values; each once.
fn of_page(page: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut column = None;
    for line in page.lines() {
        if line.starts_with("|---") {
            continue;
        }
        let Some(row) = line.strip_prefix("| ") else {
            column = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split(" | ").map(str::trim).collect();
        if column.is_none() {
            column = cells.iter().position(|cell| *cell == "parameter");
        }
        let Some(cell) = column.and_then(|column| cells.get(column)) else { continue };
        for quoted in cell.split('`').skip(1).step_by(2) {
            let (name, value) = quoted.split_once(' ').unwrap_or((quoted, ""));
            let before = found.insert(name.to_owned(), value.to_owned());
            assert_eq!(before, None, "{name} is there twice");
        }
    }
    found
}

#[test]
fn page_says_what_script_sets() {
    let (page, script) = (of_page(&file("docs/hardware.md")), of_script(&file("bitstream/ip.tcl")));
    assert!(script.len() > 50, "{} parameters", script.len());
    assert_eq!(page, script);
}

/// A value that differs, a parameter that only one of them has.
#[test]
fn contradicting_page_is_found() {
    let (page, script) = (file("docs/hardware.md"), file("bitstream/ip.tcl"));
    let kept = of_script(&script);
    for (from, to) in [
        ("`RX_CHECK_ACK 0`", "`RX_CHECK_ACK 1`"),
        ("`RX_CHECK_ACK 0`", ""),
        ("`RX_CHECK_ACK 0`", "`RX_CHECK_ACK 0`, `RX_CHECK_SFD 1`"),
        ("CAPABLE true`", "CAPABLE false`"),
    ] {
        assert!(page.contains(from), "{from}");
        assert_ne!(of_page(&page.replace(from, to)), kept, "{from}");
    }
    let fewer = script.replace("CONFIG.RX_CHECK_ACK ", "CONFIG.RX_CHECK_SFD ");
    assert_ne!(of_script(&fewer), of_page(&page));
}
