//! A device that VFIO gives to this process: opened, and closed with it.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use host_board::pci::Sysfs;
use host_board::resource::SYSFS;
use thiserror::Error;

use super::find::{find, FindError, Way};
use super::ioctls::{self, Region, API_VERSION, TYPE_1_V2};
use super::iommufd::AddressSpace;

/// Regions of a PCI device, as VFIO counts them.
pub const REGION_BAR_0: u32 = 0;
const REGION_CONFIG: u32 = 7;
/// Interrupts of a PCI device, as VFIO counts them.
const INTERRUPT_MSIX: u32 = 2;

const CONTAINER: &str = "/dev/vfio/vfio";
const IOMMUFD: &str = "/dev/iommu";

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

/// What makes memory reachable.
#[derive(Debug)]
enum Reach {
    /// A container with the device's group. Fields are dropped in this order: the kernel wants it.
    Container { _group: OwnedFd, container: OwnedFd },
    /// An address space of iommufd.
    Space(AddressSpace),
}

/// A device, and what it reaches. The device is dropped first: the kernel wants it.
#[derive(Debug)]
pub struct VfioDevice {
    device: File,
    config: Region,
    reach: Reach,
    node: Option<u32>,
}

impl VfioDevice {
    /// Opens the device at an address, such as `0000:01:00.0`.
    pub fn open(address: &str) -> Result<Self, OpenError> {
        let has_iommufd = Path::new(IOMMUFD).exists();
        let found = find(&Sysfs::new(SYSFS.as_ref()), address, has_iommufd)?;
        let address = found.address.name();
        let (device, reach) = match &found.way {
            Way::Group(group) => by_group(address, group)?,
            Way::Device(name) => by_device(address, name)?,
        };
        let config = ioctls::region(device.as_fd(), REGION_CONFIG);
        let config = config.map_err(failed("the configuration space", address))?;
        Ok(Self { device: File::from(device), config, reach, node: found.node })
    }

    /// The node whose memory is near.
    pub fn node(&self) -> Option<u32> {
        self.node
    }

    /// How it was opened, in a word.
    pub fn way(&self) -> &'static str {
        match self.reach {
            Reach::Container { .. } => "group and container",
            Reach::Space(_) => "device file and iommufd",
        }
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
        match &self.reach {
            Reach::Container { container, .. } => {
                ioctls::map(container.as_fd(), address, bus_address, bytes)
            }
            Reach::Space(space) => space.map(address, bus_address, bytes),
        }
    }

    /// Takes it from it.
    pub fn unmap(&self, bus_address: u64, bytes: u64) -> io::Result<()> {
        let unmapped = match &self.reach {
            Reach::Container { container, .. } => {
                ioctls::unmap(container.as_fd(), bus_address, bytes)
            }
            Reach::Space(space) => space.unmap(bus_address, bytes),
        };
        match unmapped? {
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

fn failed(what: &'static str, address: &str) -> impl FnOnce(io::Error) -> OpenError {
    let address = address.to_owned();
    move |source| OpenError::Call { what, address, source }
}

/// Opens a device by its group.
fn by_group(address: &str, number: &str) -> Result<(OwnedFd, Reach), OpenError> {
    let failed = |what| failed(what, address);
    let container = opened(PathBuf::from(CONTAINER))?;
    let group = opened(Path::new("/dev/vfio").join(number))?;
    let version = ioctls::api_version(container.as_fd()).map_err(failed("the version"))?;
    let has_type_1 = ioctls::has_iommu(container.as_fd(), TYPE_1_V2);
    if version != API_VERSION || !has_type_1.map_err(failed("the IOMMU"))? {
        return Err(OpenError::Kind(version));
    }
    if !ioctls::is_viable(group.as_fd()).map_err(failed("the group"))? {
        return Err(OpenError::Shared(number.to_owned()));
    }
    ioctls::set_container(group.as_fd(), container.as_fd()).map_err(failed("the container"))?;
    ioctls::set_iommu(container.as_fd(), TYPE_1_V2).map_err(failed("the IOMMU"))?;
    // An address has no zero inside.
    let name = CString::new(address).unwrap_or_default();
    let device = ioctls::device(group.as_fd(), &name).map_err(failed("the device"))?;
    Ok((device, Reach::Container { _group: group, container }))
}

/// Opens a device by its own file.
fn by_device(address: &str, name: &str) -> Result<(OwnedFd, Reach), OpenError> {
    let iommu = opened(PathBuf::from(IOMMUFD))?;
    let device = opened(Path::new("/dev/vfio/devices").join(name))?;
    let space = AddressSpace::new(iommu, device.as_fd());
    let space = space.map_err(failed("the address space", address))?;
    Ok((device, Reach::Space(space)))
}

fn opened(path: PathBuf) -> Result<OwnedFd, OpenError> {
    match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => Ok(file.into()),
        Err(source) => Err(OpenError::File { path, source }),
    }
}
