//! What is in flight to a station, of all messages together, and how much may be.
//!
//! ```text
//!   sent, in order ─► acknowledged ─► window of the controller, round trip
//!                 └─► many sent later were: lost   └─► none for a timeout: all lost
//! ```
//! The controller is one of TCP's, as are round trip and timeout: [`tcp::control`], [`tcp::rtt`].
//!
//! Invariants
//! 1. No packet is sent while more than the window is in flight.
//! 2. The window falls once for the packets of one round trip.

use std::collections::VecDeque;

use tcp::control::cubic::Cubic;
use tcp::control::{Controller, Sample, Signal};
use tcp::rtt::Rtt;

use super::outbox::Delivered;
use super::pace;
use crate::protocol::FlowIndex;

/// Packets sent later that were delivered, from which on one is lost: more than the network
/// reorders.
const REORDERED_MAX: u64 = 16;

/// A packet in the order of sending. It may be over: its message says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// Number in the order of sending.
    pub order: u64,
    /// Flow of its message.
    pub flow: FlowIndex,
    /// Number of the message.
    pub message: u64,
    /// Number of the packet in the message.
    pub number: u32,
}

/// The path to a station.
#[derive(Debug)]
pub struct Path {
    controller: Cubic,
    rtt: Rtt,
    in_flight_bytes: u64,
    sent: VecDeque<InOrder>,
    sent_bytes: u64,
    delivered_bytes: u64,
    /// Number of the next packet; that of the last one delivered.
    next: u64,
    delivered: u64,
    /// What was sent before this number has met a full window.
    full_before: u64,
    /// Losses of what was sent before this number are of the same event.
    recovers_at: u64,
    is_timed_out: bool,
    /// When the last thing was heard or sent while nothing was in flight.
    progress_ns: u64,
}

impl Path {
    /// A path of which nothing is known, with packets of this payload.
    pub fn new(payload_bytes_max: u32) -> Self {
        Self {
            controller: Cubic::new(payload_bytes_max.into()),
            rtt: Rtt::new(&pace::timeouts()),
            in_flight_bytes: 0,
            sent: VecDeque::new(),
            sent_bytes: 0,
            delivered_bytes: 0,
            next: 1,
            delivered: 0,
            full_before: 0,
            recovers_at: 0,
            is_timed_out: false,
            progress_ns: 0,
        }
    }

    /// Packets have another payload from now on.
    pub fn change_payload(&mut self, payload_bytes_max: u32) {
        self.controller.change_mss(payload_bytes_max.into());
    }

    /// Whether one more packet of so many bytes may be in flight.
    pub fn has_room(&mut self, bytes: u32) -> bool {
        let window_bytes = self.controller.window_bytes();
        let fits = self.in_flight_bytes + u64::from(bytes) <= window_bytes;
        if !fits {
            self.full_before = self.next;
        }
        fits || self.in_flight_bytes == 0
    }

    /// A packet is sent. Returns its number in order.
    pub fn note_sent(
        &mut self,
        (flow, message, number): (FlowIndex, u64, u32),
        bytes: u32,
        now_ns: u64,
    ) -> u64 {
        let order = self.next;
        self.next += 1;
        if self.in_flight_bytes == 0 {
            self.progress_ns = now_ns;
        }
        self.in_flight_bytes += u64::from(bytes);
        self.sent_bytes += u64::from(bytes);
        self.sent.push_back(InOrder { order, flow, message, number });
        order
    }

    /// An acknowledgement has delivered something.
    pub fn acknowledge(&mut self, delivered: &Delivered, now_ns: u64) {
        if delivered.bytes == 0 {
            return;
        }
        let before_bytes = self.in_flight_bytes;
        self.in_flight_bytes = before_bytes.saturating_sub(delivered.in_flight_bytes);
        self.delivered_bytes += delivered.bytes;
        self.delivered = self.delivered.max(delivered.order);
        self.progress_ns = now_ns;
        if let Some(rtt_ns) = delivered.rtt_ns {
            self.rtt.measure(rtt_ns);
            self.rtt.measure_min(now_ns, rtt_ns);
        }
        self.rtt.progress();
        // Several acknowledgements come before the window is filled again: it was used.
        let window_bytes = self.controller.window_bytes();
        let is_full = delivered.order < self.full_before;
        let used_bytes = if is_full { window_bytes.max(before_bytes) } else { before_bytes };
        let is_recovering = self.delivered < self.recovers_at;
        // What was taken for lost has come before it was sent again: who acknowledges was late, and
        // the window is what it was (RFC 5682, 3.1).
        if self.is_timed_out && delivered.bytes > delivered.in_flight_bytes {
            self.controller.restore();
            self.is_timed_out = false;
        }
        self.is_timed_out &= is_recovering;
        self.controller.acknowledge(&Sample {
            now_ns,
            acknowledged_bytes: delivered.bytes,
            delivered_bytes: delivered.bytes,
            total_delivered_bytes: self.delivered_bytes,
            in_flight_bytes: [used_bytes, self.in_flight_bytes],
            rtt_ns: delivered.rtt_ns,
            smoothed_ns: self.rtt.smoothed_ns().unwrap_or(0),
            una: self.delivered_bytes,
            next: self.sent_bytes,
            // What a timeout has taken for lost is sent again in slow start.
            is_recovering: is_recovering && !self.is_timed_out,
            is_timed_out: self.is_timed_out,
            ..Sample::default()
        });
    }

    /// The next packet that is lost or over: whoever knows its message says which. `None` while the
    /// oldest may still come.
    pub fn overtaken(&mut self) -> Option<InOrder> {
        let front = self.sent.front()?;
        let is_overtaken = front.order + REORDERED_MAX < self.delivered;
        is_overtaken.then(|| self.sent.pop_front()).flatten()
    }

    /// All packets in order, where nothing was delivered for a timeout.
    pub fn expired(&mut self, now_ns: u64) -> Vec<InOrder> {
        if self.deadline_ns().is_none_or(|at_ns| now_ns < at_ns) {
            return Vec::new();
        }
        self.rtt.back_off();
        self.controller.signal(now_ns, Signal::Timeout, self.in_flight_bytes);
        self.recovers_at = self.next;
        self.is_timed_out = true;
        self.progress_ns = now_ns;
        self.sent.drain(..).collect()
    }

    /// A packet that was in flight is lost.
    pub fn lose(&mut self, order: u64, bytes: u32, now_ns: u64) {
        if order >= self.recovers_at {
            self.controller.signal(now_ns, Signal::Loss, self.in_flight_bytes);
            self.recovers_at = self.next;
        }
        self.drop_bytes(bytes.into());
    }

    /// So many bytes are in flight no more: they are given up.
    pub fn drop_bytes(&mut self, bytes: u64) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(bytes);
        if self.in_flight_bytes == 0 {
            self.sent.clear();
        }
    }

    /// When everything in flight is taken for lost.
    pub fn deadline_ns(&self) -> Option<u64> {
        (self.in_flight_bytes > 0).then(|| self.progress_ns + self.rtt.rto_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u32 = 1000;
    const MS_NS: u64 = 1_000_000;

    fn fill(path: &mut Path, from: u32, now_ns: u64) -> u32 {
        let mut number = from;
        while path.has_room(BYTES) {
            path.note_sent((FlowIndex(1), 7, number), BYTES, now_ns);
            number += 1;
        }
        number - from
    }

    fn delivered(order: u64) -> Delivered {
        let bytes = u64::from(BYTES);
        Delivered { bytes, in_flight_bytes: bytes, order, rtt_ns: Some(MS_NS) }
    }

    #[test]
    fn window_opens_then_falls_once_per_event() {
        let mut path = Path::new(BYTES);
        let first = fill(&mut path, 0, 0);
        assert_eq!(first, 10, "the initial window of TCP");
        (1..=10).for_each(|order| path.acknowledge(&delivered(order), MS_NS));
        let second = fill(&mut path, first, MS_NS);
        assert_eq!(second, 20, "slow start");
        // The first two of the second window are overtaken by the rest.
        (13..=30).for_each(|order| path.acknowledge(&delivered(order), 2 * MS_NS));
        let overtaken: Vec<u64> =
            std::iter::from_fn(|| path.overtaken()).map(|sent| sent.order).collect();
        assert_eq!(overtaken, (1..=13).collect::<Vec<_>>());
        let before = path.controller.window_bytes();
        path.lose(11, BYTES, 2 * MS_NS);
        let after = path.controller.window_bytes();
        assert!(after < before, "{after} of {before}");
        path.lose(12, BYTES, 2 * MS_NS);
        assert_eq!(path.controller.window_bytes(), after, "the same event");
    }

    #[test]
    fn silence_takes_all_for_lost() {
        let mut path = Path::new(BYTES);
        let sent = fill(&mut path, 0, 0);
        let at_ns = path.deadline_ns().expect("something is in flight");
        assert_eq!(path.expired(at_ns - 1), []);
        assert_eq!(path.expired(at_ns).len(), sent as usize);
        (1..=10).for_each(|order| path.lose(order, BYTES, at_ns));
        assert_eq!(path.deadline_ns(), None);
        assert!(path.has_room(BYTES));
        path.note_sent((FlowIndex(1), 7, 0), BYTES, at_ns);
        assert!(!path.has_room(BYTES), "one packet after a timeout");
        assert!(path.deadline_ns() >= Some(3 * at_ns), "the timeout doubles");
    }

    #[test]
    fn window_is_what_it_was_once_the_late_come() {
        let mut path = Path::new(BYTES);
        fill(&mut path, 0, 0);
        let window_bytes = path.controller.window_bytes();
        let at_ns = path.deadline_ns().expect("something is in flight");
        path.expired(at_ns).iter().for_each(|late| path.lose(late.order, BYTES, at_ns));
        path.note_sent((FlowIndex(1), 7, 0), BYTES, at_ns);
        assert!(!path.has_room(BYTES), "one packet after a timeout");
        // The second is acknowledged, and was not sent again.
        let late = Delivered { in_flight_bytes: 0, rtt_ns: None, ..delivered(2) };
        path.acknowledge(&late, at_ns + MS_NS);
        assert!(path.controller.window_bytes() >= window_bytes);
    }
}
