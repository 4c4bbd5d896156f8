//! The logger that the plugin is given: it keeps the lines.

use std::ffi::{c_char, c_int, c_ulong, CStr};
use std::sync::{Mutex, PoisonError};

use nccl::abi::Logger;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes the lines that were logged since the last call.
pub fn lines() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner))
}

extern "C" fn keep(
    level: c_int,
    _flags: c_ulong,
    _file: *const c_char,
    _line: c_int,
    _format: *const c_char,
    text: *const c_char,
) {
    if text.is_null() {
        return;
    }
    // SAFETY: the plugin passes one string, by the format `%s`.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    if level <= 2 {
        eprintln!("{text}");
    }
    LINES.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// The logger.
pub fn logger() -> Logger {
    // SAFETY: by the C ABIs of Linux on x86-64 and AArch64 a variable argument that is a pointer
    // comes where a named one would, and more of them than `keep` names are not read.
    unsafe { std::mem::transmute(keep as *const ()) }
}
