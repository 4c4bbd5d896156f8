//! NCCL's logger: lines of the plugin among those of NCCL.

use std::ffi::{c_int, CString};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::{Logger, LOG_INFO, LOG_NET, LOG_WARN};

/// The logger that NCCL has handed over; 0 before.
static LOGGER: AtomicUsize = AtomicUsize::new(0);

/// Takes the logger that all later lines go to.
pub fn set(logger: Option<Logger>) {
    if let Some(logger) = logger {
        LOGGER.store(logger as usize, Ordering::Release);
    }
}

/// A line that NCCL shows at `NCCL_DEBUG=INFO`.
pub fn info(text: &str) {
    line(LOG_INFO, text);
}

/// A line that NCCL shows at `NCCL_DEBUG=WARN`.
pub fn warn(text: &str) {
    line(LOG_WARN, text);
}

fn line(level: c_int, text: &str) {
    let logger = LOGGER.load(Ordering::Acquire);
    let Ok(text) = CString::new(format!("NET/Zeronic : {text}")) else {
        return;
    };
    if logger == 0 {
        return;
    }
    // SAFETY: only a `Logger` is stored, of NCCL, which stays loaded while it uses the plugin.
    let logger: Logger = unsafe { std::mem::transmute(logger) };
    // SAFETY: the format names one string, and one string follows.
    unsafe { logger(level, LOG_NET, c"zeronic".as_ptr(), 0, c"%s".as_ptr(), text.as_ptr()) }
}
