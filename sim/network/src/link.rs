//! One direction of a wire: its rate, its delay, and what it does to packets.
//!
//! ```text
//!   packet ─► wait for those before ─► rate ─► lost? ─► delay ─► late? doubled? ─► arrivals
//! ```
//! Invariants
//! 1. What is neither late nor doubled arrives in the order in which it was sent.
//! 2. Each packet draws the same count of numbers for the same settings, so a link's faults depend
//!    on its seed and the count of its packets alone.

use arrayvec::ArrayVec;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::units::PS_PER_BYTE_100G;

/// Loss that comes in bursts (Gilbert 1960, Elliott 1963): a chain of two states.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Probability, for each packet, that a burst begins.
    pub begin: f64,
    /// Probability, for each packet of a burst, that it ends.
    pub end: f64,
    /// Share of packets that are lost outside of bursts.
    pub loss_outside: f64,
    /// Share of packets that are lost in bursts.
    pub loss_inside: f64,
}

impl Burst {
    /// Bursts of a mean length in which everything is lost, so that a share of all is.
    pub fn of(share: f64, mean_packets: f64) -> Self {
        let end = 1.0 / mean_packets;
        let begin = end * share / (1.0 - share);
        Self { begin, end, loss_outside: 0.0, loss_inside: 1.0 }
    }

    /// Share of packets that are lost in the long run: the stationary state of the chain.
    pub fn loss(&self) -> f64 {
        let inside = self.begin / (self.begin + self.end);
        inside * self.loss_inside + (1.0 - inside) * self.loss_outside
    }
}

/// Which packets a link loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// This share of them, each on its own.
    Independent(f64),
    /// In bursts.
    Bursty(Burst),
}

impl Loss {
    /// Share of packets that are lost in the long run.
    pub fn share(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Independent(share) => *share,
            Self::Bursty(burst) => burst.loss(),
        }
    }
}

/// The parameters of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkParameters {
    /// Time that a byte takes.
    pub ps_per_byte: u64,
    /// Propagation.
    pub delay_ps: u64,
    /// Packets that are lost.
    pub loss: Loss,
    /// Share of packets that come late.
    pub late: f64,
    /// How late, at most: drawn evenly.
    pub late_ps_max: u64,
    /// Share of packets that come twice.
    pub doubled: f64,
    /// Largest packet that passes, as an MSS is counted.
    pub size_bytes_max: u64,
}

impl LinkParameters {
    /// 100 Gb/s without faults.
    pub fn clean(delay_ps: u64) -> Self {
        Self {
            ps_per_byte: PS_PER_BYTE_100G,
            delay_ps,
            loss: Loss::None,
            late: 0.0,
            late_ps_max: 0,
            doubled: 0.0,
            size_bytes_max: u64::MAX,
        }
    }
}

/// What a link does with a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// When its last byte has left.
    pub departed_ps: u64,
    /// When it arrives: never if it is lost, twice if it is doubled.
    pub arrivals_ps: ArrayVec<u64, 2>,
    /// Whether it comes late.
    pub is_late: bool,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    parameters: LinkParameters,
    free_ps: u64,
    is_in_burst: bool,
    random: SmallRng,
}

impl Link {
    /// An idle link.
    pub fn new(parameters: LinkParameters, seed: u64) -> Self {
        let random = SmallRng::seed_from_u64(seed);
        Self { parameters, free_ps: 0, is_in_burst: false, random }
    }

    /// What it is.
    pub fn parameters(&self) -> &LinkParameters {
        &self.parameters
    }

    /// When everything that it was given has left.
    pub fn free_ps(&self) -> u64 {
        self.free_ps
    }

    /// Sends a packet that is ready at a time.
    pub fn pass(&mut self, ready_ps: u64, wire_bytes: u64) -> Passage {
        let it = self.parameters;
        self.free_ps = self.free_ps.max(ready_ps) + wire_bytes * it.ps_per_byte;
        let mut passage = Passage { departed_ps: self.free_ps, ..Passage::default() };
        let is_lost = self.loses();
        passage.is_late = self.draws(it.late) && !is_lost;
        let late_ps = self.draw_late(it.late);
        let is_doubled = self.draws(it.doubled);
        let again_ps = self.draw_late(it.doubled);
        if is_lost {
            return passage;
        }
        let at_ps = self.free_ps + it.delay_ps;
        let at_ps = if passage.is_late { at_ps + late_ps } else { at_ps };
        passage.arrivals_ps.push(at_ps);
        if is_doubled {
            passage.arrivals_ps.push(at_ps + again_ps);
        }
        passage
    }

    fn draws(&mut self, share: f64) -> bool {
        share > 0.0 && self.random.random_bool(share)
    }

    fn draw_late(&mut self, share: f64) -> u64 {
        match share > 0.0 {
            true => self.random.random_range(0..=self.parameters.late_ps_max),
            false => 0,
        }
    }

    fn loses(&mut self) -> bool {
        match self.parameters.loss {
            Loss::None => false,
            Loss::Independent(share) => self.draws(share),
            Loss::Bursty(burst) => {
                let turn = if self.is_in_burst { burst.end } else { burst.begin };
                self.is_in_burst ^= self.draws(turn);
                let loss = if self.is_in_burst { burst.loss_inside } else { burst.loss_outside };
                self.draws(loss)
            }
        }
    }
}
