//! `docs/model.md`: what the model is, its coefficients, its errors.

use std::fmt::Write;

use crate::error::ModelError;
use crate::published::points;
use crate::table::{Basis, Cell, Row, Table};
use crate::validate::{compare, errors, Compared};

const HEAD: &str = "\
# What a stream costs

`zeronic model` says what one stream takes on eight data paths: cores, memory, PCIe, time, and which of them binds. It is one table of
coefficients (`model/paths.toml`), each with its unit, spread and source, and sums of products over it (`model/src/cost.rs`). Half of
the published measurements in `model/published.toml` are fitted, half are held back and judge the rest. This page is generated:
`cargo xtask documents model`.

| command | what |
|---|---|
| `zeronic model --out page.html` | the page: sliders, the machine's picture, bars, table, sources; one file that asks for nothing |
| `zeronic model`, `--path zcrx --rate 400 --mtu 4096`, `--json` | a table of all paths; one path with its limits and coefficients; the same as JSON |
| `zeronic model --validate` | every published point beside the model; status 1 above the limits |
| `zeronic model --calibrate` | how fast a core of this machine is, for `--core` and the slider: about 12 s |
| `zeronic model --fit` | the fitted coefficients anew |

## What is computed

For a byte of payload: packets, segments after coalescing, ACKs, calls, answers, lost packets, registrations. Each costs time of the
sender's thread, of the receiver's thread that the application waits for, and of the thread beside it; bytes of memory; bytes of PCIe,
framing included (MPS 256, MRRS 512, the formulas that the benchmarks use). Each resource allows a goodput; the least binds. A transport
keeps a share of that under loss, by one curve. Wire efficiency is exact. Memory counts what the last-level cache does not keep.
A load adds the application's own time: a Redis server thread, or NCCL's time around a message.

What it leaves out: more than one stream, queues, NUMA, interrupts that come late, caches that fit a small message, registers of the
card's own ports. Latency is guessed but for our card, and no published point judges it. One published figure for each of the paths
does not mean one machine: times are those of an EPYC 7502, others have a factor.

## How far off
";

const SPLIT: &str = "
A series of points (one curve of one source) is sorted by a hash of the points' names, and every other point is held back; a test holds
the split of the commit that came before any fit. No coefficient has seen a point that is held back; whoever chose the forms of the
sums and curves had seen all of them, which flatters the errors. Below 1 Gb/s an error is absolute, as a share of 1 Gb/s. Our own points are of the
simulated card, whose wire and PCIe the model knows exactly: they are easy, so the errors stand without them as well.
";

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
