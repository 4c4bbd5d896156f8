//! A device that VFIO gives to this process: opened, and closed with it.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::find::{group, FindError};
use super::ioctls::{self, Region, API_VERSION, TYPE_1_V2};

/// Regions of a PCI device, as VFIO counts them.
pub const REGION_BAR_0: u32 = 0;
const REGION_CONFIG: u32 = 7;
/// Interrupts of a PCI device, as VFIO counts them.
const INTERRUPT_MSIX: u32 = 2;

const CONTAINER: &str = "/dev/vfio/vfio";

/// Why a device cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It is not there, or not VFIO's.
    #[error(transparent)]
    Find(#[from] FindError),
    /// A file of VFIO cannot be opened.
    #[error(
        "{path}: {source}{}", match source.kind() {
            io::ErrorKind::NotFound => ": `modprobe vfio-pci` as root makes it",
            io::ErrorKind::PermissionDenied =>
                ": run as root, or give yourself the group's file (chown)",
            io::ErrorKind::ResourceBusy => ": another program has this group",
            _ => "",
        }
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// VFIO of another kind.
    #[error("VFIO talks version {0} here, and not {API_VERSION}, or has no type 1 IOMMU")]
    Kind(i32),
    /// A neighbour in the group has a driver of the kernel.
    #[error(
        "group {0}: a driver of the kernel still has another device of it; give all devices in \
         /sys/kernel/iommu_groups/{0}/devices to vfio-pci, or none"
    )]
    Shared(String),
    /// A call failed.
    #[error("{what} of {address}: {source}")]
    Call {
        /// What was to be done.
        what: &'static str,
        /// The device.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A device, its group and its container. Fields are dropped in this order: the kernel wants it.
#[derive(Debug)]
pub struct VfioDevice {
    device: File,
    config: Region,
    _group: OwnedFd,
    container: OwnedFd,
}

impl VfioDevice {
    /// Opens the device at an address, such as `0000:01:00.0`.
    pub fn open(address: &str) -> Result<Self, OpenError> {
        let number = group(Path::new("/sys"), address)?;
        let container = opened(PathBuf::from(CONTAINER))?;
        let group = opened(Path::new("/dev/vfio").join(&number))?;
        let failed = |what| {
            let address = address.to_owned();
            move |source| OpenError::Call { what, address, source }
        };
        let version = ioctls::api_version(container.as_fd()).map_err(failed("the version"))?;
        let has_type_1 = ioctls::has_iommu(container.as_fd(), TYPE_1_V2);
        if version != API_VERSION || !has_type_1.map_err(failed("the IOMMU"))? {
            return Err(OpenError::Kind(version));
        }
        if !ioctls::is_viable(group.as_fd()).map_err(failed("the group"))? {
            return Err(OpenError::Shared(number));
        }
        ioctls::set_container(group.as_fd(), container.as_fd()).map_err(failed("the container"))?;
        ioctls::set_iommu(container.as_fd(), TYPE_1_V2).map_err(failed("the IOMMU"))?;
        // An address has no zero inside.
        let name = CString::new(address).unwrap_or_default();
        let device = ioctls::device(group.as_fd(), &name).map_err(failed("the device"))?;
        let config = ioctls::region(device.as_fd(), REGION_CONFIG);
        let config = config.map_err(failed("the configuration space"))?;
        Ok(Self { device: File::from(device), config, _group: group, container })
    }

    /// Reads the configuration space.
    pub fn read_config(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.device.read_exact_at(into, self.config.offset + offset)
    }

    /// Writes the configuration space.
    pub fn write_config(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.device.write_all_at(from, self.config.offset + offset)
    }

    /// A region.
    pub fn region(&self, index: u32) -> io::Result<Region> {
        ioctls::region(self.device.as_fd(), index)
    }

    /// How many vectors it has (MSI-X).
    pub fn vectors(&self) -> io::Result<u32> {
        ioctls::interrupts(self.device.as_fd(), INTERRUPT_MSIX)
    }

    /// Attaches an event to each vector, from the first on: all at once, since the kernel enables
    /// as many as are attached first.
    pub fn attach(&self, events: &[BorrowedFd<'_>]) -> io::Result<()> {
        ioctls::attach(self.device.as_fd(), INTERRUPT_MSIX, events)
    }

    /// Resets it.
    pub fn reset(&self) -> io::Result<()> {
        ioctls::reset(self.device.as_fd())
    }

    /// Lets it reach memory of this process, which stays mapped until [`VfioDevice::unmap`].
    pub fn map(&self, address: usize, bus_address: u64, bytes: u64) -> io::Result<()> {
        ioctls::map(self.container.as_fd(), address, bus_address, bytes)
    }

    /// Takes it from it.
    pub fn unmap(&self, bus_address: u64, bytes: u64) -> io::Result<()> {
        match ioctls::unmap(self.container.as_fd(), bus_address, bytes)? {
            unmapped if unmapped == bytes => Ok(()),
            unmapped => Err(io::Error::other(format!("{unmapped} of {bytes} bytes were mapped"))),
        }
    }
}

impl AsFd for VfioDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn opened(path: PathBuf) -> Result<OwnedFd, OpenError> {
    match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => Ok(file.into()),
        Err(source) => Err(OpenError::File { path, source }),
    }
}
