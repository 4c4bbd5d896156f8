//! The addresses that name a TCP connection.

use std::net::SocketAddr;

/// Local and remote address of a connection.
pub type Tuple = (SocketAddr, SocketAddr);
