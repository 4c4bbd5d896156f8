//! What was sent and is not acknowledged: in flight, lost, or held by the peer.
//!
//! ```text
//!   una                                                    next
//!    │ sent: [lost ][in flight][SACKed][SACKed][in flight]  │   in the order of the stream
//!    │ order: transmissions, oldest first; stale ones are skipped
//!    │ lost: ranges to repeat          sacked: ranges that the peer says it holds
//! ```
//! Invariants
//! 1. The entries of `sent` are not empty and join without a gap from `una` to `next`.
//! 2. `in_flight_bytes` is the sum of the entries in flight: neither SACKed, nor lost and not yet
//!    repeated (RFC 6675, 4: the pipe).
//! 3. Every entry in flight is named by the transmission in `order` that has its number.
//! 4. At most [`SENT_MAX`] entries: about 2 MiB for a connection whose peer cuts them all. A block
//!    that would cut one more is not believed, which costs a repetition and no data.
//!
//! Sources: RFC 6675, 3 and 4; RFC 8985, 5; RFC 2018, 8.

use std::collections::VecDeque;

use crate::rack::Rack;
use crate::ranges::{Range, Ranges};

/// Most entries of a scoreboard (RFC 6675, 3).
pub const SENT_MAX: usize = 16_384;
/// Most transmissions in order before stale ones are thrown out.
const ORDER_MAX: usize = 4 * SENT_MAX;

/// What was known when a segment was sent (draft-ietf-ccwg-bbr, 4.1.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// When it was sent.
    pub sent_ns: u64,
    /// When what was delivered last at that time had been sent.
    pub first_sent_ns: u64,
    /// Delivered by then.
    pub delivered_bytes: u64,
    /// When the last delivery was.
    pub delivered_ns: u64,
    /// Lost by then.
    pub lost_bytes: u64,
    /// In flight, this segment included.
    pub in_flight_bytes: u64,
    /// Whether the application, not the network, was the limit.
    pub is_app_limited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Sacked,
}

/// A range that was sent as one (RFC 8985, 5.1).
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// First offset.
    pub start: u64,
    /// Offset behind the last.
    pub end: u64,
    /// Number of its last transmission, in the order of time.
    pub transmission: u64,
    /// What was known then.
    pub stamp: Stamp,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
    state: State,
}

impl Sent {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// What an acknowledgement has newly delivered (RFC 6675, 5; RFC 8985, 6.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Newly acknowledged or SACKed.
    pub bytes: u64,
    /// Of them marked lost before, and not repeated.
    pub wrongly_lost_bytes: u64,
    /// The one that was sent last.
    pub newest: Option<Sent>,
    /// When the first and the last of those were sent that were sent once.
    pub originals_ns: Option<(u64, u64)>,
    /// Whether a repetition was acknowledged in order: what lies behind it may have come long ago,
    /// so that nothing can be measured (RFC 6298, 3).
    pub has_repetition: bool,
    /// Lowest transmission of one that was sent once (RFC 5682, 3.1).
    pub original_transmission: Option<u64>,
    /// One that was sent once came below one that had come before (RFC 8985, 6.2 step 3).
    pub is_reordered: bool,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    number: u64,
    range: Range,
}

/// The scoreboard of a sender (RFC 6675, 3).
#[derive(Clone, Debug)]
pub struct Scoreboard {
    sent: VecDeque<Sent>,
    order: VecDeque<Transmission>,
    lost: Ranges,
    sacked: Ranges,
    /// Number of the next transmission.
    transmissions: u64,
    in_flight_bytes: u64,
    /// Behind the highest offset that the peer is known to have (RFC 8985, 5.2: RACK.fack).
    furthest: u64,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            sent: VecDeque::new(),
            order: VecDeque::new(),
            lost: Ranges::new(SENT_MAX),
            sacked: Ranges::new(SENT_MAX),
            transmissions: 1,
            in_flight_bytes: 0,
            furthest: 0,
        }
    }
}

impl Scoreboard {
    /// The pipe (RFC 6675, 4).
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Held by the peer beyond a hole (RFC 6675, 4).
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// The next range to repeat (RFC 6675, 4: NextSeg, rule 1).
    pub fn next_lost(&self) -> Option<Range> {
        self.lost.first()
    }

    /// Whether a transmission can be recorded (RFC 6675, 3).
    pub fn has_room(&self) -> bool {
        self.sent.len() + 2 < SENT_MAX
    }

    /// Whether nothing waits for an acknowledgement (RFC 6298, 5.2).
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// The oldest and the last entry (RFC 8985, 7.3).
    pub fn ends(&self) -> Option<(Sent, Sent)> {
        Some((*self.sent.front()?, *self.sent.back()?))
    }

    /// The number that the next transmission will have (RFC 5682, 3.1).
    pub fn next_transmission(&self) -> u64 {
        self.transmissions
    }

    fn number(&mut self, range: Range) -> u64 {
        let number = self.transmissions;
        self.transmissions += 1;
        if self.order.len() >= ORDER_MAX {
            let mut order = std::mem::take(&mut self.order);
            order.retain(|it| !self.named(*it).is_empty());
            self.order = order;
        }
        self.order.push_back(Transmission { number, range });
        number
    }

    /// New data was sent, behind all that was sent before (RFC 8985, 6.1).
    pub fn send(&mut self, start: u64, end: u64, mut stamp: Stamp) {
        let transmission = self.number(Range { start, end });
        self.in_flight_bytes += end - start;
        stamp.in_flight_bytes = self.in_flight_bytes;
        let state = State::InFlight;
        self.sent.push_back(Sent { start, end, transmission, stamp, is_repeated: false, state });
    }

    /// A range was sent again (RFC 8985, 6.1).
    pub fn repeat(&mut self, start: u64, end: u64, mut stamp: Stamp) {
        self.split(start);
        self.split(end);
        let transmission = self.number(Range { start, end });
        let from = self.sent.partition_point(|it| it.start < start);
        for entry in self.sent.range_mut(from..).take_while(|it| it.end <= end) {
            match entry.state {
                State::Sacked => continue,
                State::Lost => self.in_flight_bytes += entry.end - entry.start,
                State::InFlight => {}
            }
            stamp.in_flight_bytes = self.in_flight_bytes;
            *entry =
                Sent { state: State::InFlight, is_repeated: true, transmission, stamp, ..*entry };
        }
        self.lost.remove(start, end);
    }

    /// Cuts the entry that has `offset` inside, so that one begins there.
    fn split(&mut self, offset: u64) {
        let at = self.sent.partition_point(|it| it.end <= offset);
        let Some(entry) = self.sent.get_mut(at).filter(|it| it.start < offset) else { return };
        let right = Sent { start: offset, ..*entry };
        entry.end = offset;
        self.sent.insert(at + 1, right);
    }

    /// The peer has everything before `to` (RFC 6675, 5).
    pub fn acknowledge(&mut self, to: u64, delivered: &mut Delivered) {
        self.split(to);
        while let Some(entry) = self.sent.front().copied().filter(|it| it.end <= to) {
            self.sent.pop_front();
            if entry.state != State::Sacked {
                delivered.has_repetition |= entry.is_repeated;
                self.deliver(&entry, delivered);
            }
        }
        self.sacked.remove_below(to);
        self.lost.remove_below(to);
        self.furthest = self.furthest.max(to);
        self.skip_stale();
    }

    /// The peer holds a range (RFC 6675, 4: Update; RFC 2018, 5). It is inside of what was sent.
    pub fn sack(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let mut at = start;
        while at < end {
            if let Some(held) = self.sacked.around(at) {
                at = held.end;
                continue;
            }
            let to = self.sacked.next(at).map_or(end, |it| it.start.min(end));
            if !self.has_room() || self.sacked.insert(at, to).is_err() {
                return;
            }
            self.hold(at, to, delivered);
            at = to;
        }
    }

    fn hold(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        self.split(start);
        self.split(end);
        let from = self.sent.partition_point(|it| it.start < start);
        for at in from..self.sent.len() {
            let entry = self.sent[at];
            if entry.end > end {
                break;
            }
            self.deliver(&entry, delivered);
            self.sent[at].state = State::Sacked;
        }
    }

    /// Counts an entry that has newly come.
    fn deliver(&mut self, entry: &Sent, delivered: &mut Delivered) {
        let bytes = entry.bytes();
        delivered.bytes += bytes;
        match entry.state {
            State::InFlight => self.in_flight_bytes -= bytes,
            State::Lost => {
                delivered.wrongly_lost_bytes += bytes;
                self.lost.remove(entry.start, entry.end);
            }
            State::Sacked => {}
        }
        if delivered.newest.is_none_or(|newest| newest.transmission < entry.transmission) {
            delivered.newest = Some(*entry);
        }
        if !entry.is_repeated {
            let sent_ns = entry.stamp.sent_ns;
            let (first_ns, last_ns) = delivered.originals_ns.unwrap_or((sent_ns, sent_ns));
            delivered.originals_ns = Some((first_ns.min(sent_ns), last_ns.max(sent_ns)));
            let lowest = delivered.original_transmission.unwrap_or(u64::MAX);
            delivered.original_transmission = Some(lowest.min(entry.transmission));
            delivered.is_reordered |= entry.end < self.furthest;
        }
        self.furthest = self.furthest.max(entry.end);
    }

    /// The entries in flight that a transmission still names.
    fn named(&self, transmission: Transmission) -> std::ops::Range<usize> {
        let Range { start, end } = transmission.range;
        let is_named =
            |it: &Sent| it.transmission == transmission.number && it.state == State::InFlight;
        let from = self.sent.partition_point(|it| it.start < start);
        let all = self.sent.range(from..).take_while(|it| it.end <= end);
        let mut found = all.enumerate().filter(|(_, it)| is_named(it)).map(|(at, _)| from + at);
        match found.next() {
            Some(first) => first..found.last().unwrap_or(first) + 1,
            None => 0..0,
        }
    }

    fn skip_stale(&mut self) {
        while let Some(first) = self.order.front() {
            if !self.named(*first).is_empty() {
                break;
            }
            self.order.pop_front();
        }
    }

    /// Finds what is lost because something sent later has come, and when to look again (RFC 8985,
    /// 6.2 step 5). Returns the bytes, and the time.
    pub fn detect_losses(
        &mut self,
        now_ns: u64,
        rack: &Rack,
        window_ns: u64,
    ) -> (u64, Option<u64>) {
        let mut lost_bytes = 0;
        while let Some(first) = self.order.front().copied() {
            let named = self.named(first);
            if let Some(entry) = self.sent.range(named.clone()).next().copied() {
                if !rack.is_after(entry.transmission) {
                    break;
                }
                let due_ns = entry.stamp.sent_ns + rack.rtt_ns() + window_ns;
                if due_ns > now_ns {
                    return (lost_bytes, Some(due_ns));
                }
                lost_bytes += self.lose(named, first.number);
            }
            self.order.pop_front();
        }
        (lost_bytes, None)
    }

    fn lose(&mut self, entries: std::ops::Range<usize>, transmission: u64) -> u64 {
        let mut lost_bytes = 0;
        for entry in self.sent.range_mut(entries) {
            if entry.state == State::InFlight && entry.transmission == transmission {
                entry.state = State::Lost;
                lost_bytes += entry.end - entry.start;
                // There are never more lost ranges than entries, which are bounded alike.
                let added = self.lost.insert(entry.start, entry.end);
                debug_assert!(added.is_ok(), "lost ranges exceed entries");
            }
        }
        self.in_flight_bytes -= lost_bytes;
        lost_bytes
    }

    /// The first `bytes` are lost, without a SACK to say so (RFC 6582, 3.2). Returns how many of
    /// them were in flight.
    pub fn lose_first(&mut self, bytes: u64) -> u64 {
        let Some((first, _)) = self.ends() else { return 0 };
        self.split(first.start + bytes);
        let entry = self.sent.front().filter(|it| it.state == State::InFlight).copied();
        let lost_bytes = entry.map_or(0, |entry| self.lose(0..1, entry.transmission));
        self.skip_stale();
        lost_bytes
    }

    /// The timer has expired: everything that the peer does not hold is lost (RFC 6298, 5.4). If it
    /// has given up what comes first, all its SACKs are forgotten (RFC 2018, 8).
    pub fn lose_all(&mut self) -> u64 {
        if self.sent.front().is_some_and(|it| it.state == State::Sacked) {
            for entry in self.sent.iter_mut().filter(|it| it.state == State::Sacked) {
                entry.state = State::InFlight;
                self.in_flight_bytes += entry.end - entry.start;
            }
            self.sacked.clear();
        }
        let lost_bytes = self.in_flight_bytes;
        for entry in self.sent.iter_mut().filter(|it| it.state == State::InFlight) {
            entry.state = State::Lost;
            let added = self.lost.insert(entry.start, entry.end);
            debug_assert!(added.is_ok(), "lost ranges exceed entries");
        }
        self.in_flight_bytes = 0;
        self.order.clear();
        lost_bytes
    }

    /// The timeout was for nothing: what was not repeated since is in flight as before (RFC 5682,
    /// 3.1). Returns how much.
    pub fn restore(&mut self) -> u64 {
        let mut restored_bytes = 0;
        let mut order: Vec<Transmission> = self.order.drain(..).collect();
        for entry in self.sent.iter_mut().filter(|it| it.state == State::Lost) {
            entry.state = State::InFlight;
            restored_bytes += entry.end - entry.start;
            let range = Range { start: entry.start, end: entry.end };
            order.push(Transmission { number: entry.transmission, range });
        }
        order.sort_by_key(|it| it.number);
        self.order.extend(order);
        self.in_flight_bytes += restored_bytes;
        self.lost.clear();
        restored_bytes
    }
}
