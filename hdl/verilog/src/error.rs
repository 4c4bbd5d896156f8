//! Why a block has no Verilog.

/// A block, what in it cannot be expressed in Verilog, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{block}: `{place}`: {reason}")]
pub struct EmitError {
    /// Path of the block, parts joined by `/`.
    pub block: String,
    /// The expression, signal or name.
    pub place: String,
    /// Why.
    pub reason: Reason,
}

/// The rule that forbids it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Neither a signal, constant, enumeration value nor loop index.
    #[error("no signal, constant or enumeration value has this name")]
    UnknownName,
    /// Only literals: the width is unknown.
    #[error("nothing says how wide this is")]
    UnknownWidth,
    /// Two operands, or the two sides of an assignment, differ in width.
    #[error("{left} bits meet {right} bits")]
    WidthMismatch {
        /// Width of the left side.
        left: usize,
        /// Width of the right side.
        right: usize,
    },
    /// A literal that its width cannot hold; Rust panics on it.
    #[error("the value does not fit {0} bits")]
    LiteralTooWide(usize),
    /// Signed arithmetic.
    #[error("signed values are not supported")]
    Signed,
    /// A sum or difference as offset: Rust counts in `usize` or in the signal's width, and the
    /// syntax tree does not say which.
    #[error("assign the offset to a local signal of its own width first")]
    OffsetArithmetic,
    /// A part that reaches beyond the value.
    #[error("the part ends at bit {end} of {width}")]
    PartBeyondEnd {
        /// One past its last bit.
        end: usize,
        /// Width of the value.
        width: usize,
    },
    /// Assigned on some paths only.
    #[error("keeps its value on some path: a latch")]
    Latch,
    /// Read before it is written by a statement that must stand in the same process.
    #[error("is read before its last assignment, in the same process")]
    ReadTooEarly,
    /// Not an assignable signal.
    #[error("cannot be assigned here")]
    NotAssignable,
    /// A match arm that is no value.
    #[error("a match arm must be a number, a Boolean, an enumeration value or `_`")]
    MatchArm,
    /// A bracket that is not an expression of numbers and loop indices.
    #[error("an index must be made of numbers and loop indices")]
    ArrayIndex,
    /// Two signals that Verilog would call the same.
    #[error("two signals would have this name")]
    NameCollision,
    /// Verilog reserves the name.
    #[error("Verilog reserves this name")]
    ReservedName,
    /// Text in Verilog that has blocks below it.
    #[error("a block in Verilog text cannot have child blocks")]
    ChildOfText,
    /// A clock that is not a signal.
    #[error("a clock must be a signal of its own")]
    ClockExpression,
    /// A bundle of pads joined to something else than ports.
    #[error("a pad can be joined to a port of the block only")]
    Pad,
}

/// Result within the crate: the block's path is added at the outside.
pub(crate) type Found<T> = Result<T, (String, Reason)>;
