//! A device by its address: whether VFIO has it, and by which file it is opened.
//!
//! ```text
//!   0000:01:00.0 ─► vfio-pci has it? ─┬─ /dev/iommu, vfio-dev ─► /dev/vfio/devices/vfio0
//!                                     └─ else ─────────────────► /dev/vfio/GROUP
//! ```

use host_board::pci::bind::VFIO_DRIVER;
use host_board::pci::{Address, Kernel, PciDevice};
use thiserror::Error;

/// Why there is no file to open.
#[derive(Debug, Error)]
pub enum FindError {
    /// The words are no address.
    #[error("{0}")]
    NoAddress(String),
    /// No such device.
    #[error("there is no PCI device {0}; `zeronic device list` shows the cards of this machine")]
    NoDevice(Address),
    /// The device belongs to no group.
    #[error(
        "{0} is in no IOMMU group: turn the IOMMU on (firmware: VT-d or AMD-Vi; kernel: \
         intel_iommu=on on Intel)"
    )]
    NoGroup(Address),
    /// VFIO does not have it.
    #[error("{address} is bound to {driver}: as root, `zeronic device bind {address}`")]
    OtherDriver {
        /// The device.
        address: Address,
        /// Its driver, or `no driver`.
        driver: String,
    },
}

/// How a device is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By its group and a container.
    Group(String),
    /// By a file of its own, below `/dev/vfio/devices`, and iommufd.
    Device(String),
}

/// A device that `vfio-pci` has.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub address: Address,
    /// How it is opened.
    pub way: Way,
    /// The node whose memory is near it.
    pub node: Option<u32>,
}

/// Finds a device; `has_iommufd`: the system has `/dev/iommu`.
pub fn find(kernel: &impl Kernel, words: &str, has_iommufd: bool) -> Result<Found, FindError> {
    let address: Address = words.parse().map_err(FindError::NoAddress)?;
    let Some(device) = PciDevice::at(kernel, &address) else {
        return Err(FindError::NoDevice(address));
    };
    let driver = device.driver(kernel).unwrap_or_else(|| "no driver".to_owned());
    if driver != VFIO_DRIVER {
        return Err(FindError::OtherDriver { address, driver });
    }
    let own = device.vfio_name(kernel).filter(|_| has_iommufd);
    let way = match own {
        Some(name) => Way::Device(name),
        None => match device.group(kernel) {
            Some(group) => Way::Group(group),
            None => return Err(FindError::NoGroup(address)),
        },
    };
    Ok(Found { address, way, node: device.node(kernel) })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use host_board::pci::Sysfs;

    use super::*;

    const ADDRESS: &str = "0000:01:00.0";

    /// A made-up sysfs in which the device has these links.
    fn sysfs(name: &str, links: &[(&str, &str)]) -> (PathBuf, Sysfs) {
        let root = std::env::temp_dir().join(format!("vfio-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let device = root.join("bus/pci/devices").join(ADDRESS);
        fs::create_dir_all(&device).expect("a folder");
        for (link, target) in links {
            let target = root.join(target);
            fs::create_dir_all(&target).expect("a folder");
            symlink(target, device.join(link)).expect("a link");
        }
        let kernel = Sysfs::new(&root);
        (device, kernel)
    }

    fn refused(kernel: &Sysfs, words: &str) -> String {
        find(kernel, words, true).expect_err("it is refused").to_string()
    }

    #[test]
    fn device_is_opened_by_file_or_group() {
        let links = [("driver", "drivers/vfio-pci"), ("iommu_group", "iommu_groups/7")];
        let (device, kernel) = sysfs("good", &links);
        let way = |has_iommufd| find(&kernel, ADDRESS, has_iommufd).expect("a device").way;
        assert_eq!(way(true), Way::Group("7".to_owned()), "it has no file of its own");
        fs::create_dir_all(device.join("vfio-dev/vfio4")).expect("a folder");
        assert_eq!(way(true), Way::Device("vfio4".to_owned()));
        assert_eq!(way(false), Way::Group("7".to_owned()));
        fs::write(device.join("numa_node"), "1\n").expect("a file");
        assert_eq!(find(&kernel, "01:00.0", true).expect("a device").node, Some(1));
    }

    #[test]
    fn obstacle_is_named_with_its_remedy() {
        let (_, kernel) = sysfs("other", &[("driver", "drivers/xdma")]);
        let error = refused(&kernel, ADDRESS);
        assert!(error.contains("bound to xdma") && error.contains("device bind 0000"), "{error}");
        let (_, kernel) = sysfs("none", &[]);
        assert!(refused(&kernel, ADDRESS).contains("no driver"));
        let (_, kernel) = sysfs("alone", &[("driver", "drivers/vfio-pci")]);
        let error = refused(&kernel, ADDRESS);
        assert!(error.contains("intel_iommu=on"), "{error}");
        let error = refused(&kernel, "0000:02:00.0");
        assert!(error.contains("no PCI device 0000:02:00.0"), "{error}");
        for words in ["0000:01:00:0", "0000:01:00.0/..", "../../../0.0", ""] {
            let error = refused(&kernel, words);
            assert!(error.contains("no PCI address"), "{words}: {error}");
        }
    }
}
