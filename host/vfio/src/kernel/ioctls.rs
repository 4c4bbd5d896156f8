//! The calls of VFIO: with `pages.rs` the files of this crate with unsafe code.
//!
//! Each structure is that of `include/uapi/linux/vfio.h`, begins with its own length (`argsz`), and
//! holds what the kernel reads and writes in the call and not a moment longer.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// `_IO(VFIO_TYPE, VFIO_BASE + number)`.
pub(super) const fn call(number: libc::Ioctl) -> libc::Ioctl {
    (b';' as libc::Ioctl) << 8 | (100 + number)
}

const GET_API_VERSION: libc::Ioctl = call(0);
const CHECK_EXTENSION: libc::Ioctl = call(1);
const SET_IOMMU: libc::Ioctl = call(2);
const GROUP_GET_STATUS: libc::Ioctl = call(3);
const GROUP_SET_CONTAINER: libc::Ioctl = call(4);
const GROUP_GET_DEVICE: libc::Ioctl = call(6);
const DEVICE_GET_REGION_INFO: libc::Ioctl = call(8);
const DEVICE_GET_IRQ_INFO: libc::Ioctl = call(9);
const DEVICE_SET_IRQS: libc::Ioctl = call(10);
const DEVICE_RESET: libc::Ioctl = call(11);
const MAP_DMA: libc::Ioctl = call(13);
const UNMAP_DMA: libc::Ioctl = call(14);

/// The version of the interface.
pub const API_VERSION: i32 = 0;
/// The IOMMU that maps by address of the process.
pub const TYPE_1_V2: libc::c_ulong = 3;
/// A group that may be opened: no driver of the kernel has a device of it.
const GROUP_VIABLE: u32 = 1;
const MAP_READ_WRITE: u32 = 1 | 2;
/// What a number of events are attached to: `VFIO_IRQ_SET_DATA_EVENTFD`, `_ACTION_TRIGGER`.
const EVENTS_TRIGGER: u32 = 1 << 2 | 1 << 5;
const IRQ_HEADER_BYTES: usize = 20;

#[repr(C)]
#[derive(Default)]
struct GroupStatus {
    argsz: u32,
    flags: u32,
}

/// Where a region of a device lies in its file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Region {
    argsz: u32,
    flags: u32,
    index: u32,
    capability: u32,
    /// Length, bytes.
    pub bytes: u64,
    /// Offset in the device's file.
    pub offset: u64,
}

impl Region {
    /// Whether it may be mapped.
    pub fn is_mappable(&self) -> bool {
        self.flags & 1 << 2 != 0
    }
}

#[repr(C)]
#[derive(Default)]
struct Interrupts {
    argsz: u32,
    flags: u32,
    index: u32,
    count: u32,
}

#[repr(C)]
struct Map {
    argsz: u32,
    flags: u32,
    address: u64,
    bus_address: u64,
    bytes: u64,
}

#[repr(C)]
struct Unmap {
    argsz: u32,
    flags: u32,
    bus_address: u64,
    bytes: u64,
}

pub(super) const fn length<T>() -> u32 {
    size_of::<T>() as u32
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Makes a call with a number, or with none.
fn with_number(fd: BorrowedFd<'_>, call: libc::Ioctl, number: libc::c_ulong) -> io::Result<i32> {
    // SAFETY: the calls that this is used for take a number, and touch no memory of the process.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), call, number) })
}

/// Makes a call with a structure, whose first word is its length: whoever calls gives the one that
/// the call takes.
pub(super) fn with<T>(fd: BorrowedFd<'_>, call: libc::Ioctl, structure: &mut T) -> io::Result<i32> {
    // SAFETY: each caller, all in this module's folder, gives the structure that its call takes,
    // whose first word is its length, or the number that `GROUP_SET_CONTAINER` reads: the kernel
    // reads and writes nothing behind it, and nothing that it points to but memory that is mapped.
    // It is borrowed until the call returns.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), call, std::ptr::from_mut(structure)) })
}

/// The version of VFIO that a container talks.
pub fn api_version(container: BorrowedFd<'_>) -> io::Result<i32> {
    with_number(container, GET_API_VERSION, 0)
}

/// Whether a container may have this kind of IOMMU.
pub fn has_iommu(container: BorrowedFd<'_>, kind: libc::c_ulong) -> io::Result<bool> {
    Ok(with_number(container, CHECK_EXTENSION, kind)? > 0)
}

/// Gives a container its IOMMU.
pub fn set_iommu(container: BorrowedFd<'_>, kind: libc::c_ulong) -> io::Result<()> {
    with_number(container, SET_IOMMU, kind).map(drop)
}

/// Whether no driver of the kernel has a device of the group.
pub fn is_viable(group: BorrowedFd<'_>) -> io::Result<bool> {
    let mut status = GroupStatus { argsz: length::<GroupStatus>(), ..GroupStatus::default() };
    with(group, GROUP_GET_STATUS, &mut status)?;
    Ok(status.flags & GROUP_VIABLE != 0)
}

/// Puts a group into a container.
pub fn set_container(group: BorrowedFd<'_>, container: BorrowedFd<'_>) -> io::Result<()> {
    let mut number: RawFd = container.as_raw_fd();
    with(group, GROUP_SET_CONTAINER, &mut number).map(drop)
}

/// Opens a device of a group by its name.
pub fn device(group: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads a string that ends with zero, and is borrowed until it returns.
    let number =
        checked(unsafe { libc::ioctl(group.as_raw_fd(), GROUP_GET_DEVICE, name.as_ptr()) })?;
    // SAFETY: the call has made this descriptor for its caller alone.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Where a region lies.
pub fn region(device: BorrowedFd<'_>, index: u32) -> io::Result<Region> {
    let mut region = Region { argsz: length::<Region>(), index, ..Region::default() };
    with(device, DEVICE_GET_REGION_INFO, &mut region)?;
    Ok(region)
}

/// How many interrupts of a kind a device has.
pub fn interrupts(device: BorrowedFd<'_>, index: u32) -> io::Result<u32> {
    let mut found = Interrupts { argsz: length::<Interrupts>(), index, ..Interrupts::default() };
    with(device, DEVICE_GET_IRQ_INFO, &mut found)?;
    Ok(found.count)
}

/// Attaches an event to each interrupt of a kind, from the first on.
pub fn attach(device: BorrowedFd<'_>, index: u32, events: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = IRQ_HEADER_BYTES + 4 * events.len();
    let head = [bytes as u32, EVENTS_TRIGGER, index, 0, events.len() as u32];
    let numbers = events.iter().map(|event| event.as_raw_fd() as u32);
    let mut words: Vec<u32> = head.into_iter().chain(numbers).collect();
    // SAFETY: the structure is `vfio_irq_set`, as long as its first word says: five words and a
    // descriptor for each of as many events as the fifth says.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), DEVICE_SET_IRQS, words.as_mut_ptr()) })
        .map(drop)
}

/// Resets a device: a function level reset where it has one.
pub fn reset(device: BorrowedFd<'_>) -> io::Result<()> {
    with_number(device, DEVICE_RESET, 0).map(drop)
}

/// Lets devices of a container reach memory of this process. Whoever calls keeps it mapped, and
/// lends its bytes to nobody, until [`unmap`].
pub fn map(
    container: BorrowedFd<'_>,
    address: usize,
    bus_address: u64,
    bytes: u64,
) -> io::Result<()> {
    let (argsz, flags, address) = (length::<Map>(), MAP_READ_WRITE, address as u64);
    with(container, MAP_DMA, &mut Map { argsz, flags, address, bus_address, bytes }).map(drop)
}

/// Takes it from them; how many bytes they had.
pub fn unmap(container: BorrowedFd<'_>, bus_address: u64, bytes: u64) -> io::Result<u64> {
    let mut unmap = Unmap { argsz: length::<Unmap>(), flags: 0, bus_address, bytes };
    with(container, UNMAP_DMA, &mut unmap)?;
    Ok(unmap.bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    /// Lengths and numbers of the header of Linux.
    #[test]
    fn structures_and_numbers_match_the_kernel() {
        assert_eq!(length::<GroupStatus>(), 8);
        assert_eq!(length::<Region>(), 32);
        assert_eq!(length::<Interrupts>(), 16);
        assert_eq!(length::<Map>(), 32);
        assert_eq!(length::<Unmap>(), 24);
        assert_eq!((GET_API_VERSION, UNMAP_DMA), (0x3b64, 0x3b72));
    }

    #[test]
    fn non_vfio_is_an_error() {
        let null = File::open("/dev/null").expect("it is there");
        assert!(api_version(null.as_fd()).is_err());
        assert!(region(null.as_fd(), 0).is_err());
        assert!(attach(null.as_fd(), 2, &[null.as_fd()]).is_err());
        assert!(map(null.as_fd(), 0x1000, 0, 0x1000).is_err());
    }
}
