//! The card as a device of another process: a [`host::driver::bus::Bus`] over vfio-user.
//!
//! ```text
//!   Provider ─ Device ─ SocketBus ─► vfio_user::Client ─ socket ─► whoever serves the card
//!                          └── sealed files: rings, slow buffers, application memory ──► its DMA
//! ```
//! Not here yet: the kernel's own VFIO (group and container, iommufd), mapped doorbell pages.
#![forbid(unsafe_code)]

mod socket_bus;
mod vectors;

pub use self::socket_bus::{OpenError, SocketBus};
