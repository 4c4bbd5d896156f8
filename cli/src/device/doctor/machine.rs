//! Checks of the machine: cores, nodes of memory, large pages, locked memory.

use std::fs;

use crate::device::report::{Check, Verdict};

/// Rings of an owner, and a region to speak of.
const LOCKED_BYTES_MIN: u64 = 64 << 20;

/// The checks.
pub fn checks(locks_memory: bool) -> Vec<Check> {
    let read = |path: &str| fs::read_to_string(path).ok();
    vec![
        cores(std::thread::available_parallelism().map_or(1, usize::from)),
        nodes(fs::read_dir("/sys/devices/system/node").ok().map(|folder| {
            let names = folder.flatten().map(|entry| entry.file_name());
            names.filter(|name| is_node(&name.to_string_lossy())).count()
        })),
        large_pages(read("/proc/meminfo").as_deref()),
        locked_memory(read("/proc/self/limits").as_deref(), locks_memory),
    ]
}

fn cores(cores: usize) -> Check {
    let advice = "host and card take turns on one core: all times are those of the scheduler";
    let verdict = Verdict::Look.unless(cores > 1);
    Check::new("cores", verdict, format!("{cores} for this process"), advice)
}

fn is_node(name: &str) -> bool {
    let number = name.strip_prefix("node");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn nodes(nodes: Option<usize>) -> Check {
    match nodes {
        None => Check::new("NUMA", Verdict::Unseen, "the system does not say", "nothing to do"),
        Some(nodes) => {
            let advice = "run the host on the card's node: numactl --cpunodebind";
            let verdict = Verdict::Look.unless(nodes <= 1);
            Check::new("NUMA", verdict, format!("{nodes} nodes of memory"), advice)
        }
    }
}

/// The number behind a name in a file of the system.
fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn large_pages(meminfo: Option<&str>) -> Check {
    let pages = meminfo.and_then(|text| number(text, "HugePages_Total:"));
    match pages {
        None => {
            Check::new("large pages", Verdict::Unseen, "the system does not say", "nothing to do")
        }
        Some(pages) => {
            let advice = "many small regions take many page entries: vm.nr_hugepages, or regions \
                          at multiples of their size";
            let verdict = Verdict::Look.unless(pages > 0);
            Check::new("large pages", verdict, format!("{pages} are set aside"), advice)
        }
    }
}

/// What a device in a slot may reach is locked: rings and all application memory.
fn locked_memory(limits: Option<&str>, is_locked: bool) -> Check {
    let name = "Max locked memory";
    let line = limits.and_then(|text| text.lines().find_map(|line| line.strip_prefix(name)));
    match line.and_then(|line| line.split_whitespace().next()) {
        None => {
            Check::new("locked memory", Verdict::Unseen, "the system does not say", "nothing to do")
        }
        Some(limit) if is_locked => {
            let bytes = limit.parse::<u64>().unwrap_or(u64::MAX);
            let verdict = Verdict::Look.unless(bytes >= LOCKED_BYTES_MIN);
            let advice = "ulimit -l unlimited, or LimitMEMLOCK of the service; root has no limit";
            Check::new("locked memory", verdict, format!("limit {limit} bytes"), advice)
        }
        Some(limit) => {
            let found = format!("limit {limit} bytes; this bus locks none");
            Check::new("locked memory", Verdict::Good, found, "")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_read_as_they_are() {
        let meminfo = "MemTotal:  16 kB\nHugePages_Total:       3\n";
        assert_eq!(large_pages(Some(meminfo)).found, "3 are set aside");
        assert_eq!(large_pages(Some("HugePages_Total: 0")).verdict, Verdict::Look);
        assert_eq!(large_pages(None).verdict, Verdict::Unseen);
        let limits = "Max locked memory         8388608              8388608              bytes\n";
        assert!(locked_memory(Some(limits), false).found.contains("8388608"));
        assert_eq!(locked_memory(Some("Max processes 3 3"), true).verdict, Verdict::Unseen);
        assert_eq!(locked_memory(Some(limits), true).verdict, Verdict::Look);
        assert_eq!(
            locked_memory(Some("Max locked memory unlimited unlimited bytes"), true).verdict,
            Verdict::Good
        );
        assert!(is_node("node0") && !is_node("nodes") && !is_node("has_cpu"));
        assert_eq!((cores(1).verdict, cores(2).verdict), (Verdict::Look, Verdict::Good));
        assert_eq!(
            (nodes(Some(2)).verdict, nodes(Some(1)).verdict),
            (Verdict::Look, Verdict::Good)
        );
    }
}
