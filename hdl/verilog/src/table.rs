//! The signals that a kernel can name: its own, its children's ports, and the registers.
//!
//! ```text
//!   field `count: DFF<..>`   ──> Register { q: `count$q`, d: `count$d`, clock: `count$clock` }
//!   field `fifo: Fifo<..>`   ──> `fifo$sink$valid` (ChildInput), `fifo$level` (ChildOutput)
//! ```

use std::collections::HashMap;

use rust_hdl_core::prelude::Verilog;

use crate::tree::{EnumValue, Node, Role};
use crate::value::Value;

/// What drives a signal and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Input,
    Output,
    Pad,
    Local,
    Constant,
    /// Input of child number .0: driven by this kernel.
    ChildInput(usize),
    /// Output of child number .0.
    ChildOutput(usize),
    /// Pad of child number .0.
    ChildPad(usize),
    /// Output of register number .0.
    Q(usize),
    /// Input of register number .0.
    D(usize),
    /// Clock of register number .0.
    RegisterClock(usize),
}

impl Kind {
    /// True if kernels may write it.
    pub(crate) fn is_target(self) -> bool {
        matches!(
            self,
            Kind::Output | Kind::Local | Kind::ChildInput(_) | Kind::D(_) | Kind::RegisterClock(_)
        )
    }

    /// True if a read sees the settled value, whatever was assigned above it: rust-hdl's inputs.
    pub(crate) fn reads_settled(self) -> bool {
        !matches!(self, Kind::Local | Kind::Output)
    }
}

/// A signal.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    pub(crate) field: String,
    pub(crate) kind: Kind,
    pub(crate) width: usize,
    pub(crate) is_signed: bool,
    /// Of a constant.
    pub(crate) value: Value,
}

/// A flip-flop.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) field: String,
    pub(crate) q: usize,
    pub(crate) d: usize,
    pub(crate) clock: usize,
    pub(crate) initial: Value,
}

/// A child that becomes an instance.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) field: String,
    /// Index among the node's children.
    pub(crate) node: usize,
    /// Its ports in order: their field there, and the signal here.
    pub(crate) ports: Vec<(String, usize)>,
}

/// All that a kernel can name.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) signals: Vec<Signal>,
    pub(crate) registers: Vec<Register>,
    pub(crate) children: Vec<Child>,
    pub(crate) enums: Vec<EnumValue>,
    by_field: HashMap<String, usize>,
}

impl Table {
    pub(crate) fn of(node: &Node) -> Table {
        let mut table = Table { enums: node.enums.clone(), ..Table::default() };
        for atom in &node.atoms {
            let kind = match atom.role {
                Role::Input => Kind::Input,
                Role::Output => Kind::Output,
                Role::Pad => Kind::Pad,
                Role::Local => Kind::Local,
                Role::Constant => Kind::Constant,
            };
            table.add(Signal {
                field: atom.field.clone(),
                kind,
                width: atom.width,
                is_signed: atom.is_signed,
                value: atom.value.clone(),
            });
        }
        for (index, child) in node.children.iter().enumerate() {
            match register_initial(child) {
                Some(initial) => table.add_register(child, initial),
                None => table.add_child(child, index),
            }
        }
        table
    }

    fn add(&mut self, signal: Signal) -> usize {
        let index = self.signals.len();
        self.by_field.insert(signal.field.clone(), index);
        self.signals.push(signal);
        index
    }

    fn add_port(&mut self, child: &Node, field: &str, kind: Kind) -> usize {
        let atom = child.atoms.iter().find(|atom| atom.field == field);
        self.add(Signal {
            field: format!("{}${field}", child.name),
            kind,
            width: atom.map_or(0, |atom| atom.width),
            is_signed: atom.is_some_and(|atom| atom.is_signed),
            value: Value::default(),
        })
    }

    fn add_register(&mut self, child: &Node, initial: Value) {
        let number = self.registers.len();
        let register = Register {
            field: child.name.clone(),
            q: self.add_port(child, "q", Kind::Q(number)),
            d: self.add_port(child, "d", Kind::D(number)),
            clock: self.add_port(child, "clock", Kind::RegisterClock(number)),
            initial,
        };
        self.registers.push(register);
    }

    fn add_child(&mut self, child: &Node, node: usize) {
        let number = self.children.len();
        let mut ports = Vec::new();
        for atom in &child.atoms {
            let kind = match atom.role {
                Role::Input => Kind::ChildInput(number),
                Role::Output => Kind::ChildOutput(number),
                Role::Pad => Kind::ChildPad(number),
                Role::Local | Role::Constant => continue,
            };
            ports.push((atom.field.clone(), self.add_port(child, &atom.field, kind)));
        }
        self.children.push(Child { field: child.name.clone(), node, ports });
    }

    /// The signal of that field path.
    pub(crate) fn find(&self, field: &str) -> Option<usize> {
        self.by_field.get(field).copied()
    }

    /// The enumeration value whose path ends so.
    pub(crate) fn find_enum(&self, path: &str) -> Option<&EnumValue> {
        let tail: Vec<&str> = path.rsplit('$').take(2).collect();
        let (label, owner) = (tail.first()?, tail.get(1)?);
        let wanted = format!("{owner}${label}");
        self.enums.iter().find(|value| value.path == wanted)
    }
}

/// The initial value if the block is the flip-flop of rust-hdl's widgets.
pub(crate) fn register_initial(node: &Node) -> Option<Value> {
    let Verilog::Custom(text) = &node.code else {
        return None;
    };
    let fields: Vec<&str> = node.atoms.iter().map(|atom| atom.field.as_str()).collect();
    if !node.children.is_empty() || fields != ["d", "q", "clock"] {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_flip_flop = matches!(
        words[..],
        [
            "initial",
            "begin",
            "q",
            "=",
            _,
            "end",
            "always",
            "@(posedge",
            "clock)",
            "begin",
            "q",
            "<=",
            "d;",
            "end"
        ]
    );
    if !is_flip_flop {
        return None;
    }
    Value::parse(words[4].trim_end_matches(';'))
}
