//! A card with its driver, set up as asked.
//!
//! ```text
//!   setup ──► Rig: regions filled with guard bytes, flows installed, segments posted
//!   frames ──► wire ──► card ──► header entries, application memory
//! ```

use std::ops::Range;

use abi::command;
use abi::config::SEGMENTS_COMMITTED_BITS;
use abi::reason::{Disposition, DropReason};
use anyhow::{Context, Result};
use host::control::regions::Region;
use host::driver::bus::{Bus, BusError, DmaMemory};
use host::driver::device::{DeviceConfig, COALESCE_TIME_MAX};
use host::driver::error::DriverError;
use host::driver::rings::HeaderEntry;
use host::error::table::TableError;
use host::error::HostError;
use host::headers::packet::flow_key;
use host::memory::ApplicationMapping;
use host::records::commands::{
    floor_set, flow_install, segment_post, Acceptance, Direction, Entry, FlowInstall, FlowName,
    Segment,
};
use lab::machine::{CardModel, Driver, Machine, MachineError};

use super::setup::{FlowSetup, RegionSetup, ReplaySetup};
use crate::shared::bus;
use crate::shared::failure::CardFault;
use crate::shared::options::UsageError;

/// Rounds without progress after which the card counts as stuck.
pub const ROUNDS_MAX: u32 = 4000;

/// Guard bytes that are written at a time.
const GUARD_BYTES: usize = 1 << 20;

/// The flow of a setup on the card.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its name on the card.
    pub name: FlowName,
    /// Sequence number of position 0.
    pub base: u32,
    /// Ranges that software accepts now.
    pub acceptance: Acceptance,
}

/// A card with its driver, and the regions and flows of a setup.
pub struct Rig<B: Bus, C: CardModel> {
    /// The driver and the card.
    pub machine: Machine<Driver<B>, C>,
    /// The regions of the setup.
    pub regions: Vec<Region>,
    /// The application's views of them.
    mappings: Vec<ApplicationMapping>,
    /// The flows of the setup.
    pub flows: Vec<Installed>,
    pool_next: u32,
    /// The card sums received packets up.
    pub coalesces: bool,
}

/// Sums of the card's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Packets with a header entry.
    pub entries: u64,
    /// Frames that were dropped.
    pub drops: u64,
}

impl<B: Bus, C: CardModel> Rig<B, C> {
    /// Opens the card and registers the regions. One that sums packets up has time for it: a frame
    /// takes some rounds of the host.
    pub fn open(bus: B, card: C, setup: &ReplaySetup, coalesces: bool) -> Result<Self> {
        let coalesce = coalesces.then_some(COALESCE_TIME_MAX);
        let config = DeviceConfig { coalesce, ..DeviceConfig::with_seed(1) };
        let mut machine = Machine::driven(bus, card, config).map_err(bus::driver_refusal)?;
        let sizes = machine.host.device.sizes();
        for (what, count, bits) in [
            ("flows", setup.flows.len(), sizes.flow_bits),
            ("regions", setup.regions.len(), sizes.region_bits),
        ] {
            let limit = 1 << bits;
            if count > limit {
                let message = format!("{count} {what} are too many: the card has {limit}");
                return Err(UsageError(message).into());
            }
        }
        let (mut regions, mut mappings) = (Vec::new(), Vec::new());
        for region in &setup.regions {
            let (region, mapping) = register(&mut machine.host, region)?;
            regions.push(region);
            mappings.push(mapping);
        }
        let pool_next = 1 << (sizes.flow_bits + SEGMENTS_COMMITTED_BITS as u32);
        let flows = Vec::new();
        let mut rig = Self { machine, regions, mappings, flows, pool_next, coalesces };
        rig.settle().context("the regions")?;
        Ok(rig)
    }

    /// Installs the next flow of the setup and posts its segments to the list of `direction`.
    pub fn install(
        &mut self,
        flow: &FlowSetup,
        direction: Direction,
        base: u32,
        acks: Option<(u32, u32)>,
    ) -> Result<()> {
        let id = self.flows.len() as u16;
        let name = FlowName { flow: id, generation: 1 };
        let floor = base.wrapping_add(flow.floor as u32);
        let (ack_low, ack_high) = acks.unwrap_or((0, u32::MAX));
        let acceptance = Acceptance { floor, ack_low, ack_high, ..Acceptance::default() };
        let committed = (u32::from(id) << SEGMENTS_COMMITTED_BITS, SEGMENTS_COMMITTED_BITS as u8);
        let list = self.list(flow, committed)?;
        let lists = match direction {
            Direction::Receive => [list, committed],
            Direction::Send => [committed, list],
        };
        let domain = 0;
        let install = FlowInstall { name, owner: 0, domain, acceptance, send_floor: floor, lists };
        let mut entry = flow_install(&install);
        if let Some(floor) = flow.timestamp_floor {
            command::TIMESTAMP_CHECK.set(&mut entry, 1);
            command::INSTALL_TIMESTAMP_FLOOR.set(&mut entry, floor.into());
        }
        self.machine.host.device.command(entry);
        let key = flow_key(flow.remote, flow.local);
        let slots = self.machine.host.keys.insert(key, id);
        for entry in slots.with_context(|| no_slot(flow))? {
            self.machine.host.device.command(entry);
        }
        for (index, segment) in flow.segments.iter().enumerate() {
            let region = &self.regions[segment.region];
            let posted = Segment {
                index: index as u16,
                position: base.wrapping_add(segment.position as u32),
                bytes: segment.bytes,
                region: region.index,
                region_key: region.key,
                offset: segment.offset,
            };
            self.machine.host.device.command(segment_post(name, direction, &posted));
        }
        self.flows.push(Installed { name, base, acceptance });
        self.settle().with_context(|| format!("flow '{}'", flow.name))
    }

    /// Where a flow's list lies: its committed entries, or a piece of the pool if it is longer.
    fn list(&mut self, flow: &FlowSetup, committed: (u32, u8)) -> Result<(u32, u8)> {
        let segments = flow.segments.len();
        if segments <= 1 << SEGMENTS_COMMITTED_BITS {
            return Ok(committed);
        }
        let bits = segments.next_power_of_two().trailing_zeros();
        let base = self.pool_next.next_multiple_of(1 << bits);
        let end = base + (1 << bits);
        let limit = 1 << self.machine.host.device.sizes().segment_bits;
        if end > limit {
            let name = &flow.name;
            let message = format!("flow '{name}': {segments} segments do not fit in {limit}");
            return Err(UsageError(message).into());
        }
        self.pool_next = end;
        Ok((base, bits as u8))
    }

    /// Moves a flow's receive floor and waits for the fence.
    pub fn accept(&mut self, index: usize, setup: &FlowSetup, end: u64) -> Result<()> {
        let flow = &mut self.flows[index];
        flow.acceptance.floor = flow.base.wrapping_add(end as u32);
        let head = setup.segments.iter().take_while(|segment| segment.stream().end <= end).count();
        let mut entry = floor_set(flow.name, flow.acceptance, head as u16);
        command::TIMESTAMP_FLOOR.set(&mut entry, setup.timestamp_floor.unwrap_or(0).into());
        self.command(entry)
    }

    /// Runs one command to its confirmation.
    fn command(&mut self, entry: Entry) -> Result<()> {
        self.machine.host.device.command(entry);
        self.settle()
    }

    /// Waits until every command is confirmed.
    pub fn settle(&mut self) -> Result<()> {
        let refused = match self.machine.command([abi_nop()]) {
            Err(MachineError::Unconfirmed { .. }) => {
                return Err(CardFault("it does not confirm its commands".to_owned()).into());
            }
            settled => settled?,
        };
        if let Some(refused) = refused.first() {
            let (flow, opcode) = (refused.flow, refused.opcode);
            let status = refused.status.name();
            let message = format!("it refuses command {opcode} of flow {flow}: {status}");
            return Err(CardFault(message).into());
        }
        Ok(())
    }

    /// Lets time pass and takes what the card has published.
    pub fn advance(&mut self) -> Result<Vec<HeaderEntry>> {
        self.machine.host.device.poll()?;
        self.machine.host.device.bus().advance()?;
        self.take_entries()
    }

    /// Takes what the card has published.
    pub fn take_entries(&mut self) -> Result<Vec<HeaderEntry>> {
        Ok(self.machine.host.take_entries()?)
    }

    /// Sums of the counters: packets with a header entry, and dropped frames.
    pub fn totals(&mut self) -> Result<Totals> {
        let counters = self.machine.host.device.counters()?;
        let sum = |names: Vec<&str>| {
            counters.iter().filter(|(name, _)| names.contains(name)).map(|(_, count)| count).sum()
        };
        Ok(Totals {
            entries: sum(Disposition::ALL.iter().map(|code| code.name()).collect()),
            drops: sum(DropReason::ALL.iter().map(|code| code.name()).collect()),
        })
    }

    /// A copy of a part of a region.
    pub fn read(&self, index: usize, part: Range<u64>) -> Vec<u8> {
        let mut bytes = vec![0; (part.end - part.start) as usize];
        self.mappings[index].read(part.start as usize, &mut bytes);
        bytes
    }

    /// Writes into a region.
    pub fn write(&mut self, index: usize, offset: u64, from: &[u8]) {
        self.mappings[index].write(offset as usize, from);
    }
}

/// What to do when a key finds no slot.
fn no_slot(flow: &FlowSetup) -> String {
    let name = &flow.name;
    format!("flow '{name}' finds no key slot: take fewer flows, or --config default")
}

fn abi_nop() -> Entry {
    let mut entry = [0; abi::config::COMMAND_BYTES];
    command::OPCODE.set(&mut entry, command::NOP.into());
    entry
}

fn register<B: Bus>(
    host: &mut Driver<B>,
    setup: &RegionSetup,
) -> Result<(Region, ApplicationMapping)> {
    let memory = host.device.bus().allocate_region(setup.memory, setup.bytes);
    let memory: DmaMemory = memory.map_err(|error| refusal(setup, error.into()))?;
    let mut mapping = host.map(&memory)?;
    let guard = vec![setup.guard; setup.bytes.min(GUARD_BYTES)];
    for at in (0..setup.bytes).step_by(GUARD_BYTES) {
        mapping.write(at, &guard[..guard.len().min(setup.bytes - at)]);
    }
    let registered = host.regions.register(memory, 0);
    let (region, commands) = registered.map_err(|error| refusal(setup, error))?;
    for entry in commands {
        host.device.command(entry);
    }
    Ok((region, mapping))
}

/// Why a region cannot be had, with the name that the user knows. A flow file that asks for too
/// much is an error of use.
fn refusal(setup: &RegionSetup, error: HostError) -> anyhow::Error {
    let (name, bytes) = (&setup.name, setup.bytes);
    let remedy = "make the regions smaller or fewer";
    let message = match error {
        HostError::Table(TableError::PagesFull { needed, free, limit, .. }) => format!(
            "region '{name}' of {bytes} bytes needs {needed} page entries in a row, {free} of \
             {limit} are free: {remedy}, or take --config default"
        ),
        HostError::Driver(DriverError::Bus(BusError::NoMemory { .. })) => {
            format!("region '{name}' of {bytes} bytes: that much memory is not available: {remedy}")
        }
        other => return anyhow::Error::from(other).context(format!("region '{name}'")),
    };
    UsageError(message).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::control::regions::Regions;
    use host::driver::bus::MemoryKind;

    #[test]
    fn oversized_region_is_usage_error_by_name() {
        let setup = RegionSetup {
            name: "inbox".to_owned(),
            bytes: 600 << 10,
            memory: MemoryKind::Application,
            guard: 0,
        };
        let memory = DmaMemory { address: 4096, bytes: setup.bytes, kind: setup.memory };
        let full = Regions::new(6, 6).register(memory, 0).unwrap_err();
        let none = BusError::NoMemory { bytes: setup.bytes };
        for (error, text) in [
            (
                full,
                "region 'inbox' of 614400 bytes needs 150 page entries in a row, 64 of 64 are \
                 free: make the regions smaller or fewer, or take --config default",
            ),
            (
                none.into(),
                "region 'inbox' of 614400 bytes: that much memory is not available: make the \
                 regions smaller or fewer",
            ),
        ] {
            let error = refusal(&setup, error);
            assert_eq!(error.to_string(), text);
            assert!(error.is::<UsageError>(), "{error:#}");
        }
    }
}
