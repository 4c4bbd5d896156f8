//! A device by its address: whether VFIO has it, and in which group.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The driver that gives devices to programs.
const DRIVER: &str = "vfio-pci";

/// Why there is no group to open.
#[derive(Debug, Error)]
pub enum FindError {
    /// The words are no address.
    #[error("`{0}` is no address of a PCI device: it looks as 0000:01:00.0")]
    NoAddress(String),
    /// No such device.
    #[error("there is no PCI device {0}; `lspci -D -d {1}` lists the cards of this kind")]
    NoDevice(String, String),
    /// The device belongs to no group.
    #[error(
        "{0} is in no IOMMU group: turn the IOMMU on (firmware: VT-d or AMD-Vi; kernel: \
         intel_iommu=on on Intel)"
    )]
    NoGroup(String),
    /// VFIO does not have it.
    #[error(
        "{address} is bound to {driver}: as root, `modprobe vfio-pci; echo vfio-pci > \
         /sys/bus/pci/devices/{address}/driver_override; {unbind}echo {address} > \
         /sys/bus/pci/drivers_probe`"
    )]
    OtherDriver {
        /// The device.
        address: String,
        /// Its driver, or `no driver`.
        driver: String,
        /// What takes it from that driver; empty without one.
        unbind: String,
    },
}

/// The group of a device that `vfio-pci` has, by its number.
pub fn group(sysfs: &Path, address: &str) -> Result<String, FindError> {
    if !is_address(address) {
        return Err(FindError::NoAddress(address.to_owned()));
    }
    let device = sysfs.join("bus/pci/devices").join(address);
    if !device.exists() {
        let (vendor, id) = (abi::pci_ids::VENDOR_ID, abi::pci_ids::DEVICE_ID);
        return Err(FindError::NoDevice(address.to_owned(), format!("{vendor:04x}:{id:04x}")));
    }
    let driver = name_of(&device.join("driver"));
    if driver.as_deref().ok() != Some(DRIVER) {
        let unbind = match &driver {
            Ok(_) => format!("echo {address} > /sys/bus/pci/devices/{address}/driver/unbind; "),
            Err(_) => String::new(),
        };
        let driver = driver.unwrap_or_else(|_| "no driver".to_owned());
        return Err(FindError::OtherDriver { address: address.to_owned(), driver, unbind });
    }
    name_of(&device.join("iommu_group")).map_err(|_| FindError::NoGroup(address.to_owned()))
}

/// The last part of what a link leads to.
fn name_of(link: &Path) -> io::Result<String> {
    let target: PathBuf = fs::read_link(link)?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// Whether these are the words of an address: domain, bus, device, function.
fn is_address(words: &str) -> bool {
    let parts: Vec<&str> = words.split([':', '.']).collect();
    let digits = [4, 2, 2, 1];
    let is_hex = |(part, count): (&&str, usize)| {
        part.len() == count && part.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    parts.len() == digits.len()
        && parts.iter().zip(digits).all(is_hex)
        && words.as_bytes().get(10) == Some(&b'.')
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const ADDRESS: &str = "0000:01:00.0";

    /// A made-up sysfs in which the device has these links.
    fn sysfs(name: &str, links: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("vfio-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let device = root.join("bus/pci/devices").join(ADDRESS);
        fs::create_dir_all(&device).expect("a folder");
        for (link, target) in links {
            symlink(target, device.join(link)).expect("a link");
        }
        root
    }

    #[test]
    fn vfio_device_has_a_group() {
        let links = [("driver", "../drivers/vfio-pci"), ("iommu_group", "../iommu_groups/7")];
        assert_eq!(group(&sysfs("good", &links), ADDRESS).expect("a group"), "7");
    }

    #[test]
    fn obstacle_is_named_with_its_remedy() {
        let root = sysfs("other", &[("driver", "../drivers/xdma")]);
        let error = group(&root, ADDRESS).expect_err("another driver").to_string();
        assert!(error.contains("bound to xdma") && error.contains("driver/unbind"), "{error}");
        let error = group(&sysfs("none", &[]), ADDRESS).expect_err("no driver").to_string();
        assert!(error.contains("no driver") && !error.contains("unbind"), "{error}");
        let root = sysfs("alone", &[("driver", "../drivers/vfio-pci")]);
        let error = group(&root, ADDRESS).expect_err("no group").to_string();
        assert!(error.contains("intel_iommu=on"), "{error}");
        let error = group(&root, "0000:02:00.0").expect_err("no device").to_string();
        assert!(error.contains("no PCI device 0000:02:00.0"), "{error}");
        for words in ["01:00.0", "0000:01:00:0", "0000:01:00.0/..", "../../../0.0", ""] {
            let error = group(&root, words).expect_err("no address").to_string();
            assert!(error.contains("no address"), "{words}: {error}");
        }
    }
}
