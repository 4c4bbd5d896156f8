//! Busy time of the whole machine, as the kernel counts it.

use std::time::{Duration, Instant};

use super::error::{CpuError, Result};

/// Ticks of a second in /proc (`USER_HZ`, the same on every machine that this program runs on).
const TICKS_PER_SECOND: f64 = 100.0;
/// Columns of busy time after the name in the first line of /proc/stat: user, nice, system, irq,
/// softirq. Idle and iowait are none, nor is time stolen by a hypervisor.
const BUSY: [usize; 5] = [0, 1, 2, 5, 6];

/// Seconds for which cores were busy since the machine started, of all cores together.
pub fn busy_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/stat").map_err(CpuError::NoStatistics)?;
    busy(&text).ok_or(CpuError::OtherStatistics)
}

fn busy(text: &str) -> Option<f64> {
    let columns = text.lines().next()?.strip_prefix("cpu ")?;
    let columns: Vec<f64> = columns.split_whitespace().flat_map(str::parse).collect();
    let busy = BUSY.iter().map(|&column| columns.get(column));
    let ticks: Option<f64> = busy.map(|ticks| ticks.copied()).sum();
    Some(ticks? / TICKS_PER_SECOND)
}

/// Cores that are busy while this program does nothing for so long.
pub fn idle_cores(time: Duration) -> Result<f64> {
    let (from, started) = (busy_seconds()?, Instant::now());
    std::thread::sleep(time);
    Ok((busy_seconds()? - from) / started.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_busy_columns_count() {
        let text = "cpu  100 20 3 99999 88888 400 5000 77777 66666 0\ncpu0 1 2 3\n";
        assert_eq!(busy(text), Some(55.23));
        assert_eq!(busy("cpu  1 2 3\n"), None);
        assert_eq!(busy(""), None);
    }
}
