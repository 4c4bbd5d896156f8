//! What the probe finds: the tree of blocks with their signals and code.
//!
//! ```text
//!   Block::accept ──> TreeProbe ──> Node { atoms, children, code }
//! ```

use rust_hdl_core::prelude::*;
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeKind};

use crate::value::Value;

/// What a signal is to its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
    Pad,
    Local,
    Constant,
}

/// A signal or constant of a block.
#[derive(Clone, Debug)]
pub(crate) struct AtomInfo {
    /// Path from the block, parts joined by `$`.
    pub(crate) field: String,
    pub(crate) role: Role,
    pub(crate) width: usize,
    pub(crate) is_signed: bool,
    pub(crate) value: Value,
}

/// An enumeration value: `State::Idle`, its number, its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) path: String,
    pub(crate) number: u64,
    pub(crate) width: usize,
}

/// A block.
#[derive(Debug)]
pub(crate) struct Node {
    /// Field name in the parent, `$` before an array index.
    pub(crate) name: String,
    pub(crate) atoms: Vec<AtomInfo>,
    pub(crate) enums: Vec<EnumValue>,
    pub(crate) children: Vec<Node>,
    pub(crate) code: Verilog,
    /// The struct's fields in order, as far as the probe sees them.
    pub(crate) fields: Vec<String>,
}

impl Node {
    /// The tree below `block`.
    pub(crate) fn of(block: &dyn Block, name: &str) -> Option<Node> {
        let mut probe = TreeProbe::default();
        block.accept(name, &mut probe);
        probe.root
    }

    fn add_field(&mut self, name: &str) {
        let base = name.split('$').next().unwrap_or(name);
        if self.fields.last().map(String::as_str) != Some(base) {
            self.fields.push(base.to_owned());
        }
    }

    fn add_enums(&mut self, descriptor: &TypeDescriptor) {
        match &descriptor.kind {
            TypeKind::Enum(labels) => {
                for (number, label) in labels.iter().enumerate() {
                    let value = EnumValue {
                        path: label.replace("::", "$"),
                        number: number as u64,
                        width: clog2(labels.len()),
                    };
                    if !self.enums.contains(&value) {
                        self.enums.push(value);
                    }
                }
            }
            TypeKind::Composite(fields) => {
                fields.iter().for_each(|field| self.add_enums(&field.kind));
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct TreeProbe {
    open: Vec<Node>,
    namespace: Vec<String>,
    root: Option<Node>,
}

impl Probe for TreeProbe {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        if let Some(parent) = self.open.last_mut() {
            parent.add_field(name);
        }
        self.namespace.clear();
        self.open.push(Node {
            name: name.to_owned(),
            atoms: Vec::new(),
            enums: Vec::new(),
            children: Vec::new(),
            code: node.hdl(),
            fields: Vec::new(),
        });
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        if let (true, Some(node)) = (self.namespace.is_empty(), self.open.last_mut()) {
            node.add_field(name);
        }
        self.namespace.push(name.to_owned());
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let Some(node) = self.open.last_mut() else {
            return;
        };
        if self.namespace.is_empty() {
            node.add_field(name);
        }
        let role = match signal.kind() {
            AtomKind::InputParameter | AtomKind::StubInputSignal => Role::Input,
            AtomKind::OutputParameter
            | AtomKind::OutputPassthrough
            | AtomKind::StubOutputSignal => Role::Output,
            AtomKind::InOutParameter => Role::Pad,
            AtomKind::LocalSignal => Role::Local,
            AtomKind::Constant => Role::Constant,
        };
        let mut field = self.namespace.join("$");
        if !field.is_empty() {
            field.push('$');
        }
        field.push_str(name);
        let descriptor = signal.descriptor();
        node.add_enums(&descriptor);
        node.atoms.push(AtomInfo {
            field,
            role,
            width: signal.bits(),
            is_signed: matches!(descriptor.kind, TypeKind::Signed(_)),
            value: Value::of_literal(&signal.verilog()).unwrap_or_default(),
        });
        if role != Role::Local && role != Role::Constant {
            let depth = self.open.len();
            if depth > 1 {
                self.open[depth - 2].add_enums(&descriptor);
            }
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some(node) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.root = Some(node),
        }
    }
}
