//! Every size of the card, with its unit, and the relations between them.

/// Bytes of one beat of the data path.
pub const BEAT_BYTES: usize = 64;
/// Smallest Ethernet frame without FCS, bytes.
pub const FRAME_BYTES_MIN: usize = 60;
/// Largest Ethernet frame without FCS, bytes.
pub const FRAME_BYTES_MAX: usize = 9_216;
/// Largest payload of a frame, bytes: the largest frame without the shortest headers that have a
/// position (Ethernet, IPv4, TCP). The largest `mss_bytes` of a send descriptor.
pub const FRAME_PAYLOAD_BYTES_MAX: usize = FRAME_BYTES_MAX - (14 + 20 + 20);
/// Longest packet header (Ethernet with two VLAN tags, IPv4 with options, TCP with options), bytes.
pub const HEADER_BYTES_MAX: usize = 14 + 8 + 60 + 60;
/// Slot of the header queue and of the send ring, bytes.
pub const SLOT_BYTES: usize = 128;
/// Metadata at the start of a header entry or a send descriptor, bytes.
pub const METADATA_BYTES: usize = 32;
/// Header bytes that fit beside the metadata in one slot.
pub const SLOT_HEADER_BYTES: usize = SLOT_BYTES - METADATA_BYTES;
/// Command, bytes. One beat.
pub const COMMAND_BYTES: usize = 64;
/// Completion entry, bytes.
pub const COMPLETION_BYTES: usize = 16;
/// Slow buffer, bytes. Holds the payload of one deferred packet.
pub const SLOW_BUFFER_BYTES: usize = 16_384;
/// Farthest a flow's accepted position may lie beyond its floor, bytes (exclusive).
pub const FLOW_REACH_BYTES: u32 = 1 << 30;
/// Key slots of one bucket, read together.
pub const BUCKET_WAYS: usize = 4;
/// Banks of the flow table, each with its own keyed hash.
pub const FLOW_BANKS: usize = 2;
/// Most pieces (segment and page ends) one packet may be placed in.
pub const PIECES_MAX: usize = 16;
/// Most pieces of one send descriptor's payload; each ends at or before its segment's end.
pub const SEND_PIECES_MAX: usize = 128;
/// Longest piece of a send, bytes; pieces end at its multiples.
pub const SEND_PIECE_BYTES_MAX: usize = 4_096;
/// Longest read of payload, bytes; reads end at its multiples. A failed read aborts the frames that
/// it feeds.
pub const SEND_READ_BYTES_MAX: usize = 512;
/// Largest epoch; 1 follows it. 0 and 0xffff are never an epoch.
pub const EPOCH_MAX: u16 = 0xfffe;
/// Least length of a reset within the card, cycles of 4 ns: it passes registers on its way.
pub const RESET_CYCLES: u64 = 16;
/// Most flows, regions or page entries, log2: an index to one has 16 bits in commands and tables.
pub const INDEX_BITS_MAX: usize = 16;
/// Most owners, log2: an owner has 8 bits in messages and entries.
pub const OWNER_BITS_MAX: usize = 8;
/// Smallest page of a region, log2 bytes.
pub const PAGE_BITS_MIN: usize = 12;
/// Largest page of a region, log2 bytes.
pub const PAGE_BITS_MAX: usize = 30;
/// Most packets that one run sums up.
pub const RUN_PACKETS_MAX: usize = 64;
/// Runs that can be open at once. A flow's run has the place of the flow id modulo this.
pub const RUNS_OPEN_MAX: usize = 32;
/// Memories the card can order writes for: 0 is host DRAM, others need a flush read.
pub const MEMORIES: usize = 4;
/// A header profile's number, bits.
pub const PROFILE_BITS: usize = 2;
/// Header profiles; 0 is TCP.
pub const PROFILES: usize = 1 << PROFILE_BITS;

/// The sizes that differ between named configurations. All are log2 of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardConfig {
    /// Name on the command line.
    pub name: &'static str,
    /// Zero-copy flows.
    pub flow_bits: usize,
    /// Buckets of one flow-table bank.
    pub bucket_bits: usize,
    /// Segment entries of one direction: committed ones first, then the shared pool.
    pub segment_bits: usize,
    /// Regions.
    pub region_bits: usize,
    /// Page entries.
    pub page_bits: usize,
    /// Owners: sets of rings.
    pub owner_bits: usize,
}

/// Segments committed to each flow and direction, log2.
pub const SEGMENTS_COMMITTED_BITS: usize = 3;
/// Longest list a flow can borrow from the pool, log2.
pub const SEGMENTS_BORROWED_BITS_MAX: usize = 12;

/// The sizes to build for.
pub const DEFAULT: CardConfig = CardConfig {
    name: "default",
    flow_bits: 14,
    bucket_bits: 12,
    segment_bits: 18,
    region_bits: 16,
    page_bits: 16,
    owner_bits: 4,
};

/// [`DEFAULT`] for a device of which no die holds it: the receive list, 136 UltraRAM of 376, is in
/// the neighbour die behind registers, two cycles away.
pub const DEFAULT_SLICES: CardConfig = CardConfig { name: "default-slices", ..DEFAULT };

/// Sizes that one die of each board can hold: 320 UltraRAM at most.
pub const LAB: CardConfig = CardConfig {
    name: "lab",
    flow_bits: 13,
    bucket_bits: 11,
    segment_bits: 17,
    region_bits: 16,
    page_bits: 16,
    owner_bits: 4,
};

/// Small memories for quick tests; the same logic.
pub const SMALL: CardConfig = CardConfig {
    name: "small",
    flow_bits: 6,
    bucket_bits: 5,
    segment_bits: 12,
    region_bits: 6,
    page_bits: 6,
    owner_bits: 2,
};

/// All named configurations.
pub const CONFIGS: [CardConfig; 4] = [DEFAULT, DEFAULT_SLICES, LAB, SMALL];

/// The names of all configurations, for messages.
pub fn config_names() -> String {
    CONFIGS.map(|config| config.name).join(", ")
}

impl CardConfig {
    /// The configuration of that name, if there is one.
    pub fn find_config(name: &str) -> Option<CardConfig> {
        CONFIGS.into_iter().find(|config| config.name == name)
    }

    /// Stops the build, or panics, if a card or a model of these sizes would be wrong.
    pub const fn assert_possible(&self) {
        // Any set of flows must fit: at least twice as many key slots as flows.
        assert!(
            (FLOW_BANKS * BUCKET_WAYS) << self.bucket_bits >= 2 << self.flow_bits,
            "bucket_bits: fewer than two key slots a flow"
        );
        // The pool is at least as large as the committed segments of all flows.
        assert!(
            self.segment_bits > self.flow_bits + SEGMENTS_COMMITTED_BITS,
            "segment_bits: the pool is smaller than the committed segments"
        );
        assert_index_bits(self.flow_bits);
        assert_index_bits(self.region_bits);
        assert_index_bits(self.page_bits);
        assert!(self.owner_bits <= OWNER_BITS_MAX, "owner_bits above 8: an owner has 8 bits");
    }
}

/// Stops the build, or panics, if an index of `bits` bits would be truncated.
pub const fn assert_index_bits(bits: usize) {
    assert!(
        bits <= INDEX_BITS_MAX,
        "flow_bits, region_bits or page_bits above 16: an index has 16 bits, more than 65,536 \
         entries would be truncated"
    );
}

const _: () = DEFAULT.assert_possible();
const _: () = LAB.assert_possible();
const _: () = SMALL.assert_possible();
const _: () = assert!(HEADER_BYTES_MAX <= 2 * SLOT_BYTES - METADATA_BYTES);
