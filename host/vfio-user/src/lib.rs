//! A PCI device behind a UNIX socket: the protocol of vfio-user.

pub mod codec;
