//! Control messages between two stations: short, in order, each once, without a flow.
//!
//! ```text
//!   say(bytes) ─► queued, numbered ─► in flight, up to a window ─► heard: acknowledged
//!                                          └─ timeout: all of them again
//!   heard ─► next number? ─► told ; another one: dropped, acknowledged again
//! ```
//! Each packet carries the sender's incarnation, drawn when its card was opened, and the one that
//! it believes to talk to. So a station that was opened again is noticed, and hears nothing of what
//! was meant for the one before.
//!
//! Invariants
//! 1. What is told was said by the present incarnation, in the order of its numbers, with no gap.
//! 2. A station that is watched and silent for [`SILENCE`] is told to be lost, once. Time in which
//!    nobody listened does not count: a process that was stopped does not blame the others.

use std::collections::VecDeque;
use std::time::Duration;

use tcp::rtt::Rtt;

use super::header::{Header, Meaning, Station};
use super::pace;

/// Most bytes of a control message: with the longest headers it fits the slot of a send ring.
pub const CONTROL_BYTES_MAX: usize = 128;
/// How long a station that is watched may be silent before it is lost.
pub const SILENCE: Duration = Duration::from_millis(4_000);
/// How long it may be silent before it is asked whether it is there.
const PROBE_NS: u64 = 500_000_000;
/// Who listens no more often than this was stopped: a watched station is asked more often.
pub const STOPPED_NS: u64 = 2 * PROBE_NS;
const SILENCE_NS: u64 = SILENCE.as_nanos() as u64;
/// Control messages in flight to a station.
const WINDOW: usize = 64;
/// Bytes before the content: the incarnation that the packet is meant for.
const TO_BYTES: usize = 8;

/// One packet of a channel: its header, and what follows.
pub type Packet = (Header, Vec<u8>);

/// What a packet leads to.
#[derive(Debug, Default)]
pub struct Heard {
    /// The other end is another incarnation than before.
    pub is_new: bool,
    /// The control message that it carries, if that is the next one.
    pub told: Option<Vec<u8>>,
}

/// The control messages to and from one station.
#[derive(Debug)]
pub struct Channel {
    /// The other station.
    pub to: Station,
    /// Its silence counts.
    pub is_watched: bool,
    local: u64,
    /// The other end's incarnation, once it is heard; 0 before.
    peer: u64,
    queue: VecDeque<Vec<u8>>,
    /// Number of the first of the queue.
    first: u32,
    /// How many of the queue are in flight.
    in_flight: usize,
    /// The number that is measured, and when it was sent.
    timed: Option<(u32, u64)>,
    rtt: Rtt,
    /// When what is in flight is sent again.
    again_ns: u64,
    /// Number that is told next.
    next: u32,
    is_answer_due: bool,
    heard_ns: u64,
    probed_ns: u64,
}

impl Channel {
    /// A channel on which nothing was said, of the incarnation `local` of this end.
    pub fn new(to: Station, local: u64, now_ns: u64) -> Self {
        Self {
            to,
            is_watched: false,
            local,
            peer: 0,
            queue: VecDeque::new(),
            first: 0,
            in_flight: 0,
            timed: None,
            rtt: Rtt::new(&pace::timeouts()),
            again_ns: 0,
            next: 0,
            is_answer_due: false,
            heard_ns: now_ns,
            probed_ns: now_ns,
        }
    }

    /// Queues a control message.
    pub fn say(&mut self, content: Vec<u8>) {
        self.queue.push_back(content);
    }

    /// From now on the silence of the station counts, or does not.
    pub fn watch(&mut self, is_watched: bool, now_ns: u64) {
        if is_watched && !self.is_watched {
            (self.heard_ns, self.probed_ns) = (now_ns, now_ns);
        }
        self.is_watched = is_watched;
    }

    /// Time in which nobody listened is not silence: what was heard meanwhile, if a packet of the
    /// station has just been taken, is heard now and not later.
    pub fn forgive(&mut self, passed_ns: u64, now_ns: u64) {
        self.heard_ns = now_ns.min(self.heard_ns + passed_ns);
    }

    /// The station is there: something of it has come beside the channel.
    pub fn note_life(&mut self, now_ns: u64) {
        self.heard_ns = self.heard_ns.max(now_ns);
    }

    /// Whether a watched station has been silent for too long; true once.
    pub fn take_lost(&mut self, now_ns: u64) -> bool {
        let is_lost = self.is_watched && now_ns >= self.heard_ns + SILENCE_NS;
        self.is_watched &= !is_lost;
        is_lost
    }

    /// Takes a packet of the station, with what follows its header.
    pub fn hear(&mut self, header: &Header, content: &[u8], now_ns: u64) -> Heard {
        let mut heard = Heard::default();
        let Some((to, content)) = content.split_first_chunk::<TO_BYTES>() else {
            return heard;
        };
        let (from, to) = (header.message, u64::from_be_bytes(*to));
        if self.peer != from {
            heard.is_new = self.peer != 0;
            if heard.is_new {
                *self = Self::new(self.to, self.local, now_ns);
            }
            self.peer = from;
        }
        self.heard_ns = now_ns;
        self.is_answer_due |= header.meaning != Meaning::Heard;
        if to != self.local {
            // Of the incarnation before, or from one that has heard nothing yet: it has nothing to
            // acknowledge, and only what opens a channel is taken.
            let opens = to == 0 && self.next == 0;
            if !opens {
                return heard;
            }
        } else {
            self.take_acknowledgement(header.bytes, now_ns);
        }
        if header.meaning == Meaning::Control(self.next) {
            self.next = self.next.wrapping_add(1);
            heard.told = Some(content.to_vec());
        }
        heard
    }

    /// The other end has everything before number `to`.
    fn take_acknowledgement(&mut self, to: u32, now_ns: u64) {
        let done = to.wrapping_sub(self.first) as usize;
        if done == 0 || done > self.in_flight {
            return;
        }
        if let Some((number, sent_ns)) = self.timed {
            if (number.wrapping_sub(self.first) as usize) < done {
                self.rtt.measure(now_ns.saturating_sub(sent_ns));
                self.timed = None;
            }
        }
        self.rtt.progress();
        self.queue.drain(..done);
        self.first = to;
        self.in_flight -= done;
        self.again_ns = now_ns + self.rtt.rto_ns();
    }

    /// The next packet to send, if one is due.
    pub fn packet(&mut self, now_ns: u64) -> Option<Packet> {
        if self.in_flight > 0 && now_ns >= self.again_ns {
            self.rtt.back_off();
            (self.in_flight, self.timed) = (0, None);
        }
        // Until the other end has answered, it is shown the first alone: it takes no other.
        let window = if self.peer == 0 { 1 } else { WINDOW };
        if self.in_flight < self.queue.len().min(window) {
            let number = self.first.wrapping_add(self.in_flight as u32);
            if self.in_flight == 0 {
                self.again_ns = now_ns + self.rtt.rto_ns();
            }
            self.timed.get_or_insert((number, now_ns));
            let content = self.queue[self.in_flight].clone();
            self.in_flight += 1;
            return Some(self.say_now(Meaning::Control(number), &content));
        }
        if self.is_answer_due {
            return Some(self.say_now(Meaning::Heard, &[]));
        }
        let quiet_ns = now_ns.saturating_sub(self.heard_ns.max(self.probed_ns));
        if self.is_watched && quiet_ns >= PROBE_NS {
            self.probed_ns = now_ns;
            return Some(self.say_now(Meaning::Probe, &[]));
        }
        None
    }

    fn say_now(&mut self, meaning: Meaning, content: &[u8]) -> Packet {
        self.is_answer_due = false;
        let header = Header { message: self.local, bytes: self.next, meaning };
        (header, [&self.peer.to_be_bytes(), content].concat())
    }

    /// Whether everything that was said is acknowledged.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && !self.is_answer_due
    }

    /// When it acts next, if nothing comes before.
    pub fn deadline_ns(&self) -> Option<u64> {
        let again = (self.in_flight > 0).then_some(self.again_ns);
        let probe_ns =
            (self.heard_ns.max(self.probed_ns) + PROBE_NS).min(self.heard_ns + SILENCE_NS);
        again.into_iter().chain(self.is_watched.then_some(probe_ns)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;

    fn pair() -> [Channel; 2] {
        [(2, 11), (1, 22)].map(|(host, local)| {
            let address = ([10, 0, 0, host], 7700).into();
            Channel::new(Station { mac: [2, 0, 0, 0, 0, host], address }, local, 0)
        })
    }

    fn packets(channel: &mut Channel, now_ns: u64) -> Vec<Packet> {
        std::iter::from_fn(|| channel.packet(now_ns)).collect()
    }

    fn give(packets: &[Packet], to: &mut Channel, now_ns: u64) -> Vec<Vec<u8>> {
        let told = packets.iter().filter_map(|(header, content)| {
            let heard = to.hear(header, content, now_ns);
            assert!(!heard.is_new);
            heard.told
        });
        told.collect()
    }

    #[test]
    fn lost_messages_come_again_in_order() {
        let [mut here, mut there] = pair();
        for number in 0..200u8 {
            here.say(vec![number]);
        }
        let (mut told, mut now_ns, mut rounds) = (Vec::new(), 0, 0);
        while told.len() < 200 {
            let mut out = packets(&mut here, now_ns);
            // Every third packet is lost, and the others come in the wrong order.
            let mut count = rounds;
            out.retain(|_| {
                count += 1;
                count % 3 != 0
            });
            out.reverse();
            told.extend(give(&out, &mut there, now_ns));
            let back = packets(&mut there, now_ns + MS_NS);
            give(&back, &mut here, now_ns + MS_NS);
            now_ns += 2 * MS_NS;
            rounds += 1;
            assert!(rounds < 100_000, "{} told", told.len());
        }
        assert!(told.iter().map(|content| content[0]).eq(0..200));
        let rest = packets(&mut there, now_ns);
        give(&rest, &mut here, now_ns);
        assert!(here.is_idle());
    }

    #[test]
    fn repeated_message_is_told_once() {
        let [mut here, mut there] = pair();
        here.say(vec![1]);
        let out = packets(&mut here, 0);
        assert_eq!(give(&out, &mut there, 0).len(), 1);
        assert_eq!(give(&out, &mut there, 0).len(), 0);
        assert_eq!(packets(&mut there, 0).len(), 1, "both are answered by one packet");
    }

    #[test]
    fn reopened_station_is_noticed() {
        let [mut here, mut there] = pair();
        here.say(vec![1]);
        let out = packets(&mut here, 0);
        give(&out, &mut there, 0);
        give(&packets(&mut there, 0), &mut here, 0);
        there.say(vec![2]);
        let late = packets(&mut there, 0);
        let mut again = Channel::new(here.to, 33, 0);
        again.say(vec![3]);
        let (header, content) = &packets(&mut again, 0)[0];
        let heard = there.hear(header, content, 0);
        assert!(heard.is_new);
        assert_eq!(heard.told, Some(vec![3]));
        // What was meant for the one before is not told to this one.
        assert_eq!(give(&late, &mut again, 0), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn silent_station_is_probed_then_lost() {
        let [mut here, mut there] = pair();
        here.watch(true, 0);
        let mut now_ns = 0;
        let mut probes = 0;
        while !here.take_lost(now_ns) {
            probes += packets(&mut here, now_ns).len();
            now_ns = here.deadline_ns().expect("it is watched");
        }
        assert_eq!((now_ns, probes), (SILENCE_NS, 7));
        assert!(!here.take_lost(now_ns), "it is told once");
        here.watch(true, now_ns);
        let probe = packets(&mut here, now_ns + PROBE_NS);
        give(&probe, &mut there, now_ns);
        give(&packets(&mut there, now_ns), &mut here, now_ns + PROBE_NS);
        assert!(!here.take_lost(now_ns + SILENCE_NS), "it has answered");
    }

    #[test]
    fn time_without_a_listener_is_forgiven_up_to_now() {
        let [mut here, mut there] = pair();
        here.watch(true, 0);
        // Nobody listens for 60 s; then a packet that has waited is taken, and the time forgiven.
        let now_ns = 15 * SILENCE_NS;
        there.say(vec![1]);
        give(&packets(&mut there, now_ns), &mut here, now_ns);
        here.forgive(now_ns, now_ns);
        assert!(!here.take_lost(now_ns + SILENCE_NS - 1));
        assert!(here.take_lost(now_ns + SILENCE_NS), "its silence begins now");
    }

    #[test]
    fn silence_before_a_stop_still_counts() {
        let [mut here, _] = pair();
        here.watch(true, 0);
        let (before_ns, stopped_ns) = (SILENCE_NS / 4, 15 * SILENCE_NS);
        let now_ns = before_ns + stopped_ns;
        here.forgive(stopped_ns, now_ns);
        assert!(!here.take_lost(now_ns));
        assert!(here.take_lost(now_ns + SILENCE_NS - before_ns));
    }
}
