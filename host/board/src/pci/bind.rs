//! Gives a device to VFIO, and back.
//!
//! ```text
//!   driver_override ─► unbind ─► drivers_probe ─► vfio-pci has it
//!                         └─ anything fails: the way back ─► what had it before has it again
//! ```
//! Without an override the kernel gives a device to the driver that it has for it: so the way back
//! needs no record, and works after a crash as well.
//!
//! Invariants
//! 1. A call that fails leaves the device with the driver that had it, or says that it could not.
//! 2. A device that the machine uses as its network is not taken.
//!
//! Source: Linux, Documentation/ABI/testing/sysfs-bus-pci.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::device::PciDevice;
use super::kernel::{Address, Kernel};

/// The driver that gives devices to programs.
pub const VFIO_DRIVER: &str = "vfio-pci";

/// Why a device is not bound as it was to be.
#[derive(Debug, Error)]
pub enum BindError {
    /// There is none.
    #[error("there is no PCI device {0}")]
    NoDevice(Address),
    /// The system has no such driver.
    #[error("the system has no driver {VFIO_DRIVER}: `modprobe {VFIO_DRIVER}` as root")]
    NoDriver,
    /// A network interface is in use.
    #[error("{address} is the network interface {interface}, which is up: take it down first")]
    InUse {
        /// The device.
        address: Address,
        /// The interface.
        interface: String,
    },
    /// A file could not be written.
    #[error(
        "{path}: {source}{}",
        if source.kind() == io::ErrorKind::PermissionDenied { ": run as root" } else { "" }
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel has given the device to nobody, or to another driver.
    #[error(
        "the kernel did not give {address} to {VFIO_DRIVER}: {found} has it; the kernel's log \
         (dmesg) says why; without an IOMMU: turn it on (intel_iommu=on on Intel)"
    )]
    NotTaken {
        /// The device.
        address: Address,
        /// Its driver, or `no driver`.
        found: String,
    },
    /// It failed, and so did the way back.
    #[error("{error}; and {address} could not be given back: {back}")]
    NotGivenBack {
        /// Why it failed.
        error: Box<BindError>,
        /// The device.
        address: Address,
        /// Why the way back failed.
        back: Box<BindError>,
    },
}

/// What has become of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The driver before; `None`: it had none.
    pub before: Option<String>,
    /// The driver now.
    pub now: Option<String>,
}

fn write(kernel: &mut impl Kernel, path: PathBuf, text: &str) -> Result<(), BindError> {
    let written = kernel.write(&path, 0, text.as_bytes());
    written.map_err(|source| BindError::File { path, source })
}

fn unbind(kernel: &mut impl Kernel, device: &PciDevice) -> Result<(), BindError> {
    match device.driver(kernel) {
        Some(_) => write(kernel, device.folder.join("driver/unbind"), device.address.name()),
        None => Ok(()),
    }
}

/// Has the kernel look for a driver.
fn probe(kernel: &mut impl Kernel, device: &PciDevice) -> Result<(), BindError> {
    let file = kernel.drivers().with_file_name("drivers_probe");
    write(kernel, file, device.address.name())
}

fn find(kernel: &impl Kernel, address: &Address) -> Result<PciDevice, BindError> {
    PciDevice::at(kernel, address).ok_or_else(|| BindError::NoDevice(address.clone()))
}

/// An interface of the device that is up.
fn interface_up(kernel: &impl Kernel, device: &PciDevice) -> Option<String> {
    let folder = device.folder.join("net");
    let is_up = |name: &String| {
        kernel.text(&folder.join(name).join("operstate")).is_ok_and(|state| state == "up")
    };
    kernel.names(&folder).ok()?.into_iter().find(is_up)
}

/// Gives a device to VFIO. What had it before is found again by [`give_back`].
pub fn bind(kernel: &mut impl Kernel, address: &Address) -> Result<Bound, BindError> {
    let device = find(kernel, address)?;
    let before = device.driver(kernel);
    if before.as_deref() == Some(VFIO_DRIVER) {
        return Ok(Bound { now: before.clone(), before });
    }
    if !kernel.drivers().join(VFIO_DRIVER).exists() {
        return Err(BindError::NoDriver);
    }
    if let Some(interface) = interface_up(kernel, &device) {
        return Err(BindError::InUse { address: address.clone(), interface });
    }
    match take(kernel, &device) {
        Ok(()) => Ok(Bound { before, now: Some(VFIO_DRIVER.to_owned()) }),
        Err(error) => match give_back(kernel, address) {
            Ok(_) => Err(error),
            Err(back) => Err(BindError::NotGivenBack {
                error: Box::new(error),
                address: address.clone(),
                back: Box::new(back),
            }),
        },
    }
}

fn take(kernel: &mut impl Kernel, device: &PciDevice) -> Result<(), BindError> {
    write(kernel, device.folder.join("driver_override"), VFIO_DRIVER)?;
    unbind(kernel, device)?;
    probe(kernel, device)?;
    match device.driver(kernel) {
        Some(driver) if driver == VFIO_DRIVER => Ok(()),
        found => Err(BindError::NotTaken {
            address: device.address.clone(),
            found: found.unwrap_or_else(|| "no driver".to_owned()),
        }),
    }
}

/// Gives a device back to the driver that the kernel has for it; none, if it has none.
pub fn give_back(kernel: &mut impl Kernel, address: &Address) -> Result<Bound, BindError> {
    let device = find(kernel, address)?;
    let before = device.driver(kernel);
    // An empty line takes the override away.
    write(kernel, device.folder.join("driver_override"), "\n")?;
    if before.as_deref() == Some(VFIO_DRIVER) {
        unbind(kernel, &device)?;
    }
    if device.driver(kernel).is_none() {
        // A device for which there is no driver is refused here, and that is right.
        let _ = probe(kernel, &device);
    }
    Ok(Bound { before, now: device.driver(kernel) })
}

#[cfg(test)]
mod tests;
