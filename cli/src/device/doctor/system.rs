//! Checks of the slot that a card is in, as sysfs tells: link and its bridge, IOMMU, node, errors.

use std::collections::BTreeSet;

use host_board::pci::{AerCounts, Kernel, LinkRate, PciDevice};

use crate::device::report::{Check, Verdict};

/// Bits of a second that a wire of 100 Gb/s needs of a slot, with the headers of PCI Express.
const WIRE_GBPS: f64 = 112.0;
/// From 8 GT/s on, of 130 bits 128 are data; before, 8 of 10.
const LONG_CODE_GT: f64 = 8.0;

/// The checks of a slot; `cores` are those that this process may use, as the kernel lists them.
pub fn checks(kernel: &impl Kernel, device: &PciDevice, cores: Option<&str>) -> Vec<Check> {
    let bridge = device.bridge(kernel);
    vec![
        rate(device.link(kernel), bridge.and_then(|bridge| bridge.best_link(kernel))),
        iommu(device.group(kernel), device.group_kind(kernel)),
        node(device.node(kernel), device.near_cores(kernel), cores),
        aer(device.aer(kernel)),
    ]
}

/// What a bus has that is no slot.
pub fn none() -> Vec<Check> {
    let files = "this bus has none: the serving process reaches the files that it is passed";
    let errors = "this bus reports no errors of PCI Express";
    let unseen = |what, found: &str| Check::new(what, Verdict::Unseen, found, "nothing to do");
    vec![unseen("IOMMU", files), unseen("AER", errors)]
}

fn gbps(rate: LinkRate) -> f64 {
    let share = if rate.gt_per_s >= LONG_CODE_GT { 128.0 / 130.0 } else { 0.8 };
    rate.gt_per_s * f64::from(rate.lanes) * share
}

fn rate(link: Option<LinkRate>, slot: Option<LinkRate>) -> Check {
    let what = "slot";
    let Some(link) = link else {
        let advice = "the virtual or emulated bridge says nothing of its link";
        return Check::new(what, Verdict::Unseen, "sysfs has no link", advice);
    };
    let text = |rate: LinkRate| format!("{} GT/s x{}", rate.gt_per_s, rate.lanes);
    let slot_text = slot.map_or("unknown".to_owned(), text);
    let found = format!(
        "{} ({:.0} Gb/s) in a slot that can {slot_text}; the wire needs {WIRE_GBPS:.0}",
        text(link),
        gbps(link)
    );
    let is_enough = gbps(link) >= WIRE_GBPS;
    let advice = match slot {
        Some(slot) if gbps(slot) < WIRE_GBPS => "another slot: this one is too slow for the wire",
        _ => "contacts, riser, bifurcation in the firmware's setup; power off and on",
    };
    Check::new(what, Verdict::Look.unless(is_enough), found, advice)
}

fn iommu(group: Option<String>, kind: Option<String>) -> Check {
    let what = "IOMMU";
    match (group, kind) {
        (None, _) => {
            let advice = "firmware: VT-d or AMD-Vi; kernel: intel_iommu=on on Intel";
            Check::new(what, Verdict::Bad, "the card is in no group", advice)
        }
        (Some(group), Some(kind)) if kind == "identity" => {
            let found = format!("group {group}; drivers of the kernel pass it by (identity)");
            Check::new(what, Verdict::Good, found, "")
        }
        (Some(group), kind) => {
            let kind = kind.unwrap_or_else(|| "of an unknown mode".to_owned());
            let found = format!("group {group}, {kind}; the card reaches what VFIO has mapped");
            Check::new(what, Verdict::Good, found, "")
        }
    }
}

/// The numbers of a list of the kernel: `0-3,8`.
fn numbers(list: &str) -> BTreeSet<u32> {
    let part = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
    };
    list.split(',').filter_map(part).flatten().collect()
}

fn node(node: Option<u32>, near: Option<String>, cores: Option<&str>) -> Check {
    let what = "NUMA node";
    let Some(node) = node else {
        return Check::new(what, Verdict::Good, "the system has one, or does not say", "");
    };
    let (Some(near), Some(cores)) = (near, cores) else {
        let advice = "run the host there: numactl --cpunodebind";
        return Check::new(what, Verdict::Unseen, format!("node {node}, cores unknown"), advice);
    };
    let is_near = numbers(cores).is_subset(&numbers(&near));
    let found = format!("node {node}, cores {near}; this process may use {cores}");
    let advice = format!(
        "numactl --cpunodebind={node} --membind={node}: each access from afar takes longer"
    );
    Check::new(what, Verdict::Look.unless(is_near), found, advice)
}

fn aer(counts: Option<AerCounts>) -> Check {
    let what = "AER";
    let Some(AerCounts { correctable, nonfatal, fatal }) = counts else {
        let found = "the kernel, the slot or the card counts no errors of PCI Express";
        return Check::new(what, Verdict::Unseen, found, "boot without pci=noaer");
    };
    let found = format!("{correctable} correctable, {nonfatal} nonfatal, {fatal} fatal");
    let verdict = match (correctable, nonfatal + fatal) {
        (0, 0) => Verdict::Good,
        (_, 0) => Verdict::Look,
        _ => Verdict::Bad,
    };
    let advice =
        "signals of the slot: seat the card anew, leave the riser out; aer_dev_* in sysfs \
                  and the kernel's log (dmesg) name each kind";
    Check::new(what, verdict, found, advice)
}

/// The cores that this process may use.
pub fn own_cores(status: &str) -> Option<&str> {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use host_board::pci::Sysfs;

    use super::*;

    const ADDRESS: &str = "0000:01:00.0";

    /// A made-up sysfs with a bridge, a card below it, and these files of the card.
    fn checked(name: &str, files: &[(&str, &str)], cores: &str) -> Vec<(Verdict, String)> {
        let root =
            std::env::temp_dir().join(format!("zeronic-doctor-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let bridge = root.join("devices/pci0000:00/0000:00:01.0");
        let device = bridge.join(ADDRESS);
        let put = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        put(&bridge.join("max_link_speed"), "8.0 GT/s PCIe\n");
        put(&bridge.join("max_link_width"), "16\n");
        let links = root.join("bus/pci/devices");
        fs::create_dir_all(&links).expect("a folder");
        fs::create_dir_all(&device).expect("a folder");
        symlink(&device, links.join(ADDRESS)).expect("a link");
        symlink(&bridge, links.join("0000:00:01.0")).expect("a link");
        for (file, text) in files {
            put(&device.join(file), text);
        }
        let kernel = Sysfs::new(&root);
        let found = PciDevice::at(&kernel, &ADDRESS.parse().expect("an address"));
        let checks = checks(&kernel, &found.expect("a device"), Some(cores));
        fs::remove_dir_all(&root).expect("it goes");
        let names: Vec<_> = checks.iter().map(|check| check.what).collect();
        assert_eq!(names, ["slot", "IOMMU", "NUMA node", "AER"]);
        checks.into_iter().map(|it| (it.verdict, it.found + "; " + &it.advice)).collect()
    }

    const GOOD: [(&str, &str); 9] = [
        ("current_link_speed", "8.0 GT/s PCIe\n"),
        ("current_link_width", "16\n"),
        ("iommu_group/type", "DMA-FQ\n"),
        ("numa_node", "1\n"),
        ("local_cpulist", "8-15\n"),
        ("aer_dev_correctable", "TOTAL_ERR_COR 0\n"),
        ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n"),
        ("aer_dev_fatal", "TOTAL_ERR_FATAL 0\n"),
        ("iommu_group/devices/x", ""),
    ];

    #[test]
    fn good_slot_is_good_throughout() {
        let checks = checked("good", &GOOD, "8,9");
        assert!(checks.iter().all(|check| check.0 == Verdict::Good), "{checks:?}");
    }

    #[test]
    fn each_fault_of_a_slot_is_reported() {
        for (at, name, file, text, verdict, words) in [
            (0, "narrow", "current_link_width", "4\n", Verdict::Look, "bifurcation"),
            (0, "slow", "current_link_speed", "2.5 GT/s PCIe\n", Verdict::Look, "32 Gb/s"),
            (2, "far", "local_cpulist", "0-7\n", Verdict::Look, "--cpunodebind=1"),
            (3, "repaired", "aer_dev_correctable", "TOTAL_ERR_COR 9\n", Verdict::Look, "seat"),
            (3, "lost", "aer_dev_fatal", "TOTAL_ERR_FATAL 1\n", Verdict::Bad, "1 fatal"),
        ] {
            let changed = GOOD.map(|(of, good)| (of, if of == file { text } else { good }));
            let (found, said) = checked(name, &changed, "8,9")[at].clone();
            assert_eq!(found, verdict, "{name}: {said}");
            assert!(said.contains(words), "{name}: {said}");
        }
    }

    #[test]
    fn silent_sysfs_is_not_seen() {
        let verdicts: Vec<_> = checked("silent", &[], "0").iter().map(|it| it.0).collect();
        use Verdict::{Bad, Good, Unseen};
        assert_eq!(verdicts, [Unseen, Bad, Good, Unseen]);
        assert_eq!(numbers("0-2,8"), BTreeSet::from([0, 1, 2, 8]));
        assert_eq!(own_cores("Name: x\nCpus_allowed_list:\t0-3\n"), Some("0-3"));
    }
}
