//! The page's tables: every figure beside its limit or goal, and the ratio.

use measure::area::{self, BRAM_PERCENT_MAX, LUT_PERCENT_MAX, URAM_PERCENT_MAX};
use measure::speed::{self, SPEED_GOAL};
use measure::timing::latencies::Spread;
use measure::{connections, latency};

use super::{Page, Row, Table, RUNS_TITLE};
use crate::bench::cpu::table as cpu;
use crate::bench::dma;
use crate::bench::host::table as host;
use crate::bench::networks::{Show, Shown};

const HEAD: [&str; 8] =
    ["command", "Gb/s", "limit", "Mpps", "limit", "of limit", "to reach", "frames"];
/// Parts of the card whose area is shown.
pub const AREA_PARTS: usize = 16;

fn own_cells(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn yes(is_reached: bool) -> &'static str {
    if is_reached {
        "yes"
    } else {
        "no"
    }
}

fn cells(row: &Row) -> Vec<String> {
    let report = &row.report;
    let goal = |goal: f64| format!("{:.1} %: {}", 100.0 * goal, yes(report.ratio >= goal));
    let lost = match (report.frames_lost, report.rx_offered_mpps) {
        (0, _) | (_, None) => format!("{} lost", report.frames_lost),
        (lost, Some(offered)) => format!("{lost} lost, {offered:.1} Mpps on the wire"),
    };
    vec![
        format!("`bench {}`", row.line.replace(" --config default", "")),
        format!("{:.2}", report.goodput_gbps),
        format!("{:.2}", report.limit_gbps),
        format!("{:.3}", report.mpps),
        format!("{:.3} ({})", report.limit_mpps, report.limited_by),
        format!("{:.2} %", 100.0 * report.ratio),
        row.goal.map_or_else(String::new, goal),
        match (report.ok, report.rival_frames_lost) {
            (true, None) => lost,
            (true, Some(rival)) => format!("{} lost, rival {rival}", report.frames_lost),
            _ => format!("WRONG: {}", report.problems.first().map_or("", |p| p)),
        },
    ]
}

fn throughput_table(title: &str, rows: &[Row]) -> Table {
    let mut policies: Vec<&str> = rows.iter().map(|row| row.report.ack_policy).collect();
    policies.dedup();
    Table {
        title: title.to_owned(),
        note: format!("Acknowledgements: {}.", policies.join("; ")),
        head: own_cells(&HEAD),
        rows: rows.iter().map(cells).collect(),
    }
}

const RUNS_HEAD: [&str; 9] = [
    "command",
    "Gb/s",
    "of limit",
    "packets an entry",
    "to reach",
    "entries, Gb/s of the lanes",
    "packet to entry, ns: p50",
    "largest",
    "frames",
];
/// Least packets for each entry of one flow, by the words of its row.
const RUN_PACKETS_GOALS: [(&str, f64); 2] =
    [("--mtu 9000 --flows 1 ", 7.0), ("--mtu 1500 --flows 1 ", 40.0)];

fn run_cells(row: &Row) -> Vec<String> {
    let report = &row.report;
    let packets = report.packets_per_entry.unwrap_or(0.0);
    let has_runs = row.line.contains("--coalesce on");
    let goal = RUN_PACKETS_GOALS.iter().find(|goal| has_runs && row.line.contains(goal.0));
    let to_reach = goal.map(|goal| format!("{:.0}: {}", goal.1, yes(packets >= goal.1)));
    let wait = |of: fn(&Spread) -> f64| {
        report.entry_wait_ns.map_or_else(String::new, |wait| format!("{:.0}", of(&wait)))
    };
    let [line, goodput, _, _, _, ratio, _, frames]: [String; 8] =
        cells(row).try_into().unwrap_or_default();
    vec![
        line,
        goodput,
        ratio,
        format!("{packets:.2}"),
        to_reach.unwrap_or_default(),
        format!("{:.2}", report.entries_gbps.unwrap_or(0.0)),
        wait(|it| it.p50),
        wait(|it| it.max),
        frames,
    ]
}

fn runs_table(title: &str, rows: &[Row]) -> Table {
    Table {
        title: title.to_owned(),
        note: "Segments of 64 KiB, or of a burst of 2 packets and more, cut into packets, PSH on \
               the last. Of more than 64 flows each has 8 segments of at most 4 KiB posted: its \
               longest bursts end with them. An entry of a run comes 8 us after its first packet \
               at the latest; the host polls once in 256 ns."
            .to_owned(),
        head: own_cells(&RUNS_HEAD),
        rows: rows.iter().map(run_cells).collect(),
    }
}

fn dma_table(report: &measure::dma::Report) -> Table {
    Table {
        title: "The DMA engines alone (`bench dma`)".to_owned(),
        note: "The read and the write engine in the same slot, without the card around them. A \
               read's room comes back when its last completion was taken: with half the headers \
               that is what binds."
            .to_owned(),
        head: own_cells(&dma::HEAD),
        rows: report.rows.iter().map(dma::cells).collect(),
    }
}

fn latency_table(report: &latency::Report) -> Table {
    let row = |(name, spread, goal): (String, Spread, f64)| {
        // The goal is of 99 in 100 packets under load, and of all where there is none.
        let found = match name.contains("load") {
            true => spread.p99,
            false => spread.max,
        };
        let times = [spread.min, spread.p50, spread.p99, spread.max];
        let mut cells = vec![name];
        cells.extend(times.iter().map(|time| format!("{time:.0}")));
        cells.push(format!("{goal:.0}: {}", yes(found <= goal)));
        cells.push(format!("{:.0} %", 100.0 * found / goal));
        cells
    };
    Table {
        title: "Latency (`bench latency`)".to_owned(),
        note:
            "To reach: by the largest; under load by 99 of 100. A descriptor that finds its ring \
               empty comes with the doorbell, which is what the driver does by itself; it is \
               fetched where others wait before it."
                .to_owned(),
        head: own_cells(&["ns", "min", "p50", "p99", "max", "to reach", "of it"]),
        rows: report.rows().into_iter().map(row).collect(),
    }
}

fn speed_table(report: &speed::Report) -> Table {
    let ratio = |speed: f64| {
        vec![
            format!("{speed:.0} cycles of 250 MHz a second"),
            format!("{SPEED_GOAL:.0}: {}", yes(speed >= SPEED_GOAL)),
            format!("{:.0} %", 100.0 * speed / SPEED_GOAL),
        ]
    };
    let named = |name: &str, cells: Vec<String>| {
        let mut row = vec![name.to_owned()];
        row.extend(cells);
        row
    };
    let speed = ratio(report.cycles_per_second);
    let mut rows = vec![named("duplex, MTU 1500, all checks", speed)];
    if let Some(speed) = report.cycles_per_core_second {
        rows.push(named("on a core of its own", ratio(speed)));
    }
    for (name, share) in report.parts() {
        let share = format!("{:.1} % of the time", 100.0 * share);
        rows.push(named(name, vec![share, String::new(), String::new()]));
    }
    Table {
        title: "Speed of the simulation (`bench sim`)".to_owned(),
        note: String::new(),
        head: own_cells(&["part", "figure", "to reach", "of it"]),
        rows,
    }
}

fn host_table(report: &measure::host::Report) -> Table {
    Table {
        title: "The host's control stack (`bench host`)".to_owned(),
        note: format!(
            "On the null card, which does nothing but the contract, with the null protocol. {}. \
             {}. {}",
            host::speed(report),
            host::many_flows(report),
            host::noise(report).trim()
        ),
        head: own_cells(&host::HEAD),
        rows: report.rows.iter().map(|row| host::cells(row).into()).collect(),
    }
}

fn cpu_table(report: &measure::cpu::Report) -> Table {
    Table {
        title: "CPU time of host stack and kernel (`bench cpu`)".to_owned(),
        note: format!("Both ends together. {} {} {}", cpu::idle(report), cpu::BIAS, report.noise()),
        head: own_cells(&cpu::HEAD),
        rows: cpu::cells(report).into_iter().map(Into::into).collect(),
    }
}

fn cpu_rates_table(report: &measure::cpu::Report) -> Table {
    Table {
        title: "CPU time of the host stack at rates of arrival (`bench cpu`)".to_owned(),
        note: "Both ends, with the null protocol. The batches are those that result; a core of \
               each end polls all the time. A doorbell is a store here: what it costs on a bus is \
               taken to be 100 ns, and comes on top."
            .to_owned(),
        head: own_cells(&cpu::RATES_HEAD),
        rows: cpu::rate_cells(report).into_iter().map(Into::into).collect(),
    }
}

fn coalescing_table(report: &measure::cpu::Report) -> Table {
    Table {
        title: "The receiving host, with an entry for each packet and for runs (`bench cpu`)"
            .to_owned(),
        note: "The receiving host alone, bytes not read, off and on in turn: with the null \
               protocol in batches of 64 packets and as they come at 100 Gb/s, with our own TCP \
               and Linux TCP behind a TAP device on golden cards. What the kernel does for the TAP \
               device outside of the host's thread is not counted."
            .to_owned(),
        head: own_cells(&cpu::RUNS_HEAD),
        rows: cpu::coalescing_cells(report).into_iter().map(Into::into).collect(),
    }
}

fn connections_table(report: &connections::Report) -> Table {
    Table {
        title: format!(
            "{} connections on the golden card (`bench connections`)",
            report.connections
        ),
        note: "Opened 64 at a time; all are open while each is used; every byte is judged. The \
               table of all connections is there before, and not in the heap of each."
            .to_owned(),
        head: own_cells(&["what", "figure"]),
        rows: report.rows().into_iter().map(Into::into).collect(),
    }
}

/// A table of `bench loss`, `fairness` or `incast`.
fn network_table<M: Show>(title: &str, note: &str, parameters: &M, report: &M::Report) -> Table {
    let Shown { head, rows, .. } = parameters.show(report);
    let title = format!("Our own TCP: {title} (`bench {}`)", M::NAME);
    Table { title, note: note.to_owned(), head: own_cells(head), rows }
}

fn network_tables(page: &Page) -> Vec<Table> {
    let loss = page.loss.as_ref().map(|report| {
        let note = "One flow of 100 Gb/s, both ways disturbed, in a simulation without a card. Of \
                    what can arrive: goodput over the line's less what is lost.";
        network_table("goodput over loss", note, &report.parameters, report)
    });
    let fairness = page.fairness.as_ref().map(|report| {
        let note = "Behind one port of a switch that marks and drops. A short flow opens, sends \
                    64 KiB and closes, and the next one begins.";
        network_table("long flows beside short ones", note, &report.parameters, report)
    });
    let incast = page.incast.as_ref().map(|report| {
        let note = "All begin at once behind one port of a switch.";
        network_table("many senders at once", note, &report.parameters, report)
    });
    [loss, fairness, incast].into_iter().flatten().collect()
}

/// The device's share with its budget, the longest paths, and the largest parts.
fn area_tables(figures: &area::Figures) -> [Table; 2] {
    let share = |what: &str, percent: f64, limit: f64| {
        vec![
            what.to_owned(),
            format!("{percent:.2} %"),
            format!("{limit} %: {}", yes(percent <= limit)),
            format!("{:.0} %", 100.0 * percent / limit),
        ]
    };
    let mut device = vec![
        share("LUTs", figures.lut_percent, LUT_PERCENT_MAX),
        share("BRAM", figures.bram_percent, BRAM_PERCENT_MAX),
        share("URAM", figures.uram_percent, URAM_PERCENT_MAX),
    ];
    for (frequency, found, most) in figures.levels() {
        device.push(vec![
            format!("levels of LUTs between registers at {frequency:.0} MHz"),
            found.to_string(),
            format!("{most}: {}", yes(found <= most)),
            format!("{:.0} %", 100.0 * f64::from(found) / f64::from(most)),
        ]);
    }
    let largest = figures.largest_blocks(AREA_PARTS);
    let parts = largest.iter().map(|(name, luts)| vec![name.clone(), format!("{luts:.0}")]);
    [
        Table {
            title: "Area of an XCVU9P (`bench area`)".to_owned(),
            note: String::new(),
            head: own_cells(&["what", "card", "at most", "of it"]),
            rows: device,
        },
        Table {
            title: "Area by block".to_owned(),
            note: String::new(),
            head: own_cells(&["block", "LUTs"]),
            rows: parts.collect(),
        },
    ]
}

impl Page {
    /// All tables, in the order of the page.
    pub(super) fn tables(&self) -> Vec<Table> {
        let rows = self.sections.iter();
        let table = |(title, rows): &(&'static str, Vec<Row>)| match *title {
            RUNS_TITLE => runs_table(title, rows),
            _ => throughput_table(title, rows),
        };
        let mut tables: Vec<Table> = rows.map(table).collect();
        tables.extend(self.dma.iter().map(dma_table));
        tables.extend(self.latency.iter().map(latency_table));
        tables.extend(self.speed.iter().map(speed_table));
        tables.extend(self.host.iter().map(host_table));
        tables.extend(
            self.cpu
                .iter()
                .flat_map(|cpu| [cpu_table(cpu), cpu_rates_table(cpu), coalescing_table(cpu)]),
        );
        tables.extend(self.connections.iter().map(connections_table));
        tables.extend(network_tables(self));
        tables.extend(self.area.iter().flat_map(area_tables));
        tables
    }
}
