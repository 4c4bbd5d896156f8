//! How much of the device each block takes, and what each memory became.

use std::collections::{BTreeMap, BTreeSet};

use crate::area::cells::{is_clock, is_shift_register, role, usage, Role, Usage};
use crate::area::flat::{Flat, Place};

/// A block with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Path below the top; empty for the whole card.
    pub path: String,
    /// Its module.
    pub module: String,
    /// What it takes.
    pub usage: Usage,
}

/// A memory in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Path below the top.
    pub path: String,
    /// Entries.
    pub words: u64,
    /// Bits of an entry.
    pub bits: usize,
    /// The primitives, by name.
    pub primitives: BTreeMap<String, usize>,
    /// False if an output of a BRAM or URAM reaches more than the inputs of flip-flops.
    pub is_registered: bool,
}

/// Flip-flops in a row that became shift registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShiftRegisters {
    /// The primitives, by name.
    pub primitives: BTreeMap<String, usize>,
    /// Number of instances that have some.
    pub instances: usize,
}

impl Memory {
    /// Whether it is in LUTs.
    pub fn is_distributed(&self) -> bool {
        let mut kinds = self.primitives.keys();
        kinds.all(|kind| role(kind) == Some(Role::LutMemory))
    }
}

/// Usage of each instance down to `depth` below the top, by path.
pub fn blocks(flat: &Flat<'_>, depth: usize) -> Vec<Block> {
    let mut totals = vec![Usage::default(); flat.instances.len()];
    for place in &flat.cells {
        totals[place.instance] += usage(place.role, &place.cell.kind);
    }
    for index in (1..flat.instances.len()).rev() {
        let own = totals[index];
        totals[flat.instances[index].parent] += own;
    }
    let deep = |path: &str| match path {
        "" => 0,
        path => 1 + path.matches('/').count(),
    };
    let mut blocks: Vec<Block> = flat
        .instances
        .iter()
        .zip(totals)
        .filter(|(instance, _)| deep(&instance.path) <= depth)
        .map(|(instance, usage)| Block {
            path: instance.path.clone(),
            module: instance.kind.to_owned(),
            usage,
        })
        .collect();
    blocks.sort_by(|one, other| one.path.cmp(&other.path));
    blocks
}

/// The instances that hold memory primitives, by path.
pub fn memories(flat: &Flat<'_>) -> Vec<Memory> {
    let outside = outside_flip_flops(flat);
    let mut found: BTreeMap<usize, Memory> = BTreeMap::new();
    for place in &flat.cells {
        let kind = place.cell.kind.as_str();
        let is_block = place.role == Role::Block && !kind.starts_with("DSP");
        let is_ram = place.role == Role::LutMemory && !is_shift_register(kind);
        if !is_block && !is_ram {
            continue;
        }
        let memory = found.entry(place.instance).or_insert_with(|| empty(flat, place.instance));
        *memory.primitives.entry(kind.to_owned()).or_default() += 1;
        memory.is_registered &= !is_block || is_registered(flat, place, &outside);
    }
    let mut memories: Vec<Memory> = found.into_values().collect();
    memories.sort_by(|one, other| one.path.cmp(&other.path));
    memories
}

/// All shift registers.
pub fn shift_registers(flat: &Flat<'_>) -> ShiftRegisters {
    let mut found = ShiftRegisters::default();
    let mut instances = BTreeSet::new();
    for place in &flat.cells {
        if is_shift_register(&place.cell.kind) {
            let kind = place.cell.kind.clone();
            *found.primitives.entry(kind).or_default() += 1;
            instances.insert(place.instance);
        }
    }
    found.instances = instances.len();
    found
}

fn empty(flat: &Flat<'_>, instance: usize) -> Memory {
    let instance = &flat.instances[instance];
    let width = |port: &str| instance.module.ports.get(port).map_or(0, |p| p.bits.len());
    Memory {
        path: instance.path.clone(),
        words: 1 << width("write_address"),
        bits: width("write_data"),
        primitives: BTreeMap::new(),
        is_registered: true,
    }
}

/// For each net, whether something but the data input of a flip-flop reads it.
fn outside_flip_flops(flat: &Flat<'_>) -> Vec<bool> {
    let mut outside = vec![false; flat.net_count()];
    for place in &flat.cells {
        let is_register = place.role == Role::Register;
        for (port, _, net) in flat.pins(place) {
            let is_input = !place.cell.is_output(port);
            outside[net as usize] |= is_input && !(is_register && port == "D");
        }
    }
    outside
}

fn is_registered(flat: &Flat<'_>, place: &Place<'_>, outside: &[bool]) -> bool {
    let mut outputs = flat.pins(place).filter(|(port, _, _)| {
        place.cell.is_output(port) && !is_clock(port) && port.starts_with("DO")
    });
    outputs.all(|(port, _, net)| place.cell.has_output_register(port) || !outside[net as usize])
}
