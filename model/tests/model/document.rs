//! `docs/model.md` beside what the crate says.

use zeronic_model::document::document;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/model.md");

#[test]
fn document_is_the_generated_one() {
    let text = document().unwrap();
    if seed::blesses() {
        std::fs::write(FILE, &text).unwrap();
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    assert_eq!(kept, text, "ZERONIC_BLESS=1 writes docs/model.md anew");
}
