//! The model that sums up against the one that does not: expanded, its entries are the same flow by
//! flow, and no confirmation passes what its command ends.
//!
//! ```text
//!   frames, commands, time ─┬─► card with runs ────► entries ─► expanded ─┐
//!                           └─► card without runs ─► entries ─────────────┴─► equal
//! ```

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SMALL};
use abi::field::Field;
use abi::flow_key::{self, KEY_BYTES};
use abi::{command as c, completion, header_entry as h, registers as r};
use golden::checksum::{fold, pseudo_header, sum};
use golden::coalesce::{ends, Ends};
use golden::device::{GoldenDevice, Memory};
use golden::expand::expand;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};

const COMMANDS: u64 = 0x10_0000;
const COMPLETIONS: u64 = 0x20_0000;
const HEADERS: u64 = 0x30_0000;
const SLOW: u64 = 0x40_0000;
const DATA: u64 = 0x100_0000;
/// Log2 of the rings: none wraps in a test.
const RING_BITS: u32 = 12;
const FLOWS: u16 = 4;
const START: u32 = 0xffff_f000;

/// All that was written, in order.
#[derive(Default)]
struct Log(Vec<(u64, Vec<u8>)>, Vec<[u8; COMMAND_BYTES]>);

impl Memory for Log {
    fn read(&mut self, address: u64, _bytes: usize) -> Option<Vec<u8>> {
        let at = address.checked_sub(COMMANDS)? as usize / COMMAND_BYTES;
        self.1.get(at).map(|command| command.to_vec())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.0.push((address, bytes.to_vec()));
        true
    }
}

/// A card, and what it has written.
struct Card {
    device: GoldenDevice,
    log: Log,
}

fn command(opcode: u8, fields: &[(Field, u64)]) -> [u8; COMMAND_BYTES] {
    let mut entry = [0; COMMAND_BYTES];
    c::OPCODE.set(&mut entry, opcode.into());
    fields.iter().for_each(|(field, value)| field.set(&mut entry, *value));
    entry
}

/// Flows 0 and 32 have one place.
fn flow_id(number: u16) -> u16 {
    [0, 32, 1, 2][usize::from(number)]
}

impl Card {
    fn new(coalesces: bool) -> Card {
        let mut card = Card { device: GoldenDevice::new(SMALL), log: Log::default() };
        for (offset, value) in [
            (r::CONTEXT_COMMAND_BASE, COMMANDS as u32),
            (r::CONTEXT_COMPLETION_BASE, COMPLETIONS as u32),
            (r::CONTEXT_HEADER_BASE, HEADERS as u32),
            (r::CONTEXT_SLOW_BASE, SLOW as u32),
            (r::CONTEXT_SIZES, RING_BITS * 0x0101_0101),
            (r::CONTEXT_ENABLE, 1 | u32::from(coalesces) << 1),
        ] {
            card.write(r::CONTEXTS + offset, value);
        }
        card.write(r::CONTROL, r::CONTROL_RX);
        card.command(command(
            c::REGION_INSTALL,
            &[
                (c::REGION_DOMAIN, 5),
                (c::REGION_WRITE, 1),
                (c::REGION_PAGE_BITS, 20),
                (c::REGION_BYTES, 1 << 20),
            ],
        ));
        card.command(command(c::PAGE_SET, &[(c::PAGE_ADDRESS, DATA)]));
        (0..FLOWS).for_each(|number| card.install(number, START));
        card
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.device.write_register(offset, value, &mut self.log);
    }

    fn command(&mut self, entry: [u8; COMMAND_BYTES]) {
        self.log.1.push(entry);
        let produced = self.log.1.len() as u32;
        self.write(r::DOORBELLS + r::DOORBELL_COMMAND, produced);
    }

    fn install(&mut self, number: u16, floor: u32) {
        let flow = (c::FLOW, flow_id(number).into());
        let mut key = [0; KEY_BYTES];
        key[..4].copy_from_slice(&[10, 0, 0, 2]);
        key[16..20].copy_from_slice(&[10, 0, 0, 1]);
        key[flow_key::REMOTE_PORT].copy_from_slice(&(5_000 + number).to_be_bytes());
        key[flow_key::LOCAL_PORT].copy_from_slice(&80u16.to_be_bytes());
        (key[flow_key::PROTOCOL], key[flow_key::FAMILY_PROFILE]) = (6, 4);
        let bucket = self.device.tables.bucket(0, &key);
        let way = (c::KEY_WAY, number.into());
        let mut entry = command(c::KEY_SET, &[flow, (c::KEY_BUCKET, bucket), way]);
        entry[c::KEY_AT_BYTES..].copy_from_slice(&key);
        self.command(entry);
        self.command(command(
            c::FLOW_INSTALL,
            &[
                flow,
                (c::DOMAIN, 5),
                (c::INSTALL_FLOOR, floor.into()),
                (c::INSTALL_ACK_HIGH, 1 << 20),
                (c::RX_LIST_BITS, 3),
            ],
        ));
        self.command(command(
            c::SEGMENT_POST,
            &[flow, (c::SEGMENT_POSITION, floor.into()), (c::SEGMENT_BYTES, 1 << 20)],
        ));
    }

    /// Entries in the order of their slots, and for each confirmation how many were there before.
    fn entries(&self) -> (Vec<Vec<u8>>, Vec<usize>) {
        let (mut entries, mut confirmed) = (Vec::new(), Vec::new());
        for (address, bytes) in &self.log.0 {
            match *address {
                COMPLETIONS..HEADERS => {
                    assert_eq!(bytes.len(), COMPLETION_BYTES);
                    assert_eq!(completion::INDEX.get(bytes), confirmed.len() as u64);
                    confirmed.push(entries.len());
                }
                HEADERS..SLOW => {
                    let slot = (address - HEADERS) / 128;
                    assert_eq!(slot, entries.len() as u64, "the entry's slot");
                    entries.push(bytes.clone());
                }
                _ => {}
            }
        }
        (entries, confirmed)
    }

    /// Payload, in order.
    fn payload(&self) -> Vec<&(u64, Vec<u8>)> {
        self.log.0.iter().filter(|write| write.0 >= SLOW).collect()
    }
}

/// A frame of a flow.
#[derive(Clone)]
struct Frame {
    number: u16,
    sequence: u32,
    ack: u32,
    flags: u8,
    class: u8,
    identification: u16,
    window: u16,
    stamp: Option<u32>,
    payload: Vec<u8>,
}

impl Frame {
    fn build(&self) -> Vec<u8> {
        let mut tcp = (5_000 + self.number).to_be_bytes().to_vec();
        tcp.extend([0, 80]);
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([if self.stamp.is_some() { 0x80 } else { 0x50 }, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        if let Some(stamp) = self.stamp {
            tcp.extend([1, 1, 8, 10]);
            tcp.extend(stamp.to_be_bytes());
            tcp.extend([0, 0, 0, 7]);
        }
        tcp.extend(&self.payload);
        let addresses = [10, 0, 0, 2, 10, 0, 0, 1];
        let check = !fold(pseudo_header(&addresses, 6, tcp.len()) + sum(&tcp));
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        let mut ip = vec![0x45, self.class];
        ip.extend((20 + tcp.len() as u16).to_be_bytes());
        ip.extend(self.identification.to_be_bytes());
        ip.extend([0x40, 0, 64, 6, 0, 0]);
        ip.extend(addresses);
        let check = !fold(sum(&ip));
        ip[10..12].copy_from_slice(&check.to_be_bytes());
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        frame.extend(ip);
        frame.extend(tcp);
        frame.resize(frame.len().max(60), 0);
        frame
    }
}

/// The next frame of a flow: like the one before it, or with loss, reordering, a duplicate, an ECN
/// mark, a close.
fn next_frame(random: &mut SmallRng, card: &Card, last: &mut [Frame]) -> Vec<u8> {
    let number = random.random_range(0..FLOWS);
    let frame = &mut last[usize::from(number)];
    let cursor = card.device.tables.flow(flow_id(number)).map_or(START, |flow| flow.cursor);
    frame.sequence = cursor;
    frame.identification = frame.identification.wrapping_add(1);
    frame.flags = if random.random_bool(0.05) { 0x18 } else { 0x10 };
    let mut bytes = 100;
    match random.random_range(0..30) {
        0 => frame.class = random.random_range(0..4),
        1 => frame.sequence = cursor.wrapping_add(random.random_range(1..300)),
        2 => frame.sequence = cursor.wrapping_sub(random.random_range(1..300)),
        3 => frame.ack = random.random_range(0..1_000),
        4 => frame.window = random.random(),
        5 => frame.flags = random.random(),
        6 => frame.stamp = frame.stamp.map(|_| random.random_range(0..9)),
        7 => frame.flags = 0x11,
        8 | 9 => bytes = random.random_range(0..120),
        _ => {}
    }
    frame.payload = vec![random.random(); bytes];
    frame.build()
}

/// A command in the middle, for both.
fn some_commands(random: &mut SmallRng, cards: &mut [Card; 2]) {
    let number = random.random_range(0..FLOWS);
    let flow = (c::FLOW, flow_id(number).into());
    let now = cards[0].device.tables.flow(flow_id(number)).cloned();
    let cursor = now.map_or(START, |flow| flow.cursor);
    let floor = [(c::FLOOR, cursor.into()), (c::ACK_HIGH, 1 << 20)];
    let entry = match random.random_range(0..6) {
        0 => command(c::NOP, &[]),
        1 | 2 => command(c::FLOOR_SET, &[flow, floor[0], floor[1]]),
        3 => command(c::FLOW_ADVANCE, &[flow, floor[0], floor[1], (c::SEND_FLOOR, 0)]),
        4 => command(c::FLOW_REMOVE, &[flow]),
        _ => command(c::SEND_FLOOR_SET, &[flow]),
    };
    for card in cards {
        card.command(entry);
        if c::OPCODE.get(&entry) as u8 == c::FLOW_REMOVE {
            card.install(number, cursor);
        }
    }
}

/// One random exchange; packets, and entries of the card with runs.
fn exchange(seed: u64) -> (u64, u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut cards = [Card::new(true), Card::new(false)];
    let frame = Frame {
        number: 0,
        sequence: 0,
        ack: 500,
        flags: 0x10,
        class: 0,
        identification: 0,
        window: 9,
        stamp: None,
        payload: Vec::new(),
    };
    let stamp = |number: u16| (number % 2 == 1).then_some(4);
    let mut last: Vec<_> =
        (0..FLOWS).map(|number| Frame { number, stamp: stamp(number), ..frame.clone() }).collect();
    for _ in 0..200 {
        let frame = next_frame(&mut random, &cards[0], &mut last);
        for card in &mut cards {
            card.device.receive(&frame, false, &mut card.log);
        }
        if random.random_bool(0.03) {
            some_commands(&mut random, &mut cards);
        }
        let cycles = random.random_range(0..400);
        cards.iter_mut().for_each(|card| card.device.pass_cycles(cycles, &mut card.log));
    }
    cards.iter_mut().for_each(|card| card.device.pass_cycles(10_000, &mut card.log));
    compare(&cards)
}

fn compare([with, without]: &[Card; 2]) -> (u64, u64) {
    assert_eq!(with.device.drops, without.device.drops);
    assert_eq!(with.device.dispositions, without.device.dispositions);
    assert_eq!(with.payload(), without.payload());
    let ((ours, confirmed), (theirs, all_confirmed)) = (with.entries(), without.entries());
    let packets = expand(&ours).expect("runs of packets");
    assert_eq!(packets.len(), theirs.len(), "packets");
    for flow in (0..FLOWS).map(flow_id).chain([h::FLOW_NONE]) {
        let is_of = |entry: &[u8]| h::FLOW.get(entry) == u64::from(flow);
        let ours: Vec<_> = packets.iter().filter(|it| is_of(&it.entry)).collect();
        let theirs: Vec<_> = theirs.iter().filter(|it| is_of(it)).collect();
        assert_eq!(ours.len(), theirs.len(), "packets of flow {flow}");
        for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(ours.check(theirs), Ok(()), "packet {number} of flow {flow}");
        }
    }
    // Before each confirmation as many packets of what it ends as the card without runs has there.
    let counted = |entries: &[Vec<u8>], until: usize, ends: Ends| {
        let of = |entry: &&Vec<u8>| match ends {
            Ends::Nothing => false,
            Ends::Flow(flow) => h::FLOW.get(entry) == u64::from(flow),
            Ends::Owner => true,
        };
        let entries: Vec<_> = entries[..until].iter().filter(of).cloned().collect();
        expand(&entries).expect("runs of packets").len()
    };
    assert_eq!(confirmed.len(), all_confirmed.len());
    for (at, (ours_until, theirs_until)) in confirmed.iter().zip(&all_confirmed).enumerate() {
        let ends = ends(&with.log.1[at]);
        let ours = counted(&ours, *ours_until, ends);
        assert_eq!(ours, counted(&theirs, *theirs_until, ends), "before confirmation {at}");
    }
    (theirs.len() as u64, ours.len() as u64)
}

#[test]
fn expanded_runs_are_the_packets() {
    let seed = seed();
    let all = (0..150).map(|at| exchange(seed.wrapping_add(at)));
    let (packets, entries) = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    enough("packets that share an entry", packets - entries, packets / 4);
}

#[test]
fn epoch_accounts_for_open_runs() {
    let mut card = Card::new(true);
    let frame = |sequence: u32| Frame {
        number: 0,
        sequence,
        ack: 500,
        flags: 0x10,
        class: 0,
        identification: 0,
        window: 9,
        stamp: None,
        payload: vec![1; 100],
    };
    for number in 0..5 {
        let bytes = frame(START.wrapping_add(100 * number)).build();
        card.device.receive(&bytes, false, &mut card.log);
    }
    assert_eq!(card.device.open_runs(), 1);
    card.write(r::CONTROL, r::CONTROL_RESET);
    let [opened, joined, .., forgotten] = card.device.run_counters();
    assert_eq!((opened, joined, forgotten), (1, 4, 5));
    assert_eq!(card.entries().0.len(), 0);
}
