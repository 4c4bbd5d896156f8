//! What kernels need to know of the library that was installed.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::layout::Layout;

/// The library, as a kernel needs it.
pub struct Installed {
    /// Its structures.
    pub layout: Layout,
    /// Functions of kernels by their addresses.
    pub functions: HashMap<usize, u32>,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// Keeps what is known of the library: there is one in a process.
pub fn keep(library: Installed) {
    INSTALLED.get_or_init(|| library);
}

/// The library that was installed.
pub fn installed() -> Option<&'static Installed> {
    INSTALLED.get()
}
