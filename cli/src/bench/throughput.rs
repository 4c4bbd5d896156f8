//! `bench rx`, `bench tx`, `bench duplex`: throughput of one scenario.

use std::path::PathBuf;
use std::str::FromStr;

use abi::registers::PAUSE_BEATS_START;
use anyhow::Result;
use clap::{Args, ValueEnum};
use measure::scenario::{Acks, Family, Order, Rival, Scenario, Size};
use measure::throughput::{self, Report};

use super::cpu::CoalesceName;
use crate::shared::config::ConfigName;
use crate::shared::options::{one_of, time_us, UsageError};
use crate::shared::output::json_file;
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

/// Most payload of one send descriptor where a single flow sends.
const DESCRIPTOR_BYTES_MAX: usize = 65_535;

/// Order of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// By position.
    InOrder,
    /// Permuted in windows of 64 packets within each flow.
    Random,
}

/// IP versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FamilyName {
    /// IPv4 alone.
    V4,
    /// Every other flow IPv6.
    Mixed,
}

/// Acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AckName {
    /// In the data of the other direction.
    Data,
    /// A frame of its own for every two segments.
    Pure,
}

/// A second owner on the same wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RivalName {
    /// Its header queue is never emptied.
    Undrained,
    /// Its header queue is emptied, but all frames together exceed the link.
    Greedy,
}

/// One size of frames, or the first and the last of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameSizes(u32, u32);

impl FromStr for FrameSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) => Ok(Self(first, last)),
            _ => Err("neither a number of bytes nor two, as in 64-9216".to_owned()),
        }
    }
}

/// Arguments of `zeronic bench rx`, `tx` and `duplex`.
#[derive(Clone, Debug, Args)]
pub struct ThroughputArguments {
    /// Full TCP segments in packets of that many bytes. Short packets both ways exceed the link to
    /// the host: its limit and the losses are then shown
    #[arg(long, default_value_t = 1500, value_name = "BYTES")]
    mtu: u32,
    /// Frames of that many bytes (FCS included) at wire speed instead, 64 to 9216; with two
    /// numbers, as in 64-9216, every size from the first to the second in turn (received only)
    #[arg(long, value_name = "BYTES")]
    frame: Option<FrameSizes>,
    /// Flows, used round robin
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16384))]
    flows: u16,
    /// Add a second owner with as many flows, which gets three of four frames; the figures are
    /// those of the first, which may lose nothing. For received frames of 64 bytes
    #[arg(long, value_enum, value_name = "KIND")]
    rival: Option<RivalName>,
    /// Order of each flow's packets
    #[arg(long, value_enum, default_value_t = OrderName::InOrder)]
    order: OrderName,
    /// IP version; mixed by default where the order is random
    #[arg(long, value_name = "VERSION")]
    ip: Option<FamilyName>,
    /// Where acknowledgements travel
    #[arg(long, value_enum, default_value_t = AckName::Data)]
    acks: AckName,
    /// Whether the card sums received packets up; with `on`, the peer sends segments of 64 KiB, or
    /// of a burst of 2 and more, cut into packets, PSH on the last. Refused by a card that cannot
    #[arg(long, value_enum, default_value_t = CoalesceName::Off)]
    coalesce: CoalesceName,
    /// Packets of a flow in a row, and in one send descriptor [default: 1 in a row; 2 in a
    /// descriptor, as one ACK releases them; a single flow sends up to 64 KiB]
    #[arg(long, value_name = "PACKETS")]
    burst: Option<u32>,
    /// Least simulated time that is measured, in microseconds, from 10; the host polls four times
    /// in each, so that figures of a short time are coarse
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Least passes over each list of segments
    #[arg(long, default_value_t = 2)]
    wraps: u64,
    /// The card may ask the peer to pause (802.3x), and the peer obeys after 2 us
    #[arg(long)]
    pause: bool,
    /// Beats of 64 bytes in the packet buffer, of 2,048, from which on the card asks for a pause
    #[arg(
        long,
        default_value_t = PAUSE_BEATS_START as u16,
        value_name = "BEATS",
        requires = "pause"
    )]
    pause_beats: u16,
    /// Lanes of PCIe 3.0 between card and host: 4, 8 or 16
    #[arg(long, default_value_t = 16, value_name = "COUNT", value_parser = one_of([4, 8, 16]))]
    lanes: u32,
    /// The host cuts read completions at multiples of this size: 64, 128 or 256
    #[arg(long, default_value_t = 256, value_name = "BYTES", value_parser = one_of([64, 128, 256]))]
    completion: u32,
    /// Completion headers that the buffer of the hard block holds, 8 to 256; the card is built for
    /// it
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    completion_headers: u32,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Default)]
    config: ConfigName,
    /// Seed of contents, positions and order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl ThroughputArguments {
    /// What these arguments describe.
    pub fn scenario(&self, receive: bool, send: bool) -> Scenario {
        let size = match self.frame {
            None => Size::Mtu(self.mtu),
            Some(FrameSizes(first, last)) if first == last => Size::Frame(first),
            Some(FrameSizes(first, last)) => Size::Sweep(first, last),
        };
        let mut scenario = Scenario::new(size);
        let is_random = self.order == OrderName::Random;
        let is_mixed = self.ip.map_or(is_random, |ip| ip == FamilyName::Mixed);
        scenario.receive = receive;
        scenario.send = send;
        scenario.card = self.config.name().to_owned();
        scenario.pcie.link.lanes = self.lanes;
        scenario.pcie.completion_payload_bytes = self.completion;
        scenario.pcie.completion_headers = self.completion_headers;
        scenario.pcie.seed = self.seed;
        scenario.rival = self.rival.map(|kind| match kind {
            RivalName::Undrained => Rival::Undrained,
            RivalName::Greedy => Rival::Greedy,
        });
        let owners = if self.rival.is_some() { 2 } else { 1 };
        scenario.flows = self.flows.saturating_mul(owners);
        scenario.order = if is_random { Order::Random } else { Order::InOrder };
        scenario.family = if is_mixed { Family::Mixed } else { Family::V4 };
        scenario.acks = match self.acks {
            AckName::Data => Acks::InData,
            AckName::Pure => Acks::Pure,
        };
        let alone = DESCRIPTOR_BYTES_MAX / scenario.payload_bytes(false).max(1_024);
        let usual = if self.flows == 1 { alone as u32 } else { 2 };
        scenario.burst = self.burst.unwrap_or(1);
        scenario.send_burst = self.burst.unwrap_or(usual);
        scenario.time_ns = self.time * 1000;
        scenario.wraps_min = self.wraps;
        scenario.seed = self.seed;
        scenario.pause = self.pause;
        scenario.pause_beats = self.pause_beats;
        scenario.coalesce = self.coalesce == CoalesceName::On;
        scenario.push_packets = self.burst.filter(|burst| *burst > 1).unwrap_or(0);
        scenario
    }

    /// Measures. Without `is_alone` it does not say how far it is.
    pub fn measure(&self, receive: bool, send: bool, is_alone: bool) -> Result<Report> {
        let scenario = self.scenario(receive, send);
        scenario.check().map_err(|bad| UsageError(bad.to_string()))?;
        let mut progress = match is_alone {
            true => simulated_time(scenario.time_ns),
            false => Progress::silent(),
        };
        Ok(throughput::measure(&scenario, &mut |us| progress.set(us, ""))?)
    }

    /// Measures, prints, writes.
    pub fn run(&self, receive: bool, send: bool) -> Result<bool> {
        let json = json_file(self.json.as_deref())?;
        let report = self.measure(receive, send, true)?;
        if let Some(json) = json {
            json.write_json(&report)?;
        }
        print(&report)?;
        Ok(report.ok)
    }
}

/// What counts the simulated time of a measurement.
pub fn simulated_time(time_ns: u64) -> Progress {
    Progress::new(time_ns / 1000, Unit::Count("us of simulated time"))
}

/// Prints the figures and the verdict.
fn print(report: &Report) -> Result<()> {
    let mut table = table(&[]);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    for (name, goodput) in [("received", report.rx_goodput_gbps), ("sent", report.tx_goodput_gbps)]
    {
        if let Some(goodput) = goodput {
            row(name, format!("{goodput:.2} Gb/s of payload"));
        }
    }
    row("packets", format!("{:.3} Mpps", report.mpps));
    if let Some(offered) = report.rx_offered_mpps {
        row("on the wire to the card", format!("{offered:.3} Mpps"));
    }
    let (gbps, mpps, by) = (report.limit_gbps, report.limit_mpps, report.limited_by);
    row("limit", format!("{gbps:.2} Gb/s, {mpps:.3} Mpps ({by})"));
    row("reached", format!("{:.2} % of it", 100.0 * report.ratio));
    if let Some(packets) = report.packets_per_entry {
        row("packets for each header entry", format!("{packets:.2}"));
    }
    if let (Some(gbps), Some(wait)) = (report.entries_gbps, report.entry_wait_ns) {
        row("lanes for header entries", format!("{gbps:.2} Gb/s"));
        let (p50, p99, max) = (wait.p50, wait.p99, wait.max);
        row("packet to its entry", format!("median {p50:.0} ns, p99 {p99:.0}, max {max:.0}"));
    }
    row("frames lost", report.frames_lost.to_string());
    if let (Some(offered), Some(taken), Some(lost)) =
        (report.rival_offered_mpps, report.rival_mpps, report.rival_frames_lost)
    {
        let text = format!("{offered:.3} Mpps offered, {taken:.3} taken, {lost} lost");
        row("rival", text);
    }
    row("acknowledgements", report.ack_policy.to_owned());
    let time = report.sim_time_ns as f64 / 1e6;
    row("simulated", format!("{time:.3} ms, lists wrapped {} times", report.list_wraps));
    let (up, down) = (100.0 * report.lanes_up, 100.0 * report.lanes_down);
    row("lanes used", format!("{up:.1} % up, {down:.1} % down"));
    let closed = 100.0 * report.window_closed;
    row("window closed", format!("{closed:.1} % of the time"));
    for (name, count) in &report.counters {
        row(&format!("  {name}"), count.to_string());
    }
    row("simulation", format!("{:.0} cycles/s of 250 MHz", report.cycles_per_second));
    print_judged(&table, report.ok, &report.problems)
}
