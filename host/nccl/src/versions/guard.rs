//! The boundary to C: no panic crosses it, and an error becomes a line and a number.

use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::abi::NcclResult;
use crate::error::{PluginError, Result};
use crate::log;

/// Runs a call of NCCL.
pub fn guard(call: impl FnOnce() -> Result<()>) -> NcclResult {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => NcclResult::SUCCESS,
        Ok(Err(error)) => {
            log::warn(&error.to_string());
            error.result()
        }
        Err(_) => {
            log::warn("a call has panicked: a fault of the plugin");
            NcclResult::INTERNAL
        }
    }
}

/// What a pointer of NCCL points to.
///
/// # Safety
/// It is null, or points to a value that nobody else changes during the call.
pub unsafe fn get<'a, T>(pointer: *const T, name: &'static str) -> Result<&'a T> {
    // SAFETY: the caller's.
    unsafe { pointer.as_ref() }.ok_or(PluginError::NullPointer(name))
}

/// The same, to be changed.
///
/// # Safety
/// It is null, or points to a value that nobody else uses during the call.
pub unsafe fn get_mut<'a, T>(pointer: *mut T, name: &'static str) -> Result<&'a mut T> {
    // SAFETY: the caller's.
    unsafe { pointer.as_mut() }.ok_or(PluginError::NullPointer(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_crosses_the_boundary() {
        assert_eq!(guard(|| Ok(())), NcclResult::SUCCESS);
        assert_eq!(guard(|| Err(PluginError::NoCards)), NcclResult::INVALID_USAGE);
        assert_eq!(guard(|| panic!("planted")), NcclResult::INTERNAL);
    }
}
