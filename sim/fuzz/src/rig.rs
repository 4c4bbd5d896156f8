//! A provider on the golden card, smoltcp at both ends, and one connection.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use abi::counters;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{DeviceConfig, COALESCE_TIME};
use host::error::Result;
use host::provider::{ApplicationId, Completion, ConnectionId, RegionId};
use host::transport::peer::{Script, WirePeer};
use host::transport::{LinkConfig, Tuning};
use lab::exchange::Side;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::{Machine, SmoltcpMachine};

/// Time of the two TCPs in a round.
const ROUND: Duration = Duration::from_micros(500);
/// Rounds within which a connection opens.
const ROUNDS_MAX: usize = 200;
/// Port of the peer.
pub const PORT: u16 = 5001;
/// Bytes of the region.
pub const REGION_BYTES: usize = 64 << 10;

const TUNING: Tuning = Tuning { receive_buffer_bytes: 60_000, ..Tuning::REAL_TIME };

/// Whether the card of an input sums packets up: by its last byte, which is part of the rest too.
pub fn coalesces(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|last| last % 2 == 1)
}

/// The rig. See the head of this file.
pub struct Rig<B: Bus> {
    /// The provider under test, its card and its peer.
    pub machine: SmoltcpMachine<B, Rc<RefCell<GoldenCard>>>,
    /// The open connection.
    pub connection: ConnectionId,
    /// A region of the first application.
    pub region: RegionId,
    /// The last frame of the connection that our side has sent.
    pub sent: Vec<u8>,
}

impl<B: Bus> Rig<B> {
    /// A rig with an open connection, on the bus that `wrap` makes. With `coalesces` the card sums
    /// received packets up.
    ///
    /// # Panics
    /// If it cannot be set up: then the fuzzer has nothing to do.
    pub fn new(coalesces: bool, wrap: impl FnOnce(GoldenBus) -> B) -> Self {
        let coalesce = coalesces.then_some(COALESCE_TIME);
        let config = DeviceConfig { coalesce, ..DeviceConfig::with_seed(1) };
        let card = GoldenCard::new(SMALL);
        let bus = wrap(GoldenBus::new(card.clone()));
        let links = [1, 2].map(|number| LinkConfig::lab(number, 1500, TUNING));
        let opened = Machine::with_smoltcp(bus, card, &links, config);
        let mut machine = opened.expect("a machine");
        let remote = ([10, 77, 0, 2], PORT).into();
        let script = Script { send_bytes: 100_000, ..Script::default() };
        machine.peer.listen(remote, script).expect("a port");
        let first = ApplicationId::FIRST;
        let region = machine.host.register(first, MemoryKind::Application, REGION_BYTES);
        let region = region.expect("a region");
        let connection = machine.host.connect(first, remote).expect("a connection");
        let mut rig = Rig { machine, connection, region, sent: Vec::new() };
        let opened = (0..ROUNDS_MAX).any(|_| {
            let completions = rig.step(true).expect("it polls");
            completions.contains(&Completion::Opened(connection))
        });
        assert!(opened, "no connection");
        rig
    }

    /// Polls the provider; `wire` carries the frames of both sides.
    pub fn step(&mut self, wire: bool) -> Result<Vec<Completion>> {
        let completions = self.machine.poll()?;
        let sent = &mut self.sent;
        let carried = self.machine.carry(|side, frame| {
            if side == Side::ToPeer && frame.bytes[12..14] == [8, 0] {
                sent.clone_from(&frame.bytes);
            }
            wire
        });
        carried.expect("the peer takes and gives frames");
        self.machine.pass(ROUND);
        Ok(completions)
    }

    /// Packets so far that have shared a header entry with one before.
    ///
    /// # Panics
    /// If the card has no such counter.
    pub fn packets_joined(&mut self) -> u64 {
        let mut counters = counters::stage_counters(counters::COUNTER_GROUPS.len() as u32, 0);
        let joined = counters.find(|(_, counter)| counter.name == "run_packets_joined");
        let (at, _) = joined.expect("a counter of the contract");
        let low = self.machine.host.device().bus().read_register(at);
        low.expect("a register").into()
    }
}
