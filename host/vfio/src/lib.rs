//! The bus to a card that is not in this process: a [`host::driver::bus::Bus`] over vfio-user, to a
//! card that another process serves, and over the kernel's VFIO, to one in a slot.
//!
//! ```text
//!   Provider ─ Device ─ SocketBus ─► vfio_user::Client ─ socket ─► whoever serves the card
//!                          └── sealed files: rings, slow buffers, application memory ──► its DMA
//!                   or KernelBus ─► /dev/vfio ─► the card in its slot
//! ```
#![deny(unsafe_code)]

mod card;
mod card_bus;
mod kernel;
mod kernel_bus;
mod socket_bus;
mod vectors;

pub use self::card_bus::CardBus;
pub use self::kernel::{card_pages, LARGE_PAGE_BYTES};
pub use self::kernel_bus::{KernelBus, KernelOpenError};
pub use self::socket_bus::{OpenError, SocketBus};
