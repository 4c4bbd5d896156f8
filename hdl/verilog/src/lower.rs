//! From rust-hdl's expressions, which have lost their types, to expressions with widths.
//!
//! Rust checked the types, so both operands of an operator have the same width and a literal has
//! its neighbour's. What the syntax tree cannot tell is refused:
//! 1. A sum or difference as bit offset (`usize` or `Bits`?).
//! 2. Signed values.
//! 3. A value without any width.

use rust_hdl_core::ast::{VerilogExpression as Ast, VerilogOp as Op, VerilogOpUnary as Unary};

use crate::error::{Found, Reason};
use crate::expr::Expr;
use crate::path::{resolve, Loops};
use crate::show::show;
use crate::table::{Kind, Table};
use crate::value::Value;

/// Knows the names in scope.
pub(crate) struct Lower<'a> {
    pub(crate) table: &'a Table,
    pub(crate) loops: Loops,
}

impl Lower<'_> {
    /// The expression; `wanted` is the width that its surroundings demand, if they do.
    pub(crate) fn expression(&self, ast: &Ast, wanted: Option<usize>) -> Found<Expr> {
        let expression = self.lower(ast, wanted)?;
        match wanted {
            Some(right) if expression.width(self.table) != right => Err((
                show(ast),
                Reason::WidthMismatch { left: right, right: expression.width(self.table) },
            )),
            _ => Ok(expression),
        }
    }

    fn lower(&self, ast: &Ast, wanted: Option<usize>) -> Found<Expr> {
        if let Some(number) = self.number(ast) {
            let width = wanted.ok_or_else(|| (show(ast), Reason::UnknownWidth))?;
            return literal(ast, Value::of(number), width);
        }
        match ast {
            Ast::Signal(text) => self.named(text),
            Ast::Literal(value) => {
                let value = Value::of_literal(value).ok_or((show(ast), Reason::Signed))?;
                let width = self.width(ast)?.or(wanted);
                literal(ast, value, width.ok_or((show(ast), Reason::UnknownWidth))?)
            }
            Ast::Paren(inner) => self.lower(inner, wanted),
            Ast::Cast(inner, width) => match self.width(inner)? {
                None => self.lower(inner, Some(*width)),
                own => Ok(self.lower(inner, own)?.resized(*width, self.table)),
            },
            Ast::Signed(_) | Ast::Unsigned(_) => Err((show(ast), Reason::Signed)),
            Ast::Unary(op, inner) => self.unary(op, inner, wanted),
            Ast::Binary(left, op, right) => self.binary(ast, left, op, right, wanted),
            Ast::Index(base, offset) => self.pick(base, offset, 1),
            Ast::Slice(base, width, offset) => self.pick(base, offset, *width),
            Ast::IndexReplace(base, offset, bit) => self.replace(base, offset, bit),
        }
    }

    /// Width as far as the operands tell; None for plain numbers.
    fn width(&self, ast: &Ast) -> Found<Option<usize>> {
        if self.number(ast).is_some() {
            return Ok(None);
        }
        Ok(match ast {
            Ast::Signal(text) => Some(self.named(text)?.width(self.table)),
            Ast::Literal(literal) => literal.to_string().starts_with("1'").then_some(1),
            Ast::Paren(inner) | Ast::Unary(Unary::Not | Unary::Neg, inner) => self.width(inner)?,
            Ast::Cast(_, width) | Ast::Slice(_, width, _) => Some(*width),
            Ast::IndexReplace(base, _, _) => self.width(base)?,
            Ast::Binary(_, Op::Mul, _) => Some(32),
            Ast::Binary(left, Op::Shl | Op::Shr, _) => self.width(left)?,
            Ast::Binary(left, Op::Add | Op::Sub | Op::BitAnd | Op::BitOr | Op::BitXor, right) => {
                match self.width(left)? {
                    None => self.width(right)?,
                    width => width,
                }
            }
            Ast::Signed(_) | Ast::Unsigned(_) => return Err((show(ast), Reason::Signed)),
            Ast::Unary(..) | Ast::Binary(..) | Ast::Index(..) => Some(1),
        })
    }

    /// The value of an expression of literals and loop indices only.
    pub(crate) fn number(&self, ast: &Ast) -> Option<u64> {
        match ast {
            Ast::Literal(literal) => {
                let is_bool = literal.to_string().starts_with("1'");
                Value::of_literal(literal).filter(|_| !is_bool)?.to_u64()
            }
            Ast::Signal(text) => self.loops.value(text),
            Ast::Paren(inner) => self.number(inner),
            Ast::Binary(left, op, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                match op {
                    Op::Add => left.checked_add(right),
                    Op::Sub => left.checked_sub(right),
                    Op::Mul => left.checked_mul(right),
                    Op::BitAnd => Some(left & right),
                    Op::BitOr => Some(left | right),
                    Op::BitXor => Some(left ^ right),
                    Op::Shl => left.checked_shl(right as u32),
                    Op::Shr => left.checked_shr(right as u32),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn named(&self, text: &str) -> Found<Expr> {
        let name = resolve(text, &self.loops)?;
        if let Some(signal) = self.table.find(&name) {
            if self.table.signals[signal].is_signed {
                return Err((name, Reason::Signed));
            }
            if let Kind::RegisterClock(_) = self.table.signals[signal].kind {
                return Err((name, Reason::ClockExpression));
            }
            return Ok(Expr::Signal(signal));
        }
        let found = self.table.find_enum(&name);
        found
            .and_then(|value| self.table.enums.iter().position(|other| other == value))
            .map(Expr::Enum)
            .ok_or((name, Reason::UnknownName))
    }

    fn unary(&self, op: &Unary, inner: &Ast, wanted: Option<usize>) -> Found<Expr> {
        let own = self.width(inner)?;
        let (symbol, wanted) = match op {
            Unary::Not => ("~", own.or(wanted)),
            Unary::Neg => ("-", own.or(wanted)),
            Unary::All => ("&", own),
            Unary::Any => ("|", own),
            Unary::Xor => ("^", own),
        };
        let operand = self.expression(inner, wanted)?;
        let width = match op {
            Unary::Not | Unary::Neg => operand.width(self.table),
            _ => 1,
        };
        Ok(Expr::Unary(symbol, Box::new(operand), width))
    }

    fn binary(
        &self,
        whole: &Ast,
        left: &Ast,
        op: &Op,
        right: &Ast,
        wanted: Option<usize>,
    ) -> Found<Expr> {
        if matches!(op, Op::Shl | Op::Shr) {
            return self.shift(left, op, right);
        }
        let common = self.width(left)?.or(self.width(right)?);
        let (symbol, operand, width) = match op {
            Op::Add => ("+", common.or(wanted), None),
            Op::Sub => ("-", common.or(wanted), None),
            Op::BitAnd => ("&", common.or(wanted), None),
            Op::BitOr => ("|", common.or(wanted), None),
            Op::BitXor => ("^", common.or(wanted), None),
            Op::Mul => ("*", Some(16), Some(32)),
            Op::LogicalAnd => ("&&", Some(1), Some(1)),
            Op::LogicalOr => ("||", Some(1), Some(1)),
            Op::Eq => ("==", common, Some(1)),
            Op::Ne => ("!=", common, Some(1)),
            Op::Lt => ("<", common, Some(1)),
            Op::Le => ("<=", common, Some(1)),
            Op::Gt => (">", common, Some(1)),
            Op::Ge => (">=", common, Some(1)),
            Op::Shl | Op::Shr => unreachable!("handled above"),
        };
        let operand = operand.ok_or_else(|| (show(whole), Reason::UnknownWidth))?;
        let in_whole = |(_, reason)| match reason {
            reason @ Reason::WidthMismatch { .. } => (show(whole), reason),
            reason => (show(whole), reason),
        };
        let mut sides = [
            self.expression(left, Some(operand)).map_err(in_whole)?,
            self.expression(right, Some(operand)).map_err(in_whole)?,
        ];
        if matches!(op, Op::Mul) {
            sides = sides.map(|side| side.resized(32, self.table));
        }
        let [left, right] = sides.map(Box::new);
        Ok(Expr::Binary(symbol, left, right, width.unwrap_or(operand)))
    }

    fn shift(&self, left: &Ast, op: &Op, right: &Ast) -> Found<Expr> {
        let own = self.width(left)?;
        let left = self.expression(left, own)?;
        let amount = match self.number(right) {
            Some(number) => Expr::Const(Value::of(number), 32),
            None => self.expression(right, None)?,
        };
        let symbol = if matches!(op, Op::Shl) { "<<" } else { ">>" };
        Ok(Expr::Shift(symbol, Box::new(left), Box::new(amount)))
    }

    /// `get_bit` and `get_bits`. Rust panics beyond the end of a bit, gives zeros for bits there.
    fn pick(&self, base: &Ast, offset: &Ast, width: usize) -> Found<Expr> {
        let own = self.width(base)?;
        let base_expression = self.expression(base, own)?;
        let own = base_expression.width(self.table);
        if let Some(low) = self.number(offset) {
            let low = low as usize;
            if low > own || (width == 1 && low == own) {
                let end = low + width;
                return Err((show(base), Reason::PartBeyondEnd { end, width: own }));
            }
            return Ok(base_expression.part(low, width, self.table));
        }
        let offset = self.offset(offset)?;
        let reach = match offset.width(self.table) {
            bits if bits < 32 => ((1usize << bits) - 1).min(own) + width,
            _ => own + width,
        };
        let base = if width == 1 || reach <= own {
            base_expression
        } else {
            base_expression.resized(reach, self.table)
        };
        Ok(Expr::Pick { base: Box::new(base), offset: Box::new(offset), width })
    }

    /// A bit offset: a value of its own width, or such a value times a number.
    fn offset(&self, ast: &Ast) -> Found<Expr> {
        match ast {
            Ast::Paren(inner) => self.offset(inner),
            Ast::Binary(left, Op::Mul, right) => {
                let (value, by) = match (self.number(left), self.number(right)) {
                    (None, Some(by)) => (left, by),
                    (Some(by), None) => (right, by),
                    _ => return Err((show(ast), Reason::OffsetArithmetic)),
                };
                let value = self.offset(value)?;
                let width = value.width(self.table) + Value::of(by).bits().max(1);
                let [left, right] =
                    [value.resized(width, self.table), Expr::Const(Value::of(by), width)];
                Ok(Expr::Binary("*", Box::new(left), Box::new(right), width))
            }
            Ast::Binary(_, Op::Add | Op::Sub | Op::Shl, _) | Ast::Unary(Unary::Neg, _) => {
                Err((show(ast), Reason::OffsetArithmetic))
            }
            other => self.expression(other, None),
        }
    }

    fn replace(&self, base: &Ast, offset: &Ast, bit: &Ast) -> Found<Expr> {
        let own = self.width(base)?;
        let base = self.expression(base, own)?;
        let width = base.width(self.table);
        let amount = match self.number(offset) {
            Some(number) => Expr::Const(Value::of(number), 32),
            None => self.offset(offset)?,
        };
        let bit = self.expression(bit, Some(1))?.resized(width, self.table);
        let one = Expr::Const(Value::of(1), width);
        let mask = Expr::Shift("<<", Box::new(one), Box::new(amount.clone()));
        let mask = Expr::Unary("~", Box::new(mask), width);
        let kept = Expr::Binary("&", Box::new(base), Box::new(mask), width);
        let set = Expr::Shift("<<", Box::new(bit), Box::new(amount));
        Ok(Expr::Binary("|", Box::new(kept), Box::new(set), width))
    }
}

fn literal(ast: &Ast, value: Value, width: usize) -> Found<Expr> {
    if value.bits() > width {
        return Err((show(ast), Reason::LiteralTooWide(width)));
    }
    Ok(Expr::Const(value, width))
}
