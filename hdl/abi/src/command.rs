//! Commands: how an owner changes the card's tables. One command is one 64-byte ring entry, one
//! beat.
//!
//! Commands take effect in ring order. A command is confirmed (see [`crate::completion`]) when its
//! fence has passed: every packet and every fetch that was checked against the old state has left,
//! and its writes precede the confirmation. Opcodes from [`PRIVILEGED_FIRST`] on are accepted from
//! owner 0 alone; the others from the flow's owner and from owner 0.
//!
//! Source: docs/specification.md, Commands.

use crate::config::PROFILE_BITS;
use crate::field::Field;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Name of its constant.
    pub name: &'static str,
    /// Opcode.
    pub opcode: u8,
    /// What it does.
    pub meaning: &'static str,
    /// Its fields beside those that all commands have: [`OPCODE`], [`GENERATION`], [`FLOW`].
    pub fields: &'static [Field],
}

/// Defines the commands: for each a constant, its opcode, and a row.
macro_rules! commands {
    (
        $($(#[$more:meta])* $name:ident = $opcode:literal, $meaning:literal, [$($field:ident)*];)+
    ) => {
        $(
            #[doc = concat!("Opcode. ", $meaning, ".")]
            #[doc = ""]
            $(#[$more])*
            pub const $name: u8 = $opcode;
        )+
        /// All commands, by opcode.
        pub const COMMANDS: &[Command] = &[$(Command {
            name: stringify!($name),
            opcode: $opcode,
            meaning: $meaning,
            fields: &[$($field),*],
        }),+];
    };
}

commands! {
    /// Its confirmation is a fence.
    NOP = 0, "A fence and nothing else", [];
    FLOOR_SET = 1, "Moves the receive floor, the accept ranges and the head of the receive list",
        [FLOOR ACK_LOW ACK_HIGH TIMESTAMP_FLOOR HEAD];
    SEGMENT_POST = 2, "Appends a segment to a list",
        [DIRECTION SEGMENT_INDEX SEGMENT_POSITION SEGMENT_BYTES SEGMENT_REGION SEGMENT_REGION_KEY
         SEGMENT_OFFSET];
    SEGMENT_TRUNCATE = 3, "Ends a receive segment early", [DIRECTION SEGMENT_INDEX SEGMENT_BYTES];
    SEND_FLOOR_SET = 4, "Moves the send floor and the head of the send list", [FLOOR HEAD];
    /// All that a message needs.
    FLOW_ADVANCE = 5, "Moves both floors, the accept ranges and both heads, and appends a segment",
        [FLOOR ACK_LOW ACK_HIGH TIMESTAMP_FLOOR HEAD APPENDS APPEND_DIRECTION SEND_FLOOR SEND_HEAD
         APPEND_INDEX APPEND_POSITION APPEND_BYTES APPEND_REGION APPEND_REGION_KEY APPEND_OFFSET];
    KEY_SET = 16, "Writes a key slot; the key follows from byte 16 on",
        [KEY_BUCKET KEY_WAY KEY_BANK];
    KEY_CLEAR = 17, "Clears a key slot", [KEY_BUCKET KEY_WAY KEY_BANK];
    FLOW_INSTALL = 18, "Installs a flow entry",
        [OWNER PROFILE TIMESTAMP_CHECK DOMAIN INSTALL_FLOOR INSTALL_ACK_LOW INSTALL_ACK_HIGH
         INSTALL_TIMESTAMP_FLOOR INSTALL_SEND_FLOOR RX_LIST_BASE RX_LIST_BITS TX_LIST_BASE
         TX_LIST_BITS];
    FLOW_REMOVE = 19, "Removes a flow entry", [];
    /// The host has posted nothing to it since it copied the entries.
    LIST_MOVE = 20, "Gives a list another place and size", [DIRECTION LIST_BASE LIST_BITS];
    REGION_INSTALL = 21, "Installs a region",
        [REGION REGION_KEY REGION_DOMAIN REGION_WRITE REGION_READ REGION_MEMORY REGION_PAGE_BITS
         REGION_FIRST_PAGE REGION_BYTES];
    REGION_REMOVE = 22, "Removes a region", [REGION REGION_KEY];
    PAGE_SET = 23, "Writes a page entry", [PAGE PAGE_ADDRESS];
}
/// First opcode that only owner 0 may use.
pub const PRIVILEGED_FIRST: u8 = 16;

/// Opcode of the command.
pub const OPCODE: Field = Field::new("opcode", 0, 8, "opcode");
/// Generation of the flow.
pub const GENERATION: Field =
    Field::new("generation", 8, 8, "generation of the flow; must match except in flow_install");
/// Flow id.
pub const FLOW: Field = Field::new("flow", 16, 16, "flow id");

/// flow_install: owner whose queue the flow's packets go to.
pub const OWNER: Field = Field::new("owner", 32, 8, "flow_install: owner of the flow");
/// flow_install: header profile.
pub const PROFILE: Field = Field::new("profile", 40, PROFILE_BITS, "flow_install: header profile");
/// flow_install: packets without a timestamp option, or with one below its floor, are deferred.
pub const TIMESTAMP_CHECK: Field = Field::new(
    "timestamp_check",
    42,
    1,
    "flow_install: 1: packets need a timestamp not older than its floor",
);
/// flow_install: protection domain.
pub const DOMAIN: Field = Field::new("domain", 48, 16, "flow_install: protection domain");
/// flow_install: receive floor; the cursor starts there.
pub const INSTALL_FLOOR: Field = Field::new("install_floor", 64, 32, "flow_install: receive floor");
/// flow_install: lowest acceptable ACK number.
pub const INSTALL_ACK_LOW: Field =
    Field::new("install_ack_low", 96, 32, "flow_install: lowest ACK number");
/// flow_install: highest acceptable ACK number.
pub const INSTALL_ACK_HIGH: Field =
    Field::new("install_ack_high", 128, 32, "flow_install: highest ACK number");
/// flow_install: timestamp floor.
pub const INSTALL_TIMESTAMP_FLOOR: Field =
    Field::new("install_timestamp_floor", 160, 32, "flow_install: timestamp floor");
/// flow_install: send floor.
pub const INSTALL_SEND_FLOOR: Field =
    Field::new("install_send_floor", 192, 32, "flow_install: send floor");
/// flow_install: first entry of the receive list.
pub const RX_LIST_BASE: Field =
    Field::new("rx_list_base", 224, 24, "flow_install: first entry of the receive list");
/// flow_install: log2 entries of the receive list.
pub const RX_LIST_BITS: Field =
    Field::new("rx_list_bits", 248, 4, "flow_install: log2 entries of the receive list");
/// flow_install: first entry of the send list.
pub const TX_LIST_BASE: Field =
    Field::new("tx_list_base", 256, 24, "flow_install: first entry of the send list");
/// flow_install: log2 entries of the send list.
pub const TX_LIST_BITS: Field =
    Field::new("tx_list_bits", 280, 4, "flow_install: log2 entries of the send list");

/// key_set, key_clear: bucket.
pub const KEY_BUCKET: Field = Field::new("key_bucket", 32, 16, "key_set, key_clear: bucket");
/// key_set, key_clear: way in the bucket.
pub const KEY_WAY: Field = Field::new("key_way", 48, 2, "key_set, key_clear: way in the bucket");
/// key_set, key_clear: bank.
pub const KEY_BANK: Field = Field::new("key_bank", 50, 1, "key_set, key_clear: bank");
/// key_set: first byte of the 48-byte key in the command.
pub const KEY_AT_BYTES: usize = 16;

/// floor_set, send_floor_set, flow_advance: the new floor; of flow_advance that of receive.
pub const FLOOR: Field = Field::new("floor", 32, 32, "the new floor (flow_advance: of receive)");
/// floor_set, flow_advance: lowest acceptable ACK number.
pub const ACK_LOW: Field = Field::new("ack_low", 64, 32, "lowest ACK number");
/// floor_set, flow_advance: highest acceptable ACK number.
pub const ACK_HIGH: Field = Field::new("ack_high", 96, 32, "highest ACK number");
/// floor_set, flow_advance: timestamp floor.
pub const TIMESTAMP_FLOOR: Field = Field::new("timestamp_floor", 128, 32, "timestamp floor");
/// floor_set, send_floor_set, flow_advance: first list index still needed.
pub const HEAD: Field =
    Field::new("head", 160, 16, "first list index still needed (flow_advance: of receive)");

/// flow_advance: whether a segment is appended.
pub const APPENDS: Field = Field::new("appends", 176, 1, "1: a segment is appended");
/// flow_advance: the list that the segment is appended to.
pub const APPEND_DIRECTION: Field =
    Field::new("append_direction", 177, 1, "to the list: 0: receive; 1: send");
/// flow_advance: the new send floor.
pub const SEND_FLOOR: Field = Field::new("send_floor", 192, 32, "the new send floor");
/// flow_advance: first index of the send list still needed.
pub const SEND_HEAD: Field =
    Field::new("send_head", 224, 16, "first index of the send list still needed");
/// flow_advance: list index of the segment, modulo 2^16.
pub const APPEND_INDEX: Field =
    Field::new("append_index", 240, 16, "list index of the segment, modulo 2^16");
/// flow_advance: stream position of the segment's first byte.
pub const APPEND_POSITION: Field =
    Field::new("append_position", 256, 32, "stream position of the segment's first byte");
/// flow_advance: length of the segment in bytes.
pub const APPEND_BYTES: Field = Field::new("append_bytes", 288, 31, "length, 1 to 2^30");
/// flow_advance: region index.
pub const APPEND_REGION: Field = Field::new("append_region", 320, 16, "region index");
/// flow_advance: region key.
pub const APPEND_REGION_KEY: Field = Field::new("append_region_key", 336, 16, "key of the region");
/// flow_advance: byte offset in the region.
pub const APPEND_OFFSET: Field = Field::new("append_offset", 352, 48, "byte offset in the region");

/// segment_post, segment_truncate, list_move: 0 receive list, 1 send list.
pub const DIRECTION: Field = Field::new("direction", 32, 1, "0: receive list; 1: send list");
/// segment_post, segment_truncate: list index, modulo 2^16.
pub const SEGMENT_INDEX: Field = Field::new("segment_index", 48, 16, "list index, modulo 2^16");
/// segment_post: stream position of the segment's first byte.
pub const SEGMENT_POSITION: Field =
    Field::new("segment_position", 64, 32, "stream position of the segment's first byte");
/// segment_post, segment_truncate: length in bytes.
pub const SEGMENT_BYTES: Field = Field::new(
    "segment_bytes",
    96,
    31,
    "length, 1 to 2^30 (truncate: 0 to 2^30, never more than before)",
);
/// segment_post: region index.
pub const SEGMENT_REGION: Field = Field::new("segment_region", 128, 16, "region index");
/// segment_post: region key.
pub const SEGMENT_REGION_KEY: Field =
    Field::new("segment_region_key", 144, 16, "key of the region");
/// segment_post: byte offset in the region.
pub const SEGMENT_OFFSET: Field =
    Field::new("segment_offset", 160, 48, "byte offset in the region");

/// list_move: first entry.
pub const LIST_BASE: Field = Field::new("list_base", 64, 24, "list_move: first entry");
/// list_move: log2 entries.
pub const LIST_BITS: Field = Field::new("list_bits", 88, 4, "list_move: log2 entries");

/// region_install, region_remove: region index.
pub const REGION: Field = Field::new("region", 32, 16, "region index");
/// region_install, region_remove: region key.
pub const REGION_KEY: Field = Field::new("region_key", 48, 16, "key (the region's generation)");
/// region_install: protection domain.
pub const REGION_DOMAIN: Field = Field::new("region_domain", 64, 16, "protection domain");
/// region_install: the card may write (receive).
pub const REGION_WRITE: Field =
    Field::new("region_write", 80, 1, "1: the card may write (receive)");
/// region_install: the card may read (send).
pub const REGION_READ: Field = Field::new("region_read", 81, 1, "1: the card may read (send)");
/// region_install: memory that holds the region.
pub const REGION_MEMORY: Field = Field::new(
    "region_memory",
    82,
    2,
    "memory: 0 host DRAM; others: a flush read precedes the header entry",
);
/// region_install: log2 bytes of a page.
pub const REGION_PAGE_BITS: Field =
    Field::new("region_page_bits", 88, 5, "log2 bytes of a page, 12 to 30");
/// region_install: first page entry.
pub const REGION_FIRST_PAGE: Field = Field::new("region_first_page", 96, 16, "first page entry");
/// region_install: length in bytes.
pub const REGION_BYTES: Field = Field::new("region_bytes", 128, 48, "length in bytes");

/// page_set: page entry.
pub const PAGE: Field = Field::new("page", 32, 16, "page_set: page entry");
/// page_set: bus address of the page, aligned to its size.
pub const PAGE_ADDRESS: Field =
    Field::new("page_address", 64, 64, "page_set: bus address, page aligned");
