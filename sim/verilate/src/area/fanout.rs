//! The nets that drive most: what a tool must copy, or spread over a die.
//!
//! ```text
//!   input pins of all primitives, but for clocks ──> loads of each net ──> those above a limit
//! ```
//! A load is a pin of a primitive. An enable or a reset of a register counts once for each of its
//! flip-flops, since each has the pin; those inside of a BRAM or URAM are one pin of that.

use crate::area::cells::{is_clock, Role};
use crate::area::flat::{Flat, CONSTANT};

/// A net with its loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Instance of what drives it and the net's name there; of a port its name.
    pub path: String,
    /// The primitive that drives it; none for a port.
    pub driver: Option<String>,
    /// Pins that it drives.
    pub loads: u32,
    /// Of these, enables and resets of flip-flops.
    pub controls: u32,
}

/// The nets with more than `loads_min` loads, by falling loads; clocks are left out.
pub fn wide_nets(flat: &Flat<'_>, loads_min: u32) -> Vec<Net> {
    let mut loads = vec![(0u32, 0u32); flat.net_count()];
    let mut is_clocking = vec![false; flat.net_count()];
    for place in &flat.cells {
        for (port, _, net) in flat.pins(place) {
            if place.cell.is_output(port) {
                continue;
            }
            is_clocking[net as usize] |= is_clock(port);
            let is_control = place.role == Role::Register && port != "D";
            let count = &mut loads[net as usize];
            count.0 += 1;
            count.1 += u32::from(is_control);
        }
    }
    let is_wide = |net: u32| {
        net != CONSTANT && !is_clocking[net as usize] && loads[net as usize].0 > loads_min
    };
    let names = flat.names();
    let mut nets = Vec::new();
    let mut add = |path: String, driver: Option<String>, net: u32| {
        let (loads, controls) = loads[net as usize];
        nets.push(Net { path, driver, loads, controls });
    };
    for place in &flat.cells {
        for (port, index, net) in flat.pins(place) {
            if !place.cell.is_output(port) || !is_wide(net) {
                continue;
            }
            let instance = &flat.instances[place.instance];
            let local = place.cell.connections[port].get(index);
            let known = names.get(instance.kind).zip(local.and_then(|bit| bit.net()));
            let known = known.and_then(|(names, local)| names.get(&local));
            let name = match known {
                Some((name, bit)) if instance.module.bits_of(name) > 1 => format!("{name}[{bit}]"),
                Some((name, _)) => (*name).to_owned(),
                None => place.cell.kind.clone(),
            };
            add(instance.below(&name), Some(place.cell.kind.clone()), net);
        }
    }
    for (name, port) in &flat.instances[0].module.ports {
        let bits = port.bits.iter().map(|bit| flat.net(0, *bit));
        if port.direction == "input" {
            bits.filter(|net| is_wide(*net)).for_each(|net| add(name.clone(), None, net));
        }
    }
    nets.sort_by(|one, other| {
        let falling = other.loads.cmp(&one.loads);
        falling.then_with(|| one.path.cmp(&other.path))
    });
    nets
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::area::netlist::Netlist;

    /// Twelve flip-flops of one enable, which a LUT drives; a clock that drives them all.
    fn netlist() -> Netlist {
        let lut = json!({
            "type": "LUT1", "port_directions": {"I0": "input", "O": "output"},
            "connections": {"I0": [3], "O": [4]},
        });
        let mut cells = serde_json::Map::from_iter([("lut".to_owned(), lut)]);
        for bit in 0..12 {
            let register = json!({
                "type": "FDRE",
                "port_directions": {
                    "C": "input", "CE": "input", "D": "input", "R": "input", "Q": "output",
                },
                "connections": {"C": [2], "CE": [4], "D": [3], "R": ["0"], "Q": [10 + bit]},
            });
            cells.insert(format!("bit_{bit}"), register);
        }
        let modules = json!({"modules": {"top": {
            "ports": {
                "clock": {"direction": "input", "bits": [2]},
                "enter": {"direction": "input", "bits": [9, 3]},
            },
            "cells": cells,
            "netnames": {"enable": {"hide_name": 0, "bits": [4]}},
        }}});
        serde_json::from_value(modules).expect("a netlist")
    }

    #[test]
    fn pins_are_counted_without_clocks() {
        let netlist = netlist();
        let flat = Flat::of(&netlist, "top").expect("is complete");
        let net = |path: &str, driver: Option<&str>, loads, controls| Net {
            path: path.to_owned(),
            driver: driver.map(str::to_owned),
            loads,
            controls,
        };
        // Beside the flip-flops the port drives the LUT.
        let enter = net("enter", None, 13, 0);
        let enable = net("enable", Some("LUT1"), 12, 12);
        assert_eq!(wide_nets(&flat, 11), [enter.clone(), enable]);
        assert_eq!(wide_nets(&flat, 12), [enter]);
        assert_eq!(wide_nets(&flat, 13), []);
    }
}
