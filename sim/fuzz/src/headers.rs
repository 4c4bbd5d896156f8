//! Headers into our own TCP, with calls of its application between them: a listener and a
//! connection of ours, whose peers say anything. Numbers are near those that are right, so that
//! much of it is believed; options are bytes of the fuzzer.
//!
//! ```text
//!   bytes ─► header ─► tcp::wire::parse ─► tcp::Endpoint ◄── grant, offer, finish, time
//! ```

use std::net::SocketAddr;

use tcp::config::{Config, Ecn, Law};
use tcp::endpoint::{ConnectionId, Departure, Endpoint, Limits};
use tcp::listener::ListenerId;
use tcp::receive::Verdict;
use tcp::secret::{Secret, Tuple};
use tcp::segment::{Codepoint, Flags};
use tcp::wire::{parse, HEADER_BYTES_MAX};

use crate::input::Input;

/// Steps of one run, at most.
const STEPS_MAX: usize = 512;
/// Headers that one step may make, at most: beyond it goes on for ever.
const BURST_MAX: usize = 4_096;
const LOCAL_PORTS: [u16; 2] = [5_000, 80];
const HEADER_BYTES: usize = 20;
const OPTION_BYTES_MAX: u64 = 40;
/// Flags that are likely.
const FLAGS: [Flags; 8] = [
    Flags::ACK,
    Flags::ACK,
    Flags::ACK,
    Flags(Flags::ACK.0 | Flags::PSH.0),
    Flags(Flags::SYN.0 | Flags::ACK.0),
    Flags(Flags::SYN.0 | Flags::ACK.0),
    Flags::SYN,
    Flags(Flags::FIN.0 | Flags::ACK.0),
];

/// One peer, and what the application has done on its connection.
#[derive(Debug)]
struct Talk {
    tuple: Tuple,
    id: Option<ConnectionId>,
    /// The next numbers: of what we send, of what the peer sends.
    ours: u32,
    theirs: u32,
    granted: u64,
    offered: u64,
}

impl Talk {
    fn new(local_port: u16) -> Self {
        let tuple = Tuple {
            local: SocketAddr::from(([10, 0, 0, 1], local_port)),
            remote: SocketAddr::from(([10, 0, 0, 2], 4_000)),
        };
        Self { tuple, id: None, ours: 0, theirs: 1_000, granted: 0, offered: 0 }
    }
}

/// The engine, its peers, and the time.
struct Run {
    endpoint: Endpoint,
    listener: ListenerId,
    talks: [Talk; 2],
    now_ns: u64,
}

/// Runs the target.
///
/// # Panics
/// If the engine panics, makes headers without end, sends what it was not offered, or takes what
/// nobody has granted.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut run = Run::new(&mut input);
    for _ in 0..STEPS_MAX {
        if input.is_over() {
            break;
        }
        run.step(&mut input);
        run.settle();
    }
}

impl Run {
    fn new(input: &mut Input<'_>) -> Self {
        let config = Config {
            law: [Law::Cubic, Law::Dctcp, Law::Model][input.below(3) as usize],
            ecn: [Ecn::Off, Ecn::Classic, Ecn::Exact][input.below(3) as usize],
            is_timestamps_offered: input.below(2) == 0,
            is_sack_offered: input.below(4) > 0,
            ..Config::private_wire()
        };
        let mut endpoint = Endpoint::new(config, Secret([7; 32]), Limits::default());
        let mut talks = LOCAL_PORTS.map(Talk::new);
        let now_ns = 1_000;
        talks[0].id = endpoint.connect(now_ns, talks[0].tuple).ok();
        let listener = endpoint.listen(talks[1].tuple.local).expect("the port is free");
        let mut run = Self { endpoint, listener, talks, now_ns };
        run.settle();
        run
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let which = input.below(2) as usize;
        let talk = &mut self.talks[which];
        match (input.below(16), talk.id) {
            (0, Some(id)) => {
                talk.granted += input.number(2);
                self.endpoint.granted(id, talk.granted);
            }
            (1, Some(id)) => {
                talk.offered += input.number(2);
                self.endpoint.offered(id, talk.offered);
            }
            (2, Some(id)) => self.endpoint.finish(id),
            (3, Some(id)) => {
                match input.below(8) {
                    0 => self.endpoint.abort(id),
                    1 => self.endpoint.release(self.now_ns, id),
                    _ => return,
                }
                talk.id = None;
            }
            (4, None) => {
                let accepted = if which == 1 { self.endpoint.accept(self.listener) } else { None };
                if accepted.is_some() {
                    *talk = Talk { id: accepted, granted: 0, offered: 0, ..*talk };
                }
            }
            (5..=6, _) => {
                self.now_ns += input.number(2) << [0, 8, 16, 24][input.below(4) as usize];
                self.endpoint.advance(self.now_ns);
            }
            _ => self.arrive(input, which),
        }
    }

    /// A header of a peer.
    fn arrive(&mut self, input: &mut Input<'_>, which: usize) {
        let talk = &mut self.talks[which];
        let mut near = |number: u32| match input.below(4) {
            0 => number.wrapping_add(i32::from(input.number(2) as u16 as i16) as u32),
            _ => number,
        };
        let (sequence, acknowledgement) = (near(talk.theirs), near(talk.ours));
        let flags = match FLAGS.get(input.below(2 * FLAGS.len() as u64) as usize) {
            Some(flags) => flags.0,
            None => input.number(1) as u8,
        };
        let window = input.number(2) as u16;
        let payload_bytes = input.below(3_000) as u32;
        let codepoint = [Codepoint::NotCapable, Codepoint::Capable0, Codepoint::Experienced]
            [input.below(3) as usize];
        let has_room = input.below(8) > 0;
        let mut header = vec![0; 4];
        header.extend([sequence.to_be_bytes(), acknowledgement.to_be_bytes()].concat());
        header.extend([0, flags]);
        header.extend(window.to_be_bytes());
        header.extend([0; 4]);
        let length = input.below(OPTION_BYTES_MAX + 1);
        header.extend(input.bytes(length as usize));
        header.resize(header.len().next_multiple_of(4).min(HEADER_BYTES_MAX), 0);
        header[12] = ((header.len() / 4) << 4) as u8;
        assert!((HEADER_BYTES..=HEADER_BYTES_MAX).contains(&header.len()));
        let segment = parse(&header, payload_bytes, codepoint).expect("its lengths are right");
        let (id, arrival) = self.endpoint.arrive(self.now_ns, &talk.tuple, &segment, has_room);
        talk.theirs = sequence.wrapping_add(segment.length() as u32);
        if id.is_none() || id != talk.id {
            return;
        }
        if let Verdict::Taken(range) = arrival.verdict {
            assert!(range.bytes() <= u64::from(payload_bytes), "{range:?} of {payload_bytes}");
            assert!(range.end <= talk.granted || range.bytes() == 0, "{range:?} is not granted");
            assert!(range.bytes() == 0 || has_room, "{range:?} has no room");
        }
        assert!(arrival.accepted_to <= talk.granted, "{arrival:?}");
        assert!(arrival.acknowledged_to <= talk.offered, "{arrival:?}");
    }

    /// Everything that is sent and told now.
    fn settle(&mut self) {
        for _ in 0..BURST_MAX {
            while self.endpoint.event().is_some() {}
            let Some(departure) = self.endpoint.transmit(self.now_ns) else { return };
            self.note(&departure);
        }
        panic!("more than {BURST_MAX} headers at a time");
    }

    fn note(&mut self, departure: &Departure) {
        let of_tuple = |talk: &&mut Talk| talk.tuple == departure.tuple;
        let talk = self.talks.iter_mut().find(of_tuple).expect("a peer that has spoken");
        let (outgoing, segment) = (&departure.outgoing, &departure.outgoing.segment);
        let bytes = u64::from(segment.payload_bytes);
        let is_ours = departure.connection.is_some() && departure.connection == talk.id;
        let is_offered = bytes == 0 || !is_ours || outgoing.offset + bytes <= talk.offered;
        assert!(is_offered, "{bytes} bytes at {} of {} offered", outgoing.offset, talk.offered);
        if !segment.flags.has(Flags::RST) {
            talk.ours = segment.sequence.wrapping_add(segment.length() as u32);
        }
        if segment.flags.has(Flags::ACK) && segment.acknowledgement != 0 {
            talk.theirs = segment.acknowledgement;
        }
    }
}
