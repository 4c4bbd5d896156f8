//! One connection: the state machine, and the parts that it drives.
//!
//! ```text
//!   connect ─► SYN-SENT ──┐                        ┌─► FIN-WAIT-1 ─► FIN-WAIT-2 ─┐
//!                         ├─► ESTABLISHED ─ finish ┤        └─► CLOSING ─────────┼─► TIME-WAIT
//!   accept ─► SYN-RECEIVED┘        │ FIN           └─ (after CLOSE-WAIT) LAST-ACK ─► closed
//!
//!   arrive ──► arrive.rs ─► acknowledge.rs ─► scoreboard, RACK, controller
//!                      └──► receive.rs        repair.rs: losses, timeouts, probes
//!   transmit ◄── transmit.rs                  timers.rs: what is due when
//! ```
//! It holds positions and lengths, never payload. Offsets inside count the SYN as 0, so the first
//! byte is at 1; the calls and events count from the first byte.
//!
//! Invariants
//! 1. Nothing is sent beyond what was offered, nor new beyond the peer's window; what was sent and
//!    is not acknowledged is in the scoreboard.
//! 2. No call reads a clock: `now_ns` is given and never goes back.
//! 3. After [`Connection::arrive`], [`Connection::advance`] or a call of the application,
//!    [`Connection::transmit`] is called until it returns nothing; then again at
//!    [`Connection::deadline`].
//!
//! Source: RFC 9293, 3.3.2 (states), 3.9.1 (calls), 3.10 (events).

mod acknowledge;
mod arrive;
mod open;
mod path;
mod repair;
mod timers;
mod transmit;

use std::sync::Arc;

use thiserror::Error;

pub use self::open::Offer;
pub use self::path::Icmp;

use crate::clock::Clock;
use crate::config::Config;
use crate::control::Controller;
use crate::marks::Marks;
use crate::pace::Pace;
use crate::path_mtu::PathMtu;
use crate::rack::Rack;
use crate::rate_reduction::RateReduction;
use crate::receive::{Receiver, Verdict};
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::segment::Segment;
use crate::sequence::Numbers;

/// The states of a connection that is not listening (RFC 9293, 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN has come and was answered.
    SynReceived,
    /// Data flows.
    Established,
    /// Our FIN was sent.
    FinWait1,
    /// Our FIN is acknowledged.
    FinWait2,
    /// The peer's FIN has come.
    CloseWait,
    /// Both FINs were sent, ours is not acknowledged.
    Closing,
    /// As Closing, but the peer was first.
    LastAck,
    /// Both FINs are acknowledged; the endpoint keeps the tuple for a while.
    TimeWait,
    /// There is no connection any more.
    Closed,
}

/// Why a connection has ended (RFC 9293, 3.9.1 and 3.10.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum End {
    /// Both halves were closed (RFC 9293, 3.6).
    #[error("closed by both ends")]
    Closed,
    /// The peer sent a reset (RFC 9293, 3.10.7.4).
    #[error("reset by the peer")]
    Reset,
    /// The peer answered the SYN with a reset (RFC 9293, 3.10.7.3).
    #[error("refused by the peer")]
    Refused,
    /// Nothing was acknowledged for so many timeouts (RFC 9293, 3.8.3: R2).
    #[error("no answer after {0} timeouts")]
    TimedOut(u32),
    /// The network said that the peer cannot be reached, before it ever was (RFC 5927, 4).
    #[error("not reachable: ICMP code {0}")]
    Unreachable(u8),
    /// The application has aborted it (RFC 9293, 3.9.1).
    #[error("aborted")]
    Aborted,
}

/// What happened (RFC 9293, 3.9.1). Offsets count from the first byte of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open.
    Opened,
    /// Everything before this offset was accepted in order.
    Accepted(u64),
    /// The peer has everything before this offset.
    Acknowledged(u64),
    /// The peer has ended its half, and all before that was accepted.
    EndOfStream,
    /// The connection has ended.
    Ended(End),
}

/// A header to be sent (RFC 9293, 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The header, and how long its payload is (RFC 9293, 3.1).
    pub segment: Segment,
    /// Stream offset of the payload.
    pub offset: u64,
    /// Largest payload of one packet: a longer one is cut, the FIN and PSH with its last part.
    pub mss_bytes: u32,
}

/// What a segment came to (RFC 9293, 3.10.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What became of its payload.
    pub verdict: Verdict,
    /// Everything before this stream offset is accepted in order.
    pub accepted_to: u64,
    /// The peer has everything before this stream offset.
    pub acknowledged_to: u64,
}

/// The send window (RFC 9293, 3.3.1).
#[derive(Clone, Copy, Debug, Default)]
struct PeerWindow {
    /// SND.WND.
    bytes: u64,
    /// MAX.SND.WND (RFC 5961, 5.2).
    bytes_max: u64,
    /// SND.WL1 and SND.WL2.
    by_sequence: u64,
    by_acknowledgement: u64,
    shift: u8,
}

/// What was agreed with the SYNs.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    has_sack: bool,
    has_timestamps: bool,
    has_scale: bool,
}

/// The repair of a loss (RFC 6675, 5; RFC 6298, 5).
#[derive(Clone, Debug)]
struct Repair {
    /// It ends when everything before this is acknowledged (RecoveryPoint).
    point: u64,
    is_timeout: bool,
    reduction: Option<RateReduction>,
}

/// Whether a timeout was for nothing is being found out (RFC 5682, 3.1).
#[derive(Clone, Copy, Debug)]
struct Doubt {
    /// Transmissions before this number were before the timeout.
    transmission: u64,
    /// New data that may still be sent instead of repetitions; `None` before the first ACK.
    allowed_bytes: Option<u64>,
}

/// A tail probe that was sent (RFC 8985, 7.1).
#[derive(Clone, Copy, Debug)]
struct TailProbe {
    end: u64,
    is_repetition: bool,
}

/// What the retransmission timer is for (RFC 6298, 5; RFC 8985, 7.2; RFC 9293, 3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Handshake,
    Timeout,
    TailProbe,
    Persist,
    /// FIN-WAIT-2 of a connection that nobody has any more.
    Orphan,
}

/// What has to be sent beside data.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    is_handshake: bool,
    is_window_probe: bool,
    is_tail_probe: bool,
    /// Sequence number of a reset (RFC 9293, 3.10.7).
    reset: Option<u32>,
    /// A partial segment that waited for a larger window (RFC 9293, 3.8.6.2.1).
    is_partial: bool,
}

/// What was delivered so far (draft-ietf-ccwg-bbr, 4.1.1).
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    delivered_bytes: u64,
    delivered_ns: u64,
    first_sent_ns: u64,
    lost_bytes: u64,
    /// The application was the limit until this much was delivered.
    app_limited_to: u64,
}

/// What was told to the application.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    is_opened: bool,
    accepted_to: u64,
    acknowledged_to: u64,
    is_end_of_stream: bool,
    is_end: bool,
}

/// What a connection counts (RFC 4898 has such counters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes sent again.
    pub repeated_bytes: u64,
    /// Bytes found lost.
    pub lost_bytes: u64,
    /// Expiries of the retransmission timer (RFC 6298, 5).
    pub timeouts: u64,
    /// Of them for nothing (RFC 5682).
    pub timeouts_undone: u64,
    /// Tail probes (RFC 8985, 7).
    pub tail_probes: u64,
    /// D-SACKs that came (RFC 2883).
    pub duplicates: u64,
    /// Challenge ACKs sent and left out (RFC 5961, 7).
    pub challenges: u64,
    /// Challenge ACKs that the limit has stopped.
    pub challenges_withheld: u64,
    /// Segments that PAWS has stopped (RFC 7323, 5).
    pub old_timestamps: u64,
}

/// A connection. See the head of this file (RFC 9293, 3.3.1: the TCB).
#[derive(Debug)]
pub struct Connection {
    config: Arc<Config>,
    state: State,
    end: Option<End>,
    numbers: Numbers,
    una: u64,
    next: u64,
    /// Behind the last byte that may be sent.
    offered: u64,
    is_finished: bool,
    is_released: bool,
    window: PeerWindow,
    agreed: Agreed,
    mss_bytes: u64,
    board: Scoreboard,
    rtt: Rtt,
    rack: Rack,
    control: Box<dyn Controller>,
    repair: Option<Repair>,
    doubt: Option<Doubt>,
    tail_probe: Option<TailProbe>,
    /// ACKs in a row that say nothing new, from a peer without SACK (RFC 5681, 3.2).
    duplicates: u32,
    pace: Pace,
    is_pace_waiting: bool,
    timer: Option<(Purpose, u64)>,
    reorder_ns: Option<u64>,
    /// Losses are to be looked for before anything is sent: so much was delivered since the last
    /// time.
    loss_due: Option<u64>,
    /// Timeouts since anything was acknowledged.
    timeouts: u32,
    last_sent_ns: u64,
    /// `None` for a connection by a cookie.
    syn_sent_ns: Option<u64>,
    is_syn_repeated: bool,
    owed: Owed,
    receiver: Receiver,
    /// Last.ACK.sent (RFC 7323, 4.3).
    last_ack: u64,
    clock: Clock,
    marks: Marks,
    path_mtu: PathMtu,
    totals: Totals,
    told: Told,
    challenge_window_ns: u64,
    challenges_left: u32,
    counters: Counters,
}

impl Connection {
    /// The state (RFC 9293, 3.3.2).
    pub fn state(&self) -> State {
        self.state
    }

    /// What it has counted (RFC 4898).
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Largest payload of a segment (RFC 9293, 3.7.1: Eff.snd.MSS).
    pub fn mss_bytes(&self) -> u64 {
        self.mss_bytes
    }

    /// cwnd: what may be in flight (RFC 5681, 2).
    pub fn congestion_window_bytes(&self) -> u64 {
        let reduction = self.repair.as_ref().and_then(|repair| repair.reduction.as_ref());
        reduction.map_or_else(|| self.control.window_bytes(), RateReduction::window_bytes)
    }

    /// The pipe (RFC 6675, 4).
    pub fn in_flight_bytes(&self) -> u64 {
        self.board.in_flight_bytes()
    }

    /// The smoothed round trip (RFC 6298, 2).
    pub fn smoothed_rtt_ns(&self) -> Option<u64> {
        self.rtt.smoothed_ns()
    }

    /// The first position of each direction: of what is received and of what is sent. `None` before
    /// the peer's SYN has come (RFC 9293, 3.4.1).
    pub fn first_positions(&self) -> Option<(u32, u32)> {
        let is_known = self.state != State::SynSent;
        is_known.then(|| (self.receiver.numbers().of(1), self.numbers.of(1)))
    }

    /// What a card may ask of a packet before it places it: the lowest ACK number (RFC 9293,
    /// 3.10.7.4), and with timestamps the lowest of them (RFC 7323, 5.3).
    pub fn guards(&self) -> (u32, Option<u32>) {
        let recent = self.agreed.has_timestamps.then(|| self.clock.recent());
        (self.numbers.of(self.una), recent)
    }

    /// SND.NXT, RCV.NXT and TS.Recent, for TIME-WAIT (RFC 9293, 3.6.1; RFC 6191, 2).
    pub(crate) fn last_numbers(&self) -> (u32, u32, Option<u32>) {
        let recent = self.agreed.has_timestamps.then(|| self.clock.recent());
        (self.numbers.of(self.next), self.receiver.number(), recent)
    }

    /// Everything before this stream offset may be sent (RFC 9293, 3.9.1: SEND).
    pub fn offered(&mut self, end: u64) {
        if !self.is_finished {
            self.offered = self.offered.max(end + 1);
        }
    }

    /// Memory is there for everything before this stream offset (RFC 9293, 3.9.1: RECEIVE).
    pub fn granted(&mut self, end: u64) {
        self.receiver.grant(end);
    }

    /// The sending half ends after what was offered (RFC 9293, 3.9.1: CLOSE).
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Nobody reads any more: data that comes is answered by a reset (RFC 9293, 3.6.1: MUST-13's
    /// half-duplex close), and FIN-WAIT-2 does not last for ever.
    pub fn release(&mut self, now_ns: u64) {
        self.is_finished = true;
        self.is_released = true;
        if self.state == State::FinWait2 {
            self.timer = Some((Purpose::Orphan, now_ns + self.config.time_wait_ns));
        }
    }

    /// The connection is given up and reset (RFC 9293, 3.9.1: ABORT).
    pub fn abort(&mut self) {
        if self.state < State::TimeWait {
            let reset = self.numbers.of(self.next);
            self.owed.reset = (self.state != State::SynSent).then_some(reset);
            self.close(End::Aborted);
        }
    }

    fn close(&mut self, end: End) {
        self.state = State::Closed;
        self.end.get_or_insert(end);
        self.timer = None;
        self.reorder_ns = None;
        self.is_pace_waiting = false;
    }

    /// Behind the last offset that will be sent, the FIN included.
    fn send_end(&self) -> u64 {
        self.offered + u64::from(self.is_finished)
    }

    /// The next event (RFC 9293, 3.9.1).
    pub fn event(&mut self) -> Option<Event> {
        let told = &mut self.told;
        let is_open = self.state >= State::Established && self.end.is_none_or(|_| self.una > 0);
        if is_open && self.una > 0 && !told.is_opened {
            told.is_opened = true;
            return Some(Event::Opened);
        }
        let acknowledged_to = self.una.clamp(1, self.offered) - 1;
        if acknowledged_to > told.acknowledged_to {
            told.acknowledged_to = acknowledged_to;
            return Some(Event::Acknowledged(acknowledged_to));
        }
        let accepted_to = self.receiver.accepted_to();
        if accepted_to > told.accepted_to {
            told.accepted_to = accepted_to;
            return Some(Event::Accepted(accepted_to));
        }
        if self.receiver.is_ended() && !told.is_end_of_stream {
            told.is_end_of_stream = true;
            return Some(Event::EndOfStream);
        }
        let end = self.end.filter(|_| !told.is_end)?;
        told.is_end = true;
        Some(Event::Ended(end))
    }
}
