//! Every input of the corpus, what a fuzzer found among it, runs without a panic.

use std::path::Path;

/// Runs them. Returns the sum of what they return.
fn each(target: &str, run: impl Fn(&[u8]) -> u64) -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let (mut inputs, mut sum) = (0, 0);
    for file in folder.read_dir().expect("a corpus") {
        let path = file.expect("a file").path();
        println!("{}", path.display());
        sum += run(&std::fs::read(path).expect("an input"));
        inputs += 1;
    }
    assert!(inputs > 0, "no input of {target}");
    sum
}

#[test]
fn entries_of_a_card_that_lies() {
    let runs = each("entries", fuzz::entries::run);
    println!("{runs} runs of packets taken");
    seed::enough("runs of packets that the provider takes", runs, 100);
}

#[test]
fn headers_of_any_peer() {
    each("headers", |input| {
        fuzz::headers::run(input);
        0
    });
}

#[test]
fn packets_that_two_parsers_read() {
    each("packets", |input| {
        fuzz::packets::run(input);
        0
    });
}

#[test]
fn requests_in_any_order() {
    let joined = each("requests", fuzz::requests::run);
    seed::enough("packets that share an entry", joined, 100);
}
