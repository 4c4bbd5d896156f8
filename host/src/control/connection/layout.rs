//! Where in a connection lies what each packet needs.
//!
//! ```text
//!   line of 64 bytes   0: name, phase, acknowledged │ 1, 2: receive side │ 3: send side │ 4: rest
//!                      └─ BARE: an ACK; HOT: a packet ─ 1 ┘                └── SEND ───┘
//! ```
//! With thousands of connections in turn, time goes where lines and pages are fetched. So a
//! connection is five lines, and what is needed now and then lies apart, in boxes.

use std::mem::offset_of;
use std::ops::Range;

use super::Connection;
use crate::control::flow::send::SendSide;
use crate::prefetch::LINE_BYTES;

/// What a packet without payload touches.
pub(crate) const BARE: Range<usize> = 0..LINE_BYTES;
/// What a packet in order touches: the fields before the receive side, and the first ones of that.
pub(crate) const HOT: Range<usize> = 0..2 * LINE_BYTES;
/// What a descriptor needs of the send side.
pub(crate) const SEND: Range<usize> = {
    let at = offset_of!(Connection, send);
    at..at + LINE_BYTES
};

const _: () = {
    assert!(size_of::<Option<Connection>>() == 5 * LINE_BYTES);
    assert!(offset_of!(Connection, receive) == LINE_BYTES);
    assert!(size_of::<Option<SendSide>>() == LINE_BYTES);
};
