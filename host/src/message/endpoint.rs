//! The applications' calls for messages: register, expect, send, poll.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use abi::config::FRAME_BYTES_MAX;
use abi::header_entry;
use abi::reason::Disposition;

use super::header::{key, profile, Header, Meaning, Station, HEADER_BYTES, PROFILE};
use super::inbox::{Incoming, Stage};
use super::outbox::Outgoing;
use crate::control::commands::{
    floor_set, flow_install, flow_remove, send_floor_set, Acceptance, FlowInstall, FlowName, List,
};
use crate::control::descriptor::{udp_header, udp_send, Payload};
use crate::control::flow::buffer::Buffer;
use crate::control::flow::receive::ReceiveSide;
use crate::control::placement::KeyTable;
use crate::control::regions::Regions;
use crate::driver::bus::{Bus, DmaMemory, MemoryKind};
use crate::driver::device::{Device, DeviceConfig};
use crate::driver::error::{HostError, Result};
use crate::driver::rings::HeaderEntry;
use crate::driver::ticket::Ticket;
use crate::memory::ApplicationMapping;
use crate::provider::copier::Copier;
use crate::provider::RegionId;

/// Names a message: address of the other end, and number given by the sender.
type Name = (SocketAddr, u64);

/// Complete messages that are remembered, to acknowledge repeated packets.
const REMEMBERED_MAX: usize = 1024;
/// Limit of send descriptors queued for the ring.
const SENDS_WAITING_MAX: usize = 64;
/// Header bytes from IP to the payload, for the larger of both IP versions.
const OVERHEAD_BYTES: u32 = 40 + 8 + HEADER_BYTES as u32;
/// Bytes of an Ethernet header.
const LINK_BYTES: u32 = 14;

/// A complete message, whose buffer is returned to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDone {
    /// The whole message was received.
    Received {
        /// The application's name for the request.
        request: u64,
    },
    /// The other end has acknowledged the whole message.
    Sent {
        /// The application's name for the request.
        request: u64,
    },
}

/// One end of the protocol, on a card of its own.
pub struct Endpoint<B: Bus> {
    device: Device<B>,
    local: Station,
    payload_bytes_max: u32,
    regions: Regions,
    copier: Copier,
    keys: KeyTable,
    flows_free: Vec<u16>,
    generations: Vec<u8>,
    incoming: HashMap<Name, Incoming>,
    outgoing: HashMap<Name, Outgoing>,
    remembered: VecDeque<(Name, Station, u32)>,
    done: Vec<MessageDone>,
}

impl<B: Bus> Endpoint<B> {
    /// Opens the card on `bus` for the station `local`, with IP packets of up to `mtu_bytes`.
    pub fn open(bus: B, local: Station, mtu_bytes: u16, config: DeviceConfig) -> Result<Self> {
        let (least, most) = (OVERHEAD_BYTES + 1, FRAME_BYTES_MAX as u32 - LINK_BYTES);
        if !(least..=most).contains(&mtu_bytes.into()) {
            return Err(HostError::BadSize {
                name: "mtu_bytes",
                value: mtu_bytes.into(),
                min: least.into(),
                max: most.into(),
            });
        }
        let mut device = Device::open(bus, config)?;
        device.set_profile(PROFILE, &profile(local.address.port()))?;
        let sizes = device.sizes();
        Ok(Self {
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            copier: Copier::default(),
            keys: KeyTable::new(*device.secrets(), sizes.bucket_bits),
            flows_free: (0..=u16::MAX).take(1 << sizes.flow_bits).rev().collect(),
            generations: vec![0; 1 << sizes.flow_bits],
            device,
            local,
            payload_bytes_max: u32::from(mtu_bytes) - OVERHEAD_BYTES,
            incoming: HashMap::new(),
            outgoing: HashMap::new(),
            remembered: VecDeque::new(),
            done: Vec::new(),
        })
    }

    /// The card.
    pub fn device(&mut self) -> &mut Device<B> {
        &mut self.device
    }

    /// Payload bytes that the CPU copied.
    pub fn copied_payload_bytes(&self) -> u64 {
        self.copier.copied_bytes()
    }

    /// Allocates memory for messages and registers it. Returns the region and the application's
    /// mapping.
    pub fn register(
        &mut self,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<(RegionId, ApplicationMapping)> {
        Regions::check_length(bytes as u64)?;
        let memory = self.device.bus().allocate_region(kind, bytes)?;
        let registered = self.register_memory(memory);
        if registered.is_err() {
            self.device.bus().release(memory)?;
        }
        registered
    }

    fn register_memory(&mut self, memory: DmaMemory) -> Result<(RegionId, ApplicationMapping)> {
        let range = self.device.bus().share(&memory)?;
        let (region, commands) = self.regions.register(memory, 0)?;
        let index = region.index;
        let not_mapped = |source| HostError::Mapping {
            region: index,
            source,
        };
        let mapping = range.map().map_err(not_mapped);
        let mapping = self
            .copier
            .add(region.name(), &range)
            .and(mapping)
            .inspect_err(|_| {
                self.regions.forget(index);
            })?;
        for entry in commands {
            let ticket = self.device.command(entry);
            self.regions.queued(index, ticket);
        }
        Ok((RegionId(index), mapping))
    }

    fn buffer(&self, region: RegionId, offset: u64, bytes: u32, request: u64) -> Result<Buffer> {
        let index = region.0;
        let region = self.regions.get(index);
        let region = region.ok_or(HostError::UnknownRegion(index))?;
        Buffer::of(region, offset, bytes, request)
    }

    fn name_flow(&mut self) -> Result<FlowName> {
        let flow = self.flows_free.pop().ok_or(HostError::TableFull {
            what: "flows",
            limit: self.generations.len(),
        })?;
        let generation = &mut self.generations[usize::from(flow)];
        *generation = generation.wrapping_add(1);
        Ok(FlowName {
            flow,
            generation: *generation,
        })
    }

    fn install(&mut self, name: FlowName) -> Ticket {
        let list = List::committed(name.flow);
        let mut entry = flow_install(&FlowInstall {
            name,
            owner: 0,
            domain: 0,
            acceptance: Acceptance::default(),
            send_floor: 0,
            lists: [(list.base, list.bits); 2],
        });
        abi::command::PROFILE.set(&mut entry, PROFILE.into());
        self.device.command(entry)
    }

    /// Expects a message of `bytes` bytes from a station, to be placed in a region.
    pub fn expect(
        &mut self,
        from: Station,
        message: u64,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<()> {
        let buffer = self.buffer(region, offset, bytes, request)?;
        if self.incoming.contains_key(&(from.address, message)) {
            return Err(HostError::MessageKnown(message));
        }
        let name = self.name_flow()?;
        let mut ticket = self.install(name);
        let key = key(from.address, self.local.address, message);
        let Some(slots) = self.keys.insert(key, name.flow) else {
            self.device.command(flow_remove(name));
            self.flows_free.push(name.flow);
            let slots = 1 << (self.device.sizes().bucket_bits + 3);
            return Err(HostError::NoKeySlot { slots });
        };
        for entry in slots {
            ticket = self.device.command(entry);
        }
        let incoming = Incoming::new(name, from, buffer, ticket);
        self.incoming.insert((from.address, message), incoming);
        Ok(())
    }

    /// Sends `bytes` bytes of a region as one message.
    pub fn send(
        &mut self,
        to: Station,
        message: u64,
        (region, offset, bytes): (RegionId, u64, u32),
        request: u64,
    ) -> Result<()> {
        let buffer = self.buffer(region, offset, bytes, request)?;
        if self.outgoing.contains_key(&(to.address, message)) {
            return Err(HostError::MessageKnown(message));
        }
        let name = self.name_flow()?;
        let ticket = self.install(name);
        let outgoing = Outgoing::new(name, to, buffer, ticket);
        self.outgoing.insert((to.address, message), outgoing);
        Ok(())
    }

    /// Makes progress at time `now`. Returns the messages completed since the last call.
    pub fn poll(&mut self, now: Duration) -> Result<Vec<MessageDone>> {
        self.device.bus().advance()?;
        self.device.poll()?;
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry)? {
            self.take(&entry, now);
        }
        self.device.return_headers()?;
        if let Some(refused) = self.device.take_refused() {
            return Err(HostError::CommandRefused {
                opcode: refused.opcode,
                flow: refused.flow,
                status: refused.status.name(),
            });
        }
        self.step_incoming()?;
        self.step_outgoing(now)?;
        self.device.poll()?;
        Ok(std::mem::take(&mut self.done))
    }

    fn take(&mut self, entry: &HeaderEntry, now: Duration) {
        let metadata = &entry.metadata;
        let is_packet = header_entry::KIND.get(metadata) == u64::from(header_entry::KIND_PACKET);
        let is_ours = header_entry::PROFILE.get(metadata) == u64::from(PROFILE);
        let l4_offset = header_entry::L4_OFFSET.get(metadata) as usize;
        let read = Header::read(&entry.header, l4_offset).filter(|_| is_packet && is_ours);
        let Some((from, header)) = read else {
            return;
        };
        let name = (from, header.message);
        match header.meaning {
            Meaning::Acknowledge(position) => {
                if let Some(outgoing) = self.outgoing.get_mut(&name) {
                    outgoing.acknowledge(position, now);
                }
            }
            // Payload that may not be visible counts as lost: the sender repeats it, into a slow
            // buffer.
            Meaning::Data(_) if header_entry::UNFLUSHED.get(metadata) == 1 => {}
            Meaning::Data(position) => self.take_data(name, position, entry),
        }
    }

    fn take_data(&mut self, name: Name, position: u32, entry: &HeaderEntry) {
        let Some(incoming) = self.incoming.get_mut(&name) else {
            let known = self.remembered.iter().find(|(other, ..)| *other == name);
            if let Some(&(_, to, bytes)) = known {
                self.acknowledge(&to, name.1, bytes, bytes);
            }
            return;
        };
        let code = header_entry::DISPOSITION.get(&entry.metadata) as u8;
        let payload_bytes = header_entry::PAYLOAD_BYTES.get(&entry.metadata) as usize;
        match Disposition::from_code(code) {
            Some(Disposition::PlacedInOrder | Disposition::PlacedAhead) => {
                incoming.take(position, payload_bytes, None);
            }
            Some(Disposition::Old) => incoming.acknowledgement_due = true,
            _ if entry.deferred.is_some() => {
                incoming.take(position, payload_bytes, entry.deferred.as_deref());
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, to: &Station, message: u64, position: u32, bytes: u32) {
        let header = Header {
            message,
            bytes,
            meaning: Meaning::Acknowledge(position),
        };
        let (packet, layers) = header.packet(&self.local, to, 0);
        self.device.send(udp_header(&packet, layers));
    }

    fn step_incoming(&mut self) -> Result<()> {
        let (mut due, mut gone) = (Vec::new(), Vec::new());
        for (name, incoming) in &mut self.incoming {
            match incoming.stage {
                Stage::Installing(ticket) if self.device.confirmed(ticket) => {
                    incoming.stage = Stage::Open;
                }
                Stage::Removing(ticket) if self.device.confirmed(ticket) => gone.push(*name),
                Stage::Open => {
                    step_open(&mut self.device, &mut self.copier, incoming, &mut self.done)?;
                }
                _ => {}
            }
            if std::mem::take(&mut incoming.acknowledgement_due) {
                due.push((
                    incoming.from,
                    name.1,
                    incoming.complete_to(),
                    incoming.bytes,
                ));
            }
        }
        for (to, message, position, bytes) in due {
            self.acknowledge(&to, message, position, bytes);
        }
        for name in gone {
            if let Some(incoming) = self.incoming.remove(&name) {
                self.forget(incoming.name);
                if self.remembered.len() == REMEMBERED_MAX {
                    self.remembered.pop_front();
                }
                let (from, bytes) = (incoming.from, incoming.bytes);
                self.remembered.push_back((name, from, bytes));
            }
        }
        Ok(())
    }

    fn step_outgoing(&mut self, now: Duration) -> Result<()> {
        let mut gone = Vec::new();
        for (name, outgoing) in &mut self.outgoing {
            match outgoing.stage {
                Stage::Installing(ticket) if self.device.confirmed(ticket) => {
                    outgoing.stage = Stage::Open;
                    let device = &mut self.device;
                    // The region was installed before the flow, through the same ring.
                    let ready = outgoing.side.queue.ready(|ticket| device.confirmed(ticket));
                    let command = |entry| Ok(device.command(entry));
                    outgoing.side.post(outgoing.name, ready, command)?;
                }
                Stage::Removing(ticket) if self.device.confirmed(ticket) => gone.push(*name),
                Stage::Open => {
                    finish_open(&mut self.device, outgoing, &mut self.done);
                    let packets = (&self.local, name.1, self.payload_bytes_max);
                    send_packets(&mut self.device, outgoing, packets, now);
                }
                _ => {}
            }
        }
        for name in gone {
            if let Some(outgoing) = self.outgoing.remove(&name) {
                self.forget(outgoing.name);
            }
        }
        Ok(())
    }

    /// Frees name and key of a flow that was removed from the card.
    fn forget(&mut self, name: FlowName) {
        if let Some(entry) = self.keys.remove(name.flow) {
            self.device.command(entry);
        }
        self.flows_free.push(name.flow);
    }
}

/// Posts an open message, completes it after its fence, and removes its flow.
fn step_open<B: Bus>(
    device: &mut Device<B>,
    copier: &mut Copier,
    incoming: &mut Incoming,
    done: &mut Vec<MessageDone>,
) -> Result<()> {
    let name = incoming.name;
    let complete = incoming.complete_to() == incoming.bytes;
    let side: &mut ReceiveSide = &mut incoming.side;
    let ready = side.queue.ready(|ticket| device.confirmed(ticket));
    side.post(name, ready, |entry| Ok(device.command(entry)))?;
    let floor = side.confirm(|ticket| device.confirmed(ticket));
    let copies = side.copies(floor).map_err(|(offset, bytes)| {
        let flow = name.flow;
        HostError::BytesMissing {
            flow,
            offset,
            bytes,
        }
    })?;
    for copy in copies {
        copier.write(copy.region, copy.offset, &copy.bytes)?;
    }
    let received = side.announce(floor);
    if complete && side.drainable() > 0 {
        side.accept(side.drainable());
        let acceptance = Acceptance {
            floor: side.queue.position(side.accepted()),
            ..Acceptance::default()
        };
        let head = side.head();
        let ticket = device.command(floor_set(name, acceptance, head));
        side.floor_asked(ticket, head);
    }
    for request in received.iter().map(|done| done.request) {
        done.push(MessageDone::Received { request });
        incoming.stage = Stage::Removing(device.command(flow_remove(name)));
    }
    Ok(())
}

/// Moves the send floor when all is acknowledged, and removes the flow when that is confirmed.
fn finish_open<B: Bus>(
    device: &mut Device<B>,
    outgoing: &mut Outgoing,
    done: &mut Vec<MessageDone>,
) {
    let sent = outgoing.side.confirm(|ticket| device.confirmed(ticket));
    for request in sent.iter().map(|done| done.request) {
        done.push(MessageDone::Sent { request });
        outgoing.stage = Stage::Removing(device.command(flow_remove(outgoing.name)));
    }
    outgoing.side.feed(outgoing.side.feedable());
    let unacknowledged = outgoing.unacknowledged().into();
    if let Some((floor, head)) = outgoing.side.acknowledge(unacknowledged) {
        let entry = send_floor_set(outgoing.name, floor, head);
        outgoing.side.floor_asked(device.command(entry));
    }
}

/// Queues as many packets as the window and the ring allow.
fn send_packets<B: Bus>(
    device: &mut Device<B>,
    outgoing: &mut Outgoing,
    (local, message, payload_bytes_max): (&Station, u64, u32),
    now: Duration,
) {
    // The card can fetch only confirmed segments.
    let posted = outgoing.side.queue.has_requests() && outgoing.side.all_fed();
    while posted && device.sends_waiting() < SENDS_WAITING_MAX {
        let Some((position, bytes)) = outgoing.packet(payload_bytes_max, now) else {
            return;
        };
        let header = Header {
            message,
            bytes: outgoing.bytes,
            meaning: Meaning::Data(position),
        };
        let (packet, layers) = header.packet(local, &outgoing.to, bytes as usize);
        let payload = Payload {
            name: outgoing.name,
            position,
            bytes,
            mss_bytes: bytes as u16,
            segment_index: 0,
        };
        device.send(udp_send(&packet, layers, &payload));
    }
}
