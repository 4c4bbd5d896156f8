//! `zeronic device reprogram` on a made-up system.

use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Output;
use std::time::Duration;

use abi::image::{contract, Slot as ImageSlot, SYNC_WORD};
use abi::ABI_VERSION;
use host_board::image::{Header, Image};
use sim_board::slot::{bridge_space, put, MadeSlot, BRIDGE, DEVICE};

use crate::run::{command, expect_refusal, expect_success, folder, ROOT};

const DRIVER: &str = "zeronic-test";

/// A made-up system, and the program run on it.
struct Machine(MadeSlot);

impl Machine {
    fn new(name: &str) -> Self {
        Self(MadeSlot::new(folder(name), Some(DRIVER)))
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let root = self.0.root().to_str().expect("a path");
        let words = ["device", "reprogram", "--device", "03:00.0", "--sysfs", root];
        [&words[..], more].concat()
    }

    fn run(&self, more: &[&str]) -> Output {
        command(&self.words(more)).output().expect("the program starts")
    }

    /// The bridge is as it was, and the device with its driver there.
    fn is_whole(&self) -> bool {
        let config = fs::read(self.0.bridge().join("config")).expect("a file");
        config == bridge_space() && self.0.device().join("driver").exists()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files that the system reads change a moment after the program has ended; on a busy machine
/// the moment may last.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..30_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{what}");
}

#[test]
fn dry_run_prints_what_run_does() {
    let machine = Machine::new("device_whole");
    // The image is written while the card is off the bus, and its bridge silent.
    let seen = machine.0.root().join("seen");
    let program = format!(
        "while [ -e {} ]; do sleep 0.01; done; cp {} {}",
        machine.0.device().display(),
        machine.0.bridge().join("config").display(),
        seen.display()
    );
    let more = ["--command", &program];
    let dry = expect_success(&machine.words(&[&more[..], &["--dry-run"]].concat()));
    assert!(machine.is_whole() && !seen.exists());
    let lines: Vec<&str> = dry.lines().collect();
    assert_eq!(lines.len(), 14, "{dry}");
    for (line, part) in [
        (0, "0000:00:01.0: COMMAND (0x004): clear bits 0x0100; SERR#"),
        (1, "Device Control (0x078): clear bits 0x0004"),
        (2, "AER Uncorrectable Error Mask (0x108): set bits 0x07fff030"),
        (3, "DPC Control (0x166): clear bits 0x0003"),
        (4, "driver zeronic-test lets it go"),
        (5, "the system forgets it"),
        (6, "the image is written"),
        (7, "the link comes up"),
        (8, "the system looks for it"),
        (9, "driver zeronic-test takes it"),
        (13, "COMMAND (0x004): as before"),
    ] {
        assert!(lines[line].contains(part), "{line}: {}", lines[line]);
    }
    let output = machine.run(&more);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), dry);
    eventually("the card is back", || machine.is_whole());
    let space = fs::read(seen).expect("the program ran");
    assert_eq!(space[0x04..0x06], [0x47, 0x04]);
    assert_eq!(space[0x78..0x7a], [0x3b, 0x29]);
    assert_eq!(space[0x166..0x168], [0x08, 0x00]);
}

#[test]
fn failed_or_interrupted_run_leaves_everything() {
    let machine = Machine::new("device_failed");
    for (program, said) in [
        ("exit 3", "/bin/sh ended with exit status: 3"),
        ("kill -INT $PPID; sleep 0.1", "asked to end"),
        ("kill -TERM $PPID; sleep 0.1; exit 1", "exit status: 1"),
    ] {
        let output = machine.run(&["--command", program]);
        let line = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{program}: {line}");
        assert!(line.contains(said), "{line}");
        assert!(line.trim_end().ends_with("everything is as it was"), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
        eventually("the card is back", || machine.is_whole());
    }
}

/// The bytes of an image for a VU9P.
fn image_of(board: &str, part: &str) -> Vec<u8> {
    image_with(board, part, 0)
}

/// The same with things that are wrong with it.
fn image_with(board: &str, part: &str, forced: u64) -> Vec<u8> {
    let header = Header {
        board: board.to_owned(),
        part: part.to_owned(),
        config: "lab".to_owned(),
        slot: ImageSlot::User,
        contract: contract(ABI_VERSION),
        git: "0".repeat(40),
        built: 0,
        bytes: 0,
        sha256: String::new(),
        forced,
    };
    let mut data = vec![0xff; 64];
    for word in [SYNC_WORD, 0x2000_0000, 0x3001_8001, 0x04b3_1093, 0x2000_0000] {
        data.extend(u32::to_be_bytes(word));
    }
    Image::new(header, data).file().expect("an image")
}

/// An image goes to `zeronic flash`, here over a cable that nobody is at the end of. What that
/// would refuse is refused before anything is begun.
#[test]
fn flash_command_writes_the_image() {
    let machine = Machine::new("device_image");
    let other = machine.0.root().join("other.zimg");
    fs::write(&other, image_of("vcu1525", "xcu200-fsgd2104-2-e")).expect("a file");
    let other = other.to_str().expect("a path");
    expect_refusal(&machine.words(&[other]), &["zeronic flash --dry-run: ", "xcu200", "vcu1525"]);
    // One that was forced takes a word more, and goes on to the cable then.
    let forced = machine.0.root().join("forced.zimg");
    let image = image_with("vcu1525", "xcvu9p-fsgd2104-2L-e", 2);
    fs::write(&forced, image).expect("a file");
    let forced = forced.to_str().expect("a path");
    expect_refusal(
        &machine.words(&[forced]),
        &["zeronic flash --dry-run: ", "2 things wrong", "--force"],
    );
    let output = machine.run(&[forced, "--force", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = machine.0.root().join("card.zimg");
    let image = image_of("vcu1525", "xcvu9p-fsgd2104-2L-e");
    fs::write(&file, image).expect("a file");
    let words = [file.to_str().expect("a path"), "--cable", "xvc:127.0.0.1:9"];
    let output = machine.run(&words);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    // What the flash command prints stands between the steps.
    let out = text(&output.stdout);
    assert!(out.contains("the image is written\nimage "), "{out}");
    let last = said.lines().last().expect("a line");
    assert!(last.contains("the image is written: ") && last.contains("ended with exit status: "));
    assert!(last.ends_with("everything is as it was"), "{last}");
    eventually("the card is back", || machine.is_whole());
}

#[test]
fn what_cannot_be_restored_is_said() {
    let machine = Machine::new("device_lost");
    // The system finds no card again.
    let forgotten = machine.0.root().join("forgotten");
    let program = format!(
        "while [ ! -e {0} ]; do sleep 0.01; done; sleep 0.1; rm -r {0}",
        forgotten.display()
    );
    let output = machine.run(&["--command", &program]);
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{line}");
    assert!(line.contains("the image is exchanged; NOT restored: 0000:03:00.0: the system"));
    let config = fs::read(machine.0.bridge().join("config")).expect("a file");
    assert!(config == bridge_space());
}

#[test]
fn impossible_request_is_refused_before_acting() {
    let machine = Machine::new("device_refused");
    let program = ["--command", "true"];
    let refused_with = |more: &[&str], parts: &[&str]| expect_refusal(&machine.words(more), parts);
    refused_with(&[], &["IMAGE"]);
    refused_with(&["--boot", "factory"], &["'factory'", "golden", "user"]);
    refused_with(&["/nowhere.zimg"], &["/nowhere.zimg", "No such file"]);
    let file = machine.0.root().join("old.bin");
    fs::write(&file, "no image").expect("a file");
    refused_with(&[file.to_str().expect("a path")], &["no image: it begins with 'no image'"]);
    let other = machine.0.bridge().join("0000:03:00.1");
    fs::create_dir(&other).expect("a folder");
    refused_with(&program, &["also 0000:03:00.1", "lost with 0000:03:00.0"]);
    fs::remove_dir(&other).expect("a folder");
    let mut space = vec![0; 256];
    put(&mut space, 0, 0x5004_10ee);
    fs::write(machine.0.device().join("config"), space).expect("a file");
    refused_with(&program, &["10ee:5004", "--foreign"]);
    expect_success(&machine.words(&["--command", "true", "--foreign", "--dry-run"]));
    expect_refusal(
        &["device", "reprogram", "--device", "3:0", "--command", "true"],
        &["'3:0'", "0000:01:00.0"],
    );
}

/// The statuses are in the help and in the guide.
#[test]
fn the_exit_statuses_are_documented() {
    let help = expect_success(&["device", "reprogram", "--help"]);
    let guide = fs::read_to_string(format!("{ROOT}/docs/boards/README.md")).expect("a document");
    let part = guide.split("## A new image in a running machine").nth(1).expect("a part");
    for status in [0, 2, 3, 4] {
        assert!(help.contains(&format!("\n  {status}  ")), "{status}:\n{help}");
        assert!(part.contains(&format!("\n| {status} | ")), "{status}");
    }
}

/// Another user reads the files and cannot write them.
#[test]
fn missing_write_right_stops_beginning() {
    let machine = Machine::new("device_rights");
    let mut run = command(&machine.words(&["--command", "true"]));
    let files = [machine.0.bridge().join("config"), machine.0.device().join("remove")];
    for file in &files {
        let mode = fs::Permissions::from_mode(0o444);
        fs::set_permissions(file, mode).expect("a file");
    }
    if fs::File::options().write(true).open(&files[0]).is_ok() {
        // Root may all: what is run is run as nobody. It may not get at the program or the tree.
        let copy = std::env::temp_dir().join(format!("zeronic-rights-{}", std::process::id()));
        let tree = copy.join("sys");
        fs::create_dir_all(&copy).expect("a folder");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).expect("a folder");
        fs::copy(env!("CARGO_BIN_EXE_zeronic"), copy.join("zeronic")).expect("a program");
        let paths = [machine.0.root().to_str().expect("a path"), tree.to_str().expect("a path")];
        let mut copied = std::process::Command::new("cp");
        let status = copied.arg("-r").args(paths).status().expect("cp runs");
        assert!(status.success());
        let links = tree.join("bus/pci/devices");
        for (name, place) in [(BRIDGE, BRIDGE.to_owned()), (DEVICE, format!("{BRIDGE}/{DEVICE}"))] {
            fs::remove_file(links.join(name)).expect("a link");
            let place = tree.join("devices/pci0000:00").join(place);
            symlink(place, links.join(name)).expect("a link");
        }
        let words = ["device", "reprogram", "--device", "03:00.0", "--command", "true", "--sysfs"];
        run = std::process::Command::new(copy.join("zeronic"));
        run.args(words).arg(&tree).current_dir("/").uid(65534).gid(65534);
        let output = run.output().expect("the program starts");
        fs::remove_dir_all(&copy).expect("a folder");
        rights_are_missing(&output);
        return;
    }
    rights_are_missing(&run.output().expect("the program starts"));
}

fn rights_are_missing(output: &Output) {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    for part in ["config cannot be written", "remove cannot be written", "run as root"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
