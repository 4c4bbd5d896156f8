//! Prints rust-hdl's expressions for messages, close to the Rust they came from.

use rust_hdl_core::ast::{VerilogExpression as Ast, VerilogOp as Op, VerilogOpUnary as Unary};

/// The expression as text.
pub fn show(ast: &Ast) -> String {
    match ast {
        Ast::Signal(name) => name.trim_end_matches("$next").replace('$', "."),
        Ast::Literal(value) => value.to_string(),
        Ast::Cast(inner, bits) => format!("bit_cast::<{bits}>({})", show(inner)),
        Ast::Signed(inner) => format!("signed({})", show(inner)),
        Ast::Unsigned(inner) => format!("unsigned({})", show(inner)),
        Ast::Paren(inner) => format!("({})", show(inner)),
        Ast::Binary(left, op, right) => format!("{} {} {}", show(left), symbol(op), show(right)),
        Ast::Unary(Unary::Not, inner) => format!("!{}", show(inner)),
        Ast::Unary(Unary::Neg, inner) => format!("-{}", show(inner)),
        Ast::Unary(Unary::All, inner) => format!("{}.all()", show(inner)),
        Ast::Unary(Unary::Any, inner) => format!("{}.any()", show(inner)),
        Ast::Unary(Unary::Xor, inner) => format!("{}.xor()", show(inner)),
        Ast::Index(base, offset) => format!("{}.get_bit({})", show(base), show(offset)),
        Ast::Slice(base, bits, offset) => {
            format!("{}.get_bits::<{bits}>({})", show(base), show(offset))
        }
        Ast::IndexReplace(base, offset, bit) => {
            format!("{}.replace_bit({}, {})", show(base), show(offset), show(bit))
        }
    }
}

fn symbol(op: &Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::LogicalAnd => "&&",
        Op::LogicalOr => "||",
        Op::BitXor => "^",
        Op::BitAnd => "&",
        Op::BitOr => "|",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Eq => "==",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Ne => "!=",
        Op::Ge => ">=",
        Op::Gt => ">",
    }
}
