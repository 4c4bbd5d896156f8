//! Addresses of the card, as `--card` and the flow file name them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// An address of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CardAddress {
    /// That of its port.
    Ethernet([u8; 6]),
    /// All connections of an IP address.
    Ip(IpAddr),
    /// The connections of one port number.
    Socket(SocketAddr),
}

impl CardAddress {
    /// Whether a socket at an Ethernet address is the card's.
    pub fn has(&self, socket: SocketAddr, ethernet: [u8; 6]) -> bool {
        match self {
            CardAddress::Ethernet(own) => *own == ethernet,
            CardAddress::Ip(ip) => *ip == socket.ip(),
            CardAddress::Socket(own) => *own == socket,
        }
    }

    /// Whether packets of an IP address are the card's, whatever their port.
    pub fn has_ip(&self, ip: IpAddr) -> bool {
        match self {
            CardAddress::Ethernet(_) => false,
            CardAddress::Ip(own) => *own == ip,
            CardAddress::Socket(own) => own.ip() == ip,
        }
    }
}

impl FromStr for CardAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(ip) = text.parse() {
            return Ok(CardAddress::Ip(ip));
        }
        if let Ok(socket) = text.parse() {
            return Ok(CardAddress::Socket(socket));
        }
        let parts = text.split(':').map(|part| {
            let is_hex = part.bytes().all(|digit| digit.is_ascii_hexdigit());
            let digits = is_hex.then_some(part).filter(|part| part.len() <= 2);
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
        });
        let bytes = parts.collect::<Option<Vec<u8>>>();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(CardAddress::Ethernet).ok_or_else(|| {
            format!("'{text}' is neither an IP address, with or without a port, nor of Ethernet")
        })
    }
}

impl fmt::Display for CardAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CardAddress::Ethernet(bytes) => {
                let bytes = bytes.map(|byte| format!("{byte:02x}"));
                f.write_str(&bytes.join(":"))
            }
            CardAddress::Ip(ip) => ip.fmt(f),
            CardAddress::Socket(socket) => socket.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for text in
            ["02:00:00:00:00:01", "10.77.0.1", "fd77::1", "10.77.0.1:5001", "[fd77::1]:5001"]
        {
            let address: CardAddress = text.parse().expect("an address");
            assert_eq!(address.to_string(), text);
        }
        for text in ["", "02:00", "10.0.0", "02:00:00:00:00:+1", "x", "10.0.0.1:"] {
            let wrong = text.parse::<CardAddress>();
            assert!(wrong.is_err_and(|why| why.contains(text)), "{text}");
        }
    }

    #[test]
    fn socket_is_one_kind_of_address() {
        let [ip, socket, other]: [CardAddress; 3] = ["10.0.0.1", "10.0.0.1:80", "10.0.0.1:81"]
            .map(|text| text.parse().expect("an address"));
        let own: SocketAddr = "10.0.0.1:80".parse().expect("an address");
        let ethernet = [2, 0, 0, 0, 0, 1];
        assert!(ip.has(own, ethernet) && socket.has(own, ethernet) && !other.has(own, ethernet));
        assert!(CardAddress::Ethernet(ethernet).has(own, ethernet));
        assert!(!CardAddress::Ethernet(ethernet).has(own, [2; 6]));
        assert!(other.has_ip(own.ip()));
    }
}
