//! The kernel's VFIO: a group, its container, and the device in it.
//!
//! ```text
//!   0000:01:00.0 ─ sysfs ─► group 7 ─► /dev/vfio/7 ──┐
//!                              /dev/vfio/vfio ───────┴─► container: DMA ─► device: BAR, interrupts
//! ```
//! One device opens one group, and a process that has a group has all devices in it: the kernel
//! refuses a group in which a driver of its own still has one.
//!
//! Source: Linux, `include/uapi/linux/vfio.h` and `Documentation/driver-api/vfio.rst`.

mod find;
mod ioctls;
mod open;

pub use self::open::{OpenError, VfioDevice, REGION_BAR_0};
