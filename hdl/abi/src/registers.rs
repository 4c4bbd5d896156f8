//! BAR 0: 32-bit little-endian registers.
//!
//! ```text
//! 0x00_0000  identification and control        0x00_8000  counters: [`crate::counters`]
//! 0x00_1000  receive settings                  0x01_0000  MSI-X table, 0x01_8000 pending bits
//! 0x00_2000  owner contexts, 64 B each         0x04_0000  board window
//!                                              0x10_0000  doorbells, 4 KiB per owner
//! ```
//! Everything below [`DOORBELLS`] is privileged. 64-bit values are two words, low word first; a
//! context takes effect when its enable word is written.

/// Size of BAR 0, bytes.
pub const BAR_BYTES: usize = 16 << 20;

/// A register, or the first of an array of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name of its constant.
    pub name: &'static str,
    /// Offset in BAR 0, in an owner context or in a doorbell page, bytes.
    pub offset: u32,
    /// r, w or rw.
    pub access: &'static str,
    /// The bits of a written value that it keeps, others are ignored; empty where it is read only.
    pub kept_bits: &'static str,
    /// Meaning and unit.
    pub meaning: &'static str,
}

/// Defines the registers of a table: for each a constant, its offset, and a row.
macro_rules! registers {
    (
        $(#[$table_doc:meta])* $table:ident;
        $($(#[$more:meta])* $name:ident = $offset:literal, $access:ident, $kept:literal,
            $meaning:literal;)+
    ) => {
        $(
            #[doc = concat!("Register (", stringify!($access), "): ", $meaning, ".")]
            #[doc = ""]
            $(#[$more])*
            pub const $name: u32 = $offset;
        )+
        $(#[$table_doc])*
        pub const $table: &[Register] = &[$(Register {
            name: stringify!($name),
            offset: $offset,
            access: stringify!($access),
            kept_bits: $kept,
            meaning: $meaning,
        }),+];
    };
}
pub(crate) use registers;

registers! {
    /// Registers of BAR 0, by offset. Counters: [`crate::counters`].
    REGISTERS;

    /// See [`ID_VALUE`] and [`GOLDEN_ID_VALUE`].
    ID = 0x0000, r, "",
        "`0x43494e5a`, \"ZNIC\"; a golden image: `0x444c475a`, \"ZGLD\"";

    /// See [`crate::ABI_VERSION`].
    VERSION = 0x0004, r, "",
        "version of this contract: major in bits 31:16, minor in bits 15:0";

    SIZES_0 = 0x0008, r, "",
        "log2: flows, buckets, segments, regions in bytes 0 to 3";

    SIZES_1 = 0x000c, r, "",
        "log2: page entries, owners in bytes 0 and 1";

    /// See [`FEATURE_IPV6`] and followers.
    FEATURES = 0x0010, r, "",
        "bit 0: IPv6; 1: TSO; 2: header profiles; 3: send slots pushed with their doorbell; \
            4: interrupts on confirmations and send status; 5: runs of received packets";

    /// After 0xfffe comes 1 again.
    EPOCH = 0x0014, r, "",
        "current epoch, bits 15:0, 1 to 0xfffe";

    /// See [`CONTROL_RX`] and followers: all tables and rings are invalid in a new epoch.
    CONTROL = 0x0018, rw, "2:0",
        "bit 0: receive runs; 1: send runs; 2: write 1 to start a new epoch (all is invalid)";

    /// See [`STATUS_TABLES_BUSY`] and followers.
    STATUS = 0x001c, r, "",
        "bit 0: a tag is quarantined; 1: bus mastering; 2: link is up; 3: commands wait; 4: \
            requests of an earlier epoch have not ended; wire: 8: up, 9: clock, 10: aligned, 11, \
            12: local, remote fault, 13: paused, 14: pause ignored";

    INTERRUPT_INTERVAL = 0x0020, w, "31:0",
        "least time between two interrupts of an owner, in cycles of 4 ns; 0: none";

    INTERRUPT_ENTRIES = 0x0024, w, "31:0",
        "unseen entries of a ring (header slots, confirmed commands, slots taken over) that \
            interrupt before the interval is over; 0: never";

    /// See [`MAC_CONTROL_SENDS_FAIL`] and followers.
    MAC_CONTROL = 0x0028, w, "2:0",
        "bit 0: sends fail while the wire is down; 1: ask for pauses; 2: obey pauses; an \
            epoch clears it";

    /// See [`PAUSE_LIMIT_CYCLES`].
    PAUSE_LIMIT = 0x002c, w, "31:0",
        "longest pause that is obeyed, in cycles of 4 ns; an epoch sets it to 100 ms";

    /// Power state 1 is D0, 4 is D3hot.
    PCIE_STATE = 0x0030, r, "",
        "LTSSM state 5:0, power state 10:8";

    /// A beat has 64 bytes. With more than 16 bits no pause is asked for. See
    /// [`PAUSE_BEATS_START`].
    PAUSE_BEATS = 0x0034, w, "15:0; more is kept as 0xffff",
        "packet buffer beats, of 2,048, from which on a pause is asked for; 256 in a new \
            epoch";

    /// See [`COALESCE_CYCLES_START`] and [`CONTEXT_ENABLE_COALESCE`].
    COALESCE_CYCLES = 0x0038, w, "15:0; more is kept as 0xffff",
        "longest time from a run's first packet to its entry, in cycles of 4 ns; 0: no run \
            begins; an epoch sets it to 8 us";

    /// See [`crate::flow_key::SECRET_WORDS`] and [`HASH_SECRET_STRIDE`].
    HASH_SECRET = 0x1000, w, "31:0",
        "Toeplitz secret of bank 0, 13 words; bank 1 at + 0x40; commands wait 50 us after a \
            write";

    /// Two words for each of [`crate::config::PROFILES`]; profile 0 is fixed. See
    /// [`PROFILE_STRIDE`].
    PROFILES = 0x1100, w, "see below",
        "header profile n at + 0x8 n; see below";

    FLUSH = 0x1200, w, "63:0",
        "flush read address of memory m at + 0x8 m, 64 bits; memory 0 has none";

    /// See [`CONTEXT_STRIDE`].
    CONTEXTS = 0x2000, w, "see below",
        "context of owner n at + 0x40 n; see below";

    MSIX_TABLE = 0x1_0000, rw, "as PCI 3.0, 6.8.2 says",
        "MSI-X table, one 16-byte entry an owner";

    MSIX_PENDING = 0x1_8000, r, "",
        "MSI-X pending bits";

    /// Over AXI4-Lite; privileged. See [`BOARD_WINDOW_END`].
    BOARD_WINDOW = 0x4_0000, rw, "31:0",
        "up to 0xfffff: what the board has beside PCIe and wire; one dword at a time";

    /// See [`DOORBELL_STRIDE`].
    DOORBELLS = 0x10_0000, w, "see below",
        "page of owner n at + 0x1000 n; see below";
}

/// "ZNIC".
pub const ID_VALUE: u32 = 0x4349_4e5a;
/// [`ID`] of a golden image, "ZGLD": a board window alone, by which the image of the card can be
/// loaded or replaced.
pub const GOLDEN_ID_VALUE: u32 = 0x444c_475a;
/// Feature: IPv6.
pub const FEATURE_IPV6: u32 = 1 << 0;
/// Feature: TSO.
pub const FEATURE_TSO: u32 = 1 << 1;
/// Feature: header profiles beside TCP.
pub const FEATURE_PROFILES: u32 = 1 << 2;
/// Feature: a send slot may be pushed with its doorbell; see [`PUSH_WINDOW`].
pub const FEATURE_PUSH: u32 = 1 << 3;
/// Feature: confirmations and the send status raise interrupts as well; see
/// [`DOORBELL_ARM_COMMANDS`] and [`DOORBELL_ARM_SENDS`].
pub const FEATURE_ARM: u32 = 1 << 4;
/// Feature: an owner may ask for one header entry for a run of packets; see
/// [`CONTEXT_ENABLE_COALESCE`].
pub const FEATURE_COALESCE: u32 = 1 << 5;
/// [`CONTROL`] bit: receive runs.
pub const CONTROL_RX: u32 = 1 << 0;
/// [`CONTROL`] bit: send runs.
pub const CONTROL_TX: u32 = 1 << 1;
/// [`CONTROL`] bit: start a new epoch.
pub const CONTROL_RESET: u32 = 1 << 2;
/// [`STATUS`] bit: commands wait until the card has written its tables: at power-up, after a write
/// of a hash secret, and when the number of an epoch comes again.
pub const STATUS_TABLES_BUSY: u32 = 1 << 3;
/// [`STATUS`] bit: memory requests of an earlier epoch have not ended. The read that finds it clear
/// in the new epoch comes behind the last write of the old one: from then on its memory may be used
/// for something else. Reads are given up after 50 ms; writes end when the link takes them.
pub const STATUS_REQUESTS_PENDING: u32 = 1 << 4;
/// First [`STATUS`] bit of the wire.
pub const STATUS_WIRE_BIT: u32 = 8;
/// [`STATUS`] bit: frames can leave and arrive: the MAC's clock runs, its receiver is aligned, and
/// neither end reports a fault.
pub const STATUS_WIRE_UP: u32 = 1 << 8;
/// [`STATUS`] bit: the MAC's clock runs. Without it the other bits of the wire are old.
pub const STATUS_MAC_CLOCK: u32 = 1 << 9;
/// [`STATUS`] bit: the MAC's receiver is aligned.
pub const STATUS_WIRE_ALIGNED: u32 = 1 << 10;
/// [`STATUS`] bit: local fault.
pub const STATUS_LOCAL_FAULT: u32 = 1 << 11;
/// [`STATUS`] bit: remote fault.
pub const STATUS_REMOTE_FAULT: u32 = 1 << 12;
/// [`STATUS`] bit: the other end asks for a pause that [`MAC_CONTROL_PAUSE_RX`] allows.
pub const STATUS_PAUSED: u32 = 1 << 13;
/// [`STATUS`] bit: that pause has lasted longer than [`PAUSE_LIMIT`] and is ignored until it ends.
pub const STATUS_PAUSE_IGNORED: u32 = 1 << 14;
/// [`MAC_CONTROL`] bit: while the wire is down sends fail as `link_down`. Without it their frames
/// are dropped and counted.
pub const MAC_CONTROL_SENDS_FAIL: u32 = 1 << 0;
/// [`MAC_CONTROL`] bit: the other end is asked to pause (802.3x) while [`PAUSE_BEATS`] beats of the
/// packet buffer or more are in use.
pub const MAC_CONTROL_PAUSE_TX: u32 = 1 << 1;
/// [`MAC_CONTROL`] bit: a pause that the other end asks for is obeyed, between frames.
pub const MAC_CONTROL_PAUSE_RX: u32 = 1 << 2;
/// [`PAUSE_LIMIT`] of power-up: 100 ms.
pub const PAUSE_LIMIT_CYCLES: u32 = 25_000_000;
/// [`PAUSE_BEATS`] of power-up: an eighth of the buffer. What the other end still sends (394 quanta
/// of 512 bits, IEEE 802.3, 31B.3.7) then stays within an owner's share, half of the buffer.
pub const PAUSE_BEATS_START: u32 = 256;
/// [`COALESCE_CYCLES`] of power-up and of a new epoch: 8 us.
pub const COALESCE_CYCLES_START: u32 = 2_000;
/// Distance between the secrets of two banks, bytes.
pub const HASH_SECRET_STRIDE: u32 = 0x40;
/// Distance between profiles, bytes.
pub const PROFILE_STRIDE: u32 = 8;
/// End of the board window.
pub const BOARD_WINDOW_END: u32 = 0x10_0000;
/// Accesses to the board window that can wait; one more is refused.
pub const BOARD_WINDOW_ACCESSES: usize = 16;

registers! {
    /// Words of an owner context, by offset.
    CONTEXT;

    CONTEXT_COMMAND_BASE = 0x00, w, "63:0",
        "command ring, 64-byte aligned";

    CONTEXT_COMPLETION_BASE = 0x08, w, "63:0",
        "completion ring, 64-byte aligned";

    CONTEXT_SEND_BASE = 0x10, w, "63:0",
        "send ring, 128-byte aligned";

    CONTEXT_SEND_STATUS = 0x18, w, "63:0",
        "where the send ring's consumer index goes, 4 bytes, 64-byte aligned: descriptors \
            before it are taken over, and may still read their payload";

    CONTEXT_HEADER_BASE = 0x20, w, "63:0",
        "header queue, 128-byte aligned";

    CONTEXT_SLOW_BASE = 0x28, w, "63:0",
        "slow buffers, 16 KiB aligned";

    CONTEXT_SIZES = 0x30, w, "3:0 of each byte",
        "log2: commands 7:0, send slots 15:8, header slots 23:16, slow buffers 31:24";

    /// Writing 1 sets all indices of the owner to 0 and all phases to 1.
    CONTEXT_ENABLE = 0x34, w, "1:0",
        "bit 0 enables the owner; with bit 1 its header queue takes runs";
}

/// [`CONTEXT_ENABLE`] bit: received packets may be summed up in runs ([`FEATURE_COALESCE`]; see
/// [`crate::header_entry::KIND_RUN`]). Without it each packet has an entry of its own.
pub const CONTEXT_ENABLE_COALESCE: u32 = 1 << 1;

/// Distance between contexts, bytes.
pub const CONTEXT_STRIDE: u32 = 0x40;
/// Smallest log2 ring size.
pub const RING_BITS_MIN: u32 = 2;
/// Largest log2 ring size.
pub const RING_BITS_MAX: u32 = 15;

registers! {
    /// Words of an owner's doorbell page, by offset.
    DOORBELL_PAGE;

    DOORBELL_COMMAND = 0x00, w, "31:0",
        "producer index of the command ring";

    DOORBELL_SEND = 0x04, w, "31:0",
        "producer index of the send ring, in slots";

    DOORBELL_HEADER = 0x08, w, "31:0",
        "consumer index of the header queue, in slots";

    DOORBELL_SLOW = 0x0c, w, "31:0",
        "slow buffers given back, in the order of their use";

    DOORBELL_ARM = 0x10, w, "31:0",
        "arms the interrupt with the last header index seen";

    /// A ring stops when a read of it failed or its producer index was wrong, and stays stopped
    /// until the context is enabled again.
    DOORBELL_STATUS = 0x14, r, "",
        "bit 0: the command ring has stopped; bit 1: the send ring has";

    /// Modulo 2^32: the index of the last one, and one.
    DOORBELL_ARM_COMMANDS = 0x18, w, "31:0",
        "arms it with the number of commands whose confirmation was seen";

    /// It is at [`CONTEXT_SEND_STATUS`].
    DOORBELL_ARM_SENDS = 0x1c, w, "31:0",
        "arms it with the consumer index of the send ring that was seen";

    /// The card then need not read the slot. It is written as two requests of [`PUSH_BYTES`] each,
    /// the first half first; any other write has no effect. The slot is in the ring as well: the
    /// card reads it there when it does not use the copy.
    PUSH_WINDOW = 0x80, w, "all bytes",
        "128 bytes: a copy of the send slot that the next doorbell produces last";
}

/// Distance between the doorbell pages of two owners, bytes.
pub const DOORBELL_STRIDE: u32 = 0x1000;
/// [`DOORBELL_STATUS`] bit: the command ring has stopped.
pub const STATUS_COMMAND_STOPPED: u32 = 1 << 0;
/// [`DOORBELL_STATUS`] bit: the send ring has stopped.
pub const STATUS_SEND_STOPPED: u32 = 1 << 1;
/// Bytes of one write to [`PUSH_WINDOW`].
pub const PUSH_BYTES: usize = 64;

/// What the texts above say of other constants.
const _: () = {
    assert!(ID_VALUE == 0x4349_4e5a && GOLDEN_ID_VALUE == 0x444c_475a);
    assert!(FEATURE_IPV6 == 1 << 0 && FEATURE_TSO == 1 << 1 && FEATURE_PROFILES == 1 << 2);
    assert!(FEATURE_PUSH == 1 << 3 && FEATURE_ARM == 1 << 4 && FEATURE_COALESCE == 1 << 5);
    assert!(CONTEXT_ENABLE_COALESCE == 1 << 1 && COALESCE_CYCLES_START as u64 * 4 == 8_000);
    assert!(CONTROL_RX == 1 << 0 && CONTROL_TX == 1 << 1 && CONTROL_RESET == 1 << 2);
    assert!(crate::flow_key::SECRET_WORDS == 13 && HASH_SECRET_STRIDE == 0x40);
    assert!(PROFILE_STRIDE == 8 && CONTEXT_STRIDE == 0x40 && DOORBELL_STRIDE == 0x1000);
    assert!(PAUSE_LIMIT_CYCLES as u64 * 4 == 100_000_000 && PAUSE_BEATS_START == 256);
    assert!(PROFILES + crate::config::PROFILES as u32 * PROFILE_STRIDE <= FLUSH);
    assert!(is_ascending(REGISTERS) && is_ascending(CONTEXT) && is_ascending(DOORBELL_PAGE));
};

const fn is_ascending(table: &[Register]) -> bool {
    let mut at = 1;
    while at < table.len() {
        if table[at - 1].offset >= table[at].offset {
            return false;
        }
        at += 1;
    }
    true
}
