//! The transport of `docs/own-transport.md`: it runs, and the page shows what runs.

use std::path::Path;

#[path = "../../../lab/examples/own_transport.rs"]
mod example;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(path: &str) -> String {
    let path = Path::new(ROOT).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines without what they are indented by.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

#[test]
fn guides_transport_is_exact_on_loss() {
    example::main().expect("it is exact");
}

#[test]
fn guides_blocks_stand_in_running_file() {
    let (page, file) = (read("docs/own-transport.md"), read("sim/lab/examples/own_transport.rs"));
    let file = lines(&file);
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
    seed::enough("blocks of code", blocks.len() as u64, 10);
    for block in blocks {
        let block = block.split("```").next().expect("a block");
        let wanted = lines(block);
        let is_there = file.windows(wanted.len()).any(|window| window == wanted);
        assert!(is_there, "not in the file:\n{block}");
    }
}
