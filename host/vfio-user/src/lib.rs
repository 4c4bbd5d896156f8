//! A PCI device behind a UNIX socket: the protocol of vfio-user, a server and a client.
//!
//! ```text
//!   driver ──► Client ◄──── socket: messages, descriptors ────► Server ──► Device
//!                │                                                 │          │
//!                ├── pages of a region, mapped by both ────────────┼──────────┤
//!                ├── memory for DMA, mapped by both ───────────────┤ Session ◄┘
//!                └── event descriptors: interrupts ────────────────┘
//! ```
//! | file or folder | what |
//! |---|---|
//! | `codec/` | messages, taken apart and put together, without I/O |
//! | `channel.rs` | whole messages over a stream, with their descriptors |
//! | `description.rs`, `device.rs` | what is served: how it looks, what it does |
//! | `server/`, `session.rs` | the server; the client that has the device |
//! | `maps.rs`, `interrupts.rs` | its memory; its interrupts |
//! | `client/` | the client |
//! | `pci/` | the configuration space of an endpoint |
//! | `mapping.rs`, `shared_file.rs` | pages of files, the one unsafe file; files to share |
//!
//! Not here yet: a second socket for what the server asks (twin sockets), descriptors that stand
//! for writes (the answer is an empty list), migration and the log of written pages.
//!
//! Source: vfio-user protocol specification 0.1 (QEMU, `docs/interop/vfio-user.rst`).
#![deny(unsafe_code)]

pub mod channel;
pub mod client;
pub mod codec;
pub mod description;
pub mod device;
mod interrupts;
mod mapping;
mod maps;
pub mod pci;
pub mod server;
pub mod session;
mod shared_file;

pub use rustix::io::Errno;

pub use self::client::{Client, ClientError, Event};
pub use self::description::{Description, Region, SharedPages};
pub use self::device::Device;
pub use self::mapping::Mapping;
pub use self::maps::RangeBytes;
pub use self::server::{Served, Server, ServerError};
pub use self::session::Session;
pub use self::shared_file::SharedFile;
