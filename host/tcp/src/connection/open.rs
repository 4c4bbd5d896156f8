//! How a connection begins: by our SYN, by the peer's, or by the ACK of a cookie.
//!
//! Source: RFC 9293, 3.5 and 3.7.1; RFC 7323, 2.2 and 3.2; RFC 3168, 6.1.1; RFC 4987, 3.6.

use std::sync::Arc;

use super::{Agreed, Connection, Counters, Owed, PeerWindow, Purpose, State, Told, Totals};
use crate::clock::Clock;
use crate::config::{Config, Ecn};
use crate::law;
use crate::marks::Marks;
use crate::pace::Pace;
use crate::path_mtu::PathMtu;
use crate::rack::Rack;
use crate::receive::Receiver;
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment};
use crate::sequence::Numbers;

/// Largest window scale (RFC 7323, 2.3).
const SCALE_MAX: u8 = 14;
/// What the timestamps take of every segment (RFC 7323, appendix A).
const TIMESTAMPS_BYTES: u64 = 12;
/// The least payload that is ever sent in a segment; a smaller MSS is not believed.
const MSS_BYTES_MIN: u64 = 64;

/// What the SYNs of a connection settle (RFC 4987, 3.6 keeps the same in a cookie).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// MSS option of the peer.
    pub mss_bytes: Option<u16>,
    /// Window scale of the peer.
    pub window_scale: Option<u8>,
    /// Whether the peer permits SACK.
    pub has_sack: bool,
    /// Timestamp of the peer.
    pub timestamp: Option<u32>,
    /// Whether the peer is ready for ECN.
    pub has_ecn: bool,
}

impl Offer {
    /// What a SYN offers (RFC 9293, 3.2; RFC 3168, 6.1.1). The SYN of AccECN offers classic ECN
    /// (RFC 9768, 3.1.2).
    pub fn of(syn: &Segment) -> Self {
        let is_answer = syn.flags.has(Flags::ACK);
        let has_ecn = match is_answer {
            true => syn.flags.has(Flags::ECE) && !syn.flags.has(Flags::CWR),
            false => syn.flags.has(Flags::ECE | Flags::CWR),
        };
        Self {
            mss_bytes: syn.options.mss_bytes,
            window_scale: syn.options.window_scale,
            has_sack: syn.options.is_sack_permitted,
            timestamp: syn.options.timestamps.map(|it| it.value),
            has_ecn,
        }
    }
}

impl Connection {
    /// Opens by a SYN (RFC 9293, 3.9.1: OPEN, active). `first` is the initial sequence number,
    /// `timestamp` where our timestamps begin.
    pub fn connect(config: Arc<Config>, first: u32, timestamp: u32) -> Self {
        let mut connection = Self::new(config, State::SynSent, first, timestamp);
        connection.owed.is_handshake = true;
        connection
    }

    /// Answers a SYN (RFC 9293, 3.10.7.2).
    pub fn accept(config: Arc<Config>, now_ns: u64, syn: &Segment, first: u32, clock: u32) -> Self {
        let mut connection = Self::new(config, State::SynReceived, first, clock);
        connection.agree(now_ns, syn.sequence, &Offer::of(syn));
        connection.window.bytes = syn.window.into();
        connection.window.bytes_max = syn.window.into();
        connection.owed.is_handshake = true;
        connection
    }

    /// Opens by the ACK of a cookie, which said all that a SYN says (RFC 4987, 3.6).
    pub fn revive(
        config: Arc<Config>,
        now_ns: u64,
        (first, peer_first): (u32, u32),
        offer: &Offer,
        clock: u32,
    ) -> Self {
        let mut connection = Self::new(config, State::SynReceived, first, clock);
        connection.agree(now_ns, peer_first, offer);
        connection.next = 1;
        connection.timer = None;
        connection
    }

    fn new(config: Arc<Config>, state: State, first: u32, timestamp: u32) -> Self {
        let receiver = Receiver::new(0, 0, config.mss_bytes.into(), config.ack_delay_ns);
        let mss_bytes = u64::from(config.peer_mss_bytes);
        Self {
            state,
            end: None,
            numbers: Numbers { first },
            una: 0,
            next: 0,
            offered: 1,
            is_finished: false,
            is_released: false,
            window: PeerWindow::default(),
            agreed: Agreed::default(),
            mss_bytes,
            board: Scoreboard::default(),
            rtt: Rtt::new(&config),
            rack: Rack::default(),
            control: law::start(config.law, mss_bytes),
            repair: None,
            doubt: None,
            tail_probe: None,
            duplicates: 0,
            pace: Pace::default(),
            is_pace_waiting: false,
            timer: None,
            reorder_ns: None,
            loss_due: None,
            timeouts: 0,
            last_sent_ns: 0,
            syn_sent_ns: None,
            is_syn_repeated: false,
            owed: Owed::default(),
            receiver,
            last_ack: 1,
            clock: Clock::new(config.timestamp_tick_ns, timestamp),
            marks: Marks::default(),
            path_mtu: PathMtu::new(config.path_mtu),
            totals: Totals::default(),
            told: Told::default(),
            challenge_window_ns: 0,
            challenges_left: config.challenges_max,
            counters: Counters::default(),
            config,
        }
    }

    /// Settles what both SYNs said.
    pub(super) fn agree(&mut self, now_ns: u64, peer_first: u32, offer: &Offer) {
        let config = self.config.clone();
        self.agreed = Agreed {
            has_sack: config.is_sack_offered && offer.has_sack,
            has_timestamps: config.is_timestamps_offered && offer.timestamp.is_some(),
            has_scale: offer.window_scale.is_some(),
        };
        self.window.shift = offer.window_scale.unwrap_or(0).min(SCALE_MAX);
        let shift = if self.agreed.has_scale { config.window_scale.min(SCALE_MAX) } else { 0 };
        let granted = self.receiver.granted_to();
        self.receiver =
            Receiver::new(peer_first, shift, config.mss_bytes.into(), config.ack_delay_ns);
        self.receiver.grant(granted);
        self.receiver.told();
        if let Some(value) = offer.timestamp.filter(|_| self.agreed.has_timestamps) {
            self.clock.take(now_ns, value);
        }
        if offer.has_ecn {
            self.marks.agree(config.ecn);
        }
        self.mss_bytes = self.segment_bytes(offer.mss_bytes.unwrap_or(config.peer_mss_bytes));
        self.control = law::start(config.law, self.mss_bytes);
    }

    /// Eff.snd.MSS (RFC 9293, 3.7.1): what the peer takes and the path carries, less the options.
    fn segment_bytes(&mut self, peer_mss_bytes: u16) -> u64 {
        let options_bytes = if self.agreed.has_timestamps { TIMESTAMPS_BYTES } else { 0 };
        let most_bytes = u64::from(peer_mss_bytes.min(self.config.mss_bytes));
        let most_bytes = self.path_mtu.start(most_bytes);
        most_bytes.saturating_sub(options_bytes).max(MSS_BYTES_MIN)
    }

    /// Whether ECN may be offered or agreed (RFC 3168, 6.1.1).
    pub(super) fn wants_ecn(&self) -> bool {
        self.config.ecn != Ecn::Off
    }

    /// The SYN or its answer was sent.
    pub(super) fn note_handshake(&mut self, now_ns: u64) {
        self.owed.is_handshake = false;
        self.is_syn_repeated = self.next > 0;
        self.syn_sent_ns = Some(now_ns);
        self.next = 1;
        self.timer = Some((Purpose::Handshake, now_ns + self.rtt.rto_ns()));
    }

    /// The peer has acknowledged our SYN: the connection is open (RFC 9293, 3.10.7.3 and 3.10.7.4).
    pub(super) fn open(&mut self, now_ns: u64) {
        self.una = 1;
        self.state = State::Established;
        self.timer = None;
        self.timeouts = 0;
        match self.syn_sent_ns {
            Some(_) if self.is_syn_repeated => self.rtt.forget_handshake(),
            Some(sent_ns) => {
                let rtt_ns = now_ns - sent_ns;
                self.rtt.measure(rtt_ns);
                self.rtt.measure_min(now_ns, rtt_ns);
            }
            // A cookie does not say when it was sent.
            None => {}
        }
        self.totals.delivered_ns = now_ns;
        self.totals.first_sent_ns = now_ns;
    }
}
