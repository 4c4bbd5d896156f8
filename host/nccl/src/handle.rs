//! The handle of a listener: what the other rank needs to connect, in NCCL's 128 bytes.
//!
//! ```text
//!   | "Zeronic\0" 8 | version 2 | MTU 2 | port 2 | MAC 6 | IP 16 | nonce 8 | connecting 8 | 0 76 |
//! ```
//! NCCL hands the same bytes to each call of connect, so that what is being connected is kept in
//! them: the number of the communicator, 0 before the first call.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use host::message::Station;

use crate::abi::HANDLE_BYTES;

/// Version of handles and control messages: ranks of another one refuse each other.
pub const VERSION: u16 = 1;
const MAGIC: &[u8; 8] = b"Zeronic\0";
const CONNECTING: usize = 44;

/// A listener as another rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Where it is.
    pub station: Station,
    /// Which one there.
    pub nonce: u64,
    /// MTU of its card.
    pub mtu_bytes: u16,
}

impl Handle {
    /// As NCCL carries it.
    pub fn to_bytes(self) -> [u8; HANDLE_BYTES] {
        let ip = match self.station.address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let parts: [&[u8]; 7] = [
            MAGIC,
            &VERSION.to_le_bytes(),
            &self.mtu_bytes.to_le_bytes(),
            &self.station.address.port().to_le_bytes(),
            &self.station.mac,
            &ip.octets(),
            &self.nonce.to_le_bytes(),
        ];
        let all = parts.concat();
        let mut bytes = [0; HANDLE_BYTES];
        bytes[..all.len()].copy_from_slice(&all);
        bytes
    }

    /// Of bytes that NCCL has carried; `None` if they are of another plugin or version.
    pub fn of(bytes: &[u8; HANDLE_BYTES]) -> Option<Self> {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes[..8] != MAGIC[..] || word(8) != VERSION {
            return None;
        }
        let ip = Ipv6Addr::from(*bytes[20..].first_chunk::<16>()?);
        let ip = ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4);
        let station =
            Station { mac: *bytes[14..].first_chunk()?, address: SocketAddr::new(ip, word(12)) };
        let nonce = u64::from_le_bytes(*bytes[36..].first_chunk()?);
        Some(Self { station, nonce, mtu_bytes: word(10) })
    }
}

/// The communicator that is being connected; 0 before.
pub fn connecting(bytes: &[u8; HANDLE_BYTES]) -> u32 {
    let at = &bytes[CONNECTING..];
    u32::from_le_bytes([at[0], at[1], at[2], at[3]])
}

/// Notes the communicator that is being connected.
pub fn set_connecting(bytes: &mut [u8; HANDLE_BYTES], comm: u32) {
    bytes[CONNECTING..CONNECTING + 4].copy_from_slice(&comm.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_reads_back_as_written() {
        for address in ["10.1.2.3:7700", "[fe80::1]:7701"] {
            let address = address.parse().unwrap();
            let station = Station { mac: [2, 3, 4, 5, 6, 7], address };
            let handle = Handle { station, nonce: u64::MAX - 5, mtu_bytes: 9000 };
            let mut bytes = handle.to_bytes();
            assert_eq!(Handle::of(&bytes), Some(handle));
            assert_eq!(connecting(&bytes), 0);
            set_connecting(&mut bytes, 77);
            assert_eq!((connecting(&bytes), Handle::of(&bytes)), (77, Some(handle)));
            bytes[8] ^= 1;
            assert_eq!(Handle::of(&bytes), None, "another version");
        }
    }
}
