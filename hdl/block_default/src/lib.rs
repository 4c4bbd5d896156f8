//! A derive of `Default` for blocks: the value of a constant is written at its field.
//!
//! A `Constant` of rust-hdl has no default, so a block with one cannot derive the `Default` of the
//! standard library. It derives [`macro@BlockDefault`] instead:
//!
//! ```text
//!   #[derive(LogicBlock, BlockDefault)]
//!   #[require(BITS <= 16, "an index has at most 16 bits")]
//!   pub struct Wrap<const BITS: usize> {
//!       ...
//!       #[value((1u64 << BITS) - 1)]
//!       last: Constant<Bits<BITS>>,
//!   }
//! ```
//! Examples that are compiled stand where blocks find it: at `stream::prelude::BlockDefault`.
//!
//! | field | attribute | is made by |
//! |---|---|---|
//! | `Constant<T>` | `#[value(EXPR)]` | `Constant::new(EXPR.into())` |
//! | `[Constant<T>; N]` | `#[value(\|index\| EXPR)]` | the same for each index, a `usize` |
//! | any other | `#[value(EXPR)]` | `EXPR` |
//! | `[T; N]` | none | `Default::default()` for each entry, for any `N` |
//! | any other | none | `Default::default()` |
//!
//! A constant must have a value: for a `Constant<Bits<N>>` a `u64` or a `Bits<N>`, else a `T`.
//!
//! Attributes of the block stand below the derive:
//!
//! | attribute | effect |
//! |---|---|
//! | `#[require(CONDITION, "reason")]` | an `assert!` before the fields are made |
//! | `#[new(NAME: TYPE, ...)]` | `new` with these arguments in place of `Default` |
//!
//! Two more are for the Verilog that is printed of the block (crate `verilog`), and change nothing
//! here: `#[keep]` at a register that tools must neither merge with an equal one nor take away, and
//! `#[keep_hierarchy]` at a block whose borders tools must leave as they are.
//!
//! Values and conditions may use the parameters of the block and its arguments.
//!
//! The generated code names no crate except `core`; the type of a constant is that of its field, so
//! it must be written as `Constant<...>`, with or without a path.

#![forbid(unsafe_code)]

mod expand;

use proc_macro::TokenStream;
use syn::{parse_macro_input, DeriveInput};

/// Derives `Default` for a block, or `new` for one with arguments; the [crate] describes the
/// attributes.
///
/// A value that is too large for the constant's type panics, as `Bits` does.
#[proc_macro_derive(BlockDefault, attributes(value, require, new, keep, keep_hierarchy))]
pub fn block_default(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::block_default(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
