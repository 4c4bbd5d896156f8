//! `bench cpu`: CPU seconds for a GB, of our host stack and of the kernel's TCP beside it.
//!
//! ```text
//!   kernel: two networks, a veth pair, one connection ── busy time of the machine, less when idle
//!   ours:   provider, protocol ── null card on another core ── time that the thread had a core
//! ```
//! With `--transport linux` or `tcp` two cards are joined, and Linux TCP or our own runs at both
//! ends (`cpu/joined.rs`).
//!
//! Both ends together: the kernel's in one run, since its work cannot be told apart; ours as a
//! receiver and a sender, each with a card of its own. Idle polls of ours are counted apart and
//! left out. A repetition is the mean of several parts, and all parts take turns: what slows the
//! machine for a while slows every repetition of both.
//!
//! Runs of the kernel beside which others were busy are repeated, up to a number.
//!
//! What the comparison leaves out: veth has no driver, no DMA and no interrupts, which flatters
//! the kernel. The null card has no IOMMU and no register that is slow to write, which flatters
//! us. Ours takes batches of 64 packets, but in rows of a rate of arrival (`cpu/rate.rs`, and for
//! our own TCP `cpu/joined.rs`).
//!
//! The kernel's connection has CUBIC, which nothing paces. BBR, Reno and sends by reference stand
//! beside it, where the machine has them.

mod coalescing;
mod joined;
pub mod kernel;
mod machine;
mod null;
mod plan;
mod rate;
mod refusal;
mod report;
mod runs_table;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use host::transport::{TransportError, VethPair};
use measure::joined::JoinedConfig;

use self::coalescing::Coalescing;
use self::joined::JoinedCost;
use self::kernel::{Kernel, Way, BASELINE, OTHERS};
use self::null::Acks;
pub use self::plan::{Coalesce, TransportName};
use self::plan::{Plan, MTUS};
use self::refusal::refusal_error;
use self::report::{Key, Samples};
pub use self::report::{Report, BIAS, HEAD, RATES_HEAD};
pub use self::runs_table::HEAD as RUNS_HEAD;
use crate::shared::output::{json_file, print};
use measure::timing::cores::Cores;

/// Rates at which packets arrive, Gb/s of payload.
const RATES_GBPS: [f64; 3] = [10.0, 40.0, 100.0];

/// Repetitions, unless said otherwise.
const REPETITIONS: u32 = 5;

/// Arguments of `zeronic bench cpu`.
#[derive(Clone, Debug, Args)]
pub struct CpuArguments {
    /// The protocol on our stack; the page has all
    #[arg(long = "transport", value_enum, default_value = "null")]
    transports: Vec<TransportName>,
    /// Also the receiving host alone, with an entry for each packet and with entries for runs of
    /// packets: `on,off` has both side by side
    #[arg(long, value_enum, value_delimiter = ',')]
    coalesce: Vec<Coalesce>,
    /// Repetitions
    #[arg(long, default_value_t = REPETITIONS, value_name = "N",
        value_parser = clap::value_parser!(u32).range(3..=100))]
    repetitions: u32,
    /// One short repetition; times are not judged
    #[arg(long)]
    quick: bool,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CpuArguments {
    /// What `bench all` measures, with Linux TCP through the card or without.
    pub fn of_page(quick: bool, has_linux: bool) -> Self {
        let mut transports = vec![TransportName::Null, TransportName::Tcp];
        transports.extend(has_linux.then_some(TransportName::Linux));
        let coalesce = vec![Coalesce::Off, Coalesce::On];
        Self { transports, coalesce, repetitions: REPETITIONS, quick, json: None }
    }

    fn plan(&self) -> Plan {
        match self.quick {
            true => Plan {
                repetitions: 1,
                parts: 1,
                repeated_max: 0,
                window: Duration::from_millis(200),
                batches: 200,
                bytes: 4 << 20,
            },
            false => Plan {
                repetitions: self.repetitions,
                parts: 5,
                repeated_max: 20,
                window: Duration::from_millis(300),
                batches: 1000,
                bytes: 16 << 20,
            },
        }
    }

    /// Measures both.
    pub fn measure(&self) -> Result<Report> {
        let plan = self.plan();
        let pairs = MTUS.map(|mtu| VethPair::open(mtu).map(|pair| (mtu, pair)));
        let pairs: Result<Vec<_>, TransportError> = pairs.into_iter().collect();
        let pairs = pairs.map_err(refusal_error)?;
        let cores = Cores::find();
        let mut samples = Samples::default();
        let mut coalescing = Coalescing::default();
        for part in 0..plan.parts * plan.repetitions {
            for (mtu, pair) in &pairs {
                let mut part = Part {
                    plan,
                    repetition: part % plan.repetitions,
                    mtu: *mtu,
                    cores: &cores,
                    samples: &mut samples,
                };
                part.kernel(pair)?;
                for transport in &self.transports {
                    match transport {
                        TransportName::Null => part.null()?,
                        TransportName::Tcp => part.joined(*transport, joined::own)?,
                        TransportName::Linux => part.joined(*transport, joined::linux)?,
                    }
                }
            }
            let of = (plan, part % plan.repetitions);
            coalescing.measure(of, (&self.transports, &self.coalesce), &cores)?;
        }
        for (gbps, mtu) in RATES_GBPS.iter().flat_map(|gbps| MTUS.map(|mtu| (*gbps, mtu))) {
            for touched in [true, false] {
                if self.transports.contains(&TransportName::Null) {
                    let window = plan.window / 4;
                    samples.add_rate(rate::measure(mtu, touched, gbps, window, &cores)?);
                }
                if self.transports.contains(&TransportName::Tcp) {
                    let rate = joined::own_at_rate(mtu, touched, gbps, plan.bytes, &cores)?;
                    samples.add_rate(rate);
                }
            }
        }
        let has_receive_offload = pairs.iter().all(|(_, pair)| pair.has_receive_offload());
        let report = samples.report(!self.quick, has_receive_offload, cores.count());
        let coalescing = coalescing.rows(|mtu| report.kernel_seconds_per_gb(mtu));
        Ok(Report { coalescing, ..report })
    }
}

/// Measures the ends of two joined cards: what goes over the wire, how many bytes.
type Joined = fn(JoinedConfig, u64, &Cores) -> Result<JoinedCost>;

/// A part of a repetition, at one MTU.
struct Part<'a> {
    plan: Plan,
    repetition: u32,
    mtu: u16,
    cores: &'a Cores,
    samples: &'a mut Samples,
}

impl Part<'_> {
    fn key(&self, touched: bool) -> Key {
        let mtu = self.mtu;
        Key { mtu, touched }
    }

    fn kernel(&mut self, pair: &VethPair) -> Result<()> {
        for touched in [true, false] {
            self.kernel_way(pair, BASELINE, touched)?;
        }
        for way in OTHERS {
            if pair.has_congestion_control(way.congestion_control).map_err(refusal_error)? {
                self.kernel_way(pair, way, true)?;
            }
        }
        Ok(())
    }

    fn kernel_way(&mut self, pair: &VethPair, way: Way, touched: bool) -> Result<()> {
        let (kernel, key) = (Kernel { pair, way, touched }, self.key(touched));
        let mut cost = kernel.measure(self.plan.window)?;
        while self.samples.is_disturbed(&cost, self.plan.repeated_max) {
            cost = kernel.measure(self.plan.window)?;
        }
        self.samples.add_kernel(self.repetition, (way, key), cost);
        Ok(())
    }

    /// A real TCP at both ends.
    fn joined(&mut self, transport: TransportName, measure: Joined) -> Result<()> {
        for touched in [false, true] {
            let config = JoinedConfig { mtu_bytes: self.mtu, touched, coalesces: false };
            let both = measure(config, self.plan.bytes, self.cores)?.both;
            let key = self.key(touched);
            self.samples.add_ours(self.repetition, (transport.name(), key), &[both]);
        }
        Ok(())
    }

    fn null(&mut self) -> Result<()> {
        let (mtu, batches, cores) = (self.mtu, self.plan.batches, self.cores);
        let sent = null::send(mtu, Acks::Each64KiB, batches, cores)?;
        for touched in [false, true] {
            let received = null::receive(mtu, Acks::Each64KiB, touched, batches, cores)?;
            let key = self.key(touched);
            let transport = TransportName::Null.name();
            self.samples.add_ours(self.repetition, (transport, key), &[received, sent]);
        }
        let acks = Acks::EverySecondSegment;
        let sent = null::send(mtu, acks, batches, cores)?;
        let received = null::receive(mtu, acks, false, batches, cores)?;
        self.samples.add_one_ack_for_two(self.repetition, mtu, &[received, sent]);
        Ok(())
    }
}

/// Measures, prints, writes.
pub fn run(arguments: &CpuArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let report = arguments.measure()?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&report.text(!arguments.quick))?;
    Ok(report.ok)
}
