//! Plays a script against an endpoint.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use tcp::config::{Config, Ecn, Law, PathMtuLimits};
use tcp::connection::{Event, Icmp};
use tcp::endpoint::{ConnectionId, Endpoint, Limits};
use tcp::listener::ListenerId;
use tcp::receive::Verdict;
use tcp::secret::{Secret, Tuple};
use tcp::segment::Segment;

use crate::script::language::{self, number, time_ns, Outcome, Said};

/// The numbers of a peer, and what it is to us.
#[derive(Debug, Default)]
struct Peer {
    first: u32,
    /// Our first number towards it, from our last SYN.
    ours: u32,
    /// That of the SYN before.
    before: Option<u32>,
    id: Option<ConnectionId>,
    last_timestamp: u32,
}

struct Player {
    config: Config,
    limits: Limits,
    endpoint: Option<Endpoint>,
    now_ns: u64,
    listener: Option<ListenerId>,
    port: u16,
    peers: BTreeMap<u16, Peer>,
    /// Sent and not looked at: to which peer, and what, numbers relative.
    sent: VecDeque<(u16, Segment)>,
    verdict: Option<Verdict>,
    isn: Option<u32>,
    is_believed: bool,
}

const SECRET: Secret = Secret([7; 32]);

/// Plays a whole script. The failure begins with the number of its line.
pub fn play(text: &str) -> Outcome<()> {
    let mut player = Player::new();
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [first, rest @ ..] = &words[..] {
            last = at + 1;
            player.line(first, rest).map_err(|failure| format!("{last}: {failure}"))?;
        }
    }
    match player.sent.front() {
        Some((_, segment)) => Err(format!("{last}: not looked at: {}", language::show(segment))),
        None => Ok(()),
    }
}

impl Player {
    fn new() -> Self {
        let config = Config {
            is_timestamps_offered: false,
            window_scale: 0,
            chunk_bytes_max: 1,
            ..Config::default()
        };
        Self {
            config,
            limits: Limits::default(),
            endpoint: None,
            now_ns: 1_000_000_000,
            listener: None,
            port: 4_000,
            peers: BTreeMap::new(),
            sent: VecDeque::new(),
            verdict: None,
            isn: None,
            is_believed: false,
        }
    }

    fn tuple(port: u16) -> Tuple {
        Tuple {
            local: SocketAddr::from(([10, 0, 0, 1], 80)),
            remote: SocketAddr::from(([10, 0, 0, 2], port)),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Outcome<()> {
        let config = &mut self.config;
        let is_on = value == "on";
        match name {
            "sack" => config.is_sack_offered = is_on,
            "timestamps" => config.is_timestamps_offered = is_on,
            "tick" => config.timestamp_tick_ns = time_ns(value)?,
            "wscale" => config.window_scale = number(value)?,
            "mss" => config.mss_bytes = number(value)?,
            "rto_min" => config.rto_min_ns = time_ns(value)?,
            "ack_delay" => config.ack_delay_ns = time_ns(value)?,
            "time_wait" => config.time_wait_ns = time_ns(value)?,
            "timeouts" => config.timeouts_max = number(value)?,
            "syn_timeouts" => config.syn_timeouts_max = number(value)?,
            "challenges" => config.challenges_max = number(value)?,
            "half_open" => self.limits.half_open_max = number(value)?,
            "time_waits" => self.limits.time_wait_max = number(value)?,
            // The first number of ours: the clock of the numbers is turned to it.
            "isn" => self.isn = Some(number(value)?),
            "law" => {
                config.law = match value {
                    "cubic" => Law::Cubic,
                    "dctcp" => Law::Dctcp,
                    "model" => Law::Model,
                    _ => return Err(format!("no law {value}")),
                }
            }
            "ecn" => {
                config.ecn = match value {
                    "off" => Ecn::Off,
                    "classic" => Ecn::Classic,
                    "exact" => Ecn::Exact,
                    _ => return Err(format!("no ECN {value}")),
                }
            }
            "path_mtu" => {
                let (base, most) = value.split_once(':').ok_or("BASE:MOST")?;
                let (base_bytes, most_bytes) = (number(base)?, number(most)?);
                config.path_mtu = Some(PathMtuLimits { base_bytes, most_bytes });
            }
            _ => return Err(format!("no setting {name}")),
        }
        Ok(())
    }

    fn endpoint(&mut self) -> &mut Endpoint {
        if let Some(isn) = self.isn.take() {
            let now = SECRET.first_sequence(0, &Self::tuple(4_000));
            self.now_ns = u64::from(isn.wrapping_sub(now)) * 4_000;
        }
        let (config, limits) = (self.config.clone(), self.limits);
        self.endpoint.get_or_insert_with(|| Endpoint::new(config, SECRET, limits))
    }

    fn peer(&mut self) -> &mut Peer {
        self.peers.entry(self.port).or_default()
    }

    fn id(&mut self) -> Outcome<ConnectionId> {
        self.peer().id.ok_or_else(|| "no connection".to_owned())
    }

    fn line(&mut self, first: &str, rest: &[&str]) -> Outcome<()> {
        match (first, rest) {
            ("set", [name, value]) => return self.set(name, value),
            ("peer", [port]) => self.port = number(port)?,
            ("isn", [first]) => self.peer().first = number(first)?,
            ("connect" | "listen" | "accept" | "refuse", []) => self.begin(first)?,
            ("offer" | "grant", [end]) => {
                let (id, end) = (self.id()?, number(end)?);
                match first {
                    "offer" => self.endpoint().offered(id, end),
                    _ => self.endpoint().granted(id, end),
                }
            }
            ("finish" | "release" | "abort", []) => self.finish(first)?,
            ("<" | "<!" | "<~", words) => self.arrive(words, first)?,
            (">", words) => return self.expect(words, 0),
            ("within", [time, ">", words @ ..]) => return self.expect(words, time_ns(time)?),
            ("none", []) => return self.expect_nothing(0),
            ("none", [time]) => return self.expect_nothing(time_ns(time)?),
            ("event", words) => return self.expect_event(&words.join(" ")),
            ("verdict", words) => return self.expect_verdict(&words.join(" ")),
            ("state", [state]) => return self.expect_state(state),
            ("window", [low, high]) => return self.expect_window(number(low)?, number(high)?),
            ("count", [name, count]) => return self.expect_count(name, number(count)?),
            ("icmp", words) => self.arrive_icmp(words)?,
            ("newer", []) => self.expect_newer()?,
            ("believed", []) if !self.is_believed => return Err("not believed".to_owned()),
            ("not", ["believed"]) if self.is_believed => return Err("believed".to_owned()),
            ("believed", []) | ("not", ["believed"]) => {}
            (time, []) if time.starts_with('+') => {
                let until_ns = self.now_ns + time_ns(&time[1..])?;
                self.pass(until_ns, usize::MAX);
            }
            _ => return Err(format!("no such line: {first} {}", rest.join(" "))),
        }
        self.pump();
        Ok(())
    }

    fn begin(&mut self, how: &str) -> Outcome<()> {
        self.endpoint();
        let (now_ns, tuple, listener) = (self.now_ns, Self::tuple(self.port), self.listener);
        let endpoint = self.endpoint();
        match (how, listener) {
            ("connect", _) => {
                let id = endpoint.connect(now_ns, tuple).map_err(|it| it.to_string())?;
                self.peer().id = Some(id);
            }
            ("listen", _) => {
                let id = endpoint.listen(tuple.local).map_err(|it| it.to_string())?;
                self.listener = Some(id);
            }
            ("accept", Some(listener)) => {
                let id = endpoint.accept(listener).ok_or("nothing to accept")?;
                let port = endpoint.tuple(id).map_or(0, |it| it.remote.port());
                self.peers.entry(port).or_default().id = Some(id);
            }
            ("refuse", Some(listener)) => {
                endpoint.refuse(listener);
            }
            _ => return Err("no listener".to_owned()),
        }
        Ok(())
    }

    fn finish(&mut self, how: &str) -> Outcome<()> {
        let (id, now_ns) = (self.id()?, self.now_ns);
        match how {
            "finish" => self.endpoint().finish(id),
            "release" => self.endpoint().release(now_ns, id),
            _ => self.endpoint().abort(id),
        }
        Ok(())
    }

    fn arrive(&mut self, words: &[&str], how: &str) -> Outcome<()> {
        let Said { mut segment, window, codepoint, last_window } = language::segment(words)?;
        let (now_ns, tuple) = (self.now_ns, Self::tuple(self.port));
        let peer = self.peer();
        segment.sequence = segment.sequence.wrapping_add(peer.first);
        if segment.flags.has(tcp::segment::Flags::ACK) {
            segment.acknowledgement = segment.acknowledgement.wrapping_add(peer.ours);
        }
        for block in &mut segment.options.sack {
            block.start = block.start.wrapping_add(peer.ours);
            block.end = block.end.wrapping_add(peer.ours);
        }
        if let Some(timestamps) = segment.options.timestamps.as_mut().filter(|_| how == "<~") {
            timestamps.echo = peer.last_timestamp;
        }
        segment.window = window.unwrap_or(u16::MAX);
        if let Some(run) = &mut segment.run {
            run.acknowledgement = run.acknowledgement.wrapping_add(peer.ours);
            run.window = last_window.unwrap_or(segment.window);
        }
        segment.codepoint = codepoint.unwrap_or_default();
        let has_room = how != "<!";
        let (_, arrival) = self.endpoint().arrive(now_ns, &tuple, &segment, has_room);
        self.verdict = Some(arrival.verdict);
        Ok(())
    }

    fn arrive_icmp(&mut self, words: &[&str]) -> Outcome<()> {
        let (icmp, at) = match words {
            ["too-big", size, "at", at] => (Icmp::TooBig { size_bytes: number(size)? }, at),
            ["hard", code, "at", at] => (Icmp::Hard { code: number(code)? }, at),
            ["soft", "at", at] => (Icmp::Soft, at),
            _ => return Err("no such ICMP".to_owned()),
        };
        let sequence = number::<u32>(at)?.wrapping_add(self.peer().ours);
        let (now_ns, tuple) = (self.now_ns, Self::tuple(self.port));
        self.is_believed = self.endpoint().arrive_icmp(now_ns, &tuple, icmp, sequence);
        Ok(())
    }

    /// Collects what is sent now, with relative numbers.
    fn pump(&mut self) {
        let now_ns = self.now_ns;
        let endpoint = self.endpoint();
        endpoint.advance(now_ns);
        while let Some(departure) = self.endpoint().transmit(now_ns) {
            let mut segment = departure.outgoing.segment;
            let port = departure.tuple.remote.port();
            let peer = self.peers.entry(port).or_default();
            if segment.flags.has(tcp::segment::Flags::SYN) {
                if peer.ours != segment.sequence {
                    peer.before = Some(peer.ours);
                }
                peer.ours = segment.sequence;
            }
            if let Some(timestamps) = segment.options.timestamps {
                peer.last_timestamp = timestamps.value;
            }
            let is_reset_of_nothing = segment.flags == tcp::segment::Flags::RST;
            segment.sequence = segment.sequence.wrapping_sub(peer.ours);
            if !is_reset_of_nothing && segment.flags.has(tcp::segment::Flags::ACK) {
                segment.acknowledgement = segment.acknowledgement.wrapping_sub(peer.first);
            }
            for block in &mut segment.options.sack {
                block.start = block.start.wrapping_sub(peer.first);
                block.end = block.end.wrapping_sub(peer.first);
            }
            self.sent.push_back((port, segment));
        }
    }

    /// Lets time pass, until so many segments are there to be looked at.
    fn pass(&mut self, until_ns: u64, enough: usize) {
        self.pump();
        while self.sent.len() < enough {
            let due_ns = self.endpoint().deadline().map(|at_ns| at_ns.max(self.now_ns));
            let Some(due_ns) = due_ns.filter(|due_ns| *due_ns <= until_ns) else {
                self.now_ns = until_ns;
                return;
            };
            self.now_ns = due_ns;
            self.pump();
        }
    }

    fn expect(&mut self, words: &[&str], within_ns: u64) -> Outcome<()> {
        let said = language::segment(words)?;
        self.pass(self.now_ns + within_ns, 1);
        let Some((port, sent)) = self.sent.pop_front() else {
            return Err(format!("nothing is sent, but {}", language::show(&said.segment)));
        };
        if port != self.port {
            return Err(format!("{} to peer {port}", language::show(&sent)));
        }
        match language::differs(&sent, &said) {
            Some(text) => Err(format!("{text} is sent")),
            None => Ok(()),
        }
    }

    /// The numbers of the last SYN begin behind those of the one before, by less than 2^20.
    fn expect_newer(&mut self) -> Outcome<()> {
        let peer = self.peer();
        let step = peer.ours.wrapping_sub(peer.before.unwrap_or(peer.ours));
        if (1..1 << 20).contains(&step) {
            Ok(())
        } else {
            Err(format!("further by {step}"))
        }
    }

    fn expect_nothing(&mut self, for_ns: u64) -> Outcome<()> {
        let begin_ns = self.now_ns;
        self.pass(begin_ns + for_ns, 1);
        match self.sent.front() {
            Some((_, segment)) => {
                let after_us = (self.now_ns - begin_ns) / 1_000;
                Err(format!("{} is sent after {after_us} us", language::show(segment)))
            }
            None => Ok(()),
        }
    }

    fn expect_event(&mut self, said: &str) -> Outcome<()> {
        let id = self.id()?;
        let event = self.endpoint().event();
        let text = event.filter(|(whose, _)| *whose == id).map(|(_, event)| match event {
            Event::Opened => "opened".to_owned(),
            Event::Accepted(to) => format!("accepted {to}"),
            Event::Acknowledged(to) => format!("acknowledged {to}"),
            Event::EndOfStream => "end-of-stream".to_owned(),
            Event::Ended(end) => format!("ended {end}"),
        });
        match text.as_deref() == Some(said) || (text.is_none() && said == "none") {
            true => Ok(()),
            false => Err(format!("event {text:?}")),
        }
    }

    fn expect_verdict(&mut self, said: &str) -> Outcome<()> {
        let text = match self.verdict {
            Some(Verdict::Taken(range)) => format!("taken {}:{}", range.start, range.end),
            Some(Verdict::Ignored) => "ignored".to_owned(),
            Some(Verdict::Refused) => "refused".to_owned(),
            None => "nothing has come".to_owned(),
        };
        if text == said {
            Ok(())
        } else {
            Err(format!("verdict {text}"))
        }
    }

    fn expect_state(&mut self, said: &str) -> Outcome<()> {
        let id = self.id()?;
        let connection = self.endpoint().connection(id).ok_or("no connection")?;
        let text = format!("{:?}", connection.state());
        match text.eq_ignore_ascii_case(&said.replace('-', "")) {
            true => Ok(()),
            false => Err(format!("state {text}")),
        }
    }

    fn expect_window(&mut self, low: u64, high: u64) -> Outcome<()> {
        let id = self.id()?;
        let connection = self.endpoint().connection(id).ok_or("no connection")?;
        let bytes = connection.congestion_window_bytes();
        if (low..=high).contains(&bytes) {
            Ok(())
        } else {
            Err(format!("window {bytes}"))
        }
    }

    fn expect_count(&mut self, name: &str, said: u64) -> Outcome<()> {
        if name == "time_waits" || name == "connections" {
            let endpoint = self.endpoint();
            let count =
                if name == "time_waits" { endpoint.time_waits() } else { endpoint.connections() };
            return if count as u64 == said { Ok(()) } else { Err(format!("count {count}")) };
        }
        let id = self.id()?;
        let counters = self.endpoint().connection(id).ok_or("no connection")?.counters();
        let count = match name {
            "lost" => counters.lost_bytes,
            "repeated" => counters.repeated_bytes,
            "timeouts" => counters.timeouts,
            "undone" => counters.timeouts_undone,
            "tail_probes" => counters.tail_probes,
            "duplicates" => counters.duplicates,
            "challenges" => counters.challenges,
            "withheld" => counters.challenges_withheld,
            "old" => counters.old_timestamps,
            _ => return Err(format!("no counter {name}")),
        };
        if count == said {
            Ok(())
        } else {
            Err(format!("count {count}"))
        }
    }
}
