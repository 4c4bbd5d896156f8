//! Packet scripts that hold for our own TCP, played against a kernel behind a TAP device: what our
//! own TCP does there is what others do.
//!
//! The language and the scripts are those of `host/tcp/tests`. Of a line that is about calls of our
//! engine, or what it says of itself, nothing is asked of a kernel. Time is the wall clock's: what
//! is sent may take a second, and nothing is sent for as long as [`SILENCE`].

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use host::headers::builder::{Route, Tcp};
use host::headers::layout::{ones_sum, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET};
use host::headers::packet::parse_tcp;
use host::transport::peer::{KernelPeer, Script, WirePeer};
use host::transport::{LinkConfig, TransportError, Tuning};
use skip::skip_if_refused;
use tcp::segment::{Codepoint, Flags, Segment};
use tcp::wire::{emit, parse, HEADER_BYTES_MAX};

#[path = "../../tcp/tests/tcp/script/language.rs"]
mod language;

use language::Outcome;

/// There were so many when they were written: a lost folder must not pass.
const SCRIPTS_MIN: u32 = 7;
const SILENCE: Duration = Duration::from_millis(30);
const ANSWER: Duration = Duration::from_secs(1);
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const KERNEL_PORT: u16 = 80;
const SCRIPT_PORT: u16 = 4_000;
const ARP_REQUEST: [u8; 10] = [8, 6, 0, 1, 8, 0, 6, 4, 0, 1];

fn address(host: u8, port: u16) -> SocketAddr {
    ([10, 77, 0, host], port).into()
}

/// A kernel, and what the script calls its peer's and our numbers.
struct Player {
    kernel: KernelPeer,
    kernel_port: u16,
    first: u32,
    ours: u32,
}

impl Player {
    fn line(&mut self, first: &str, rest: &[&str]) -> Outcome<()> {
        // More than the closed windows of the scripts let go.
        let script = Script { send_bytes: 100_000, seed: 1, receive_bytes_max: None };
        match (first, rest) {
            ("connect", []) => self.kernel.connect(address(1, SCRIPT_PORT), script),
            ("listen", []) => self.kernel.listen(address(2, KERNEL_PORT), script),
            ("isn", [first]) => {
                self.first = language::number(first)?;
                Ok(())
            }
            ("<", words) => self.send(words),
            (">", words) => return self.expect(words),
            ("within", [time, ">", words @ ..]) => {
                language::time_ns(time)?;
                return self.expect(words);
            }
            ("none", []) => return self.expect_nothing(),
            ("grant", [_]) => Ok(()),
            _ => return Err(format!("no line for a kernel: {first} {}", rest.join(" "))),
        }
        .map_err(|error| error.to_string())
    }

    fn send(&mut self, words: &[&str]) -> Result<(), TransportError> {
        let said = language::segment(words).expect("a segment");
        let mut segment = said.segment;
        segment.sequence = segment.sequence.wrapping_add(self.first);
        if segment.flags.has(Flags::ACK) {
            segment.acknowledgement = segment.acknowledgement.wrapping_add(self.ours);
        }
        segment.window = said.window.unwrap_or(u16::MAX);
        let ends = [address(1, SCRIPT_PORT), address(2, self.kernel_port)];
        self.kernel.inject_frame(&frame(&segment, ends))
    }

    /// The next segment that the kernel sends, numbers relative.
    fn next(&mut self, within: Duration) -> Option<Segment> {
        let started = Instant::now();
        let mut buffer = vec![0; 65_600];
        while started.elapsed() < within {
            let Some(bytes) = self.kernel.poll_frame(&mut buffer).expect("a kernel") else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            let frame = &buffer[..bytes];
            if frame.get(12..22) == Some(&ARP_REQUEST) {
                self.kernel.inject_frame(&arp_answer(frame)).expect("it is taken");
            }
            if let Some(segment) = self.read(frame) {
                return Some(segment);
            }
        }
        None
    }

    fn read(&mut self, frame: &[u8]) -> Option<Segment> {
        let layout = TcpLayout::parse(frame).ok()?;
        let header = parse_tcp(frame)?;
        let tcp = frame.get(layout.segment..layout.payload)?;
        let bytes = layout.payload_bytes as u32;
        let mut segment = parse(tcp, bytes, Codepoint::NotCapable).ok()?;
        self.kernel_port = header.source.port();
        if segment.flags.has(Flags::SYN) {
            self.ours = segment.sequence;
        }
        segment.sequence = segment.sequence.wrapping_sub(self.ours);
        if segment.flags.has(Flags::ACK) {
            segment.acknowledgement = segment.acknowledgement.wrapping_sub(self.first);
        }
        for block in &mut segment.options.sack {
            block.start = block.start.wrapping_sub(self.first);
            block.end = block.end.wrapping_sub(self.first);
        }
        Some(segment)
    }

    fn expect(&mut self, words: &[&str]) -> Outcome<()> {
        let said = language::segment(words)?;
        let sent = self.next(ANSWER);
        let sent = sent.ok_or_else(|| format!("no {}", language::show(&said.segment)))?;
        language::differs(&sent, &said).map_or(Ok(()), |text| Err(format!("{text} is sent")))
    }

    fn expect_nothing(&mut self) -> Outcome<()> {
        let sent = self.next(SILENCE);
        sent.map_or(Ok(()), |sent| Err(format!("{} is sent", language::show(&sent))))
    }
}

/// A segment with zeros for payload as a frame.
fn frame(segment: &Segment, [from, to]: [SocketAddr; 2]) -> Vec<u8> {
    let mut tcp = [0; HEADER_BYTES_MAX];
    let bytes = emit(segment, [from.port(), to.port()], &mut tcp);
    let header = Tcp {
        sequence: segment.sequence,
        acknowledgement: segment.acknowledgement,
        flags: segment.flags.0,
        window: segment.window,
        options: &tcp[20..bytes],
    };
    let (mut frame, _) =
        Route { macs: MACS, from, to }.tcp(&header, segment.payload_bytes as usize);
    frame.resize(frame.len() + segment.payload_bytes as usize, 0);
    let layout = TcpLayout::parse(&frame).expect("TCP");
    let sum = !ones_sum(&frame[layout.network..layout.segment], 0);
    frame[layout.network + 10..][..2].copy_from_slice(&sum.to_be_bytes());
    let sum = tcp_checksum(&frame, &layout);
    frame[layout.segment + TCP_CHECKSUM_OFFSET..][..2].copy_from_slice(&sum.to_be_bytes());
    frame
}

fn arp_answer(request: &[u8]) -> Vec<u8> {
    let mut answer = [&request[6..12], &MACS[0], &request[12..20], &[0, 2], &MACS[0]].concat();
    answer.extend([10, 77, 0, 1]);
    answer.extend(&request[22..32]);
    answer.resize(60, 0);
    answer
}

/// Plays a script; `None` where this machine has no kernel for it.
fn play(text: &str) -> Option<Outcome<()>> {
    let link = LinkConfig::lab(2, 1500, Tuning::SIMULATION);
    let kernel = skip_if_refused(KernelPeer::open(&link), TransportError::is_refusal)?;
    let mut player = Player { kernel, kernel_port: KERNEL_PORT, first: 0, ours: 0 };
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [first, rest @ ..] = &words[..] {
            let played = player.line(first, rest);
            if let Err(failure) = played {
                return Some(Err(format!("{}: {failure}", at + 1)));
            }
        }
    }
    Some(Ok(()))
}

#[test]
fn own_tcp_scripts_hold_for_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tcp/tests/scripts_of_kernel");
    let files = fs::read_dir(folder).expect("the folder is there");
    let mut failures = Vec::new();
    let mut played = 0;
    for file in files {
        let path = file.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a script");
        let Some(outcome) = play(&text) else { return };
        played += 1;
        failures.extend(outcome.err().map(|failure| format!("{}:{failure}", path.display())));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(played >= SCRIPTS_MIN, "{played} scripts");
}

/// A script that says something wrong fails: the player judges.
#[test]
fn wrong_script_fails_for_kernel() {
    for (wrong, expected) in [
        ("# x\n< A 5:5 ack 77\n> R 78:78 ack 0\n", "3: R 77:77 ack 0 "),
        ("# x\n< A 5:5 ack 77\nnone\n", "3: R 77:77 ack 0 is sent"),
        ("# x\n< R 5:5 ack 0\n> R 5:5 ack 0\n", "3: no R 5:5 ack 0"),
    ] {
        let Some(outcome) = play(wrong) else { return };
        let failure = outcome.expect_err(wrong);
        assert!(failure.starts_with(expected), "{wrong:?}: {failure}");
    }
}
