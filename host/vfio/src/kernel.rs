//! The kernel's VFIO: a device, by its group and a container, or by a file of its own.
//!
//! ```text
//!   0000:01:00.0 ─ sysfs ─► group 7 ─► /dev/vfio/7 ──┐
//!                              /dev/vfio/vfio ───────┴─► container: DMA ─► device: BAR, interrupts
//!                     └► vfio0 ─► /dev/vfio/devices/vfio0 ─┬─► address space: DMA ─► device
//!                                 /dev/iommu ──────────────┘
//! ```
//! One device opens one group, and a process that has a group has all devices in it: the kernel
//! refuses a group in which a driver of its own still has one.
//!
//! Source: Linux, `include/uapi/linux/vfio.h` and `Documentation/driver-api/vfio.rst`.

mod find;
mod ioctls;
mod iommufd;
mod open;
mod pages;

pub use self::open::{OpenError, VfioDevice, REGION_BAR_0};
pub use self::pages::{card_pages, prefer_node, LARGE_PAGE_BYTES};
