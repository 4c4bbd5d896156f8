//! What a connection, or a part of it, waits for after a step.

/// Of two parts, the later one in this order counts for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// Nothing is under way: until a request, a packet or an event of its protocol touches it, a
    /// step changes nothing.
    Quiet,
    /// Only commands are in flight: a step changes nothing before the card has confirmed one.
    UnderWay,
    /// A step may change something at any time.
    Due,
}
