//! Runs of received packets: where they open, join and end, and the time that ends them.

use abi::config::{METADATA_BYTES, RUNS_OPEN_MAX};

use super::open_runs::{RunEnd, JOINED, OPENED};
use super::{GoldenDevice, Memory};
use crate::coalesce::{Ends, Run};
use crate::rx::Delivery;

impl GoldenDevice {
    /// Lets time pass, in cycles of 4 ns, and ends the runs whose time is over. A model without a
    /// clock knows of no other time.
    pub fn pass_cycles(&mut self, cycles: u64, memory: &mut dyn Memory) {
        self.runs.now += cycles;
        let due = |run: &Run| self.runs.now - run.opened >= self.runs.cycles.into();
        let mut over: Vec<(u64, usize)> = (self.runs.open.iter().enumerate())
            .filter_map(|(place, run)| run.as_ref().filter(|run| due(run)).map(|it| (it, place)))
            .map(|(run, place)| (run.opened, place))
            .collect();
        over.sort_unstable();
        over.into_iter().for_each(|(_, place)| self.end_run(place, RunEnd::Timer, memory));
    }

    /// Runs that are open.
    pub fn open_runs(&self) -> usize {
        self.runs.open.iter().flatten().count()
    }

    /// Counters of runs, in the order of their group.
    pub fn run_counters(&self) -> [u64; 8] {
        self.runs.counters
    }

    /// Ends the run that a packet may not join, or whose place it needs, before anything of the
    /// packet is written.
    pub(super) fn end_run_before(
        &mut self,
        frame: &[u8],
        delivery: &Delivery,
        memory: &mut dyn Memory,
    ) {
        let Some(flow) = delivery.flow else { return };
        let place = usize::from(flow) % RUNS_OPEN_MAX;
        let Some(run) = &self.runs.open[place] else { return };
        if run.flow == flow {
            let joins = run.facts_to_join(frame, delivery).is_some();
            if !joins || !self.coalesces(delivery) {
                self.end_run(place, RunEnd::Packet, memory);
            }
        } else if self.opens_run(frame, delivery) {
            self.end_run(place, RunEnd::Place, memory);
        }
    }

    /// Takes a packet, which was written, into a run. `false`: it has an entry of its own.
    pub(super) fn coalesce(
        &mut self,
        frame: &[u8],
        delivery: &Delivery,
        metadata: [u8; METADATA_BYTES],
        memory: &mut dyn Memory,
    ) -> bool {
        let Some(flow) = delivery.flow else { return false };
        let place = usize::from(flow) % RUNS_OPEN_MAX;
        if let Some(run) = self.runs.open[place].as_mut().filter(|run| run.flow == flow) {
            // One that may not join has ended the run before this.
            let Some(facts) = run.facts_to_join(frame, delivery) else { return false };
            self.runs.counters[JOINED] += 1;
            if run.join(facts, delivery) {
                self.end_run(place, RunEnd::Last, memory);
            }
            return true;
        }
        if !self.opens_run(frame, delivery) {
            return false;
        }
        self.runs.open[place] = Run::open(frame, delivery, metadata, self.runs.now);
        self.runs.counters[OPENED] += 1;
        true
    }

    fn coalesces(&self, delivery: &Delivery) -> bool {
        self.owners[usize::from(delivery.owner)].coalesces()
    }

    fn opens_run(&self, frame: &[u8], delivery: &Delivery) -> bool {
        self.coalesces(delivery) && self.runs.cycles != 0 && Run::opens(frame, delivery)
    }

    /// Ends what a command of an owner ends.
    pub fn end_runs_of(&mut self, ends: Ends, owner: usize, memory: &mut dyn Memory) {
        for place in 0..RUNS_OPEN_MAX {
            let ends = self.runs.open[place].as_ref().is_some_and(|run| match ends {
                Ends::Nothing => false,
                Ends::Flow(flow) => run.flow == flow,
                Ends::Owner => owner == 0 || usize::from(run.first.owner) == owner,
            });
            if ends {
                self.end_run(place, RunEnd::Command, memory);
            }
        }
    }

    /// Ends the run at a place, if one is open.
    fn end_run(&mut self, place: usize, why: RunEnd, memory: &mut dyn Memory) {
        let Some(run) = self.runs.open[place].take() else { return };
        self.runs.counters[why as usize] += 1;
        self.publish(run.first.owner.into(), run.entry(), &run.header, memory);
    }
}
