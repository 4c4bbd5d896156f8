//! What a device reaches, by iommufd: an address space that devices are attached to.
//!
//! Source: Linux, `include/uapi/linux/iommufd.h` and `vfio.h`, `Documentation/userspace-api/
//! iommufd.rst`. The kernel takes a structure that is as short as it was in the first release, by
//! its length.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::ioctls::{call, length, with};

/// `_IO(';', number)`.
const fn iommufd_call(number: libc::Ioctl) -> libc::Ioctl {
    (b';' as libc::Ioctl) << 8 | number
}

const IOAS_ALLOC: libc::Ioctl = iommufd_call(0x81);
const IOAS_MAP: libc::Ioctl = iommufd_call(0x85);
const IOAS_UNMAP: libc::Ioctl = iommufd_call(0x86);
const BIND_IOMMUFD: libc::Ioctl = call(18);
const ATTACH_IOMMUFD: libc::Ioctl = call(19);

/// The address is the caller's choice; both ways.
const MAP_FLAGS: u32 = 1 | 2 | 4;

#[repr(C)]
#[derive(Default)]
struct Bind {
    argsz: u32,
    flags: u32,
    iommufd: i32,
    out_device: u32,
}

#[repr(C)]
#[derive(Default)]
struct Attach {
    argsz: u32,
    flags: u32,
    table: u32,
}

#[repr(C)]
#[derive(Default)]
struct Alloc {
    size: u32,
    flags: u32,
    out_space: u32,
}

#[repr(C)]
#[derive(Default)]
struct Map {
    size: u32,
    flags: u32,
    space: u32,
    reserved: u32,
    address: u64,
    bytes: u64,
    bus_address: u64,
}

#[repr(C)]
#[derive(Default)]
struct Unmap {
    size: u32,
    space: u32,
    bus_address: u64,
    bytes: u64,
}

/// An address space.
#[derive(Debug)]
pub struct AddressSpace {
    iommu: OwnedFd,
    number: u32,
}

impl AddressSpace {
    /// A new one, for a device of VFIO that nothing has been done with.
    pub fn new(iommu: OwnedFd, device: BorrowedFd<'_>) -> io::Result<Self> {
        let iommufd = iommu.as_raw_fd();
        let mut bind = Bind { argsz: length::<Bind>(), iommufd, ..Bind::default() };
        with(device, BIND_IOMMUFD, &mut bind)?;
        let mut alloc = Alloc { size: length::<Alloc>(), ..Alloc::default() };
        with(iommu.as_fd(), IOAS_ALLOC, &mut alloc)?;
        let table = alloc.out_space;
        let mut attach = Attach { argsz: length::<Attach>(), flags: 0, table };
        with(device, ATTACH_IOMMUFD, &mut attach)?;
        Ok(Self { iommu, number: table })
    }

    /// Lets the device reach memory of this process, as `ioctls::map` does.
    pub fn map(&self, address: usize, bus_address: u64, bytes: u64) -> io::Result<()> {
        let mut map = Map {
            size: length::<Map>(),
            flags: MAP_FLAGS,
            space: self.number,
            reserved: 0,
            address: address as u64,
            bytes,
            bus_address,
        };
        with(self.iommu.as_fd(), IOAS_MAP, &mut map).map(drop)
    }

    /// Takes it from it; how many bytes it had.
    pub fn unmap(&self, bus_address: u64, bytes: u64) -> io::Result<u64> {
        let size = length::<Unmap>();
        let mut unmap = Unmap { size, space: self.number, bus_address, bytes };
        with(self.iommu.as_fd(), IOAS_UNMAP, &mut unmap)?;
        Ok(unmap.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// Lengths and numbers of the headers of Linux.
    #[test]
    fn structures_and_numbers_match_the_kernel() {
        assert_eq!((length::<Bind>(), length::<Attach>()), (16, 12));
        assert_eq!((length::<Alloc>(), length::<Map>(), length::<Unmap>()), (12, 40, 24));
        assert_eq!((IOAS_ALLOC, IOAS_MAP, IOAS_UNMAP), (0x3b81, 0x3b85, 0x3b86));
        assert_eq!((BIND_IOMMUFD, ATTACH_IOMMUFD), (0x3b76, 0x3b77));
    }

    #[test]
    fn what_is_no_device_is_refused() {
        let null = || File::open("/dev/null").expect("it is there");
        let refused = AddressSpace::new(null().into(), null().as_fd());
        assert!(refused.is_err());
        let space = AddressSpace { iommu: null().into(), number: 1 };
        assert!(space.map(0x1000, 0, 0x1000).is_err() && space.unmap(0, 0x1000).is_err());
    }
}
