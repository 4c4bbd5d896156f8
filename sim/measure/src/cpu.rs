//! CPU seconds for a GB, of our host stack and of the kernel's TCP beside it.
//!
//! ```text
//!   kernel: two networks, a veth pair, one connection ── busy time of the machine, less when idle
//!   ours:   provider, protocol ── null card on another core ── time that the thread had a core
//! ```
//! With Linux TCP or our own two cards are joined, and it runs at both ends (`cpu/joined.rs`).
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
pub mod error;
mod joined;
pub mod kernel;
mod machine;
mod null;
mod plan;
mod rate;
mod report;
mod values;

use host::transport::{TransportError, VethPair};

use self::coalescing::Coalescing;
use self::error::{CpuError, Result};
use self::joined::JoinedCost;
use self::kernel::{Kernel, Way, BASELINE, OTHERS};
use self::null::Acks;
use self::plan::MTUS;
pub use self::plan::{Coalesce, Plan, Transport};
pub use self::report::{KernelRow, Rate, Report, Row, RunsRow};
use self::report::{Key, Samples};
use crate::joined::JoinedConfig;
use crate::timing::cores::Cores;

/// Rates at which packets arrive, Gb/s of payload.
const RATES_GBPS: [f64; 3] = [10.0, 40.0, 100.0];

/// What is measured beside the kernel.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The protocols on our stack.
    pub transports: Vec<Transport>,
    /// Also the receiving host alone, without runs of packets and with them.
    pub coalesce: Vec<Coalesce>,
}

/// Measures all that is wanted, and the kernel beside it.
pub fn measure(wanted: &Wanted, plan: Plan) -> Result<Report> {
    let pairs = MTUS.map(|mtu| VethPair::open(mtu).map(|pair| (mtu, pair)));
    let pairs: Result<Vec<_>, TransportError> = pairs.into_iter().collect();
    let pairs = pairs.map_err(CpuError::of_kernel)?;
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
            for transport in &wanted.transports {
                match transport {
                    Transport::Null => part.null()?,
                    Transport::Tcp => part.joined(*transport, joined::own)?,
                    Transport::Linux => part.joined(*transport, joined::linux)?,
                }
            }
        }
        let of = (plan, part % plan.repetitions);
        coalescing.measure(of, (&wanted.transports, &wanted.coalesce), &cores)?;
    }
    for (gbps, mtu) in RATES_GBPS.iter().flat_map(|gbps| MTUS.map(|mtu| (*gbps, mtu))) {
        for touched in [true, false] {
            if wanted.transports.contains(&Transport::Null) {
                let window = plan.window / 4;
                samples.add_rate(rate::measure(mtu, touched, gbps, window, &cores)?);
            }
            if wanted.transports.contains(&Transport::Tcp) {
                let rate = joined::own_at_rate(mtu, touched, gbps, plan.bytes, &cores)?;
                samples.add_rate(rate);
            }
        }
    }
    let has_receive_offload = pairs.iter().all(|(_, pair)| pair.has_receive_offload());
    let report = samples.report(plan.is_judged, has_receive_offload, cores.count());
    let coalescing = coalescing.rows(|mtu| report.kernel_seconds_per_gb(mtu));
    Ok(Report { coalescing, ..report })
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
            if pair.has_congestion_control(way.congestion_control).map_err(CpuError::of_kernel)? {
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
    fn joined(&mut self, transport: Transport, measure: Joined) -> Result<()> {
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
            let transport = Transport::Null.name();
            self.samples.add_ours(self.repetition, (transport, key), &[received, sent]);
        }
        let acks = Acks::EverySecondSegment;
        let sent = null::send(mtu, acks, batches, cores)?;
        let received = null::receive(mtu, acks, false, batches, cores)?;
        self.samples.add_one_ack_for_two(self.repetition, mtu, &[received, sent]);
        Ok(())
    }
}
