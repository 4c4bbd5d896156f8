//! The plugin under its adversary: `nccl-driver`, in a process of its own for each set of cards.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const VERSIONS: [u32; 5] = [8, 9, 10, 11, 12];
/// Schedules of each version and wire.
const SCHEDULES: &str = "20";
/// A wire with small buffers: a send that is done too early is overwritten before it is gone.
const CLEAN: &str = "buffer=4096&mtu=1500&dmabuf=1";
const BAD: &str = "loss=0.01&reorder=0.01&mtu=1500&dmabuf=1";

/// A folder for sockets, whose names are short.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("zn-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Two cards on one wire.
    fn cards(&self, settings: &str) -> String {
        let card = format!("golden:{}?{settings}", self.0.display());
        format!("{card},{card}")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn driver(cards: &str) -> Command {
    let mut driver = Command::new(env!("CARGO_BIN_EXE_nccl-driver"));
    driver.env("ZERONIC_CARD", cards);
    driver
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// All versions on one wire, each in a process of its own.
fn drive(settings: &str, more: &[&str]) {
    let seed = (seed::seed() >> 16).to_string();
    for version in VERSIONS {
        let folder = Folder::new();
        let mut driver = driver(&folder.cards(settings));
        driver.args(["--version", &version.to_string(), "--seed", &seed, "--count", SCHEDULES]);
        let output = driver.args(more).output().expect("it runs");
        println!("{}", text(&output));
        assert!(output.status.success(), "version {version}: {}", text(&output));
    }
}

#[test]
fn clean_wire_copies_nothing() {
    drive(CLEAN, &["--no-copies"]);
}

#[test]
fn lossy_reordering_wire_changes_no_byte() {
    drive(BAD, &[]);
}

#[test]
fn aborts_with_requests_in_flight_harm_nothing() {
    drive(CLEAN, &["--abort"]);
}

#[test]
fn small_card_runs_out_of_flows() {
    // 63 flows for both directions of all pairs: many requests come again.
    drive("small=1&dmabuf=1", &["--no-copies"]);
}

#[test]
fn every_planted_fault_is_found() {
    let faults = [
        "early-receive",
        "tag-ignored",
        "length-is-maximum",
        "byte-too-far",
        "empty-lost",
        "wrong-slot",
        "early-send",
        "stale-is-optional",
        "bit-flipped",
        "lengths-shifted",
    ];
    for fault in faults {
        let folder = Folder::new();
        let mut driver = driver(&folder.cards(CLEAN));
        driver.args(["--plant", fault, "--count", "40", "--limit-s", "15"]);
        let output = driver.output().expect("it runs");
        let text = text(&output);
        println!("{fault}: {text}");
        assert_eq!(output.status.code(), Some(1), "{fault} was not found: {text}");
        assert!(text.contains("nccl-driver: seed "), "{fault}: {text}");
    }
}

#[test]
fn sixty_four_communicators_connect() {
    let folder = Folder::new();
    let output = driver(&folder.cards("dmabuf=1")).args(["--comms", "64"]).output();
    let output = output.expect("it runs");
    println!("{}", text(&output));
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("64 communicators each way"));
}

#[test]
fn rank_at_rest_takes_no_cpu() {
    let folder = Folder::new();
    let output = driver(&folder.cards("mtu=9000")).args(["--idle", "3"]).output();
    let text = text(&output.expect("it runs"));
    println!("{text}");
    let percent = text.split_whitespace().find_map(|word| word.parse::<f64>().ok());
    assert!(percent.is_some_and(|percent| percent <= 1.0), "{text}");
}

#[test]
fn dead_rank_is_known_in_time() {
    let folder = Folder::new();
    let handle = folder.0.join("handle");
    let cards = format!("golden:{}", folder.0.display());
    let mut dies = driver(&cards);
    let dies = dies.arg("--hold").arg(&handle).stderr(Stdio::null());
    let mut dies = dies.spawn().expect("it runs");
    let mut lives = driver(&cards);
    let lives = lives.arg("--reach").arg(&handle).stdout(Stdio::piped()).spawn().expect("it runs");
    let connected = folder.0.join("handle.connected");
    let started = Instant::now();
    while !connected.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "they never connect");
        std::thread::sleep(Duration::from_millis(10));
    }
    dies.kill().expect("it runs");
    let killed = Instant::now();
    let output = lives.wait_with_output().expect("it ends");
    let took = killed.elapsed();
    dies.wait().expect("it is dead");
    assert!(text(&output).contains("known to be gone by 6"), "{}", text(&output));
    println!("known after {took:?}");
    // Five seconds, and the machine may be busy.
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn wrong_settings_are_one_line() {
    let long = format!("golden:/{}", "x".repeat(120));
    for (cards, why) in [
        ("", "ZERONIC_CARD="),
        ("gold:/tmp", "`gold` is no kind of card"),
        ("golden:/nowhere/at/all", "cannot be opened: socket in /nowhere/at/all"),
        ("vfio:0000:ff:1f.7", "cannot be opened"),
        (&long, "cannot be opened"),
    ] {
        // The second device is the first that is opened.
        let cards = format!("{cards},{cards}");
        let output = driver(&cards).args(["--comms", "1"]).output().expect("it runs");
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "{cards}: {text}");
        assert!(text.contains(why), "{cards}: {text}");
        let lines = text.lines().filter(|line| line.starts_with("NET/Zeronic")).count();
        assert_eq!(lines, 1, "{cards}: {text}");
    }
}

#[test]
fn library_has_every_version() {
    let program = std::env::current_exe().expect("a path");
    let library = program.with_file_name("libnccl_net_zeronic.so");
    assert!(library.exists(), "{} is built with the tests", library.display());
    for version in VERSIONS {
        let folder = Folder::new();
        let mut driver = driver(&folder.cards(CLEAN));
        driver.arg("--plugin").arg(&library);
        let output = driver.args(["--version", &version.to_string(), "--count", "2"]).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "version {version}: {}", text(&output));
    }
}
