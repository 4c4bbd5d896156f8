//! A kernel TCP socket whose bytes are filler.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::sys;
use crate::transport::{Drained, StreamInfo, StreamState, StreamStatus};

/// Limit of bytes that one call discards.
const CALL_BYTES_MAX: u64 = 1 << 30;

// Offsets in the kernel's `struct tcp_info` (uapi tcp.h), to which fields are only appended.
const INFO_BYTES: usize = 192;
const INFO_STATE: usize = 0;
const INFO_TIMEOUTS: usize = 2;
const INFO_RTO_US: usize = 8;
const INFO_MSS_BYTES: usize = 16;
const INFO_RTT_US: usize = 68;
const INFO_WINDOW_PACKETS: usize = 80;
const INFO_RETRANSMITTED: usize = 100;
const INFO_ACKNOWLEDGED_BYTES: usize = 120;
const INFO_RECEIVED_BYTES: usize = 128;

// States of a connection (the kernel's tcp_states.h).
const SYN_SENT: u8 = 2;
const SYN_RECEIVED: u8 = 3;
const TIME_WAIT: u8 = 6;
const CLOSED: u8 = 7;
const CLOSE_WAIT: u8 = 8;
const LAST_ACK: u8 = 9;
const CLOSING: u8 = 11;
const NEW_SYN_RECEIVED: u8 = 12;

/// One shadow socket.
#[derive(Debug)]
pub struct ShadowSocket {
    socket: OwnedFd,
    local: SocketAddr,
    remote: SocketAddr,
    /// The end of the sending half was requested.
    finished: bool,
    /// The sending half was shut down.
    shut_down: bool,
    /// The last number in the send queue belongs to the FIN.
    has_fin: bool,
    error: Option<i32>,
}

impl ShadowSocket {
    /// A connecting or connected socket.
    pub fn new(socket: OwnedFd, local: SocketAddr, remote: SocketAddr) -> Self {
        Self {
            socket,
            local,
            remote,
            finished: false,
            shut_down: false,
            has_fin: false,
            error: None,
        }
    }

    /// The descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The local and the remote address.
    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        (self.local, self.remote)
    }

    /// Sends up to `bytes` zeros. Returns how many the kernel accepted.
    pub fn feed(&mut self, zeros: BorrowedFd, zeros_bytes: usize, bytes: u64) -> io::Result<u64> {
        if self.finished {
            return Err(io::Error::from_raw_os_error(libc::EPIPE));
        }
        let mut fed = 0;
        while fed < bytes {
            let ask = (bytes - fed).min(zeros_bytes as u64) as usize;
            match sys::send_file(self.fd(), zeros, ask) {
                Ok(0) => break,
                Ok(sent) => fed += sent as u64,
                Err(error) if waits(&error) => break,
                // Bytes accepted before still count; the next call returns the error.
                Err(_) if fed > 0 => break,
                Err(error) => return Err(self.remember(error)),
            }
        }
        Ok(fed)
    }

    /// Discards up to `bytes_max` received bytes.
    pub fn drain(&mut self, bytes_max: u64) -> io::Result<Drained> {
        let mut drained = Drained { bytes: 0, end_of_stream: false };
        while drained.bytes < bytes_max {
            let ask = (bytes_max - drained.bytes).min(CALL_BYTES_MAX) as usize;
            match sys::discard(self.fd(), ask) {
                Ok(0) => {
                    drained.end_of_stream = true;
                    break;
                }
                Ok(bytes) => drained.bytes += bytes as u64,
                Err(error) if waits(&error) => break,
                Err(_) if drained.bytes > 0 => break,
                Err(error) => return Err(self.remember(error)),
            }
        }
        Ok(drained)
    }

    /// Ends the sending half, now or when the handshake is complete.
    pub fn finish(&mut self) -> io::Result<()> {
        self.finished = true;
        self.settle()
    }

    /// Shuts down the sending half after the handshake, if requested: an earlier `shutdown` would
    /// abort it.
    pub fn settle(&mut self) -> io::Result<()> {
        if !self.finished || self.shut_down {
            return Ok(());
        }
        match self.tcp_info()?[INFO_STATE] {
            SYN_SENT | SYN_RECEIVED | NEW_SYN_RECEIVED => return Ok(()),
            CLOSED => {}
            _ => {
                sys::shutdown_write(self.fd()).map_err(|error| self.remember(error))?;
                self.has_fin = true;
            }
        }
        self.shut_down = true;
        Ok(())
    }

    /// State, queued bytes and error.
    pub fn status(&mut self) -> io::Result<StreamStatus> {
        let info = self.tcp_info()?;
        let kernel_state = info[INFO_STATE];
        let state = match kernel_state {
            SYN_SENT | SYN_RECEIVED | NEW_SYN_RECEIVED => StreamState::Connecting,
            CLOSED | TIME_WAIT => StreamState::Closed,
            _ => StreamState::Open,
        };
        if state == StreamState::Closed && self.error.is_none() {
            self.error = sys::take_error(self.fd())?;
        }
        let readable_bytes = sys::queue_bytes(self.fd(), libc::FIONREAD)?;
        let queued = sys::queue_bytes(self.fd(), libc::TIOCOUTQ)?;
        // A failed connection is closed without an end of stream.
        let peer_finished = match kernel_state {
            CLOSE_WAIT | LAST_ACK | CLOSING | TIME_WAIT => true,
            CLOSED => self.error.is_none(),
            _ => false,
        };
        Ok(StreamStatus {
            state,
            readable_bytes,
            // The FIN is last: while anything is in the queue, it is too.
            unacknowledged_bytes: queued.saturating_sub(self.has_fin.into()),
            end_of_stream: peer_finished && readable_bytes == 0,
            error: self.error,
        })
    }

    /// Measurements of the kernel.
    pub fn info(&self) -> io::Result<StreamInfo> {
        let info = self.tcp_info()?;
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| info[at + byte]));
        let long =
            |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| info[at + byte]));
        let microseconds = |at| Duration::from_micros(u64::from(word(at)));
        Ok(StreamInfo {
            round_trip: microseconds(INFO_RTT_US),
            retransmission_timeout: microseconds(INFO_RTO_US),
            congestion_window_packets: word(INFO_WINDOW_PACKETS),
            mss_bytes: word(INFO_MSS_BYTES),
            retransmitted_packets: word(INFO_RETRANSMITTED),
            timeouts: u32::from(info[INFO_TIMEOUTS]),
            acknowledged_bytes: long(INFO_ACKNOWLEDGED_BYTES),
            received_bytes: long(INFO_RECEIVED_BYTES),
        })
    }

    fn tcp_info(&self) -> io::Result<[u8; INFO_BYTES]> {
        let mut info = [0; INFO_BYTES];
        let bytes = sys::get_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
        if bytes < INFO_RECEIVED_BYTES + 8 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(info)
    }

    /// Keeps the error of a failed connection for [`Self::status`]; the kernel reports it once.
    fn remember(&mut self, error: io::Error) -> io::Error {
        self.error = self.error.or(error.raw_os_error());
        error
    }
}

/// Whether a call would block: for buffer space, for bytes, or for the handshake.
fn waits(error: &io::Error) -> bool {
    sys::would_block(error) || error.raw_os_error() == Some(libc::EINTR)
}
