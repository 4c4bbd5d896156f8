//! What each signal is called in Verilog.
//!
//! | Rust | Verilog |
//! |---|---|
//! | field `level`, field `valid` of bundle `sink` | `level`, `sink_valid` |
//! | field `count: DFF<..>` | register `count`, its next value `count_next` |
//! | port `sink.valid` of child `fifo`, the child | net `fifo_sink_valid`, instance `fifo` |
//! | child `lanes[3]` | instance `lanes_3` |
//! | `State::Idle` | localparam `State_Idle` |
//!
//! Ports and instances always get this name. Another signal whose name is taken joins its parts
//! with two underscores.

use std::collections::{BTreeMap, HashSet};

use crate::error::{Found, Reason};
use crate::reserved::is_reserved;
use crate::table::{Kind, Table};

/// The names of one module.
#[derive(Debug, Default)]
pub(crate) struct Names {
    signals: Vec<String>,
    pub(crate) instances: Vec<String>,
    pub(crate) enums: Vec<String>,
    used: HashSet<String>,
}

/// The Verilog name of a port, whose parts Rust-side names join by `$`.
pub fn port_name(field: &str) -> String {
    field.replace('$', "_")
}

impl Names {
    pub(crate) fn of(table: &Table) -> Found<Names> {
        let mut names =
            Names { signals: vec![String::new(); table.signals.len()], ..Names::default() };
        for (index, signal) in table.signals.iter().enumerate() {
            if matches!(signal.kind, Kind::Input | Kind::Output | Kind::Pad) {
                names.signals[index] = names.claim(&[port_name(&signal.field)])?;
            }
        }
        for child in &table.children {
            let name = names.claim(&[port_name(&child.field)])?;
            names.instances.push(name);
        }
        let mut late = BTreeMap::new();
        for (index, signal) in table.signals.iter().enumerate() {
            let field = &signal.field;
            match signal.kind {
                Kind::Local | Kind::Constant => {
                    names.signals[index] = names.claim(&candidates(field, "__local"))?;
                }
                Kind::Q(register) => {
                    let field = &table.registers[register].field;
                    names.signals[index] = names.claim(&candidates(field, "__q"))?;
                }
                Kind::D(register) => {
                    late.insert(index, format!("{}$next", table.registers[register].field));
                }
                Kind::Input | Kind::Output | Kind::Pad => {}
                _ => {
                    late.insert(index, field.clone());
                }
            }
        }
        for (index, field) in late {
            names.signals[index] = names.claim(&candidates(&field, "__net"))?;
        }
        for value in &table.enums {
            let name = names.claim(&candidates(&value.path, "__value"))?;
            names.enums.push(name);
        }
        Ok(names)
    }

    pub(crate) fn signal(&self, index: usize) -> &str {
        &self.signals[index]
    }

    /// A name that nothing else has, `stem` with a number.
    pub(crate) fn fresh(&mut self, stem: &str) -> String {
        let free = (1..)
            .map(|number| format!("{stem}_{number}"))
            .find(|name| !self.used.contains(name))
            .unwrap_or_default();
        self.used.insert(free.clone());
        free
    }

    fn claim(&mut self, candidates: &[String]) -> Found<String> {
        if let Some(reserved) = candidates.iter().find(|name| is_reserved(name)) {
            return Err((reserved.clone(), Reason::ReservedName));
        }
        let free = candidates.iter().find(|name| !self.used.contains(*name));
        let name = free.ok_or_else(|| (candidates[0].clone(), Reason::NameCollision))?;
        self.used.insert(name.clone());
        Ok(name.clone())
    }
}

fn candidates(field: &str, suffix: &str) -> [String; 3] {
    let name = port_name(field);
    let apart = field.replace('$', "__");
    let last = format!("{name}{suffix}");
    [name, apart, last]
}

/// `FrameFifo` as `frame_fifo`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut previous = '_';
    for character in name.chars() {
        let boundary = previous.is_ascii_lowercase() || previous.is_ascii_digit();
        if character.is_ascii_uppercase() && boundary {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
        previous = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_become_module_names() {
        assert_eq!(snake_case("FrameFifo"), "frame_fifo");
        assert_eq!(snake_case("MacReceive"), "mac_receive");
        assert_eq!(snake_case("Crc32By64"), "crc32_by64");
    }
}
