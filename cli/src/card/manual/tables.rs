//! What the manual says about each register and command; numbers and names are `abi`'s.

use abi::command as c;
use abi::counters as n;
use abi::field::Field;
use abi::registers as r;

/// A register, or the first of an array.
pub struct Register {
    /// Name of its constant.
    pub constant: &'static str,
    /// Offset in BAR 0, in a context or in a doorbell page.
    pub offset: u32,
    /// r, w or rw.
    pub access: &'static str,
    /// Meaning; empty where the manual computes it.
    pub meaning: &'static str,
}

/// A command.
pub struct Command {
    /// Name of its constant.
    pub constant: &'static str,
    /// Opcode.
    pub opcode: u8,
    /// What it does.
    pub meaning: &'static str,
    /// Its fields beside those that all commands have.
    pub fields: &'static [Field],
}

/// The bits of a written value that a register keeps. Others are ignored, but as said here.
pub fn kept_bits(register: &Register) -> &'static str {
    match (register.access, register.constant) {
        ("r", _) => "",
        (_, "CONTROL" | "MAC_CONTROL") => "2:0",
        (_, "PAUSE_BEATS") => "15:0; more is kept as 0xffff",
        (_, "CONTEXT_SIZES") => "3:0 of each byte",
        (_, "CONTEXT_ENABLE") => "0",
        (_, "FLUSH") => "63:0",
        (_, "PROFILES" | "CONTEXTS" | "DOORBELLS") => "see below",
        (_, "MSIX_TABLE") => "as PCI 3.0, 6.8.2 says",
        (_, "PUSH_WINDOW") => "all bytes",
        (_, name) if name.starts_with("CONTEXT_") => "63:0",
        _ => "31:0",
    }
}

macro_rules! registers_of {
    ($from:ident; $($constant:ident $access:ident $meaning:literal)+) => {
        &[$(Register {
            constant: stringify!($constant),
            offset: $from::$constant,
            access: stringify!($access),
            meaning: $meaning,
        },)+]
    };
}

macro_rules! registers {
    ($($text:tt)+) => { registers_of! { r; $($text)+ } };
}

macro_rules! commands {
    ($($constant:ident $meaning:literal [$($field:ident)*])+) => {
        &[$(Command {
            constant: stringify!($constant),
            opcode: c::$constant,
            meaning: $meaning,
            fields: &[$(c::$field),*],
        },)+]
    };
}

/// Registers of BAR 0, by offset.
pub const REGISTERS: &[Register] = registers! {
    ID r ""
    VERSION r ""
    SIZES_0 r "log2: flows, buckets, segments, regions in bytes 0 to 3"
    SIZES_1 r "log2: page entries, owners in bytes 0 and 1"
    FEATURES r ""
    EPOCH r "current epoch, bits 15:0, 1 to 0xfffe"
    CONTROL rw ""
    STATUS r "bit 0: a tag is quarantined; 1: bus mastering; 2: link is up; 3: commands wait; 4: \
        requests of an earlier epoch have not ended; wire: 8: up, 9: clock, 10: aligned, 11, 12: \
        local, remote fault, 13: paused, 14: pause ignored"
    INTERRUPT_INTERVAL w "least time between two interrupts of an owner, in cycles of 4 ns; 0: none"
    INTERRUPT_ENTRIES w "unseen entries of a ring (header slots, confirmed commands, slots \
        taken over) that interrupt before the interval is over; 0: never"
    MAC_CONTROL w "bit 0: sends fail while the wire is down; 1: ask for pauses; 2: obey pauses; an \
        epoch clears it"
    PAUSE_LIMIT w "longest pause that is obeyed, in cycles of 4 ns; an epoch sets it to 100 ms"
    PCIE_STATE r "LTSSM state 5:0, power state 10:8"
    PAUSE_BEATS w "packet buffer beats, of 2,048, from which on a pause is asked for; 256 in a new \
        epoch"
    HASH_SECRET w ""
    PROFILES w "header profile n at + 0x8 n; see below"
    FLUSH w "flush read address of memory m at + 0x8 m, 64 bits; memory 0 has none"
    CONTEXTS w "owner context n at + 0x40 n; see below"
    MSIX_TABLE rw "MSI-X table, one 16-byte entry an owner"
    MSIX_PENDING r "MSI-X pending bits"
    BOARD_WINDOW rw "up to 0xfffff: what the board has beside PCIe and wire; one dword at a time"
    DOORBELLS w "page of owner n at + 0x1000 n; see below"
};

/// Banks of counters, by offset.
pub const COUNTERS: &[Register] = registers_of! { n;
    COUNTERS_DROP r "frames by drop reason"
    COUNTERS_DISPOSITION r "packets by disposition"
    COUNTERS_SEND_ERROR r "failed sends by reason"
    COUNTERS_STAGE r "stage counters in groups of eight, see below"
    COUNTERS_PEAK r "highest levels since the epoch began, see below"
    COUNTERS_INFO r "groups of stage counters 7:0, peaks 15:8; 32 bits"
};

/// Doorbells, offsets in an owner's page.
pub const DOORBELLS: &[Register] = registers! {
    DOORBELL_COMMAND w "producer index of the command ring"
    DOORBELL_SEND w "producer index of the send ring, in slots"
    DOORBELL_HEADER w "consumer index of the header queue, in slots"
    DOORBELL_SLOW w "slow buffers given back, in the order of their use"
    DOORBELL_ARM w "arms the interrupt with the last header index seen"
    DOORBELL_STATUS r "bit 0: the command ring has stopped; bit 1: the send ring has"
    DOORBELL_ARM_COMMANDS w "arms it with the number of commands whose confirmation was seen"
    DOORBELL_ARM_SENDS w "arms it with the consumer index of the send ring that was seen"
    PUSH_WINDOW w "128 bytes: a copy of the send slot that the next doorbell produces last"
};

/// Words of an owner context.
pub const CONTEXT: &[Register] = registers! {
    CONTEXT_COMMAND_BASE w "command ring, 64-byte aligned"
    CONTEXT_COMPLETION_BASE w "completion ring, 64-byte aligned"
    CONTEXT_SEND_BASE w "send ring, 128-byte aligned"
    CONTEXT_SEND_STATUS w "where the send ring's consumer index goes, 4 bytes, 64-byte aligned: \
        descriptors before it are taken over, and may still read their payload"
    CONTEXT_HEADER_BASE w "header queue, 128-byte aligned"
    CONTEXT_SLOW_BASE w "slow buffers, 16 KiB aligned"
    CONTEXT_SIZES w "log2: commands 7:0, send slots 15:8, header slots 23:16, slow buffers 31:24"
    CONTEXT_ENABLE w "bit 0 enables the owner"
};

/// All commands, by opcode.
pub const COMMANDS: &[Command] = commands! {
    NOP "A fence and nothing else" []
    FLOOR_SET "Moves the receive floor, the accept ranges and the head of the receive list"
        [FLOOR ACK_LOW ACK_HIGH TIMESTAMP_FLOOR HEAD]
    SEGMENT_POST "Appends a segment to a list"
        [DIRECTION SEGMENT_INDEX SEGMENT_POSITION SEGMENT_BYTES SEGMENT_REGION
         SEGMENT_REGION_KEY SEGMENT_OFFSET]
    SEGMENT_TRUNCATE "Ends a receive segment early" [DIRECTION SEGMENT_INDEX SEGMENT_BYTES]
    SEND_FLOOR_SET "Moves the send floor and the head of the send list" [FLOOR HEAD]
    FLOW_ADVANCE "Moves both floors, the accept ranges and both heads, and appends a segment"
        [FLOOR ACK_LOW ACK_HIGH TIMESTAMP_FLOOR HEAD APPENDS APPEND_DIRECTION SEND_FLOOR SEND_HEAD
         APPEND_INDEX APPEND_POSITION APPEND_BYTES APPEND_REGION APPEND_REGION_KEY APPEND_OFFSET]
    KEY_SET "Writes a key slot; the key follows from byte 16 on" [KEY_BUCKET KEY_WAY KEY_BANK]
    KEY_CLEAR "Clears a key slot" [KEY_BUCKET KEY_WAY KEY_BANK]
    FLOW_INSTALL "Installs a flow entry"
        [OWNER PROFILE TIMESTAMP_CHECK DOMAIN INSTALL_FLOOR INSTALL_ACK_LOW INSTALL_ACK_HIGH
         INSTALL_TIMESTAMP_FLOOR INSTALL_SEND_FLOOR RX_LIST_BASE RX_LIST_BITS TX_LIST_BASE
         TX_LIST_BITS]
    FLOW_REMOVE "Removes a flow entry" []
    LIST_MOVE "Gives a list another place and size" [DIRECTION LIST_BASE LIST_BITS]
    REGION_INSTALL "Installs a region"
        [REGION REGION_KEY REGION_DOMAIN REGION_WRITE REGION_READ REGION_MEMORY REGION_PAGE_BITS
         REGION_FIRST_PAGE REGION_BYTES]
    REGION_REMOVE "Removes a region" [REGION REGION_KEY]
    PAGE_SET "Writes a page entry" [PAGE PAGE_ADDRESS]
};

const _: () = assert!(c::KEY_AT_BYTES == 16);
const _: () = assert!(r::PROFILE_STRIDE == 8 && r::CONTEXT_STRIDE == 0x40);
const _: () = assert!(r::DOORBELL_STRIDE == 0x1000);
