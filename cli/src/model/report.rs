//! Tables of the model on the terminal.

use std::fmt::Write;

use anyhow::Result;
use model::cost::{Cost, LIMITS, NO_LIMIT_GBPS};
use model::fit::fit;
use model::published::points;
use model::table::{Basis, Table};
use model::validate::{compare, errors, Compared, Errors, MEDIAN_MAX, POINTS_LEAST, WORST_MAX};
use serde_json::json;

use super::refusal::refused;
use crate::shared::output::print;
use crate::shared::table::table;

/// Three digits, or four above 100.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { 2 - value.abs().log10().floor() as i32 };
    format!("{value:.*}", digits.clamp(0, 6) as usize)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// One line a path.
pub fn all_paths(coefficients: &Table, costs: &[(&str, Cost)]) -> Result<String> {
    let mut lines = table(&[
        "path",
        "Gb/s",
        "what binds",
        "receiver cores",
        "s/GB",
        "memory GB/s",
        "PCIe up GB/s",
        "down",
        "message us",
    ]);
    for (id, cost) in costs {
        lines.add_row([
            coefficients.path(id).map_err(refused)?.id.clone(),
            number(cost.goodput_gbps),
            cost.binds.to_owned(),
            number(cost.receiver_cores + cost.companion_cores),
            number(cost.cpu_s_per_gb),
            number(cost.memory_gbytes_per_s),
            number(cost.pcie_up_gbytes_per_s),
            number(cost.pcie_down_gbytes_per_s),
            number(cost.latency_us),
        ]);
    }
    Ok(format!("{lines}\n"))
}

/// A path with its limits and the coefficients behind them.
pub fn one_path(coefficients: &Table, id: &str, cost: &Cost) -> Result<String> {
    let path = coefficients.path(id).map_err(refused)?;
    let mut figures = table(&[]);
    let mut line = |what: &str, value: f64, unit: &str| {
        figures.add_row([what.to_owned(), number(value), unit.to_owned()]);
    };
    line("goodput", cost.goodput_gbps, "Gb/s");
    line("wire efficiency", 100.0 * cost.wire_efficiency, "%");
    line("sender's thread", cost.sender_cores, "cores");
    line("receiver's thread", cost.receiver_cores, "cores");
    line("thread beside it", cost.companion_cores, "cores");
    line("receiver, both", cost.cpu_s_per_gb, "s/GB");
    line("memory written", cost.memory_written_gbytes_per_s, "GB/s");
    line("memory read", cost.memory_read_gbytes_per_s, "GB/s");
    line("read to be written in part", cost.memory_allocated_gbytes_per_s, "GB/s");
    line("of these past the cache", cost.memory_gbytes_per_s, "GB/s");
    line("PCIe to the host", cost.pcie_up_gbytes_per_s, "GB/s");
    line("PCIe to the card", cost.pcie_down_gbytes_per_s, "GB/s");
    line("a message is there after", cost.latency_us, "us");
    let mut limits = table(&["allows, Gb/s", "what"]);
    for (name, gbps) in LIMITS.iter().zip(cost.limits_gbps) {
        if gbps < NO_LIMIT_GBPS {
            limits.add_row([number(gbps), (*name).to_owned()]);
        }
    }
    let mut cells = table(&["pays", "for", "value", "unit", "spread", "basis", "source"]);
    for cell in &path.cells {
        cells.add_row([
            format!("{:?} {}", cell.pays, cell.hop).trim_end().to_owned(),
            format!("{:?}", cell.per),
            number(cell.value),
            cell.unit.clone(),
            number(cell.spread),
            format!("{:?}", cell.basis).to_lowercase(),
            cell.source.clone(),
        ]);
    }
    let head = format!("{}: {}\n{} binds.", path.name, path.about, cost.binds);
    Ok(format!("{head}\n{figures}\n{limits}\n{cells}\n"))
}

fn of_half<'a>(compared: &'a [Compared], half: &str) -> Vec<&'a Compared> {
    compared.iter().filter(|point| point.half == half).collect()
}

/// Published points beside the model. True when the half held back is within the limits.
pub fn validation(coefficients: &Table, as_json: bool) -> Result<bool> {
    let compared = compare(coefficients, &points().map_err(refused)?).map_err(refused)?;
    let held = of_half(&compared, "held");
    let others: Vec<&Compared> =
        held.iter().copied().filter(|point| point.source != "bench").collect();
    let groups = [
        ("fitted", errors(&of_half(&compared, "fit"))),
        ("held back", errors(&held)),
        ("held back, without our own", errors(&others)),
        ("shown, not counted", errors(&of_half(&compared, "outside"))),
    ];
    let is_near = |errors: &Option<Errors>| {
        errors.as_ref().is_some_and(|e| e.median <= MEDIAN_MAX && e.worst <= WORST_MAX)
    };
    let ok = is_near(&groups[1].1) && compared.len() >= POINTS_LEAST;
    if as_json {
        let named = groups.iter().map(|(name, errors)| json!({ "points": name, "errors": errors }));
        let all = json!({
            "ok": ok, "median_max": MEDIAN_MAX, "worst_max": WORST_MAX,
            "groups": named.collect::<Vec<_>>(), "points": compared,
        });
        print(&format!("{all:#}\n"))?;
        return Ok(ok);
    }
    let mut text = format!("{}\n", point_table(&compared));
    for (name, errors) in &groups {
        let Some(errors) = errors else { continue };
        let (median, worst) = (percent(errors.median), percent(errors.worst));
        let Errors { count, worst_name, .. } = errors;
        let line = format!("{name}: {count} points, median {median}, worst {worst} ({worst_name})");
        text += &(line + "\n");
    }
    for point in of_half(&compared, "outside") {
        let why = point.outside.as_deref().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "left out of {}: {why}", point.name);
    }
    let verdict = if ok { "within" } else { "FAILED: above" };
    let (median, worst) = (percent(MEDIAN_MAX), percent(WORST_MAX));
    let _ = writeln!(text, "{verdict} the limits: median {median}, worst {worst}, held back");
    print(&text)?;
    Ok(ok)
}

fn point_table(compared: &[Compared]) -> comfy_table::Table {
    let mut lines = table(&["point", "path", "published", "model", "unit", "error", "half"]);
    for point in compared {
        lines.add_row([
            point.name.clone(),
            point.path.clone(),
            number(point.published),
            number(point.model),
            point.unit.to_owned(),
            format!("{:+.1} %", 100.0 * point.error),
            point.half.to_owned(),
        ]);
    }
    lines
}

/// Coefficients that the points ask for, beside those of the table.
pub fn fitted(coefficients: &Table) -> Result<bool> {
    let points = points().map_err(refused)?;
    let found = fit(coefficients, &points).map_err(refused)?;
    let mut lines = table(&["row", "pays", "for", "table", "fitted", "spread", "unit"]);
    let free = coefficients.rows().flat_map(|row| {
        let cells = row.cells.iter();
        let free = cells.filter(|cell| cell.basis == Basis::Fitted && cell.like.is_empty());
        free.map(|cell| (row.id.clone(), cell))
    });
    for ((row, cell), found) in free.zip(found) {
        lines.add_row([
            row,
            format!("{:?}", cell.pays),
            format!("{:?}", cell.per),
            format!("{}", cell.value),
            format!("{:.4}", found.value),
            format!("{:.2}", found.spread),
            cell.unit.clone(),
        ]);
    }
    print(&format!("{lines}\n"))?;
    Ok(true)
}
