//! The folds of the checksum blocks at sums that traffic meets once in a million frames, judged by
//! one division instead of carries.
//!
//! ```text
//!   sums around every carry ──► fold of receive ──► right or not  ═══ sum mod 65535
//!                          └──► fold of send ─────► patch         ═══ sum mod 65535
//! ```

use rust_hdl_core::prelude::*;
use rx_split::verify::checksum_fold::ChecksumFold as ReceiveFold;
use sim::harness::bench::Bench;
use sim::harness::payload::{bytes_of, field};
use tx_merge::checksum::checksum_fold::{ChecksumFold as SendFold, FrameEnd};
use tx_merge::messages::{ChecksumPatch, HeaderLayout};
use verilate::verilated::Model;

/// Sums are of at most 9,216 bytes of 0xff, and a pseudo header.
const SUM_MAX: u64 = 9216 / 2 * 0xffff + 0x10_0000;

/// Sums up to the limit that are, modulo 65535, within two of `target`, with few carries and many.
fn sums_near(target: u64) -> Vec<u64> {
    let mut sums = Vec::new();
    for carries in [0, 1, 2, 3, 0x7f, 0x1000, 0x11ff] {
        for beside in 0..=4 {
            let sum = carries * 0xffff + target + beside;
            sums.extend(sum.checked_sub(2).filter(|sum| *sum <= SUM_MAX));
        }
    }
    sums
}

/// The ones' complement sum in 16 bits: 0 only where every word is.
fn fold_sum(sum: u64) -> u64 {
    match (sum, sum % 0xffff) {
        (0, _) => 0,
        (_, 0) => 0xffff,
        (_, rest) => rest,
    }
}

fn set<T: Synth>(model: &mut Model, name: &str, value: T) {
    model.set_bytes(model.port(name), &bytes_of(value));
}

#[test]
fn sum_is_right_at_multiples_of_65535() {
    const LATENCY: usize = 4;
    let mut bench = Bench::of(&mut ReceiveFold::default(), "checksum_fold").expect("builds");
    let mut expected = Vec::new();
    let mut right = 0;
    for sum in sums_near(0).into_iter().chain(sums_near(0xffff)) {
        // The summands meet in every way at the carry out of their low halves.
        for extra in [0, sum.min(1), sum / 2, sum & 0xffff, sum.min(0xffff), sum.min(0x2_fffd)] {
            bench.set("sum", sum - extra);
            bench.set("extra", extra);
            expected.push((sum, extra, fold_sum(sum) == 0xffff));
            right += usize::from(fold_sum(sum) == 0xffff);
            bench.cycle(&mut []);
            if expected.len() >= LATENCY {
                let (sum, extra, is_right) = expected[expected.len() - LATENCY];
                let good = bench.get("good") == 1;
                assert_eq!(good, is_right, "{sum:#x}, of it {extra:#x} beside");
            }
        }
    }
    assert!(right > 30, "{right} right sums");
}

/// Bytes of a word exchanged: a layer that starts at an odd offset.
fn swap_bytes(word: u64) -> u64 {
    (word << 8 | word >> 8) & 0xffff
}

/// The checksum that belongs into a frame, as the patch has it: words with their first byte low.
fn checksum(l4_sum: u64, udp: bool, is_odd: bool, l4_bytes: u64) -> u64 {
    let words = if is_odd { swap_bytes(fold_sum(l4_sum)) } else { fold_sum(l4_sum) };
    let protocol: u64 = if udp { 0x1100 } else { 0x0600 };
    let sum = fold_sum(words + protocol + swap_bytes(l4_bytes));
    match 0xffff - sum {
        0 if udp => 0xffff,
        checksum => checksum,
    }
}

#[test]
fn sent_checksum_is_right_at_carries() {
    const LATENCY: usize = 3;
    let mut bench = Bench::of(&mut SendFold::default(), "send_checksum_fold").expect("builds");
    bench.set("valid", 1);
    let mut expected = Vec::new();
    let (mut zeros, mut last_carries) = (0, 0);
    for (udp, is_odd) in [(false, false), (false, true), (true, false), (true, true)] {
        for l4_bytes in [20, 0xff, 0x100, 0x5a8, 9162] {
            let l4_offset = 34 + u64::from(is_odd);
            let pseudo = (if udp { 0x1100 } else { 0x0600 }) + swap_bytes(l4_bytes);
            // With the pseudo header the sum comes to 0xffff and beyond, by one carry and by two.
            let near = (2 * 0xffff - pseudo) % 0xffff;
            let near = if is_odd { swap_bytes(near) } else { near };
            for l4_sum in sums_near(near).into_iter().chain(sums_near(0)) {
                let layout = HeaderLayout {
                    l3_offset: (14 + u64::from(is_odd)).into(),
                    l4_offset: l4_offset.into(),
                    ip_checksum: true,
                    l4_checksum: true,
                    udp,
                    ..HeaderLayout::default()
                };
                let end =
                    FrameEnd { layout, frame_bytes: (l4_offset + l4_bytes).into(), abort: false };
                let ip_sum = l4_sum % 0x9_fff6;
                set(&mut bench.model, "frame_end", end);
                bench.set("ip_sum", ip_sum);
                bench.set("l4_sum", l4_sum);
                let wanted = checksum(l4_sum, udp, is_odd, l4_bytes);
                let ip = fold_sum(ip_sum);
                let ip = 0xffff - if is_odd { swap_bytes(ip) } else { ip };
                zeros += usize::from(udp && wanted == 0xffff);
                let words = fold_sum(l4_sum);
                let words = if is_odd { swap_bytes(words) } else { words };
                let total = words + pseudo;
                last_carries += usize::from((total & 0xffff) + (total >> 16) > 0xffff);
                expected.push((l4_sum, udp, is_odd, l4_bytes, wanted, ip));
                bench.cycle(&mut []);
                if expected.len() >= LATENCY {
                    let now = expected[expected.len() - LATENCY];
                    let mut patch = vec![0; ChecksumPatch::BITS.div_ceil(8)];
                    bench.model.get_bytes(bench.model.port("patch"), &mut patch);
                    let value = |name| field::<ChecksumPatch>(&patch, name);
                    assert_eq!(value("l4_value"), now.4, "{now:x?}");
                    assert_eq!(value("ip_value"), now.5, "{now:x?}");
                    assert_eq!(
                        value("l4_offset"),
                        34 + u64::from(now.2) + if now.1 { 6 } else { 16 }
                    );
                }
            }
        }
    }
    assert!(zeros > 5, "{zeros} UDP checksums that would be zero");
    assert!(last_carries > 5, "{last_carries} sums whose last carry matters");
}
