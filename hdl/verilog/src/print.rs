//! Expressions and statements as text.
//!
//! Every binary operator below another is in parentheses, every constant has its width, every
//! widening is a concatenation. Where Verilog cannot slice an expression, the expression gets a
//! name first: a wire, or inside a combinational process a variable set just before its use.

use std::collections::HashMap;

use crate::expr::Expr;
use crate::kernel::Stmt;
use crate::names::Names;
use crate::table::{Kind, Table};

/// An expression that got a name.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) width: usize,
    pub(crate) text: String,
}

/// Prints in one module.
pub(crate) struct Printer<'a> {
    pub(crate) table: &'a Table,
    pub(crate) names: Names,
    /// Nets that are other nets.
    pub(crate) alias: HashMap<usize, usize>,
    /// Constants and enumeration values that were printed.
    pub(crate) used_constants: Vec<usize>,
    pub(crate) used_enums: Vec<usize>,
    /// Named expressions not yet written out.
    pub(crate) pending: Vec<Named>,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(table: &'a Table, names: Names) -> Printer<'a> {
        Printer {
            table,
            names,
            alias: HashMap::new(),
            used_constants: Vec::new(),
            used_enums: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The name of a signal, through its aliases.
    pub(crate) fn signal(&mut self, mut index: usize) -> String {
        while let Some(&other) = self.alias.get(&index) {
            index = other;
        }
        if self.table.signals[index].kind == Kind::Constant && !self.used_constants.contains(&index)
        {
            self.used_constants.push(index);
        }
        self.names.signal(index).to_owned()
    }

    /// The expression where nothing binds it: a right side, a bracket, an argument.
    pub(crate) fn expression(&mut self, expression: &Expr) -> String {
        match expression {
            Expr::Signal(signal) => self.signal(*signal),
            Expr::Const(value, width) => value.verilog(*width),
            Expr::Enum(index) => {
                if !self.used_enums.contains(index) {
                    self.used_enums.push(*index);
                }
                self.names.enums[*index].clone()
            }
            Expr::Unary(op, inner, _) => format!("{op}{}", self.operand(inner)),
            Expr::Binary(op, left, right, _) => {
                format!("{} {op} {}", self.operand(left), self.operand(right))
            }
            Expr::Shift(op, left, amount) => match &**amount {
                Expr::Const(by, _) if by.to_u64().is_some() => {
                    format!("{} {op} {}", self.operand(left), by.to_u64().unwrap_or(0))
                }
                amount => format!("{} {op} {}", self.operand(left), self.operand(amount)),
            },
            Expr::Concat(parts, _) => {
                let parts: Vec<String> = parts.iter().map(|p| self.expression(p)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Expr::Widen(inner, width) => {
                let zeros = width - inner.width(self.table);
                format!("{{{zeros}'d0, {}}}", self.expression(inner))
            }
            Expr::Part { signal, low, width } => {
                format!("{}{}", self.signal(*signal), range(*low, *width))
            }
            Expr::PartOf { base, low, width } => {
                let name = self.named("part", base);
                format!("{name}{}", range(*low, *width))
            }
            Expr::Pick { base, offset, width } => self.pick(base, offset, *width),
        }
    }

    fn pick(&mut self, base: &Expr, offset: &Expr, width: usize) -> String {
        let own = base.width(self.table);
        if own == 1 {
            return self.expression(base);
        }
        let index_bits = rust_hdl_core::prelude::clog2(own).max(1);
        let offset = offset.clone().resized(index_bits, self.table);
        let offset = self.expression(&offset);
        let name = match base {
            Expr::Signal(signal) if self.table.signals[*signal].kind != Kind::Constant => {
                self.signal(*signal)
            }
            Expr::Widen(..) => self.named("padded", base),
            _ => self.named("part", base),
        };
        if width == 1 {
            format!("{name}[{offset}]")
        } else {
            format!("{name}[{offset} +: {width}]")
        }
    }

    fn named(&mut self, stem: &str, expression: &Expr) -> String {
        let text = self.expression(expression);
        let name = self.names.fresh(stem);
        self.pending.push(Named { name: name.clone(), width: expression.width(self.table), text });
        name
    }

    /// The expression as operand of an operator.
    fn operand(&mut self, expression: &Expr) -> String {
        let text = self.expression(expression);
        match expression {
            Expr::Unary(..) | Expr::Binary(..) | Expr::Shift(..) => format!("({text})"),
            _ => text,
        }
    }
}

/// `[7:0]` of a part; `[3]` of a bit.
pub(crate) fn range(low: usize, width: usize) -> String {
    if width == 1 {
        format!("[{low}]")
    } else {
        format!("[{}:{low}]", low + width - 1)
    }
}

/// Prints statements of one process.
pub(crate) struct Process<'p, 'a> {
    pub(crate) printer: &'p mut Printer<'a>,
    /// Assigns registers, at the clock edge.
    pub(crate) is_clocked: bool,
    pub(crate) lines: Vec<String>,
    /// Named expressions of the process.
    pub(crate) variables: Vec<(String, usize)>,
}

impl Process<'_, '_> {
    pub(crate) fn block(&mut self, statements: &[Stmt], depth: usize) {
        for statement in statements {
            self.statement(statement, depth);
        }
    }

    fn line(&mut self, depth: usize, text: String) {
        self.lines.push(format!("{}{text}", "    ".repeat(depth)));
    }

    /// In a combinational process, sets the variables that the next line uses.
    fn settle(&mut self, depth: usize) {
        if self.is_clocked {
            return;
        }
        for named in std::mem::take(&mut self.printer.pending) {
            self.line(depth, format!("{} = {};", named.name, named.text));
            self.variables.push((named.name, named.width));
        }
    }

    fn target(&mut self, target: usize, low: usize, width: usize) -> String {
        let table = self.printer.table;
        let assigned = match table.signals[target].kind {
            Kind::D(register) if self.is_clocked => table.registers[register].q,
            _ => target,
        };
        let name = self.printer.names.signal(assigned).to_owned();
        if width == table.signals[target].width {
            name
        } else {
            format!("{name}{}", range(low, width))
        }
    }

    fn statement(&mut self, statement: &Stmt, depth: usize) {
        match statement {
            Stmt::Assign { target, low, width, value } => {
                let value = self.printer.expression(value);
                self.settle(depth);
                let target = self.target(*target, *low, *width);
                let sign = if self.is_clocked { "<=" } else { "=" };
                self.line(depth, format!("{target} {sign} {value};"));
            }
            Stmt::If { test, then, otherwise } => self.conditional(test, then, otherwise, depth),
            Stmt::Case { test, arms } => {
                let test = self.printer.expression(test);
                self.settle(depth);
                self.line(depth, format!("case ({test})"));
                for (label, block) in arms {
                    let label = match label {
                        Some(label) => self.printer.expression(label),
                        None => "default".to_owned(),
                    };
                    if block.is_empty() {
                        self.line(depth + 1, format!("{label}: ;"));
                    } else {
                        self.line(depth + 1, format!("{label}: begin"));
                        self.block(block, depth + 2);
                        self.line(depth + 1, "end".to_owned());
                    }
                }
                self.line(depth, "endcase".to_owned());
            }
        }
    }

    fn conditional(&mut self, test: &Expr, then: &[Stmt], otherwise: &[Stmt], depth: usize) {
        let (mut test, mut then, mut otherwise) = (test.clone(), then, otherwise);
        let mut opening = "if";
        loop {
            if then.is_empty() {
                test = Expr::Unary("~", Box::new(test), 1);
                (then, otherwise) = (otherwise, then);
            }
            let text = self.printer.expression(&test);
            if self.printer.pending.is_empty() || self.is_clocked || opening == "if" {
                self.settle(depth);
                self.line(depth, format!("{opening} ({text}) begin"));
                self.block(then, depth + 1);
            } else {
                // The test needs a variable, which can only be set inside the `else`.
                self.line(depth, "end else begin".to_owned());
                self.settle(depth + 1);
                self.line(depth + 1, format!("if ({text}) begin"));
                self.block(then, depth + 2);
                if !otherwise.is_empty() {
                    self.line(depth + 1, "end else begin".to_owned());
                    self.block(otherwise, depth + 2);
                }
                self.line(depth + 1, "end".to_owned());
                otherwise = &[];
            }
            match otherwise {
                [] => break,
                [Stmt::If { test: next, then: next_then, otherwise: next_otherwise }] => {
                    test = next.clone();
                    then = next_then;
                    otherwise = next_otherwise;
                    opening = "end else if";
                }
                block => {
                    self.line(depth, "end else begin".to_owned());
                    self.block(block, depth + 1);
                    break;
                }
            }
        }
        self.line(depth, "end".to_owned());
    }
}
