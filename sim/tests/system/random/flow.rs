//! What the test knows of a flow: its segments, its floor, and packets of it.

use host::records::commands as cmd;
use host::records::commands::{Acceptance, Direction, Entry, FlowName, Segment};
use rand::rngs::SmallRng;
use rand::Rng;
use sim::coverage::{length_class, Coverage};
use sim::harness::traffic::{set_tag_types, timestamp_option, Addresses, Layer4, PacketSpec};

use super::{GUARD_BYTES, LIST, REGION_BYTES};

/// What the test knows of a flow.
#[derive(Clone, Debug)]
pub struct Flow {
    pub name: FlowName,
    pub ports: (u16, u16),
    pub ipv6: bool,
    pub base: u32,
    pub floor: u32,
    pub posted: u32,
    pub head: u16,
    pub tail: u16,
    pub ends: Vec<u32>,
}

impl Flow {
    fn addresses(&self) -> Addresses {
        let id = self.name.flow as u8;
        if self.ipv6 {
            let mut source = [0xfd; 16];
            let mut destination = [0xfd; 16];
            (source[15], destination[15]) = (id, 1);
            Addresses::V6(source, destination)
        } else {
            Addresses::V4([10, 0, 1, id], [10, 0, 0, 1])
        }
    }

    pub fn key(&self) -> [u8; abi::flow_key::KEY_BYTES] {
        let (source, destination): (std::net::IpAddr, std::net::IpAddr) = match self.addresses() {
            Addresses::V4(source, destination) => (source.into(), destination.into()),
            Addresses::V6(source, destination) => (source.into(), destination.into()),
        };
        let remote = (source, self.ports.0).into();
        let local = (destination, self.ports.1).into();
        host::headers::packet::flow_key(remote, local)
    }

    pub fn post(&mut self, random: &mut SmallRng, region: u16, region_key: u16) -> Option<Entry> {
        let room = LIST - self.tail.wrapping_sub(self.head);
        let bytes = random.random_range(1..6000u32).min(REGION_BYTES as u32 - 1024);
        let offset =
            GUARD_BYTES + u64::from(random.random_range(0..REGION_BYTES as u32 - bytes - 512));
        if room == 0 {
            return None;
        }
        let segment = Segment {
            index: self.tail,
            position: self.base.wrapping_add(self.posted),
            bytes,
            region,
            region_key,
            offset,
        };
        self.tail = self.tail.wrapping_add(1);
        self.posted += bytes;
        self.ends.push(self.posted);
        Some(cmd::segment_post(self.name, Direction::Receive, &segment))
    }

    pub fn acceptance(&self) -> Acceptance {
        Acceptance {
            floor: self.base.wrapping_add(self.floor),
            ack_low: 1000,
            ack_high: 2000,
            ..Acceptance::default()
        }
    }

    /// Moves the floor somewhere between where it is and the end of what is posted.
    pub fn move_floor(&mut self, random: &mut SmallRng) -> Entry {
        self.floor = random.random_range(self.floor..=self.posted);
        while self.ends.first().is_some_and(|end| *end <= self.floor) {
            self.ends.remove(0);
            self.head = self.head.wrapping_add(1);
        }
        cmd::floor_set(self.name, self.acceptance(), self.head)
    }

    /// First byte and length of a packet's payload, as offsets of the stream.
    fn range(&self, random: &mut SmallRng, drawn: &mut Coverage) -> (u32, usize) {
        let span = (self.posted - self.floor).max(1);
        let (from, start) = match random.random_range(0..10) {
            0 => {
                let below = random.random_range(0..800);
                (self.floor.saturating_sub(below), "below the floor")
            }
            1 => {
                let before = random.random_range(0..2000);
                (self.posted.saturating_sub(before), "around the end")
            }
            2 => (self.posted + random.random_range(0..3000), "beyond the list"),
            3..6 => (self.floor, "at the floor"),
            _ => (self.floor + random.random_range(0..span), "in the window"),
        };
        let length = match random.random_range(0..9) {
            0 => 0,
            1 => random.random_range(1..140),
            2 => random.random_range(1449..8900),
            3 => 64 * random.random_range(1..20) + random.random_range(0..3) - 1,
            _ => random.random_range(1..1449),
        };
        // Ends on both sides of the bounds that the rules compare with.
        let (end, name) = match random.random_range(0..16) {
            0 => (Some(self.floor), "at the floor"),
            1 => (self.floor.checked_sub(1), "a byte below the floor"),
            2 => (Some(self.posted), "at the end of the list"),
            3 => (Some(self.posted + 1), "a byte beyond the list"),
            _ => (None, "anywhere"),
        };
        let from = match end.and_then(|end| end.checked_sub(length as u32)) {
            Some(from) => {
                drawn.count_of("end:", name);
                from
            }
            None => {
                drawn.count("end: anywhere");
                drawn.count_of("start:", start);
                from
            }
        };
        drawn.count_of("length:", length_class(length));
        (from, length)
    }

    pub fn packet(&self, random: &mut SmallRng, drawn: &mut Coverage) -> Vec<u8> {
        let (from, length) = self.range(random, drawn);
        let mut payload = vec![0; length];
        random.fill(&mut payload[..]);
        let flags: u8 = match random.random_range(0..12) {
            0 => 0x18,
            1 => 0x11,
            2 => random.random(),
            _ => 0x10,
        };
        drawn.count_of("flags:", flag_class(flags));
        let has_timestamp = random.random_bool(0.5);
        let mut options = match has_timestamp {
            true => timestamp_option(random.random(), 0),
            false => Vec::new(),
        };
        let padding_words = random.random_range(0..4);
        options.resize(options.len() + 4 * padding_words, 1);
        let ip_options = 4 * [0, 0, 0, 2, 10][random.random_range(0..5)];
        let tags = random.random_range(0..3);
        let first = self.base.wrapping_add(from);
        let wraps = match first.checked_add(length as u32) {
            None => "inside",
            Some(_) if first < self.base => "true",
            Some(_) => "false",
        };
        drawn.count_of("wraps:", wraps);
        drawn.count_of("timestamp:", has_timestamp);
        drawn.count_of("padding of options:", padding_words);
        drawn.count_of("ip:", if self.ipv6 { 6 } else { 4 });
        drawn.count_of("ip options:", ip_options);
        drawn.count_of("tags:", tags);
        let spec = PacketSpec {
            tags: (0..tags).map(|_| random.random()).collect(),
            addresses: self.addresses(),
            ip_options: vec![1; ip_options],
            ports: self.ports,
            layer4: Layer4::Tcp {
                sequence: self.base.wrapping_add(from),
                acknowledgement: random.random_range(990..2010),
                flags,
                options,
            },
            payload,
        };
        let mut frame = spec.frame(random.random());
        let types: Vec<usize> = (0..tags).map(|_| random.random_range(0..2)).collect();
        set_tag_types(&mut frame, &types);
        if tags > 0 {
            let names: Vec<_> = types.iter().map(|at| ["8100", "88a8"][*at]).collect();
            drawn.count_of("types:", names.join(" "));
        }
        frame
    }
}

/// Which flags decide.
fn flag_class(flags: u8) -> &'static str {
    match flags {
        _ if flags & 0x10 == 0 => "no ACK",
        _ if flags & 0x02 != 0 => "SYN",
        _ if flags & 0x04 != 0 => "RST",
        _ if flags & 0x01 != 0 => "FIN",
        _ if flags & 0x08 != 0 => "PSH",
        _ => "data",
    }
}
