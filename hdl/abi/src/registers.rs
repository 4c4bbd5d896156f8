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

/// Reads [`ID_VALUE`].
pub const ID: u32 = 0x0000;
/// "ZNIC".
pub const ID_VALUE: u32 = 0x4349_4e5a;
/// [`ID`] of a golden image, "ZGLD": a board window alone, by which the image of the card can be
/// loaded or replaced.
pub const GOLDEN_ID_VALUE: u32 = 0x444c_475a;
/// Reads [`crate::ABI_VERSION`].
pub const VERSION: u32 = 0x0004;
/// Sizes: flow, bucket, segment, region bits in bytes 0 to 3.
pub const SIZES_0: u32 = 0x0008;
/// Sizes: page, owner bits in bytes 0 and 1.
pub const SIZES_1: u32 = 0x000c;
/// Feature bits; see [`FEATURE_IPV6`] and followers.
pub const FEATURES: u32 = 0x0010;
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
/// Current epoch, bits 15:0: 1 to 0xfffe, then 1 again.
pub const EPOCH: u32 = 0x0014;
/// Bit 0: receive runs; bit 1: send runs; bit 2: write 1 to start a new epoch (all tables and rings
/// are invalid after it).
pub const CONTROL: u32 = 0x0018;
/// [`CONTROL`] bit: receive runs.
pub const CONTROL_RX: u32 = 1 << 0;
/// [`CONTROL`] bit: send runs.
pub const CONTROL_TX: u32 = 1 << 1;
/// [`CONTROL`] bit: start a new epoch.
pub const CONTROL_RESET: u32 = 1 << 2;
/// Bit 0: a tag is quarantined; bit 1: bus mastering is on; bit 2: the PCIe link is up; bit 3: the
/// card writes its own tables, see [`STATUS_TABLES_BUSY`]; bit 4: requests of an earlier epoch
/// have not ended, see [`STATUS_REQUESTS_PENDING`]; bits 14:8: the wire, see [`STATUS_WIRE_UP`] and
/// followers.
pub const STATUS: u32 = 0x001c;
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
/// Least time between two interrupts of an owner, in cycles of 4 ns; 0: no limit. Write only.
pub const INTERRUPT_INTERVAL: u32 = 0x0020;
/// Unseen header slots, confirmed commands, or slots of the send ring taken over, that interrupt an
/// owner before the interval is over; 0: never. Write only.
pub const INTERRUPT_ENTRIES: u32 = 0x0024;
/// What is done with the wire; see [`MAC_CONTROL_SENDS_FAIL`] and followers. An epoch sets it to 0.
/// Write only.
pub const MAC_CONTROL: u32 = 0x0028;
/// [`MAC_CONTROL`] bit: while the wire is down sends fail as `link_down`. Without it their frames
/// are dropped and counted.
pub const MAC_CONTROL_SENDS_FAIL: u32 = 1 << 0;
/// [`MAC_CONTROL`] bit: the other end is asked to pause (802.3x) while [`PAUSE_BEATS`] beats of the
/// packet buffer or more are in use.
pub const MAC_CONTROL_PAUSE_TX: u32 = 1 << 1;
/// [`MAC_CONTROL`] bit: a pause that the other end asks for is obeyed, between frames.
pub const MAC_CONTROL_PAUSE_RX: u32 = 1 << 2;
/// Longest pause that is obeyed, in cycles of 4 ns. An epoch sets it to [`PAUSE_LIMIT_CYCLES`].
/// Write only.
pub const PAUSE_LIMIT: u32 = 0x002c;
/// [`PAUSE_LIMIT`] of power-up: 100 ms.
pub const PAUSE_LIMIT_CYCLES: u32 = 25_000_000;
/// Beats of 64 bytes in the packet buffer, of 2,048, from which on a pause is asked for. 16 bits:
/// what needs more is kept as 0xffff, and no pause is asked for. An epoch sets it to
/// [`PAUSE_BEATS_START`]. Write only.
pub const PAUSE_BEATS: u32 = 0x0034;
/// [`PAUSE_BEATS`] of power-up: an eighth of the buffer. What the other end still sends (394 quanta
/// of 512 bits, IEEE 802.3, 31B.3.7) then stays within an owner's share, half of the buffer.
pub const PAUSE_BEATS_START: u32 = 256;
/// State of the PCIe hard block, read only: LTSSM state 5:0, power state 10:8 (1: D0, 4: D3hot).
pub const PCIE_STATE: u32 = 0x0030;

/// Hash secret of bank 0: [`crate::flow_key::SECRET_WORDS`] words; that of bank 1 starts
/// [`HASH_SECRET_STRIDE`] bytes later.
pub const HASH_SECRET: u32 = 0x1000;
/// Distance between the secrets of two banks, bytes.
pub const HASH_SECRET_STRIDE: u32 = 0x40;
/// Profile registers, two words for each of 4 profiles (profile 0 is fixed).
pub const PROFILES: u32 = 0x1100;
/// Distance between profiles, bytes.
pub const PROFILE_STRIDE: u32 = 8;
/// Flush read address of memory m at `FLUSH + 8 m`, 64 bits; memory 0 has none.
pub const FLUSH: u32 = 0x1200;

/// Owner contexts.
pub const CONTEXTS: u32 = 0x2000;
/// Distance between contexts, bytes.
pub const CONTEXT_STRIDE: u32 = 0x40;
/// Context: command ring, bus address (64 B aligned).
pub const CONTEXT_COMMAND_BASE: u32 = 0x00;
/// Context: completion ring, bus address (64 B aligned).
pub const CONTEXT_COMPLETION_BASE: u32 = 0x08;
/// Context: send ring, bus address (128 B aligned).
pub const CONTEXT_SEND_BASE: u32 = 0x10;
/// Context: where the card writes the send ring's consumer index, bus address of 4 bytes (64 B
/// aligned).
pub const CONTEXT_SEND_STATUS: u32 = 0x18;
/// Context: header queue, bus address (128 B aligned).
pub const CONTEXT_HEADER_BASE: u32 = 0x20;
/// Context: slow buffers, bus address (16 KiB aligned).
pub const CONTEXT_SLOW_BASE: u32 = 0x28;
/// Context: log2 entries: command ring 7:0, send ring slots 15:8, header slots 23:16, slow buffers
/// 31:24. Four bits of each are kept.
pub const CONTEXT_SIZES: u32 = 0x30;
/// Context: bit 0 enables the owner; writing 1 sets all its indices to 0 and all phases to 1.
pub const CONTEXT_ENABLE: u32 = 0x34;
/// Smallest log2 ring size.
pub const RING_BITS_MIN: u32 = 2;
/// Largest log2 ring size.
pub const RING_BITS_MAX: u32 = 15;

/// MSI-X table: one 16-byte entry per owner.
pub const MSIX_TABLE: u32 = 0x1_0000;
/// MSI-X pending bits.
pub const MSIX_PENDING: u32 = 0x1_8000;

/// The board window: what a board has beside PCIe and wire, over AXI4-Lite. Accesses are one dword
/// each. Privileged.
pub const BOARD_WINDOW: u32 = 0x4_0000;
/// End of the board window.
pub const BOARD_WINDOW_END: u32 = 0x10_0000;
/// Accesses to the board window that can wait; one more is refused.
pub const BOARD_WINDOW_ACCESSES: usize = 16;

/// Doorbells: owner n at `DOORBELLS + n * DOORBELL_STRIDE`.
pub const DOORBELLS: u32 = 0x10_0000;
/// Distance between the doorbell pages of two owners, bytes.
pub const DOORBELL_STRIDE: u32 = 0x1000;
/// Doorbell: command ring producer index, free running.
pub const DOORBELL_COMMAND: u32 = 0x00;
/// Doorbell: send ring producer index in slots, free running.
pub const DOORBELL_SEND: u32 = 0x04;
/// Doorbell: header queue consumer index in slots, free running.
pub const DOORBELL_HEADER: u32 = 0x08;
/// Doorbell: slow buffer consumer index, free running: buffers are returned in the order in which
/// they were used.
pub const DOORBELL_SLOW: u32 = 0x0c;
/// Doorbell: arm the interrupt with the last header index seen.
pub const DOORBELL_ARM: u32 = 0x10;
/// Doorbell: arm the interrupt with the number of commands whose confirmation was seen, modulo
/// 2^32: the index of the last one, and one.
pub const DOORBELL_ARM_COMMANDS: u32 = 0x18;
/// Doorbell: arm the interrupt with the consumer index of the send ring that was seen at
/// [`CONTEXT_SEND_STATUS`].
pub const DOORBELL_ARM_SENDS: u32 = 0x1c;
/// Doorbell page, read only: bit 0: the command ring has stopped; bit 1: the send ring has stopped.
/// A ring stops when a read of it failed or its producer index was wrong, and stays stopped until
/// the context is enabled again.
pub const DOORBELL_STATUS: u32 = 0x14;
/// [`DOORBELL_STATUS`] bit: the command ring has stopped.
pub const STATUS_COMMAND_STOPPED: u32 = 1 << 0;
/// [`DOORBELL_STATUS`] bit: the send ring has stopped.
pub const STATUS_SEND_STOPPED: u32 = 1 << 1;
/// Doorbell page, write only: a copy of the send slot that the next [`DOORBELL_SEND`] produces
/// last, so that the card need not read it. It is written as two requests of 64 bytes each, the
/// first half first; any other write has no effect. The slot is in the ring as well: the card reads
/// it there when it does not use the copy.
pub const PUSH_WINDOW: u32 = 0x80;
/// Bytes of one write to [`PUSH_WINDOW`].
pub const PUSH_BYTES: usize = 64;
