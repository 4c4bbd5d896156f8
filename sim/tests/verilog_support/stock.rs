//! rust-hdl's own emitter, the reference.

use rust_hdl_core::prelude::*;

/// What stands for `$` in its names: Yosys and Verilator's C++ take the rest as it is.
pub const JOINT: &str = "_S_";

/// The name of a port in its text.
#[allow(dead_code)] // Not every test names ports.
pub fn port_name(field: &str) -> String {
    field.replace('$', JOINT)
}

/// Its text for a connected block.
pub fn emit(block: &dyn Block, top_name: &str) -> String {
    let mut modules = ModuleDefines::default();
    block.accept(top_name, &mut modules);
    let text = modules.defines().replace("$signed", "\u{1}signed");
    let text = text.replace("$unsigned", "\u{1}unsigned");
    text.replace('$', JOINT).replace('\u{1}', "$")
}
