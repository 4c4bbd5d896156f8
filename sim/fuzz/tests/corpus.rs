//! Every input of the corpus, what a fuzzer found among it, runs without a panic.

use std::path::Path;

fn each(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut inputs = 0;
    for file in folder.read_dir().expect("a corpus") {
        let path = file.expect("a file").path();
        println!("{}", path.display());
        run(&std::fs::read(path).expect("an input"));
        inputs += 1;
    }
    assert!(inputs > 0, "no input of {target}");
}

#[test]
fn entries_of_a_card_that_lies() {
    each("entries", fuzz::entries::run);
}

#[test]
fn headers_of_any_peer() {
    each("headers", fuzz::headers::run);
}

#[test]
fn packets_that_two_parsers_read() {
    each("packets", fuzz::packets::run);
}

#[test]
fn requests_in_any_order() {
    each("requests", fuzz::requests::run);
}
