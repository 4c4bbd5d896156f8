//! One message that is being sent.
//!
//! ```text
//!   position  0 ... acknowledged ... packets, by number ... next ... bytes
//!                                    in flight, lost or held by the receiver
//! ```
//! Each packet but the last one has the same length, so a number is a position. What is in flight
//! is counted by [`super::path::Path`], for all messages to a station.

use std::collections::{BTreeSet, VecDeque};

use super::header::Station;

/// How far a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Held,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: u32,
    /// Number among all that were sent to the station.
    order: u64,
    sent_ns: u64,
    was_repeated: bool,
    state: State,
}

/// What an acknowledgement has delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Bytes that are newly held.
    pub bytes: u64,
    /// Those of them that were in flight.
    pub in_flight_bytes: u64,
    /// The last one sent of these packets.
    pub order: u64,
    /// Round trip of the last one that was sent once.
    pub rtt_ns: Option<u64>,
}

/// A message that is being sent.
#[derive(Debug)]
pub struct Outgoing {
    /// Receiver of the message.
    pub to: Station,
    /// Number of the message.
    pub message: u64,
    /// Bytes of the message.
    pub bytes: u32,
    /// All of it may be sent.
    pub is_offered: bool,
    /// It is among those of which something is to be sent.
    pub is_unsent: bool,
    payload_bytes_max: u32,
    acknowledged: u32,
    /// Packets from the one of the acknowledged position on.
    sent: VecDeque<Sent>,
    /// Number of the first of them.
    first: u32,
    lost: BTreeSet<u32>,
}

impl Outgoing {
    /// Sends a message of `bytes` bytes in packets of up to `payload_bytes_max`.
    pub fn new(to: Station, message: u64, bytes: u32, payload_bytes_max: u32) -> Self {
        Self {
            to,
            message,
            bytes,
            is_offered: false,
            is_unsent: false,
            payload_bytes_max,
            acknowledged: 0,
            sent: VecDeque::new(),
            first: 0,
            lost: BTreeSet::new(),
        }
    }

    /// Bytes that the receiver has.
    pub fn acknowledged_bytes(&self) -> u32 {
        self.acknowledged
    }

    /// Bytes in flight.
    pub fn in_flight_bytes(&self) -> u64 {
        let in_flight = self.sent.iter().filter(|sent| sent.state == State::InFlight);
        in_flight.map(|sent| u64::from(sent.bytes)).sum()
    }

    fn bytes_of(&self, number: u32) -> u32 {
        (self.bytes - number * self.payload_bytes_max).min(self.payload_bytes_max)
    }

    /// The next packet to send: its number, and how many bytes; what is lost goes first.
    pub fn next(&self) -> Option<(u32, u32)> {
        if !self.is_offered {
            return None;
        }
        let next = self.first + self.sent.len() as u32;
        let all = self.bytes.div_ceil(self.payload_bytes_max);
        let number = self.lost.first().copied().or_else(|| (next < all).then_some(next))?;
        Some((number, self.bytes_of(number)))
    }

    /// Whether a packet was taken for lost: it is sent again.
    pub fn is_lost(&self, number: u32) -> bool {
        self.lost.contains(&number)
    }

    /// The packet of [`Outgoing::next`] is sent. Returns its position.
    pub fn note_sent(&mut self, number: u32, order: u64, now_ns: u64) -> u32 {
        let was_repeated = self.lost.remove(&number);
        let bytes = self.bytes_of(number);
        let sent = Sent { bytes, order, sent_ns: now_ns, was_repeated, state: State::InFlight };
        match self.sent.get_mut((number - self.first) as usize) {
            Some(place) => *place = sent,
            None => self.sent.push_back(sent),
        }
        number * self.payload_bytes_max
    }

    /// The receiver has everything before `to`, and the blocks.
    pub fn acknowledge(&mut self, to: u32, blocks: &[(u32, u32)], now_ns: u64) -> Delivered {
        let mut delivered = Delivered::default();
        if to > self.bytes {
            return delivered;
        }
        let to = to.max(self.acknowledged);
        let whole = self.whole(self.acknowledged, to);
        let blocks = blocks.iter().map(|block| self.whole(block.0, block.1));
        let held: Vec<_> = std::iter::once(whole).chain(blocks).collect();
        for (from, to) in held {
            (from..to).for_each(|number| self.take_held(number, now_ns, &mut delivered));
        }
        self.acknowledged = to;
        let gone = (whole.1.saturating_sub(self.first) as usize).min(self.sent.len());
        self.sent.drain(..gone);
        self.first += gone as u32;
        delivered
    }

    /// The packets that lie whole in a range.
    fn whole(&self, from: u32, to: u32) -> (u32, u32) {
        let is_end = to >= self.bytes;
        let to =
            if is_end { to.div_ceil(self.payload_bytes_max) } else { to / self.payload_bytes_max };
        let sent_to = self.first + self.sent.len() as u32;
        (from.div_ceil(self.payload_bytes_max).max(self.first), to.min(sent_to))
    }

    fn take_held(&mut self, number: u32, now_ns: u64, delivered: &mut Delivered) {
        let Some(sent) = self.sent.get_mut((number - self.first) as usize) else {
            return;
        };
        let before = std::mem::replace(&mut sent.state, State::Held);
        if before == State::Held {
            return;
        }
        let bytes = u64::from(sent.bytes);
        delivered.bytes += bytes;
        match before {
            State::Lost => drop(self.lost.remove(&number)),
            _ => delivered.in_flight_bytes += bytes,
        }
        if sent.order >= delivered.order {
            delivered.order = sent.order;
            if !sent.was_repeated {
                delivered.rtt_ns = Some(now_ns.saturating_sub(sent.sent_ns));
            }
        }
    }

    /// A packet is taken for lost, if it is still that of this number in order. Returns its bytes.
    pub fn lose(&mut self, number: u32, order: u64) -> Option<u32> {
        let at = number.checked_sub(self.first)? as usize;
        let sent = self.sent.get_mut(at)?;
        if sent.order != order || sent.state != State::InFlight {
            return None;
        }
        sent.state = State::Lost;
        self.lost.insert(number);
        Some(sent.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: u32) -> Outgoing {
        let to = Station { mac: [0; 6], address: ([10, 0, 0, 1], 7700).into() };
        let mut message = Outgoing::new(to, 1, bytes, 1000);
        message.is_offered = true;
        message
    }

    fn send(message: &mut Outgoing, order: &mut u64) -> Option<(u32, u32)> {
        let (number, bytes) = message.next()?;
        *order += 1;
        let position = message.note_sent(number, *order, 100 * *order);
        Some((position, bytes))
    }

    #[test]
    fn blocks_leave_holes_to_repeat() {
        let mut message = message(4500);
        let mut order = 0;
        let sent: Vec<_> = std::iter::from_fn(|| send(&mut message, &mut order)).collect();
        assert_eq!(sent, [(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000), (4000, 500)]);
        let delivered = message.acknowledge(1000, &[(2000, 3000), (4000, 4500)], 1000);
        assert_eq!((delivered.bytes, delivered.order, delivered.rtt_ns), (2500, 5, Some(500)));
        assert_eq!((message.acknowledged_bytes(), message.in_flight_bytes()), (1000, 2000));
        assert_eq!(message.lose(1, 2), Some(1000));
        assert_eq!(message.lose(1, 2), None, "it is lost already");
        assert_eq!(message.lose(2, 3), None, "the receiver holds it");
        assert_eq!(send(&mut message, &mut order), Some((1000, 1000)));
        assert_eq!(message.lose(1, 2), None, "it was sent again");
        let delivered = message.acknowledge(3000, &[(4000, 4500)], 2000);
        assert_eq!((delivered.bytes, delivered.rtt_ns), (1000, None), "repeated: not measured");
        message.acknowledge(4500, &[], 2000);
        assert_eq!((message.acknowledged_bytes(), message.in_flight_bytes()), (4500, 0));
        assert_eq!(message.next(), None);
    }

    #[test]
    fn wild_acknowledgements_change_nothing() {
        let mut message = message(2500);
        let mut order = 0;
        send(&mut message, &mut order);
        for (to, blocks) in [(2501, vec![]), (0, vec![(500, 1500), (9000, 10_000), (5, 1)])] {
            assert_eq!(message.acknowledge(to, &blocks, 0), Delivered::default(), "{to}");
        }
        message.acknowledge(1000, &[], 0);
        assert_eq!(message.acknowledge(500, &[], 0), Delivered::default());
        assert_eq!(message.acknowledged_bytes(), 1000);
    }
}
