//! Signals that ask the program to end, kept until what it has changed is restored.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a signal has come.
static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
}

/// From now on the signals of Ctrl-C, of a terminal that closes and of `kill` end nothing; programs
/// that are started get them as usual.
pub fn keep_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler = note as extern "C" fn(libc::c_int);
        // SAFETY: the handler stores to an atomic word, which a signal handler may.
        unsafe {
            libc::signal(signal, handler as libc::sighandler_t);
        }
    }
}

/// Whether a kept signal has come.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
