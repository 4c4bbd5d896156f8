//! Header profiles: where a transport keeps its position, so that a new protocol needs no new RTL.
//!
//! Profile 0 is TCP and fixed. Profiles 1 to 3 are transports over UDP, selected by destination
//! port. The transport header follows the UDP header and is `header_bytes` long.

use crate::field::Field;

/// Word 0 of a profile's registers: what selects it.
pub const PORT: Field = Field::new("port", 0, 16, "UDP destination port that selects the profile");
/// Word 0: the profile is in use.
pub const ENABLE: Field = Field::new("enable", 16, 1, "1: the profile is in use");
/// Word 1: bytes of the transport header after the UDP header, 0 to 64.
pub const HEADER_BYTES: Field =
    Field::new("header_bytes", 0, 7, "bytes of the transport header after the UDP header, 0 to 64");
/// Word 1: offset of the 4-byte big-endian position field in the transport header.
pub const POSITION_OFFSET: Field =
    Field::new("position_offset", 8, 6, "byte offset of the big-endian position field");
/// Word 1: bytes of the position field.
pub const POSITION_BYTES: Field =
    Field::new("position_bytes", 16, 3, "bytes of the position field, 1 to 4");
/// Word 1: offset of the message key in the transport header.
pub const MESSAGE_KEY_OFFSET: Field =
    Field::new("message_key_offset", 20, 6, "byte offset of the message key");
/// Word 1: bytes of the message key, 0 to 8.
pub const MESSAGE_KEY_BYTES: Field =
    Field::new("message_key_bytes", 26, 4, "bytes of the message key, 0 to 8; 0: none");
