//! What stands instead of an operator, a method or a type argument.
//!
//! ```text
//!   generate ─► operator ──► its opposites
//!            ├► method ────► its counterpart
//!            └► name ──────► the type arguments that calls of it have in the file
//! ```

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::BinOp;

/// Methods that are exchanged for each other.
pub const COUNTERPARTS: &[(&str, &str)] = &[
    ("min", "max"),
    ("wrapping_add", "wrapping_sub"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("all", "any"),
    ("first", "last"),
    ("front", "back"),
    ("pop_front", "pop_back"),
    ("push_front", "push_back"),
    ("is_some_and", "is_none_or"),
    ("take_while", "skip_while"),
    ("saturating_add", "saturating_sub"),
    ("checked_add", "checked_sub"),
    ("to_be_bytes", "to_le_bytes"),
    ("leading_zeros", "trailing_zeros"),
    ("min_by_key", "max_by_key"),
    ("rotate_left", "rotate_right"),
    ("starts_with", "ends_with"),
    ("trim_start", "trim_end"),
    ("find", "rfind"),
    ("split_once", "rsplit_once"),
    ("position", "rposition"),
    ("next", "last"),
    ("and", "or"),
];

/// What stands instead of an operator.
pub fn opposites(op: &BinOp) -> &'static [&'static str] {
    match op {
        BinOp::Lt(_) => &["<=", ">"],
        BinOp::Le(_) => &["<"],
        BinOp::Gt(_) => &[">=", "<"],
        BinOp::Ge(_) => &[">"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+"],
        BinOp::Div(_) => &["*"],
        BinOp::Rem(_) => &["/"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::BitXor(_) => &["|"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::BitOrAssign(_) => &["&="],
        BinOp::BitAndAssign(_) => &["|="],
        _ => &[],
    }
}

/// Whether an operator joins two truth values or two masks.
pub fn joins(op: &BinOp) -> bool {
    matches!(op, BinOp::And(_) | BinOp::Or(_) | BinOp::BitAnd(_) | BinOp::BitOr(_))
}

/// The type arguments of the calls in a file, where they have one, by the name of what is called.
pub fn type_arguments_in(text: &str, syntax: &syn::File) -> BTreeMap<String, BTreeSet<String>> {
    let mut arguments = TypeArguments { text, of: BTreeMap::new() };
    arguments.visit_file(syntax);
    arguments.of
}

/// Collects the type arguments of calls, by the name of what is called.
struct TypeArguments<'a> {
    text: &'a str,
    of: BTreeMap<String, BTreeSet<String>>,
}

impl<'ast> Visit<'ast> for TypeArguments<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some(turbofish) = &call.turbofish {
            self.note(&call.method, turbofish);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let last = path.path.segments.last();
        if let Some((ident, arguments)) = last.and_then(type_arguments) {
            self.note(ident, arguments);
        }
        visit::visit_expr_path(self, path);
    }
}

impl TypeArguments<'_> {
    fn note(&mut self, name: &syn::Ident, arguments: &syn::AngleBracketedGenericArguments) {
        if arguments.args.len() == 1 {
            let text = self.text[arguments.args.span().byte_range()].to_owned();
            self.of.entry(name.to_string()).or_default().insert(text);
        }
    }
}

/// The name and the type arguments of a segment of a path.
pub fn type_arguments(
    segment: &syn::PathSegment,
) -> Option<(&syn::Ident, &syn::AngleBracketedGenericArguments)> {
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(arguments) => Some((&segment.ident, arguments)),
        _ => None,
    }
}
