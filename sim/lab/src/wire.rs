//! What a network does to frames between two MACs: delay, loss, order, copies, damage.
//!
//! ```text
//!   frame ──> lose? ──> damage? ──> hold back? ──> copy? ──> 0, 1, 2 or more frames, delayed
//! ```
//!
//! Invariants
//! 1. The outcome follows from the seed and the order of the frames alone.
//! 2. A frame that was held back leaves after at most `HOLD_FRAMES_MAX` later ones, or by `flush`.
//! 3. Frames in = frames out + lost - duplicated + held; see [`WireStatistics`].

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::frame::Frame;
use crate::network_side::NetworkSide;

/// How many later frames may overtake one.
pub const HOLD_FRAMES_MAX: u32 = 8;

const ETHERTYPE_ARP: [u8; 2] = [0x08, 0x06];

/// What may happen to a frame; probabilities from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// It is lost.
    pub loss: f64,
    /// It is held back while up to [`HOLD_FRAMES_MAX`] later ones pass.
    pub reorder: f64,
    /// It arrives twice.
    pub duplicate: f64,
    /// A bit flips, and the FCS detects it.
    pub corrupt: f64,
    /// A bit flips after the FCS was checked: only the checksums of higher layers can detect it. In
    /// ARP (RFC 826), which has none, the FCS does: no host could know that it learns a wrong
    /// address.
    pub corrupt_unseen: f64,
    /// Time from one end to the other.
    pub delay_ps: u64,
}

impl Disturbance {
    /// Whether every frame arrives, once, in order and as it was sent.
    pub fn spares_frames(&self) -> bool {
        let delay_ps = self.delay_ps;
        let delay = Self { delay_ps, ..Self::default() };
        *self == delay
    }
}

/// How often each disturbance happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireStatistics {
    /// Frames given to the wire.
    pub frames: u64,
    /// Frames that were lost.
    pub lost: u64,
    /// Frames that were held back.
    pub reordered: u64,
    /// Frames that were duplicated.
    pub duplicated: u64,
    /// Frames with a wrong FCS.
    pub corrupted: u64,
    /// Frames with a flipped bit and a right FCS.
    pub corrupted_unseen: u64,
}

struct HeldFrame {
    frame: Frame,
    passes: u32,
}

/// One direction of a cable.
pub struct Wire {
    disturbance: Disturbance,
    random: SmallRng,
    held: Vec<HeldFrame>,
    statistics: WireStatistics,
}

impl Wire {
    /// A wire whose disturbances follow from `seed`.
    pub fn new(disturbance: Disturbance, seed: u64) -> Wire {
        Wire {
            disturbance,
            random: SmallRng::seed_from_u64(seed),
            held: Vec::new(),
            statistics: WireStatistics::default(),
        }
    }

    /// What has happened so far.
    pub fn statistics(&self) -> WireStatistics {
        self.statistics
    }

    /// Carries a frame that left one MAC; what arrives now goes to `out`, each frame with the
    /// time before which the other end cannot have begun to see it.
    pub fn carry(&mut self, mut frame: Frame, out: &mut Vec<Frame>) {
        self.statistics.frames += 1;
        frame.time_ps += self.disturbance.delay_ps;
        let now_ps = frame.time_ps;
        if self.happens(self.disturbance.loss) {
            self.statistics.lost += 1;
        } else {
            self.damage(&mut frame);
            if self.happens(self.disturbance.reorder) {
                self.statistics.reordered += 1;
                let passes = self.random.random_range(1..=HOLD_FRAMES_MAX);
                self.held.push(HeldFrame { frame, passes });
                return;
            }
            let is_doubled = self.happens(self.disturbance.duplicate);
            out.push(frame.clone());
            if is_doubled {
                self.statistics.duplicated += 1;
                out.push(frame);
            }
        }
        self.release(now_ps, out);
    }

    /// Carries what one card has sent to another, which has its own time.
    pub fn join(&mut self, from: &mut impl NetworkSide, to: &mut impl NetworkSide) {
        let (mut sent, mut arrived) = (Vec::new(), Vec::new());
        from.take_sent(&mut sent);
        for frame in sent {
            self.carry(Frame { time_ps: 0, ..frame }, &mut arrived);
        }
        arrived.into_iter().for_each(|frame| to.receive(frame));
    }

    /// Releases every frame that is held back.
    pub fn flush(&mut self, out: &mut Vec<Frame>) {
        out.extend(self.held.drain(..).map(|held| held.frame));
    }

    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.random_bool(probability)
    }

    fn damage(&mut self, frame: &mut Frame) {
        let is_seen = self.happens(self.disturbance.corrupt);
        let is_flipped = is_seen || self.happens(self.disturbance.corrupt_unseen);
        let is_seen = is_seen || is_flipped && is_arp(&frame.bytes);
        if is_flipped {
            let bit = self.random.random_range(0..frame.bytes.len() * 8);
            frame.bytes[bit / 8] ^= 1 << (bit % 8);
            frame.is_bad |= is_seen;
            self.statistics.corrupted += u64::from(is_seen);
            self.statistics.corrupted_unseen += u64::from(!is_seen);
        }
    }

    /// Counts a passing frame against those held back and releases the due ones.
    fn release(&mut self, now_ps: u64, out: &mut Vec<Frame>) {
        for held in &mut self.held {
            held.passes -= 1;
        }
        let (due, kept) = self.held.drain(..).partition::<Vec<_>, _>(|held| held.passes == 0);
        self.held = kept;
        for mut held in due {
            held.frame.time_ps = held.frame.time_ps.max(now_ps);
            out.push(held.frame);
        }
    }
}

fn is_arp(bytes: &[u8]) -> bool {
    bytes.get(12..14) == Some(&ETHERTYPE_ARP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipped_arp_bit_is_detected() {
        let disturbance = Disturbance { corrupt_unseen: 1.0, ..Disturbance::default() };
        for (ethertype, is_detected) in [([0x08, 0x06], true), ([0x08, 0x00], false)] {
            let mut wire = Wire::new(disturbance, 1);
            let mut bytes = vec![0; 60];
            bytes[12..14].copy_from_slice(&ethertype);
            let (mut out, frame) = (Vec::new(), Frame { bytes, ..Frame::default() });
            wire.carry(frame.clone(), &mut out);
            assert_ne!(out[0].bytes, frame.bytes);
            assert_eq!(out[0].is_bad, is_detected);
            let counted = (wire.statistics().corrupted, wire.statistics().corrupted_unseen);
            assert_eq!(counted, (u64::from(is_detected), u64::from(!is_detected)));
        }
    }

    fn run(disturbance: Disturbance, seed: u64) -> (Vec<Frame>, WireStatistics) {
        let mut wire = Wire::new(disturbance, seed);
        let mut out = Vec::new();
        for index in 0..1000_u64 {
            let bytes = index.to_le_bytes().repeat(8);
            wire.carry(Frame { bytes, is_bad: false, time_ps: index * 6720 }, &mut out);
        }
        wire.flush(&mut out);
        (out, wire.statistics())
    }

    fn number(frame: &Frame) -> u64 {
        u64::from_le_bytes(frame.bytes[..8].try_into().expect("eight bytes"))
    }

    #[test]
    fn calm_wire_only_delays() {
        let (out, statistics) = run(Disturbance { delay_ps: 5, ..Disturbance::default() }, 1);
        assert!(out.iter().map(number).eq(0..1000));
        assert_eq!(out[7].time_ps, 7 * 6720 + 5);
        assert_eq!(statistics, WireStatistics { frames: 1000, ..WireStatistics::default() });
    }

    #[test]
    fn frames_are_conserved_replay_from_seed() {
        let all = Disturbance {
            loss: 0.1,
            reorder: 0.1,
            duplicate: 0.1,
            corrupt: 0.1,
            corrupt_unseen: 0.1,
            delay_ps: 0,
        };
        let (out, s) = run(all, 7);
        assert_eq!(s.frames - s.lost + s.duplicated, out.len() as u64);
        assert!(out.iter().filter(|frame| frame.is_bad).count() as u64 >= s.corrupted);
        assert!(s.lost > 50 && s.reordered > 50 && s.duplicated > 50 && s.corrupted > 50, "{s:?}");
        assert_eq!(run(all, 7).0, out);
        assert_ne!(run(all, 8).0, out);
    }

    #[test]
    fn held_frames_are_overtaken_boundedly() {
        let (out, statistics) = run(Disturbance { reorder: 0.2, ..Disturbance::default() }, 3);
        assert!(statistics.reordered > 100);
        let mut sorted: Vec<u64> = out.iter().map(number).collect();
        assert!(sorted.windows(2).any(|pair| pair[0] > pair[1]), "order changed");
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000), "nothing is lost");
        assert!(out.windows(2).all(|pair| pair[0].time_ps <= pair[1].time_ps));
    }
}
