//! What can go wrong for a client: which socket, what it was, and what helps, in one line each.

use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use crate::codec::{CodecError, Command, MAJOR, MINOR};

/// Why a call of the client failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClientError {
    /// There is no such file.
    #[error("nobody serves {0}: there is no such socket; start the device's server first")]
    NoSocket(PathBuf),
    /// There is a file, but nobody listens.
    #[error("nobody serves {0}: its server has ended; start it again")]
    NoServer(PathBuf),
    /// The system does not let this process in.
    #[error("cannot connect to {socket}: {error}; check its path and its permissions")]
    NoAccess {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        error: Errno,
    },
    /// Another client has the device.
    #[error("the device at {0} has a client already; end that one, or use another device")]
    Busy(PathBuf),
    /// The server speaks another version.
    #[error(
        "{socket} speaks vfio-user {major}.{minor}, here is {MAJOR}.{MINOR}; update the older"
    )]
    OtherVersion {
        /// The socket.
        socket: PathBuf,
        /// The server's.
        major: u16,
        /// The server's.
        minor: u16,
    },
    /// The server refuses this version.
    #[error("{socket} refuses vfio-user {MAJOR}.{MINOR}: {error}; update the older of both")]
    VersionRefused {
        /// The socket.
        socket: PathBuf,
        /// Its reason.
        error: Errno,
    },
    /// What answers is no vfio-user server, or a broken one.
    #[error("{socket} talks nonsense: {what}; is it the socket of a vfio-user device?")]
    Nonsense {
        /// The socket.
        socket: PathBuf,
        /// What it said.
        what: CodecError,
    },
    /// The server has ended or has closed the connection.
    #[error("the server of {0} has gone; start it again and open the device anew")]
    Vanished(PathBuf),
    /// The server lives, but does not answer.
    #[error("the server of {socket} did not answer for {limit:?}; is it stopped or overloaded?")]
    Silent {
        /// The socket.
        socket: PathBuf,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The server did not carry out a command.
    #[error("{socket} refuses {command:?}: {error}")]
    Refused {
        /// The socket.
        socket: PathBuf,
        /// What was asked for.
        command: Command,
        /// Its reason.
        error: Errno,
    },
    /// An access outside a region of the device.
    #[error("{bytes} bytes at {offset:#x} are outside region {region} of {region_bytes:#x} bytes")]
    Outside {
        /// Which region.
        region: u32,
        /// First byte.
        offset: u64,
        /// Length.
        bytes: u64,
        /// Length of the region, 0 if there is none.
        region_bytes: u64,
    },
    /// A part of a region that the server does not let anybody map.
    #[error("{bytes} bytes at {offset:#x} of region {region} cannot be mapped; use messages")]
    NotMappable {
        /// Which region.
        region: u32,
        /// First byte.
        offset: u64,
        /// Length.
        bytes: u64,
    },
    /// Memory that is not mapped with that address and length.
    #[error("{bytes:#x} bytes at {address:#x} are not mapped as one range")]
    NotMapped {
        /// First byte.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// A call of the system failed on this side.
    #[error("{what}: {error}")]
    System {
        /// Which call.
        what: &'static str,
        /// What the system says.
        error: Errno,
    },
}
