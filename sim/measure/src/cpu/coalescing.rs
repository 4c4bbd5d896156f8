//! What the receiving host costs with an entry for each packet, and with entries for runs.
//!
//! ```text
//!   null:             a batch of 64 packets between two polls        ─┐
//!   null at 100 Gb/s: packets as they come, a run waits for 8 us     ─┼─ off │ on ─► CPU s/GB
//!   tcp, linux:       the receiving one of two hosts, golden cards   ─┘
//! ```
//! Off and on take turns. The bytes are not read. Packets are those of 64 KiB segments, so a run
//! has as many as these have, where the card decides by itself at most 64.

use std::collections::BTreeMap;

use crate::joined::JoinedConfig;

use super::error::Result;
use super::joined::JoinedCost;
use super::null::{self, Acks};
use super::plan::{Coalesce, Plan, Transport, MTUS};
use super::report::RunsRow;
use super::values::Values;
use super::{joined, rate};
use crate::timing::cores::Cores;

/// The rate of arrival of the row that has one, Gb/s of payload.
const RATE_GBPS: f64 = 100.0;

/// What a row is about: the way packets come, the MTU, whether they are summed up.
type Key = (&'static str, u16, Coalesce);

/// Seconds for a GB of the receiving host, of both hosts where there are two, and packets for each
/// entry.
type Found = (f64, Option<f64>, f64);

/// What the repetitions have found of a row.
#[derive(Debug, Default)]
struct Repeated {
    receiver: Values,
    both: Values,
    packets_per_entry: f64,
}

/// What the repetitions have found.
#[derive(Debug, Default)]
pub struct Coalescing(BTreeMap<Key, Repeated>);

impl Coalescing {
    /// A part of a repetition, of all that is asked for.
    pub fn measure(
        &mut self,
        (plan, repetition): (Plan, u32),
        (transports, modes): (&[Transport], &[Coalesce]),
        cores: &Cores,
    ) -> Result<()> {
        for (mtu, mode) in MTUS.iter().flat_map(|mtu| modes.iter().map(|mode| (*mtu, *mode))) {
            let config =
                JoinedConfig { mtu_bytes: mtu, touched: false, coalesces: mode == Coalesce::On };
            let of_joined = |cost: JoinedCost| {
                let both = Some(cost.both.seconds_per_gb);
                (cost.receiver.seconds_per_gb, both, cost.packets_per_entry)
            };
            for transport in transports {
                let (name, found) = match transport {
                    Transport::Null => {
                        let (seconds, packets) =
                            rate::receive(mtu, RATE_GBPS, mode, plan.window / 4, cores)?;
                        let at_rate = (seconds, None, packets);
                        self.add(("null at 100 Gb/s", mtu, mode), repetition, at_rate);
                        let run = null::run_packets(mtu, mode);
                        let acks = Acks::Each64KiB;
                        let cost =
                            null::receive_runs((mtu, acks, false), run, plan.batches, cores)?;
                        ("null, batches of 64", (cost.0.seconds_per_gb, None, cost.1))
                    }
                    Transport::Tcp => ("tcp", of_joined(joined::own(config, plan.bytes, cores)?)),
                    Transport::Linux => {
                        ("linux", of_joined(joined::linux(config, plan.bytes, cores)?))
                    }
                };
                self.add((name, mtu, mode), repetition, found);
            }
        }
        Ok(())
    }

    fn add(&mut self, key: Key, repetition: u32, (receiver, both, packets): Found) {
        let repeated = self.0.entry(key).or_default();
        repeated.receiver.add(repetition, receiver);
        if let Some(both) = both {
            repeated.both.add(repetition, both);
        }
        repeated.packets_per_entry = packets;
    }

    /// The figures of all repetitions, beside those of the kernel's TCP at an MTU, its bytes not
    /// read.
    pub fn rows(&self, kernel: impl Fn(u16) -> Option<f64>) -> Vec<RunsRow> {
        let row = |(key, repeated): (&Key, &Repeated)| {
            let (transport, mtu, mode) = *key;
            let (seconds_per_gb, spread) = repeated.receiver.median();
            let without = self.0.get(&(transport, mtu, Coalesce::Off));
            let without = without.map(|it| it.receiver.median().0);
            let both = (!repeated.both.is_empty()).then(|| repeated.both.median().0);
            RunsRow {
                transport,
                mtu,
                coalesce: mode == Coalesce::On,
                seconds_per_gb,
                spread,
                packets_per_entry: repeated.packets_per_entry,
                times_less: without
                    .filter(|_| mode == Coalesce::On)
                    .map(|without| without / seconds_per_gb),
                both_seconds_per_gb: both,
                kernel_ratio: both.and_then(|both| Some(kernel(mtu)? / both)),
            }
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_compares_with_off_beside_it() {
        let mut found = Coalescing::default();
        for (mtu, mode, seconds) in
            [(1500, Coalesce::Off, 0.5), (1500, Coalesce::On, 0.125), (9000, Coalesce::On, 0.25)]
        {
            found.add(("null", mtu, mode), 0, (seconds, Some(2.0 * seconds), 3.0));
        }
        let kernel = |mtu| (mtu == 1500).then_some(2.0);
        let rows = found.rows(kernel);
        let rows: Vec<_> =
            rows.iter().map(|row| (row.mtu, row.times_less, row.kernel_ratio)).collect();
        assert_eq!(
            rows,
            [(1500, None, Some(2.0)), (1500, Some(4.0), Some(8.0)), (9000, None, None)]
        );
    }
}
