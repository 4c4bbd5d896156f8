//! Messages between two golden cards: what an application may rely on.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use abi::config::SMALL;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::error::protocol::ProtocolError;
use host::error::request::RequestError;
use host::error::HostError;
use host::memory::{AddressRange, ApplicationMapping};
use host::message::{Endpoint, MessageDone, Station, CONTROL_BYTES_MAX, SILENCE};
use host::provider::RegionId;
use host::transport::peer::RandomBytes;
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;
use lab::wire::{Disturbance, Wire};

const ROUND_NS: u64 = 100_000;
const ROUNDS_MAX: u32 = 60_000;
const REGION_BYTES: usize = 1 << 20;

fn station(host: u8) -> Station {
    Station { mac: [2, 0, 0, 0, 0, host], address: ([10, 77, 0, host], 7700).into() }
}

/// One card with its endpoint, its memory and what it was told.
struct End {
    card: Rc<RefCell<GoldenCard>>,
    endpoint: Endpoint<GoldenBus>,
    region: RegionId,
    memory: ApplicationMapping,
    done: Vec<MessageDone>,
}

impl End {
    fn new(host: u8, seed: u64) -> Self {
        let card = GoldenCard::late(SMALL, seed);
        let config = DeviceConfig::with_seed(seed + 1);
        let bus = GoldenBus::new(card.clone());
        let mut endpoint = Endpoint::open(bus, station(host), 1500, config).expect("it opens");
        let registered = endpoint.register(MemoryKind::Application, REGION_BYTES);
        let (region, memory) = registered.expect("room");
        Self { card, endpoint, region, memory, done: Vec::new() }
    }

    fn has(&self, what: &MessageDone) -> bool {
        self.done.contains(what)
    }

    fn told(&self) -> Vec<Vec<u8>> {
        let told = self.done.iter().filter_map(|done| match done {
            MessageDone::Told { content, .. } => Some(content.clone()),
            _ => None,
        });
        told.collect()
    }
}

/// Two ends and the wires between them.
struct Pair {
    ends: [End; 2],
    wires: [Wire; 2],
    now_ns: u64,
    is_cut: bool,
    loses_control: bool,
}

/// Place of the kind in a frame over IPv4, and the first kind that is a control message's.
const KIND_AT: usize = 14 + 20 + 8 + 16;
const KIND_CONTROL: u8 = 2;

impl Pair {
    fn new(disturbance: Disturbance) -> Self {
        let seed = seed::seed();
        let ends = [End::new(1, seed), End::new(2, seed + 10)];
        let wires = [20, 21].map(|n| Wire::new(disturbance, seed + n));
        Self { ends, wires, now_ns: 0, is_cut: false, loses_control: false }
    }

    fn round(&mut self) {
        for end in &mut self.ends {
            end.done.extend(end.endpoint.poll(self.now_ns).expect("it polls"));
        }
        for from in 0..2 {
            let (mut sent, mut arrived) = (Vec::new(), Vec::new());
            self.ends[from].card.borrow_mut().take_sent(&mut sent);
            for frame in sent.into_iter().filter(|_| !self.is_cut) {
                let bytes = frame.bytes;
                if self.loses_control && bytes[KIND_AT] >= KIND_CONTROL {
                    continue;
                }
                self.wires[from].carry(Frame { bytes, ..Frame::default() }, &mut arrived);
            }
            let mut card = self.ends[1 - from].card.borrow_mut();
            arrived.into_iter().for_each(|frame| card.receive(frame));
        }
        self.now_ns += ROUND_NS;
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&[End; 2]) -> bool) {
        for _ in 0..ROUNDS_MAX {
            if is_so(&self.ends) {
                return;
            }
            self.round();
        }
        panic!("never: {what}; {:?} {:?}", self.ends[0].done, self.ends[1].done);
    }

    /// Expects a message at the second end, and waits until it is ready.
    fn expect(&mut self, message: u64, offset: u64, bytes: u32) {
        let there = &mut self.ends[1];
        let into = (there.region, offset, bytes);
        there.endpoint.expect(station(1), message, into, message).expect("a flow");
        self.until("ready", |ends| ends[1].has(&MessageDone::Ready { request: message }));
    }

    /// Sends a message of random bytes from the first end, and returns the bytes.
    fn send(&mut self, message: u64, offset: u64, bytes: u32) -> Vec<u8> {
        let mut all = vec![0; bytes as usize];
        RandomBytes::new(message + 1).fill(&mut all);
        let here = &mut self.ends[0];
        here.memory.write(offset as usize, &all);
        let from = (here.region, offset, bytes);
        here.endpoint.send(station(2), message, from, message).expect("a flow");
        all
    }

    fn received(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        self.ends[1].memory.read(offset, &mut found);
        found
    }
}

#[test]
fn shorter_message_ends_its_request() {
    let mut pair = Pair::new(Disturbance::default());
    for (message, bytes) in [1, 1407, 1408, 1409, 40_000, 99_999, 100_000].into_iter().enumerate() {
        let (message, at) = (message as u64, 100_000 * message as u64);
        pair.expect(message, at, 100_000);
        let sent = pair.send(message, at, bytes);
        let done = MessageDone::Received { request: message, bytes };
        pair.until("received", |ends| ends[1].has(&done));
        pair.until("sent", |ends| ends[0].has(&MessageDone::Sent { request: message }));
        assert!(pair.received(at as usize, bytes as usize) == sent);
        let behind = pair.received(at as usize + bytes as usize, 100_000 - bytes as usize);
        assert!(behind.iter().all(|byte| *byte == 0), "nothing lies behind {bytes}");
    }
    let copied = pair.ends.each_ref().map(|end| end.endpoint.copied_payload_bytes());
    assert_eq!(copied, [0, 0]);
}

#[test]
fn shorter_messages_survive_a_bad_wire() {
    let disturbance =
        Disturbance { loss: 0.05, reorder: 0.05, duplicate: 0.05, ..Disturbance::default() };
    let mut pair = Pair::new(disturbance);
    for message in 0..20u64 {
        pair.expect(message, message * 50_000, 50_000);
    }
    let sent: Vec<_> = (0..20u64).map(|n| pair.send(n, n * 50_000, 1 + n as u32 * 2500)).collect();
    for (message, sent) in sent.iter().enumerate() {
        let (request, bytes) = (message as u64, sent.len() as u32);
        pair.until("received", |ends| ends[1].has(&MessageDone::Received { request, bytes }));
        pair.until("sent", |ends| ends[0].has(&MessageDone::Sent { request }));
        assert!(pair.received(message * 50_000, sent.len()) == *sent, "message {message}");
    }
}

#[test]
fn cancelled_requests_give_memory_back() {
    let mut pair = Pair::new(Disturbance::default());
    pair.expect(1, 0, 500_000);
    pair.send(1, 0, 500_000);
    pair.send(2, 0, 1000);
    // In the middle of the message; the other send waits for a receiver that never comes.
    for _ in 0..4 {
        pair.round();
    }
    for request in [1, 2] {
        pair.ends[0].endpoint.cancel(request).expect("it is open");
    }
    pair.ends[1].endpoint.cancel(1).expect("it is open");
    pair.ends[1].endpoint.cancel(1).expect("again, before the end");
    for request in [1, 2] {
        pair.until("cancelled", |ends| ends[0].has(&MessageDone::Cancelled { request }));
    }
    pair.until("cancelled", |ends| ends[1].has(&MessageDone::Cancelled { request: 1 }));
    // From here on nothing writes the buffer.
    pair.ends[1].memory.write(0, &vec![7; 500_000]);
    for _ in 0..200 {
        pair.round();
    }
    assert!(pair.received(0, 500_000).iter().all(|byte| *byte == 7));
    let again = pair.ends[1].endpoint.cancel(1);
    let is_unknown =
        |e: &HostError| matches!(e, HostError::Request(RequestError::UnknownRequest { .. }));
    assert!(again.is_err_and(|error| is_unknown(&error)));
}

#[test]
fn region_leaves_behind_its_fence() {
    let mut pair = Pair::new(Disturbance::default());
    let here = &mut pair.ends[0];
    let region = here.region;
    here.endpoint.deregister(region).expect("it is registered");
    assert!(here.endpoint.is_leaving(region));
    pair.until("gone", |ends| !ends[0].endpoint.is_leaving(ends[0].region));
    let refused = pair.ends[0].endpoint.send(station(2), 1, (region, 0, 1), 1);
    assert!(refused.is_err(), "nothing is sent from it");
}

#[repr(C, align(4096))]
struct Pages([u8; 16 * 4096]);

/// Memory that the application has, of both kinds, at an address.
#[test]
fn existing_memory_of_each_kind_serves() {
    for kind in [MemoryKind::Application, MemoryKind::Gpu] {
        let mut pair = Pair::new(Disturbance::default());
        let pages = Box::into_raw(Box::new(Pages([0; 16 * 4096])));
        // SAFETY: the box is not freed, and only read through the pointer.
        let range = unsafe { AddressRange::new(pages.cast(), size_of::<Pages>(), Arc::new(())) };
        let there = &mut pair.ends[1].endpoint;
        let region = there.register_existing(kind, range.expect("mapped").into());
        pair.ends[1].region = region.expect("room");
        pair.expect(1, 100, 60_000);
        let sent = pair.send(1, 0, 50_000);
        let done = MessageDone::Received { request: 1, bytes: 50_000 };
        pair.until("received", |ends| ends[1].has(&done));
        let mut found = vec![0; 50_000];
        // SAFETY: the pages are there, and the card is done with them.
        unsafe { pages.cast::<u8>().add(100).copy_to(found.as_mut_ptr(), found.len()) };
        assert!(found == sent, "{kind:?}");
        assert_eq!(pair.ends[1].endpoint.copied_payload_bytes(), 0);
    }
}

#[test]
fn control_messages_keep_their_order() {
    let disturbance =
        Disturbance { loss: 0.1, reorder: 0.1, duplicate: 0.1, ..Disturbance::default() };
    let mut pair = Pair::new(disturbance);
    let content = |n: u32| n.to_be_bytes().repeat(1 + n as usize % (CONTROL_BYTES_MAX / 4));
    for number in 0..300 {
        pair.ends[0].endpoint.say(station(2), &content(number)).expect("room");
        pair.ends[1].endpoint.say(station(1), &content(number)).expect("room");
    }
    pair.until("all are told", |ends| ends.iter().all(|end| end.told().len() == 300));
    for end in &mut pair.ends {
        assert!(end.told().into_iter().eq((0..300).map(content)));
        end.done.clear();
    }
    for _ in 0..2000 {
        pair.round();
    }
    assert!(pair.ends.iter_mut().all(|end| end.endpoint.is_said() && end.told().is_empty()));
    let long = pair.ends[0].endpoint.say(station(2), &[0; CONTROL_BYTES_MAX + 1]);
    assert!(matches!(long, Err(HostError::Size(_))));
}

#[test]
fn watched_station_is_lost_in_time() {
    let mut pair = Pair::new(Disturbance::default());
    pair.ends[0].endpoint.watch(station(2), true);
    let lost = MessageDone::Lost { station: station(2) };
    // It answers for longer than it may be silent.
    while u128::from(pair.now_ns) < 2 * SILENCE.as_nanos() {
        pair.round();
    }
    assert!(!pair.ends[0].has(&lost));
    pair.is_cut = true;
    let cut_ns = pair.now_ns;
    pair.until("lost", |ends| ends[0].has(&lost));
    assert!(pair.now_ns - cut_ns < 5_000_000_000);
}

#[test]
fn station_that_moves_data_is_there() {
    let mut pair = Pair::new(Disturbance::default());
    for (end, other) in pair.ends.iter_mut().zip([2, 1]) {
        end.endpoint.watch(station(other), true);
    }
    // What asks for life waits behind data, longer than anybody may be silent.
    pair.loses_control = true;
    let lost = |end: &End| end.done.iter().any(|done| matches!(done, MessageDone::Lost { .. }));
    let mut message = 0;
    while u128::from(pair.now_ns) < 2 * SILENCE.as_nanos() {
        pair.expect(message, 0, 5000);
        pair.send(message, 0, 5000);
        pair.until("sent", |ends| ends[0].has(&MessageDone::Sent { request: message }));
        let resumes_ns = pair.now_ns + SILENCE.as_nanos() as u64 / 4;
        while pair.now_ns < resumes_ns {
            pair.round();
        }
        message += 1;
    }
    assert!(!pair.ends.iter().any(lost), "after {message} messages");
    pair.is_cut = true;
    pair.until("lost", |ends| ends.iter().all(lost));
}

#[test]
fn stopped_station_blames_nobody() {
    let mut pair = Pair::new(Disturbance::default());
    pair.ends[0].endpoint.watch(station(2), true);
    for _ in 0..100 {
        pair.round();
    }
    // Both are stopped for long, and go on; neither has heard anything.
    pair.now_ns += 3 * SILENCE.as_nanos() as u64;
    let resumed_ns = pair.now_ns;
    let lost = MessageDone::Lost { station: station(2) };
    while u128::from(pair.now_ns - resumed_ns) < 2 * SILENCE.as_nanos() {
        pair.round();
    }
    assert!(!pair.ends[0].has(&lost));
}

#[test]
fn numbers_with_the_top_bit_are_refused() {
    let mut pair = Pair::new(Disturbance::default());
    let here = &mut pair.ends[0];
    let refused = here.endpoint.send(station(2), 1 << 63, (here.region, 0, 1), 1);
    assert!(matches!(
        refused,
        Err(HostError::Protocol(ProtocolError::MessageNumber(n))) if n == 1 << 63
    ));
}

#[test]
fn last_flow_is_told_before_copies() {
    let mut pair = Pair::new(Disturbance::default());
    let there = &mut pair.ends[1];
    let mut taken = 0;
    while there.endpoint.has_flow() {
        let into = (there.region, 0, 1);
        there.endpoint.expect(station(1), taken, into, taken).expect("a flow");
        taken += 1;
    }
    assert!((1..=64).contains(&taken), "{taken} flows");
    there.endpoint.cancel(0).expect("it is open");
    pair.until("free again", |ends| ends[1].endpoint.has_flow());
}
