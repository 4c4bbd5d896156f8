//! Every state that the tables may be in while commands are under way.
//!
//! State n is that after the first n commands. A command that was issued may have taken effect; one
//! that was confirmed has.

use std::collections::VecDeque;

use abi::reason::CommandStatus;
use golden::tables::Tables;
use host::records::commands::Entry;

/// Whose packets and sends a command can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Those of one slot.
    Slot(usize),
    /// Those of the slots that share a region.
    Group(usize),
    /// Any.
    All,
}

/// Slots that share a region.
pub const GROUP_SLOTS: usize = 4;

struct State {
    tables: Tables,
    touch: Touch,
}

/// The states. See the module's head.
pub struct History {
    first: u64,
    states: VecDeque<State>,
}

impl History {
    /// Begins with state 0.
    pub fn new(tables: Tables) -> History {
        let touch = Touch::All;
        History { first: 0, states: VecDeque::from([State { tables, touch }]) }
    }

    /// Commands so far: the number of the newest state.
    pub fn issued_count(&self) -> u64 {
        self.first + self.states.len() as u64 - 1
    }

    /// The next command of owner 0.
    pub fn apply(&mut self, entry: &Entry, touch: Touch) -> CommandStatus {
        let newest = &self.states[self.states.len() - 1];
        let mut tables = newest.tables.clone();
        let status = tables.apply(0, entry);
        self.states.push_back(State { tables, touch });
        status
    }

    /// A state.
    pub fn tables(&self, number: u64) -> &Tables {
        &self.states[(number - self.first) as usize].tables
    }

    /// The states from `lower` to `upper` that differ for a slot.
    pub fn seen_by(&self, slot: usize, lower: u64, upper: u64) -> Vec<u64> {
        let differs = |number: &u64| match self.states[(number - self.first) as usize].touch {
            Touch::Slot(other) => other == slot,
            Touch::Group(group) => group == slot / GROUP_SLOTS,
            Touch::All => true,
        };
        let later = (lower + 1..=upper).filter(differs);
        std::iter::once(lower).chain(later).collect()
    }

    /// Nobody asks for states before this one any more.
    pub fn forget_before(&mut self, number: u64) {
        while self.first < number {
            self.states.pop_front();
            self.first += 1;
        }
    }
}
