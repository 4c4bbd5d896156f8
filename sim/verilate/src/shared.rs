//! Designs that a program asks for again and again: made once, for whoever asks first.
//!
//! ```text
//!   key ─┬─ known ──────────────────────────► design
//!        └─ new ── emit ─ hash ─ look it up ─► design, kept for the next
//! ```
//! What is built lies in the cache, but to emit a card and to find it there takes most of a second
//! without optimisation, and a program with fifty tests did so fifty times.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::design::Design;

type Place = Arc<Mutex<Option<Design>>>;

static DESIGNS: LazyLock<Mutex<HashMap<String, Place>>> = LazyLock::new(Mutex::default);

/// What a panic has left is whole: a design is put in its place when it is made.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The design of that key: what `make` gives, or has given before. Others who ask for it meanwhile
/// wait. The key says all that the design depends on. An error is not kept.
pub fn share<E>(key: &str, make: impl FnOnce() -> Result<Design, E>) -> Result<Design, E> {
    let place = lock(&DESIGNS).entry(key.to_owned()).or_default().clone();
    let mut design = lock(&place);
    match &*design {
        Some(design) => Ok(design.clone()),
        None => Ok(design.insert(make()?).clone()),
    }
}

#[cfg(test)]
mod tests {
    use hdl::ports::{Port, PortDirection};

    use super::*;
    use crate::error::BuildError;
    use crate::options::Options;

    #[test]
    fn design_is_made_once_error_retried() {
        let port = Port {
            name: "q".to_owned(),
            direction: PortDirection::Output,
            bits: 1,
            is_clock: false,
        };
        let text = "module once (output wire q);\n    assign q = 1'b1;\nendmodule\n";
        let failed = share("once", || Err("no"));
        assert_eq!(failed.err(), Some("no"));
        let made = share("once", || Design::build("once", text, &[port], Options::QUICK));
        assert_eq!(made.expect("it builds").ports().len(), 1);
        let again = share::<BuildError>("once", || panic!("it is made twice"));
        assert_eq!(again.expect("it is there").ports().len(), 1);
        assert_eq!(share("another", || Err("no")).err(), Some("no"));
    }
}
