//! Timeouts between two stations: those of TCP, with the bounds of a link in one room.

use tcp::config::Config;

/// The laws of RFC 6298 with shorter bounds: stations are on one link or one switch, where the
/// round trip is microseconds and the bound says how long a thread may be off its core.
pub fn timeouts() -> Config {
    Config {
        rto_min_ns: 5_000_000,
        rto_initial_ns: 20_000_000,
        rto_max_ns: 1_000_000_000,
        ..Config::default()
    }
}
