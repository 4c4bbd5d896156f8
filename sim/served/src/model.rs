//! What does the work behind the registers of a served card.
//!
//! ```text
//!   registers ─► Model ─┬─► ClientSide: memory by bus address, interrupts
//!   frames ────►        └─► frames
//! ```

use abi::config::CardConfig;
use vfio_user::client::LINE_BYTES;
use vfio_user::codec::DmaMap;
use vfio_user::description::INTERRUPT_MSIX;
use vfio_user::{Errno, RangeBytes, Session};

/// The region of the card's registers.
pub(crate) const BAR_0: u32 = 0;
/// The region of a model that whoever measures gives orders to: behind those of PCI.
pub const REGION_CONTROL: u32 = 9;
/// The order to a model with a clock: it says its cycles so far, 8 bytes, little-endian.
pub const ORDER_CYCLES: [u8; 8] = *b"cycles\0\0";

/// The client that has the card, as a model reaches it.
pub struct ClientSide<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) may_reach: bool,
}

impl ClientSide<'_> {
    /// Reads memory by bus address; whether it may, and did.
    pub fn read_memory(&mut self, address: u64, into: &mut [u8]) -> bool {
        self.may_reach && self.session.read_memory(address, into).is_ok()
    }

    /// Writes memory by bus address, the first word last; whether it may, and did.
    pub fn write_memory(&mut self, address: u64, from: &[u8]) -> bool {
        self.may_reach && self.session.write_memory(address, from).is_ok()
    }

    /// Raises an interrupt of MSI-X. A vector without an event is one that nobody waits for.
    pub fn raise(&mut self, vector: u16) {
        let _ = self.session.raise(INTERRUPT_MSIX, vector.into());
    }

    /// The bytes of the range that was mapped at an address, if they are in a file.
    pub fn range_bytes(&self, address: u64) -> Option<RangeBytes> {
        self.session.range_bytes(address)
    }
}

/// A card behind its registers. Whatever it does, it does in these calls.
pub trait Model {
    /// Sizes of its tables.
    fn config(&self) -> CardConfig;

    /// Reads a register at a byte offset of BAR 0.
    fn read_register(&mut self, offset: u32, client: &mut ClientSide<'_>) -> u32;

    /// Writes one.
    fn write_register(&mut self, offset: u32, value: u32, client: &mut ClientSide<'_>);

    /// Writes a line, 64 bytes at a multiple of them: of a card without a bus these are its words.
    fn write_line(&mut self, offset: u32, line: &[u8; LINE_BYTES], client: &mut ClientSide<'_>) {
        let (words, _) = line.as_chunks();
        for (at, word) in (offset..).step_by(4).zip(words) {
            self.write_register(at, u32::from_le_bytes(*word), client);
        }
    }

    /// A frame arrives from the wire, without its check sequence.
    fn receive(&mut self, bytes: &[u8], is_bad: bool, client: &mut ClientSide<'_>);

    /// The frames that it has sent, oldest first.
    fn take_sent(&mut self) -> Vec<Vec<u8>>;

    /// Becomes an empty card of a new epoch, without any memory to reach.
    fn start_anew(&mut self);

    /// Lets some time pass, if it has a time of its own.
    fn run(&mut self, _client: &mut ClientSide<'_>) {}

    /// Adds the states of doorbell pages that it has found since: owner, register.
    fn take_states(&mut self, _into: &mut Vec<(usize, u32)>) {}

    /// It may reach memory, or may not, from now on.
    fn set_mastering(&mut self, _is_on: bool) {}

    /// A range of the client's memory can be reached from now on.
    fn memory_mapped(&mut self, _map: &DmaMap, _client: &ClientSide<'_>) {}

    /// It cannot be reached any more.
    fn memory_unmapped(&mut self, _address: u64, _bytes: u64) {}

    /// The client has gone, and its memory and interrupts with it.
    fn client_left(&mut self) {}

    /// Bytes of [`REGION_CONTROL`]; 0: it has none.
    fn control_bytes(&self) -> u64 {
        0
    }

    /// Carries out an order of whoever measures a card, and returns what it says to it.
    fn control(&mut self, _order: &[u8], _client: &mut ClientSide<'_>) -> Result<Vec<u8>, Errno> {
        Err(Errno::INVAL)
    }
}
