//! One block as one module: ports, constants, nets, instances, processes.
//!
//! ```text
//!   module NAME ( ports );
//!       localparam ...        constants and enumeration values in use
//!       reg, wire ...         registers, then nets
//!       child instances       connected to nets and ports directly
//!       assign, always @*     the kernel, in its order
//!       always @(posedge ..)  the registers, by clock
//!   endmodule
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rust_hdl_core::prelude::Verilog;

use crate::error::{Found, Reason};
use crate::expr::Expr;
use crate::kernel::{statements, PadJoin, Stmt};
use crate::latch;
use crate::names::Names;
use crate::order::{groups, without_dead, Group};
use crate::parts::joined;
use crate::prepare::{clocks, drop_hold, with_unwritten};
use crate::print::{range, Printer, Process};
use crate::table::{Kind, Table};
use crate::tree::Node;

/// A module's text after its header, and what its names mean.
pub(crate) struct Body {
    /// Declaration of each port: direction and type, Verilog name, field, width.
    pub(crate) ports: Vec<PortLine>,
    /// Lines between the port list and `endmodule`.
    pub(crate) lines: Vec<String>,
    /// Verilog name to field path, for all signals.
    pub(crate) fields: BTreeMap<String, String>,
    /// Labels of `generate` loops.
    pub(crate) scopes: Vec<String>,
    /// Instance names, with the child's number among the node's children.
    pub(crate) instances: Vec<(String, usize)>,
}

/// A port.
pub(crate) struct PortLine {
    pub(crate) direction: &'static str,
    pub(crate) is_reg: bool,
    pub(crate) name: String,
    pub(crate) field: String,
    pub(crate) width: usize,
}

/// The body of a block with a kernel; `definitions` names the module of each child, `kept` the
/// registers that tools leave as they are.
pub(crate) fn body(node: &Node, definitions: &[String], kept: &[&str]) -> Found<Body> {
    let table = Table::of(node);
    let code = match &node.code {
        Verilog::Combinatorial(code) => code.clone(),
        _ => Vec::new(),
    };
    let (statements, pads) = statements(&code, &table)?;
    let (clocks, statements) = clocks(statements, &table)?;
    let statements = without_dead(with_unwritten(statements, &table), &table);
    let mut groups = groups(&statements, &table, &clocks)?;
    for group in &mut groups {
        latch::check(group, &table)?;
        let statements = std::mem::take(&mut group.statements);
        group.statements = without_dead(joined(statements, &table), &table);
    }
    let names = Names::of(&table)?;
    let mut builder = Builder {
        printer: Printer::new(&table, names),
        table: &table,
        kept,
        connections: HashMap::new(),
        read: BTreeSet::new(),
        registers_written: BTreeSet::new(),
        regs: BTreeSet::new(),
        wires: BTreeSet::new(),
        logic: Vec::new(),
        processes: Vec::new(),
        clocked: BTreeMap::new(),
    };
    builder.alias(&groups, &clocks, &pads)?;
    builder.instances_wires();
    for group in &groups {
        builder.group(group);
    }
    builder.plain_registers(&clocks);
    Ok(builder.finish(definitions))
}

struct Builder<'a> {
    printer: Printer<'a>,
    table: &'a Table,
    /// Registers that tools leave as they are.
    kept: &'a [&'a str],
    /// What a child's port is connected to, if not to a net of its own.
    connections: HashMap<usize, Expr>,
    /// Signals that something reads.
    read: BTreeSet<usize>,
    registers_written: BTreeSet<usize>,
    /// Signals that a process assigns.
    regs: BTreeSet<usize>,
    /// Nets to declare.
    wires: BTreeSet<usize>,
    /// Continuous assignments and combinational processes, each a paragraph.
    logic: Vec<Vec<String>>,
    /// Processes of registers, each a paragraph.
    processes: Vec<Vec<String>>,
    /// Lines of the registers with a single assignment, by clock.
    clocked: BTreeMap<usize, Vec<String>>,
}

impl Builder<'_> {
    /// Joins and plain connections need no net between them.
    fn alias(&mut self, groups: &[Group], clocks: &[usize], pads: &[PadJoin]) -> Found<()> {
        let mut read = BTreeSet::new();
        for group in groups {
            for statement in &group.statements {
                statement.reads(&mut |signal| {
                    read.insert(signal);
                });
            }
        }
        read.extend(clocks);
        self.read = read.clone();
        let kind = |signal: usize| self.table.signals[signal].kind;
        for (target, value) in groups.iter().filter_map(|group| group.single(self.table)) {
            match (kind(target), value) {
                (Kind::ChildInput(_), Expr::Signal(source)) => {
                    self.printer.alias.insert(target, *source);
                }
                (Kind::ChildInput(_), Expr::Const(..) | Expr::Part { .. } | Expr::Enum(_))
                    if !read.contains(&target) =>
                {
                    self.connections.insert(target, value.clone());
                }
                (Kind::Output, Expr::Signal(source))
                    if matches!(kind(*source), Kind::ChildOutput(_))
                        && !self.printer.alias.contains_key(source) =>
                {
                    self.printer.alias.insert(*source, target);
                }
                _ => {}
            }
        }
        for PadJoin(one, other) in pads {
            let (pad, child) = match (kind(*one), kind(*other)) {
                (Kind::Pad, Kind::ChildPad(_)) => (one, other),
                (Kind::ChildPad(_), Kind::Pad) => (other, one),
                _ => return Err((self.table.signals[*one].field.clone(), Reason::Pad)),
            };
            self.printer.alias.insert(*child, *pad);
        }
        Ok(())
    }

    /// Declares a net for each child port that is not connected directly.
    fn instances_wires(&mut self) {
        for child in &self.table.children {
            for (_, signal) in &child.ports {
                let is_output = matches!(self.table.signals[*signal].kind, Kind::ChildOutput(_));
                if !self.is_direct(*signal) && (!is_output || self.read.contains(signal)) {
                    self.wires.insert(*signal);
                }
            }
        }
    }

    fn is_direct(&self, target: usize) -> bool {
        self.printer.alias.contains_key(&target) || self.connections.contains_key(&target)
    }

    fn group(&mut self, group: &Group) {
        if let Some(clock) = group.clock {
            self.clocked_group(group, clock);
            return;
        }
        if let Some((target, value)) = group.single(self.table) {
            let reverse = match value {
                Expr::Signal(source) => self.printer.alias.get(source) == Some(&target),
                _ => false,
            };
            if self.is_direct(target) || reverse {
                return;
            }
        }
        self.wires.extend(group.targets.iter().copied());
        if let Some(lines) = self.assigns(group) {
            self.add_assigns(lines);
            return;
        }
        self.regs.extend(group.targets.iter().copied());
        let mut process = Process {
            printer: &mut self.printer,
            is_clocked: false,
            lines: Vec::new(),
            variables: Vec::new(),
        };
        process.block(&group.statements, 1);
        let (lines, variables) = (process.lines, process.variables);
        let mut text = Vec::new();
        for (name, width) in &variables {
            text.push(format!("reg {}{name};", vector(*width)));
        }
        text.push("always @* begin".to_owned());
        for (name, width) in &variables {
            text.push(format!("    {name} = {width}'d0;"));
        }
        text.extend(lines);
        text.push("end".to_owned());
        self.logic.push(text);
    }

    /// Neighbouring assignments form one paragraph.
    fn add_assigns(&mut self, lines: Vec<String>) {
        match self.logic.last_mut() {
            Some(last) if last.last().is_some_and(|line| line != "end") => last.extend(lines),
            _ => self.logic.push(lines),
        }
    }

    /// Continuous assignments, if the group is nothing but assignments to different bits.
    fn assigns(&mut self, group: &Group) -> Option<Vec<String>> {
        let mut taken: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for statement in &group.statements {
            let Stmt::Assign { target, low, width, .. } = statement else {
                return None;
            };
            let parts = taken.entry(*target).or_default();
            if parts.iter().any(|(l, w)| *low < l + w && *l < low + width) {
                return None;
            }
            parts.push((*low, *width));
        }
        let mut lines = Vec::new();
        for statement in &group.statements {
            if let Stmt::Assign { target, low, width, value } = statement {
                let value = self.printer.expression(value);
                lines.extend(self.pending_wires());
                let mut name = self.printer.names.signal(*target).to_owned();
                if *width != self.table.signals[*target].width {
                    name.push_str(&range(*low, *width));
                }
                lines.push(format!("assign {name} = {value};"));
            }
        }
        Some(lines)
    }

    fn pending_wires(&mut self) -> Vec<String> {
        let pending = std::mem::take(&mut self.printer.pending);
        let line =
            |n: crate::print::Named| format!("wire {}{} = {};", vector(n.width), n.name, n.text);
        pending.into_iter().map(line).collect()
    }

    fn clocked_group(&mut self, group: &Group, clock: usize) {
        let mut statements = group.statements.clone();
        for target in &group.targets {
            if let Kind::D(register) = self.table.signals[*target].kind {
                self.registers_written.insert(register);
                drop_hold(&mut statements, *target, self.table.registers[register].q);
            }
        }
        let mut process = Process {
            printer: &mut self.printer,
            is_clocked: true,
            lines: Vec::new(),
            variables: Vec::new(),
        };
        process.block(&statements, 1);
        let lines = process.lines;
        let wires = self.pending_wires();
        if !wires.is_empty() {
            self.add_assigns(wires);
        }
        if statements.iter().all(|s| matches!(s, Stmt::Assign { .. })) {
            self.clocked.entry(clock).or_default().extend(lines);
            return;
        }
        let clock = self.printer.signal(clock);
        self.processes.push(clocked_process(&clock, lines));
    }

    /// Registers whose next value has a net: it is read, or depends on the order of assignments.
    fn plain_registers(&mut self, clocks: &[usize]) {
        for (index, register) in self.table.registers.iter().enumerate() {
            if self.registers_written.contains(&index) {
                continue;
            }
            let (q, d) = (
                self.printer.names.signal(register.q).to_owned(),
                self.printer.names.signal(register.d).to_owned(),
            );
            self.wires.insert(register.d);
            let lines = self.clocked.entry(clocks[index]).or_default();
            lines.push(format!("    {q} <= {d};"));
        }
    }

    fn finish(mut self, definitions: &[String]) -> Body {
        let instances = self.instances(definitions);
        for (clock, lines) in std::mem::take(&mut self.clocked) {
            if !lines.is_empty() {
                let clock = self.printer.signal(clock);
                self.processes.push(clocked_process(&clock, lines));
            }
        }
        let mut paragraphs = vec![self.constants(), self.declarations(), self.initial()];
        paragraphs.extend(instances);
        paragraphs.append(&mut self.logic);
        paragraphs.append(&mut self.processes);
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        let lines = paragraphs.join(&String::new());
        let children = self.table.children.iter();
        Body {
            ports: self.ports(),
            lines,
            fields: self.fields(),
            scopes: Vec::new(),
            instances: children
                .zip(&self.printer.names.instances)
                .map(|(child, name)| (name.clone(), child.node))
                .collect(),
        }
    }

    fn constants(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (index, signal) in self.table.signals.iter().enumerate() {
            if self.printer.used_constants.contains(&index) {
                lines.push(format!(
                    "localparam {}{} = {};",
                    vector(signal.width),
                    self.printer.names.signal(index),
                    signal.value.verilog(signal.width)
                ));
            }
        }
        for (index, value) in self.table.enums.iter().enumerate() {
            if self.printer.used_enums.contains(&index) {
                lines.push(format!(
                    "localparam {}{} = {}'d{};",
                    vector(value.width),
                    self.printer.names.enums[index],
                    value.width,
                    value.number
                ));
            }
        }
        lines
    }

    fn declarations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for register in &self.table.registers {
            let width = self.table.signals[register.q].width;
            let name = self.printer.names.signal(register.q);
            let mark = match self.kept.contains(&register.field.as_str()) {
                true => "(* keep = \"true\" *) ",
                false => "",
            };
            lines.push(format!("{mark}reg  {}{name};", vector(width)));
        }
        for signal in &self.wires {
            let entry = &self.table.signals[*signal];
            if entry.kind == Kind::Output || self.printer.alias.contains_key(signal) {
                continue;
            }
            let word = if self.regs.contains(signal) { "reg  " } else { "wire " };
            let name = self.printer.names.signal(*signal);
            lines.push(format!("{word}{}{name};", vector(entry.width)));
        }
        lines
    }

    /// The power-on values.
    fn initial(&self) -> Vec<String> {
        let assign = |register: &crate::table::Register| {
            let value = register.initial.verilog(self.table.signals[register.q].width);
            format!("    {} = {value};", self.printer.names.signal(register.q))
        };
        if self.table.registers.is_empty() {
            return Vec::new();
        }
        let mut lines = vec!["initial begin".to_owned()];
        lines.extend(self.table.registers.iter().map(assign));
        lines.push("end".to_owned());
        lines
    }

    fn instances(&mut self, definitions: &[String]) -> Vec<Vec<String>> {
        let mut sections = Vec::new();
        for (number, child) in self.table.children.iter().enumerate() {
            let definition = &definitions[child.node];
            let name = &self.printer.names.instances[number];
            let mut lines = vec![format!("{definition} {name} (")];
            let last = child.ports.len();
            for (index, (field, signal)) in child.ports.iter().enumerate() {
                let net = match self.connections.get(signal).cloned() {
                    Some(value) => self.printer.expression(&value),
                    None if self.wires.contains(signal) || self.is_direct(*signal) => {
                        self.printer.signal(*signal)
                    }
                    None => String::new(),
                };
                let comma = if index + 1 == last { "" } else { "," };
                let port = crate::names::port_name(field);
                lines.push(format!("    .{port}({net}){comma}"));
            }
            lines.push(");".to_owned());
            sections.push(lines);
        }
        sections
    }

    fn ports(&self) -> Vec<PortLine> {
        let mut ports = Vec::new();
        for (index, signal) in self.table.signals.iter().enumerate() {
            let direction = match signal.kind {
                Kind::Input => "input",
                Kind::Output => "output",
                Kind::Pad => "inout",
                _ => continue,
            };
            ports.push(PortLine {
                direction,
                is_reg: self.regs.contains(&index),
                name: self.printer.names.signal(index).to_owned(),
                field: signal.field.clone(),
                width: signal.width,
            });
        }
        ports
    }

    fn fields(&self) -> BTreeMap<String, String> {
        let signals = self.table.signals.iter().enumerate();
        signals
            .map(|(index, signal)| {
                let name = self.printer.names.signal(index).to_owned();
                (name, signal.field.replace('$', "."))
            })
            .collect()
    }
}

fn clocked_process(clock: &str, lines: Vec<String>) -> Vec<String> {
    let mut text = vec![format!("always @(posedge {clock}) begin")];
    text.extend(lines);
    text.push("end".to_owned());
    text
}

/// `[7:0] `, or nothing for one bit.
pub(crate) fn vector(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}
