//! Why bytes are no header of TCP.

use thiserror::Error;

/// Result of reading a header.
pub type Result<T> = std::result::Result<T, HeaderError>;

/// Why bytes are no header of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// The header is truncated.
    #[error("header of {bytes} bytes is truncated inside its {layer} header")]
    Truncated {
        /// Bytes delivered.
        bytes: usize,
        /// Layer that is truncated.
        layer: &'static str,
    },
    /// The header is not TCP over IPv4 or IPv6.
    #[error("not a TCP header: {field} is {value:#x}")]
    NotTcp {
        /// Field that is not that of TCP.
        field: &'static str,
        /// Value of the field.
        value: u32,
    },
    /// The IP length field does not match the delivered bytes.
    #[error("the IP length implies {announced} payload bytes, {given} were delivered")]
    PayloadLength {
        /// Payload bytes that follow from the IP header.
        announced: usize,
        /// Payload bytes of the call.
        given: usize,
    },
}
