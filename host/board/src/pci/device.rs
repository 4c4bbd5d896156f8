//! A device of the system, and what sysfs says of it.
//!
//! ```text
//!   ROOT/bus/pci/devices/ADDRESS ─► ids, driver, IOMMU group, node, speed and width of the link,
//!                                   errors that AER has counted
//! ```
//! What sysfs does not say is `None`: old kernels, virtual machines and odd bridges leave much out.

use std::io;
use std::path::{Path, PathBuf};

use super::kernel::{Address, Kernel};

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PciDevice {
    /// Where it is.
    pub address: Address,
    /// Its files.
    pub folder: PathBuf,
}

/// Speed and width of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRate {
    /// Gigatransfers a second.
    pub gt_per_s: f64,
    /// Lanes.
    pub lanes: u32,
}

/// Errors that AER has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AerCounts {
    /// The link has repaired them.
    pub correctable: u64,
    /// A request is lost.
    pub nonfatal: u64,
    /// The link is lost.
    pub fatal: u64,
}

fn last_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

impl PciDevice {
    /// The device at an address, if it is there.
    pub fn at(kernel: &impl Kernel, address: &Address) -> Option<Self> {
        let folder = kernel.devices().join(address.name());
        folder.exists().then(|| Self { address: address.clone(), folder })
    }

    /// All devices of a vendor and a device id. One that has just left the bus, or that nobody may
    /// look at, is not among them.
    pub fn with_ids(kernel: &impl Kernel, ids: (u16, u16)) -> io::Result<Vec<Self>> {
        let folder = kernel.devices();
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let names = kernel.names(&folder)?;
        let devices = names.iter().filter_map(|name| Self::at(kernel, &name.parse().ok()?));
        Ok(devices.filter(|device| device.ids(kernel).is_ok_and(|found| found == ids)).collect())
    }

    /// Vendor and device id, of its configuration space.
    pub fn ids(&self, kernel: &impl Kernel) -> io::Result<(u16, u16)> {
        let mut bytes = [0; 4];
        kernel.read(&self.folder.join("config"), 0, &mut bytes)?;
        let [vendor, device] = [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        Ok((vendor, device))
    }

    /// Its driver.
    pub fn driver(&self, kernel: &impl Kernel) -> Option<String> {
        last_name(&kernel.resolve(&self.folder.join("driver")).ok()?)
    }

    /// Its IOMMU group, by number.
    pub fn group(&self, kernel: &impl Kernel) -> Option<String> {
        last_name(&kernel.resolve(&self.folder.join("iommu_group")).ok()?)
    }

    /// How the IOMMU treats the group while a driver of the kernel has it: `DMA`, `identity`, ...
    pub fn group_kind(&self, kernel: &impl Kernel) -> Option<String> {
        kernel.text(&self.folder.join("iommu_group/type")).ok()
    }

    /// The other devices of its IOMMU group, bridges among them.
    pub fn neighbours(&self, kernel: &impl Kernel) -> Vec<Self> {
        let names = kernel.names(&self.folder.join("iommu_group/devices")).unwrap_or_default();
        let devices = names.iter().filter_map(|name| Self::at(kernel, &name.parse().ok()?));
        devices.filter(|device| device.address != self.address).collect()
    }

    /// The node whose memory is near.
    pub fn node(&self, kernel: &impl Kernel) -> Option<u32> {
        // -1: the firmware does not say, or there is one.
        kernel.text(&self.folder.join("numa_node")).ok()?.parse().ok()
    }

    /// The cores that are near, as a list of the kernel: `0-7,16-23`.
    pub fn near_cores(&self, kernel: &impl Kernel) -> Option<String> {
        kernel.text(&self.folder.join("local_cpulist")).ok().filter(|list| !list.is_empty())
    }

    /// The bridge above.
    pub fn bridge(&self, kernel: &impl Kernel) -> Option<Self> {
        let path = kernel.resolve(&self.folder).ok()?;
        let address: Address = last_name(path.parent()?)?.parse().ok()?;
        Self::at(kernel, &address)
    }

    fn rate(&self, kernel: &impl Kernel, which: &str) -> Option<LinkRate> {
        let text = |what: &str| kernel.text(&self.folder.join(format!("{which}_link_{what}"))).ok();
        // "8.0 GT/s PCIe"
        let gt_per_s = text("speed")?.split_whitespace().next()?.parse().ok()?;
        let lanes = text("width")?.parse().ok()?;
        (lanes > 0).then_some(LinkRate { gt_per_s, lanes })
    }

    /// Its link.
    pub fn link(&self, kernel: &impl Kernel) -> Option<LinkRate> {
        self.rate(kernel, "current")
    }

    /// The best that it can.
    pub fn best_link(&self, kernel: &impl Kernel) -> Option<LinkRate> {
        self.rate(kernel, "max")
    }

    /// What AER has counted; `None`: the kernel, the slot or the device has no AER.
    pub fn aer(&self, kernel: &impl Kernel) -> Option<AerCounts> {
        let count = |file: &str| -> Option<u64> {
            let text = kernel.text(&self.folder.join(file)).ok()?;
            let total = text.lines().find_map(|line| line.strip_prefix("TOTAL_ERR_"))?;
            total.split_whitespace().nth(1)?.parse().ok()
        };
        Some(AerCounts {
            correctable: count("aer_dev_correctable")?,
            nonfatal: count("aer_dev_nonfatal")?,
            fatal: count("aer_dev_fatal")?,
        })
    }

    /// The character device of VFIO without groups, below `/dev/vfio/devices`.
    pub fn vfio_name(&self, kernel: &impl Kernel) -> Option<String> {
        kernel.names(&self.folder.join("vfio-dev")).ok()?.into_iter().next()
    }
}
