//! The start of an epoch: sizes, reset, cleared tables, hash secrets.
//!
//! ```text
//!   id, version ─► sizes ─► reset ─► the next epoch ─► secrets ─► enabled ─► tables are clear
//! ```

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use abi::flow_key::{Secret, SECRET_WORDS};
use abi::{registers, ABI_VERSION};

use super::bus::Bus;
use super::error::{DriverError, Result};
use super::read::read;
use crate::records::size::SizeError;

/// Sizes that the card reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardSizes {
    /// Flows, log2.
    pub flow_bits: u32,
    /// Buckets of a flow-table bank, log2.
    pub bucket_bits: u32,
    /// Segment entries of a direction, log2.
    pub segment_bits: u32,
    /// Regions, log2.
    pub region_bits: u32,
    /// Page entries, log2.
    pub page_bits: u32,
    /// Owners, log2.
    pub owner_bits: u32,
}

/// One cycle of the card's clock, the unit of its times.
pub(super) const CYCLE: Duration = Duration::from_nanos(4);
/// Most that [`registers::COALESCE_CYCLES`] holds.
pub(super) const COALESCE_CYCLES_MAX: u64 = 0xffff;
/// Limit for the end of the reset, and again for the clearing of the tables, which takes 262 us at
/// 250 MHz. As all limits here it is one of the bus's clock.
const RESET_MAX: Duration = Duration::from_millis(10);
/// Limit for the end of an earlier epoch's requests: the card gives reads up after 50 ms.
const REQUESTS_MAX: Duration = Duration::from_millis(200);

/// Refuses what is no card, or a card of another contract.
pub(super) fn check_card(bus: &mut dyn Bus) -> Result<()> {
    let mark = read(bus, registers::ID)?;
    if mark == registers::GOLDEN_ID_VALUE {
        return Err(DriverError::GoldenImage);
    }
    if mark != registers::ID_VALUE {
        return Err(DriverError::NotACard(mark));
    }
    let version = read(bus, registers::VERSION)?;
    match version >> 16 == ABI_VERSION >> 16 {
        true => Ok(()),
        false => Err(DriverError::Version { card: version, host: ABI_VERSION }),
    }
}

/// Sets how long a run waits for more packets, of a card that can sum packets up.
pub(super) fn set_coalesce_time(bus: &mut dyn Bus, is_able: bool, time: Duration) -> Result<()> {
    if !is_able {
        return Err(DriverError::NoRuns);
    }
    let cycles = u64::try_from(time.as_nanos() / CYCLE.as_nanos()).unwrap_or(u64::MAX);
    let (name, cycle_ns) = ("coalescing time, ns", CYCLE.as_nanos() as u64);
    if !(1..=COALESCE_CYCLES_MAX).contains(&cycles) {
        let value = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (min, max) = (cycle_ns, COALESCE_CYCLES_MAX * cycle_ns);
        return Err(DriverError::Size(SizeError { name, value, min, max }));
    }
    Ok(bus.write_register(registers::COALESCE_CYCLES, cycles as u32)?)
}

/// Reads the sizes of the card.
pub(super) fn read_sizes(bus: &mut dyn Bus) -> Result<CardSizes> {
    let first = read(bus, registers::SIZES_0)?;
    let second = read(bus, registers::SIZES_1)?;
    let byte = |word: u32, at: u32| (word >> (8 * at)) & 0xff;
    Ok(CardSizes {
        flow_bits: byte(first, 0),
        bucket_bits: byte(first, 1),
        segment_bits: byte(first, 2),
        region_bits: byte(first, 3),
        page_bits: byte(second, 0),
        owner_bits: byte(second, 1),
    })
}

/// Resets the card, and waits for its new epoch.
pub(super) fn start_epoch(bus: &mut dyn Bus) -> Result<()> {
    let before = read(bus, registers::EPOCH)?;
    bus.write_register(registers::CONTROL, registers::CONTROL_RESET)?;
    let is_new = |bus: &mut dyn Bus| Ok(read(bus, registers::EPOCH)? != before);
    poll_until(bus, RESET_MAX, DriverError::ResetTimeout, is_new)
}

/// Waits until the memory requests of earlier epochs have ended: from then on the card writes
/// nothing that it was asked for before, and reads nothing. That the epoch is a new one says less:
/// a write that has begun may still wait for the link.
pub(super) fn wait_for_requests(bus: &mut dyn Bus) -> Result<()> {
    let ended = |bus: &mut dyn Bus| is_clear(bus, registers::STATUS_REQUESTS_PENDING);
    poll_until(bus, REQUESTS_MAX, DriverError::RequestsPending, ended)
}

/// Waits until the tables are cleared.
pub(super) fn wait_for_tables(bus: &mut dyn Bus) -> Result<()> {
    let cleared = |bus: &mut dyn Bus| is_clear(bus, registers::STATUS_TABLES_BUSY);
    poll_until(bus, RESET_MAX, DriverError::ResetTimeout, cleared)
}

fn is_clear(bus: &mut dyn Bus, status_bit: u32) -> Result<bool> {
    Ok(read(bus, registers::STATUS)? & status_bit == 0)
}

/// Polls until it is done, at least twice; after the limit the error, with the limit.
fn poll_until(
    bus: &mut dyn Bus,
    limit: Duration,
    error: fn(Duration) -> DriverError,
    is_done: impl Fn(&mut dyn Bus) -> Result<bool>,
) -> Result<()> {
    let begun = bus.now();
    loop {
        // Whoever was not run for a while looks once more before it gives up.
        let is_last = bus.now().saturating_sub(begun) >= limit;
        if is_done(bus)? {
            return Ok(());
        }
        if is_last {
            return Err(error(limit));
        }
        bus.advance()?;
    }
}

/// Words of the hash secrets of both banks.
pub(crate) type SecretWords = [[u32; SECRET_WORDS]; 2];

/// The hash secrets that follow from a seed; without one they are random.
pub(crate) fn secret_words(seed: Option<u64>) -> SecretWords {
    let entropy = || RandomState::new().build_hasher().finish();
    let mut state = seed.unwrap_or_else(entropy);
    [(); 2].map(|()| [(); SECRET_WORDS].map(|()| (split_mix(&mut state) >> 32) as u32))
}

/// Writes the hash secrets.
pub(super) fn write_secrets(bus: &mut dyn Bus, words: &SecretWords) -> Result<[Secret; 2]> {
    for (bank, words) in (0..).zip(words) {
        for (number, word) in (0..).zip(words) {
            let bank_offset = bank * registers::HASH_SECRET_STRIDE;
            bus.write_register(registers::HASH_SECRET + bank_offset + 4 * number, *word)?;
        }
    }
    Ok(words.map(Secret::new))
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014): expands one seed to many words.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the generator as published, for this seed.
    #[test]
    fn a_seed_expands_as_published() {
        let mut state = 1_234_567;
        let numbers = [(); 3].map(|()| split_mix(&mut state));
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
    }

    #[test]
    fn seeded_words_all_differ() {
        let words = secret_words(Some(7));
        assert_eq!(words, secret_words(Some(7)));
        assert_ne!(words, secret_words(Some(8)));
        let mut all = words.concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * SECRET_WORDS);
    }
}
