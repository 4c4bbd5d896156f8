//! From a tree of rust-hdl blocks to Verilog that people can read, trust and close timing on.
//!
//! ```text
//!   block ──probe──> Node ──> Table + kernel ──> groups ──> Body ──┐ one per block
//!                     (tree)   (table, lower)     (order)  (module) │
//!                                       equal bodies become one ◄───┘
//!                                       Design { modules } ──> files | one file | explain
//! ```
//!
//! | Rust | Verilog |
//! |---|---|
//! | a block | one module; one instance for each field of its type, named as the field |
//! | `DFF` field | `reg` with its initial value, assigned `@(posedge clock)` in the owner |
//! | `Constant`, enumeration value | `localparam` with its width |
//! | clock assignments, joins | direct connections |
//! | `Verilog::Custom` | the text, attributes included |
//!
//! Invariants:
//! 1. Every operand has its Rust width and every operator below another its parentheses: the
//!    Verilog means what rust-hdl simulates. What cannot be expressed so is refused with the block
//!    and the expression ([`EmitError`]).
//! 2. Only registers and memories keep their value between clock edges.
//! 3. Names depend on Rust names and, where those do not suffice, on a digest of the code without
//!    comments (see [`names`](port_name)); equal blocks give equal bytes.

mod design;
mod error;
mod explain;
mod expr;
mod header;
mod kernel;
mod latch;
mod lower;
mod module;
mod module_names;
mod names;
mod order;
mod parts;
mod path;
mod prepare;
mod print;
mod reserved;
mod show;
mod source;
mod table;
mod text;
mod tree;
mod value;

pub use design::{Design, Module, Origin};
pub use error::{EmitError, Reason};
pub use explain::UnknownName;
pub use module_names::ModuleNames;
pub use names::port_name;
pub use reserved::is_reserved;
pub use show::show;

use rust_hdl_core::prelude::Block;

/// Prints a block and all below it; the top module is called `top_name`, every other one after
/// its type.
///
/// The block must be connected (`connect_all`) and checked (`check_all`).
pub fn emit(block: &dyn Block, top_name: &str) -> Result<Design, EmitError> {
    emit_as(block, ModuleNames::plain(top_name))
}

/// As [`emit`], with modules called as `called` says.
pub fn emit_as(block: &dyn Block, called: ModuleNames<'_>) -> Result<Design, EmitError> {
    design::build(block, called)
}
