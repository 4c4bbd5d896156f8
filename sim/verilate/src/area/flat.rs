//! The design flattened: every instance expanded, every net one number.
//!
//! ```text
//!   Netlist (modules) ──> instances, cells of all of them, local net ──> global net
//! ```
//! Invariants
//! 1. Nets that ports join have one number; constants and what they drive have number 0.
//! 2. The order of instances and cells follows the names alone.
//! 3. Nothing is left out: a cell that is neither a module of the design nor a primitive known to
//!    `cells` is an error; otherwise it would take no area and end every path.

use std::collections::BTreeMap;

use crate::area::cells::{role, Role};
use crate::area::netlist::{Bit, Cell, Module, Netlist};

/// The number of every constant.
pub const CONSTANT: u32 = 0;

/// A module in its place.
pub struct Instance<'a> {
    /// Path below the top, parts joined by `/`; empty for the top itself.
    pub path: String,
    /// Its module.
    pub module: &'a Module,
    /// Name of its module.
    pub kind: &'a str,
    /// The instance above; its own index for the top.
    pub parent: usize,
    /// Global number of each local net.
    nets: Vec<u32>,
}

impl Instance<'_> {
    /// The path of something in the instance.
    pub fn below(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}/{name}", self.path),
        }
    }
}

/// A primitive in its place.
pub struct Place<'a> {
    /// Index of the instance that holds it.
    pub instance: usize,
    /// The primitive.
    pub cell: &'a Cell,
    /// What it does.
    pub role: Role,
}

/// The whole design.
pub struct Flat<'a> {
    /// Instances, parents before children; the first is the top.
    pub instances: Vec<Instance<'a>>,
    /// Primitives of all instances.
    pub cells: Vec<Place<'a>>,
    joins: Joins,
}

/// Nets that are joined.
#[derive(Default)]
struct Joins(Vec<u32>);

impl Joins {
    fn fresh(&mut self) -> u32 {
        let next = self.0.len() as u32;
        self.0.push(next);
        next
    }

    fn find(&self, mut net: u32) -> u32 {
        while self.0[net as usize] != net {
            net = self.0[net as usize];
        }
        net
    }

    fn join(&mut self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.find(one), self.find(other));
        let (low, high) = (one.min(other), one.max(other));
        self.0[high as usize] = low;
        low
    }
}

/// Why a netlist cannot be flattened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlatError {
    /// There is no such module to begin with.
    #[error("the netlist has no module '{0}'")]
    NoTop(String),
    /// An instance of something that is neither a module of the design nor a primitive.
    #[error("'{kind}' is no module of the design and no known primitive: '{name}' in '{module}'")]
    Unknown {
        /// What it is an instance of.
        kind: String,
        /// Its name.
        name: String,
        /// The module that has it.
        module: String,
    },
}

impl<'a> Flat<'a> {
    /// Expands `top` and all below it.
    pub fn of(netlist: &'a Netlist, top: &str) -> Result<Flat<'a>, FlatError> {
        let mut flat = Flat { instances: Vec::new(), cells: Vec::new(), joins: Joins::default() };
        flat.joins.fresh();
        let (kind, module) =
            netlist.modules.get_key_value(top).ok_or_else(|| FlatError::NoTop(top.to_owned()))?;
        flat.add(Instance { path: String::new(), module, kind, parent: 0, nets: Vec::new() });
        let mut at = 0;
        while at < flat.instances.len() {
            flat.expand(netlist, at)?;
            at += 1;
        }
        Ok(flat)
    }

    /// Gives each net of the instance without a number one, and keeps the instance.
    fn add(&mut self, mut instance: Instance<'a>) {
        let names = instance.module.netnames.values().flat_map(|net| &net.bits);
        let ports = instance.module.ports.values().flat_map(|port| &port.bits);
        let cells = instance.module.cells.values();
        let pins = cells.flat_map(|cell| cell.connections.values().flatten());
        for bit in names.chain(ports).chain(pins) {
            if let Bit::Net(local) = bit {
                let local = *local as usize;
                if instance.nets.len() <= local {
                    instance.nets.resize(local + 1, u32::MAX);
                }
                if instance.nets[local] == u32::MAX {
                    instance.nets[local] = self.joins.fresh();
                }
            }
        }
        self.instances.push(instance);
    }

    fn expand(&mut self, netlist: &'a Netlist, at: usize) -> Result<(), FlatError> {
        let (module, above) = (self.instances[at].module, self.instances[at].kind);
        for (name, cell) in &module.cells {
            let child = netlist.modules.get_key_value(&cell.kind);
            let child = child.filter(|(_, module)| !module.is_box());
            let Some((kind, module)) = child else {
                let role = role(&cell.kind).ok_or_else(|| FlatError::Unknown {
                    kind: cell.kind.clone(),
                    name: name.clone(),
                    module: above.to_owned(),
                })?;
                self.cells.push(Place { instance: at, cell, role });
                continue;
            };
            let path = match self.instances[at].path.as_str() {
                "" => name.clone(),
                above => format!("{above}/{name}"),
            };
            let nets = self.bind_ports(at, cell, module);
            self.add(Instance { path, module, kind, parent: at, nets });
        }
        Ok(())
    }

    /// The child's nets at its ports, as numbers of the nets above.
    fn bind_ports(&mut self, parent: usize, cell: &Cell, module: &Module) -> Vec<u32> {
        let mut nets: Vec<u32> = Vec::new();
        for (name, port) in &module.ports {
            let outside = cell.connections.get(name).map_or(&[][..], Vec::as_slice);
            for (inside, outside) in port.bits.iter().zip(outside) {
                let Bit::Net(local) = inside else { continue };
                let local = *local as usize;
                let above = self.net(parent, *outside);
                if nets.len() <= local {
                    nets.resize(local + 1, u32::MAX);
                }
                nets[local] = match nets[local] {
                    u32::MAX => above,
                    known => self.joins.join(known, above),
                };
            }
        }
        nets
    }

    /// The number of a bit as an instance sees it.
    pub fn net(&self, instance: usize, bit: Bit) -> u32 {
        match bit {
            Bit::Constant => CONSTANT,
            Bit::Net(local) => self.joins.find(self.instances[instance].nets[local as usize]),
        }
    }

    /// Numbers below this are nets.
    pub fn net_count(&self) -> usize {
        self.joins.0.len()
    }

    /// Port, bit and net of every pin of a cell.
    pub fn pins<'s>(
        &'s self,
        place: &Place<'a>,
    ) -> impl Iterator<Item = (&'a str, usize, u32)> + use<'s, 'a> {
        let (cell, instance) = (place.cell, place.instance);
        cell.connections.iter().flat_map(move |(port, bits)| {
            let bits = bits.iter().enumerate();
            bits.map(move |(index, bit)| (port.as_str(), index, self.net(instance, *bit)))
        })
    }

    /// The number of a port of the top module, its first bit.
    pub fn top_net(&self, port: &str) -> Option<u32> {
        let bit = self.instances[0].module.ports.get(port)?.bits.first()?;
        Some(self.net(0, *bit))
    }

    /// The name of each net in its module, by module.
    pub fn names(&self) -> BTreeMap<&'a str, BTreeMap<u32, (&'a str, usize)>> {
        let instances = self.instances.iter();
        instances
            .map(|instance| (instance.kind, instance.module))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .map(|(kind, module)| (kind, module.names()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A module `top` that holds one instance of `kind`, beside a black box `core`.
    fn with_instance(kind: &str) -> Netlist {
        let empty = json!({"ports": {}, "cells": {}, "netnames": {}});
        let (mut top, mut core) = (empty.clone(), empty);
        top["cells"]["planted"] = json!({"type": kind, "connections": {}});
        core["attributes"] = json!({"blackbox": "1"});
        let modules = json!({"modules": {"top": top, "core": core}});
        serde_json::from_value(modules).expect("a netlist")
    }

    #[test]
    fn unknown_instance_is_named() {
        let of = |kind| Flat::of(&with_instance(kind), "top").map(|flat| flat.cells.len());
        assert_eq!(of("LUT4"), Ok(1));
        for kind in ["PCIE40E4", "core", "absent"] {
            let unknown = FlatError::Unknown {
                kind: kind.to_owned(),
                name: "planted".to_owned(),
                module: "top".to_owned(),
            };
            assert_eq!(of(kind), Err(unknown));
        }
    }
}
