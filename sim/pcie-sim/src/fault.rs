//! Faults that a test injects into reads, and the log of accesses that the host refused.
//!
//! ```text
//!   inject(fault, target) -> Injector -> read at the root complex
//!   refused access -> FaultRecord -> fault log
//! ```
//!
//! Invariant: a refused posted write is recorded here and nowhere else.

use crate::iommu::Refusal;
use crate::random::Random;
use std::ops::Range;

/// Fault in the completion of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The payload is marked as wrong (and is wrong).
    Poison,
    /// Completed without data: unsupported request.
    UnsupportedRequest,
    /// Completed without data: completer abort.
    CompleterAbort,
    /// The last completion never comes.
    Lost,
    /// Every completion comes this much later, in ns: beyond the timeout if large enough.
    Late(u64),
    /// The first completion carries a lower address that is 64 too high; the hard block ends it.
    WrongAddress,
    /// The first completion is one dword shorter than its header says; the hard block ends it.
    WrongLength,
    /// Another completion with the tag comes first, with other attributes and other data; the right
    /// ones follow.
    OtherAttributes,
}

/// Which reads are hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The nth read that arrives from now on; 0 is the next.
    Nth(u64),
    /// The next read that touches this range of bus addresses.
    Address(Range<u64>),
    /// Each read with a chance in parts per million, without end.
    Random {
        /// The chance.
        per_million: u32,
    },
}

/// An access of the card that the host refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRecord {
    /// Cycle of the access.
    pub cycle: u64,
    /// Bus address of the first dword.
    pub bus_address: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// A posted write, or else a read.
    pub write: bool,
    /// Reason of the refusal.
    pub refusal: Refusal,
}

/// The armed injections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injector {
    armed: Vec<(Fault, Target)>,
}

impl Injector {
    /// Arms an injection.
    pub fn arm(&mut self, fault: Fault, target: Target) {
        self.armed.push((fault, target));
    }

    /// Removes all injections.
    pub fn clear(&mut self) {
        self.armed.clear();
    }

    /// The fault that is to hit an arriving read, if any.
    pub fn strike(&mut self, bytes: Range<u64>, random: &mut Random) -> Option<Fault> {
        let mut hit = None;
        for (i, (fault, target)) in self.armed.iter_mut().enumerate() {
            let now = match target {
                Target::Nth(0) => true,
                Target::Nth(n) => {
                    *n -= 1;
                    false
                }
                Target::Address(range) => range.start < bytes.end && bytes.start < range.end,
                Target::Random { per_million } => random.below(1_000_000) < u64::from(*per_million),
            };
            if now && hit.is_none() {
                hit = Some((i, *fault));
            }
        }
        let (i, fault) = hit?;
        if !matches!(self.armed[i].1, Target::Random { .. }) {
            self.armed.remove(i);
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_strikes_its_read_once() {
        let mut random = Random::new(1);
        let mut injector = Injector::default();
        injector.arm(Fault::Lost, Target::Nth(1));
        injector.arm(Fault::Poison, Target::Address(0x1000..0x1004));
        let mut at = |start| injector.strike(start..start + 64, &mut random);
        assert_eq!(at(0x2000), None);
        assert_eq!(at(0x2000), Some(Fault::Lost));
        assert_eq!(at(0xfff), Some(Fault::Poison));
        assert_eq!(at(0xfff), None);
    }

    #[test]
    fn random_target_stays() {
        let mut random = Random::new(1);
        let mut injector = Injector::default();
        injector.arm(Fault::Poison, Target::Random { per_million: 500_000 });
        let hits = (0..1000).filter(|_| injector.strike(0..4, &mut random).is_some()).count();
        assert!((400..600).contains(&hits), "{hits}");
    }
}
