//! What connections beyond the flow table send: copied into a region of the provider, and fetched
//! there through a flow that every shard keeps for it.
//!
//! ```text
//!   application buffer ── Copier ──► bounce region, a ring of 8 segments ◄── fetched by the card
//!                                       ▲    │ descriptor of the shard's flow, header of the
//!                                       │    ▼ connection
//!               segment posted again ◄── floor ◄── taken over by the card, and MARGIN bytes more
//! ```
//! The flow is one stream: its positions count what was copied. The card takes the payload of a
//! descriptor by position and the numbers of the packet from its header, so these are the
//! connection's. Its flow has no key: nothing is received by it.
//!
//! Invariants
//! 1. No byte of the region is written while the card may fetch it: a segment is posted again only
//!    after a floor beyond it was confirmed.
//! 2. A floor passes a descriptor only when the card has taken over that one and as many behind it
//!    as have [`MARGIN_BYTES`] of payload. One that is overtaken nevertheless is lost and counted,
//!    and the protocol repeats it.

use std::collections::VecDeque;

use super::applications::PROVIDER_DOMAIN;
use super::names::ConnectionId;
use crate::control::flow::buffer::Buffer;
use crate::control::flow::send::{SendSide, DESCRIPTOR_BYTES_MAX};
use crate::control::regions::Region;
use crate::error::Result;
use crate::failure::Failure;
use crate::memory::{ApplicationMapping, SharedBytes};
use crate::records::commands::{
    flow_install, segment_post, send_floor_set, Acceptance, Direction, FlowInstall, FlowName, List,
};
use crate::records::queue::CommandQueue;
use crate::records::ticket::Ticket;

/// Segments of the region: as many as a flow has committed entries.
const SEGMENTS: u64 = 8;
const SEGMENT_BYTES: u32 = 256 << 10;
/// Length of the region.
pub(super) const REGION_BYTES: usize = SEGMENTS as usize * SEGMENT_BYTES as usize;
/// Payload that the card takes over behind a descriptor before the floor passes it: more than its
/// stages between ring and look-up hold.
const MARGIN_BYTES: u64 = 8 * DESCRIPTOR_BYTES_MAX as u64;

/// A range of the stream, of one descriptor.
#[derive(Clone, Copy, Debug)]
struct Copied {
    end: u64,
    /// Slots of the send ring up to the end of the descriptor, modulo 2^32.
    slots: u32,
    connection: ConnectionId,
}

/// The bounce flow of a shard. See the head of this file.
#[derive(Debug)]
pub(super) struct Bounce {
    /// The owner of the shard.
    pub owner: u8,
    /// The flow.
    pub name: FlowName,
    ring: Option<Ring>,
}

/// The region and its stream, once a connection needed it.
#[derive(Debug)]
struct Ring {
    region: u16,
    memory: ApplicationMapping,
    installed: Ticket,
    side: SendSide,
    written: u64,
    /// Slots of the send ring that the card had taken over at the last step, modulo 2^32.
    seen: u32,
    /// End of what the card has taken over.
    taken: u64,
    /// Descriptors that the card has not taken over.
    waiting: VecDeque<Copied>,
    /// Descriptors behind the floor that the card has taken over.
    fetched: VecDeque<Copied>,
    /// Why the card cannot use it.
    broken: Option<Failure>,
}

/// The buffer that is segment `number` of the region.
fn segment(region: &Region, number: u64) -> Result<Buffer> {
    let offset = number * u64::from(SEGMENT_BYTES);
    Buffer::of(region, offset, SEGMENT_BYTES, number)
}

impl Bounce {
    /// The bounce flow of an owner, which no connection has needed yet.
    pub fn new(owner: u8, name: FlowName) -> Self {
        let ring = None;
        Self { owner, name, ring }
    }

    /// Index of its region, once it was started.
    pub fn region(&self) -> Option<u16> {
        self.ring.as_ref().map(|ring| ring.region)
    }

    /// Installs the flow, and posts the region.
    pub fn start(
        &mut self,
        commands: &mut dyn CommandQueue,
        region: &Region,
        memory: ApplicationMapping,
    ) -> Result<()> {
        let list = List::committed(self.name.flow);
        let mut side = SendSide::new(0, self.name.flow);
        for number in 0..SEGMENTS {
            side.queue.add(segment(region, number)?);
        }
        let installed = commands.command(flow_install(&FlowInstall {
            name: self.name,
            owner: self.owner,
            domain: PROVIDER_DOMAIN,
            acceptance: Acceptance::default(),
            send_floor: 0,
            lists: [(list.base, list.bits); 2],
        }));
        self.ring = Some(Ring {
            region: region.index,
            memory,
            installed,
            side,
            written: 0,
            seen: 0,
            taken: 0,
            waiting: VecDeque::new(),
            fetched: VecDeque::new(),
            broken: None,
        });
        Ok(())
    }

    /// Whether payload can be sent.
    pub fn is_ready(&self) -> bool {
        let ring = self.ring.as_ref();
        ring.is_some_and(|ring| ring.side.offered_end() > 0 && ring.broken.is_none())
    }

    /// Whether there is room for the payload of a descriptor, or none can be sent at all.
    pub fn has_room(&self) -> bool {
        !self.is_ready() || self.room_bytes() >= DESCRIPTOR_BYTES_MAX.into()
    }

    /// Slots of the send ring that the card had taken over at the last step, modulo 2^32.
    pub fn slots_seen(&self) -> u32 {
        self.ring.as_ref().map_or(0, |ring| ring.seen)
    }

    fn room_bytes(&self) -> u64 {
        let ring = self.ring.as_ref();
        ring.map_or(0, |ring| ring.side.offered_end() - ring.written)
    }

    /// The card refused a command of the flow.
    pub fn set_broken(&mut self, reason: Failure) {
        if let Some(ring) = &mut self.ring {
            ring.broken = Some(reason);
        }
    }

    /// Why it cannot be used, if it cannot.
    pub fn failure(&self) -> Option<&Failure> {
        self.ring.as_ref()?.broken.as_ref()
    }

    /// Copies the payload of one descriptor. `fill` calls its argument for each piece, in order.
    /// Returns position and list index of the first byte; `None` when there is no room for `bytes`
    /// bytes. `slots` is how far the send ring is behind the descriptor.
    pub fn copy(
        &mut self,
        (connection, bytes, slots): (ConnectionId, u32, u32),
        fill: impl FnOnce(&mut dyn FnMut(SharedBytes<'_>)) -> Result<()>,
    ) -> Result<Option<(u32, u16)>> {
        if !self.is_ready() || self.room_bytes() < bytes.into() {
            return Ok(None);
        }
        let Some(ring) = &mut self.ring else { return Ok(None) };
        let start = ring.written;
        let (memory, mut at) = (&mut ring.memory, start);
        fill(&mut |piece| {
            let mut done = 0;
            while done < piece.len() {
                let offset = (at % REGION_BYTES as u64) as usize;
                let bytes = (piece.len() - done).min(REGION_BYTES - offset);
                memory.copy(offset, piece.part(done, bytes));
                at += bytes as u64;
                done += bytes;
            }
        })?;
        ring.written = start + u64::from(bytes);
        ring.waiting.push_back(Copied { end: ring.written, slots, connection });
        let position = ring.side.queue.position(start);
        Ok(Some((position, ring.side.segment_index(position))))
    }

    /// Moves the floor and posts segments again. `taken` is how many slots of the send ring the
    /// card has taken over, modulo 2^32.
    pub fn step(
        &mut self,
        commands: &mut dyn CommandQueue,
        region: &Region,
        taken: u32,
    ) -> Result<()> {
        let (owner, name) = (self.owner, self.name);
        let Some(ring) = self.ring.as_mut().filter(|ring| ring.broken.is_none()) else {
            return Ok(());
        };
        if !commands.is_confirmed(ring.installed) {
            return Ok(());
        }
        ring.seen = taken;
        while let Some(copied) = ring.waiting.front() {
            if (taken.wrapping_sub(copied.slots) as i32) < 0 {
                break;
            }
            ring.taken = copied.end;
            ring.fetched.extend(ring.waiting.pop_front());
        }
        let side = &mut ring.side;
        let ready = side.queue.ready(|ticket| commands.is_confirmed(ticket));
        let mut left = ready;
        while let Some((segment, requests)) = side.append(left) {
            left -= requests;
            let entry = segment_post(name, Direction::Send, &segment);
            side.queue.note_appended(commands.command_of(owner, entry)?, &segment);
        }
        let mut passed = Vec::new();
        side.confirm(|ticket| commands.is_confirmed(ticket), &mut passed);
        for done in passed {
            side.queue.add(segment(region, done.request)?);
        }
        side.offer();
        let passed = ring.taken.saturating_sub(MARGIN_BYTES);
        if side.acknowledge(passed, (true, 0)) {
            let (floor, head) = side.requested_floor();
            let ticket = commands.command_of(owner, send_floor_set(name, floor, head))?;
            side.floor_asked(ticket);
        }
        // What a floor has passed for good fails no more.
        let floor = side.floor_position();
        let is_passed = |copied: &Copied| (floor.wrapping_sub(copied.end as u32) as i32) >= 0;
        while ring.fetched.front().is_some_and(is_passed) {
            ring.fetched.pop_front();
        }
        Ok(())
    }

    /// The connection of a descriptor whose payload begins at `position`, and whether the floor
    /// was asked to pass it.
    pub fn sender(&self, position: u32) -> Option<(ConnectionId, bool)> {
        let ring = self.ring.as_ref()?;
        let mut copied = ring.fetched.iter().chain(&ring.waiting);
        let is_behind = |copied: &&Copied| (copied.end as u32).wrapping_sub(position) as i32 > 0;
        let found = copied.find(is_behind)?;
        Some((found.connection, ring.side.has_passed(position)))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use abi::command;

    use super::*;
    use crate::control::regions::Regions;
    use crate::driver::bus::{DmaMemory, MemoryKind};
    use crate::memory::MemoryFile;
    use crate::records::commands::Entry;
    use crate::records::queue::QueueError;

    const ID: ConnectionId = ConnectionId(9);
    const BYTES: u32 = DESCRIPTOR_BYTES_MAX;

    /// Keeps commands, and confirms them when it is told to.
    #[derive(Default)]
    struct Commands {
        posted: RefCell<Vec<Entry>>,
        confirmed: usize,
    }

    impl CommandQueue for Commands {
        fn command(&mut self, entry: Entry) -> Ticket {
            let mut posted = self.posted.borrow_mut();
            posted.push(entry);
            Ticket::new(0, posted.len() as u64 - 1)
        }

        fn command_of(&mut self, _owner: u8, entry: Entry) -> Result<Ticket, QueueError> {
            Ok(self.command(entry))
        }

        fn is_confirmed(&self, ticket: Ticket) -> bool {
            ticket.number() < self.confirmed as u64
        }
    }

    impl Commands {
        fn confirm_all(&mut self) {
            self.confirmed = self.posted.borrow().len();
        }

        /// The floors that were asked for.
        fn floors(&self) -> Vec<u64> {
            let posted = self.posted.borrow();
            let floors = posted.iter().filter(|entry| {
                command::OPCODE.get(&entry[..]) == u64::from(command::SEND_FLOOR_SET)
            });
            floors.map(|entry| command::FLOOR.get(entry)).collect()
        }
    }

    fn start() -> (Bounce, Commands, Region, ApplicationMapping) {
        let range = MemoryFile::new(REGION_BYTES).unwrap().all().unwrap();
        let memory =
            DmaMemory { address: 1 << 40, bytes: REGION_BYTES, kind: MemoryKind::Application };
        let mut regions = Regions::new(6, 6);
        let (region, _) = regions.register(memory, PROVIDER_DOMAIN).unwrap();
        let name = FlowName { flow: 63, generation: 1 };
        let (mut bounce, mut commands) = (Bounce::new(1, name), Commands::default());
        let mapping = range.map().unwrap();
        bounce.start(&mut commands, &region, mapping).unwrap();
        for _ in 0..2 {
            commands.confirm_all();
            bounce.step(&mut commands, &region, 0).unwrap();
        }
        (bounce, commands, region, range.map().unwrap())
    }

    /// Copies as many descriptors as there is room for; each takes two slots.
    fn fill(bounce: &mut Bounce, sent: &mut u32) {
        let payload = MemoryFile::new(BYTES as usize).unwrap().all().unwrap();
        let payload = payload.map_device().unwrap();
        while bounce.has_room() {
            *sent += 1;
            payload.bytes().write(0, &vec![*sent as u8; BYTES as usize]);
            let copied = bounce.copy((ID, BYTES, 2 * *sent), |write| {
                write(payload.bytes());
                Ok(())
            });
            let (position, index) = copied.unwrap().expect("room");
            let start = u64::from(*sent - 1) * u64::from(BYTES);
            let segment = start / u64::from(SEGMENT_BYTES);
            assert_eq!((u64::from(position), u64::from(index)), (start, segment));
        }
    }

    #[test]
    fn segment_is_rewritten_behind_confirmed_floor() {
        let (mut bounce, mut commands, region, card) = start();
        assert!(bounce.is_ready());
        let mut sent = 0;
        fill(&mut bounce, &mut sent);
        assert_eq!(u64::from(sent), REGION_BYTES as u64 / u64::from(BYTES));
        let margin = (MARGIN_BYTES / u64::from(BYTES)) as u32;
        let in_segment = SEGMENT_BYTES / BYTES;
        // One descriptor less than a segment and the margin: no floor.
        let taken = 2 * (in_segment + margin);
        bounce.step(&mut commands, &region, taken - 1).unwrap();
        assert_eq!(commands.floors(), []);
        bounce.step(&mut commands, &region, taken).unwrap();
        assert_eq!(commands.floors(), [u64::from(SEGMENT_BYTES)]);
        // It is asked for, not confirmed: the card may still read.
        bounce.step(&mut commands, &region, taken).unwrap();
        assert!(!bounce.has_room());
        assert_eq!(bounce.sender(0), Some((ID, true)));
        assert_eq!(bounce.sender(SEGMENT_BYTES), Some((ID, false)));
        for _ in 0..2 {
            commands.confirm_all();
            bounce.step(&mut commands, &region, taken).unwrap();
        }
        assert!(!bounce.has_room(), "the segment is posted, not confirmed");
        commands.confirm_all();
        bounce.step(&mut commands, &region, taken).unwrap();
        let before = sent;
        fill(&mut bounce, &mut sent);
        assert_eq!(sent - before, in_segment);
        // The new bytes are where the old ones of the first segment were, and nowhere else.
        let mut found = vec![0; REGION_BYTES];
        card.read(0, &mut found);
        for (number, bytes) in (1..).zip(found.chunks(BYTES as usize)) {
            let number = if number <= in_segment { before + number } else { number };
            assert!(bytes.iter().all(|byte| *byte == number as u8), "{number}");
        }
    }

    #[test]
    fn no_copy_without_room_or_broken_flow() {
        let (mut bounce, _, _, _) = start();
        let no_call = |_: &mut dyn FnMut(SharedBytes<'_>)| panic!("there is no room");
        let too_long = REGION_BYTES as u32 + 1;
        assert!(bounce.copy((ID, too_long, 1), no_call).unwrap().is_none());
        let refused = Failure::CommandRefused { opcode: 3, status: "bad_flow" };
        bounce.set_broken(refused.clone());
        assert!(bounce.copy((ID, 1, 1), no_call).unwrap().is_none());
        assert_eq!(bounce.failure(), Some(&refused));
    }
}
