//! Test peers: another machine on the wire, with whole frames in and out and an application whose
//! results can be checked.
//!
//! ```text
//!      application: sends random bytes from a seed, hashes what it receives; or an echo
//!          |  ^
//!          v  |
//!      TCP with real payload (a kernel in a namespace of its own, smoltcp, our own)
//!          |  ^
//!          v  |   inject_frame / poll_frame
//!      frames as on the wire, without frame check sequence
//! ```
//!
//! Both ends of a test know the seed, so they exchange only lengths and digests. An end that nobody
//! has told the seed sends back what it receives.

mod application;
mod kernel;
mod smol;
mod tcp;

use std::net::SocketAddr;

pub use self::application::{digest_of, RandomBytes};
pub use self::kernel::KernelPeer;
pub use self::smol::SmoltcpPeer;
pub use self::tcp::TcpPeer;
use super::{NextTimer, Result};

/// What the application does on one connection: it sends and receives at the same time, ends its
/// sending half after the last byte, and closes the connection when the other side has ended too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Bytes to send.
    pub send_bytes: u64,
    /// Seed of the [`RandomBytes`] to send.
    pub seed: u64,
    /// Bytes after which the application stops reading, so that the window closes; `None` reads to
    /// the end.
    pub receive_bytes_max: Option<u64>,
}

/// Progress of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Still sending or receiving.
    Running,
    /// Everything was sent, and the other side has closed its half.
    Finished,
    /// The connection failed with this error number.
    Failed(i32),
}

/// State of the application on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The other end.
    pub remote: SocketAddr,
    /// Progress of the conversation.
    pub progress: Progress,
    /// Bytes handed to TCP.
    pub sent_bytes: u64,
    /// Bytes received in order.
    pub received_bytes: u64,
    /// SHA-256 of the bytes received.
    pub received_digest: [u8; 32],
}

/// A machine on the wire.
pub trait WirePeer: Send {
    /// Lets the application make progress and copies the next outgoing frame into `buffer`. Returns
    /// its length. A frame longer than the buffer is an error.
    fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>>;

    /// Delivers a frame from the wire.
    fn inject_frame(&mut self, frame: &[u8]) -> Result<()>;

    /// Connects and follows the script. The conversation appears in [`Self::conversations`].
    fn connect(&mut self, remote: SocketAddr, script: Script) -> Result<()>;

    /// Accepts any number of connections and follows the script on each.
    fn listen(&mut self, local: SocketAddr, script: Script) -> Result<()>;

    /// Accepts any number of connections, and sends back on each what it receives.
    fn listen_and_echo(&mut self, local: SocketAddr) -> Result<()>;

    /// Takes the conversations that have ended, which are then forgotten.
    fn take_ended(&mut self) -> Vec<Conversation>;

    /// When the peer's stack acts next, if no frame and no call comes before.
    fn next_timer(&mut self) -> NextTimer {
        NextTimer::WallClock
    }

    /// All conversations, in the order in which they began.
    fn conversations(&self) -> Vec<Conversation>;
}
