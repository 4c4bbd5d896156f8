//! The page of `bench all`: Markdown, and HTML with plots that needs nothing else.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::area::{self, BRAM_PERCENT_MAX, LUT_PERCENT_MAX, URAM_PERCENT_MAX};
use super::plot::{self, bars, lines, Bar, Series};
use super::throughput::Report;
use super::{latency, speed};
use crate::options::UsageError;
use crate::output::ResultFile;

/// One measured command line.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Words after `zeronic bench`.
    pub line: String,
    /// Share of the limit that is to be reached.
    pub goal: f64,
    /// Figures.
    pub report: Report,
}

impl Row {
    /// The row in one line.
    pub fn summary(&self) -> String {
        let report = &self.report;
        let verdict = if report.ok { "right" } else { "WRONG" };
        let percent = 100.0 * report.ratio;
        format!(
            "  {:.2} Gb/s, {:.3} Mpps, {percent:.2} % of the limit ({}), {verdict}",
            report.goodput_gbps, report.mpps, report.limited_by
        )
    }

    fn cells(&self) -> [String; 8] {
        let report = &self.report;
        let command = format!("`bench {}`", self.line.replace(" --config default", ""));
        let reached = report.ratio >= self.goal;
        [
            command,
            format!("{:.2}", report.goodput_gbps),
            format!("{:.2}", report.limit_gbps),
            format!("{:.3}", report.mpps),
            format!("{:.3} ({})", report.limit_mpps, report.limited_by),
            format!("{:.2} %", 100.0 * report.ratio),
            format!(
                "{:.1} %: {}",
                100.0 * self.goal,
                if reached { "yes" } else { "no" }
            ),
            match (report.ok, report.rival_frames_lost) {
                (true, None) => format!("{} lost", report.frames_lost),
                (true, Some(rival)) => format!("{} lost, rival {rival}", report.frames_lost),
                _ => format!("WRONG: {}", report.problems.first().map_or("", |p| p)),
            },
        ]
    }
}

const HEAD: [&str; 8] = [
    "command", "Gb/s", "limit", "Mpps", "limit", "of limit", "to reach", "frames",
];

/// `benchmarks.md`, `benchmarks.html` and `benchmarks.json` in a folder.
pub struct PageFiles {
    markdown: ResultFile,
    html: ResultFile,
    json: ResultFile,
}

impl PageFiles {
    /// Makes the folder, and removes a page that is there.
    pub fn prepare(folder: &Path) -> Result<Self, UsageError> {
        let failed = |error| UsageError(format!("folder {}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        let file = |name: &str| ResultFile::prepare("file", &folder.join(name));
        Ok(Self {
            markdown: file("benchmarks.md")?,
            html: file("benchmarks.html")?,
            json: file("benchmarks.json")?,
        })
    }
}

/// Everything that was measured.
#[derive(Default, Serialize)]
pub struct Page {
    /// Rows by group.
    pub sections: Vec<(&'static str, Vec<Row>)>,
    /// Latencies.
    pub latency: Option<latency::Report>,
    /// Speed of the simulation.
    pub speed: Option<speed::Report>,
    /// What the card takes of the device.
    pub area: Option<area::Figures>,
}

const INTRODUCTION: &str =
    "Figures of the simulated card, in the time of its clocks: the emitted Verilog in Verilator, \
     a PCIe 3.0 x16 slot (256-byte MPS, 512-byte MRRS, 900 ns read round trip, RCB 64, completions \
     of 256 bytes, 256 completion headers, credits), a 100 Gb/s MAC. Every byte, entry and frame \
     of every row was judged; a row that says WRONG has no figure to trust. ACKs ride in data \
     unless a row says otherwise; of both directions at once the slower is shown. Limits are the \
     formulas of `sim/src/measure/limits.rs`: the wire, the lanes of PCIe each way, the requester \
     port of the hard block, reads in flight. One flow sends up to 64 KiB in a descriptor, many \
     flows two packets, as one ACK releases them; on the wire to the card flows take turns packet \
     by packet.";

/// Limits beyond that many times the wire's are not drawn: they would press the rest flat.
const LIMIT_SHOWN: f64 = 1.5;
/// Parts of the card whose area is shown.
const AREA_PARTS: usize = 16;

impl Page {
    /// Every byte of every row is right.
    pub fn is_ok(&self) -> bool {
        let rows = self.sections.iter().flat_map(|(_, rows)| rows);
        rows.map(|row| row.report.ok)
            .chain(self.latency.iter().map(|report| report.ok))
            .chain(self.speed.iter().map(|report| report.ok))
            .all(|ok| ok)
    }

    /// Writes the files.
    pub fn write(&self, files: &PageFiles) -> Result<()> {
        files.markdown.write(self.markdown().as_bytes())?;
        files.html.write(self.html().as_bytes())?;
        files.json.write_json(self)
    }

    /// Titles, heads and cells of all tables.
    fn tables(&self) -> Vec<(String, Vec<String>, Vec<Vec<String>>)> {
        let owned = |head: &[&str]| head.iter().map(|cell| (*cell).to_owned()).collect();
        let mut tables: Vec<(String, Vec<String>, Vec<Vec<String>>)> = Vec::new();
        for (title, rows) in &self.sections {
            let cells = rows.iter().map(|row| row.cells().to_vec()).collect();
            tables.push(((*title).to_owned(), owned(&HEAD), cells));
        }
        if let Some(report) = &self.latency {
            let head = owned(&["ns", "min", "p50", "p99", "max", "to reach"]);
            let row = |(name, spread, goal): (String, latency::Spread, f64)| {
                let times = [spread.min, spread.p50, spread.p99, spread.max, goal];
                let cells = times.iter().map(|time| format!("{time:.0}"));
                std::iter::once(name).chain(cells).collect()
            };
            let cells = report.rows().into_iter().map(row).collect();
            tables.push(("Latency (`bench latency`)".to_owned(), head, cells));
        }
        if let Some(report) = &self.speed {
            let head = owned(&["part", "figure"]);
            let speed = format!("{:.0} cycles of 250 MHz a second", report.cycles_per_second);
            let mut cells = vec![vec!["duplex, MTU 1500, all checks".to_owned(), speed]];
            if let Some(speed) = report.cycles_per_core_second {
                cells.push(vec![
                    "on a core of its own".to_owned(),
                    format!("{speed:.0}"),
                ]);
            }
            for (name, share) in report.parts() {
                cells.push(vec![name.to_owned(), format!("{:.1} %", 100.0 * share)]);
            }
            tables.push((
                "Speed of the simulation (`bench sim`)".to_owned(),
                head,
                cells,
            ));
        }
        tables.extend(self.area.iter().flat_map(area_tables));
        tables
    }

    fn markdown(&self) -> String {
        let mut text = format!("# Benchmarks\n\n{INTRODUCTION}\n\nMade by `zeronic bench all`.\n");
        for (title, head, rows) in self.tables() {
            let rule = vec!["---"; head.len()].join(" | ");
            let _ = writeln!(text, "\n## {title}\n\n| {} |\n| {rule} |", head.join(" | "));
            for row in rows {
                let _ = writeln!(text, "| {} |", row.join(" | "));
            }
        }
        text
    }

    fn html(&self) -> String {
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
             <title>Zeronic: benchmarks</title>\n<style>{STYLE}</style></head>\n<body>\n\
             <h1>Benchmarks</h1>\n<p>{}</p>\n",
            escape(INTRODUCTION)
        );
        text.push_str("<div class=\"plots\">\n");
        for plot in self.plots() {
            text.push_str(&plot);
        }
        text.push_str("</div>\n");
        for (title, head, rows) in self.tables() {
            let _ = writeln!(text, "<h2>{}</h2>\n<table>", escape(&title));
            for (tag, row) in std::iter::once(("th", &head)).chain(rows.iter().map(|r| ("td", r))) {
                let cells = row
                    .iter()
                    .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
                let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
            }
            text.push_str("</table>\n");
        }
        text.push_str("</body>\n</html>\n");
        text
    }

    fn plots(&self) -> Vec<String> {
        let mut plots = vec![
            self.frames_plot("rx", "Receiving over frame size"),
            self.frames_plot("tx", "Sending over frame size"),
            self.bars_plot("Over flows, in order, MTU 1500", &["1", "16384"], false),
            self.bars_plot("Over order, MTU 1500", &["1", "256"], true),
        ];
        if let Some(latency) = &self.latency {
            let curve = |(name, times): &(&'static str, Vec<f64>)| Series {
                name: (*name).to_owned(),
                points: distribution(times),
                is_limit: false,
            };
            let series: Vec<Series> = latency.curves.iter().map(curve).collect();
            let axes = ("ns from the last beat of the frame", "% of packets");
            let title = "Receive latency, 64 B of payload: share of packets not slower";
            plots.push(lines(title, axes, false, &series));
        }
        if let Some(area) = &self.area {
            let axis = format!(
                "LUTs; the whole card: {:.2} % of the device",
                area.lut_percent
            );
            plots.push(plot::rows(
                "Area by block",
                &axis,
                &area.largest(AREA_PARTS),
            ));
        }
        plots
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|(_, rows)| rows)
    }

    /// Frame bytes carried, over frame size, beside wire and link where these are near the wire.
    fn frames_plot(&self, word: &str, title: &str) -> String {
        let prefix = format!("{word} --frame ");
        let mut card = Vec::new();
        let mut wire = Vec::new();
        let mut link = Vec::new();
        let mut port = Vec::new();
        for row in self.rows() {
            let rest = row.line.strip_prefix(&prefix);
            let Some(rest) = rest.filter(|rest| !rest.contains("--rival")) else {
                continue;
            };
            let bytes: f64 = rest.split(' ').next().unwrap_or("").parse().unwrap_or(0.0);
            let gbps = |mpps: f64| (bytes, mpps * bytes * 8.0 / 1000.0);
            card.push(gbps(row.report.mpps));
            let limits = &row.report.limits_mpps;
            let shown = LIMIT_SHOWN * limits.get("wire").copied().unwrap_or(f64::INFINITY);
            for (name, mpps) in limits.iter().filter(|(_, mpps)| **mpps <= shown) {
                match *name {
                    "wire" => wire.push(gbps(*mpps)),
                    "pcie up" if word == "rx" => link.push(gbps(*mpps)),
                    "pcie down" if word == "tx" => link.push(gbps(*mpps)),
                    "rq port" => port.push(gbps(*mpps)),
                    _ => {}
                }
            }
        }
        let series = [
            ("card", card, false),
            ("wire", wire, true),
            ("PCIe lanes", link, true),
            ("requester port", port, true),
        ];
        let series = series.map(|(name, points, is_limit)| Series {
            name: name.to_owned(),
            points,
            is_limit,
        });
        lines(
            title,
            ("frame size with FCS, bytes", "frames, Gb/s"),
            true,
            &series,
        )
    }

    fn bars_plot(&self, title: &str, flows: &[&str], is_random: bool) -> String {
        let words =
            |row: &Row| -> Vec<String> { row.line.split(' ').map(ToOwned::to_owned).collect() };
        let of_flows = |row: &&Row| flows.contains(&words(row)[4].as_str());
        let is_wanted = |row: &&Row| {
            let others = ["--acks", "--completion", "--frame"];
            row.line.contains("--mtu 1500")
                && (is_random || !row.line.contains("random"))
                && !others.iter().any(|other| row.line.contains(other))
        };
        let bar = |row: &Row| {
            let words = words(row);
            let order = match (is_random, row.line.contains("random")) {
                (true, true) => ", random",
                (true, false) => ", in order",
                (false, _) => "",
            };
            let flows = match words[4].as_str() {
                "1" => "1 flow".to_owned(),
                count => format!("{count} flows"),
            };
            Bar {
                name: format!("{}, {flows}{order}", words[0]),
                value: row.report.goodput_gbps,
                limit: row.report.limit_gbps,
            }
        };
        let wanted = self.rows().filter(is_wanted).filter(of_flows);
        let all: Vec<Bar> = wanted.map(bar).collect();
        bars(title, "payload, Gb/s", &all)
    }
}

/// The device's share with its budget, and the largest parts.
fn area_tables(figures: &area::Figures) -> [(String, Vec<String>, Vec<Vec<String>>); 2] {
    let owned = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
    let share = |what: &str, percent: f64, limit: f64| {
        let ratio = format!("{:.0} %", 100.0 * percent / limit);
        vec![
            what.to_owned(),
            format!("{percent:.2} %"),
            format!("{limit:.0} %"),
            ratio,
        ]
    };
    let device = vec![
        share("LUTs", figures.lut_percent, LUT_PERCENT_MAX),
        share("BRAM", figures.bram_percent, BRAM_PERCENT_MAX),
        share("URAM", figures.uram_percent, URAM_PERCENT_MAX),
    ];
    let largest = figures.largest(AREA_PARTS);
    let parts = largest
        .iter()
        .map(|(name, luts)| vec![name.clone(), format!("{luts:.0}")]);
    [
        (
            "Area of an XCVU9P (`bench area`)".to_owned(),
            owned(&["what", "card", "at most", "of it"]),
            device,
        ),
        (
            "Area by block".to_owned(),
            owned(&["block", "LUTs"]),
            parts.collect(),
        ),
    ]
}

/// A cumulative distribution in at most 200 points.
fn distribution(sorted: &[f64]) -> Vec<(f64, f64)> {
    let count = sorted.len();
    let step = count.div_ceil(200).max(1);
    let at = |index: usize| (sorted[index], 100.0 * (index + 1) as f64 / count as f64);
    let mut points: Vec<(f64, f64)> = (0..count).step_by(step).map(at).collect();
    points.extend(count.checked_sub(1).map(at));
    points
}

fn escape(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or("").to_owned();
    for (number, part) in parts.enumerate() {
        out.push_str(if number.is_multiple_of(2) {
            "<code>"
        } else {
            "</code>"
        });
        out.push_str(part);
    }
    out
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;\
    padding:0 1rem;color:#1f2328}table{border-collapse:collapse;margin:1rem 0;font-size:13px}\
    td,th{border:1px solid #d0d7de;padding:.25rem .6rem;text-align:left}th{background:#f6f8fa}\
    .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(34rem,1fr));gap:1.5rem}\
    svg{width:100%;border:1px solid #d0d7de;border-radius:6px;\
    font-family:system-ui,sans-serif}svg text{font-size:12px;fill:#1f2328}\
    svg .title{font-size:15px;font-weight:600}svg .value{fill:#fff;font-weight:600}\
    .axis{stroke:#57606a}.grid{stroke:#d0d7de;stroke-width:.7}\
    .limit{stroke:#cf222e;stroke-width:2;stroke-dasharray:6 4}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_marked_and_markup_is_not_executed() {
        assert_eq!(escape("a `b` <c>"), "a <code>b</code> &lt;c&gt;");
    }

    #[test]
    fn a_distribution_ends_at_all_packets() {
        let sorted: Vec<f64> = (0..1000).map(f64::from).collect();
        let points = distribution(&sorted);
        assert!(points.len() <= 202);
        assert_eq!(points.last(), Some(&(999.0, 100.0)));
        assert!(distribution(&[]).is_empty());
    }
}
