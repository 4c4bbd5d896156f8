//! Small netlists with known longest paths.

use serde_json::{json, Value};

use super::*;
use crate::area::netlist::Netlist;

/// A cell with its connections; of `outputs` the directions are outputs.
fn cell(kind: &str, outputs: &[&str], connections: Value) -> Value {
    let ports = connections.as_object().expect("an object").keys();
    let directions: serde_json::Map<String, Value> = ports
        .map(|port| {
            let is_output = outputs.contains(&port.as_str());
            let direction = if is_output { "output" } else { "input" };
            (port.clone(), json!(direction))
        })
        .collect();
    json!({"type": kind, "port_directions": directions, "connections": connections})
}

fn register(clock: u32, d: u32, q: u32) -> Value {
    cell("FDRE", &["Q"], json!({"C": [clock], "D": [d], "Q": [q]}))
}

fn lut(input: u32, output: u32) -> Value {
    cell("LUT2", &["O"], json!({"I0": [input], "I1": ["0"], "O": [output]}))
}

/// A module `top` with clocks on nets 2 and 3, and names of single nets.
fn top(cells: Value, names: Value) -> Value {
    let names: serde_json::Map<String, Value> = names
        .as_object()
        .expect("an object")
        .iter()
        .map(|(name, net)| (name.clone(), json!({"hide_name": 0, "bits": [net]})))
        .collect();
    json!({
        "ports": {
            "clock": {"direction": "input", "bits": [2]},
            "other": {"direction": "input", "bits": [3]},
            "enter": {"direction": "input", "bits": [8]},
            "leave": {"direction": "output", "bits": [9]},
        },
        "cells": cells,
        "netnames": names,
    })
}

fn netlist(modules: Value) -> Netlist {
    serde_json::from_value(json!({ "modules": modules })).expect("a netlist")
}

fn paths(netlist: &Netlist) -> Vec<Path> {
    let flat = Flat::of(netlist, "top").expect("complete");
    let clock = flat.top_net("clock").expect("a clock");
    let ports = vec!["clock", "enter", "leave"];
    Timing::of(&flat, clock, ports).expect("no loop").paths()
}

#[test]
fn luts_between_registers_are_counted() {
    let cells = json!({
        "r1": register(2, 20, 10), "l1": lut(10, 11), "l2": lut(11, 12), "r2": register(2, 12, 20),
    });
    let names = json!({"first": 10, "half_way": 11, "second": 20});
    let paths = paths(&netlist(json!({ "top": top(cells, names) })));
    let found: Vec<_> =
        paths.iter().map(|path| (path.levels, &path.start[..], &path.end[..])).collect();
    assert_eq!(found, [(2, "first", "second/D"), (0, "second", "first/D")]);
    assert_eq!(paths[0].steps[0].net.as_deref(), Some("half_way"));
}

#[test]
fn carry_chain_adds_level_per_16_bits() {
    // 32 bits: eight CARRY4; the first is entered through S by a LUT, or by the register itself.
    for (has_lut, expected) in [(true, 1 + 2), (false, 1 + 2)] {
        let mut cells = serde_json::Map::new();
        cells.insert("from".into(), register(2, 10, 10));
        cells.insert("lut".into(), lut(10, 11));
        for index in 0..8u32 {
            let carry = |chain: u32| {
                json!([100 + chain * 4, 101 + chain * 4, 102 + chain * 4, 103 + chain * 4])
            };
            let enter = if has_lut { 11 } else { 10 };
            let (s, ci) = match index {
                0 => (json!([enter, "0", "0", "0"]), json!(["0"])),
                _ => (json!(["0", "0", "0", "0"]), json!([103 + (index - 1) * 4])),
            };
            let connections = json!({
                "S": s, "DI": ["0", "0", "0", "0"], "CI": ci, "CYINIT": ["0"],
                "CO": carry(index), "O": [200 + index, 300 + index, 400 + index, 500 + index],
            });
            cells.insert(format!("c{index}"), cell("CARRY4", &["CO", "O"], connections));
        }
        cells.insert("to".into(), register(2, 507, 600));
        let names = json!({"from": 10, "sum": 600});
        let paths = paths(&netlist(json!({ "top": top(Value::Object(cells), names) })));
        let last = paths.iter().find(|path| path.end == "sum/D");
        assert_eq!(last.map(|path| path.levels), Some(expected), "lut {has_lut}");
    }
}

#[test]
fn ports_of_the_clock_are_ends() {
    let cells = json!({
        "l1": lut(8, 11), "r1": register(2, 11, 10), "l2": lut(10, 12), "l3": lut(12, 9),
    });
    let paths = paths(&netlist(json!({ "top": top(cells, json!({"kept": 10})) })));
    let found: Vec<_> =
        paths.iter().map(|path| (path.levels, &path.start[..], &path.end[..])).collect();
    assert_eq!(found, [(2, "kept", "leave"), (1, "enter", "kept/D")]);
    let ports: Vec<_> = paths.iter().map(|path| path.port.as_deref()).collect();
    assert_eq!(ports, [Some("leave"), Some("enter")]);
}

/// What a memory's output costs before the first LUT, and where its register is used.
#[test]
fn unregistered_memory_starts_late() {
    for (parameters, expected) in [(json!({}), 4), (json!({"OREG_A": "TRUE"}), 1)] {
        let mut memory =
            cell("URAM288", &["DOUT_A"], json!({"CLK": [2], "ADDR_A": [20], "DOUT_A": [10]}));
        memory["parameters"] = parameters;
        let cells = json!({"m": memory, "l1": lut(10, 11), "r1": register(2, 11, 20)});
        let paths = paths(&netlist(json!({ "top": top(cells, json!({"found": 20})) })));
        let last = paths.iter().find(|path| path.end == "found/D");
        assert_eq!(last.map(|path| path.levels), Some(expected));
    }
}

/// The same of a block RAM, each of whose two outputs has a register of its own.
#[test]
fn unregistered_block_ram_output_starts_late() {
    let on = "00000000000000000000000000000001";
    for (parameters, port, expected) in [
        (json!({}), "DOUTADOUT", 4),
        (json!({"DOA_REG": on}), "DOUTADOUT", 1),
        (json!({"DOA_REG": on}), "DOUTBDOUT", 4),
        (json!({"DOB_REG": on}), "DOUTBDOUT", 1),
    ] {
        let connections = json!({"CLKARDCLK": [2], "CLKBWRCLK": [2], port: [10]});
        let mut memory = cell("RAMB36E2", &[port], connections);
        memory["parameters"] = parameters;
        let cells = json!({"m": memory, "l1": lut(10, 11), "r1": register(2, 11, 20)});
        let paths = paths(&netlist(json!({ "top": top(cells, json!({"found": 20})) })));
        let last = paths.iter().find(|path| path.end == "found/D");
        assert_eq!(last.map(|path| path.levels), Some(expected), "{port}");
    }
}

#[test]
fn clocks_are_kept_apart() {
    let cells = json!({
        "r1": register(3, 10, 10), "l1": lut(10, 11), "r2": register(2, 11, 12),
    });
    assert_eq!(paths(&netlist(json!({ "top": top(cells, json!({})) }))), []);
}

#[test]
fn paths_cross_instances_and_distributed_memory() {
    let inner = json!({
        "ports": {
            "clock": {"direction": "input", "bits": [2]},
            "at": {"direction": "input", "bits": [3]},
            "data": {"direction": "output", "bits": [4]},
        },
        "cells": {
            "m": cell(
                "RAM64X1D",
                &["DPO"],
                json!({"DPRA0": [3], "A0": ["0"], "D": [3], "WCLK": [2], "DPO": [4]}),
            ),
        },
        "netnames": {},
    });
    let instance = cell("inner", &["data"], json!({"clock": [2], "at": [14], "data": [11]}));
    let cells = json!({
        "r1": register(2, 10, 10), "l0": lut(10, 14), "memory": instance,
        "l1": lut(11, 12), "r2": register(2, 12, 13),
    });
    let names = json!({"address": 10, "found": 13});
    let modules = json!({ "top": top(cells, names), "inner": inner });
    let paths = paths(&netlist(modules));
    let worst = &paths[0];
    assert_eq!((worst.levels, &worst.start[..], &worst.end[..]), (3, "address", "found/D"));
    let places: Vec<&str> = worst.steps.iter().map(|s| s.instance.as_str()).collect();
    assert_eq!(places, ["", "memory", ""]);
    let ends_inside = |path: &&Path| path.block == "memory" && path.levels == 1;
    assert!(paths.iter().any(|path| ends_inside(&path)), "the data input of the memory is an end");
}

#[test]
fn a_loop_is_refused() {
    let cells = json!({"l1": lut(10, 11), "l2": lut(11, 10)});
    let netlist = netlist(json!({ "top": top(cells, json!({})) }));
    let flat = Flat::of(&netlist, "top").expect("complete");
    assert!(Timing::of(&flat, 2, Vec::new()).is_err());
}
