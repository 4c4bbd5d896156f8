//! The bounds of a region at the top of every width: an access is inside or not as numbers without
//! a width say, whichever bit of offset, length and end decides.
//!
//! ```text
//!   request, region ──► RegionCheck ──► RegionLocate ──► granted = (offset + bytes <= length)
//! ```

use sim::caught::caught_by;
use sim::harness::bench::Bench;
use sim::harness::payload::bytes_of;
use sim::switched::TextFault;
use stream::prelude::*;
use tables::messages::{RegionEntry, RegionLocated};
use tables::region_table::region_check::{RegionCheck, RegionLocate};

/// Both steps, the register between them apart.
#[derive(LogicBlock, Default)]
struct Bounds {
    clock: Signal<In, Clock>,
    request: Signal<In, RegionRequest>,
    region: Signal<In, RegionEntry>,
    granted: Signal<Out, Bit>,
    check: RegionCheck,
    locate: RegionLocate,
    taken: DFF<Bit>,
    located: Signal<Local, RegionLocated>,
}

impl Logic for Bounds {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken);
        self.check.request.next = self.request.val();
        self.check.region.next = self.region.val();
        self.locate.checked.next = self.check.checked.val();
        self.located.next = self.locate.located.val();
        self.taken.d.next = self.located.val().granted;
        self.granted.next = self.taken.q.val();
    }
}

const OFFSET_BITS: u32 = 48;

/// Around every power of two that fits, and the last value.
fn edges(bits: u32) -> Vec<u64> {
    let last = (1u64 << bits) - 1;
    let around = (0..bits).flat_map(|bit| {
        let power = 1u64 << bit;
        [power - 1, power, power + 1]
    });
    let mut edges: Vec<u64> = around.chain([last - 1, last]).filter(|it| *it <= last).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn is_granted(bench: &mut Bench, offset: u64, bytes: u64, length: u64) -> bool {
    let request = RegionRequest {
        region_key: 7u64.to_bits(),
        domain: 9u64.to_bits(),
        write: true,
        offset: offset.to_bits(),
        bytes: bytes.to_bits(),
        ..RegionRequest::default()
    };
    let region = RegionEntry {
        key: 7u64.to_bits(),
        domain: 9u64.to_bits(),
        write: true,
        page_bits: 30u64.to_bits(),
        bytes: length.to_bits(),
        ..RegionEntry::default()
    };
    let ports = [("request", bytes_of(request)), ("region", bytes_of(region))];
    for (name, value) in ports {
        let port = bench.model.port(name);
        bench.model.set_bytes(port, &value);
    }
    bench.cycles(1, &mut []);
    bench.get("granted") == 1
}

fn judge(bench: &mut Bench, offset: u64, bytes: u64, length: u64) {
    let expected = offset + bytes <= length;
    let granted = is_granted(bench, offset, bytes, length);
    assert_eq!(
        granted, expected,
        "the bounds are judged wrongly: {bytes:#x} bytes at {offset:#x} of {length:#x}"
    );
}

fn all(bench: &mut Bench) {
    let (lengths, offsets) = ([1, 4096, 1 << 47, (1 << 48) - 1], edges(OFFSET_BITS));
    let few = [1, 2, 4096, (1 << 30), (1 << 32) - 1];
    for &offset in &offsets {
        for length in lengths {
            for bytes in few {
                judge(bench, offset, bytes, length);
            }
        }
        // An access that ends at 2^48 exactly, and beside it.
        let rest = (1u64 << 48) - offset;
        for bytes in [rest.saturating_sub(1), rest, rest + 1] {
            if (1..1 << 32).contains(&bytes) {
                for length in lengths {
                    judge(bench, offset, bytes, length);
                }
            }
        }
        // The region ends at the access, or beside it.
        for bytes in edges(32).into_iter().filter(|bytes| *bytes > 0) {
            for length in [offset + bytes - 1, offset + bytes, offset + bytes + 1] {
                if length < 1 << 48 {
                    judge(bench, offset, bytes, length);
                }
            }
        }
    }
}

#[test]
fn access_lies_inside_region_at_widths() {
    let bench = Bench::of_shared("bounds", "", Bounds::default);
    all(&mut bench.expect("it builds"));
}

/// All of this file: one model holds them.
const FAULTS: [TextFault; 4] = [
    AN_OFFSET_WITHOUT_ITS_TOP_BIT,
    AN_END_WITHOUT_ITS_TOP_BIT,
    A_LENGTH_WITHOUT_ITS_TOP_BIT,
    BYTES_WITHOUT_THEIR_TOP_BIT,
];

fn caught(fault: TextFault) {
    let bench = Bench::with_fault("bounds", "", Bounds::default, &FAULTS, fault);
    let mut bench = bench.expect("it builds");
    caught_by("the bounds are judged wrongly", fault.1, || all(&mut bench));
}

const AN_OFFSET_WITHOUT_ITS_TOP_BIT: TextFault =
    ("{1'd0, request[96:49]} + {17'd0", "{2'd0, request[95:49]} + {17'd0");
const AN_END_WITHOUT_ITS_TOP_BIT: TextFault = ("checked[49:1] <=", "{1'd0, checked[48:1]} <=");
const A_LENGTH_WITHOUT_ITS_TOP_BIT: TextFault =
    ("{1'd0, checked[97:50]}", "{2'd0, checked[96:50]}");
const BYTES_WITHOUT_THEIR_TOP_BIT: TextFault =
    ("{17'd0, request[128:97]}", "{18'd0, request[127:97]}");

#[test]
fn offset_without_top_bit_is_caught() {
    caught(AN_OFFSET_WITHOUT_ITS_TOP_BIT);
}

#[test]
fn end_without_top_bit_is_caught() {
    caught(AN_END_WITHOUT_ITS_TOP_BIT);
}

#[test]
fn length_without_top_bit_is_caught() {
    caught(A_LENGTH_WITHOUT_ITS_TOP_BIT);
}

#[test]
fn bytes_without_top_bit_are_caught() {
    caught(BYTES_WITHOUT_THEIR_TOP_BIT);
}
