//! Over PCIe, as far as files in the place of sysfs go: which card, and that a wrong one is left
//! alone. What happens to the flash: `cli/src/board/flash/pcie/tests.rs` and
//! `sim/board/tests/boards/flash_update.rs`.

use std::path::{Path, PathBuf};

use abi::pci_ids;
use abi::registers::BOARD_WINDOW;
use abi::window::{directory, BlockKind};

use crate::board::flash::rig::{assert_failed, image, write_image, Rig, VU9P};

/// Bytes of BAR 0.
const BAR_BYTES: usize = 1 << 20;

/// A made-up sysfs.
struct Sysfs {
    rig: Rig,
    root: PathBuf,
    image: String,
}

impl Sysfs {
    fn new(name: &str) -> Self {
        let rig = Rig::new(&format!("pcie_{name}"), VU9P);
        let root = rig.folder().join("sys");
        std::fs::create_dir_all(root.join("bus/pci/devices")).expect("a folder");
        let image = write_image(rig.folder(), &image("vcu118", 5000));
        Self { rig, root, image }
    }

    /// A card whose BAR 0 holds words.
    fn card(&self, address: &str, words: &[(u32, u32)]) -> PathBuf {
        let folder = self.root.join("bus/pci/devices").join(address);
        std::fs::create_dir(&folder).expect("a folder");
        let file = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.join(name), bytes).expect("a file");
        };
        file("vendor", format!("0x{:04x}\n", pci_ids::VENDOR_ID).as_bytes());
        file("device", format!("0x{:04x}\n", pci_ids::DEVICE_ID).as_bytes());
        let mut bar = vec![0; BAR_BYTES];
        for (offset, value) in words {
            let at = *offset as usize;
            bar[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        file("resource0", &bar);
        folder.join("resource0")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let root = self.root.to_str().expect("a path");
        let common = [&self.image[..], "--board", "vcu118", "--via", "pcie", "--sysfs", root];
        self.rig.run(&[&common, arguments].concat())
    }
}

/// The window of a card for a board, as it stands.
fn window(board: u32) -> Vec<(u32, u32)> {
    let offsets = (BOARD_WINDOW..).step_by(4);
    let mut words: Vec<(u32, u32)> = offsets.zip(directory()).collect();
    words.push((BlockKind::Identity.block().offset, board));
    words
}

fn expect_unchanged(bar: &Path, words: &[(u32, u32)]) {
    let bytes = std::fs::read(bar).expect("a file");
    let sum: u64 =
        bytes.chunks(4).map(|word| word.iter().map(|byte| u64::from(*byte)).sum::<u64>()).sum();
    let expected = words.iter().flat_map(|(_, value)| value.to_le_bytes());
    assert_eq!(sum, expected.map(u64::from).sum::<u64>());
}

#[test]
fn no_card_or_more_than_one() {
    let sysfs = Sysfs::new("count");
    assert_failed(&sysfs.run(&["--yes"]), 6, &["no card", "Nothing was erased"]);
    let named = sysfs.run(&["--yes", "--device", "0000:65:00.0"]);
    assert_failed(&named, 6, &["0000:65:00.0", "No such file", "Nothing was erased"]);
    let empty = sysfs.card("0000:65:00.0", &[]);
    assert_failed(&sysfs.run(&["--yes"]), 6, &["0000:65:00.0", "no directory"]);
    expect_unchanged(&empty, &[]);
    let gone = vec![(BOARD_WINDOW, u32::MAX)];
    let bar = sysfs.card("0000:b3:00.0", &gone);
    let parts = ["0000:65:00.0, 0000:b3:00.0", "--device"];
    assert_failed(&sysfs.run(&["--yes"]), 6, &parts);
    let named = sysfs.run(&["--yes", "--device", "0000:b3:00.0"]);
    assert_failed(&named, 6, &["0000:b3:00.0", "does not answer"]);
    expect_unchanged(&bar, &gone);
}

#[test]
fn another_board_in_the_slot() {
    let sysfs = Sysfs::new("board");
    let words = window(2);
    let bar = sysfs.card("0000:65:00.0", &words);
    let parts = ["board 2 at 0000:65:00.0", "vcu118 is 1", "Nothing was erased"];
    assert_failed(&sysfs.run(&["--yes"]), 4, &parts);
    expect_unchanged(&bar, &words);
}

#[test]
fn a_flash_that_says_nothing() {
    let sysfs = Sysfs::new("flash");
    let words = window(1);
    let bar = sysfs.card("0000:65:00.0", &words);
    assert_failed(&sysfs.run(&["--yes"]), 11, &["0 chips", "Nothing was erased"]);
    expect_unchanged(&bar, &words);
}

#[test]
fn a_dry_run_touches_no_card() {
    let sysfs = Sysfs::new("dry_run");
    let bar = sysfs.card("0000:65:00.0", &[]);
    let (status, out, error) = sysfs.run(&["--dry-run"]);
    assert_eq!(status, Some(0), "{out}\n{error}");
    let kinds: Vec<&str> = out.lines().filter_map(|line| line.split(' ').next()).collect();
    let expected = ["image", "card", "ask"].into_iter().chain(["flash"; 6]);
    assert_eq!(kinds, expected.collect::<Vec<_>>(), "{out}");
    expect_unchanged(&bar, &[]);
    // Without a bridge above it, a card cannot load an image while the system runs.
    let outcome = sysfs.run(&["--yes", "--boot"]);
    assert_failed(&outcome, 11, &["--boot", "0000:65:00.0", "Nothing was erased"]);
    expect_unchanged(&bar, &[]);
}

#[test]
fn options_of_the_other_way() {
    let sysfs = Sysfs::new("options");
    assert_failed(&sysfs.run(&["--cable", "hw_server"]), 2, &["--cable", "--via jtag"]);
    assert_failed(&sysfs.run(&["--volatile"]), 2, &["--volatile", "--via jtag"]);
    let run = |extra: &[&str]| {
        let common = [&sysfs.image[..], "--board", "vcu118"];
        sysfs.rig.run(&[&common, extra].concat())
    };
    assert_failed(&run(&["--boot"]), 2, &["--boot", "--via pcie"]);
    assert_failed(&run(&["--device", "x"]), 2, &["--device", "--via pcie"]);
}
