//! The figures of `bench cpu`: medians of repetitions, as a table and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kernel::{KernelCost, Way, BASELINE};
use super::null::SideCost;
use super::runs_table;
use super::values::Values;
use crate::shared::table::table;
use measure::timing::statistics::SPREAD_MAX;

/// Cores that other programs may keep busy; above it, their load invalidates the run.
const IDLE_CORES_MAX: f64 = 0.25;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// The application reads each received byte once.
    pub touched: bool,
}

/// A row of our stack.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The protocol.
    pub transport: &'static str,
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// The application reads each received byte once.
    pub touched: bool,
    /// CPU seconds for a GB, both ends.
    pub seconds_per_gb: f64,
    /// The kernel's over ours.
    pub ratio: f64,
    /// The kernel's two threads alone over ours: a lower limit.
    pub ratio_threads: f64,
    /// The middle half of the repetitions over their median.
    pub spread: f64,
}

/// A row of the kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelRow {
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// The application reads each received byte once.
    pub touched: bool,
    /// The congestion control of the connection.
    pub congestion_control: &'static str,
    /// It sends by reference (`MSG_ZEROCOPY`).
    pub by_reference: bool,
    /// Share of these sends whose bytes the kernel has copied after all, by its own word.
    pub copied: Option<f64>,
    /// Rate of the connection, Gb/s of payload.
    pub gbps: f64,
    /// CPU seconds for a GB of the whole machine, less its idle baseline.
    pub seconds_per_gb: f64,
    /// Those of the two threads alone: a lower limit.
    pub threads_seconds_per_gb: f64,
    /// The middle half of the repetitions over their median.
    pub spread: f64,
}

/// All figures and the verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Judged right, and the spread is below 5 %.
    pub ok: bool,
    /// Our stack.
    pub rows: Vec<Row>,
    /// Our stack with an ACK for every second segment.
    pub one_ack_for_two: Vec<Row>,
    /// Our stack where packets arrive at a rate, and the host polls all the time.
    pub rates: Vec<Rate>,
    /// The receiving host with and without runs.
    pub coalescing: Vec<runs_table::Row>,
    /// The kernel's TCP.
    pub kernel: Vec<KernelRow>,
    /// The greatest spread.
    pub spread: f64,
    /// Cores that were busy without us, at most.
    pub idle_cores: f64,
    /// Runs of the kernel that were repeated, as others were busy beside them.
    pub repeated_runs: u32,
    /// Polls of ours that found nothing, left out.
    pub idle_polls: u64,
    /// Their time, seconds.
    pub idle_seconds: f64,
    /// The kernel has joined received segments (GRO).
    pub receive_offload: bool,
    /// Cores that this program may use.
    pub cores: usize,
}

/// Our stack, both ends, where packets or acknowledgements arrive at a rate: the batches are those
/// that result, and a core of each end polls all the time.
#[derive(Clone, Debug, Serialize)]
pub struct Rate {
    /// The protocol on our stack.
    pub transport: &'static str,
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// The application reads each received byte once.
    pub touched: bool,
    /// Rate that is asked for, Gb/s of payload.
    pub gbps_asked: f64,
    /// Rate at which the card has brought packets, Gb/s: less where it could not bring more.
    pub gbps: f64,
    /// Packets of a poll that found any.
    pub batch: f64,
    /// Share of the polls that found nothing.
    pub empty_polls: f64,
    /// CPU seconds for a GB of the polls that found something.
    pub seconds_per_gb: f64,
    /// CPU seconds for a GB of the cores that poll, whatever they find.
    pub polling_seconds_per_gb: f64,
    /// Doorbells, where they are counted.
    #[serde(flatten)]
    pub doorbells: Option<Doorbells>,
}

/// The doorbells at a rate of arrival.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Doorbells {
    /// Doorbells for a GB.
    pub doorbells_per_gb: f64,
    /// Their time at [`MMIO_WRITE_NS`] each, seconds for a GB: not in the others.
    pub doorbell_seconds_per_gb: f64,
}

/// What a write to a register is taken to cost on a bus, ns. The null card's is a store.
pub const MMIO_WRITE_NS: f64 = 100.0;

/// What the repetitions have found.
#[derive(Debug, Default)]
pub struct Samples {
    /// Of the machine, of the threads, rates, shares that were copied.
    kernel: BTreeMap<(Way, Key), [Values; 4]>,
    ours: BTreeMap<(&'static str, Key), Values>,
    /// Ours at given rates of arrival.
    rates: Vec<Rate>,
    one_ack_for_two: BTreeMap<u16, Values>,
    idle_cores: f64,
    repeated: u32,
    idle_polls: u64,
    idle_seconds: f64,
}

impl Samples {
    /// Whether a run of the kernel is to be repeated, as others were busy beside it; at most so
    /// many are.
    pub fn is_disturbed(&mut self, cost: &KernelCost, repeated_max: u32) -> bool {
        let disturbed = cost.idle_cores >= IDLE_CORES_MAX && self.repeated < repeated_max;
        self.repeated += u32::from(disturbed);
        disturbed
    }

    /// A part of a repetition: the kernel.
    pub fn add_kernel(&mut self, repetition: u32, (way, key): (Way, Key), cost: KernelCost) {
        let [machine, threads, gbps, copied] = self.kernel.entry((way, key)).or_default();
        machine.add(repetition, cost.machine);
        threads.add(repetition, cost.threads);
        gbps.add(repetition, cost.gbps);
        if let Some(share) = cost.copied {
            copied.add(repetition, share);
        }
        self.idle_cores = self.idle_cores.max(cost.idle_cores);
    }

    /// The same: both ends of ours.
    pub fn add_ours(
        &mut self,
        repetition: u32,
        (transport, key): (&'static str, Key),
        sides: &[SideCost],
    ) {
        let cost = self.both(sides);
        self.ours.entry((transport, key)).or_default().add(repetition, cost);
    }

    /// Ours at a rate of arrival.
    pub fn add_rate(&mut self, rate: Rate) {
        self.rates.push(rate);
    }

    /// The same with an ACK for every second segment.
    pub fn add_one_ack_for_two(&mut self, repetition: u32, mtu: u16, sides: &[SideCost]) {
        let cost = self.both(sides);
        let values = self.one_ack_for_two.entry(mtu).or_default();
        values.add(repetition, cost);
    }

    fn both(&mut self, sides: &[SideCost]) -> f64 {
        for side in sides {
            self.idle_polls += side.idle_polls;
            self.idle_seconds += side.idle.as_secs_f64();
        }
        sides.iter().map(|side| side.seconds_per_gb).sum()
    }

    fn kernel_rows(&self) -> Vec<KernelRow> {
        let row = |((way, key), values): (&(Way, Key), &[Values; 4])| {
            let [machine, threads, gbps, copied] = values;
            let (seconds_per_gb, spread) = machine.median();
            KernelRow {
                congestion_control: way.congestion_control,
                by_reference: way.by_reference,
                copied: (!copied.is_empty()).then(|| copied.median().0),
                gbps: gbps.median().0,
                mtu: key.mtu,
                touched: key.touched,
                seconds_per_gb,
                threads_seconds_per_gb: threads.median().0,
                spread,
            }
        };
        let mut rows: Vec<KernelRow> = self.kernel.iter().map(row).collect();
        // The baseline first.
        rows.sort_by_key(|row| !row.is_baseline());
        rows
    }

    /// The figures of all repetitions; spreads are `judged` or not.
    pub fn report(&self, judged: bool, receive_offload: bool, cores: usize) -> Report {
        let kernel = self.kernel_rows();
        let row = |transport, mtu, touched, values: &Values| {
            let (seconds_per_gb, spread) = values.median();
            let same =
                |row: &&KernelRow| row.is_baseline() && (row.mtu, row.touched) == (mtu, touched);
            let beside = kernel.iter().find(same);
            Row {
                transport,
                mtu,
                touched,
                seconds_per_gb,
                ratio: beside.map_or(0.0, |row| row.seconds_per_gb) / seconds_per_gb,
                ratio_threads: beside.map_or(0.0, |row| row.threads_seconds_per_gb)
                    / seconds_per_gb,
                spread,
            }
        };
        let ours = self.ours.iter();
        let row_of = |((transport, key), costs): (&(&'static str, Key), &Values)| {
            row(*transport, key.mtu, key.touched, costs)
        };
        let rows: Vec<Row> = ours.map(row_of).collect();
        let others = self.one_ack_for_two.iter();
        let one_ack_for_two: Vec<Row> =
            others.map(|(mtu, costs)| row("null", *mtu, false, costs)).collect();
        let spreads = rows.iter().chain(&one_ack_for_two).map(|row| row.spread);
        let spread = spreads.chain(kernel.iter().map(|row| row.spread)).fold(0.0, f64::max);
        let idle_cores = self.idle_cores;
        Report {
            ok: !judged || (spread < SPREAD_MAX && idle_cores < IDLE_CORES_MAX),
            idle_cores,
            repeated_runs: self.repeated,
            rows,
            one_ack_for_two,
            rates: self.rates.clone(),
            coalescing: Vec::new(),
            kernel,
            spread,
            idle_polls: self.idle_polls,
            idle_seconds: self.idle_seconds,
            receive_offload,
            cores,
        }
    }
}

/// Head of the table.
pub const HEAD: [&str; 9] = [
    "stack",
    "MTU",
    "received bytes",
    "CPU s/GB",
    "spread",
    "kernel / ours",
    "to reach",
    "congestion control",
    "Gb/s",
];
/// Head of the table of rates.
pub const RATES_HEAD: [&str; 11] = [
    "stack",
    "arrives, Gb/s",
    "MTU",
    "received bytes",
    "found Gb/s",
    "batch",
    "empty polls",
    "CPU s/GB",
    "polling cores, s/GB",
    "doorbells a GB",
    "doorbells at 100 ns, s/GB",
];
/// What the comparison leaves out.
pub const BIAS: &str =
    "veth has no driver, DMA or interrupts, and passes up to 64 KiB in one piece \
    whatever the MTU, which flatters the kernel; the null card has no IOMMU and no slow registers, \
    its packets come in batches of 64 but where a rate is given, and there is no TCP on it, which \
    flatters us. Our own TCP runs on the golden card, in batches of up to 64. The kernel is \
    compared with CUBIC, which nothing paces; BBR paces itself, which costs it more. With Linux \
    TCP behind a TAP device ours costs more than the kernel alone.";
/// The kernel's time over ours to reach, by MTU, where the bytes are not read.
const GOALS: [(u16, f64); 2] = [(1500, 5.0), (9000, 20.0)];

fn word(touched: bool) -> &'static str {
    match touched {
        true => "read once",
        false => "not read",
    }
}

impl Row {
    fn cells(&self, more: &str, has_goal: bool) -> [String; 9] {
        let goal = GOALS.iter().find(|goal| goal.0 == self.mtu);
        let goal = goal.filter(|_| has_goal && !self.touched).map(|goal| {
            let verdict = if self.ratio >= goal.1 { "yes" } else { "no" };
            format!("{:.0}: {verdict}", goal.1)
        });
        [
            format!("ours, {}{more}", self.transport),
            self.mtu.to_string(),
            word(self.touched).to_owned(),
            format!("{:.4}", self.seconds_per_gb),
            format!("{:.1} %", 100.0 * self.spread),
            format!("{:.1}, threads alone {:.1}", self.ratio, self.ratio_threads),
            goal.unwrap_or_default(),
            match self.transport {
                "linux" => "cubic".to_owned(),
                "tcp" => "model".to_owned(),
                _ => "none".to_owned(),
            },
            String::new(),
        ]
    }
}

impl Rate {
    fn cells(&self) -> [String; 11] {
        let doorbells = match self.doorbells {
            Some(of) => [
                format!("{:.0}", of.doorbells_per_gb),
                format!("{:.4}", of.doorbell_seconds_per_gb),
            ],
            None => ["not counted", ""].map(str::to_owned),
        };
        let [count, seconds] = doorbells;
        [
            format!("ours, {}", self.transport),
            format!("{:.0}", self.gbps_asked),
            self.mtu.to_string(),
            word(self.touched).to_owned(),
            format!("{:.1}", self.gbps),
            format!("{:.1}", self.batch),
            format!("{:.1} %", 100.0 * self.empty_polls),
            format!("{:.4}", self.seconds_per_gb),
            format!("{:.4}", self.polling_seconds_per_gb),
            count,
            seconds,
        ]
    }
}

impl KernelRow {
    /// Whether ours is compared with it.
    fn is_baseline(&self) -> bool {
        (self.congestion_control, self.by_reference)
            == (BASELINE.congestion_control, BASELINE.by_reference)
    }

    fn name(&self) -> String {
        match (self.is_baseline(), self.copied) {
            (true, _) => "kernel TCP over veth".to_owned(),
            (_, Some(copied)) => {
                format!("kernel TCP, MSG_ZEROCOPY, {:.0} % copied after all", 100.0 * copied)
            }
            (_, None) if self.by_reference => "kernel TCP, MSG_ZEROCOPY".to_owned(),
            _ => format!("kernel TCP, {}", self.congestion_control),
        }
    }

    fn cells(&self) -> [String; 9] {
        [
            self.name(),
            self.mtu.to_string(),
            word(self.touched).to_owned(),
            format!("{:.4}", self.seconds_per_gb),
            format!("{:.1} %", 100.0 * self.spread),
            format!("threads alone {:.4}", self.threads_seconds_per_gb),
            String::new(),
            self.congestion_control.to_owned(),
            format!("{:.1}", self.gbps),
        ]
    }
}

impl Report {
    /// Rows of the table.
    pub fn cells(&self) -> Vec<[String; 9]> {
        let kernel = self.kernel.iter().map(KernelRow::cells);
        let ours = self.rows.iter().map(|row| row.cells("", row.transport == "null"));
        let others = self.one_ack_for_two.iter();
        let others = others.map(|row| row.cells(", one ACK for two", false));
        kernel.chain(ours).chain(others).collect()
    }

    /// Rows of the table of rates.
    pub fn rate_cells(&self) -> Vec<[String; 11]> {
        self.rates.iter().map(Rate::cells).collect()
    }

    /// CPU seconds for a GB of the kernel's TCP at an MTU, its bytes not read.
    pub fn kernel_seconds_per_gb(&self, mtu: u16) -> Option<f64> {
        let is_it = |row: &&KernelRow| row.is_baseline() && row.mtu == mtu && !row.touched;
        self.kernel.iter().find(is_it).map(|row| row.seconds_per_gb)
    }

    /// Rows of the table of runs.
    pub fn coalescing_cells(&self) -> Vec<[String; 9]> {
        self.coalescing.iter().map(runs_table::Row::cells).collect()
    }

    /// Names and CPU ms for a GB: each row of the kernel and those of ours beside it.
    pub fn bars(&self) -> Vec<(String, f64)> {
        let mut bars = Vec::new();
        for kernel in self.kernel.iter().filter(|kernel| kernel.is_baseline()) {
            let what = format!("MTU {}, {}", kernel.mtu, word(kernel.touched));
            bars.push((format!("kernel, {what}"), kernel.seconds_per_gb.max(0.0) * 1000.0));
            let ours = self.rows.iter();
            for row in ours.filter(|row| (row.mtu, row.touched) == (kernel.mtu, kernel.touched)) {
                bars.push((format!("{}, {what}", row.transport), row.seconds_per_gb * 1000.0));
            }
        }
        bars
    }

    /// What was left out, and what the kernel refused.
    pub fn idle(&self) -> String {
        let offload = match self.receive_offload {
            true => "",
            false => " The kernel has refused to switch receive offload on.",
        };
        format!(
            "Without us {:.2} of {} cores were busy at most, {} runs were repeated; {} polls of \
             ours found nothing, {:.3} s, left out.{offload}",
            self.idle_cores, self.cores, self.repeated_runs, self.idle_polls, self.idle_seconds
        )
    }

    /// Says so if the figures are not to be trusted; empty otherwise.
    pub fn noise(&self) -> String {
        let (spread, most) = (100.0 * self.spread, 100.0 * SPREAD_MAX);
        match self.ok {
            true => String::new(),
            false => format!(
                "NOISY: spread {spread:.1} %, at most {most:.0} % counts, with at most \
                 {IDLE_CORES_MAX} cores busy without us; repeat it on an idle machine"
            ),
        }
    }

    /// The table and what is said below it.
    pub fn text(&self, judged: bool) -> String {
        let mut table = table(&HEAD);
        table.add_rows(self.cells());
        let verdict = match (self.ok, judged) {
            (true, true) => "every descriptor and byte is right".to_owned(),
            (true, false) => "every descriptor and byte is right; times are not judged".to_owned(),
            (false, _) => self.noise(),
        };
        let mut rates = crate::shared::table::table(&RATES_HEAD);
        rates.add_rows(self.rate_cells());
        let mut runs = crate::shared::table::table(&runs_table::HEAD);
        runs.add_rows(self.coalescing_cells());
        let runs = if self.coalescing.is_empty() { String::new() } else { format!("{runs}\n") };
        format!("{table}\n{}\n{BIAS}\n{rates}\n{runs}{verdict}\n", self.idle())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KEY: Key = Key { mtu: 9000, touched: false };

    /// Repetitions of one part each: of the kernel, with so many cores busy beside it, and of ours.
    fn report(kernel: &[f64], idle_cores: f64, ours: &[f64]) -> Report {
        let mut samples = Samples::default();
        for (repetition, (machine, ours)) in (0..).zip(kernel.iter().zip(ours)) {
            let cost = KernelCost {
                machine: *machine,
                threads: *machine / 2.0,
                idle_cores,
                gbps: 20.0,
                copied: None,
            };
            samples.add_kernel(repetition, (BASELINE, KEY), cost);
            // What stands beside it is compared with nothing.
            let bbr = Way { congestion_control: "bbr", ..BASELINE };
            let dear = KernelCost { machine: 3.0 * machine, ..cost };
            samples.add_kernel(repetition, (bbr, KEY), dear);
            let side = SideCost {
                seconds_per_gb: *ours / 2.0,
                idle_polls: 3,
                idle: Duration::from_millis(500),
            };
            samples.add_ours(repetition, ("null", KEY), &[side, side]);
        }
        samples.report(true, true, 2)
    }

    #[test]
    fn both_ends_compare_with_kernel() {
        let report = report(&[0.5, 0.5, 0.5], 0.1, &[0.015625, 0.015625, 0.015625]);
        let row = &report.rows[0];
        assert!(report.ok && (row.seconds_per_gb, row.ratio) == (0.015625, 32.0));
        assert_eq!((row.ratio_threads, report.idle_polls), (16.0, 18));
        assert_eq!(report.idle_seconds, 3.0);
        assert_eq!(row.cells("", true)[6], "20: yes");
        let named = |row: &KernelRow| (row.name(), row.congestion_control);
        let kernel: Vec<_> = report.kernel.iter().map(named).collect();
        let expected = [("kernel TCP over veth", "cubic"), ("kernel TCP, bbr", "bbr")];
        assert_eq!(kernel, expected.map(|(name, control)| (name.to_owned(), control)));
    }

    #[test]
    fn spread_or_disturbed_row_is_noisy() {
        let (steady, spread) = ([1.0, 1.0, 1.0], [1.0, 1.0, 1.2]);
        for (kernel, idle_cores, ours, ok) in [
            (&steady, 0.1, &steady, true),
            (&spread, 0.1, &steady, false),
            (&steady, 0.1, &spread, false),
            (&steady, 0.3, &steady, false),
            (&[-1.0, -1.0, -1.0], 0.1, &steady, false),
        ] {
            let report = report(kernel, idle_cores, ours);
            assert_eq!(report.ok, ok, "{kernel:?}, {idle_cores}, {ours:?}");
            assert_eq!(report.text(true).contains("NOISY"), !ok);
        }
    }

    #[test]
    fn disturbed_run_is_repeated_finitely() {
        let cost = |idle_cores| KernelCost {
            machine: 1.0,
            threads: 1.0,
            idle_cores,
            gbps: 20.0,
            copied: None,
        };
        let mut samples = Samples::default();
        assert!(!samples.is_disturbed(&cost(0.1), 3));
        for _ in 0..3 {
            assert!(samples.is_disturbed(&cost(0.3), 3));
        }
        assert!(!samples.is_disturbed(&cost(0.3), 3));
        assert_eq!(samples.repeated, 3);
    }

    /// A clock that changes between the parts changes every repetition alike.
    #[test]
    fn repetition_is_mean_of_parts() {
        let mut values = Values::default();
        for value in [1.0, 2.0, 3.0] {
            (0..5).for_each(|repetition| values.add(repetition, value));
        }
        assert_eq!(values.median(), (2.0, 0.0));
    }
}
