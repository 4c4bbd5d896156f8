//! A transport of your own: two cards, a protocol that the hardware has never heard of, payload
//! straight from memory to memory.
//!
//! ```text
//!   64 KiB ─ sender's card ── UDP | position 4 | tag 4 | payload ──► receiver's card ─ 64 KiB
//!              ▲ headers, last packet first            headers ▼
//! ```
//! The protocol says where a packet's payload belongs and nothing else; there is no
//! acknowledgement, so it wants a wire that loses nothing. The card learns it from a header
//! profile: the port, the length of the header, where the position stands. To see a protocol that
//! repeats what was lost, read `host::message`.
//!
//! ```sh
//! cargo run --release -p sim --example own_transport
//! ```

use abi::config::SMALL;
use abi::{command, flow_key, header_entry};
use anyhow::{ensure, Result};
use host::control::placement::KeyTable;
use host::control::regions::{Region, Regions};
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::HeaderEntry;
use host::headers::builder::Route;
use host::headers::layers::Layers;
use host::headers::packet;
use host::memory::ApplicationMapping;
use host::records::commands::{
    flow_install, segment_post, Acceptance, Direction, FlowInstall, FlowName, List, Segment,
};
use host::records::descriptor::{send, Payload};
use host::records::profile::Profile;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::network_side::NetworkSide;

const PORT: u16 = 9000;
const PROFILE: u8 = 1;
/// Position and tag.
const HEADER_BYTES: usize = 8;
const BYTES: u32 = 64 << 10;
const PAYLOAD_BYTES: u32 = 1024;
const FLOW: FlowName = FlowName { flow: 0, generation: 1 };
const PROTOCOL_UDP: u8 = 17;

/// One end: its card, and 64 KiB that the card knows.
struct End {
    device: Device<GoldenBus>,
    region: Region,
    memory: ApplicationMapping,
}

impl End {
    /// Opens a card, tells it the protocol, installs the flow and posts all memory as one segment.
    fn open(card: &std::rc::Rc<std::cell::RefCell<GoldenCard>>, way: Direction) -> Result<Self> {
        let bus = GoldenBus::new(card.clone());
        let mut device = Device::open(bus, DeviceConfig::default())?;
        let profile = Profile {
            port: PORT,
            header_bytes: HEADER_BYTES as u8,
            position: (0, 4),
            message_key: (0, 0),
        };
        device.set_profile(PROFILE, &profile)?;

        let memory = (device.bus()).allocate(MemoryKind::Application, BYTES as usize, 4096)?;
        let mapping = device.bus().share(&memory)?.map()?;
        let sizes = device.sizes();
        let mut regions = Regions::new(sizes.region_bits, sizes.page_bits);
        let (region, mut commands) = regions.register(memory, 0)?;

        let list = List::committed(FLOW.flow);
        let mut install = flow_install(&FlowInstall {
            name: FLOW,
            owner: 0,
            domain: 0,
            acceptance: Acceptance::default(),
            send_floor: 0,
            lists: [(list.base, list.bits); 2],
        });
        command::PROFILE.set(&mut install, PROFILE.into());
        commands.push(install);
        let mut keys = KeyTable::new(*device.secrets(), sizes.bucket_bits);
        commands.extend(keys.insert(key(), FLOW.flow).into_iter().flatten());
        let segment = Segment {
            index: 0,
            position: 0,
            bytes: BYTES,
            region: region.index,
            region_key: region.key,
            offset: 0,
        };
        commands.push(segment_post(FLOW, way, &segment));

        let tickets: Vec<_> = commands.into_iter().map(|c| device.command(c)).collect();
        while tickets.iter().any(|ticket| !device.confirmed(*ticket)) {
            device.poll()?;
        }
        ensure!(device.take_refused().is_none(), "a command was refused");
        Ok(Self { device, region, memory: mapping })
    }
}

/// What the receiver's card recognises the sender's packets by.
fn key() -> [u8; flow_key::KEY_BYTES] {
    let (sender, receiver) = (([10, 0, 0, 1], PORT), ([10, 0, 0, 2], PORT));
    let mut key = packet::flow_key(sender.into(), receiver.into());
    key[flow_key::PROTOCOL] = PROTOCOL_UDP;
    key[flow_key::FAMILY_PROFILE] |= PROFILE << 4;
    key
}

/// A packet up to its payload. The card fills in both checksums.
fn header(position: u32) -> (Vec<u8>, Layers) {
    let route = Route {
        macs: [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]],
        from: ([10, 0, 0, 1], PORT).into(),
        to: ([10, 0, 0, 2], PORT).into(),
    };
    let header = [position.to_be_bytes(), *b"mine"].concat();
    route.udp(&header, PAYLOAD_BYTES as usize)
}

fn main() -> Result<()> {
    let mut cards = [GoldenCard::new(SMALL), GoldenCard::new(SMALL)];
    let mut sender = End::open(&cards[0], Direction::Send)?;
    let mut receiver = End::open(&cards[1], Direction::Receive)?;
    let content: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    sender.memory.write(0, &content);

    // Any order will do: each packet says where it belongs. Here the last one comes first.
    let mut packets = 0;
    for position in (0..BYTES).step_by(PAYLOAD_BYTES as usize).rev() {
        let (bytes, layers) = header(position);
        let payload = Payload {
            name: FLOW,
            position,
            bytes: PAYLOAD_BYTES,
            mss_bytes: PAYLOAD_BYTES as u16,
            segment_index: 0,
        };
        sender.device.send(send(&bytes, layers, &payload));
        sender.device.poll()?;
        let mut frames = Vec::new();
        cards[0].take_sent(&mut frames);
        for frame in frames {
            cards[1].receive(frame);
        }
        let mut entry = HeaderEntry::default();
        while receiver.device.next_header(&mut entry)? {
            ensure!(entry.deferred.is_none(), "a packet was not placed");
            let said = header_entry::POSITION.get(&entry.metadata);
            let tag = entry.header.ends_with(b"mine");
            ensure!(tag && said == u64::from(position), "another header");
            packets += 1;
        }
        receiver.device.return_headers()?;
    }
    let mut arrived = vec![0; BYTES as usize];
    receiver.memory.read(0, &mut arrived);
    ensure!(arrived == content, "other bytes arrived");
    let region = receiver.region.index;
    println!("{packets} packets, {BYTES} bytes in region {region}, none copied by software");
    Ok(())
}
