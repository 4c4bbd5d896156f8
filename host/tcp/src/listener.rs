//! A listener: its address, and the connections that are not accepted yet.
//!
//! Source: RFC 9293, 3.9.1 (OPEN, passive); RFC 4987, 3.1.

use std::collections::VecDeque;
use std::net::SocketAddr;

use thiserror::Error;

/// Names a listener (RFC 9293, 3.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(pub(crate) u32);

/// Why a port cannot be listened on (RFC 9293, 3.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ListenError {
    /// Somebody listens there.
    #[error("port {0} has a listener")]
    Taken(u16),
}

#[derive(Debug)]
pub(crate) struct Listener {
    /// An unspecified address stands for all.
    local: SocketAddr,
    pub(crate) half_open: usize,
    pub(crate) open: VecDeque<u32>,
    /// Until when cookies may come back.
    pub(crate) cookies_until_ns: u64,
}

impl Listener {
    pub(crate) fn new(local: SocketAddr) -> Self {
        Self { local, half_open: 0, open: VecDeque::new(), cookies_until_ns: 0 }
    }

    pub(crate) fn is_at(&self, local: SocketAddr) -> bool {
        let ip = self.local.ip();
        self.local.port() == local.port() && (ip == local.ip() || ip.is_unspecified())
    }
}
