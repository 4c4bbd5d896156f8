//! The page of `bench all`: Markdown, and self-contained HTML with plots.
//!
//! ```text
//!   rows, latencies, rates, area ──┬── tables.rs ──► Markdown, HTML
//!                                  └── plots.rs ───► HTML
//! ```

mod plots;
mod tables;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Result;
use measure::{area, connections, cpu, dma, host, latency, speed, throughput};
use network::measure::{fairness, incast, loss};
use serde::Serialize;

use crate::shared::options::UsageError;
use crate::shared::output::ResultFile;

/// Title of the group of rows with runs of packets.
pub const RUNS_TITLE: &str = "Runs of packets: one header entry for several";

/// One measured command line.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Words after `zeronic bench`.
    pub line: String,
    /// Goal as a share of the limit, where there is one.
    pub goal: Option<f64>,
    /// Figures.
    pub report: throughput::Report,
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
}

/// `benchmarks.md`, `benchmarks.html` and `benchmarks.json` in a folder.
pub struct PageFiles {
    markdown: ResultFile,
    html: ResultFile,
    json: ResultFile,
}

impl PageFiles {
    /// Makes the folder and removes an existing page.
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
    /// The DMA engines alone.
    pub dma: Option<dma::Report>,
    /// Latencies.
    pub latency: Option<latency::Report>,
    /// Speed of the simulation.
    pub speed: Option<speed::Report>,
    /// Costs of the host's control stack.
    pub host: Option<host::Report>,
    /// CPU time of the host stack and of the kernel.
    pub cpu: Option<cpu::Report>,
    /// Many connections.
    pub connections: Option<connections::Report>,
    /// Our own TCP over loss.
    pub loss: Option<loss::Report>,
    /// The same, long flows beside short ones.
    pub fairness: Option<fairness::Report>,
    /// The same, many senders at once.
    pub incast: Option<incast::Report>,
    /// What the card takes of the device.
    pub area: Option<area::Figures>,
}

const INTRODUCTION: &str =
    "Figures of the simulated card, in the time of its clocks: the emitted Verilog in Verilator, \
     a PCIe 3.0 x16 slot (256-byte MPS, 512-byte MRRS, 900 ns read round trip, RCB 64, completions \
     of 256 bytes, 256 completion headers, credits), a 100 Gb/s MAC. Every byte, entry and frame \
     of every row was judged; a row that says WRONG has no figure to trust. Each is steady state: \
     every flow has had its turn before, then at least a millisecond is measured, in which every \
     list of segments wraps at least twice and every flow has at least eight packets. Of both \
     directions at once the slower is shown. Limits are the formulas of \
     `sim/measure/src/limits.rs`: the wire, the lanes of PCIe each way, the requester port of the \
     hard block, reads in flight. One flow sends up to 64 KiB in a descriptor, many flows two \
     packets, as one ACK releases them; on the wire to the card flows take turns packet by packet. \
     What the host costs is measured in wall-clock and CPU time of the machine that made the page.";

impl Page {
    /// Every byte of every row is right. What is measured in wall-clock time may be noisy: the page
    /// says so. Where it is wrong it has no report.
    pub fn is_ok(&self) -> bool {
        let rows = self.sections.iter().flat_map(|(_, rows)| rows);
        rows.map(|row| row.report.ok)
            .chain(self.dma.iter().map(|report| report.ok))
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

    fn markdown(&self) -> String {
        let introduction = wrap_paragraph(INTRODUCTION);
        let mut text = format!("# Benchmarks\n\n{introduction}\n\nMade by `zeronic bench all`.\n");
        for Table { title, note, head, rows } in self.tables() {
            let _ = writeln!(text, "\n## {title}\n");
            if !note.is_empty() {
                let _ = writeln!(text, "{}\n", wrap_paragraph(&note));
            }
            let rule = vec!["---"; head.len()].join(" | ");
            let _ = writeln!(text, "| {} |\n| {rule} |", head.join(" | "));
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
        for table in self.tables() {
            let _ = writeln!(text, "<h2>{}</h2>", escape(&table.title));
            if !table.note.is_empty() {
                let _ = writeln!(text, "<p>{}</p>", escape(&table.note));
            }
            text.push_str("<table>\n");
            let rows = table.rows.iter().map(|row| ("td", row));
            for (tag, row) in std::iter::once(("th", &table.head)).chain(rows) {
                let cells = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
                let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
            }
            text.push_str("</table>\n");
        }
        text.push_str("</body>\n</html>\n");
        text
    }
}

/// A paragraph in lines of at most 100 characters, as far as its words allow.
fn wrap_paragraph(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let length = lines[last].chars().count() + 1 + word.chars().count();
        match (lines[last].is_empty(), length > 100) {
            (true, _) => lines[last].push_str(word),
            (false, true) => lines.push(word.to_owned()),
            (false, false) => lines[last].extend([" ", word]),
        }
    }
    lines.join("\n")
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or("").to_owned();
    for (number, part) in parts.enumerate() {
        out.push_str(if number.is_multiple_of(2) { "<code>" } else { "</code>" });
        out.push_str(part);
    }
    out
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;\
    padding:0 1rem;color:#1f2328}table{border-collapse:collapse;margin:1rem 0;font-size:13px}\
    td,th{border:1px solid #d0d7de;padding:.25rem .6rem;text-align:left}th{background:#f6f8fa}\
    .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(34rem,1fr));gap:1.5rem}\
    figure{margin:0}.title{font-weight:600}\
    svg{width:100%;height:auto;border:1px solid #d0d7de;border-radius:6px}";

/// A table of the page.
struct Table {
    title: String,
    /// A sentence below the title; may be empty.
    note: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_between_words() {
        let words = vec!["word"; 45].join(" ");
        let text = wrap_paragraph(&words);
        assert_eq!(text.replace('\n', " "), words);
        let lengths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(lengths, [99, 99, 24]);
        assert_eq!(wrap_paragraph(""), "");
    }

    #[test]
    fn code_is_marked_markup_escaped() {
        assert_eq!(escape("a `b` <c>"), "a <code>b</code> &lt;c&gt;");
    }
}
