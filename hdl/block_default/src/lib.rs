//! A derive of `Default` for blocks: the value of a constant is written at its field.
//!
//! A `Constant` of rust-hdl has no default, so a block with one cannot derive the `Default` of the
//! standard library. It derives [`macro@BlockDefault`] instead:
//!
//! ```
//! use block_default::BlockDefault;
//! use rust_hdl_core::prelude::*;
//! use rust_hdl_macros::LogicBlock;
//! use rust_hdl_widgets::dff::DFF;
//!
//! #[derive(LogicBlock, BlockDefault)]
//! #[require(BITS <= 16, "an index has at most 16 bits")]
//! pub struct Wrap<const BITS: usize> {
//!     pub clock: Signal<In, Clock>,
//!     count: DFF<Bits<BITS>>,
//!     #[value((1u64 << BITS) - 1)]
//!     last: Constant<Bits<BITS>>,
//!     #[value(|lane| 8 * lane as u64)]
//!     offsets: [Constant<Bits<9>>; 64],
//! }
//! # impl<const BITS: usize> Logic for Wrap<BITS> {
//! #     fn update(&mut self) {}
//! # }
//!
//! let block = Wrap::<4>::default();
//! assert_eq!(block.last.val(), 15);
//! assert_eq!(block.offsets[63].val(), 504);
//! ```
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
//! ```
//! # use block_default::BlockDefault;
//! # use rust_hdl_core::prelude::*;
//! # use rust_hdl_macros::LogicBlock;
//! /// Gives up after `cycles` cycles.
//! #[derive(LogicBlock, BlockDefault)]
//! #[new(cycles: u64)]
//! #[require(cycles > 1, "{cycles} cycles are too few")]
//! pub struct Timer {
//!     pub clock: Signal<In, Clock>,
//!     #[value(cycles - 1)]
//!     last: Constant<Bits<16>>,
//! }
//! # impl Logic for Timer {
//! #     fn update(&mut self) {}
//! # }
//!
//! assert_eq!(Timer::new(100).last.val(), 99);
//! ```
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
/// A constant without a value does not compile:
///
/// ```compile_fail
/// # use block_default::BlockDefault;
/// # use rust_hdl_core::prelude::*;
/// #[derive(BlockDefault)]
/// struct Step {
///     one: Constant<Bits<4>>,
/// }
/// ```
///
/// Nor does a value of another type than the field's, here a `u32` where a `u64` becomes `Bits`:
///
/// ```compile_fail
/// # use block_default::BlockDefault;
/// # use rust_hdl_core::prelude::*;
/// #[derive(BlockDefault)]
/// struct Step {
///     #[value(1u32)]
///     one: Constant<Bits<4>>,
/// }
/// ```
///
/// A value that is too large for the constant's type panics, as `Bits` does.
#[proc_macro_derive(BlockDefault, attributes(value, require, new, keep, keep_hierarchy))]
pub fn block_default(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::block_default(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
