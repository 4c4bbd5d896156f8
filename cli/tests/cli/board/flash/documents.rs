//! `docs/flash.md` says what the program does. `ZERONIC_BLESS=1` writes its tables.

use board::boards::BOARDS;

use crate::board::flash::rig::{image, outcome, write_image, Rig, VU9P};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/flash.md");

/// What stands between two marks of the page must be `table`.
fn compare(name: &str, table: &str) {
    let page = std::fs::read_to_string(PAGE).expect("a page");
    let (start, end) = (format!("<!-- {name} -->\n\n"), format!("\n<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&start).expect("a mark");
    let (found, after) = rest.split_once(&end).expect("a mark");
    if seed::blesses() {
        std::fs::write(PAGE, format!("{before}{start}{table}{end}{after}")).expect("a page");
        return;
    }
    assert_eq!(found, table, "set ZERONIC_BLESS=1");
}

/// The program that a dry run names.
fn program(rig: &Rig, board: &str, extra: &[&str]) -> String {
    let file = write_image(rig.folder(), &image(board, 5000));
    let arguments = [&[&file[..], "--board", board, "--dry-run"], extra].concat();
    let (status, out, error) = outcome(&rig.command(&arguments).output().expect("it starts"));
    assert_eq!(status, Some(0), "{error}");
    let programs = out.lines().filter_map(|line| line.strip_prefix("run   "));
    let mut programs = programs.filter_map(|line| line.split(' ').next());
    match programs.next_back() {
        Some("vivado") => "Vivado".to_owned(),
        Some(program) => program.to_owned(),
        None => "the card".to_owned(),
    }
}

/// Both tables in one test, as both write the page.
#[test]
fn page_lists_ways_and_exit_statuses() {
    let Some(rig) = Rig::with_loader("documents", VU9P) else { return };
    let mut table = "| board | user's slot, in each chip | `--via jtag` | `--volatile` | \
                     `--via pcie` |\n|---|---|---|---|---|\n"
        .to_owned();
    for board in BOARDS {
        let plan = board.flash.plan();
        let pcie = ["--via", "pcie", "--device", "0000:65:00.0"];
        table += &format!(
            "| `{}` | 0x{:08x}{} | {} | {} | {} |\n",
            board.name,
            plan.slot_bytes,
            if plan.chips == 2 { ", two chips" } else { "" },
            program(&rig, board.name, &[]),
            program(&rig, board.name, &["--volatile"]),
            program(&rig, board.name, &pcie),
        );
    }
    compare("ways", &table);
    let (_, help, _) = rig.run(&["--help"]);
    let (_, statuses) = help.split_once("Exit status:\n").expect("the statuses");
    let rows = statuses.lines().filter_map(|line| line.trim().split_once("  "));
    let mut table = "| status | meaning |\n|---|---|\n".to_owned();
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 12);
    for (status, meaning) in rows {
        table += &format!("| {status} | {meaning} |\n");
    }
    compare("statuses", &table);
}
