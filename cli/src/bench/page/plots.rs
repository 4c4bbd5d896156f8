//! The page's plots.

use measure::host::{self, FLOWS_GOAL};
use network::measure::loss::Fault;
use network::measure::{fairness, incast, loss, Controller};

use super::tables::AREA_PARTS;
use super::{Page, Row};
use crate::bench::cpu::table as cpu;
use crate::bench::plot::{self, bars, lines, Bar, Series};

/// Limits beyond this multiple of the wire's are not drawn: they would flatten the rest.
const LIMIT_SHOWN: f64 = 1.5;

impl Page {
    /// All plots, as SVG.
    pub(super) fn plots(&self) -> Vec<String> {
        let mut plots = vec![
            self.frames_plot("rx", "Receiving over frame size"),
            self.frames_plot("tx", "Sending over frame size"),
            self.bars_plot("Over flows (their number below), in order, MTU 1500", false),
            self.bars_plot("Over order (number of flows below), MTU 1500", true),
        ];
        plots.extend(self.runs_plot());
        if let Some(latency) = &self.latency {
            let receive = "Receive latency, 64 B of payload: share of packets not slower";
            let axis = "ns from the last beat of the frame";
            plots.push(latency_plot(receive, axis, &latency.curves));
            let send = "Send latency, 1 KiB of payload: share of packets not slower";
            let axis = "ns from the doorbell to the first beat of the frame";
            plots.push(latency_plot(send, axis, &latency.send_curves));
        }
        plots.extend(self.host.as_ref().map(flows_plot));
        plots.extend(self.cpu.as_ref().map(cpu_plot));
        plots.extend(self.loss.as_ref().map(loss_plot));
        plots.extend(self.fairness.as_ref().map(fairness_plot));
        plots.extend(self.incast.as_ref().map(incast_plot));
        if let Some(area) = &self.area {
            let axis = format!("LUTs; the whole card: {:.2} % of the device", area.lut_percent);
            plots.push(plot::rows("Area by block", &axis, &area.largest_blocks(AREA_PARTS)));
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
            // A sweep is not drawn: it has one figure for all its sizes.
            let Ok(bytes) = rest.split(' ').next().unwrap_or("").parse::<f64>() else {
                continue;
            };
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
        lines(title, ("frame size with FCS, bytes", "frames, Gb/s"), true, &series)
    }

    /// Packets for each entry over packets in a row, a line for each number of flows.
    fn runs_plot(&self) -> Option<String> {
        let mut series: Vec<Series> = Vec::new();
        for row in self.rows().filter(|row| row.line.contains("--coalesce on")) {
            let word = |name: &str| {
                let mut words = row.line.split(' ').skip_while(|word| *word != name).skip(1);
                words.next()
            };
            let (Some(flows), Some(burst)) = (word("--flows"), word("--burst")) else {
                continue;
            };
            let Ok(burst) = burst.parse() else { continue };
            let point = (burst, row.report.packets_per_entry.unwrap_or(0.0));
            let name = format!("{flows} flows in turn");
            match series.iter_mut().find(|it| it.name == name) {
                Some(line) => line.points.push(point),
                None => series.push(Series { name, points: vec![point], is_limit: false }),
            }
        }
        let most =
            series.iter().flat_map(|it| &it.points).map(|point| point.0).max_by(f64::total_cmp)?;
        let points = vec![(1.0, 1.0), (most, most)];
        series.push(Series { name: "one run for each burst".to_owned(), points, is_limit: true });
        let axes = ("packets of a flow in a row, MTU 1500", "packets for each header entry");
        Some(lines("Runs: packets for each header entry", axes, true, &series))
    }

    /// Bars of rows at MTU 1500, over flows or over order.
    fn bars_plot(&self, title: &str, is_over_order: bool) -> String {
        let others = ["--acks", "--completion", "--frame", "--burst", "--coalesce"];
        let is_wanted = |row: &&Row| {
            let has = |word: &str| row.line.contains(word);
            let is_of_order = has("random") || has("--ip mixed") || has("--flows 1 ");
            let is_alone = has("--mtu 1500") && !others.iter().any(|other| has(other));
            is_alone
                && match is_over_order {
                    true => is_of_order,
                    false => !has("random") && !has("--ip mixed"),
                }
        };
        let bar = |row: &Row| {
            let words: Vec<&str> = row.line.split(' ').collect();
            let flows = words[4];
            let order = match (is_over_order, row.line.contains("random")) {
                (true, true) => ", random",
                (true, false) => ", in order",
                (false, _) => "",
            };
            Bar {
                name: format!("{}, {flows}{order}", words[0]),
                value: row.report.goodput_gbps,
                limit: row.report.limit_gbps,
            }
        };
        let all: Vec<Bar> = self.rows().filter(is_wanted).map(bar).collect();
        bars(title, "payload, Gb/s", &all)
    }
}

/// Time of a received packet over the number of flows.
fn flows_plot(report: &host::Report) -> String {
    let ways = [&report.flows, &report.flows_packet_by_packet];
    let [bursts, packets] = ways.map(|way| {
        let points = way.iter().map(|row| (row.flows as f64, row.receive_ns));
        points.collect::<Vec<_>>()
    });
    let to_reach = |points: &[(f64, f64)]| {
        let goal_ns = points.first().map_or(0.0, |one| one.1 * FLOWS_GOAL);
        points.iter().map(|point| (point.0, goal_ns)).collect()
    };
    let [of_bursts, of_packets] = [&bursts, &packets].map(|points| to_reach(points));
    let series = [
        ("bursts of 64", bursts, false),
        ("to reach", of_bursts, true),
        ("packet by packet, an ACK for each", packets, false),
        ("to reach", of_packets, true),
    ];
    let series =
        series.map(|(name, points, is_limit)| Series { name: name.to_owned(), points, is_limit });
    let axes = ("flows that packets come for in turn", "ns for a packet");
    lines("Host: a received packet over flows", axes, true, &series)
}

/// Goodput over loss, a line for each controller, and go-back-N by formula.
fn loss_plot(report: &loss::Report) -> String {
    let window_bytes = report.parameters.window_bytes;
    let rows = report.rows.iter().filter(|row| row.window_bytes == window_bytes);
    let points = rows.filter_map(|row| match row.fault {
        Fault::Loss(share) => Some((row.controller, 100.0 * share, 100.0 * row.median)),
        _ => None,
    });
    let mut series = by_controller(points);
    let formula = report.go_back_n.iter();
    let points = formula.map(|it| (100.0 * it.loss, 100.0 * it.goodput_fraction)).collect();
    series.push(Series { name: "go-back-N, by formula".to_owned(), points, is_limit: true });
    let axes = ("% of packets lost, data and ACKs", "% of the goodput that can arrive");
    lines("Our own TCP: goodput over loss", axes, false, &series)
}

/// What long flows have of what short ones leave, with one long flow.
fn fairness_plot(report: &fairness::Report) -> String {
    let rows = report.rows.iter().filter(|row| row.longs == 1);
    let points = rows.map(|row| (row.controller, row.shorts as f64, 100.0 * row.long_fraction));
    let axes = ("short flows beside one long one", "% of what they leave that it has");
    lines("Our own TCP: a long flow beside short ones", axes, false, &by_controller(points))
}

/// Share of the link over the number of senders.
fn incast_plot(report: &incast::Report) -> String {
    let rows = report.rows.iter();
    let points = rows.map(|row| (row.controller, row.senders as f64, 100.0 * row.link_fraction));
    let axes = ("senders that begin at once", "% of the link");
    lines("Our own TCP: many senders at once", axes, true, &by_controller(points))
}

/// A line for each controller, in the order in which they come.
fn by_controller(points: impl Iterator<Item = (Controller, f64, f64)>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (controller, x, y) in points {
        let name = controller.name();
        match series.iter_mut().find(|it| it.name == name) {
            Some(line) => line.points.push((x, y)),
            None => {
                let (name, points) = (name.to_owned(), vec![(x, y)]);
                series.push(Series { name, points, is_limit: false });
            }
        }
    }
    series
}

/// CPU time for a GB: the kernel's and ours, one below the other.
fn cpu_plot(report: &measure::cpu::Report) -> String {
    let title = "Host: CPU time for a GB, both ends";
    let axis = "CPU ms for a GB: MTU, whether the application reads each received byte";
    plot::rows(title, axis, &cpu::bars(report))
}

/// One distribution for each kind of packet.
fn latency_plot(title: &str, axis: &str, curves: &[(&'static str, Vec<f64>)]) -> String {
    let curve = |(name, times): &(&'static str, Vec<f64>)| Series {
        name: (*name).to_owned(),
        points: distribution(times),
        is_limit: false,
    };
    let series: Vec<Series> = curves.iter().map(curve).collect();
    lines(title, (axis, "% of packets"), false, &series)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_all_packets() {
        let sorted: Vec<f64> = (0..1000).map(f64::from).collect();
        let points = distribution(&sorted);
        assert!(points.len() <= 202);
        assert_eq!(points.last(), Some(&(999.0, 100.0)));
        assert!(distribution(&[]).is_empty());
    }
}
