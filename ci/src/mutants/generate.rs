//! All mutants of a Rust file.
//!
//! ```text
//!   text ──► syntax ──► each place, each fault that its kind allows ──► mutants, in file order
//! ```
//! | place | what stands there instead |
//! |---|---|
//! | comparison | the bound in or out; equal and not equal exchanged |
//! | arithmetic, bits, shifts | the opposite operator |
//! | `&&`, `\|\|`, and `&`, `\|` | the other one; one side dropped |
//! | condition of `if` and of a guard | `true`, `false` |
//! | `!` | nothing |
//! | number | one more, one less; a truth value its opposite |
//! | range | its end in or out |
//! | cast to a signed number | to an unsigned one |
//! | method with a counterpart (`min`, `max`; `front`, `back`) | the counterpart |
//! | type argument of a call | that of another call of the same name in the file; two exchanged |
//! | field of a tuple | its neighbour |
//! | arguments side by side | each other |
//! | mask beside `&` or `\|` | one bit up, one down |
//! | parameter | another one of the same type |
//! | statement that calls or assigns | nothing |
//!
//! What does not build is no fault: the report counts it apart. `by_hand.rs` lists others.
//!
//! Each mutant knows where a switch for it can stand: [`Place`].
//!
//! Left out: tests, attributes, types, macros (assertions and messages), what prints
//! (`Display`, `Debug`), and lengths of arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, RangeLimits, Stmt};

use super::mutant::{Mutant, Place};
use super::operators::{joins, opposites, type_arguments, type_arguments_in, COUNTERPARTS};

/// Traits whose implementations only print.
const PRINTING: &[&str] = &["Display", "Debug"];

/// The mutants of `text`, the content of `file`. With `has_contract` the constants are left out:
/// both sides of a contract read them, so that only the number itself would differ.
pub fn mutants(file: &Path, text: &str, has_contract: bool) -> anyhow::Result<Vec<Mutant>> {
    let syntax =
        syn::parse_file(text).with_context(|| format!("cannot parse {}", file.display()))?;
    let mut places = Places {
        text,
        has_contract,
        type_arguments: type_arguments_in(text, &syntax),
        surroundings: Surroundings::default(),
        found: Vec::new(),
    };
    places.visit_file(&syntax);
    let mut found = places.found;
    found.sort_by(|(a, one, _), (b, other, _)| (a.start, a.end, one).cmp(&(b.start, b.end, other)));
    found.dedup_by(|(a, one, _), (b, other, _)| (a, one) == (b, other));
    let mutant = |(bytes, replacement, place)| {
        let mutant = Mutant::new(file.to_path_buf(), text, bytes, replacement)?;
        Some(mutant.at(place))
    };
    Ok(found.into_iter().filter_map(mutant).collect())
}

/// What is around a place.
#[derive(Clone, Default)]
struct Surroundings {
    /// The compiler evaluates it: a switch cannot.
    is_constant: bool,
    /// The `impl` of the kernel that it is in.
    kernel: Option<Range<usize>>,
    /// The operators that it is joined with. Another operator may change how they group.
    chain: Option<Range<usize>>,
    /// The operators bind names.
    has_let: bool,
    /// Parameters of the function, each with its type.
    parameters: Vec<(String, String)>,
}

/// Collects places and what stands there instead.
struct Places<'a> {
    text: &'a str,
    has_contract: bool,
    /// Type arguments in the file, by what is called.
    type_arguments: BTreeMap<String, BTreeSet<String>>,
    surroundings: Surroundings,
    found: Vec<(Range<usize>, String, Place)>,
}

impl Places<'_> {
    /// A mutant whose switch stands at `place`, if its surroundings allow one.
    fn add_at(&mut self, bytes: Range<usize>, replacement: impl Into<String>, place: Place) {
        let place = match &self.surroundings {
            Surroundings { kernel: Some(kernel), .. } => Place::Kernel(kernel.clone()),
            Surroundings { is_constant: true, .. } => Place::Nowhere,
            _ => place,
        };
        self.found.push((bytes, replacement.into(), place));
    }

    /// A mutant within an expression, whose switch chooses between two of these.
    fn add(&mut self, whole: Range<usize>, bytes: Range<usize>, replacement: impl Into<String>) {
        let replacement = replacement.into();
        let (head, tail) = (whole.start..bytes.start, bytes.end..whole.end);
        let other = format!("{}{replacement}{}", &self.text[head], &self.text[tail]);
        self.add_at(bytes, replacement, Place::Expression(whole, other));
    }

    /// Visits with other surroundings.
    fn with(&mut self, surroundings: Surroundings, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.surroundings, surroundings);
        visit(self);
        self.surroundings = outer;
    }

    /// Visits what the compiler evaluates, or not.
    fn constant(&mut self, is_constant: bool, visit: impl FnOnce(&mut Self)) {
        let surroundings = Surroundings { is_constant, ..self.surroundings.clone() };
        self.with(surroundings, visit);
    }

    /// A condition that always holds, and one that never does.
    fn decide(&mut self, condition: &Expr) {
        if !has_let(condition) && !matches!(condition, Expr::Lit(_)) {
            let bytes = condition.span().byte_range();
            self.add(bytes.clone(), bytes.clone(), "true");
            self.add(bytes.clone(), bytes, "false");
        }
    }

    /// Other type arguments of a call: two exchanged, one taken from another call of that name.
    fn retype(
        &mut self,
        whole: Range<usize>,
        name: &syn::Ident,
        arguments: &syn::AngleBracketedGenericArguments,
    ) {
        let bytes = arguments.args.span().byte_range();
        let own = self.text[bytes.clone()].to_owned();
        if let [one, other] = &arguments.args.iter().collect::<Vec<_>>()[..] {
            let [one, other] = [one, other].map(|it| &self.text[it.span().byte_range()]);
            let exchanged = format!("{other}, {one}");
            return self.add(whole, bytes, exchanged);
        }
        let known = self.type_arguments.get(&name.to_string());
        let other = known.and_then(|known| known.iter().find(|it| **it != own));
        if let Some(other) = other.cloned() {
            self.add(whole, bytes, other);
        }
    }

    /// Two arguments side by side exchanged, the first pair that differs.
    fn exchange<'a>(&mut self, whole: Range<usize>, arguments: impl Iterator<Item = &'a Expr>) {
        let spans: Vec<_> = arguments.map(|it| it.span().byte_range()).collect();
        for pair in spans.windows(2) {
            let [one, other] = [&pair[0], &pair[1]].map(|it| &self.text[it.clone()]);
            if one != other {
                let exchanged = format!("{other}, {one}");
                return self.add(whole, pair[0].start..pair[1].end, exchanged);
            }
        }
    }

    /// A mask one bit up, and one down.
    fn shift_mask(&mut self, whole: &Range<usize>, operand: &Expr) {
        let Expr::Lit(syn::ExprLit { lit: Lit::Int(lit), .. }) = operand else { return };
        let (Ok(value), bytes) = (lit.base10_parse::<u64>(), lit.span().byte_range()) else {
            return;
        };
        for other in [value.checked_mul(2), Some(value / 2)].into_iter().flatten() {
            if other != value && other.abs_diff(value) != 1 {
                let mask = format!("{other:#x}{}", lit.suffix());
                self.add(whole.clone(), bytes.clone(), mask);
            }
        }
    }

    /// Visits a function whose parameters are known.
    fn function(&mut self, signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(typed),
            syn::FnArg::Receiver(_) => None,
        });
        let parameters = typed.filter_map(|typed| match &*typed.pat {
            syn::Pat::Ident(name) => {
                let kind = self.text[typed.ty.span().byte_range()].to_owned();
                Some((name.ident.to_string(), kind))
            }
            _ => None,
        });
        let surroundings = Surroundings {
            is_constant: signature.constness.is_some(),
            parameters: parameters.collect(),
            ..self.surroundings.clone()
        };
        self.with(surroundings, visit);
    }

    fn number(&mut self, lit: &syn::LitInt) {
        let (Ok(value), bytes) = (lit.base10_parse::<u128>(), lit.span().byte_range()) else {
            return;
        };
        let is_hex = self.text[bytes.clone()].starts_with("0x");
        let suffix = lit.suffix();
        for other in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
            let digits = if is_hex { format!("{other:#x}") } else { other.to_string() };
            self.add(bytes.clone(), bytes.clone(), format!("{digits}{suffix}"));
        }
    }
}

/// Whether a condition binds names, which its block then needs.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

/// Whether attributes make an item one of the tests.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        let is_test = |it: syn::Ident| it == "test";
        attribute.path().is_ident("test")
            || (is_cfg && attribute.parse_args::<syn::Ident>().is_ok_and(is_test))
    })
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_generics(&mut self, _: &'ast syn::Generics) {}

    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }

    fn visit_variant(&mut self, _: &'ast syn::Variant) {}

    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        // Of patterns only their guards: other texts may no longer cover all cases.
        if let syn::Pat::Guard(guard) = pat {
            self.decide(&guard.guard);
            self.visit_expr(&guard.guard);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, |places| visit::visit_item_fn(places, item));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, |places| visit::visit_impl_item_fn(places, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let path = item.trait_.as_ref().map(|(path, _)| path);
        let name = path.and_then(|path| path.segments.last());
        let prints = name.is_some_and(|name| PRINTING.iter().any(|it| name.ident == it));
        if !prints && !is_test(&item.attrs) {
            let surroundings = Surroundings {
                kernel: is_kernel(item).then(|| item.span().byte_range()),
                ..Surroundings::default()
            };
            self.with(surroundings, |places| visit::visit_item_impl(places, item));
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if !self.has_contract && !is_test(&item.attrs) {
            self.constant(true, |places| visit::visit_item_const(places, item));
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        if !self.has_contract {
            self.constant(true, |places| visit::visit_impl_item_const(places, item));
        }
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(true, |places| visit::visit_item_static(places, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.constant(true, |places| visit::visit_trait_item_const(places, item));
    }

    fn visit_expr_const(&mut self, block: &'ast syn::ExprConst) {
        self.constant(true, |places| visit::visit_expr_const(places, block));
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        let outer = self.surroundings.clone();
        let goes_on = matches!(expr, Expr::Binary(_)) && outer.chain.is_some();
        let surroundings = match goes_on {
            true => outer,
            false => Surroundings {
                chain: matches!(expr, Expr::Binary(_)).then(|| expr.span().byte_range()),
                has_let: has_let(expr),
                ..outer
            },
        };
        self.with(surroundings, |places| visit::visit_expr(places, expr));
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_), Some(end)) = stmt {
            let bytes = stmt.span().byte_range().start..end.span().byte_range().end;
            self.add_at(bytes, "", Place::Statement);
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let outer = self.surroundings.clone();
        let own = binary.span().byte_range();
        let whole = outer.chain.unwrap_or(own);
        let mut add = |bytes: Range<usize>, other: &str| match outer.has_let {
            true => self.add_at(bytes, other, Place::Nowhere),
            false => self.add(whole.clone(), bytes, other),
        };
        for other in opposites(&binary.op) {
            add(binary.op.span().byte_range(), other);
        }
        if matches!(binary.op, BinOp::BitAnd(_) | BinOp::BitOr(_)) && !outer.has_let {
            self.shift_mask(&whole, &binary.left);
            self.shift_mask(&whole, &binary.right);
        }
        let mut add = |bytes: Range<usize>, other: &str| match outer.has_let {
            true => self.add_at(bytes, other, Place::Nowhere),
            false => self.add(whole.clone(), bytes, other),
        };
        if joins(&binary.op) && !has_let(&binary.left) && !has_let(&binary.right) {
            let (left, right) = (binary.left.span(), binary.right.span());
            add(left.byte_range().end..right.byte_range().end, "");
            add(left.byte_range().start..right.byte_range().start, "");
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_)) {
            let whole = unary.span().byte_range();
            self.add(whole, unary.op.span().byte_range(), "");
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.decide(&branch.cond);
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        match &literal.lit {
            Lit::Int(lit) => self.number(lit),
            Lit::Bool(lit) => {
                let bytes = lit.span.byte_range();
                self.add(bytes.clone(), bytes, (!lit.value).to_string());
            }
            _ => {}
        }
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_range(&mut self, range: &'ast syn::ExprRange) {
        if let Some(end) = &range.end {
            let bytes = range.limits.span().byte_range();
            match range.limits {
                RangeLimits::HalfOpen(_) => {
                    // The same type with a switch: an end that is one more.
                    let whole = end.span().byte_range();
                    let other = format!("({}) + 1", &self.text[whole.clone()]);
                    self.add_at(bytes, "..=", Place::Expression(whole, other));
                }
                RangeLimits::Closed(_) => self.add_at(bytes, "..", Place::Nowhere),
            }
        }
        visit::visit_expr_range(self, range);
    }

    fn visit_expr_cast(&mut self, cast: &'ast syn::ExprCast) {
        let bytes = cast.ty.span().byte_range();
        let other = match &self.text[bytes.clone()] {
            "i32" => Some("u32"),
            "i64" => Some("u64"),
            _ => None,
        };
        if let Some(other) = other {
            self.add_at(bytes, other, Place::Nowhere);
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        for (one, other) in COUNTERPARTS {
            for (from, to) in [(one, other), (other, one)] {
                if call.method == from {
                    let whole = call.span().byte_range();
                    self.add(whole, call.method.span().byte_range(), *to);
                }
            }
        }
        let whole = call.span().byte_range();
        if let Some(turbofish) = &call.turbofish {
            self.retype(whole.clone(), &call.method, turbofish);
        }
        self.exchange(whole, call.args.iter());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let whole = call.span().byte_range();
        if let Expr::Path(path) = &*call.func {
            let last = path.path.segments.last();
            if let Some((name, arguments)) = last.and_then(type_arguments) {
                self.retype(whole.clone(), name, arguments);
            }
        }
        self.exchange(whole, call.args.iter());
        // What is called is no value of its own.
        for argument in &call.args {
            self.visit_expr(argument);
        }
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if let syn::Member::Unnamed(index) = &field.member {
            let other = if index.index == 0 { 1 } else { index.index - 1 };
            self.add(field.span().byte_range(), index.span().byte_range(), other.to_string());
        }
        visit::visit_expr_field(self, field);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let Some(name) = path.path.get_ident().map(ToString::to_string) else { return };
        let known = &self.surroundings.parameters;
        let kind = known.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind);
        let mut others = known.iter().filter(|(other, of)| *other != name && Some(of) == kind);
        if let Some(other) = others.next().map(|(other, _)| other.clone()) {
            let bytes = path.span().byte_range();
            self.add(bytes.clone(), bytes, other);
        }
    }
}

/// Whether an `impl` has a kernel, which rust-hdl translates as it stands.
fn is_kernel(item: &syn::ItemImpl) -> bool {
    item.items.iter().any(|item| match item {
        syn::ImplItem::Fn(item) => item.attrs.iter().any(|it| it.path().is_ident("hdl_gen")),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changed lines of all mutants of a text.
    fn lines_of(text: &str, has_contract: bool) -> Vec<String> {
        let found = mutants(Path::new("a.rs"), text, has_contract).expect("Rust");
        found.into_iter().map(|mutant| mutant.after).collect()
    }

    /// The mutants of a function's body of one line.
    fn of_body(body: &str) -> Vec<String> {
        lines_of(&format!("fn f() {{\n{body}\n}}\n"), false)
    }

    #[test]
    fn comparisons_move_their_bound() {
        assert_eq!(of_body("a < b"), ["a <= b", "a > b"]);
        assert_eq!(of_body("a >= b"), ["a > b"]);
        assert_eq!(of_body("a == b"), ["a != b"]);
    }

    #[test]
    fn one_conjunction_side_is_dropped() {
        assert_eq!(of_body("a && b"), ["b", "a", "a || b"]);
        assert_eq!(of_body("a | b"), ["b", "a", "a & b"]);
    }

    #[test]
    fn conditions_hold_always_and_never() {
        let expected = ["if false { g() }", "if true { g() }"];
        assert_eq!(of_body("if a { g() }"), expected);
        assert_eq!(
            of_body("match a { b if c => d, _ => e }"),
            ["match a { b if false => d, _ => e }", "match a { b if true => d, _ => e }"]
        );
        assert!(of_body("if let Some(a) = b { g() }").is_empty());
    }

    #[test]
    fn numbers_are_changed_by_one_in_place() {
        assert_eq!(of_body("g(7_u8)"), ["g(6u8)", "g(8u8)"]);
        assert_eq!(of_body("g(0x10)"), ["g(0x11)", "g(0xf)"]);
        assert_eq!(of_body("g(0)"), ["g(1)"]);
        assert_eq!(of_body("g(true)"), ["g(false)"]);
    }

    #[test]
    fn ranges_casts_and_methods_have_counterparts() {
        assert_eq!(of_body("a..b"), ["a..=b"]);
        assert_eq!(of_body("a as i32"), ["a as u32"]);
        assert_eq!(of_body("a.min(b)"), ["a.max(b)"]);
        assert_eq!(of_body("!a"), ["a"]);
    }

    #[test]
    fn type_and_value_arguments_are_replaced() {
        assert_eq!(of_body("bit_cast::<49, 48>(a)"), ["bit_cast::<48, 49>(a)"]);
        assert_eq!(
            of_body("a.get_bits::<W>(n) == b.get_bits::<V>(n)")[..3],
            [
                "a.get_bits::<V>(n) == b.get_bits::<V>(n)",
                "a.get_bits::<W>(n) != b.get_bits::<V>(n)",
                "a.get_bits::<W>(n) == b.get_bits::<W>(n)",
            ]
        );
        assert_eq!(of_body("a.0"), ["a.1"]);
        assert_eq!(of_body("a.2"), ["a.1"]);
        assert_eq!(of_body("g(a, b)"), ["g(b, a)"]);
        assert_eq!(of_body("a.g(b, b, c)"), ["a.g(b, c, b)"]);
        assert!(of_body("g(a, a)").is_empty());
        let masks = of_body("a & 0x30");
        for mask in ["a & 0x60", "a & 0x18", "a & 0x31", "a & 0x2f"] {
            assert!(masks.contains(&mask.to_owned()), "{masks:?}");
        }
        assert_eq!(of_body("a.to_be_bytes()"), ["a.to_le_bytes()"]);
    }

    #[test]
    fn parameter_takes_values_of_its_type() {
        let text = "fn f(a: u32, b: u64, c: u32) -> u32 {\na\n}\n";
        assert_eq!(lines_of(text, false), ["c"]);
        assert!(lines_of("fn f(a: u32, b: u64) -> u64 {\nb\n}\n", false).is_empty());
    }

    #[test]
    fn statements_are_dropped_values_kept() {
        assert_eq!(of_body("g();"), [""]);
        assert_eq!(of_body("a.b = c;"), [""]);
        assert!(of_body("let a = g();").is_empty());
        assert!(of_body("return g();").is_empty());
    }

    #[test]
    fn tests_messages_types_lengths_are_skipped() {
        let text = "#[cfg(test)] mod tests { fn f() { 1 } }\n#[test] fn g() { 1 }\n\
                    impl Display for A { fn fmt() { 1 } }\n\
                    fn h(a: [u8; 4]) { assert!(a < 1); let b = [a; 8]; c::<9>(\"1 < 2\") }\n";
        assert!(lines_of(text, false).is_empty());
    }

    #[test]
    fn contract_constants_are_left_out() {
        let text = "const A: u32 = 5;\nfn f() { 6 }";
        assert_eq!(lines_of(text, false).len(), 4);
        assert_eq!(lines_of(text, true), ["fn f() { 5 }", "fn f() { 7 }"]);
    }
}
