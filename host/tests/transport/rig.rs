//! A transport, a perfect card, a wire with faults and a peer, run until all is said.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use host::clock::ManualClock;
use host::transport::patience::Patience;
use host::transport::peer::{digest_of, Conversation, Progress, RandomBytes, WirePeer};
use host::transport::{Event, StreamId, StreamInfo, Transport};
use sha2::{Digest, Sha256};

use crate::card::{self, Card, Memory};
use crate::runs::Summing;
use crate::wire::{Faults, Wire};

const BURST: usize = 64;

/// A socket address of the machine `host`.
pub fn address(host: u8, ipv6: bool, port: u16) -> SocketAddr {
    match ipv6 {
        false => format!("10.77.0.{host}:{port}").parse().unwrap(),
        true => format!("[fd77::{host}]:{port}").parse().unwrap(),
    }
}

/// The application on our side, on one stream.
struct Run {
    stream: StreamId,
    ports: (u16, u16),
    /// Seed and bytes of what the peer sends.
    expected: (u64, u64),
    send_bytes: u64,
    fed_bytes: u64,
    drained_bytes: u64,
    finished: bool,
    end_of_stream: bool,
}

pub struct Rig {
    pub transport: Box<dyn Transport>,
    pub peer: Box<dyn WirePeer>,
    pub card: Card,
    pub to_peer: Wire,
    pub to_card: Wire,
    /// The clock of transport and peer, when they have one of their own.
    pub clock: Option<ManualClock>,
    pub info: Vec<StreamInfo>,
    /// All events so far.
    pub events: Vec<Event>,
    /// The application has no buffers.
    pub drain_nothing: bool,
    /// Where frames that end our half wait, if they are held back.
    pub held: Option<Vec<Vec<u8>>>,
    /// Most payload that one header of our side announced.
    pub longest_payload: u32,
    /// Longest time from one step to the next: how long this machine has kept us from running.
    pub longest_pause: Duration,
    /// Draws how many frames each end takes and gives in a step, and how far the clock goes on with
    /// each draw, so that frames and timeouts of the two ends cross. Without it all frames go.
    pub uneven: Option<RandomBytes>,
    /// The card sums packets up.
    pub summing: Option<Summing>,
    stepped: Option<Instant>,
    runs: Vec<Run>,
}

impl Rig {
    pub fn new(
        transport: Box<dyn Transport>,
        peer: Box<dyn WirePeer>,
        faults: Faults,
        seed: u64,
    ) -> Self {
        Self {
            transport,
            peer,
            card: Card::default(),
            to_peer: Wire::new(faults, seed ^ 1),
            to_card: Wire::new(faults, seed ^ 2),
            clock: None,
            info: Vec::new(),
            events: Vec::new(),
            drain_nothing: false,
            held: None,
            longest_payload: 0,
            longest_pause: Duration::ZERO,
            uneven: None,
            summing: None,
            stepped: None,
            runs: Vec::new(),
        }
    }

    /// Takes on a stream that sends the first bytes of a seed and expects those of another.
    pub fn converse(&mut self, stream: StreamId, send: (u64, u64), expected: (u64, u64)) {
        let (local, remote) = self.transport.addresses(stream).unwrap();
        let ports = (local.port(), remote.port());
        let mut bytes = vec![0; send.1 as usize];
        RandomBytes::new(send.0).fill(&mut bytes);
        self.card.memory.entry(ports).or_default().send = bytes;
        self.runs.push(Run {
            stream,
            ports,
            expected,
            send_bytes: send.1,
            fed_bytes: 0,
            drained_bytes: 0,
            finished: false,
            end_of_stream: false,
        });
    }

    /// Runs until all streams taken on have ended and all conversations of the peer are over.
    pub fn run(&mut self) {
        self.run_until(Self::is_done);
        self.judge();
    }

    /// Runs until a condition holds.
    pub fn run_until(&mut self, mut holds: impl FnMut(&mut Self) -> bool) {
        let mut patience = Patience::new(self.progress());
        while !holds(self) {
            let moved = self.step();
            assert!(!patience.is_over(self.progress()), "stuck: {:?}", self.peer.conversations());
            if !moved && !self.to_peer.release() && !self.to_card.release() {
                self.rest();
            }
        }
    }

    /// How far all are: it changes with each byte that an application sends or receives, and with
    /// each event.
    fn progress(&self) -> (u64, usize, Vec<Conversation>) {
        let bytes = self.runs.iter().map(|run| run.fed_bytes + run.drained_bytes);
        (bytes.sum(), self.events.len(), self.peer.conversations())
    }

    /// What the connection of a stream has shown on the wire.
    pub fn memory(&self, stream: StreamId) -> &Memory {
        let (local, remote) = self.transport.addresses(stream).unwrap();
        &self.card.memory[&(local.port(), remote.port())]
    }

    /// Moves what can be moved now; says whether anything was.
    pub fn step(&mut self) -> bool {
        let now = Instant::now();
        let pause = self.stepped.map_or(Duration::ZERO, |before| now - before);
        self.longest_pause = self.longest_pause.max(pause);
        self.stepped = Some(now);
        let mut moved = self.applications();
        for _ in 0..self.share().min(BURST) {
            let Some(header) = self.transport.poll_header().unwrap() else { break };
            moved = true;
            self.longest_payload = self.longest_payload.max(header.payload_bytes);
            for frame in self.card.transmit(&header) {
                match &mut self.held {
                    Some(held) if card::is_end(&frame) => held.push(frame),
                    _ => self.to_peer.push(frame),
                }
            }
        }
        for _ in 0..self.share() {
            let Some(frame) = self.to_peer.pop() else { break };
            moved = true;
            self.peer.inject_frame(&frame).unwrap();
        }
        let mut buffer = vec![0; 9300];
        for _ in 0..self.share().min(BURST) {
            let Some(bytes) = self.peer.poll_frame(&mut buffer).unwrap() else { break };
            moved = true;
            self.to_card.push(buffer[..bytes].to_vec());
        }
        for _ in 0..self.share() {
            let Some(frame) = self.to_card.pop() else { break };
            moved = true;
            let transport = &mut *self.transport;
            match (self.card.receive(&frame), &mut self.summing) {
                (Some((header, payload)), Some(summing)) => {
                    summing.take(transport, &frame[..header], payload);
                }
                (Some((header, payload)), None) => {
                    transport.deliver(&frame[..header], payload).unwrap();
                }
                (None, _) => transport.deliver_frame(&frame).unwrap(),
            }
        }
        if let Some(summing) = &mut self.summing {
            summing.flush(&mut *self.transport);
        }
        while let Some(event) = self.transport.poll_event().unwrap() {
            self.events.push(event);
        }
        moved
    }

    /// Most frames that go one way in this step.
    fn share(&mut self) -> usize {
        let Some(random) = &mut self.uneven else { return usize::MAX };
        let mut drawn = [0; 2];
        random.fill(&mut drawn);
        if let Some(clock) = &self.clock {
            clock.advance(Duration::from_micros(u64::from(drawn[1])));
        }
        1 + usize::from(drawn[0] % 16)
    }

    fn applications(&mut self) -> bool {
        let mut moved = false;
        for run in &mut self.runs {
            let left = run.send_bytes - run.fed_bytes;
            if left > 0 {
                let fed = self.transport.feed(run.stream, left).unwrap();
                run.fed_bytes += fed;
                moved |= fed > 0;
            } else if !run.finished {
                self.transport.finish(run.stream).unwrap();
                run.finished = true;
            }
            if !run.end_of_stream && !self.drain_nothing {
                // An odd bound, so that it is met.
                let drained = self.transport.drain(run.stream, 100_003).unwrap();
                assert!(drained.bytes <= 100_003);
                run.drained_bytes += drained.bytes;
                run.end_of_stream = drained.end_of_stream;
                let placed = self.card.memory[&run.ports].received.len() as u64;
                assert!(run.drained_bytes <= placed, "drained more than was received");
                moved |= drained.bytes > 0 || drained.end_of_stream;
            }
        }
        moved
    }

    fn rest(&mut self) {
        match &self.clock {
            Some(clock) => clock.advance(Duration::from_millis(1)),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }

    fn is_done(&mut self) -> bool {
        let conversations = self.peer.conversations();
        let running = |one: &Conversation| one.progress == Progress::Running;
        conversations.len() >= self.runs.len()
            && !conversations.iter().any(running)
            && self.runs.iter().all(|run| run.end_of_stream && run.finished)
    }

    /// Every byte arrived, once and in order, at both ends.
    fn judge(&mut self) {
        let mut seen: Vec<_> = self.peer.conversations();
        for run in &self.runs {
            let (seed, bytes) = run.expected;
            assert_eq!(run.drained_bytes, bytes, "bytes drained");
            let memory = &self.card.memory[&run.ports];
            assert_eq!(memory.received.len() as u64, bytes, "bytes placed");
            let digest = <[u8; 32]>::from(Sha256::digest(&memory.received));
            assert_eq!(digest, digest_of(seed, bytes), "bytes placed differ from those sent");
            let sent = <[u8; 32]>::from(Sha256::digest(&memory.send));
            let at = seen.iter().position(|one| one.received_digest == sent);
            let one = seen.swap_remove(at.expect("no conversation has what this stream sent"));
            assert_eq!(one.progress, Progress::Finished);
            assert_eq!(one.received_bytes, run.send_bytes);
            self.info.push(self.transport.info(run.stream).unwrap());
        }
        assert!(seen.is_empty(), "conversations that no stream belongs to: {seen:?}");
    }
}
