//! Refuses expressions whose emitted Verilog may differ in meaning from the Rust.
//!
//! ```text
//!   block ── syntax trees of the kernels ──► rules 1-4 ──► [Finding]
//! ```
//!
//! The emitter prints operators without adding parentheses, casts as an AND with a mask, and
//! literals 32 bits wide; Verilog then widens what Rust wraps. The rules:
//! 1. A binary operator directly below a different one needs parentheses: Rust and Verilog bind
//!    `&`, `^`, `|` and comparisons differently.
//! 2. An operation that wraps (`+ - * << !` and negation) must not stand where anything other than
//!    an assignment decides its width: below a comparison, a cast, a shift, a reduction, a bit or
//!    slice offset, a `match`. It is assigned to a local signal of its own width first.
//! 3. Bits and slices are taken of signals only; Verilog has no slice of an expression.
//! 4. No signal or block has a name that Verilog or SystemVerilog reserves.
//!
//! The text of `Verilog::Custom` and `Verilog::Wrapper` is not checked.

use std::fmt;
use std::mem::discriminant;

use rust_hdl_core::ast::{
    VerilogExpression as Expression, VerilogMatch, VerilogOp as Op, VerilogOpUnary as Unary,
};
use rust_hdl_core::prelude::*;
use rust_hdl_core::verilog_visitor::{
    walk_binop, walk_cast, walk_index, walk_match, walk_slice, walk_unop,
};

use verilog::{is_reserved, show};

/// The rule that an expression or a name breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Rule 1: a binary operator below a different one, without parentheses.
    MixedOperators,
    /// Rule 2: an operation that wraps, at a width that is not its own.
    UnsizedWrap,
    /// Rule 3: a bit or a slice of an expression.
    SliceOfExpression,
    /// Rule 4: a name that Verilog or SystemVerilog reserves.
    ReservedName,
}

impl Rule {
    /// What to write instead.
    pub fn advice(self) -> &'static str {
        match self {
            Rule::MixedOperators => "put parentheses around each inner operator",
            Rule::UnsizedWrap => "assign the inner + - * << ! to a local signal of its width first",
            Rule::SliceOfExpression => "assign the expression to a local signal, then slice that",
            Rule::ReservedName => "choose a name that Verilog does not reserve",
        }
    }
}

/// One violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path of the block, parts joined by `$`: the name of its Verilog module.
    pub block: String,
    /// The rule that is violated.
    pub rule: Rule,
    /// The expression, printed close to its Rust source, or the name.
    pub expression: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`: {}", self.block, self.expression, self.rule.advice())
    }
}

/// Checks every kernel and every name in `block` and below it.
pub fn lint(block: &dyn Block, top_name: &str) -> Vec<Finding> {
    let mut probe = LintProbe::default();
    block.accept(top_name, &mut probe);
    probe.findings
}

#[derive(Default)]
struct LintProbe {
    path: Vec<String>,
    namespace: Vec<String>,
    findings: Vec<Finding>,
}

impl LintProbe {
    fn judge_name(&mut self, name: &str) {
        if is_reserved(name) {
            self.findings.push(Finding {
                block: self.path.join("$"),
                rule: Rule::ReservedName,
                expression: name.to_owned(),
            });
        }
    }
}

impl Probe for LintProbe {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.judge_name(name);
        self.path.push(name.to_owned());
        self.namespace.clear();
        if let Verilog::Combinatorial(code) = node.hdl() {
            let mut kernel = KernelLint { block: self.path.join("$"), findings: Vec::new() };
            kernel.visit_block(&code);
            self.findings.append(&mut kernel.findings);
        }
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_owned());
    }

    fn visit_atom(&mut self, name: &str, _signal: &dyn Atom) {
        if self.namespace.is_empty() {
            self.judge_name(name);
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.path.pop();
    }
}

struct KernelLint {
    block: String,
    findings: Vec<Finding>,
}

impl KernelLint {
    fn report(&mut self, rule: Rule, expression: String) {
        self.findings.push(Finding { block: self.block.clone(), rule, expression });
    }

    fn judge_context(&mut self, operand: &Expression, whole: impl Fn() -> String) {
        if wraps(operand) {
            self.report(Rule::UnsizedWrap, whole());
        }
    }

    fn judge_base(&mut self, base: &Expression, whole: impl Fn() -> String) {
        if !matches!(base, Expression::Signal(_)) {
            self.report(Rule::SliceOfExpression, whole());
        }
    }
}

impl VerilogVisitor for KernelLint {
    fn visit_binop(&mut self, left: &Expression, op: &Op, right: &Expression) {
        let whole = || show(&Expression::Binary(boxed(left), op.clone(), boxed(right)));
        for side in [left, right] {
            if let Expression::Binary(_, inner, _) = side {
                if discriminant(inner) != discriminant(op) {
                    self.report(Rule::MixedOperators, whole());
                }
            }
        }
        if is_comparison(op) || is_shift(op) {
            self.judge_context(left, whole);
            self.judge_context(right, whole);
        }
        walk_binop(self, left, op, right);
    }

    fn visit_unop(&mut self, op: &Unary, operand: &Expression) {
        if matches!(op, Unary::All | Unary::Any | Unary::Xor) {
            self.judge_context(operand, || show(&Expression::Unary(op.clone(), boxed(operand))));
        }
        walk_unop(self, op, operand);
    }

    fn visit_cast(&mut self, operand: &Expression, bits: &usize) {
        self.judge_context(operand, || show(&Expression::Cast(boxed(operand), *bits)));
        walk_cast(self, operand, bits);
    }

    fn visit_signed(&mut self, operand: &Expression) {
        self.judge_context(operand, || show(&Expression::Signed(boxed(operand))));
        self.visit_expression(operand);
    }

    fn visit_unsigned(&mut self, operand: &Expression) {
        self.judge_context(operand, || show(&Expression::Unsigned(boxed(operand))));
        self.visit_expression(operand);
    }

    fn visit_index(&mut self, base: &Expression, offset: &Expression) {
        let whole = || show(&Expression::Index(boxed(base), boxed(offset)));
        self.judge_base(base, whole);
        self.judge_context(offset, whole);
        walk_index(self, base, offset);
    }

    fn visit_slice(&mut self, base: &Expression, bits: &usize, offset: &Expression) {
        let whole = || show(&Expression::Slice(boxed(base), *bits, boxed(offset)));
        self.judge_base(base, whole);
        self.judge_context(offset, whole);
        walk_slice(self, base, bits, offset);
    }

    fn visit_match(&mut self, choice: &VerilogMatch) {
        self.judge_context(&choice.test, || format!("match {}", show(&choice.test)));
        walk_match(self, choice);
    }
}

/// A part of an expression that is assembled for a finding.
fn boxed(part: &Expression) -> Box<Expression> {
    Box::new(part.clone())
}

/// True if an operation in the width context of `expression` can carry out of its own width.
fn wraps(expression: &Expression) -> bool {
    match expression {
        Expression::Paren(inner) => wraps(inner),
        Expression::Unary(Unary::Not | Unary::Neg, _) => true,
        Expression::Binary(left, op, right) => match op {
            Op::Add | Op::Sub | Op::Mul | Op::Shl => true,
            Op::Shr => wraps(left),
            Op::BitAnd | Op::BitOr | Op::BitXor => wraps(left) || wraps(right),
            _ => false,
        },
        _ => false,
    }
}

fn is_comparison(op: &Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

fn is_shift(op: &Op) -> bool {
    matches!(op, Op::Shl | Op::Shr)
}
