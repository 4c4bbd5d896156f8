//! Every parameter of the link, the root complex and the hard block, with its unit and its default.
//!
//! ```text
//! PcieConfig -> Link (lanes, overheads) -> RootComplex (latency, splitting) -> HardBlock (buffers)
//! ```
//!
//! Invariants, checked by [`PcieConfig::validate`]:
//! 1. `mps_bytes` and `mrrs_bytes` are powers of two that the configuration fields can express;
//! 2. `rcb_bytes` is 64 or 128 and divides `completion_payload_bytes`, which is at most the MPS;
//! 3. probabilities are parts per thousand, at most 1000.
//!
//! Source: PCI Express Base 3.0 (4.2.1 encoding, 7.8.4 device control); PG213 (buffers, widths).

use thiserror::Error;

/// Nanoseconds of one cycle of the 250 MHz user clock.
pub const CYCLE_NS: u64 = 4;

/// A BAR of the card as the host has placed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Number of the BAR, 0 to 5.
    pub index: u8,
    /// Bus address the host assigned; aligned to `bytes`.
    pub base: u64,
    /// Size of the window in bytes; a power of two.
    pub bytes: u64,
}

/// Lanes and their overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Number of lanes.
    pub lanes: u32,
    /// Transfer rate of one lane in MT/s (8000 is PCIe 3.0).
    pub lane_mega_transfers: u32,
    /// Share of DLLPs and ordered sets in the bandwidth, parts per thousand.
    pub dllp_permille: u32,
    /// Bytes beside the payload of a request with 64-bit address: start token with sequence
    /// number 4, header 16, LCRC 4.
    pub request_overhead_bytes: u32,
    /// Bytes beside the payload of a completion (header of 12 bytes).
    pub completion_overhead_bytes: u32,
    /// One-way latency of the link and the hard blocks at its ends, in ns.
    pub latency_ns: u64,
}

/// Credits that a receiver advertises; one data credit is 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credits {
    /// Posted headers.
    pub posted_headers: u32,
    /// Posted data, in units of 16 bytes.
    pub posted_data: u32,
    /// Non-posted headers.
    pub nonposted_headers: u32,
}

/// All parameters of one simulated slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcieConfig {
    /// Lanes, rate and overheads.
    pub link: LinkConfig,
    /// Maximum payload size of a TLP that the host configures, in bytes.
    pub mps_bytes: u32,
    /// Maximum read request size that the host configures, in bytes.
    pub mrrs_bytes: u32,
    /// Read completion boundary, 64 or 128 bytes.
    pub rcb_bytes: u32,
    /// The root complex cuts completions at multiples of this size, in bytes.
    pub completion_payload_bytes: u32,
    /// Chance to cut at an earlier read completion boundary, parts per thousand.
    pub random_split_permille: u32,
    /// Extended (8 bit) tags enabled by the host; 32 tags otherwise.
    pub extended_tags: bool,
    /// Round trip of an unloaded DRAM read: end of request in to first completion beat out, ns.
    pub latency_ns: u64,
    /// Time from arrival at the root complex to visibility for a DRAM write, in ns.
    pub dram_write_ns: u64,
    /// Time from arrival at the root complex to visibility for a write to GPU memory, in ns.
    pub gpu_write_ns: u64,
    /// Additional latency of a read of GPU memory over one of DRAM, in ns.
    pub gpu_read_extra_ns: u64,
    /// Largest random addition to the latency of each read and each write, in ns; writes on one
    /// path stay in order.
    pub jitter_ns: u64,
    /// Chance that a completion of another ready read goes first, parts per thousand.
    pub reorder_permille: u32,
    /// Chance that a relaxed-ordering DRAM write passes all earlier ones, parts per thousand.
    pub relaxed_pass_permille: u32,
    /// What the root complex advertises to the card.
    pub host_credits: Credits,
    /// Time from arrival of a TLP to the arrival of its returned credit at the sender, in ns.
    pub credit_return_ns: u64,
    /// What the hard block advertises for requests to the card.
    pub card_credits: Credits,
    /// Completion headers that the hard block's receive buffer holds.
    pub completion_headers: u32,
    /// Completion data that it holds, in units of 16 bytes.
    pub completion_data: u32,
    /// Whether the hard block ends a completion whose lower address or byte count is wrong; else
    /// it hands it on as it came.
    pub checks_completions: bool,
    /// Whether promising more completions than the buffer holds is a violation by itself.
    pub check_reservation: bool,
    /// Beats of RQ and CC that the hard block buffers before it lowers `tready`.
    pub transmit_beats: u32,
    /// Non-posted requests that wait for credits inside the hard block.
    pub nonposted_queue: usize,
    /// Chance of a cycle with `rq_tready` low, parts per thousand.
    pub rq_stall_permille: u32,
    /// Chance of a cycle with `cc_tready` low, parts per thousand.
    pub cc_stall_permille: u32,
    /// Chance of an idle cycle between TLPs on RC and on CQ, parts per thousand.
    pub idle_permille: u32,
    /// Time after which the hard block reports a read as timed out; `None`: never.
    pub completion_timeout_ns: Option<u64>,
    /// Time after which the host times a register read out, in ns.
    pub mmio_timeout_ns: u64,
    /// Time after loss of bus mastering (or of interrupts) in which requests (or interrupts)
    /// that were under way are no violation, in ns.
    pub quiesce_ns: u64,
    /// First bus address of the interrupt window: writes to it are interrupts.
    pub interrupt_base: u64,
    /// Size of that window in bytes.
    pub interrupt_bytes: u64,
    /// Host DRAM, in bytes.
    pub dram_bytes: usize,
    /// Memory of each GPU, in bytes, and how much of it the BAR shows at first.
    pub gpus: Vec<GpuConfig>,
    /// BARs of the card.
    pub bars: Vec<Bar>,
    /// Bus, device and function number of the card.
    pub card_id: u16,
    /// Bus, device and function number of the root complex.
    pub host_id: u16,
    /// Seed of every random choice.
    pub seed: u64,
}

/// Memory of one GPU and its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuConfig {
    /// Size of the memory in bytes.
    pub memory_bytes: usize,
    /// Size of the BAR at power-on in bytes; [`crate::PcieSim::resize_gpu_bar`] changes it.
    pub bar_bytes: u64,
}

impl Default for LinkConfig {
    /// PCIe 3.0 x16.
    fn default() -> Self {
        Self {
            lanes: 16,
            lane_mega_transfers: 8000,
            dllp_permille: 25,
            request_overhead_bytes: 24,
            completion_overhead_bytes: 20,
            latency_ns: 200,
        }
    }
}

impl LinkConfig {
    /// Bytes that the lanes carry in one cycle, in units of 2^-20 byte, after 128b/130b encoding
    /// and link traffic.
    pub fn bytes_per_cycle_fixed(&self) -> u64 {
        let bits_per_second =
            u64::from(self.lanes) * u64::from(self.lane_mega_transfers) * 1_000_000;
        let data = u128::from(bits_per_second) * 128 / 130;
        let usable = data * u128::from(1000 - self.dllp_permille) / 1000;
        (usable * u128::from(CYCLE_NS) * (1 << 20) / 8 / 1_000_000_000) as u64
    }
}

impl Default for PcieConfig {
    fn default() -> Self {
        Self {
            link: LinkConfig::default(),
            mps_bytes: 256,
            mrrs_bytes: 512,
            rcb_bytes: 64,
            completion_payload_bytes: 256,
            random_split_permille: 0,
            extended_tags: true,
            latency_ns: 900,
            dram_write_ns: 60,
            gpu_write_ns: 700,
            gpu_read_extra_ns: 400,
            jitter_ns: 0,
            reorder_permille: 0,
            relaxed_pass_permille: 0,
            host_credits: Credits {
                posted_headers: 127,
                posted_data: 2032,
                nonposted_headers: 127,
            },
            credit_return_ns: 250,
            card_credits: Credits { posted_headers: 64, posted_data: 1024, nonposted_headers: 64 },
            completion_headers: 256,
            completion_data: 1792,
            checks_completions: true,
            check_reservation: true,
            transmit_beats: 32,
            nonposted_queue: 16,
            rq_stall_permille: 0,
            cc_stall_permille: 0,
            idle_permille: 0,
            completion_timeout_ns: Some(50_000),
            mmio_timeout_ns: 50_000,
            quiesce_ns: 4_000,
            interrupt_base: 0xfee0_0000,
            interrupt_bytes: 0x10_0000,
            dram_bytes: 256 << 20,
            gpus: vec![GpuConfig { memory_bytes: 64 << 20, bar_bytes: 64 << 20 }],
            bars: vec![Bar { index: 0, base: 0x20_0000_0000, bytes: 16 << 20 }],
            card_id: 0x0100,
            host_id: 0x0000,
            seed: 1,
        }
    }
}

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The maximum payload size is not a power of two from 128 to 1024.
    #[error("maximum payload size {0} is not one of 128, 256, 512, 1024")]
    MaxPayload(u32),
    /// The maximum read request size is not a power of two from 128 to 4096.
    #[error("maximum read request size {0} is not a power of two from 128 to 4096")]
    MaxReadRequest(u32),
    /// The read completion boundary is neither 64 nor 128.
    #[error("read completion boundary {0} is neither 64 nor 128")]
    ReadCompletionBoundary(u32),
    /// The completion size is no multiple of the boundary or exceeds the maximum payload size.
    #[error("completion size {0} is no power of two from the read completion boundary to the MPS")]
    CompletionPayload(u32),
    /// A probability above 1000 per thousand.
    #[error("probability {0} exceeds 1000 per thousand")]
    Probability(u32),
    /// The round trip is shorter than the link both ways.
    #[error("round trip of {0} ns is shorter than the link both ways")]
    Latency(u64),
    /// A lane count or rate of zero, or a link share of everything.
    #[error("{0} lanes leave no bandwidth")]
    Lanes(u32),
    /// A BAR that is not a power of two or not aligned to its size.
    #[error("bar {0} is not a power of two or not aligned to its size")]
    Bar(u8),
    /// A GPU BAR beyond its memory.
    #[error("gpu bar of {0} bytes exceeds the memory behind it")]
    GpuBar(u64),
    /// A credit, buffer or queue too small to carry one TLP of maximum size.
    #[error("a buffer of {0} cannot carry one TLP of maximum size")]
    Buffer(u32),
}

impl PcieConfig {
    /// Checks the invariants of the module head.
    pub fn validate(&self) -> Result<(), ConfigError> {
        use ConfigError as E;
        let pow2_within = |v: u32, low, high| v.is_power_of_two() && (low..=high).contains(&v);
        if !pow2_within(self.mps_bytes, 128, 1024) {
            return Err(E::MaxPayload(self.mps_bytes));
        }
        if !pow2_within(self.mrrs_bytes, 128, 4096) {
            return Err(E::MaxReadRequest(self.mrrs_bytes));
        }
        if !pow2_within(self.rcb_bytes, 64, 128) {
            return Err(E::ReadCompletionBoundary(self.rcb_bytes));
        }
        if !pow2_within(self.completion_payload_bytes, self.rcb_bytes, self.mps_bytes) {
            return Err(E::CompletionPayload(self.completion_payload_bytes));
        }
        if self.link.bytes_per_cycle_fixed() == 0 || self.link.dllp_permille >= 1000 {
            return Err(E::Lanes(self.link.lanes));
        }
        if self.latency_ns < 2 * self.link.latency_ns {
            return Err(E::Latency(self.latency_ns));
        }
        self.validate_probabilities()?;
        self.validate_buffers()?;
        self.validate_windows()
    }

    fn validate_probabilities(&self) -> Result<(), ConfigError> {
        let all = [
            self.random_split_permille,
            self.reorder_permille,
            self.relaxed_pass_permille,
            self.rq_stall_permille,
            self.cc_stall_permille,
            self.idle_permille,
        ];
        match all.into_iter().find(|p| *p > 1000) {
            Some(p) => Err(ConfigError::Probability(p)),
            None => Ok(()),
        }
    }

    fn validate_buffers(&self) -> Result<(), ConfigError> {
        let units = self.mps_bytes / 16;
        let needs = [
            (self.host_credits.posted_headers, 1),
            (self.host_credits.posted_data, units),
            (self.host_credits.nonposted_headers, 1),
            (self.card_credits.posted_headers, 1),
            (self.card_credits.posted_data, units),
            (self.card_credits.nonposted_headers, 1),
            (self.transmit_beats, self.mps_bytes / 64 + 1),
            (self.nonposted_queue as u32, 1),
        ];
        match needs.into_iter().find(|(has, need)| has < need) {
            Some((has, _)) => Err(ConfigError::Buffer(has)),
            None => Ok(()),
        }
    }

    fn validate_windows(&self) -> Result<(), ConfigError> {
        let bad_bar =
            |b: &&Bar| !b.bytes.is_power_of_two() || !b.base.is_multiple_of(b.bytes) || b.index > 5;
        if let Some(bar) = self.bars.iter().find(bad_bar) {
            return Err(ConfigError::Bar(bar.index));
        }
        match self.gpus.iter().find(|g| g.bar_bytes > g.memory_bytes as u64) {
            Some(gpu) => Err(ConfigError::GpuBar(gpu.bar_bytes)),
            None => Ok(()),
        }
    }
}

/// Whole cycles that cover `ns`.
pub(crate) fn cycles(ns: u64) -> u64 {
    ns.div_ceil(CYCLE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_valid_at_126_gigabits() {
        let config = PcieConfig::default();
        assert_eq!(config.validate(), Ok(()));
        let raw = LinkConfig { dllp_permille: 0, ..config.link };
        let bits_per_ns = raw.bytes_per_cycle_fixed() as f64 / (1 << 20) as f64 * 8.0 / 4.0;
        assert!((bits_per_ns - 126.03).abs() < 0.01, "{bits_per_ns}");
    }

    #[test]
    fn each_wrong_parameter_names_itself() {
        let bad = |change: fn(&mut PcieConfig)| {
            let mut config = PcieConfig::default();
            change(&mut config);
            config.validate()
        };
        assert_eq!(bad(|c| c.mps_bytes = 200), Err(ConfigError::MaxPayload(200)));
        assert_eq!(bad(|c| c.mrrs_bytes = 64), Err(ConfigError::MaxReadRequest(64)));
        assert_eq!(bad(|c| c.rcb_bytes = 32), Err(ConfigError::ReadCompletionBoundary(32)));
        assert_eq!(
            bad(|c| c.completion_payload_bytes = 512),
            Err(ConfigError::CompletionPayload(512))
        );
        assert_eq!(bad(|c| c.idle_permille = 1001), Err(ConfigError::Probability(1001)));
        assert_eq!(bad(|c| c.latency_ns = 10), Err(ConfigError::Latency(10)));
        assert_eq!(bad(|c| c.link.lanes = 0), Err(ConfigError::Lanes(0)));
        assert_eq!(bad(|c| c.bars[0].base = 4096), Err(ConfigError::Bar(0)));
        // A window that is no power of two has no mask, wherever it lies.
        let odd = bad(|c| (c.bars[0].base, c.bars[0].bytes) = (0, 3 << 12));
        assert_eq!(odd, Err(ConfigError::Bar(0)));
        assert_eq!(bad(|c| c.gpus[0].bar_bytes = 1 << 40), Err(ConfigError::GpuBar(1 << 40)));
        assert_eq!(bad(|c| c.host_credits.posted_data = 3), Err(ConfigError::Buffer(3)));
    }
}
