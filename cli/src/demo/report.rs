//! The table at the end of the demo, and the same figures as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use host::provider::ProviderCounters;
use lab::exchange::{Echo, Outcome};
use serde::Serialize;

use abi::reason::{Disposition, DropReason};

use crate::shared::table::{table, verdict};

/// One direction's figures.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionReport {
    /// Bytes that arrived.
    pub bytes: u64,
    /// SHA-256 of the bytes that arrived.
    pub sha256: String,
    /// Payload over simulated time, skipped time included; it says nothing about a network.
    pub goodput_gbps: f64,
    /// The digest is that of the bytes that were sent.
    #[serde(skip)]
    pub exact: bool,
}

/// The figures of a demo.
#[derive(Clone, Debug, Serialize)]
pub struct DemoReport {
    /// Every byte is right, every frame accounted for, no rule of a link broken.
    pub ok: bool,
    /// Which TCP the peer was.
    pub peer: String,
    /// Which TCP this machine's was.
    pub transport: String,
    /// From the peer into application memory.
    pub rx: DirectionReport,
    /// From application memory to the peer.
    pub tx: DirectionReport,
    /// Payload bytes that the host's CPU copied.
    pub copied_payload_bytes: u64,
    /// Packets by disposition and frames by drop reason; zeros left out.
    pub dispositions: BTreeMap<&'static str, u64>,
    /// Packets for each header entry of one; only where the card has summed some up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_entry: Option<f64>,
    /// Time that was simulated, cycle by cycle.
    pub sim_time_ns: u64,
    /// Time in which only a timer of smoltcp could happen, and that was skipped.
    pub skipped_time_ns: u64,
    /// Cycles of the card's clock for each second of wall-clock time.
    pub cycles_per_second: f64,
    #[serde(skip)]
    header_entries: u64,
    #[serde(skip)]
    runs: (u64, u64),
    #[serde(skip)]
    frames: (u64, u64),
    #[serde(skip)]
    violations: Vec<String>,
    #[serde(skip)]
    is_forgotten: bool,
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl DemoReport {
    /// The figures of a finished run; `frames_in` is the MAC's count of frames that entered the
    /// card.
    pub fn new(
        outcome: &Outcome,
        counters: &[(&'static str, u64)],
        provider: ProviderCounters,
        frames_in: u64,
        violations: Vec<String>,
    ) -> Self {
        let direction = |arrived: &(u64, [u8; 32]), expected: &[u8; 32]| DirectionReport {
            bytes: arrived.0,
            sha256: hex(&arrived.1),
            goodput_gbps: 0.0,
            exact: arrived.1 == *expected,
        };
        let counted = |name: &str| counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1);
        let names = Disposition::ALL.iter().map(|d| d.name());
        let names = names.chain(DropReason::ALL.iter().map(|d| d.name()));
        let all: BTreeMap<&'static str, u64> = names.map(|name| (name, counted(name))).collect();
        let frames_out: u64 = all.values().sum();
        let rx = direction(&outcome.received, &outcome.received_expected);
        let tx = direction(&outcome.sent, &outcome.sent_expected);
        Self {
            ok: rx.exact && tx.exact && frames_in == frames_out && violations.is_empty(),
            peer: String::new(),
            transport: String::new(),
            rx,
            tx,
            copied_payload_bytes: provider.copied_payload_bytes,
            dispositions: all.into_iter().filter(|(_, count)| *count > 0).collect(),
            sim_time_ns: 0,
            skipped_time_ns: 0,
            cycles_per_second: 0.0,
            packets_per_entry: packets_per_entry(&provider),
            header_entries: provider.header_entries,
            runs: (provider.run_entries, provider.run_packets),
            frames: (frames_in, frames_out),
            violations,
            is_forgotten: outcome.is_forgotten,
        }
    }

    /// Adds what depends on time: that which was simulated, and that which was skipped.
    pub fn with_time(
        mut self,
        (simulated_ns, skipped): (u64, Duration),
        cycles_per_second: f64,
        [peer, transport]: [&str; 2],
    ) -> Self {
        self.sim_time_ns = simulated_ns;
        self.skipped_time_ns = u64::try_from(skipped.as_nanos()).unwrap_or(u64::MAX);
        let ns = simulated_ns.saturating_add(self.skipped_time_ns);
        self.cycles_per_second = cycles_per_second;
        self.peer = peer.to_owned();
        self.transport = transport.to_owned();
        for direction in [&mut self.rx, &mut self.tx] {
            direction.goodput_gbps = direction.bytes as f64 * 8.0 / ns.max(1) as f64;
        }
        self
    }

    /// The table.
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(UTF8_BORDERS_ONLY);
        let of_bytes = |exact: bool| if exact { "as sent" } else { "WRONG" };
        for (name, direction) in [("received", &self.rx), ("sent", &self.tx)] {
            table.add_row([name.to_owned(), format!("{} bytes", direction.bytes)]);
            let digest = format!("{} ({})", direction.sha256, of_bytes(direction.exact));
            table.add_row(["  SHA-256".to_owned(), digest]);
            table.add_row(["  goodput".to_owned(), self.goodput(direction)]);
        }
        let copied = format!("{} bytes", self.copied_payload_bytes);
        table.add_row(["payload copied by the CPU".to_owned(), copied]);
        add_entries(&mut table, self.header_entries, self.runs);
        for (name, count) in &self.dispositions {
            table.add_row([format!("  {name}"), format!("{count} packets")]);
        }
        let (frames_in, frames_out) = self.frames;
        let conserved = if frames_in == frames_out { "all accounted for" } else { "NOT CONSERVED" };
        table.add_row(["frames into the card".to_owned(), format!("{frames_in}, {conserved}")]);
        let time = format!("{:.3} ms", self.sim_time_ns as f64 / 1e6);
        table.add_row(["simulated time".to_owned(), time]);
        if self.skipped_time_ns > 0 {
            let skipped =
                format!("{:.3} ms, idle until a timer", self.skipped_time_ns as f64 / 1e6);
            table.add_row(["skipped time".to_owned(), skipped]);
        }
        let speed = format!("{:.0} cycles/s of 250 MHz", self.cycles_per_second);
        table.add_row(["simulation".to_owned(), speed]);
        if let Some(column) = table.column_mut(0) {
            column.set_cell_alignment(CellAlignment::Left);
        }
        let mut text = format!("{table}\n");
        if self.is_forgotten {
            text += "both ends had every byte when the peer forgot the connection and reset it\n";
        }
        for violation in self.violations.iter().take(5) {
            text += &format!("rule broken: {violation}\n");
        }
        text + verdict(self.ok)
    }
}

impl DemoReport {
    /// Goodput in words: of the simulated time, and where some was skipped, of all time. What was
    /// skipped is that of timers of seconds, in which nothing can be seen of a card.
    fn goodput(&self, direction: &DirectionReport) -> String {
        let all = format!("{} in the card's time", rate(direction.goodput_gbps));
        if self.skipped_time_ns == 0 {
            return all;
        }
        let simulated = direction.bytes as f64 * 8.0 / self.sim_time_ns.max(1) as f64;
        let seconds = self.skipped_time_ns as f64 / 1e9;
        format!("{} while simulated; {all}, {seconds:.3} s of it skipped", rate(simulated))
    }
}

/// Packets for each header entry, where some entries are of runs.
fn packets_per_entry(provider: &ProviderCounters) -> Option<f64> {
    let ProviderCounters { header_entries, run_entries, run_packets, .. } = *provider;
    let packets = header_entries - run_entries + run_packets;
    (run_entries > 0).then(|| packets as f64 / header_entries as f64)
}

/// The rows of a table about header entries.
fn add_entries(table: &mut Table, header_entries: u64, (runs, packets): (u64, u64)) {
    table.add_row(["header entries".to_owned(), header_entries.to_string()]);
    if runs > 0 {
        table.add_row(["  of runs".to_owned(), format!("{runs}, of {packets} packets")]);
    }
}

/// A rate with three digits that count.
fn rate(gbps: f64) -> String {
    let (value, unit) = match gbps {
        gbps if gbps >= 1.0 || gbps == 0.0 => (gbps, "Gb/s"),
        gbps if gbps >= 1e-3 => (gbps * 1e3, "Mb/s"),
        gbps if gbps >= 1e-6 => (gbps * 1e6, "kb/s"),
        gbps => (gbps * 1e9, "b/s"),
    };
    format!("{value:.2} {unit}")
}

/// The figures of a demo on a card in another process.
#[derive(Clone, Debug, Serialize)]
pub struct FarReport {
    /// Every byte that came back is right.
    pub ok: bool,
    /// Bytes that went to the peer and came back.
    pub bytes: u64,
    /// SHA-256 of the bytes that came back.
    pub sha256: String,
    /// Payload over wall time, each way: of both processes, their peers and their judges.
    pub gbps_of_wall_time: f64,
    /// Wall time from the call that connects to the end of the stream.
    pub wall_time_ns: u64,
    /// Payload bytes that the host's CPU copied.
    pub copied_payload_bytes: u64,
    /// Packets by disposition and frames by drop reason; zeros left out.
    pub dispositions: BTreeMap<&'static str, u64>,
    /// Packets for each header entry of one; only where the card has summed some up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_entry: Option<f64>,
    #[serde(skip)]
    header_entries: u64,
    #[serde(skip)]
    runs: (u64, u64),
}

impl FarReport {
    /// The figures of a finished run; of the counters what it has moved.
    pub fn new(
        echo: &Echo,
        provider: ProviderCounters,
        counters: Vec<(&'static str, u64)>,
    ) -> Self {
        let (bytes, digest) = &echo.received;
        let wall_time_ns = u64::try_from(echo.elapsed.as_nanos()).unwrap_or(u64::MAX);
        let names = Disposition::ALL.iter().map(|it| it.name());
        let names: Vec<_> = names.chain(DropReason::ALL.iter().map(|it| it.name())).collect();
        let is_moved = |it: &(&'static str, u64)| it.1 > 0 && names.contains(&it.0);
        Self {
            ok: echo.is_exact(),
            bytes: *bytes,
            sha256: hex(digest),
            gbps_of_wall_time: *bytes as f64 * 8.0 / wall_time_ns.max(1) as f64,
            wall_time_ns,
            copied_payload_bytes: provider.copied_payload_bytes,
            dispositions: counters.into_iter().filter(is_moved).collect(),
            packets_per_entry: packets_per_entry(&provider),
            header_entries: provider.header_entries,
            runs: (provider.run_entries, provider.run_packets),
        }
    }

    /// The table.
    pub fn text(&self) -> String {
        let mut table = table(&[]);
        table.add_row(["sent and received".to_owned(), format!("{} bytes", self.bytes)]);
        let judged = if self.ok { "as sent" } else { "WRONG" };
        table.add_row(["  SHA-256".to_owned(), format!("{} ({judged})", self.sha256)]);
        let seconds = self.wall_time_ns as f64 / 1e9;
        let goodput = format!("{} of wall time, each way", rate(self.gbps_of_wall_time));
        table.add_row(["  goodput".to_owned(), goodput]);
        let copied = format!("{} bytes", self.copied_payload_bytes);
        table.add_row(["payload copied by the CPU".to_owned(), copied]);
        add_entries(&mut table, self.header_entries, self.runs);
        for (name, count) in &self.dispositions {
            table.add_row([format!("  {name}"), format!("{count} packets")]);
        }
        table.add_row(["wall time".to_owned(), format!("{seconds:.3} s")]);
        format!("{table}\n") + verdict(self.ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(skipped: Duration) -> DemoReport {
        let digest = [7; 32];
        let outcome = Outcome {
            received: (20_000, digest),
            received_expected: digest,
            sent: (20_000, digest),
            sent_expected: digest,
            simulated: Duration::ZERO,
            skipped,
            lost: 3,
            is_forgotten: false,
        };
        let report = DemoReport::new(&outcome, &[], ProviderCounters::default(), 0, Vec::new());
        report.with_time((20_000, skipped), 1.0, ["smoltcp"; 2])
    }

    /// A second for a timer makes of any rate one that has no digit left in Gb/s.
    #[test]
    fn goodput_never_rounds_to_nothing() {
        let direct = report(Duration::ZERO);
        assert_eq!(direct.goodput(&direct.rx), "8.00 Gb/s in the card's time");
        let skipped = report(Duration::from_secs(3));
        let said = skipped.goodput(&skipped.rx);
        assert_eq!(
            said,
            "8.00 Gb/s while simulated; 53.33 kb/s in the card's time, 3.000 s of it skipped"
        );
        assert!(!skipped.text().contains(" 0.00 "), "{}", skipped.text());
        assert_eq!(rate(0.5), "500.00 Mb/s");
        assert_eq!(rate(5e-9), "5.00 b/s");
        assert_eq!(rate(0.0), "0.00 Gb/s");
    }

    #[test]
    fn what_came_back_wrong_is_said() {
        let elapsed = Duration::from_micros(8);
        let counters = vec![("no_flow", 0), ("placed_in_order", 7), ("commands", 9)];
        let report = |expected| {
            let echo = Echo { received: (1000, [7; 32]), expected, elapsed };
            FarReport::new(&echo, ProviderCounters::default(), counters.clone())
        };
        let right = report([7; 32]);
        assert!(right.text().contains("1.00 Gb/s of wall time") && right.ok);
        assert_eq!(right.dispositions, BTreeMap::from([("placed_in_order", 7)]));
        let wrong = report([8; 32]);
        assert!(wrong.text().contains("WRONG") && wrong.text().contains("FAILED") && !wrong.ok);
    }
}
