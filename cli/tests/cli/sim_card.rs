//! `zeronic sim-card`: a card in a process of its own, opened by the host's bus.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use abi::registers as r;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use serde_json::Value;
use skip::{skip, Need};
use vfio::SocketBus;

use crate::run::{command, expect_refusal, expect_success, folder};

/// How long a line of the process may take on a busy machine, and its first: the Verilog may have
/// to be built.
const LINE_TIME: Duration = Duration::from_secs(300);
const FIRST_LINE_TIME: Duration = Duration::from_secs(1800);

/// The process, ended with the test.
pub struct Card {
    process: Child,
    said: Receiver<String>,
    pub socket: PathBuf,
    /// The line that says what it serves.
    pub serves: String,
}

impl Card {
    fn start(name: &str) -> Self {
        Self::with(name, &[])
    }

    /// One with more arguments.
    pub fn with(name: &str, arguments: &[&str]) -> Self {
        // A path of a socket is short, which that of the target folder need not be.
        let file = format!("zeronic-cli-{}-{name}.sock", std::process::id());
        Self::at(&std::env::temp_dir().join(file), arguments)
    }

    pub fn at(socket: &Path, arguments: &[&str]) -> Self {
        let path = socket.to_str().expect("a path");
        let mut command = command(&["sim-card", "--vfio-user", path, "--config", "small"]);
        let process = command.args(arguments).stdout(Stdio::piped());
        let mut process = process.spawn().expect("it starts");
        let said = lines_of(process.stdout.take().expect("its output"));
        let serves = String::new();
        let mut card = Self { process, said, socket: socket.to_owned(), serves };
        card.serves = card.line_within(FIRST_LINE_TIME, "serving");
        let model = arguments.iter().find_map(|argument| match *argument {
            "rtl" => Some("Verilated"),
            "null" => Some("null"),
            _ => None,
        });
        let what = format!("serving a {} card (small)", model.unwrap_or("golden"));
        assert!(card.serves.contains(&what), "{}", card.serves);
        let free = card.line();
        assert!(free.contains("clocks run free") && free.contains("do not repeat"), "{free}");
        card
    }

    /// The bus to it, as an option.
    pub fn bus(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }

    /// What it says next.
    pub fn line(&mut self) -> String {
        self.line_within(LINE_TIME, "")
    }

    /// The next line with that in it.
    pub fn line_with(&mut self, part: &str) -> String {
        self.line_within(LINE_TIME, part)
    }

    fn line_within(&mut self, time: Duration, part: &str) -> String {
        let begun = Instant::now();
        let mut said = Vec::new();
        loop {
            match self.said.recv_timeout(time.saturating_sub(begun.elapsed())) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("waited {time:?} for a line with '{part}', and read {said:#?}");
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it has ended without a line with '{part}': {said:#?}");
                }
            }
        }
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("it is there");
        self.process.wait().expect("it ends");
    }
}

/// What a process says, line by line, for whoever waits with a limit of time.
fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (line_said, said) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines();
        // It has ended, or nobody listens any more.
        lines.map_while(Result::ok).try_for_each(|line| line_said.send(line))
    });
    said
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

#[test]
fn card_in_other_process_opens_twice() {
    let mut card = Card::start("use");
    let mut epochs = Vec::new();
    let started = Instant::now();
    for _ in 0..3 {
        let bus = SocketBus::open(&card.socket).expect("a card");
        let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
        epochs.push(device.bus().read_register(r::EPOCH).expect("a register"));
        device.close().expect("it closes");
        assert!(card.line().contains("a client has the card"));
        assert!(card.line().contains("the client has gone"));
    }
    println!("opened, used and closed in {:?}", started.elapsed() / 3);
    assert!(epochs.windows(2).all(|pair| pair[0] != pair[1]), "{epochs:?}");
}

#[test]
fn killed_card_is_noticed_restarts_at_socket() {
    let mut card = Card::start("kill");
    let bus = SocketBus::open(&card.socket).expect("a card");
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    card.kill();
    let gone = Instant::now();
    let error = loop {
        match device.bus().advance() {
            Ok(()) => assert!(gone.elapsed() < Duration::from_secs(1), "nobody notices"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("has gone") && !error.contains('\n'), "{error}");
    drop(device);
    let card = Card::at(&card.socket, &[]);
    let mut bus = SocketBus::open(&card.socket).expect("a card");
    assert_eq!(bus.read_register(r::ID).expect("a register"), r::ID_VALUE);
}

/// Its waveform is whole when its first client has gone.
#[test]
fn verilated_card_records_its_first_client() {
    let wave = folder("card-wave").join("card.fst");
    let path = wave.to_str().expect("a path");
    let mut card = Card::with("wave", &["--model", "rtl", "--wave", path]);
    for epoch in 0..2 {
        let bus = SocketBus::open(&card.socket).expect("a card");
        let device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
        device.close().expect("it closes");
        assert!(card.line_with("cycles of 250 MHz").contains("cycles/s"), "client {epoch}");
        if epoch == 0 {
            assert!(card.line().contains(path), "it has a waveform");
            assert!(wave.metadata().expect("a file").len() > 1000);
        }
        assert!(card.line().contains("the client has gone"));
    }
}

/// Another interface of that name there is not; it ends with the process.
#[test]
fn interface_of_machine_is_at_wire() {
    let name = format!("zt{}", std::process::id() % 1_000_000);
    let peer = format!("tap:{name}");
    if let Err(error) = host::transport::TapPort::open(&name) {
        assert!(error.is_refusal(), "{error}");
        let refused = ["sim-card", "--vfio-user", "/no/such.sock", "--peer", &peer];
        expect_refusal(&refused, &[&peer, "ip tuntap add"]);
        return skip(Need::Namespaces, error);
    }
    let card = Card::with("tap", &["--peer", &peer]);
    assert!(card.serves.contains(&format!("interface {name}")), "{}", card.serves);
    let taken = ["sim-card", "--vfio-user", "/no/such.sock", "--peer", &peer];
    expect_refusal(&taken, &[&peer, "busy"]);
}

#[test]
fn impossible_peer_or_wave_is_refused() {
    let with = |more: &[&str], parts: &[&str]| {
        let all = [&["sim-card", "--vfio-user", "/no/such.sock"][..], more].concat();
        expect_refusal(&all, parts);
    };
    with(&["--wave", "w.fst"], &["--wave", "--model rtl"]);
    with(&["--peer", "windows"], &["'windows'", "tap:NAME"]);
    with(&["--peer", "tap:sixteen-letters-"], &["15 bytes"]);
}

/// Times of a machine that does other things as well are not judged.
#[test]
fn host_is_measured_across_processes() {
    let json = folder("bench-far").join("b.json");
    let path = json.to_str().expect("a path");
    let card = Card::with("null", &["--model", "null"]);
    let text = expect_success(&["bench", "host", "--bus", &card.bus(), "--quick", "--json", path]);
    for part in ["every descriptor is right", "doorbells by stores", "a posted message"] {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(json).expect("it")).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    let is_positive = |value: &Value| value.as_f64().is_some_and(|value| value > 0.0);
    assert_eq!(rows.len(), 8);
    for time in ["near_ns", "told_ns", "far_ns"] {
        assert!(rows.iter().all(|row| is_positive(&row[time])), "{time}: {report}");
    }
}

/// Cycles behind a socket, and in this process: of a busy machine they are not judged.
#[test]
fn simulation_is_timed_across_processes() {
    let json = folder("sim-far").join("s.json");
    let path = json.to_str().expect("a path");
    let card = Card::with("cycles", &["--model", "rtl", "--peer", "tcp"]);
    let sim = ["bench", "sim", "--bus", &card.bus(), "--runs", "2", "--bytes", "20000"];
    let text = expect_success(&[&sim[..], &["--json", path]].concat());
    for part in ["every byte is right", "small card; ratio", "do not repeat"] {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(json).expect("it")).expect("JSON");
    for key in ["in_process", "over_socket"] {
        let speeds = report[key].as_array().expect("a list");
        let is_real = |speed: &Value| speed.as_f64().is_some_and(|speed| speed > 1000.0);
        assert!(speeds.len() == 2 && speeds.iter().all(is_real), "{report}");
    }
    assert!(report["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{report}");
    let order = ["bench", "host", "--bus", &card.bus()];
    expect_refusal(&order, &["no null card", "--model null"]);
    let golden = Card::start("no-clock");
    expect_refusal(&["bench", "sim", "--bus", &golden.bus()], &["no simulation", "--model rtl"]);
    expect_refusal(&["bench", "sim", "--runs", "3"], &["--bus"]);
}

#[test]
fn doorbells_of_served_card_are_measured() {
    let card = Card::start("doorbell");
    let bus = card.bus();
    let text = expect_success(&["bench", "doorbell", "--bus", &bus]);
    assert!(text.contains("a store to a mapped page") && text.contains("opened, used"), "{text}");
    let text = expect_success(&["bench", "doorbell", "--bus", &bus, "--messages"]);
    assert!(text.contains("a posted message"), "{text}");
    // The other one may still be letting its last client go.
    let golden = Card::start("no-orders");
    expect_refusal(&["bench", "host", "--bus", &golden.bus()], &["no null card", "--model null"]);
    let slot = ["bench", "host", "--bus", "vfio:0000:01:00.0"];
    expect_refusal(&slot, &["takes no orders", "bench doorbell"]);
}

#[test]
fn taken_or_impossible_socket_is_refused() {
    let card = Card::start("taken");
    let path = card.socket.to_str().expect("a path");
    expect_refusal(&["sim-card", "--vfio-user", path, "--config", "small"], &[path]);
    let nowhere = "/no/such/folder/card.sock";
    expect_refusal(&["sim-card", "--vfio-user", nowhere], &[nowhere]);
    let lossy = ["sim-card", "--vfio-user", nowhere, "--loss", "1%"];
    expect_refusal(&lossy, &["--loss", "--peer"]);
}
