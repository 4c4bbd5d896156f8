//! The golden card as a device that another process opens.
//!
//! ```text
//!   socket ─► vfio_user::Server ─► ServedCard ─┬─ configuration space
//!                                              ├─ board window: MAC, clocks, pins ─► wire: up?
//!                                              ├─ registers ─► golden device ─► DMA, interrupts
//!   pages ──► doorbells that the client stores ─┘                 │
//!                         frames in, frames out ──────────────────┘
//! ```
//! The card takes no time: it has done everything when a call returns. When its client is not
//! there, frames are lost, as those of a card that nobody has enabled. They are lost as well while
//! the MAC's link is down, without a count or an event: the golden device knows a wire that is up.
//!
//! Invariants
//! 1. The golden device reaches the client's memory by bus addresses that the client has mapped,
//!    and by no other.
//! 2. A client that has gone leaves an empty card of a new epoch.
#![forbid(unsafe_code)]

mod doorbells;
mod wire;

use std::path::Path;
use std::time::Duration;

use abi::config::CardConfig;
use abi::pci_ids as ids;
use abi::registers as r;
use golden::device::{GoldenDevice, Memory};
use golden::interrupts::Interrupts;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use thiserror::Error;
use vfio_user::description::{INTERRUPT_MSIX, REGION_CONFIG};
use vfio_user::pci::{Bar, ConfigError, ConfigSpace, Identity, Link, Msix, CONFIG_BYTES};
pub use vfio_user::Served;
use vfio_user::{Description, Device, Errno, Region, Server, ServerError, Session};

use crate::doorbells::Doorbells;
use crate::wire::ServedWire;

const BAR_0: u32 = 0;

/// Why a card cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The configuration space contradicts itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No memory for doorbell pages.
    #[error("no memory for doorbell pages: {0}")]
    Doorbells(Errno),
}

/// A card and its socket.
pub struct ServedCard {
    server: Server,
    card: Card,
}

/// What the server calls.
struct Card {
    owner_bits: usize,
    space: ConfigSpace,
    device: GoldenDevice,
    wire: ServedWire,
    interrupts: Interrupts,
    /// Pages that the client maps, if it does.
    doorbells: Option<Doorbells>,
    /// What was stored there at a look.
    stored: Vec<(u32, u32)>,
}

/// Memory of the client, by bus address.
struct ClientMemory<'a> {
    session: &'a mut Session,
    interrupts: &'a mut Interrupts,
    may_reach: bool,
}

impl Memory for ClientMemory<'_> {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut into = vec![0; bytes];
        let is_read = self.may_reach && self.session.read_memory(address, &mut into).is_ok();
        is_read.then_some(into)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let is_written = self.may_reach && self.session.write_memory(address, bytes).is_ok();
        if is_written {
            self.interrupts.note_write(address, bytes);
        }
        is_written
    }
}

impl Card {
    fn new(config: CardConfig) -> Result<Self, ConfigError> {
        let identity = Identity {
            vendor: ids::VENDOR_ID,
            device: ids::DEVICE_ID,
            subsystem_vendor: ids::SUBSYSTEM_VENDOR_ID,
            subsystem: ids::SUBSYSTEM_ID,
            revision: ids::REVISION_ID,
            class: ids::CLASS_CODE,
            serial: None,
        };
        let bytes = r::BAR_BYTES as u64;
        let bar = Bar { index: 0, bytes, is_64_bit: true, is_prefetchable: true };
        let link = Link { generation: 3, lanes: 16, payload: 1 };
        let msix = Msix {
            vectors: 1 << config.owner_bits,
            bar: 0,
            table: r::MSIX_TABLE,
            pending: r::MSIX_PENDING,
        };
        Ok(Self {
            space: ConfigSpace::new(&identity, &[bar], link, Some(msix))?,
            device: GoldenDevice::new(config),
            wire: ServedWire::new(config.name),
            interrupts: Interrupts::new(1 << config.owner_bits),
            owner_bits: config.owner_bits,
            doorbells: None,
            stored: Vec::new(),
        })
    }

    fn owners(&self) -> usize {
        1 << self.owner_bits
    }

    /// Reads a register.
    fn read_register(&mut self, offset: u32) -> u32 {
        match offset {
            r::STATUS => self.wire.status(self.device.read_register(offset)),
            offset if ServedWire::has(offset) => self.wire.read(offset),
            offset => self.device.read_register(offset),
        }
    }

    /// Carries out a register write.
    fn write_register(&mut self, offset: u32, value: u32, session: &mut Session) {
        if ServedWire::has(offset) {
            self.wire.write(offset, value);
            return;
        }
        self.interrupts.note_register(offset, value);
        self.act(session, |device, memory| device.write_register(offset, value, memory));
        let Some(doorbells) = &mut self.doorbells else { return };
        doorbells.note_register(offset, value);
        if let Some(at) = offset.checked_sub(r::DOORBELLS) {
            let owner = at / r::DOORBELL_STRIDE;
            if owner < 1 << self.owner_bits {
                let status = r::DOORBELLS + owner * r::DOORBELL_STRIDE + r::DOORBELL_STATUS;
                doorbells.set_status(owner as usize, self.device.read_register(status));
            }
        }
    }

    /// Carries out what the client has stored in doorbell pages; whether there was anything.
    fn look(&mut self, session: &mut Session) -> bool {
        let Some(doorbells) = &mut self.doorbells else { return false };
        let mut stored = std::mem::take(&mut self.stored);
        doorbells.look(&mut stored);
        let any = !stored.is_empty();
        for (offset, value) in stored.drain(..) {
            self.write_register(offset, value, session);
        }
        self.stored = stored;
        any
    }

    /// Calls the device, and raises what it has to say.
    fn act(&mut self, session: &mut Session, act: impl FnOnce(&mut GoldenDevice, &mut dyn Memory)) {
        let may_reach = self.space.has_bus_mastering();
        let interrupts = &mut self.interrupts;
        let mut memory = ClientMemory { session, interrupts, may_reach };
        act(&mut self.device, &mut memory);
        self.wire.loop_sent(&mut self.device, &mut memory);
        self.raise(session);
    }

    fn raise(&mut self, session: &mut Session) {
        while let Some(vector) = self.interrupts.take_next() {
            // A vector without an event is one that nobody waits for.
            let _ = session.raise(INTERRUPT_MSIX, vector.into());
        }
    }

    /// An empty card of a new epoch.
    fn start_anew(&mut self) {
        // It reaches no memory for that.
        self.device.write_register(r::CONTROL, r::CONTROL_RESET, &mut NoMemory);
        self.interrupts = Interrupts::new(self.owners());
        if let Some(doorbells) = &mut self.doorbells {
            doorbells.clear();
        }
        self.space.reset();
    }
}

/// Memory of nobody.
struct NoMemory;

impl Memory for NoMemory {
    fn read(&mut self, _address: u64, _bytes: usize) -> Option<Vec<u8>> {
        None
    }

    fn write(&mut self, _address: u64, _bytes: &[u8]) -> bool {
        false
    }
}

impl Device for Card {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        self.look(client);
        if region == REGION_CONFIG {
            self.space.read(offset, into);
            return Ok(());
        }
        // As the card answers: whole dwords.
        if region != BAR_0 || !offset.is_multiple_of(4) || !into.len().is_multiple_of(4) {
            return Err(Errno::INVAL);
        }
        for (at, word) in into.chunks_exact_mut(4).enumerate() {
            let value = self.read_register(offset as u32 + 4 * at as u32);
            word.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    fn write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        self.look(client);
        if region == REGION_CONFIG {
            let effects = self.space.write(offset, from);
            if effects.function_reset {
                self.start_anew();
            }
            return Ok(());
        }
        if region != BAR_0 || !offset.is_multiple_of(4) || !from.len().is_multiple_of(4) {
            return Err(Errno::INVAL);
        }
        for (at, word) in from.chunks_exact(4).enumerate() {
            let offset = offset as u32 + 4 * at as u32;
            let value = word.try_into().map_or(0, u32::from_le_bytes);
            self.write_register(offset, value, client);
        }
        Ok(())
    }

    fn reset(&mut self, client: &mut Session) -> Result<(), Errno> {
        self.start_anew();
        client.clear_pending();
        Ok(())
    }

    fn client_left(&mut self) {
        self.start_anew();
    }
}

impl ServedCard {
    /// Serves a card of a configuration at a socket, all registers by messages.
    pub fn bind(socket: &Path, config: CardConfig) -> Result<Self, ServeError> {
        let mut description = Description::pci(CONFIG_BYTES, 1 << config.owner_bits);
        description.regions[BAR_0 as usize] = Region::by_messages(r::BAR_BYTES as u64);
        let card = Card::new(config)?;
        Ok(Self { server: Server::bind(socket, description)?, card })
    }

    /// The same with doorbell pages that clients map: [`ServedCard::look`] must be called all the
    /// time.
    pub fn bind_mapped(socket: &Path, config: CardConfig) -> Result<Self, ServeError> {
        let mut card = Self::bind(socket, config)?;
        card.renew_doorbells()?;
        Ok(card)
    }

    fn renew_doorbells(&mut self) -> Result<(), ServeError> {
        let (doorbells, pages) =
            Doorbells::new(self.card.owners()).map_err(ServeError::Doorbells)?;
        self.card.doorbells = Some(doorbells);
        self.server.set_shared(BAR_0, Some(pages));
        Ok(())
    }

    /// Handles what the client has sent.
    pub fn serve(&mut self) -> Result<Served, ServeError> {
        let served = self.server.serve(&mut self.card)?;
        if served.left.is_some() && self.card.doorbells.is_some() {
            // One that has come in the same call has not asked for the pages yet.
            self.renew_doorbells()?;
        }
        Ok(served)
    }

    /// Looks at the doorbell pages; whether the client has rung.
    pub fn look(&mut self) -> bool {
        let session = self.server.session();
        session.is_some_and(|session| self.card.look(session))
    }

    /// Whether doorbells are rung without a message: nobody wakes who sleeps.
    pub fn has_mapped_doorbells(&self) -> bool {
        self.card.doorbells.is_some()
    }

    /// A frame arrives from the wire, without its check sequence. Without a client it is lost.
    pub fn receive(&mut self, bytes: &[u8], is_bad: bool) {
        if !self.card.wire.is_open() {
            return;
        }
        if let Some(session) = self.server.session() {
            self.card.act(session, |device, memory| device.receive(bytes, is_bad, memory));
        }
    }

    /// Whether a client has the card.
    pub fn has_client(&mut self) -> bool {
        self.server.session().is_some()
    }

    /// The frames that the card has sent, oldest first.
    pub fn take_sent(&mut self) -> Vec<Vec<u8>> {
        let sent = self.card.device.sent.drain(..);
        if self.card.wire.is_open() {
            return sent.collect();
        }
        Vec::new()
    }

    /// Sleeps until [`ServedCard::serve`] has something to do, or the time is over.
    pub fn wait(&self, limit: Duration) -> Result<(), Errno> {
        let mut sources = [PollFd::new(&self.server, PollFlags::IN)];
        let limit = Timespec::try_from(limit).map_err(|_| Errno::INVAL)?;
        match poll(&mut sources, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
