//! Random expressions with the types that Rust's compiler would have checked, what each of them is
//! in rust-hdl's syntax tree, and what it is worth.
//!
//! ```text
//!   Draw ──► Node ─┬─ ast ───► Ast, as the kernel macro makes it: without widths
//!                  └─ value ─► u128, by the rules of `Bits`, and by nothing of the emitter
//! ```
//! Nothing that is shifted was shifted before, not in a local either: Verilator makes one shift of
//! two, by the sum of both amounts, which wraps at their width. Icarus does not.
//!
//! The forms that Verilog reads otherwise than Rust come as often as all others: sums below a
//! comparison, a cast, a shift, a slice; operators of several ranks without parentheses.

use rand::rngs::SmallRng;
use rand::Rng;
use rust_hdl_core::ast::{VerilogExpression as Ast, VerilogOp, VerilogOpUnary};

/// Operators of two values of one width, which give a third one.
const WRAPPING: [VerilogOp; 5] =
    [VerilogOp::Add, VerilogOp::Sub, VerilogOp::BitAnd, VerilogOp::BitOr, VerilogOp::BitXor];
const COMPARING: [VerilogOp; 6] =
    [VerilogOp::Eq, VerilogOp::Ne, VerilogOp::Lt, VerilogOp::Le, VerilogOp::Gt, VerilogOp::Ge];
const REDUCING: [VerilogOpUnary; 3] =
    [VerilogOpUnary::All, VerilogOpUnary::Any, VerilogOpUnary::Xor];
/// Widths of operands whose width the result does not tell.
const WIDTHS: [usize; 8] = [1, 3, 4, 6, 8, 16, 40, 100];
/// Width of the operands of a product.
const FACTOR_BITS: usize = 16;

/// A signal that may be read.
#[derive(Clone, Debug)]
pub struct Readable {
    pub name: &'static str,
    pub bits: usize,
}

/// Where a part begins.
#[derive(Clone, Debug)]
pub enum Offset {
    At(usize),
    /// At the value of a signal, by its place in the list.
    Of(usize),
}

/// An expression; its operands have the widths that it asks for.
#[derive(Clone, Debug)]
pub enum Node {
    /// By its place in the list of what may be read.
    Signal(usize),
    Literal(u128),
    Paren(Box<Node>),
    Not(Box<Node>),
    Negated(Box<Node>),
    Wrapping(usize, Box<Node>, Box<Node>),
    /// Left, of a width, by a number or a signal.
    Shifted(bool, Box<Node>, Offset),
    /// Of an operand of a width.
    Cast(Box<Node>, usize),
    Reduced(usize, Box<Node>, usize),
    Compared(usize, Box<Node>, Box<Node>, usize),
    Both(Box<Node>, Box<Node>),
    Either(Box<Node>, Box<Node>),
    Part(Box<Node>, usize, Offset),
    Product(Box<Node>, Box<Node>),
    Replaced(Box<Node>, Offset, Box<Node>),
}

/// The highest value of a width below 128.
pub fn ones(bits: usize) -> u128 {
    (1 << bits) - 1
}

/// Draws expressions.
pub struct Draw<'a> {
    pub random: &'a mut SmallRng,
    pub signals: Vec<Readable>,
    /// Whether an operand may be a shift.
    pub may_shift: bool,
}

impl Draw<'_> {
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.random.random_range(0..list.len())].clone()
    }

    fn width(&mut self) -> usize {
        self.pick(&WIDTHS)
    }

    fn draw_boxed(&mut self, bits: usize, depth: usize) -> Box<Node> {
        Box::new(self.node(bits, depth))
    }

    /// A number that fits, often one near the end of its range. As Rust has it, of 64 bits at most.
    /// It is neither of the ends: they may decide an operation alone, and what then reads no
    /// signal is never evaluated by an event-driven simulator.
    fn literal(&mut self, bits: usize) -> Node {
        let most = ones(bits.min(64));
        let value = match self.random.random_range(0..4) {
            0 => 1,
            1 => most - 1,
            _ => self.random.random::<u128>() & most,
        };
        Node::Literal(value.clamp(1, most - 1))
    }

    /// A signal of this width, or a part of one that has more.
    fn leaf(&mut self, bits: usize) -> Node {
        let of_width = |exactly: bool| {
            let fits = move |have: usize| if exactly { have == bits } else { have > bits };
            let all = self.signals.iter().enumerate();
            all.filter(|(_, s)| fits(s.bits)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (exact, wider) = (of_width(true), of_width(false));
        if !exact.is_empty() && (wider.is_empty() || self.random.random_ratio(4, 5)) {
            return Node::Signal(self.pick(&exact));
        }
        let Some(at) = (!wider.is_empty()).then(|| self.pick(&wider)) else {
            let narrow = self.random.random_range(0..self.signals.len());
            return Node::Cast(Box::new(Node::Signal(narrow)), bits);
        };
        let low = self.random.random_range(0..=self.signals[at].bits - bits);
        Node::Part(Box::new(Node::Signal(at)), bits, Offset::At(low))
    }

    /// A signal whose every value is below `limit`; `None` if there is none.
    fn below(&mut self, limit: usize) -> Option<usize> {
        let is_small = |s: &Readable| s.bits > 1 && s.bits < 8 && 1 << s.bits <= limit;
        let all = self.signals.iter().enumerate().filter(|(_, s)| is_small(s));
        let all: Vec<usize> = all.map(|(at, _)| at).collect();
        (!all.is_empty()).then(|| self.pick(&all))
    }

    /// An offset at which a bit of a value of `bits` bits is.
    fn offset(&mut self, bits: usize) -> Offset {
        let found = self.below(bits).filter(|_| self.random.random());
        found.map_or_else(|| Offset::At(self.random.random_range(0..bits)), Offset::Of)
    }

    /// An expression of this width.
    pub fn node(&mut self, bits: usize, depth: usize) -> Node {
        if depth == 0 {
            return self.leaf(bits);
        }
        let deeper = depth - 1;
        match self.random.random_range(0..if bits == 1 { 15 } else { 11 }) {
            0 => self.leaf(bits),
            1 => Node::Paren(self.draw_boxed(bits, deeper)),
            2 => Node::Not(self.draw_boxed(bits, deeper)),
            3 => Node::Negated(self.draw_boxed(bits, deeper)),
            4 | 5 => self.wrapping(bits, deeper),
            6 if self.may_shift => self.draw_shift(bits, deeper),
            6 => self.leaf(bits),
            7 => {
                let of = self.width();
                Node::Cast(self.draw_boxed(of, deeper), bits)
            }
            8 => self.part(bits, deeper),
            9 => {
                let factors =
                    [self.draw_boxed(FACTOR_BITS, deeper), self.draw_boxed(FACTOR_BITS, deeper)];
                let [left, right] = factors;
                Node::Cast(Box::new(Node::Product(left, right)), bits)
            }
            10 => {
                let at = self.offset(bits);
                let into = self.draw_boxed(bits, deeper);
                Node::Replaced(into, at, self.draw_unshifted(1, deeper))
            }
            11 => {
                let of = self.width();
                let op = self.random.random_range(0..REDUCING.len());
                Node::Reduced(op, self.draw_boxed(of, deeper), of)
            }
            12 | 13 => self.draw_comparison(deeper),
            _ => {
                let [left, right] = [self.draw_boxed(1, deeper), self.draw_boxed(1, deeper)];
                match self.random.random() {
                    true => Node::Both(left, right),
                    false => Node::Either(left, right),
                }
            }
        }
    }

    fn wrapping(&mut self, bits: usize, depth: usize) -> Node {
        let op = self.random.random_range(0..WRAPPING.len());
        let left = self.draw_boxed(bits, depth);
        let right = match self.random.random_ratio(1, 4) && bits > 1 {
            true => Box::new(self.literal(bits)),
            false => self.draw_boxed(bits, depth),
        };
        Node::Wrapping(op, left, right)
    }

    fn draw_shift(&mut self, bits: usize, depth: usize) -> Node {
        let by = match self.random.random() {
            true => Offset::At(self.random.random_range(0..bits)),
            false => Offset::Of(self.random.random_range(0..self.signals.len())),
        };
        // A shift by a bit is no shift in rust-hdl.
        let by = match by {
            Offset::Of(at) if self.signals[at].bits == 1 => Offset::At(1),
            by => by,
        };
        Node::Shifted(self.random.random(), self.draw_unshifted(bits, depth), by)
    }

    /// An operand without a shift.
    fn draw_unshifted(&mut self, bits: usize, depth: usize) -> Box<Node> {
        let before = std::mem::replace(&mut self.may_shift, false);
        let node = self.draw_boxed(bits, depth);
        self.may_shift = before;
        node
    }

    fn part(&mut self, bits: usize, depth: usize) -> Node {
        let of: Vec<usize> = WIDTHS.into_iter().filter(|&of| of > bits).collect();
        if of.is_empty() {
            return self.leaf(bits);
        }
        let of = self.pick(&of);
        // A part may reach beyond the end: there are zeros.
        let offset = self.offset(of);
        Node::Part(self.draw_boxed(of, depth), bits, offset)
    }

    fn draw_comparison(&mut self, depth: usize) -> Node {
        let of = self.width();
        let op = self.random.random_range(0..COMPARING.len());
        let left = self.draw_boxed(of, depth);
        let right = match self.random.random_ratio(1, 3) && of > 1 {
            true => Box::new(self.literal(of)),
            false => self.draw_boxed(of, depth),
        };
        Node::Compared(op, left, right, of)
    }
}

fn boxed(ast: Ast) -> Box<Ast> {
    Box::new(ast)
}

/// Signals as the kernel macro names them, and their values.
pub struct Scope<'a> {
    pub signals: &'a [Readable],
    pub values: &'a [u128],
}

impl Scope<'_> {
    fn offset_ast(&self, offset: &Offset) -> Box<Ast> {
        boxed(match offset {
            Offset::At(at) => Ast::Literal((*at as u64).into()),
            Offset::Of(signal) => Ast::Signal(self.signals[*signal].name.to_owned()),
        })
    }

    /// The syntax tree that the kernel macro makes of it.
    pub fn ast(&self, node: &Node) -> Ast {
        let ast = |node: &Node| boxed(self.ast(node));
        let binary = |left: &Node, op: VerilogOp, right: &Node| {
            Ast::Binary(boxed(self.ast(left)), op, boxed(self.ast(right)))
        };
        match node {
            Node::Signal(at) => Ast::Signal(self.signals[*at].name.to_owned()),
            Node::Literal(value) => Ast::Literal((*value as u64).into()),
            Node::Paren(inner) => Ast::Paren(ast(inner)),
            Node::Not(inner) => Ast::Unary(VerilogOpUnary::Not, ast(inner)),
            Node::Negated(inner) => Ast::Unary(VerilogOpUnary::Neg, ast(inner)),
            Node::Wrapping(op, left, right) => binary(left, WRAPPING[*op].clone(), right),
            Node::Compared(op, left, right, _) => binary(left, COMPARING[*op].clone(), right),
            Node::Shifted(is_left, inner, by) => {
                let op = if *is_left { VerilogOp::Shl } else { VerilogOp::Shr };
                Ast::Binary(ast(inner), op, self.offset_ast(by))
            }
            Node::Cast(inner, bits) => Ast::Cast(ast(inner), *bits),
            Node::Reduced(op, inner, _) => Ast::Unary(REDUCING[*op].clone(), ast(inner)),
            Node::Both(left, right) => binary(left, VerilogOp::LogicalAnd, right),
            Node::Either(left, right) => binary(left, VerilogOp::LogicalOr, right),
            Node::Part(inner, 1, at) => Ast::Index(ast(inner), self.offset_ast(at)),
            Node::Part(inner, bits, at) => Ast::Slice(ast(inner), *bits, self.offset_ast(at)),
            Node::Product(left, right) => binary(left, VerilogOp::Mul, right),
            Node::Replaced(inner, at, bit) => {
                Ast::IndexReplace(ast(inner), self.offset_ast(at), ast(bit))
            }
        }
    }

    fn offset(&self, offset: &Offset) -> u128 {
        match offset {
            Offset::At(at) => *at as u128,
            Offset::Of(signal) => self.values[*signal],
        }
    }

    /// What a node of this width is worth.
    pub fn value(&self, node: &Node, bits: usize) -> u128 {
        let of = |node: &Node| self.value(node, bits);
        let full = match node {
            Node::Signal(at) => self.values[*at],
            Node::Literal(value) => *value,
            Node::Paren(inner) => of(inner),
            Node::Not(inner) => !of(inner),
            Node::Negated(inner) => of(inner).wrapping_neg(),
            Node::Wrapping(op, left, right) => {
                let (left, right) = (of(left), of(right));
                match op {
                    0 => left.wrapping_add(right),
                    1 => left.wrapping_sub(right),
                    2 => left & right,
                    3 => left | right,
                    _ => left ^ right,
                }
            }
            Node::Shifted(is_left, inner, by) => {
                let (value, by) = (of(inner), self.offset(by));
                match (by < bits as u128, is_left) {
                    (false, _) => 0,
                    (true, true) => value << by,
                    (true, false) => value >> by,
                }
            }
            Node::Cast(inner, _) => self.value_of_any(inner),
            Node::Reduced(op, inner, width) => {
                let value = self.value(inner, *width);
                u128::from(match op {
                    0 => value == ones(*width),
                    1 => value != 0,
                    _ => value.count_ones() % 2 == 1,
                })
            }
            Node::Compared(op, left, right, width) => {
                let order = self.value(left, *width).cmp(&self.value(right, *width));
                u128::from(match op {
                    0 => order.is_eq(),
                    1 => order.is_ne(),
                    2 => order.is_lt(),
                    3 => order.is_le(),
                    4 => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            Node::Both(left, right) => of(left) & of(right),
            Node::Either(left, right) => of(left) | of(right),
            Node::Part(inner, _, at) => {
                let shift = self.offset(at);
                self.value_of_any(inner).checked_shr(shift as u32).unwrap_or(0)
            }
            Node::Product(left, right) => {
                self.value(left, FACTOR_BITS) * self.value(right, FACTOR_BITS)
            }
            Node::Replaced(inner, at, bit) => {
                let at = self.offset(at);
                of(inner) & !(1 << at) | self.value(bit, 1) << at
            }
        };
        full & ones(bits)
    }

    /// What a node is worth whose width the node above it does not tell.
    fn value_of_any(&self, node: &Node) -> u128 {
        let bits = self.bits(node);
        self.value(node, bits)
    }

    /// The width of a node. One of its operands tells it, or it is a number, which stands below
    /// no cast.
    fn bits(&self, node: &Node) -> usize {
        match node {
            Node::Signal(at) => self.signals[*at].bits,
            Node::Literal(_) => unreachable!("a number is never the left operand"),
            Node::Paren(inner)
            | Node::Not(inner)
            | Node::Negated(inner)
            | Node::Wrapping(_, inner, _)
            | Node::Shifted(_, inner, _)
            | Node::Replaced(inner, ..) => self.bits(inner),
            Node::Cast(_, bits) | Node::Part(_, bits, _) => *bits,
            Node::Reduced(..) | Node::Compared(..) | Node::Both(..) | Node::Either(..) => 1,
            Node::Product(..) => 2 * FACTOR_BITS,
        }
    }
}
