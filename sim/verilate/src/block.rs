//! A block of the card turned into a design: emitted, built, its width warnings judged.

use hdl::ports::{emit, ports_of, EmitError};
use rust_hdl_core::prelude::Block;

use crate::design::Design;
use crate::error::BuildError;
use crate::options::Options;
use crate::width::{lint_width_warnings, WidthFinding};

/// Why a block has no model.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    /// It has no Verilog.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The Verilog does not build.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Verilator widens what Rust wraps.
    #[error("{} width findings, first {}", .0.len(), .0[0])]
    Width(Vec<WidthFinding>),
}

/// Emits a block as module `top_name`, builds it and judges Verilator's width warnings.
pub fn design_of<B: Block>(
    block: &mut B,
    top_name: &str,
    options: Options,
) -> Result<Design, BlockError> {
    let verilog = emit(block, top_name)?;
    let design = Design::build(top_name, &verilog, &ports_of(block), options)?;
    lint_width_warnings(design.warnings()).map_err(BlockError::Width)?;
    Ok(design)
}
