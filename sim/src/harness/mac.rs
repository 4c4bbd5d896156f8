//! The 100 Gb/s MAC and its end of the wire, as the card sees them.
//!
//! ```text
//!   receive(frame) ──> wire, 80 ps a byte ──> rx_axis: tdata tkeep tvalid tlast tuser   no ready
//!   sent <── wire, 80 ps a byte <── a few beats of buffer <── tx_axis: the same, and tready
//! ```
//!
//! Timing
//! A frame of N bytes occupies the wire for 8 (preamble) + N + 4 (FCS) + 12 (gap) byte times.
//! A beat reaches the card once its last byte, and the last beat once the FCS, has left the wire.
//! `Frame::time_ps` is the end of the FCS on the wire.
//!
//! Invariants of the card's send port; each breach is a [`Violation`]
//! 1. Inside a frame `tvalid` never falls, whatever `tready` does.
//! 2. While `tvalid` waits for `tready` nothing changes.
//! 3. `tkeep` is full on every beat but the last, contiguous from byte 0 on the last.
//! 4. Frames have 60 to 9,216 bytes without FCS, and are not marked bad.
//!
//! After [`Mac::allow_cuts`] an epoch of the card may withdraw a first beat that waits, or end a
//! frame that has begun with a beat that is marked bad: such frames are in [`Mac::cut`].
//!
//! Source: PG203 (CMAC UltraScale+), AXI4-Stream user interface; IEEE 802.3, 4.4.2.

use std::collections::VecDeque;

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use lab::frame::{wire_time_ps, Frame, BYTE_PS, FCS_BYTES, GAP_BYTES, PREAMBLE_BYTES};
use verilate::verilated::{Model, PortId};

use crate::harness::monitor::{assert_none, Violation};
use crate::harness::stall::{Stall, Staller};

/// Period of the MAC's user clock, 322.265625 MHz.
pub const CLOCK_PS: u64 = 3103;

const BEAT_BYTES: usize = 64;

/// Bytes that may wait in the MAC before `tready` falls.
const BUFFER_BYTES: u64 = 512;

/// What one direction of the wire has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCount {
    /// Frames.
    pub frames: u64,
    /// Bytes of the frames, without preamble, FCS and gap.
    pub bytes: u64,
    /// Start of the first frame.
    pub first_ps: u64,
    /// End of the last one, gap included.
    pub last_ps: u64,
}

impl WireCount {
    fn add(&mut self, bytes: u64, start_ps: u64, end_ps: u64) {
        if self.frames == 0 {
            self.first_ps = start_ps;
        }
        self.frames += 1;
        self.bytes += bytes;
        self.last_ps = end_ps;
    }

    /// Frame bytes over the time from the first frame to the last, in Gb/s.
    pub fn gbps(&self) -> f64 {
        let duration_ps = self.last_ps.saturating_sub(self.first_ps).max(1);
        self.bytes as f64 * 8000.0 / duration_ps as f64
    }
}

struct Axis {
    data: PortId,
    keep: PortId,
    valid: PortId,
    last: PortId,
    user: PortId,
}

impl Axis {
    fn new(model: &Model, prefix: &str) -> Axis {
        let port = |field: &str| model.port(&format!("{prefix}_{field}"));
        Axis {
            data: port("tdata"),
            keep: port("tkeep"),
            valid: port("tvalid"),
            last: port("tlast"),
            user: port("tuser"),
        }
    }
}

/// A frame on its way to the card.
struct Arriving {
    frame: Frame,
    start_ps: u64,
    given_bytes: usize,
}

/// A beat that the card offers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beat {
    bytes: [u8; BEAT_BYTES],
    keep: u64,
    is_last: bool,
    is_bad: bool,
}

/// A frame that the card is sending.
struct Leaving {
    bytes: Vec<u8>,
    start_ps: u64,
    is_bad: bool,
}

/// The MAC of one port. Call `sample` before and `drive` after each rising edge of its clock.
pub struct Mac {
    /// Frames that the card has sent, oldest first.
    pub sent: VecDeque<Frame>,
    /// Frames that the card has ended with a bad mark, oldest first.
    pub cut: VecDeque<Frame>,
    /// Broken rules, oldest first.
    pub violations: Vec<Violation>,
    cuts_allowed: bool,
    is_blocked: bool,
    rx_reset: bool,
    tx_reset: bool,
    rx: Axis,
    tx: Axis,
    tx_ready: PortId,
    arriving: VecDeque<Arriving>,
    rx_free_ps: u64,
    rx_count: WireCount,
    leaving: Option<Leaving>,
    waiting: Option<Beat>,
    tx_free_ps: u64,
    tx_count: WireCount,
    is_ready: bool,
    staller: Staller,
    cycle: u64,
}

impl Mac {
    /// The MAC at the ports `{rx}_tdata` ... and `{tx}_tdata` ... of a card, named from the card's
    /// side: `rx` is what it receives.
    ///
    /// # Panics
    /// If the model lacks one of the ports.
    pub fn new(model: &Model, rx: &str, tx: &str) -> Mac {
        Mac {
            sent: VecDeque::new(),
            cut: VecDeque::new(),
            cuts_allowed: false,
            is_blocked: false,
            rx_reset: false,
            tx_reset: false,
            violations: Vec::new(),
            rx: Axis::new(model, rx),
            tx: Axis::new(model, tx),
            tx_ready: model.port(&format!("{tx}_tready")),
            arriving: VecDeque::new(),
            rx_free_ps: 0,
            rx_count: WireCount::default(),
            leaving: None,
            waiting: None,
            tx_free_ps: 0,
            tx_count: WireCount::default(),
            is_ready: false,
            staller: Staller::new(Stall::None, 0),
            cycle: 0,
        }
    }

    /// Lets `tready` fall at random as well as when the wire is slower than the card.
    pub fn stall_send(&mut self, stall: Stall, seed: u64) {
        self.staller = Staller::new(stall, seed);
    }

    /// Lets the MAC take nothing, or go on.
    pub fn block_send(&mut self, is_blocked: bool) {
        self.is_blocked = is_blocked;
    }

    /// From now on the card may begin an epoch: it may end or withdraw a frame at its send port.
    pub fn allow_cuts(&mut self) {
        self.cuts_allowed = true;
    }

    /// Holds the receive and the send side in reset, or lets them run. A frame on its way to the
    /// card ends without a last beat and those that begin meanwhile are lost; a frame on its way
    /// out ends on the wire with a bad FCS.
    pub fn hold_in_reset(&mut self, receive: bool, send: bool) {
        (self.rx_reset, self.tx_reset) = (receive, send);
    }

    /// Puts a frame on the wire to the card, after those already there.
    pub fn receive(&mut self, bytes: impl Into<Vec<u8>>) {
        let frame = Frame { bytes: bytes.into(), ..Frame::default() };
        self.receive_frame(frame, 0);
    }

    /// Puts a frame with its flags on the wire, not before `earliest_ps`; returns when its FCS
    /// ends.
    ///
    /// # Panics
    /// If the frame is empty.
    pub fn receive_frame(&mut self, mut frame: Frame, earliest_ps: u64) -> u64 {
        assert!(!frame.bytes.is_empty(), "a frame has at least one byte");
        let start_ps = earliest_ps.max(self.rx_free_ps);
        let bytes = frame.bytes.len();
        self.rx_free_ps = start_ps + wire_time_ps(bytes);
        frame.time_ps = self.rx_free_ps - GAP_BYTES * BYTE_PS;
        let end_ps = frame.time_ps;
        self.rx_count.add(bytes as u64, start_ps, self.rx_free_ps);
        self.arriving.push_back(Arriving { frame, start_ps, given_bytes: 0 });
        end_ps
    }

    /// True when the card has been given every frame.
    pub fn is_quiet(&self) -> bool {
        self.arriving.is_empty()
    }

    /// True when no frame is on its way in either direction.
    pub fn is_at_rest(&self) -> bool {
        self.is_quiet() && self.leaving.is_none() && self.waiting.is_none() && self.sent.is_empty()
    }

    /// When the wire to the card is free again.
    pub fn receive_free_ps(&self) -> u64 {
        self.rx_free_ps
    }

    /// What was put on the wire to the card.
    pub fn received_count(&self) -> WireCount {
        self.rx_count
    }

    /// What the card has sent.
    pub fn sent_count(&self) -> WireCount {
        self.tx_count
    }

    /// # Panics
    /// If any rule was broken; the message lists the first cases.
    pub fn assert_clean(&self) {
        assert_none(&self.violations);
    }

    /// Before the rising edge: takes what the card offers to send.
    pub fn sample(&mut self, model: &Model, now_ps: u64) {
        self.cycle += 1;
        if self.tx_reset {
            (self.leaving, self.waiting) = (None, None);
            return;
        }
        let offered = model.is_high(self.tx.valid).then(|| self.offered_beat(model));
        if let Some(waiting) = self.waiting.take() {
            if offered.as_ref() != Some(&waiting) && !self.is_cut(offered.as_ref()) {
                self.report("a beat changed or fell while it waited for tready".into());
            }
        }
        match offered {
            Some(beat) if self.is_ready => self.take(beat, now_ps),
            Some(beat) => self.waiting = Some(beat),
            None if self.leaving.is_some() => self.report("tvalid fell inside a frame".into()),
            None => {}
        }
    }

    /// Whether an epoch of the card explains that a beat that waited has become this one.
    fn is_cut(&self, offered: Option<&Beat>) -> bool {
        self.cuts_allowed
            && match offered {
                None => self.leaving.is_none(),
                Some(beat) => self.leaving.is_some() && beat.is_last && beat.is_bad,
            }
    }

    /// After the rising edge: gives the card what has arrived by now.
    pub fn drive(&mut self, model: &mut Model, now_ps: u64) {
        self.drive_receive(model, now_ps);
        let backlog_ps = self.tx_free_ps.saturating_sub(now_ps);
        let has_room = backlog_ps < BUFFER_BYTES * BYTE_PS && !self.is_blocked;
        self.is_ready = has_room && !self.staller.stalls();
        model.set(self.tx_ready, u64::from(self.is_ready));
    }

    fn drive_receive(&mut self, model: &mut Model, now_ps: u64) {
        model.set(self.rx.valid, 0);
        while self.rx_reset && self.arriving.front().is_some_and(|it| it.start_ps <= now_ps) {
            self.arriving.pop_front();
        }
        let Some(arriving) = self.arriving.front_mut() else { return };
        let rest = &arriving.frame.bytes[arriving.given_bytes..];
        let count = rest.len().min(BEAT_BYTES);
        let is_last = count == rest.len();
        let arrived_bytes = PREAMBLE_BYTES + (arriving.given_bytes + count) as u64;
        let arrived_ps = if is_last {
            arriving.frame.time_ps
        } else {
            arriving.start_ps + arrived_bytes * BYTE_PS
        };
        if now_ps < arrived_ps {
            return;
        }
        model.set(self.rx.valid, 1);
        model.set_bytes(self.rx.data, &rest[..count]);
        model.set(self.rx.keep, u64::MAX >> (BEAT_BYTES - count));
        model.set(self.rx.last, u64::from(is_last));
        model.set(self.rx.user, u64::from(is_last && arriving.frame.is_bad));
        arriving.given_bytes += count;
        if is_last {
            self.arriving.pop_front();
        }
    }

    fn offered_beat(&self, model: &Model) -> Beat {
        let mut bytes = [0; BEAT_BYTES];
        model.get_bytes(self.tx.data, &mut bytes);
        let keep = model.get(self.tx.keep);
        bytes[keep.trailing_ones() as usize..].fill(0);
        Beat {
            bytes,
            keep,
            is_last: model.is_high(self.tx.last),
            is_bad: model.is_high(self.tx.user),
        }
    }

    fn take(&mut self, beat: Beat, now_ps: u64) {
        let count = beat.keep.trailing_ones() as usize;
        if !beat.is_last && count != BEAT_BYTES {
            self.report(format!("tkeep {:#x} on a beat that is not the last", beat.keep));
        }
        if beat.keep != u64::MAX >> (BEAT_BYTES - count.max(1)) {
            self.report(format!("tkeep {:#x} is not contiguous from byte 0", beat.keep));
        }
        let start_ps = now_ps.max(self.tx_free_ps);
        let leaving =
            self.leaving.get_or_insert(Leaving { bytes: Vec::new(), start_ps, is_bad: false });
        leaving.bytes.extend_from_slice(&beat.bytes[..count]);
        leaving.is_bad |= beat.is_bad;
        let gone = PREAMBLE_BYTES + leaving.bytes.len() as u64;
        self.tx_free_ps = leaving.start_ps + gone * BYTE_PS;
        if beat.is_last {
            self.finish_frame();
        }
    }

    fn finish_frame(&mut self) {
        let Some(leaving) = self.leaving.take() else { return };
        let bytes = leaving.bytes.len();
        if !(FRAME_BYTES_MIN..=FRAME_BYTES_MAX).contains(&bytes) {
            self.report(format!("a frame of {bytes} bytes"));
        }
        if leaving.is_bad && !self.cuts_allowed {
            self.report("a frame marked bad".into());
        }
        let time_ps = self.tx_free_ps + FCS_BYTES * BYTE_PS;
        self.tx_free_ps = time_ps + GAP_BYTES * BYTE_PS;
        self.tx_count.add(bytes as u64, leaving.start_ps, self.tx_free_ps);
        let frame = Frame { bytes: leaving.bytes, is_bad: leaving.is_bad, time_ps };
        if frame.is_bad {
            self.cut.push_back(frame);
        } else {
            self.sent.push_back(frame);
        }
    }

    fn report(&mut self, what: String) {
        self.violations.push(Violation { cycle: self.cycle, stream: "tx_axis".into(), what });
    }
}
