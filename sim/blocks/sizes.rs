//! Sizes at which blocks with parameters are made, and how those without a default are made.
//!
//! Small, so that random inputs reach full, empty and wrapped states.

use sources::item::Parameter;

/// A flash of two chips, whose slot begins within 64 KiB.
const FLASH: &str = "new(board::description::FlashPlan { chips: 2, chip_bytes: 0x0800_0000, \
         slot_bytes: 0x0100_2000, golden_bytes: 0x0080_0000 })";

/// Parameters (none: those of the table below) and constructor of single blocks.
const BLOCKS: &[(&str, &str, &str)] = &[
    ("LutRam", "::<Bits<12>, 3>", "default()"),
    ("EightPortRam", "::<Bits<12>, 3>", "default()"),
    ("BlockRam", "::<Bits<12>, 3>", "default()"),
    ("SameBits", "::<25>", "default()"),
    ("ReadAhead", "::<4>", "default()"),
    ("PairRam", "::<Bits<12>, 3>", "default()"),
    ("ValueCrossing", "::<Bits<12>>", "default()"),
    ("CrossingRam", "::<Bits<12>, 3>", "default()"),
    ("EpochRam", "::<Bits<12>, 3>", "default()"),
    ("Synchronizer", "::<Bits<4>>", "default()"),
    ("Fifo", "::<Bits<12>, 2, 3>", "default()"),
    ("RegisterSlice", "::<Bits<12>>", "default()"),
    ("DieHop", "::<Bits<12>>", "far()"),
    ("ThroughFifo", "::<Bits<12>, 2, 3>", "default()"),
    ("AsyncFifo", "::<Bits<12>, 3, 4>", "default()"),
    ("BlockFifo", "::<Bits<12>, 3, 4>", "default()"),
    ("DeepFifo", "::<Bits<12>, 3, 4>", "default()"),
    ("RotateStage", "::<64>", "new(2)"),
    ("PulseMerge", "::<Bits<12>>", "default()"),
    ("FrameFifo", "::<3, 4>", "new(true, true)"),
    ("CounterBank", "::<3>", "default()"),
    ("MsixTable", "::<2, 4, 4>", "default()"),
    ("Interrupt", "::<2, 4, 4>", "default()"),
    ("Ring", "::<2, 4>", "new(host_interface::ring::ring_state::COMMAND_RING)"),
    ("RingState", "::<2, 4>", "new(host_interface::ring::ring_state::COMMAND_RING)"),
    ("RingPlan", "::<2>", "new(host_interface::ring::ring_state::COMMAND_RING)"),
    ("RingSpan", "", "new(host_interface::ring::ring_state::COMMAND_RING)"),
    ("RingIndices", "::<2>", "new(0)"),
    ("OwnerWord", "::<2>", "new(0)"),
    ("OwnerAddress", "::<2>", "new(0)"),
    ("PendingReplies", "", "new(16)"),
    ("Identity", "", "new(&abi::config::SMALL)"),
    ("Csr", "", "new(&abi::config::SMALL)"),
    ("Card", "", "new(ip::completion_buffer::CompletionBuffer::default())"),
    (
        "HostInterface",
        "::<2, 4, 4>",
        "new(&abi::config::SMALL, ip::completion_buffer::CompletionBuffer::default())",
    ),
    ("HeldQueue", "::<1>", "default()"),
    ("PayloadLane", "", "new(0)"),
    ("ReorderLane", "", "new(0)"),
    ("ReadPort", "", "new(&abi::config::SMALL)"),
    ("RegisterMap", "", "new(&abi::config::SMALL)"),
    ("WindowDirectory", "", "new(1, \"small\", abi::window::directory())"),
    ("WindowDecoder", "", "new(abi::window::directory())"),
    ("FlashGuard", "", FLASH),
    ("Flash", "", FLASH),
    ("FlashCommand", "", FLASH),
    ("PortProgram", "", FLASH),
    ("ConfigurationPort", "", FLASH),
    ("Gpio", "", "new(true)"),
    ("StepMeets", "::<4>", "default()"),
    ("SamePlace", "::<4>", "default()"),
    ("GrayLap", "::<4>", "default()"),
    ("FollowingOwner", "::<2, 4>", "default()"),
    ("FifoPointers", "::<3>", "default()"),
    ("CreditLeft", "::<6>", "new(20)"),
    ("TagTimer", "", "new(dma::read::tag_timer::TIMEOUT_CYCLES_MIN)"),
    ("TagTable", "", "new(dma::read::tag_timer::TIMEOUT_CYCLES_MIN)"),
    (
        "ReadEngine",
        "",
        "new(dma::read::tag_timer::TIMEOUT_CYCLES_MIN, \
         ip::completion_buffer::CompletionBuffer::default())",
    ),
];

/// Blocks that are the vendor's, or hold one of these: no simulator of ours has their insides.
/// `sim/board/tests/boards` runs and lints them with models.
pub const OUTSIDE: &[&str] = &[
    "PcieCore",
    "MacCore",
    "ReferenceClock",
    "BoardClock",
    "OpenDrain",
    "SystemMonitor",
    "Startup",
    "ConfigurationAccess",
    "DeviceSide",
    "CardBox",
    "BuildWords",
    "PcieSide",
    "MacSide",
    "Window",
    "GoldenWindow",
    "Golden",
    "GoldenTop",
    "GoldenFlashTop",
    "Shell",
    "QsfpTop",
    "QsfpFlashTop",
    "HbmTop",
    "HbmLedTop",
];

/// Value of a parameter, unless a line above has another.
const PARAMETERS: &[(&str, &str)] = &[
    ("FLOW_BITS", "{ abi::config::SMALL.flow_bits }"),
    ("BUCKET_BITS", "{ abi::config::SMALL.bucket_bits }"),
    ("SEGMENT_BITS", "{ abi::config::SMALL.segment_bits }"),
    ("REGION_BITS", "{ abi::config::SMALL.region_bits }"),
    ("PAGE_BITS", "{ abi::config::SMALL.page_bits }"),
    ("OWNER_BITS", "{ abi::config::SMALL.owner_bits }"),
    ("OWNERS", "{ 1 << abi::config::SMALL.owner_bits }"),
    ("TABLE_BITS", "{ abi::config::SMALL.owner_bits + 2 }"),
    ("O", "{ abi::config::SMALL.owner_bits }"),
    ("B", "{ abi::config::SMALL.owner_bits }"),
    ("N", "{ 1 << abi::config::SMALL.owner_bits }"),
    ("BUFFER_BITS", "10"),
];

/// Parameters in angle brackets, and the call that makes the block.
pub fn make_call(
    name: &str,
    parameters: &[Parameter],
    has_default: bool,
) -> Option<(String, &'static str)> {
    let own = BLOCKS.iter().find(|block| block.0 == name);
    let call = match own {
        Some(block) => block.2,
        None if has_default => "default()",
        None => return None,
    };
    let own_sizes = own.map_or("", |block| block.1);
    if !own_sizes.is_empty() {
        return Some((own_sizes.to_owned(), call));
    }
    let mut sizes = Vec::new();
    for parameter in parameters {
        let known = PARAMETERS.iter().find(|known| known.0 == parameter.name);
        sizes.push(known?.1);
    }
    Some(match sizes.is_empty() {
        true => (String::new(), call),
        false => (format!("::<{}>", sizes.join(", ")), call),
    })
}
