//! A machine whose card is driven by hand: commands, descriptors, header entries, no transport.
//!
//! ```text
//!   test ── commands, descriptors ──► Device ── Bus ── card ◄── frames ── test
//!        ◄─ header entries, memory ──                       ──► frames
//! ```

use host::control::placement::KeyTable;
use host::control::regions::{Region, Regions};
use host::driver::bus::{Bus, BusError, DmaMemory};
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::rings::HeaderEntry;
use host::error::HostError;
use host::memory::ApplicationMapping;
use host::records::commands::Entry;
use host::records::ticket::{RefusedCommand, Ticket};

use super::{CardModel, Machine};
use crate::time::ADVANCE_CYCLES;

/// Rounds within which a command is confirmed.
const CONFIRM_ROUNDS_MAX: u64 = 50_000;

/// The driver, and the tables that a control stack would keep beside it.
pub struct Driver<B: Bus> {
    /// Rings, doorbells and registers.
    pub device: Device<B>,
    /// Regions as the host placed them.
    pub regions: Regions,
    /// Keys of flows as the host placed them.
    pub keys: KeyTable,
    /// Cycles of the card between two looks while a command is under way.
    pub look_cycles: u64,
}

/// Why a machine does not go on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The control stack failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The card does not confirm a command.
    #[error("command {ticket} is not confirmed after {cycles} cycles: look at the ring's state")]
    Unconfirmed {
        /// Its number.
        ticket: u64,
        /// Cycles waited for it.
        cycles: u64,
    },
}

impl From<BusError> for MachineError {
    fn from(error: BusError) -> Self {
        Self::Driver(error.into())
    }
}

impl<B: Bus> Driver<B> {
    /// Opens the card on `bus`.
    pub fn open(bus: B, config: DeviceConfig) -> Result<Self, DriverError> {
        let device = Device::open(bus, config)?;
        let sizes = device.sizes();
        Ok(Self {
            regions: Regions::new(sizes.region_bits, sizes.page_bits),
            keys: KeyTable::new(*device.secrets(), sizes.bucket_bits),
            device,
            look_cycles: ADVANCE_CYCLES,
        })
    }

    /// The application's view of its memory.
    pub fn map(&mut self, memory: &DmaMemory) -> Result<ApplicationMapping, MachineError> {
        let range = self.device.bus().share(memory)?;
        range.map().map_err(|error| BusError::from(error).into())
    }

    /// Takes the header entries that have come, and returns their slots to the card.
    pub fn take_entries(&mut self) -> Result<Vec<HeaderEntry>, DriverError> {
        let mut entries = Vec::new();
        let mut entry = HeaderEntry::default();
        while self.device.next_header(&mut entry)? {
            entries.push(entry.clone());
        }
        self.device.return_headers()?;
        Ok(entries)
    }
}

impl<B: Bus, C: CardModel> Machine<Driver<B>, C> {
    /// Opens a card by its driver.
    pub fn driven(bus: B, card: C, config: DeviceConfig) -> Result<Self, DriverError> {
        Ok(Self { host: Driver::open(bus, config)?, card, peer: (), clock: None })
    }

    /// Lets time pass, and the driver look.
    pub fn run(&mut self, cycles: u64) -> Result<(), DriverError> {
        self.card.run(cycles);
        self.host.device.poll()?;
        Ok(())
    }

    /// Waits until a command is confirmed.
    pub fn confirm(&mut self, ticket: Ticket) -> Result<(), MachineError> {
        let cycles = self.host.look_cycles;
        self.host.device.poll()?;
        for _ in 0..CONFIRM_ROUNDS_MAX {
            if self.host.device.is_confirmed(ticket) {
                return Ok(());
            }
            self.run(cycles)?;
        }
        let cycles = CONFIRM_ROUNDS_MAX * cycles;
        Err(MachineError::Unconfirmed { ticket: ticket.0, cycles })
    }

    /// Gives commands of owner 0 to the card and waits for the last; returns those that were
    /// refused since this was asked last.
    pub fn command(
        &mut self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Vec<RefusedCommand>, MachineError> {
        let device = &mut self.host.device;
        let last = entries.into_iter().map(|entry| device.command(entry)).last();
        if let Some(last) = last {
            self.confirm(last)?;
        }
        Ok(std::iter::from_fn(|| self.host.device.take_refused()).collect())
    }

    /// Registers memory in a protection domain; returns the refused commands with the region.
    pub fn register(
        &mut self,
        memory: DmaMemory,
        domain: u16,
    ) -> Result<(Region, Vec<RefusedCommand>), MachineError> {
        let (region, commands) = self.host.regions.register(memory, domain)?;
        Ok((region, self.command(commands)?))
    }
}

#[cfg(test)]
mod tests {
    use abi::config::{COMMAND_BYTES, SMALL};
    use abi::reason::CommandStatus;
    use host::driver::bus::MemoryKind;
    use host::records::commands::{flow_remove, FlowName};

    use super::*;
    use crate::golden_card::{GoldenBus, GoldenCard, Withheld};

    #[test]
    fn refused_commands_are_returned() {
        let card = GoldenCard::late(SMALL, 1);
        let config = DeviceConfig::with_seed(1);
        let machine = Machine::driven(GoldenBus::new(card.clone()), card, config);
        let mut machine = machine.expect("it opens");
        let memory = machine.host.device.bus().allocate(MemoryKind::Application, 4096, 4096);
        let (region, refused) = machine.register(memory.expect("room"), 0).expect("it goes on");
        assert_eq!((region.index, refused), (0, Vec::new()));
        let nobody = flow_remove(FlowName { flow: 3, generation: 1 });
        let refused = machine.command([[0; COMMAND_BYTES], nobody]).expect("it goes on");
        let statuses = Vec::from_iter(refused.iter().map(|command| (command.flow, command.status)));
        assert_eq!(statuses, [(3, CommandStatus::BadFlow)]);
    }

    #[test]
    fn missing_confirmation_is_an_error() {
        let card = GoldenCard::late(SMALL, 1);
        let config = DeviceConfig::with_seed(1);
        let machine = Machine::driven(GoldenBus::new(card.clone()), card.clone(), config);
        let mut machine = machine.expect("it opens");
        card.borrow_mut().withhold(Some(Withheld::Commands));
        let error = machine.command([[0; COMMAND_BYTES]]).expect_err("nothing confirms it");
        assert!(matches!(error, MachineError::Unconfirmed { cycles: 12_500_000, .. }), "{error}");
    }
}
