//! A card as the server calls it: configuration space, doorbell pages, and the model behind.

use abi::pci_ids as ids;
use abi::registers as r;
use vfio_user::client::LINE_BYTES;
use vfio_user::codec::DmaMap;
use vfio_user::description::REGION_CONFIG;
use vfio_user::pci::{Bar, ConfigError, ConfigSpace, Identity, Link, Msix};
use vfio_user::{Device, Errno, Session};

use crate::doorbells::Doorbells;
use crate::model::{ClientSide, Model, BAR_0, REGION_CONTROL};

/// What the server calls.
pub struct Card<M> {
    space: ConfigSpace,
    pub model: M,
    /// Pages that the client maps, if it does.
    pub doorbells: Option<Doorbells>,
    /// What was stored there at a look.
    stored: Vec<(u32, u32)>,
    /// States of the pages that are new.
    states: Vec<(usize, u32)>,
    /// What the model says to the last order.
    said: Vec<u8>,
}

impl<M: Model> Card<M> {
    pub fn new(model: M) -> Result<Self, ConfigError> {
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
            vectors: 1 << model.config().owner_bits,
            bar: 0,
            table: r::MSIX_TABLE,
            pending: r::MSIX_PENDING,
        };
        Ok(Self {
            space: ConfigSpace::new(&identity, &[bar], link, Some(msix))?,
            model,
            doorbells: None,
            stored: Vec::new(),
            states: Vec::new(),
            said: Vec::new(),
        })
    }

    pub fn owners(&self) -> usize {
        1 << self.model.config().owner_bits
    }

    /// Has the model do something with its client.
    pub fn act<T>(
        &mut self,
        session: &mut Session,
        act: impl FnOnce(&mut M, &mut ClientSide<'_>) -> T,
    ) -> T {
        let may_reach = self.space.has_bus_mastering();
        let done = act(&mut self.model, &mut ClientSide { session, may_reach });
        if let Some(doorbells) = &mut self.doorbells {
            self.model.take_states(&mut self.states);
            for (owner, state) in self.states.drain(..) {
                doorbells.set_status(owner, state);
            }
        }
        done
    }

    /// Carries out a register write.
    fn write_register(&mut self, offset: u32, value: u32, session: &mut Session) {
        // Before: the state of a page that this write brings is that of the new rings.
        if let Some(doorbells) = &mut self.doorbells {
            doorbells.note_register(offset, value);
        }
        self.act(session, |model, client| model.write_register(offset, value, client));
    }

    /// Carries out what the client has stored in doorbell pages; whether there was anything.
    pub fn look(&mut self, session: &mut Session) -> bool {
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

    /// An empty card of a new epoch.
    fn start_anew(&mut self) {
        self.model.start_anew();
        if let Some(doorbells) = &mut self.doorbells {
            doorbells.clear();
        }
        self.space.reset();
        self.model.set_mastering(false);
    }

    fn write_words(&mut self, offset: u32, from: &[u8], session: &mut Session) {
        if let (Ok(line), 0) = (from.try_into(), offset as usize % LINE_BYTES) {
            self.act(session, |model, client| model.write_line(offset, line, client));
            return;
        }
        for (at, word) in from.chunks_exact(4).enumerate() {
            let value = word.try_into().map_or(0, u32::from_le_bytes);
            self.write_register(offset + 4 * at as u32, value, session);
        }
    }

    fn read_words(&mut self, offset: u32, into: &mut [u8], session: &mut Session) {
        for (at, word) in into.chunks_exact_mut(4).enumerate() {
            let offset = offset + 4 * at as u32;
            let value = self.act(session, |model, client| model.read_register(offset, client));
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// Whether an access is as the card takes it: whole dwords.
fn is_words(offset: u64, bytes: usize) -> bool {
    offset.is_multiple_of(4) && bytes.is_multiple_of(4)
}

impl<M: Model> Device for Card<M> {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        self.look(client);
        match region {
            REGION_CONFIG => self.space.read(offset, into),
            REGION_CONTROL => {
                let from = self.said.get(offset as usize..).unwrap_or_default();
                let bytes = from.len().min(into.len());
                into[..bytes].copy_from_slice(&from[..bytes]);
            }
            BAR_0 if is_words(offset, into.len()) => self.read_words(offset as u32, into, client),
            _ => return Err(Errno::INVAL),
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
        match region {
            REGION_CONFIG => {
                let effects = self.space.write(offset, from);
                if effects.function_reset {
                    self.start_anew();
                }
                self.model.set_mastering(self.space.has_bus_mastering());
            }
            REGION_CONTROL => {
                self.said = self.act(client, |model, client| model.control(from, client))?;
            }
            BAR_0 if is_words(offset, from.len()) => self.write_words(offset as u32, from, client),
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    fn reset(&mut self, client: &mut Session) -> Result<(), Errno> {
        self.start_anew();
        client.clear_pending();
        Ok(())
    }

    fn memory_mapped(&mut self, map: &DmaMap, client: &mut Session) {
        self.act(client, |model, client| model.memory_mapped(map, client));
    }

    fn memory_unmapped(&mut self, address: u64, bytes: u64) {
        self.model.memory_unmapped(address, bytes);
    }

    fn client_left(&mut self) {
        self.model.client_left();
        self.start_anew();
    }
}
