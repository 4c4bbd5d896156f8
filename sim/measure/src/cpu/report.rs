//! CPU time of all stacks: medians of repetitions, and whether they count.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kernel::{KernelCost, Way, BASELINE};
use super::null::SideCost;
use super::values::Values;
use crate::timing::statistics::SPREAD_MAX;

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

/// A row of the receiving host, with and without runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunsRow {
    /// The protocol, and how packets come.
    pub transport: &'static str,
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// Whether received packets are summed up.
    pub coalesce: bool,
    /// CPU seconds for a GB of the receiving host alone.
    pub seconds_per_gb: f64,
    /// The middle half of the repetitions over their median.
    pub spread: f64,
    /// Packets for each header entry.
    pub packets_per_entry: f64,
    /// How many times less it is than without.
    pub times_less: Option<f64>,
    /// CPU seconds for a GB of both hosts, where both have been measured.
    pub both_seconds_per_gb: Option<f64>,
    /// The kernel's TCP over both hosts, its bytes not read either.
    pub kernel_ratio: Option<f64>,
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
    pub coalescing: Vec<RunsRow>,
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

/// The kernel's time over ours to reach, by MTU, where the bytes are not read.
const GOALS: [(u16, f64); 2] = [(1500, 5.0), (9000, 20.0)];

impl Row {
    /// The kernel's time over ours to reach, and whether it is reached; `None` where there is no
    /// goal.
    pub fn goal(&self) -> Option<(f64, bool)> {
        let goal = GOALS.iter().find(|goal| goal.0 == self.mtu);
        goal.filter(|_| !self.touched).map(|goal| (goal.1, self.ratio >= goal.1))
    }
}

impl KernelRow {
    /// Whether ours is compared with it.
    pub fn is_baseline(&self) -> bool {
        (self.congestion_control, self.by_reference)
            == (BASELINE.congestion_control, BASELINE.by_reference)
    }

    /// What it is.
    pub fn name(&self) -> String {
        match (self.is_baseline(), self.copied) {
            (true, _) => "kernel TCP over veth".to_owned(),
            (_, Some(copied)) => {
                format!("kernel TCP, MSG_ZEROCOPY, {:.0} % copied after all", 100.0 * copied)
            }
            (_, None) if self.by_reference => "kernel TCP, MSG_ZEROCOPY".to_owned(),
            _ => format!("kernel TCP, {}", self.congestion_control),
        }
    }
}

impl Report {
    /// CPU seconds for a GB of the kernel's TCP at an MTU, its bytes not read.
    pub fn kernel_seconds_per_gb(&self, mtu: u16) -> Option<f64> {
        let is_it = |row: &&KernelRow| row.is_baseline() && row.mtu == mtu && !row.touched;
        self.kernel.iter().find(is_it).map(|row| row.seconds_per_gb)
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
        assert_eq!(row.goal(), Some((20.0, true)));
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
            assert_eq!(report.noise().contains("NOISY"), !ok);
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
