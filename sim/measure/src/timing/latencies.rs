//! Times that many packets took, sorted.

use serde::Serialize;

/// Latencies of many packets, ns, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    sorted_ns: Vec<f64>,
}

impl Latencies {
    /// Of times in any order.
    pub(crate) fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { sorted_ns: times }
    }

    /// The latency that a share of the packets does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.sorted_ns.len().saturating_sub(1);
        let at = (share * last as f64).ceil() as usize;
        self.sorted_ns.get(at).copied().unwrap_or(f64::NAN)
    }

    /// All latencies, shortest first.
    pub fn all(&self) -> &[f64] {
        &self.sorted_ns
    }

    /// Between each start and its end, in picoseconds.
    pub(crate) fn between(starts: &[u64], ends: &[u64]) -> Self {
        let times = starts.iter().zip(ends);
        Self::new(times.map(|(start, end)| (end - start) as f64 / 1000.0).collect())
    }
}

/// Latencies of one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Shortest, ns.
    pub min: f64,
    /// Median, ns.
    pub p50: f64,
    /// 99th percentile, ns.
    pub p99: f64,
    /// Longest, ns.
    pub max: f64,
    /// Packets.
    pub packets: usize,
}

impl From<&Latencies> for Spread {
    fn from(latencies: &Latencies) -> Self {
        Self {
            min: latencies.quantile(0.0),
            p50: latencies.quantile(0.5),
            p99: latencies.quantile(0.99),
            max: latencies.quantile(1.0),
            packets: latencies.all().len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_sorted_times() {
        let starts: Vec<u64> = (0..101).map(|n| n * 10_000).collect();
        let ends: Vec<u64> = starts.iter().map(|start| start + (start / 10)).collect();
        let latencies = Latencies::between(&starts, &ends);
        assert_eq!(latencies.quantile(0.0), 0.0);
        assert_eq!(latencies.quantile(0.5), 50.0);
        assert_eq!(latencies.quantile(0.99), 99.0);
        assert_eq!(latencies.quantile(1.0), 100.0);
    }
}
