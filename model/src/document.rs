//! `docs/model.md`: what the model is, its coefficients, its errors.

use std::fmt::Write;

use crate::error::ModelError;
use crate::published::points;
use crate::table::{Basis, Cell, Row, Table};
use crate::validate::{compare, errors, Compared};

const HEAD: &str = include_str!("document/head.md");

const SPLIT: &str = include_str!("document/split.md");

fn number(value: f64) -> String {
    format!("{value}")
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Fitted => "fitted",
        Basis::Published => "published",
        Basis::Measured => "measured",
        Basis::Standard => "standard",
        Basis::Guessed => "**guessed**",
    }
}

fn cell_line(cell: &Cell) -> String {
    let what = if cell.hop.is_empty() { String::new() } else { format!(" ({})", cell.hop) };
    let like = if cell.like.is_empty() { "" } else { "the same as " };
    let source = if cell.like.is_empty() { &cell.source } else { &cell.like };
    format!(
        "| {:?}{what} | {} {} | {} | {} | {like}{source} |",
        cell.pays,
        number(cell.value),
        cell.unit,
        number(cell.spread),
        basis(cell.basis),
    )
}

fn group(name: &str, points: &[&Compared]) -> String {
    errors(points).map_or(String::new(), |errors| {
        let (median, worst) = (100.0 * errors.median, 100.0 * errors.worst);
        let (count, whose) = (errors.count, errors.worst_name);
        format!("| {name} | {count} | {median:.1} % | {worst:.1} % | {whose} |\n")
    })
}

fn errors_of_groups(compared: &[Compared]) -> String {
    let of = |half: &str| -> Vec<&Compared> {
        compared.iter().filter(|point| point.half == half).collect()
    };
    let held = of("held");
    let others: Vec<&Compared> =
        held.iter().copied().filter(|point| point.source != "bench").collect();
    let mut text = "| points | number | median error | worst | whose |\n".to_owned();
    text += "|---|---|---|---|---|\n";
    text += &group("fitted", &of("fit"));
    text += &group("held back; to reach: 10 %, 25 %", &held);
    text += &group("held back, without our own", &others);
    text += &group("shown, not counted", &of("outside"));
    text
}

fn row_text(row: &Row) -> String {
    let mut text = format!("\n### {} (`{}`)\n\n{}\n", row.name, row.id, row.about);
    if row.cells.is_empty() {
        return text;
    }
    text += "\n| pays | value | spread | basis | source |\n|---|---|---|---|---|\n";
    for cell in &row.cells {
        text += &cell_line(cell);
        text.push('\n');
    }
    text
}

/// The document.
///
/// # Errors
/// If a table breaks its own rules.
pub fn document() -> Result<String, ModelError> {
    let table = Table::read()?;
    let compared = compare(&table, &points()?)?;
    let mut text = format!("{HEAD}\n{}{SPLIT}", errors_of_groups(&compared));
    text += "\n| shown, not counted | published | model | left out |\n|---|---|---|---|\n";
    for point in compared.iter().filter(|point| point.half == "outside") {
        let why = point.outside.as_deref().unwrap_or_default();
        let (name, unit) = (&point.name, point.unit);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} {unit} | {:.3} | {why} |",
            number(point.published),
            point.model
        );
    }
    text += "\n## Data paths\n";
    for row in &table.paths {
        text += &row_text(row);
    }
    text += "\n## Transports, loads, machines\n";
    for row in table.transports.iter().chain(&table.loads).chain(&table.hosts) {
        text += &row_text(row);
    }
    text += "\n## Sources\n\n";
    for (key, source) in &table.sources {
        let _ = writeln!(text, "- `{key}`: {}. {}", source.text, source.place);
    }
    Ok(text)
}
