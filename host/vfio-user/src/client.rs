//! Opens a device that another process serves, and uses it.
//!
//! ```text
//!   connect ──► version ──► device, regions with their descriptors
//!   read, write ──► a message and its reply        post ──► a message alone
//!   map_region  ──► pages of the device, no message at all
//!   map_memory  ──► a descriptor: the device reaches the pages by itself
//!   attach      ──► event descriptors: the device interrupts
//! ```
//! Invariants
//! 1. Posted writes and others are carried out in the order of their calls.
//! 2. An access outside a region is found here and sends nothing.
//! 3. A server that has gone is found by the next call, at the latest within the reply limit one
//!    that hangs.

mod error;
mod event;
mod link;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;

pub use self::error::ClientError;
pub use self::event::Event;
use self::link::{Link, OwnMemory, Reply};
use crate::codec::{
    Action, Area, Capabilities, Choice, CodecError, DeviceInfo, DmaMap, DmaUnmap, InterruptInfo,
    Question, RegionAccess, RegionInfo, Request, Rights, SetInterrupts, SmallWrite, Version,
    DESCRIPTORS, MAJOR, TRANSFER_BYTES,
};
use crate::mapping::Mapping;

/// Result of a client's call.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Bytes of a line, which arrives at the device as one write.
pub const LINE_BYTES: usize = 64;
/// How long a reply is waited for unless something else is said.
pub const REPLY_LIMIT: Duration = Duration::from_secs(5);
/// More regions or interrupt types than any device has: what a server may say at most.
const COUNT_MAX: u32 = 100;
/// Room for the areas of a region: what a server may say at most.
const REGION_BYTES_MAX: u32 = 1 << 16;

/// A region as the server describes it, with its descriptor.
#[derive(Debug)]
struct Region {
    info: RegionInfo,
    file: Option<OwnedFd>,
}

/// A device.
#[derive(Debug)]
pub struct Client {
    link: Link,
    server: Capabilities,
    device: DeviceInfo,
    regions: Vec<Region>,
    interrupts: Vec<InterruptInfo>,
}

impl Client {
    /// Opens the device at a socket.
    pub fn connect(socket: &Path) -> Result<Self> {
        Self::connect_within(socket, REPLY_LIMIT)
    }

    /// Opens the device at a socket; no call waits longer than `limit` for a reply.
    pub fn connect_within(socket: &Path, limit: Duration) -> Result<Self> {
        let mut link = Link::connect(socket, limit)?;
        let server = agree(&mut link)?;
        let reply = link.ask(&Request::DeviceInfo, Vec::new())?;
        let device = understand(&mut link, DeviceInfo::decode(&reply.payload))?;
        for count in [device.regions, device.interrupts] {
            let wrong = CodecError::Count { count: count.into(), limit: COUNT_MAX.into() };
            understand(&mut link, (count <= COUNT_MAX).then_some(()).ok_or(wrong))?;
        }
        let (regions, interrupts) = (Vec::new(), Vec::new());
        let mut client = Self { link, server, device, regions, interrupts };
        for index in 0..client.device.regions {
            let region = client.ask_region(index)?;
            client.regions.push(region);
        }
        for index in 0..client.device.interrupts {
            let info = client.ask_interrupts(index)?;
            client.interrupts.push(info);
        }
        Ok(client)
    }

    fn ask_region(&mut self, index: u32) -> Result<Region> {
        let mut argsz = 0;
        loop {
            let request = Request::RegionInfo(Question { argsz, index });
            let reply = self.link.ask(&request, Vec::new())?;
            let (info, needed) = self.understand(RegionInfo::decode(&reply.payload))?;
            let bytes = reply.payload.len();
            if needed as usize > bytes {
                let short = CodecError::TooShort { bytes, needed: needed as usize };
                let is_new = needed > argsz && needed <= REGION_BYTES_MAX;
                self.understand(is_new.then_some(()).ok_or(short))?;
                argsz = needed;
                continue;
            }
            let file = reply.descriptors.into_iter().next();
            return Ok(Region { info, file });
        }
    }

    fn ask_interrupts(&mut self, index: u32) -> Result<InterruptInfo> {
        let request = Request::InterruptInfo(Question { argsz: 0, index });
        let reply = self.link.ask(&request, Vec::new())?;
        self.understand(InterruptInfo::decode(&reply.payload))
    }

    /// What the device is.
    pub fn device(&self) -> &DeviceInfo {
        &self.device
    }

    /// Length of a region; 0: there is none of that index.
    pub fn region_bytes(&self, index: u32) -> u64 {
        self.regions.get(index as usize).map_or(0, |region| region.info.bytes)
    }

    /// The parts of a region that can be mapped.
    pub fn mappable(&self, index: u32) -> Vec<Area> {
        let region = self.regions.get(index as usize);
        match region.filter(|region| region.file.is_some() && region.info.file_offset.is_some()) {
            None => Vec::new(),
            Some(region) if region.info.areas.is_empty() => {
                vec![Area { offset: 0, bytes: region.info.bytes }]
            }
            Some(region) => region.info.areas.clone(),
        }
    }

    /// How many interrupts there are of a type.
    pub fn interrupt_count(&self, index: u32) -> u32 {
        self.interrupts.get(index as usize).map_or(0, |info| info.count)
    }

    /// Whether several writes go in one message.
    pub fn writes_many(&self) -> bool {
        self.server.writes_many
    }

    /// Reads a region.
    pub fn read(&mut self, region: u32, offset: u64, into: &mut [u8]) -> Result<()> {
        self.check(region, offset, into.len() as u64)?;
        let mut offset = offset;
        for part in into.chunks_mut(self.transfer_bytes()) {
            let access = RegionAccess { offset, region, count: part.len() as u32 };
            let reply = self.link.ask(&Request::RegionRead(access), Vec::new())?;
            let (of, data) = self.understand(RegionAccess::decode_data(&reply.payload))?;
            self.check_echo(access, of)?;
            part.copy_from_slice(data);
            offset += part.len() as u64;
        }
        Ok(())
    }

    /// Writes a region, and returns when the device has taken it.
    pub fn write(&mut self, region: u32, offset: u64, from: &[u8]) -> Result<()> {
        self.check(region, offset, from.len() as u64)?;
        let mut offset = offset;
        for part in from.chunks(self.transfer_bytes()) {
            let access = RegionAccess { offset, region, count: part.len() as u32 };
            let reply = self.link.ask(&Request::RegionWrite(access, part), Vec::new())?;
            let of = self.understand(RegionAccess::decode(&reply.payload))?;
            self.check_echo(access, of)?;
            offset += part.len() as u64;
        }
        Ok(())
    }

    /// Writes a region, without waiting until the device has taken it. Nobody is told if it is
    /// refused, as on a bus.
    pub fn post(&mut self, region: u32, offset: u64, from: &[u8]) -> Result<()> {
        self.check(region, offset, from.len() as u64)?;
        let mut offset = offset;
        for part in from.chunks(self.transfer_bytes()) {
            let access = RegionAccess { offset, region, count: part.len() as u32 };
            self.link.post(&Request::RegionWrite(access, part))?;
            offset += part.len() as u64;
        }
        Ok(())
    }

    /// Posts 64 bytes, which arrive at the device as one write.
    pub fn post_line(&mut self, region: u32, offset: u64, line: &[u8; LINE_BYTES]) -> Result<()> {
        self.check(region, offset, LINE_BYTES as u64)?;
        let access = RegionAccess { offset, region, count: LINE_BYTES as u32 };
        self.link.post(&Request::RegionWrite(access, line))
    }

    /// Posts several writes in one message, or in one each where the server does not take that.
    pub fn post_many(&mut self, writes: &[SmallWrite]) -> Result<()> {
        for write in writes {
            let access = &write.access;
            self.check(access.region, access.offset, access.count.into())?;
        }
        if self.server.writes_many {
            return self.link.post(&Request::WriteMany(writes.to_vec()));
        }
        for write in writes {
            self.link.post(&Request::RegionWrite(write.access, write.bytes()))?;
        }
        Ok(())
    }

    /// Maps a part of a region, whole pages from a page on: accesses to it are stores and loads, of
    /// which the server is told nothing. They are in no order with messages, posted writes among
    /// them. After the server has gone they still succeed: see [`Client::serve`].
    pub fn map_region(&self, region: u32, offset: u64, bytes: u64) -> Result<Mapping> {
        self.check(region, offset, bytes)?;
        let inside = |area: &Area| {
            let first = offset.checked_sub(area.offset);
            first.is_some_and(|first| first.saturating_add(bytes) <= area.bytes)
        };
        let mappable = self.mappable(region).iter().any(inside);
        let found = self.regions.get(region as usize).filter(|_| mappable);
        let place = found.and_then(|it| Some((it.file.as_ref()?, it.info.file_offset?)));
        let (file, start) = place.ok_or(ClientError::NotMappable { region, offset, bytes })?;
        let failed = |error| ClientError::System { what: "mapping a region", error };
        let start = start.checked_add(offset).ok_or(failed(Errno::OVERFLOW))?;
        let bytes = usize::try_from(bytes).map_err(|_| failed(Errno::OVERFLOW))?;
        Mapping::new(file.as_fd(), start, bytes, true).map_err(failed)
    }

    /// Lets the device reach pages of a file, from `offset` on, at a bus address.
    pub fn map_memory(
        &mut self,
        address: u64,
        bytes: u64,
        file: BorrowedFd<'_>,
        offset: u64,
        rights: Rights,
    ) -> Result<()> {
        let file = duplicate(file)?;
        let map = DmaMap { rights, offset, address, bytes };
        let reply = self.link.ask(&Request::DmaMap(map), vec![file])?;
        self.expect_empty(&reply)
    }

    /// Lets the device reach memory that is kept here, full of zeros at first: it asks for each
    /// access, and is answered while this side waits for a reply, or calls [`Client::serve`].
    pub fn keep_memory(&mut self, address: u64, bytes: usize, rights: Rights) -> Result<()> {
        let map = DmaMap { rights, offset: 0, address, bytes: bytes as u64 };
        // The device may ask for it before it has replied. What is there already stays.
        let is_new = !self.link.memory.contains_key(&address);
        if is_new {
            self.link.memory.insert(address, OwnMemory { bytes: vec![0; bytes], rights });
        }
        let reply = self.link.ask(&Request::DmaMap(map), Vec::new());
        let result = reply.and_then(|reply| self.expect_empty(&reply));
        if result.is_err() && is_new {
            self.link.memory.remove(&address);
        }
        result
    }

    /// Memory that is kept here, by the address with which it was mapped.
    pub fn kept_memory(&mut self, address: u64) -> Option<&mut [u8]> {
        self.link.memory.get_mut(&address).map(|memory| &mut memory.bytes[..])
    }

    /// Takes memory from the device, by the address and length with which it was mapped.
    pub fn unmap_memory(&mut self, address: u64, bytes: u64) -> Result<()> {
        let unmap = DmaUnmap::Range { address, bytes };
        let reply = self.link.ask(&Request::DmaUnmap(unmap), Vec::new())?;
        let removed = self.understand(DmaUnmap::decode(&reply.payload))?;
        if removed != unmap {
            return Err(ClientError::NotMapped { address, bytes });
        }
        self.link.memory.remove(&address);
        Ok(())
    }

    /// Gives interrupts of a type, from `start` on, their events: what is raised is told by these.
    pub fn attach(&mut self, index: u32, start: u32, events: &[BorrowedFd<'_>]) -> Result<()> {
        let at_once = (self.server.descriptors.clamp(1, DESCRIPTORS as u64)) as usize;
        let mut start = start;
        for part in events.chunks(at_once) {
            let descriptors: Result<Vec<_>> = part.iter().map(|it| duplicate(*it)).collect();
            let count = part.len() as u32;
            let (action, choice) = (Action::Trigger, Choice::Events);
            self.set_interrupts(
                SetInterrupts { index, start, count, action, choice },
                descriptors?,
            )?;
            start += count;
        }
        Ok(())
    }

    /// Takes all events of a type away, and switches it off.
    pub fn detach(&mut self, index: u32) -> Result<()> {
        let (action, choice) = (Action::Trigger, Choice::All);
        let order = SetInterrupts { index, start: 0, count: 0, action, choice };
        self.set_interrupts(order, Vec::new())
    }

    /// Holds an interrupt back, lets it go, or raises it as if the device had.
    pub fn act(&mut self, index: u32, vector: u32, action: Action) -> Result<()> {
        let choice = Choice::All;
        let order = SetInterrupts { index, start: vector, count: 1, action, choice };
        self.set_interrupts(order, Vec::new())
    }

    fn set_interrupts(&mut self, order: SetInterrupts, events: Vec<OwnedFd>) -> Result<()> {
        let reply = self.link.ask(&Request::SetInterrupts(order), events)?;
        self.expect_empty(&reply)
    }

    /// Resets the device.
    pub fn reset(&mut self) -> Result<()> {
        let reply = self.link.ask(&Request::Reset, Vec::new())?;
        self.expect_empty(&reply)
    }

    /// Answers what the server asks for, and finds out whether it is still there. To be called when
    /// the descriptor is readable, and by whoever looks at mapped pages alone once in a while.
    pub fn serve(&mut self) -> Result<()> {
        self.link.serve()
    }

    fn check(&self, region: u32, offset: u64, bytes: u64) -> Result<()> {
        let region_bytes = self.region_bytes(region);
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= region_bytes);
        let outside = ClientError::Outside { region, offset, bytes, region_bytes };
        is_inside.then_some(()).ok_or(outside)
    }

    fn check_echo(&mut self, sent: RegionAccess, of: RegionAccess) -> Result<()> {
        let (count, limit) = (of.count.into(), sent.count.into());
        let wrong = CodecError::Count { count, limit };
        self.understand((sent == of).then_some(()).ok_or(wrong))
    }

    fn expect_empty(&mut self, reply: &Reply) -> Result<()> {
        let bytes = reply.payload.len();
        let wrong = CodecError::TooLong { bytes, needed: 0 };
        self.understand((bytes == 0).then_some(()).ok_or(wrong))
    }

    fn understand<T>(&mut self, result: std::result::Result<T, CodecError>) -> Result<T> {
        understand(&mut self.link, result)
    }

    fn transfer_bytes(&self) -> usize {
        self.server.transfer_bytes.clamp(1, TRANSFER_BYTES) as usize
    }
}

impl AsFd for Client {
    /// Readable when [`Client::serve`] has something to do, or the server has gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// A reply that breaks the protocol ends the connection.
fn understand<T>(link: &mut Link, result: std::result::Result<T, CodecError>) -> Result<T> {
    result.map_err(|error| link.nonsense(error))
}

/// Agrees on a version, and returns what the server can take.
fn agree(link: &mut Link) -> Result<Capabilities> {
    let socket = link.socket();
    let reply = link.ask(&Request::Version(Version::own()), Vec::new());
    let reply = reply.map_err(|error| match error {
        ClientError::Refused { error: Errno::BUSY, .. } => ClientError::Busy(socket.clone()),
        ClientError::Refused { error, .. } => {
            ClientError::VersionRefused { socket: socket.clone(), error }
        }
        other => other,
    })?;
    let version = understand(link, Version::decode(&reply.payload))?;
    let (major, minor) = (version.major, version.minor);
    if major != MAJOR || minor > Version::own().minor {
        return Err(ClientError::OtherVersion { socket, major, minor });
    }
    Ok(version.capabilities)
}

fn duplicate(file: BorrowedFd<'_>) -> Result<OwnedFd> {
    let copy = rustix::io::fcntl_dupfd_cloexec(file, 0);
    copy.map_err(|error| ClientError::System { what: "passing a descriptor", error })
}
