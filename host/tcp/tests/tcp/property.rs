//! Random operations against models that are too simple to be wrong.

mod ranges;
mod runs;
mod scoreboard;
mod segments;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tcp::clock::{Clock, RECENT_NS_MAX};
use tcp::sequence::{is_before, Numbers};

fn random() -> SmallRng {
    SmallRng::seed_from_u64(seed::seed())
}

/// RFC 7323, 5.2: a timestamp is old if going up to the recent one takes less than half the circle.
/// The model counts in 64 bits, where nothing wraps.
#[test]
fn paws_agrees_with_unwrapped_clocks() {
    let mut random = random();
    let (mut old, mut new, mut expired) = (0, 0, 0);
    for _ in 0..2_000 {
        let mut clock = Clock::new(1_000_000, 0);
        let mut recent: u64 = random.random_range(0..1 << 33);
        let mut now_ns = random.random_range(0..1 << 40);
        let mut taken_ns = now_ns;
        clock.take(now_ns, recent as u32);
        for _ in 0..20 {
            now_ns += [1, RECENT_NS_MAX, RECENT_NS_MAX + 1][random.random_range(0..100) / 49];
            let bits = [4, 20, 31][random.random_range(0..3)];
            let step = random.random_range(0..1_u64 << bits);
            let is_later = random.random_bool(0.6);
            let value = if is_later { recent + step } else { (recent + (1 << 33)) - step };
            let is_expired = now_ns - taken_ns > RECENT_NS_MAX;
            let is_old = !is_later && step > 0 && !is_expired;
            assert_eq!(clock.is_old(now_ns, value as u32), is_old, "{recent} {value}");
            clock.take(now_ns, value as u32);
            if !is_old {
                recent = value % (1 << 33);
                taken_ns = now_ns;
            }
            assert_eq!(clock.recent(), recent as u32);
            old += u64::from(is_old);
            new += u64::from(!is_old);
            expired += u64::from(is_expired);
        }
    }
    seed::enough("old timestamps", old, 5_000);
    seed::enough("new timestamps", new, 5_000);
    seed::enough("expired timestamps", expired, 100);
}

#[test]
fn numbers_name_their_original_offset() {
    let mut random = random();
    for _ in 0..20_000 {
        let numbers = Numbers { first: random.random() };
        let near = random.random_range(1 << 31..1_u64 << 40);
        let offset = near + random.random_range(0..1 << 32) - (1 << 31);
        assert_eq!(numbers.offset(numbers.of(offset), near), offset as i64);
        let other = near + random.random_range(0..1 << 31);
        let is_lower = is_before(numbers.of(near), numbers.of(other));
        assert_eq!(is_lower, near < other, "{near} {other}");
    }
}
