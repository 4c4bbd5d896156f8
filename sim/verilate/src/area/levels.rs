//! The longest paths between registers of one clock, in LUT levels.
//!
//! ```text
//!   register ──► LUT ──► carry chain ──► wide multiplexer ──► LUT ──► register
//!            (start)  1      1 + n/16            0              1    (any input but the clock)
//! ```
//! Levels are kept in sixteenths, so that a carry chain may be walked bit by bit; where a chain is
//! left, the level that was begun counts. What counts is in [`cells`](super::cells). A path is of a
//! clock if both its ends are: registers, or ports of the card. Behind a port is logic of the
//! vendor's core, not a register of the hard block itself: such a path has fewer levels.

use std::collections::{BTreeMap, BTreeSet};

use crate::area::cells::{is_clock, passes, Role};
use crate::area::flat::{Flat, Place, CONSTANT};
use crate::area::netlist::Bit;

/// One level.
const LEVEL: u32 = 16;
/// Levels that the output of a BRAM or URAM counts before the first LUT, if its register is not
/// used: about 1.3 ns, where a level with its net has 0.35 to 0.5 ns.
const BARE_MEMORY_LEVELS: u32 = 3;

/// A step of a path: the cell, its place and the net that it drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Instance that holds the primitive.
    pub instance: String,
    /// The primitive.
    pub kind: String,
    /// The net that it drives, if a designer named it.
    pub net: Option<String>,
}

/// A path between two registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Levels, fractions counted whole.
    pub levels: u32,
    /// Where it starts: instance and register, memory or port.
    pub start: String,
    /// Where it ends, with the pin.
    pub end: String,
    /// Instance that holds the end.
    pub block: String,
    /// The port of the card at its start or end, if there is one.
    pub port: Option<String>,
    /// What it passes.
    pub steps: Vec<Step>,
}

/// All paths of one clock.
pub struct Timing<'f, 'a> {
    flat: &'f Flat<'a>,
    names: BTreeMap<&'a str, BTreeMap<u32, (&'a str, usize)>>,
    /// The cell that drives each net.
    driver: Vec<Option<u32>>,
    /// Latest arrival at each net in sixteenths; None if no register of the clock reaches it.
    arrival: Vec<Option<u32>>,
    /// The net before it on that path.
    before: Vec<u32>,
    clock: u32,
    /// Ports of the card that belong to the clock.
    ports: Vec<&'a str>,
}

/// Cells without registers in between that drive each other.
#[derive(Debug, thiserror::Error)]
#[error("a loop of logic through {0}")]
pub struct Loop(pub String);

/// Whether an output of a BRAM or URAM comes straight from its cells.
fn is_bare(place: &Place<'_>, port: &str) -> bool {
    let is_memory = place.cell.kind.starts_with("RAMB") || place.cell.kind.starts_with("URAM");
    is_memory && port.starts_with("DO") && !place.cell.has_output_register(port)
}

fn whole(sixteenths: u32) -> u32 {
    sixteenths.div_ceil(LEVEL)
}

impl<'f, 'a> Timing<'f, 'a> {
    /// Follows every path of the clock on net `clock`, of which the card's `ports` are.
    pub fn of(flat: &'f Flat<'a>, clock: u32, ports: Vec<&'a str>) -> Result<Timing<'f, 'a>, Loop> {
        let mut timing = Timing {
            flat,
            names: flat.names(),
            driver: vec![None; flat.net_count()],
            arrival: vec![None; flat.net_count()],
            before: vec![CONSTANT; flat.net_count()],
            clock,
            ports,
        };
        for (index, place) in flat.cells.iter().enumerate() {
            for (port, _, net) in flat.pins(place) {
                if place.cell.is_output(port) && net != CONSTANT {
                    timing.driver[net as usize] = Some(index as u32);
                }
            }
        }
        for (_, net) in timing.port_nets("input") {
            timing.arrival[net as usize] = Some(0);
        }
        for index in timing.order()? {
            let place = &flat.cells[index];
            timing.start(place);
            timing.pass(place);
        }
        Ok(timing)
    }

    /// Name and net of each bit of the clock's ports of that direction.
    fn port_nets(&self, direction: &str) -> Vec<(&'a str, u32)> {
        let module = self.flat.instances[0].module;
        let ports = self.ports.iter().filter_map(|name| {
            let port = module.ports.get(*name)?;
            (port.direction == direction).then_some((*name, port))
        });
        let nets = ports.flat_map(|(name, port)| {
            let bits = port.bits.iter();
            bits.map(move |bit| (name, self.flat.net(0, *bit)))
        });
        nets.filter(|(_, net)| *net != CONSTANT && *net != self.clock).collect()
    }

    /// True if the path goes on through the cell from this input.
    fn goes_on(&self, place: &Place<'a>, input: &str) -> bool {
        let (kind, role) = (place.cell.kind.as_str(), place.role);
        let mut outputs = place.cell.connections.keys();
        outputs.any(|port| place.cell.is_output(port) && passes(role, kind, input, port))
    }

    /// The cells in topological order: each after those that drive it.
    fn order(&self) -> Result<Vec<usize>, Loop> {
        let cells = &self.flat.cells;
        let mut waits = vec![0u32; cells.len()];
        let mut follows: Vec<Vec<u32>> = vec![Vec::new(); cells.len()];
        for (index, place) in cells.iter().enumerate() {
            for (port, _, net) in self.flat.pins(place) {
                if place.cell.is_output(port) || !self.goes_on(place, port) {
                    continue;
                }
                if let Some(driver) = self.driver[net as usize] {
                    follows[driver as usize].push(index as u32);
                    waits[index] += 1;
                }
            }
        }
        let mut order: Vec<usize> = (0..cells.len()).filter(|c| waits[*c] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for next in &follows[order[at]] {
                waits[*next as usize] -= 1;
                if waits[*next as usize] == 0 {
                    order.push(*next as usize);
                }
            }
            at += 1;
        }
        match waits.iter().position(|wait| *wait != 0) {
            Some(cell) => {
                let place = &cells[cell];
                let instance = &self.flat.instances[place.instance].path;
                Err(Loop(format!("{instance} ({})", place.cell.kind)))
            }
            None => Ok(order),
        }
    }

    fn is_clocked(&self, place: &Place<'a>) -> bool {
        let mut pins = self.flat.pins(place);
        pins.any(|(port, _, net)| is_clock(port) && net == self.clock)
    }

    /// A register's outputs are there at the clock edge; a LUT memory's one level later, those of a
    /// BRAM or URAM without its output register after the time of three.
    fn start(&mut self, place: &Place<'a>) {
        let starts = matches!(place.role, Role::Register | Role::Block | Role::LutMemory);
        if !starts || !self.is_clocked(place) {
            return;
        }
        for (port, _, net) in self.flat.pins(place).collect::<Vec<_>>() {
            if place.cell.is_output(port) && net != CONSTANT {
                let begin = match place.role {
                    Role::LutMemory => LEVEL,
                    Role::Block if is_bare(place, port) => BARE_MEMORY_LEVELS * LEVEL,
                    _ => 0,
                };
                self.arrival[net as usize] = Some(begin);
            }
        }
    }

    /// The role of what drives a net.
    fn driven_by(&self, net: u32) -> Option<Role> {
        let driver = self.driver[net as usize]?;
        Some(self.flat.cells[driver as usize].role)
    }

    /// Arrival at an input that does not continue a carry chain.
    fn settled_level(&self, net: u32) -> Option<u32> {
        let arrival = self.arrival[net as usize]?;
        let left = matches!(self.driven_by(net), Some(Role::Carry(_)));
        Some(if left { whole(arrival) * LEVEL } else { arrival })
    }

    fn pass(&mut self, place: &Place<'a>) {
        let (kind, role) = (place.cell.kind.as_str(), place.role);
        if matches!(role, Role::Register | Role::Block) {
            return;
        }
        let pins: Vec<(&str, usize, u32)> = self.flat.pins(place).collect();
        let is_output = |port: &str| place.cell.is_output(port);
        for (output, out_bit, out_net) in pins.iter().filter(|pin| is_output(pin.0)) {
            if *out_net == CONSTANT {
                continue;
            }
            for (input, in_bit, in_net) in pins.iter().filter(|pin| !is_output(pin.0)) {
                if !passes(role, kind, input, output) {
                    continue;
                }
                let arrives = match role {
                    Role::Carry(_) => self.through_carry(input, *in_bit, *in_net, *out_bit),
                    Role::WideMux | Role::Wire => self.settled_level(*in_net),
                    _ => self.settled_level(*in_net).map(|arrival| arrival + LEVEL),
                };
                if arrives > self.arrival[*out_net as usize] {
                    self.arrival[*out_net as usize] = arrives;
                    self.before[*out_net as usize] = *in_net;
                }
            }
        }
    }

    /// A chain goes on through `CI`; elsewhere it is entered, by a LUT of its own or at one level.
    fn through_carry(&self, port: &str, bit: usize, net: u32, out_bit: usize) -> Option<u32> {
        let first = match port {
            "S" | "DI" => bit,
            _ => 0,
        };
        if out_bit < first {
            return None;
        }
        let walked = (out_bit - first + 1) as u32;
        let driver = self.driven_by(net);
        let entered = match (port, driver) {
            ("CI", Some(Role::Carry(_))) => self.arrival[net as usize],
            (_, Some(Role::Lut)) => self.settled_level(net),
            _ => self.settled_level(net).map(|arrival| arrival + LEVEL),
        };
        entered.map(|arrival| arrival + walked)
    }

    /// The worst path between each pair of registers (a vector counts as one), worst first.
    pub fn paths(&self) -> Vec<Path> {
        let mut ends: Vec<(u32, u32, Option<&Place<'a>>, &str)> = Vec::new();
        for (port, net) in self.port_nets("output") {
            if let Some(arrival) = self.settled_level(net) {
                ends.push((whole(arrival), net, None, port));
            }
        }
        for place in &self.flat.cells {
            let ends_here = matches!(place.role, Role::Register | Role::Block | Role::LutMemory);
            if !ends_here || !self.is_clocked(place) {
                continue;
            }
            for (port, _, net) in self.flat.pins(place) {
                let is_end = !place.cell.is_output(port) && !is_clock(port);
                if is_end && !self.goes_on(place, port) {
                    if let Some(arrival) = self.settled_level(net) {
                        ends.push((whole(arrival), net, Some(place), port));
                    }
                }
            }
        }
        ends.sort_by_key(|end| std::cmp::Reverse(end.0));
        let mut seen = BTreeSet::new();
        let mut paths = Vec::new();
        for (levels, net, place, port) in ends {
            let end = match place {
                Some(place) => format!("{}/{port}", self.register(place)),
                None => port.to_owned(),
            };
            let (start, from_port) = self.start_of(net);
            if seen.insert((start.clone(), end.clone())) {
                let instance = place.map_or(0, |place| place.instance);
                let port = match (place, from_port) {
                    (None, _) => Some(end.clone()),
                    (_, true) => Some(start.clone()),
                    _ => None,
                };
                paths.push(Path {
                    levels,
                    start,
                    end,
                    port,
                    block: self.flat.instances[instance].path.clone(),
                    steps: self.steps(net),
                });
            }
        }
        paths
    }

    /// What a designer calls the register: the net of its first output, or else its primitive.
    fn register(&self, place: &Place<'a>) -> String {
        let mut outputs = place.cell.connections.iter();
        let output = outputs.find(|(port, _)| place.cell.is_output(port));
        let name = output.and_then(|(_, bits)| self.name(place, bits.first().copied()?));
        let instance = &self.flat.instances[place.instance];
        instance.below(name.unwrap_or(&place.cell.kind))
    }

    fn name(&self, place: &Place<'a>, bit: Bit) -> Option<&'a str> {
        let local = bit.net()?;
        let names = self.names.get(self.flat.instances[place.instance].kind)?;
        names.get(&local).map(|(name, _)| *name)
    }

    /// The nets of the path that ends at a net, from its end.
    fn trail(&self, net: u32) -> Vec<u32> {
        let mut trail = vec![net];
        let mut at = net;
        while self.before[at as usize] != CONSTANT {
            at = self.before[at as usize];
            trail.push(at);
        }
        trail
    }

    /// What a path starts at, and whether that is a port.
    fn start_of(&self, net: u32) -> (String, bool) {
        let first = self.trail(net).last().copied().unwrap_or(net);
        match self.driver[first as usize] {
            Some(cell) => (self.register(&self.flat.cells[cell as usize]), false),
            None => {
                let ports = self.port_nets("input");
                let port = ports.iter().find(|(_, net)| *net == first);
                (port.map_or("input", |(name, _)| name).to_owned(), true)
            }
        }
    }

    fn steps(&self, net: u32) -> Vec<Step> {
        let mut trail = self.trail(net);
        trail.pop();
        trail.reverse();
        let mut steps = Vec::new();
        for net in trail {
            let Some(cell) = self.driver[net as usize] else { continue };
            let place = &self.flat.cells[cell as usize];
            let bits = place.cell.connections.iter();
            let outputs = bits.filter(|(port, _)| place.cell.is_output(port));
            let mut outputs = outputs.flat_map(|(_, bits)| bits);
            let bit = outputs.find(|bit| self.flat.net(place.instance, **bit) == net);
            steps.push(Step {
                instance: self.flat.instances[place.instance].path.clone(),
                kind: place.cell.kind.clone(),
                net: bit.and_then(|bit| self.name(place, *bit)).map(str::to_owned),
            });
        }
        steps
    }
}

#[cfg(test)]
mod tests;
