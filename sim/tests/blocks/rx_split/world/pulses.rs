//! Pulses and registers of the receive path, and the cursors beside it.

use std::collections::{HashMap, VecDeque};

use sim::harness::agent::Agent;
use verilate::verilated::Model;

/// Pulses and register writes.
#[derive(Default)]
pub struct Pulses {
    /// Register writes to do, one a cycle.
    pub settings: VecDeque<(u32, u32)>,
    /// Drops by reason.
    pub drops: [u64; 16],
    /// Packets by disposition.
    pub dispositions: [u64; 16],
    /// Frames that came in.
    pub frames: u64,
    /// Events that found no room.
    pub events_lost: u64,
    /// Events of runs, in the order of their counters.
    pub runs: [u64; 8],
    /// New cursors.
    pub cursors: Vec<(u16, u32)>,
    /// Entries handed over: owner, slots produced.
    pub produced: Vec<(u8, u32)>,
    /// Cycles.
    pub cycles: u64,
}

impl Agent for Pulses {
    fn sample(&mut self, model: &Model) {
        self.cycles += 1;
        let is_high = |name: &str| model.is_high(model.port(name));
        let get = |name: &str| model.get(model.port(name));
        if is_high("drop_count$valid") {
            self.drops[get("drop_count$payload") as usize] += 1;
        }
        if is_high("disposition_count$valid") {
            self.dispositions[get("disposition_count$payload") as usize] += 1;
        }
        self.frames += u64::from(is_high("frame_done"));
        self.events_lost += u64::from(is_high("send_event_lost"));
        let events = get("run_events");
        (0..8).for_each(|at| self.runs[at] += events >> at & 1);
        if is_high("cursor_write$valid") {
            let bits = get("cursor_write$payload");
            self.cursors.push((bits as u16, (bits >> 16) as u32));
        }
        if is_high("header_produced$valid") {
            let bits = get("header_produced$payload");
            self.produced.push((bits as u8, (bits >> 8) as u32));
        }
    }

    fn drive(&mut self, model: &mut Model) {
        let write = self.settings.pop_front();
        model.set(model.port("settings$valid"), u64::from(write.is_some()));
        if let Some((address, value)) = write {
            let bits = u64::from(address) | u64::from(value) << 24;
            model.set(model.port("settings$payload"), bits);
        }
    }
}

/// The cursors of the flow table: shown two cycles after they are asked for.
#[derive(Default)]
pub struct CursorPort {
    /// Cursors by flow.
    pub stored: HashMap<u16, u32>,
    read: u32,
    shown: u32,
}

impl Agent for CursorPort {
    fn sample(&mut self, model: &Model) {
        self.shown = self.read;
        let flow = model.get(model.port("cursor_flow")) as u16;
        self.read = self.stored.get(&flow).copied().unwrap_or(0);
        if model.is_high(model.port("cursor_write$valid")) {
            let bits = model.get(model.port("cursor_write$payload"));
            self.stored.insert(bits as u16, (bits >> 16) as u32);
        }
    }

    fn drive(&mut self, model: &mut Model) {
        model.set(model.port("cursor"), self.shown.into());
    }
}
