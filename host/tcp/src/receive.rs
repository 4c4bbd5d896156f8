//! The receiving half: which bytes are accepted, and what is said of them.
//!
//! ```text
//!   accepted │ hole │ held │ hole │ held │         │ edge announced      granted
//!   ─────────┼──────┴──────┴──────┴──────┴─────────┼──────────────────────┼──►
//!          next                                   edge
//! ```
//! Invariants
//! 1. `next` never falls, nor does `edge` (RFC 9293, 3.8.6: a window is not shrunk).
//! 2. Nothing is taken beyond what was granted. What was taken first stands: a byte that comes
//!    again is a duplicate, whatever it holds.
//! 3. Every segment beyond a hole is acknowledged on its own, its block first; a block is said in
//!    the three ACKs that follow it (RFC 2018, 4). Segments of one poll that fall into one block
//!    share an ACK.
//! 4. A run of n packets in order leads to one ACK, sent at once if they are two full segments, as
//!    n packets that were found together do. Where a peer that counts ACKs may be in slow start
//!    (RFC 5681, 3.1: at the start of a stream, and after a hole was filled), it leads to those of
//!    n packets that came one by one, and one for the last, for the next [`STEPPED_BYTES_MAX`]
//!    bytes.
//! 5. At most [`HELD_MAX`] ranges are held, 16 KiB; a segment that would be one more is not taken.
//!
//! Sources: RFC 9293, 3.8.6 and 3.10.7.4; RFC 5681, 4.2; RFC 2018, 4; RFC 2883, 4.

use std::collections::VecDeque;

use arrayvec::ArrayVec;

use crate::ranges::{Range, Ranges};
use crate::segment::{SackBlock, SACK_BLOCKS_MAX};
use crate::sequence::Numbers;

/// Most ranges held beyond holes (RFC 2018, 4).
pub const HELD_MAX: usize = 1_024;
/// ACKs that are owed at a time, beyond which the oldest are left out.
const TRIGGERS_MAX: usize = 256;
/// Blocks whose order of arrival is remembered.
const RECENT_MAX: usize = 16;
/// So many bytes of runs are acknowledged as single packets would be (RFC 5681, 4.2), before a run
/// has one ACK: enough for a window of 10 segments to double four times.
pub const STEPPED_BYTES_MAX: u64 = 256 << 10;

/// What became of the payload of a segment (RFC 9293, 3.10.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This range of stream offsets is new and stands; it is empty for a segment without payload.
    /// Of a segment that covers several holes, only the first is taken; of a run, all, and the
    /// range is from the first byte taken to the last.
    Taken(Range),
    /// Nothing of it is new, but it is of the stream.
    Ignored,
    /// It is not of the stream, or cannot be kept.
    Refused,
}

/// When an acknowledgement is due (RFC 9293, 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Never,
    At(u64),
    Now,
}

/// ACK numbers before RCV.NXT that are owed, of a run (RFC 5681, 4.2).
#[derive(Clone, Copy, Debug)]
struct Steps {
    /// The next.
    at: u64,
    /// From one to the next.
    bytes: u64,
}

/// The receiving half of a connection (RFC 9293, 3.3.1: RCV).
#[derive(Clone, Debug)]
pub struct Receiver {
    numbers: Numbers,
    next: u64,
    edge: u64,
    granted: u64,
    /// Largest window that could be granted so far.
    window_max: u64,
    shift: u8,
    mss_bytes: u64,
    delay_ns: u64,
    held: Ranges,
    /// An offset in each block, the one that grew last first.
    recent: ArrayVec<u64, RECENT_MAX>,
    /// Offsets of segments that have to be acknowledged one by one, oldest first.
    triggers: VecDeque<u64>,
    duplicate: Option<Range>,
    fin_at: Option<u64>,
    due: Due,
    /// Accepted since the last ACK.
    quiet_bytes: u64,
    steps: Option<Steps>,
    /// So much of runs is still to be acknowledged in steps.
    stepped_bytes: u64,
}

impl Receiver {
    /// A receiver whose peer has sent its SYN (RFC 9293, 3.10.7.3).
    pub fn new(first: u32, shift: u8, mss_bytes: u64, delay_ns: u64) -> Self {
        Self {
            numbers: Numbers { first },
            next: 1,
            edge: 1,
            granted: 1,
            window_max: 0,
            shift,
            mss_bytes,
            delay_ns,
            held: Ranges::new(HELD_MAX),
            recent: ArrayVec::new(),
            triggers: VecDeque::new(),
            duplicate: None,
            fin_at: None,
            due: Due::Never,
            quiet_bytes: 0,
            steps: None,
            stepped_bytes: STEPPED_BYTES_MAX,
        }
    }

    /// How the peer's sequence numbers are counted (RFC 9293, 3.4).
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// RCV.NXT (RFC 9293, 3.3.1).
    pub fn next(&self) -> u64 {
        self.next
    }

    /// RCV.NXT as a number (RFC 9293, 3.4).
    pub fn number(&self) -> u32 {
        self.numbers.of(self.next)
    }

    /// Stream offset of the next byte: everything before is accepted (RFC 9293, 3.3.1).
    pub fn accepted_to(&self) -> u64 {
        self.next - 1 - u64::from(self.is_ended())
    }

    /// Whether the FIN has come, and all before it (RFC 9293, 3.10.7.4, eighth).
    pub fn is_ended(&self) -> bool {
        self.fin_at.is_some_and(|fin_at| fin_at < self.next)
    }

    /// Memory is there for everything before a stream offset (RFC 9293, 3.8.6).
    pub fn grant(&mut self, end: u64) {
        self.granted = self.granted.max(end + 1);
        self.window_max = self.window_max.max(self.granted.saturating_sub(self.next));
        let (more, open) = (self.granted.saturating_sub(self.edge), self.open_bytes());
        let half_bytes = self.window_max / 2;
        let is_worth_it = more >= half_bytes.min(self.mss_bytes) || self.is_closed();
        // RFC 9293, 3.8.6.2.2: an update only where it helps the sender to a full segment.
        if is_worth_it && more > 0 && (open < 2 * self.mss_bytes || more >= half_bytes.max(1)) {
            self.due = Due::Now;
        }
    }

    /// Whether the peer may send nothing. Then any memory opens the window: what is posted is
    /// posted for a purpose, and may be all there ever is.
    fn is_closed(&self) -> bool {
        self.edge <= self.next
    }

    /// Stream offset up to which memory was granted (RFC 9293, 3.8.6).
    pub fn granted_to(&self) -> u64 {
        self.granted - 1
    }

    /// Whether something in order waits for its ACK (RFC 8257, 3.2).
    pub fn has_quiet(&self) -> bool {
        self.quiet_bytes > 0
    }

    /// A whole segment is old: it is reported as a duplicate (RFC 2883, 4).
    pub fn report_old(&mut self, start: i64, bytes: u64) {
        self.note_duplicate(start, (start + bytes as i64).min(self.next as i64));
        self.due = Due::Now;
    }

    /// What is announced and not used (RFC 9293, 3.3.1: RCV.WND).
    pub fn open_bytes(&self) -> u64 {
        self.edge.saturating_sub(self.next)
    }

    /// Whether a segment touches the window (RFC 9293, 3.10.7.4, first).
    pub fn is_acceptable(&self, start: i64, length: u64) -> bool {
        let (next, edge) = (self.next as i64, self.edge.max(self.next) as i64);
        let last = start + length as i64 - 1;
        match (length, edge - next) {
            (0, 0) => start == next,
            (0, _) => next <= start && start < edge,
            (_, 0) => false,
            _ => (next <= start && start < edge) || (next <= last && last < edge),
        }
    }

    /// Whether any of these bytes was accepted, or is held beyond a hole (RFC 2018, 4).
    pub fn holds_any(&self, start: i64, end: i64) -> bool {
        let next = self.next as i64;
        let from = start.max(next) as u64;
        start < next || self.held.next(from).is_some_and(|held| (held.start as i64) < end)
    }

    /// Takes a payload and a FIN behind it that touch the window (RFC 9293, 3.10.7.4, seventh and
    /// eighth).
    pub fn take(&mut self, now_ns: u64, start: i64, bytes: u64, is_fin: bool) -> Verdict {
        let end = start + bytes as i64;
        self.note_duplicate(start, end);
        let from = start.max(self.next as i64) as u64;
        let from = self.held.around(from).map_or(from, |held| held.end);
        let limit = self.fin_at.unwrap_or(u64::MAX).min(self.edge).min(self.granted.max(self.next));
        let held_from = self.held.next(from).map_or(u64::MAX, |held| held.start);
        let to = (end.max(0) as u64).min(limit).min(held_from);
        let is_whole = end.max(0) as u64 <= limit;
        if from < to {
            match self.held.insert(from, to) {
                Ok(_) => self.accept(now_ns, from),
                Err(_) => {
                    self.due = Due::Now;
                    return Verdict::Refused;
                }
            }
        }
        if is_fin && is_whole && self.fin_at.is_none() && end >= self.next as i64 {
            self.fin_at = Some(end as u64);
            self.due = Due::Now;
        }
        // A FIN that is next takes its own offset.
        if self.fin_at == Some(self.next) {
            self.next += 1;
            self.edge = self.edge.max(self.next);
            self.due = Due::Now;
        }
        match (from < to, bytes) {
            (true, _) => Verdict::Taken(Range { start: from - 1, end: to - 1 }),
            (false, 0) => Verdict::Taken(Range { start: from - 1, end: from - 1 }),
            (false, _) if end <= from as i64 => Verdict::Ignored,
            (false, _) => {
                self.due = Due::Now;
                Verdict::Refused
            }
        }
    }

    /// What came a second time (RFC 2883, 4).
    fn note_duplicate(&mut self, start: i64, end: i64) {
        let (start, end) = (start.max(1) as u64, end.max(0) as u64);
        if start >= end {
            return;
        }
        if start < self.next {
            self.duplicate = Some(Range { start, end: end.min(self.next) });
            self.due = Due::Now;
        } else if let Some(held) = self.held.around(start) {
            self.duplicate = Some(Range { start, end: end.min(held.end) });
            self.owe(start);
        }
    }

    /// The segment at an offset is owed an ACK of its own.
    fn owe(&mut self, offset: u64) {
        if self.triggers.len() == TRIGGERS_MAX {
            self.triggers.pop_front();
        }
        self.triggers.push_back(offset);
    }

    /// Something new came at an offset.
    fn accept(&mut self, now_ns: u64, from: u64) {
        if from > self.next {
            self.owe(from);
            return;
        }
        let first = self.held.first().map_or(self.next, |it| it.end);
        let bytes = first - self.next;
        self.next = first;
        self.held.remove_below(first);
        self.quiet_bytes += bytes;
        // RFC 5681, 4.2: at once if it fills a hole, and for every second full segment.
        let is_filling = !self.held.is_empty() || !self.recent.is_empty();
        self.recent.retain(|offset| *offset >= first);
        if is_filling {
            self.stepped_bytes = STEPPED_BYTES_MAX;
        }
        if is_filling || self.quiet_bytes >= 2 * self.mss_bytes {
            self.due = Due::Now;
        } else if self.due == Due::Never {
            self.due = Due::At(now_ns + self.delay_ns);
        }
    }

    /// A run was taken, as far as `range`: what its packets, one by one, would have had
    /// acknowledged is owed, where that matters (RFC 5681, 4.2).
    pub fn owe_steps(&mut self, range: Range, segment_bytes: u64) {
        let (start, bytes) = (range.start + 1, range.end - range.start);
        let is_in_order = range.end < self.next && self.held.is_empty();
        if !is_in_order || self.stepped_bytes == 0 || segment_bytes == 0 {
            return;
        }
        self.stepped_bytes = self.stepped_bytes.saturating_sub(bytes);
        let full_bytes = 2 * self.mss_bytes;
        let quiet_bytes = self.quiet_bytes.saturating_sub(bytes);
        let packets = |bytes: u64| bytes.div_ceil(segment_bytes).max(1) * segment_bytes;
        let first_bytes = packets(full_bytes.saturating_sub(quiet_bytes));
        let steps = Steps { at: start + first_bytes, bytes: packets(full_bytes) };
        self.steps.get_or_insert(steps);
    }

    /// The next ACK number that a run has called for, but for its last (RFC 5681, 4.2).
    pub fn step(&mut self) -> Option<u64> {
        let at = self.steps?.at;
        if at >= self.next {
            self.steps = None;
            return None;
        }
        self.steps.as_mut()?.at += self.steps?.bytes;
        Some(at)
    }

    /// An ACK has to be sent at once, for a reason that is not payload (RFC 9293, 3.10.7.4).
    pub fn acknowledge_now(&mut self) {
        self.due = Due::Now;
    }

    /// Whether an ACK is due (RFC 9293, 3.8.6.3).
    pub fn is_due(&self, now_ns: u64) -> bool {
        let is_time = match self.due {
            Due::Never => false,
            Due::At(at_ns) => at_ns <= now_ns,
            Due::Now => true,
        };
        is_time || !self.triggers.is_empty()
    }

    /// Whether something has to be said that only an ACK without payload says: what came beyond a
    /// hole, or a second time (RFC 5681, 4.2; RFC 2883, 4).
    pub fn owes_blocks(&self) -> bool {
        !self.triggers.is_empty() || self.duplicate.is_some()
    }

    /// When the delayed ACK is due (RFC 9293, 3.8.6.3).
    pub fn deadline(&self) -> Option<u64> {
        match self.due {
            _ if !self.triggers.is_empty() => Some(0),
            Due::Never => None,
            Due::At(at_ns) => Some(at_ns),
            Due::Now => Some(0),
        }
    }

    /// The window field of the next segment (RFC 9293, 3.8.6.2.2; RFC 7323, 2.3).
    pub fn announce(&mut self, shift: u8) -> u16 {
        let step_bytes = (self.window_max / 2).min(self.mss_bytes);
        let more_bytes = self.granted.saturating_sub(self.edge);
        let is_enough = more_bytes >= step_bytes || self.is_closed();
        let edge = if is_enough { self.granted } else { self.edge };
        let edge = edge.max(self.edge).max(self.next);
        let open_bytes = edge - self.next;
        // A rest of a unit is announced as one, or nothing would ever fill it. What comes beyond
        // the granted memory is not taken, and comes again.
        let window = open_bytes.div_ceil(1 << shift).min(u16::MAX.into());
        self.edge = self.edge.max(self.next + (window << shift));
        window as u16
    }

    /// The window scale that was agreed (RFC 7323, 2.2).
    pub fn shift(&self) -> u8 {
        self.shift
    }

    /// Data that carries the ACK number is being sent, without blocks: what waits for blocks waits
    /// on (RFC 9293, 3.8.6.3).
    pub fn ride(&mut self) {
        if self.duplicate.is_none() {
            self.told();
        }
    }

    /// A segment without payload was acceptable (RFC 9293, 3.10.7.4).
    pub fn take_nothing(&self) -> Verdict {
        Verdict::Taken(Range { start: self.next - 1, end: self.next - 1 })
    }

    /// Everything in order is told (RFC 9293, 3.8.6.3).
    pub fn told(&mut self) {
        self.due = Due::Never;
        self.quiet_bytes = 0;
    }

    /// The blocks of the next ACK (RFC 2018, 4; RFC 2883, 4): first a duplicate, then the block
    /// that the oldest segment that is owed an ACK fell into, then those before it.
    pub fn blocks(&mut self, blocks_max: usize) -> ArrayVec<SackBlock, SACK_BLOCKS_MAX> {
        self.told();
        self.follow_trigger();
        let mut ranges: ArrayVec<Range, SACK_BLOCKS_MAX> = ArrayVec::new();
        let blocks_max = blocks_max.min(SACK_BLOCKS_MAX);
        let duplicate = self.duplicate.take().filter(|_| blocks_max > 0);
        let listed = usize::from(duplicate.is_some());
        ranges.extend(duplicate);
        for range in self.recent.iter().filter_map(|offset| self.held.around(*offset)) {
            if ranges.len() >= blocks_max {
                break;
            }
            // A block that is still owed an ACK would tell of what is newer than what the ACKs
            // between tell, and the sender would take that for lost.
            let is_owed = self.triggers.iter().any(|it| range.start <= *it && *it < range.end);
            if !is_owed && !ranges[listed..].contains(&range) {
                ranges.push(range);
            }
        }
        let number = |offset| self.numbers.of(offset);
        ranges.iter().map(|it| SackBlock { start: number(it.start), end: number(it.end) }).collect()
    }

    /// Brings the block of the next trigger to the front. Of those in one block the last counts:
    /// what came between is told before, or the sender would take it for lost.
    fn follow_trigger(&mut self) {
        while let Some(offset) = self.triggers.pop_front() {
            let Some(block) = self.held.around(offset) else { continue };
            let is_in_block = |it: &u64| block.start <= *it && *it < block.end;
            if self.triggers.iter().any(is_in_block) {
                continue;
            }
            self.recent.retain(|it| !is_in_block(it));
            if self.recent.is_full() {
                self.recent.pop();
            }
            self.recent.insert(0, offset);
            return;
        }
    }
}
