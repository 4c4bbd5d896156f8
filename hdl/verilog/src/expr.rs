//! Expressions in which every operand has its width: what Rust means, in Verilog's terms.

use crate::table::Table;
use crate::value::Value;

/// An expression; widths of operands agree as each operator demands.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Signal(usize),
    Const(Value, usize),
    /// An enumeration value: index in the table.
    Enum(usize),
    /// `~`, `-` keep the width of the operand; `&`, `|`, `^` reduce to one bit.
    Unary(&'static str, Box<Expr>, usize),
    /// Of operands of equal width; comparisons and `&&`, `||` give one bit.
    Binary(&'static str, Box<Expr>, Box<Expr>, usize),
    /// `<<`, `>>` by an amount of its own width.
    Shift(&'static str, Box<Expr>, Box<Expr>),
    /// One after the other, the first on top.
    Concat(Vec<Expr>, usize),
    /// Zeros above the highest bit.
    Widen(Box<Expr>, usize),
    /// Bits `low ..` of a signal.
    Part {
        signal: usize,
        low: usize,
        width: usize,
    },
    /// Bits `low ..` of something that Verilog cannot slice.
    PartOf {
        base: Box<Expr>,
        low: usize,
        width: usize,
    },
    /// Bits from a computed offset.
    Pick {
        base: Box<Expr>,
        offset: Box<Expr>,
        width: usize,
    },
}

impl Expr {
    /// Width in bits.
    pub(crate) fn width(&self, table: &Table) -> usize {
        match self {
            Expr::Signal(signal) => table.signals[*signal].width,
            Expr::Enum(index) => table.enums[*index].width,
            Expr::Const(_, width)
            | Expr::Unary(_, _, width)
            | Expr::Binary(_, _, _, width)
            | Expr::Widen(_, width)
            | Expr::Concat(_, width)
            | Expr::Part { width, .. }
            | Expr::PartOf { width, .. }
            | Expr::Pick { width, .. } => *width,
            Expr::Shift(_, left, _) => left.width(table),
        }
    }

    /// Calls `visit` for every signal read.
    pub(crate) fn reads(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expr::Signal(signal) | Expr::Part { signal, .. } => visit(*signal),
            Expr::Const(..) | Expr::Enum(_) => {}
            Expr::Unary(_, inner, _) | Expr::Widen(inner, _) => inner.reads(visit),
            Expr::PartOf { base, .. } => base.reads(visit),
            Expr::Concat(parts, _) => parts.iter().for_each(|part| part.reads(visit)),
            Expr::Binary(_, left, right, _) | Expr::Shift(_, left, right) => {
                left.reads(visit);
                right.reads(visit);
            }
            Expr::Pick { base, offset, .. } => {
                base.reads(visit);
                offset.reads(visit);
            }
        }
    }

    /// The value with zeros above its highest bit, or cut to its low bits.
    pub(crate) fn resized(self, width: usize, table: &Table) -> Expr {
        let own = self.width(table);
        if width == own {
            self
        } else if width < own {
            self.part(0, width, table)
        } else {
            match self {
                Expr::Const(value, _) => Expr::Const(value, width),
                Expr::Widen(inner, _) => Expr::Widen(inner, width),
                other => Expr::Widen(Box::new(other), width),
            }
        }
    }

    /// Bits `low` to `low + width - 1`, zeros beyond the end.
    pub(crate) fn part(self, low: usize, width: usize, table: &Table) -> Expr {
        let own = self.width(table);
        if low >= own {
            return Expr::Const(Value::default(), width);
        }
        if low + width > own {
            return Expr::Widen(Box::new(self.part(low, own - low, table)), width);
        }
        if low == 0 && width == own {
            return self;
        }
        match self {
            Expr::Signal(signal) => Expr::Part { signal, low, width },
            Expr::Const(value, _) => Expr::Const(value.part(low, width), width),
            Expr::Part { signal, low: start, .. } => Expr::Part { signal, low: start + low, width },
            Expr::Widen(inner, _) => {
                let inner_width = inner.width(table);
                if low + width <= inner_width {
                    inner.part(low, width, table)
                } else if low >= inner_width {
                    Expr::Const(Value::default(), width)
                } else {
                    let kept = inner.part(low, inner_width - low, table);
                    Expr::Widen(Box::new(kept), width)
                }
            }
            Expr::Pick { base, offset, .. } if low == 0 => Expr::Pick { base, offset, width },
            other => other.part_of_operator(low, width, table),
        }
    }

    /// The part of a sum is the sum of the parts, as far as no carry enters from below.
    fn part_of_operator(self, low: usize, width: usize, table: &Table) -> Expr {
        match self {
            Expr::Binary(op @ ("&" | "|" | "^"), left, right, _) => Expr::Binary(
                op,
                Box::new(left.part(low, width, table)),
                Box::new(right.part(low, width, table)),
                width,
            ),
            Expr::Binary(op @ ("+" | "-"), left, right, _) if low == 0 => Expr::Binary(
                op,
                Box::new(left.part(0, width, table)),
                Box::new(right.part(0, width, table)),
                width,
            ),
            Expr::Unary("~", inner, _) => {
                Expr::Unary("~", Box::new(inner.part(low, width, table)), width)
            }
            Expr::Unary("-", inner, _) if low == 0 => {
                Expr::Unary("-", Box::new(inner.part(0, width, table)), width)
            }
            Expr::Shift("<<", left, amount) if low == 0 => {
                Expr::Shift("<<", Box::new(left.part(0, width, table)), amount)
            }
            Expr::Shift(">>", left, amount) => match *amount {
                Expr::Const(by, _) if by.to_u64().is_some_and(|by| by < 1 << 32) => {
                    let by = by.to_u64().unwrap_or(0) as usize;
                    left.part(low + by, width, table)
                }
                amount => Expr::PartOf {
                    base: Box::new(Expr::Shift(">>", left, Box::new(amount))),
                    low,
                    width,
                },
            },
            other => Expr::PartOf { base: Box::new(other), low, width },
        }
    }
}
