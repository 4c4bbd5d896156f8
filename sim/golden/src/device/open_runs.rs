//! The runs that are open, their time and their counters.

use abi::config::RUNS_OPEN_MAX;
use abi::registers as r;

use crate::coalesce::Run;

/// Why a run ends: its counter's place among those of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With its last packet.
    Last = 2,
    /// Before a packet of its flow that cannot join.
    Packet = 3,
    /// Before a confirmation.
    Command = 4,
    /// Another flow needs its place.
    Place = 5,
    /// The timer.
    Timer = 6,
}

/// Counters of runs, by their place in the group.
pub const OPENED: usize = 0;
pub const JOINED: usize = 1;
pub const FORGOTTEN: usize = 7;

/// Open runs, time and counters.
pub struct Runs {
    pub open: Vec<Option<Run>>,
    pub now: u64,
    pub cycles: u32,
    pub counters: [u64; 8],
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            open: vec![None; RUNS_OPEN_MAX],
            now: 0,
            cycles: r::COALESCE_CYCLES_START,
            counters: [0; 8],
        }
    }
}

impl Runs {
    /// Slots that open runs of an owner will take.
    pub fn slots(&self, owner: usize) -> u32 {
        let open = self.open.iter().flatten();
        open.filter(|run| usize::from(run.first.owner) == owner).count() as u32
    }

    /// An epoch begins: nothing is open any more.
    pub fn forget(&mut self) {
        let packets: usize = self.open.iter().flatten().map(|run| run.packets).sum();
        self.counters[FORGOTTEN] += packets as u64;
        self.open.fill(None);
        self.cycles = r::COALESCE_CYCLES_START;
    }
}
