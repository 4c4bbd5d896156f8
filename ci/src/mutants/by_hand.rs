//! Faults that no rule of `generate.rs` makes, each once planted by hand.
//!
//! ```text
//!   file, words of one line ──► what stands there instead ──► a mutant like any other
//! ```
//! The words stand once in their file: the test of this file says where they no longer do.

use std::path::Path;

use super::mutant::Mutant;

/// File, words that stand once in it, and what stands there instead.
const FAULTS: &[(&str, &str, &str)] = &[
    // Bit 47 of an offset is not compared with the length of a region.
    (
        "hdl/tables/src/region_table/region_check.rs",
        "bit_cast::<49, 48>(self.request.val().offset)",
        "bit_cast::<49, 47>(bit_cast::<47, 48>(self.request.val().offset))",
    ),
    // An access that ends at exactly 2^48 of a small region.
    (
        "hdl/tables/src/region_table/region_check.rs",
        "(self.checked.val().end <= bit_cast::<49, 48>(self.checked.val().length))",
        "(bit_cast::<48, 49>(self.checked.val().end) <= self.checked.val().length)",
    ),
    // A TCP option of length 1 is skipped, and does not end the search for the timestamp.
    ("sim/golden/src/packet.rs", "length < 2 || at + length", "length < 1 || at + length"),
    // A send floor that was asked for counts as confirmed: the card may still read the buffer.
    (
        "host/src/control/flow/send.rs",
        "self.queue.complete(self.floor, done);",
        "self.queue.complete(self.floor_asked, done);",
    ),
    // A build that fails between two steps is blamed on the one that has ended.
    ("cli/src/board/build/vivado.rs", "self.running.take();", "self.running.clone();"),
];

/// The faults in `text`, the content of `file`.
pub fn mutants(file: &Path, text: &str) -> Vec<Mutant> {
    let own = FAULTS.iter().filter(|(place, ..)| Path::new(place) == file);
    let mutant = |&(_, from, to): &(&str, &str, &str)| {
        let at = text.find(from)?;
        Mutant::new(file.to_path_buf(), text, at..at + from.len(), to.to_owned())
    };
    own.filter_map(mutant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_place() {
        let root = crate::walk::workspace();
        for (file, from, _) in FAULTS {
            let text = std::fs::read_to_string(root.join(file)).expect("a file");
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            let found = mutants(Path::new(file), &text);
            assert!(found.iter().any(|mutant| mutant.before.contains(from)), "{file}: {from}");
        }
    }
}
