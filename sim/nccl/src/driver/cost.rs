//! What the plugin costs the CPU: of a message, beside the same by the endpoint alone, and at rest.
//!
//! ```text
//!   alone:  expect ─ Ready ─► say ──► send ──► Received, Sent      two threads, a card each
//!   plugin: irecv ──────────────────► isend ─► test, test          the same cards, and the caller
//! ```
//! Both take the CPU time of the threads that have a card, for as many messages with as many in
//! flight, over the same golden cards and datagrams. The plugin's calls are timed one by one and
//! count as well; what the caller does between them is its own.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use abi::config::DEFAULT;
use anyhow::{ensure, Context, Result};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::message::{Endpoint, MessageDone, Station};
use host::provider::RegionId;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::wire::Disturbance;
use nccl::abi::GROUP_MAX;
use nccl::datagrams::{DatagramLine, LineSettings};
use nccl::line::Line;

use super::buffers::Buffers;
use super::lone::connect_way;
use super::report::check;
use crate::net::{Net, Pointer};

/// Bytes of a message.
const BYTES: usize = 4096;
/// Pairs of communicators, so that a card always has something to do: idle turns are nobody's.
const PAIRS: usize = 8;
/// Messages in flight of a pair (`NCCL_NET_MAX_REQUESTS`), and of all.
const IN_FLIGHT: usize = 32;
const ALL_IN_FLIGHT: usize = PAIRS * IN_FLIGHT;
/// Messages of a round, and those before that are not counted.
const MESSAGES: u64 = 16_000;
const WARM: u64 = 1600;
/// Rounds of both, one behind the other: what else the machine does is much the same in both.
const ROUNDS: usize = 9;
/// How long the caller rests when nothing is done.
const REST: Duration = Duration::from_micros(50);
const LIMIT: Duration = Duration::from_secs(60);
const MTU_BYTES: u16 = 9000;
/// Turns without anything to do before a thread sleeps, each of which gives way, as in the plugin.
const SPINS: u32 = 100;

/// CPU time by a clock of this process or thread.
fn cpu_time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is one of every process, and the time is the call's to write.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time that this process has had.
fn of_process() -> Duration {
    cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that all threads but this one have had.
fn of_others() -> Duration {
    of_process().saturating_sub(cpu_time(libc::CLOCK_THREAD_CPUTIME_ID))
}

/// CPU time of a message at one end, microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// By the endpoint alone.
    pub alone_us: f64,
    /// By the plugin's threads.
    pub threads_us: f64,
    /// In the plugin's calls.
    pub calls_us: f64,
}

impl Cost {
    /// What the plugin adds to the endpoint alone.
    pub fn added_us(&self) -> f64 {
        self.threads_us + self.calls_us - self.alone_us
    }
}

/// The rounds by what the plugin adds, the least first: a round is compared with itself alone.
pub struct Rounds(Vec<Cost>);

impl Rounds {
    fn new(mut rounds: Vec<Cost>) -> Self {
        rounds.sort_by(|one, other| one.added_us().total_cmp(&other.added_us()));
        Self(rounds)
    }

    /// The round in the middle.
    pub fn median(&self) -> Cost {
        self.0[self.0.len() / 2]
    }

    /// The least and the most that the plugin adds in a round.
    pub fn added_range_us(&self) -> [f64; 2] {
        [0, self.0.len() - 1].map(|at| self.0[at].added_us())
    }
}

fn message_us(time: Duration) -> f64 {
    // Both ends are in the time.
    time.as_secs_f64() * 1e6 / (2 * MESSAGES) as f64
}

/// Measures both, in turns; which of them goes first alternates. `folder` is for sockets.
pub fn cost(net: &dyn Net, folder: &Path) -> Result<Rounds> {
    let mut plugin = Plugin::open(net, PAIRS)?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let before = (round % 2 == 0).then(|| run_alone(folder)).transpose()?;
        plugin.run(net, WARM)?;
        let threads_before = of_others();
        let calls = plugin.run(net, MESSAGES)?;
        let threads = of_others() - threads_before;
        let alone = before.map_or_else(|| run_alone(folder), Ok)?;
        let [alone_us, threads_us, calls_us] = [alone, threads, calls].map(message_us);
        rounds.push(Cost { alone_us, threads_us, calls_us });
    }
    plugin.close(net)?;
    Ok(Rounds::new(rounds))
}

/// The share of a core that each of both cards takes while a pair is connected and rests, percent.
pub fn idle(net: &dyn Net, time: Duration) -> Result<f64> {
    let mut plugin = Plugin::open(net, 1)?;
    plugin.run(net, 1)?;
    let before = of_process();
    std::thread::sleep(time);
    let taken = of_process() - before;
    plugin.close(net)?;
    Ok(taken.as_secs_f64() / time.as_secs_f64() * 100.0 / 2.0)
}

/// A pair of communicators, from device 0 to device 1, and how far its messages are.
struct Pair {
    send: Pointer,
    receive: Pointer,
    from: Buffers,
    into: Buffers,
    sends: [Pointer; IN_FLIGHT],
    receives: [Pointer; IN_FLIGHT],
    posted: u64,
    received: u64,
    sent: u64,
    done: u64,
    /// Time in calls that were of use: what comes to nothing is asked when the caller likes.
    in_calls: Duration,
}

fn slot(count: u64) -> usize {
    (count % IN_FLIGHT as u64) as usize
}

impl Pair {
    /// A call; its time counts if it was of use.
    fn call(&mut self, name: &str, call: impl FnOnce(&Self) -> (i32, Pointer)) -> Result<Pointer> {
        let before = Instant::now();
        let (code, result) = call(self);
        if result > 0 {
            self.in_calls += before.elapsed();
        }
        check(code, name)?;
        Ok(result)
    }

    fn is_over(&mut self, net: &dyn Net, request: Pointer) -> Result<bool> {
        let test = |_: &Self| {
            let (code, done) = net.test(request, &mut [0; GROUP_MAX]);
            (code, done as Pointer)
        };
        self.call("test", test).map(|done| done == 1)
    }

    /// Makes all calls that are possible. Returns whether anything moved.
    fn step(&mut self, net: &dyn Net, messages: u64) -> Result<bool> {
        let before = (self.posted, self.received, self.sent, self.done);
        while self.posted < messages.min(self.received + IN_FLIGHT as u64) {
            let at = slot(self.posted);
            let into = [self.into.buffer(0, at, BYTES, 1)];
            self.receives[at] = self.call("irecv", |pair| net.irecv(pair.receive, &into, 0))?;
            if self.receives[at] == 0 {
                break;
            }
            self.posted += 1;
        }
        while self.sent < messages.min(self.done + IN_FLIGHT as u64) {
            let at = slot(self.sent);
            let from = self.from.buffer(0, at, BYTES, 1);
            self.sends[at] = self.call("isend", |pair| net.isend(pair.send, from))?;
            if self.sends[at] == 0 {
                break;
            }
            self.sent += 1;
        }
        while self.done < self.sent && self.is_over(net, self.sends[slot(self.done)])? {
            self.done += 1;
        }
        while self.received < self.posted
            && self.is_over(net, self.receives[slot(self.received)])?
        {
            self.received += 1;
        }
        Ok(before != (self.posted, self.received, self.sent, self.done))
    }
}

/// Pairs of the plugin's.
struct Plugin(Vec<Pair>);

impl Plugin {
    fn open(net: &dyn Net, pairs: usize) -> Result<Self> {
        let (ends, _) = connect_way(net, pairs, [0, 1])?;
        let open = |(send, receive)| {
            let mut from = Buffers::new(1, IN_FLIGHT, BYTES)?;
            let mut into = Buffers::new(1, IN_FLIGHT, BYTES)?;
            from.register(net, send, false)?;
            into.register(net, receive, false)?;
            let (sends, receives) = ([0; IN_FLIGHT], [0; IN_FLIGHT]);
            let (posted, received, sent, done, in_calls) = (0, 0, 0, 0, Duration::ZERO);
            Ok(Pair {
                send,
                receive,
                from,
                into,
                sends,
                receives,
                posted,
                received,
                sent,
                done,
                in_calls,
            })
        };
        Ok(Self(ends.into_iter().map(open).collect::<Result<_>>()?))
    }

    /// Sends so many messages. Returns how long the calls took that were of use.
    fn run(&mut self, net: &dyn Net, messages: u64) -> Result<Duration> {
        let started = Instant::now();
        let of_each = messages.div_ceil(self.0.len() as u64);
        for pair in &mut self.0 {
            (pair.posted, pair.received, pair.sent, pair.done) = (0, 0, 0, 0);
            pair.in_calls = Duration::ZERO;
        }
        while self.0.iter().any(|pair| pair.received.min(pair.done) < of_each) {
            let mut has_moved = false;
            for pair in &mut self.0 {
                has_moved |= pair.step(net, of_each)?;
            }
            if !has_moved {
                std::thread::sleep(REST);
            }
            ensure!(started.elapsed() < LIMIT, "not {messages} messages in {LIMIT:?}");
        }
        Ok(self.0.iter().map(|pair| pair.in_calls).sum())
    }

    fn close(self, net: &dyn Net) -> Result<()> {
        for mut pair in self.0 {
            pair.into.deregister(net, pair.receive)?;
            check(net.close_recv(pair.receive), "closeRecv")?;
            pair.from.deregister(net, pair.send)?;
            check(net.close_send(pair.send), "closeSend")?;
        }
        Ok(())
    }
}

/// One end without the plugin: a thread's.
struct Alone {
    endpoint: Endpoint<GoldenBus>,
    line: DatagramLine<Rc<RefCell<GoldenCard>>>,
    region: RegionId,
    other: Station,
    started: Instant,
    /// Messages whose buffer is posted, or that were sent, and those that are done.
    begun: u64,
    done: u64,
}

fn station(host: u8) -> Station {
    Station { mac: [2, 0, 0, 0, 0, host], address: ([10, 77, 0, host], 7700).into() }
}

impl Alone {
    fn open(folder: &Path, host: u8) -> Result<Self> {
        let settings = LineSettings {
            folder: folder.into(),
            disturbance: Disturbance::default(),
            seed: 1,
            buffer_bytes: None,
        };
        let card = GoldenCard::new(DEFAULT);
        let line = DatagramLine::open(&settings, station(host).mac, card.clone())?;
        let bus = GoldenBus::new(card);
        let mut endpoint = Endpoint::open(bus, station(host), MTU_BYTES, DeviceConfig::default())?;
        let bytes = ALL_IN_FLIGHT * BYTES;
        let region = endpoint.register(MemoryKind::Application, bytes)?.0;
        let (other, started) = (station(3 - host), Instant::now());
        Ok(Self { endpoint, line, region, other, started, begun: 0, done: 0 })
    }

    fn place(&self, message: u64) -> (RegionId, u64, u32) {
        (self.region, message % ALL_IN_FLIGHT as u64 * BYTES as u64, BYTES as u32)
    }

    /// Expects what there is room for.
    fn expect(&mut self) -> Result<()> {
        while self.begun < WARM + MESSAGES && self.begun < self.done + ALL_IN_FLIGHT as u64 {
            let (message, into) = (self.begun, self.place(self.begun));
            self.endpoint.expect(self.other, message, into, message)?;
            self.begun += 1;
        }
        Ok(())
    }

    /// One turn. Returns whether anything happened.
    fn turn(&mut self) -> Result<bool> {
        let mut is_busy = self.line.carry();
        let now_ns = self.started.elapsed().as_nanos() as u64;
        for done in self.endpoint.poll(now_ns)? {
            is_busy = true;
            match done {
                MessageDone::Ready { request } => {
                    self.endpoint.say(self.other, &request.to_be_bytes())?;
                }
                MessageDone::Told { content, .. } => {
                    let message = content.try_into().ok().context("no number was told")?;
                    let message = u64::from_be_bytes(message);
                    self.endpoint.send(self.other, message, self.place(message), message)?;
                }
                MessageDone::Received { .. } | MessageDone::Sent { .. } => self.done += 1,
                other => ensure!(false, "{other:?} is not expected"),
            }
        }
        Ok(self.line.carry() || is_busy)
    }

    /// Runs until so many messages are done at both ends: what one has, it acknowledges to the
    /// other.
    fn run(&mut self, until: u64, is_receiver: bool, ends: &AtomicU32) -> Result<()> {
        let (started, mut idle, mut is_counted) = (Instant::now(), 0, false);
        while ends.load(Ordering::Acquire) < 2 {
            if self.done >= until && !is_counted {
                is_counted = true;
                ends.fetch_add(1, Ordering::AcqRel);
            }
            if is_receiver {
                self.expect()?;
            }
            idle = if self.turn()? { 0 } else { idle + 1 };
            if idle > 0 {
                std::thread::yield_now();
            }
            if idle > SPINS {
                self.wait();
                idle = SPINS - 4;
            }
            ensure!(started.elapsed() < LIMIT, "{} messages in {LIMIT:?}", self.done);
        }
        Ok(())
    }

    /// Sleeps until a frame comes, or for a millisecond: the timers of a clean wire are longer.
    fn wait(&mut self) {
        let descriptor = self.line.descriptor().map_or(-1, |line| line.as_raw_fd());
        let mut entry = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: the entry is one, and the descriptor is open.
        unsafe { libc::poll(&mut entry, 1, 1) };
    }
}

/// The messages of a round by the endpoints alone: CPU time of both.
fn run_alone(folder: &Path) -> Result<Duration> {
    let ready = Barrier::new(2);
    let ends = [AtomicU32::new(0), AtomicU32::new(0)];
    let end = |host: u8| -> Result<Duration> {
        let opened = Alone::open(folder, host);
        ready.wait();
        let mut end = opened?;
        let is_receiver = host == 2;
        end.run(WARM, is_receiver, &ends[0])?;
        let before = of_process();
        end.run(WARM + MESSAGES, is_receiver, &ends[1])?;
        Ok(of_process() - before)
    };
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| end(1));
        let received = end(2);
        let sent = sender.join().ok().context("a thread has panicked")?;
        // The time from when the first has its warm ones until the last has all.
        Ok(received?.max(sent?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_with_themselves() {
        // The machine is slower in the second round, and the plugin adds less.
        let round = |alone_us, threads_us| Cost { alone_us, threads_us, calls_us: 0.5 };
        let rounds = Rounds::new(vec![round(10.0, 12.0), round(20.0, 20.5), round(10.0, 11.5)]);
        assert_eq!(rounds.median(), round(10.0, 11.5));
        assert_eq!(rounds.added_range_us(), [1.0, 2.5]);
    }
}
