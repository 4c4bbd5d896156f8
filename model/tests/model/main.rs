//! The model: its sums, its table beside published points, its page and its document.

mod cost;
mod document;
mod inputs;
mod page;
mod split;
mod validation;
