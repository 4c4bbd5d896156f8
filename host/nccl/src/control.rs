//! What ranks say to each other: control messages of an endpoint.
//!
//! ```text
//!   sender ── Connect ─► receiver      receiver ── Connected, Refused ─► sender
//!   receiver ── Posted {slot, first message, tag and maximum of each} ─► sender
//!   sender ── Length {slot, at, bytes}: where data alone would not say it ─► receiver
//!   sender ── SenderClosed ─► receiver  receiver ── ReceiverClosed {what is complete} ─► sender
//! ```
//! All numbers are little-endian; a communicator is named by the one who is told.

use crate::abi::GROUP_MAX;

/// A buffer of a receive: tag and most bytes.
pub type Place = (i32, u32);

/// One thing that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sender `sender` connects to the listener of this nonce, with IP packets up to its MTU.
    Connect {
        /// The listener's nonce.
        nonce: u64,
        /// The communicator that sends.
        sender: u32,
        /// Its MTU.
        mtu_bytes: u16,
    },
    /// It is connected to `receiver`.
    Connected {
        /// The communicator that sends.
        sender: u32,
        /// The one that receives.
        receiver: u32,
        /// MTU of that.
        mtu_bytes: u16,
    },
    /// No listener has this nonce.
    Refused {
        /// The communicator that sends.
        sender: u32,
    },
    /// Buffers are posted, confirmed by the card.
    Posted {
        /// The communicator that sends.
        sender: u32,
        /// Number of the receive.
        slot: u32,
        /// Number of its first message; the others follow.
        first: u64,
        /// Its buffers.
        places: Vec<Place>,
    },
    /// Length of a message, where its data does not say it.
    Length {
        /// The communicator that receives.
        receiver: u32,
        /// Number of the receive.
        slot: u32,
        /// Buffer of it.
        at: u8,
        /// Bytes.
        bytes: u32,
    },
    /// The sender is closed.
    SenderClosed {
        /// The communicator that receives.
        receiver: u32,
    },
    /// The receiver is closed. What is not in `missing` was received.
    ReceiverClosed {
        /// The communicator that sends.
        sender: u32,
        /// Number of the receive that would be next.
        next: u32,
        /// Bit n: receive `next - 1 - n` was not complete.
        missing: u64,
    },
}

/// Reads numbers off the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

impl Control {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(96);
        match self {
            Self::Connect { nonce, sender, mtu_bytes } => {
                bytes.push(1);
                bytes.extend(nonce.to_le_bytes());
                bytes.extend(sender.to_le_bytes());
                bytes.extend(mtu_bytes.to_le_bytes());
            }
            Self::Connected { sender, receiver, mtu_bytes } => {
                bytes.push(2);
                bytes.extend(sender.to_le_bytes());
                bytes.extend(receiver.to_le_bytes());
                bytes.extend(mtu_bytes.to_le_bytes());
            }
            Self::Refused { sender } => {
                bytes.push(3);
                bytes.extend(sender.to_le_bytes());
            }
            Self::Posted { sender, slot, first, places } => {
                bytes.push(4);
                bytes.extend(sender.to_le_bytes());
                bytes.extend(slot.to_le_bytes());
                bytes.extend(first.to_le_bytes());
                for (tag, bytes_max) in places {
                    bytes.extend(tag.to_le_bytes());
                    bytes.extend(bytes_max.to_le_bytes());
                }
            }
            Self::Length { receiver, slot, at, bytes: length } => {
                bytes.extend([5, *at]);
                bytes.extend(receiver.to_le_bytes());
                bytes.extend(slot.to_le_bytes());
                bytes.extend(length.to_le_bytes());
            }
            Self::SenderClosed { receiver } => {
                bytes.push(6);
                bytes.extend(receiver.to_le_bytes());
            }
            Self::ReceiverClosed { sender, next, missing } => {
                bytes.push(7);
                bytes.extend(sender.to_le_bytes());
                bytes.extend(next.to_le_bytes());
                bytes.extend(missing.to_le_bytes());
            }
        }
        bytes
    }

    /// Of bytes; `None` if they are nothing of this.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let control = match from.u8()? {
            1 => Self::Connect { nonce: from.u64()?, sender: from.u32()?, mtu_bytes: from.u16()? },
            2 => Self::Connected {
                sender: from.u32()?,
                receiver: from.u32()?,
                mtu_bytes: from.u16()?,
            },
            3 => Self::Refused { sender: from.u32()? },
            4 => {
                let (sender, slot, first) = (from.u32()?, from.u32()?, from.u64()?);
                let mut places = Vec::new();
                while !from.0.is_empty() {
                    places.push((from.u32()? as i32, from.u32()?));
                }
                if !(1..=GROUP_MAX).contains(&places.len()) {
                    return None;
                }
                Self::Posted { sender, slot, first, places }
            }
            5 => {
                let at = from.u8()?;
                Self::Length { at, receiver: from.u32()?, slot: from.u32()?, bytes: from.u32()? }
            }
            6 => Self::SenderClosed { receiver: from.u32()? },
            7 => Self::ReceiverClosed {
                sender: from.u32()?,
                next: from.u32()?,
                missing: from.u64()?,
            },
            _ => return None,
        };
        from.0.is_empty().then_some(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::message::CONTROL_BYTES_MAX;

    #[test]
    fn controls_read_back_as_written() {
        let all = [
            Control::Connect { nonce: u64::MAX - 1, sender: 2, mtu_bytes: 9000 },
            Control::Connected { sender: 3, receiver: 4, mtu_bytes: 1500 },
            Control::Refused { sender: 5 },
            Control::Posted {
                sender: 6,
                slot: 7,
                first: 1 << 60,
                places: vec![(-1, 8); GROUP_MAX],
            },
            Control::Length { receiver: 9, slot: 10, at: 7, bytes: u32::MAX },
            Control::SenderClosed { receiver: 11 },
            Control::ReceiverClosed { sender: 12, next: 13, missing: 1 << 63 },
        ];
        for control in all {
            let bytes = control.to_bytes();
            assert!(bytes.len() <= CONTROL_BYTES_MAX, "{control:?}");
            assert_eq!(Control::of(&bytes), Some(control.clone()));
            assert_eq!(Control::of(&bytes[..bytes.len() - 1]), None, "{control:?}");
            assert_eq!(Control::of(&[&bytes[..], &[0]].concat()), None, "{control:?}");
        }
        assert_eq!(Control::of(&[]), None);
        assert_eq!(Control::of(&[8, 0, 0, 0, 0]), None);
    }
}
