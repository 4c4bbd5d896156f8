//! The zeronic program.
fn main() {}
