//! Names the tests that this run has skipped. Not a test: it is the last program of
//! `cargo test --workspace`, so that what was skipped stands in the last lines of a run.

fn main() {
    print!("{}", skip::report());
}
