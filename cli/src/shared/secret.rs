//! Secrets that nobody can guess, for connections on a wire that is not simulated here.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use tcp::Secret;

/// A secret of a TCP, another one in each run: a peer may remember the connections of the last.
pub fn fresh_secret() -> Secret {
    let mut secret = [0; 32];
    for (number, part) in secret.chunks_exact_mut(8).enumerate() {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_usize(number);
        part.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    Secret(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_are_alike() {
        assert_ne!(fresh_secret().0, fresh_secret().0);
    }
}
