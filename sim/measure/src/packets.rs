//! The bytes of a flow: of its stream, in the frames that carry it, in the segments that take it.
//!
//! ```text
//!   content ── bytes by position ──► frames ── wire      buffers ── segments posted, in turn
//! ```

pub mod buffers;
pub mod content;
pub mod frames;
