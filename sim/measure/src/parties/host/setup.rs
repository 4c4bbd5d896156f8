//! What a measurement's host does before anything flows: regions, flows, first buffers.
//!
//! ```text
//!   flow ──► region of its own with guards ──► flow_install, list_move, keys ──► segments posted
//! ```

use host::control::regions::Region;
use host::driver::bus::{Bus, MemoryKind};
use host::error::HostError;
use host::headers::packet::flow_key;
use host::records::commands::{
    flow_install, list_move, Direction, Entry, FlowInstall, FlowName, List,
};

use super::{Flow, Host, POLL_CYCLES, SETUP_POLLS_MAX};
use crate::error::MeasureError;
use crate::packets::buffers::{region_bytes, Buffers, GUARD};
use crate::packets::content::Content;
use crate::packets::frames::{ends, Template};
use crate::scenario::Scenario;

/// A number that depends on both arguments.
fn scatter(seed: u64, number: u64) -> u64 {
    let mut bytes = [0; 8];
    Content::new(seed, number).fill(0, &mut bytes);
    u64::from_le_bytes(bytes)
}

impl Host {
    pub(super) fn install(&mut self, scenario: &Scenario) -> Result<(), MeasureError> {
        let sizes = self.machine.host.device.sizes();
        if u32::from(scenario.flows) > 1 << sizes.flow_bits {
            return Err(MeasureError::TooManyFlows(scenario.flows));
        }
        // Borrowed lists lie after the committed ones.
        let mut pool = 8u32 << sizes.flow_bits;
        for number in 0..scenario.flows {
            let flow = self.make_flow(scenario, number)?;
            let (remote, local) = ends(number, scenario.is_ipv6(number));
            let placed = self.machine.host.keys.insert(flow_key(remote, local), number);
            let entries = placed.ok_or(MeasureError::TooManyFlows(number))?;
            self.send_commands(&install_entries(&flow, scenario, &mut pool));
            self.send_commands(&entries);
            self.flows.push(flow);
            for direction in [Direction::Receive, Direction::Send] {
                self.post(usize::from(number), direction)?;
            }
            self.settle(1 << 12)?;
        }
        self.settle(0)?;
        // The peer learns the first windows when connections open.
        self.windows.clear();
        self.acks_owed.clear();
        for flow in &mut self.flows {
            flow.window_end = flow.receive.confirmed_end();
            flow.window_owed = false;
        }
        Ok(())
    }

    fn make_flow(&mut self, scenario: &Scenario, number: u16) -> Result<Flow, MeasureError> {
        let seed = scenario.seed;
        let is_ipv6 = scenario.is_ipv6(number);
        let (remote, local) = ends(number, is_ipv6);
        let name =
            FlowName { flow: number, generation: scatter(seed, u64::from(number) << 8) as u8 };
        let content = |side: u64| Content::new(seed, u64::from(number) << 1 | side);
        let mut side = |direction, used: bool| -> Result<Buffers, MeasureError> {
            let salt = if direction == Direction::Send { 1 << 32 } else { 0 };
            let base = scatter(seed, salt | u64::from(number)) as u32;
            let shift = |slot: usize| scatter(seed, u64::from(number) << 16 | slot as u64);
            let shift = (shift, scenario.shift_bytes());
            if !used {
                return Ok(Buffers::none(name, direction, base));
            }
            let sizes = scenario.slot_sizes(number);
            let region = self.register(&sizes, scenario.shift_bytes(), number)?;
            Ok(Buffers::new(name, direction, base, region, &sizes, shift))
        };
        Ok(Flow {
            receive: side(Direction::Receive, scenario.receive)?,
            send: side(Direction::Send, scenario.send)?,
            name,
            arriving: Template::new(remote, local, scenario.timestamps()),
            leaving: Template::new(local, remote, scenario.timestamps()),
            contents: [content(0), content(1)],
            is_ipv6,
            payload_bytes: scenario.payload_bytes(is_ipv6),
            received: 0,
            window_end: 0,
            window_owed: false,
            acknowledged: 0,
            delivered: 0,
        })
    }

    /// A region of its own with guards all over, known to the card.
    fn register(
        &mut self,
        sizes: &[u32],
        shift_bytes: usize,
        number: u16,
    ) -> Result<Region, MeasureError> {
        let bytes = region_bytes(sizes.iter().copied(), shift_bytes);
        let memory = self.machine.host.device.bus().allocate(MemoryKind::Application, bytes, bytes);
        let memory = memory.map_err(HostError::from)?;
        self.write(memory.address, &vec![GUARD; bytes])?;
        let (region, commands) = self.machine.host.regions.register(memory, number)?;
        self.send_commands(&commands);
        Ok(region)
    }

    fn send_commands(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.machine.host.device.command(*entry);
        }
    }

    /// Runs the card until at most `left` commands are not confirmed.
    fn settle(&mut self, left: usize) -> Result<(), MeasureError> {
        let mut polls = 0;
        while self.unconfirmed_count() > left {
            self.look()?;
            self.machine.card.borrow_mut().run(POLL_CYCLES);
            polls += 1;
            if polls > SETUP_POLLS_MAX {
                return Err(MeasureError::Stuck("setup"));
            }
        }
        Ok(())
    }
}

/// Installs a flow; a list longer than the committed one moves to the pool while it is empty.
fn install_entries(flow: &Flow, scenario: &Scenario, pool: &mut u32) -> Vec<Entry> {
    let number = flow.name.flow;
    let (_, bits) = scenario.list(number);
    let committed = abi::config::SEGMENTS_COMMITTED_BITS as u8;
    let place = (u32::from(number) << committed, committed);
    let mut entries = vec![flow_install(&FlowInstall {
        name: flow.name,
        owner: scenario.owner(number),
        domain: number,
        acceptance: flow.acceptance(0),
        send_floor: flow.send.position(0),
        lists: [place, place],
    })];
    if bits > committed {
        *pool = pool.next_multiple_of(1 << bits);
        let used = [(scenario.receive, Direction::Receive), (scenario.send, Direction::Send)];
        for (_, direction) in used.iter().filter(|(is_used, _)| *is_used) {
            let list = List { base: *pool, bits };
            entries.push(list_move(flow.name, *direction, list));
        }
        *pool += 1 << bits;
    }
    entries
}
