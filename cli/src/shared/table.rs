//! Tables of figures on the terminal, with the verdict below.

use anyhow::Result;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::Table;

use crate::shared::output::print;

/// An empty table with that head.
pub fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY);
    if !head.is_empty() {
        table.set_header(head);
    }
    table
}

/// Prints a table, and what is wrong.
pub fn print_judged(table: &Table, ok: bool, problems: &[String]) -> Result<()> {
    let mut text = format!("{table}\n");
    for problem in problems {
        text += &format!("wrong: {problem}\n");
    }
    print(&(text + verdict(ok)))
}

/// The last line of what a command prints.
pub fn verdict(ok: bool) -> &'static str {
    match ok {
        true => "every byte is right\n",
        false => "FAILED\n",
    }
}
