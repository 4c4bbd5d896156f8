//! The shared library of a built design: the functions of its shim.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use crate::error::BuildError;

/// A model inside the library.
pub(crate) type Handle = *mut c_void;
/// Takes the text of a waveform.
pub(crate) type WriteCallback = extern "C" fn(*mut c_void, *const c_char, u64);

/// The functions of a loaded shim.
pub(crate) struct Library {
    pub(crate) create: unsafe extern "C" fn(u32, u32, u32) -> Handle,
    pub(crate) delete: unsafe extern "C" fn(Handle),
    pub(crate) eval: unsafe extern "C" fn(Handle),
    pub(crate) port: unsafe extern "C" fn(Handle, u32) -> *mut c_void,
    pub(crate) trace_open: unsafe extern "C" fn(Handle, WriteCallback, *mut c_void) -> c_int,
    pub(crate) trace_dump: unsafe extern "C" fn(Handle, u64),
    pub(crate) trace_close: unsafe extern "C" fn(Handle),
    _library: libloading::Library,
}

impl Library {
    /// Loads a library that `design` has built.
    pub fn load(path: &Path) -> Result<Library, BuildError> {
        let failed = |reason: libloading::Error| BuildError::Load {
            path: path.to_path_buf(),
            reason: reason.to_string(),
        };
        // SAFETY: the file was linked by `design` from the shim; its static initialisers are
        // those of Verilator's runtime and touch only the library itself.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the types above are those of the functions in `shim.rs`; the pointers stay
        // valid as long as `_library`, which lives as long as they do.
        unsafe {
            Ok(Library {
                create: *library.get(b"zeronic_new").map_err(failed)?,
                delete: *library.get(b"zeronic_delete").map_err(failed)?,
                eval: *library.get(b"zeronic_eval").map_err(failed)?,
                port: *library.get(b"zeronic_port").map_err(failed)?,
                trace_open: *library.get(b"zeronic_trace_open").map_err(failed)?,
                trace_dump: *library.get(b"zeronic_trace_dump").map_err(failed)?,
                trace_close: *library.get(b"zeronic_trace_close").map_err(failed)?,
                _library: library,
            })
        }
    }
}
