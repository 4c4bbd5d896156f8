//! rust-hdl's own emitter, the reference.

use rust_hdl_core::prelude::*;

/// Its text for a connected block, with `_` for `$` in names so that ports are called as ours.
pub fn emit(block: &dyn Block, top_name: &str) -> String {
    let mut modules = ModuleDefines::default();
    block.accept(top_name, &mut modules);
    let text = modules.defines().replace("$signed", "\u{1}signed");
    let text = text.replace("$unsigned", "\u{1}unsigned");
    text.replace('$', "_").replace('\u{1}', "$")
}
