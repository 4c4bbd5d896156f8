//! The configuration space as an operating system looks at it.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::*;

const IDENTITY: Identity = Identity {
    vendor: 0x10ee,
    device: 0x5a4e,
    subsystem_vendor: 0x10ee,
    subsystem: 1,
    revision: 1,
    class: 0x02_0000,
    serial: Some(0x1122_3344_5566_7788),
};
const LINK: Link = Link { generation: 3, lanes: 16, payload: 1 };
const BAR_0: Bar = Bar { index: 0, bytes: 16 << 20, is_64_bit: true, is_prefetchable: false };
const BAR_2: Bar = Bar { index: 2, bytes: 4096, is_64_bit: false, is_prefetchable: true };
const TABLE: Msix = Msix { vectors: 16, bar: 0, table: 0x1_0000, pending: 0x1_8000 };

fn card() -> ConfigSpace {
    ConfigSpace::new(&IDENTITY, &[BAR_0, BAR_2], LINK, Some(TABLE)).unwrap()
}

fn u32_at(space: &ConfigSpace, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    space.read(offset, &mut bytes);
    u32::from_le_bytes(bytes)
}

/// Capabilities as the list has them: id and place.
fn capabilities(space: &ConfigSpace) -> Vec<(u8, u64)> {
    let mut found = Vec::new();
    let mut at = u64::from(u32_at(space, 0x34) as u8);
    while at != 0 {
        let head = u32_at(space, at);
        found.push((head as u8, at));
        at = u64::from((head >> 8) as u8);
        assert!(found.len() < 48, "a circle: {found:?}");
    }
    found
}

#[test]
fn ids_and_class_are_in_place() {
    let space = card();
    assert_eq!(u32_at(&space, 0), 0x5a4e_10ee);
    assert_eq!(u32_at(&space, 8), 0x0200_0001);
    assert_eq!(u32_at(&space, 0x2c), 0x0001_10ee);
    assert_eq!(u32_at(&space, 4), 0x0010_0000, "capabilities, nothing switched on");
    assert_eq!(u32_at(&space, 0x0c) >> 16 & 0xff, 0, "one function, header of an endpoint");
    assert_eq!(u32_at(&space, 0x3c) >> 8 & 0xff, 0, "no interrupt pin");
}

#[test]
fn bars_answer_all_ones_with_size() {
    let mut space = card();
    for (at, expected) in [
        (0x10, 0xff00_0004_u32),
        (0x14, 0xffff_ffff),
        (0x18, 0xffff_f008),
        (0x1c, 0),
        (0x20, 0),
        (0x24, 0),
        (0x30, 0),
    ] {
        space.write(at, &[0xff; 4]);
        assert_eq!(u32_at(&space, at), expected, "{at:#x}");
    }
    space.write(0x10, &0xe123_4567_u32.to_le_bytes());
    space.write(0x14, &8_u32.to_le_bytes());
    assert_eq!(space.bar_address(0), Some(0x8_e100_0000));
    space.write(0x18, &0xfeb0_1000_u32.to_le_bytes());
    assert_eq!(space.bar_address(2), Some(0xfeb0_1000));
    assert_eq!(space.bar_address(1), None);
}

#[test]
fn list_has_express_and_msix() {
    let space = card();
    assert_eq!(capabilities(&space), [(0x10, 0x40), (0x11, 0x80)]);
    assert_eq!(u32_at(&space, 0x40) >> 16, 2, "version 2, endpoint");
    assert_eq!(u32_at(&space, 0x44), 0x1000_8021, "resets, 256 bytes, 8-bit tags");
    assert_eq!(u32_at(&space, 0x4c), 0x103, "8 GT/s, 16 lanes");
    assert_eq!(u32_at(&space, 0x50) >> 16, 0x103, "and it is up");
    assert_eq!(u32_at(&space, 0x6c), 0b1110, "speeds of Gen 1 to 3");
    assert_eq!(u32_at(&space, 0x80) >> 16, 15);
    assert_eq!(u32_at(&space, 0x84), 0x1_0000);
    assert_eq!(u32_at(&space, 0x88), 0x1_8000);
    assert_eq!(u32_at(&space, 0x100), 0x0001_0003);
    assert_eq!((u32_at(&space, 0x104), u32_at(&space, 0x108)), (0x5566_7788, 0x1122_3344));
    let bare = ConfigSpace::new(&Identity { serial: None, ..IDENTITY }, &[], LINK, None).unwrap();
    assert_eq!(capabilities(&bare), [(0x10, 0x40)]);
    assert_eq!(u32_at(&bare, 0x100), 0);
}

#[test]
fn switches_are_seen() {
    let mut space = card();
    assert!(!space.has_memory() && !space.has_bus_mastering() && !space.has_msix());
    assert_eq!(space.write(4, &[6, 0]), Effects::default());
    assert!(space.has_memory() && space.has_bus_mastering());
    space.write(0x82, &[0, 0xc0]);
    assert!(!space.has_msix(), "all masked");
    space.write(0x83, &[0x80]);
    assert!(space.has_msix());
    space.write(4, &[0xff; 4]);
    assert_eq!(u32_at(&space, 4), 0x0010_0546, "memory, master, parity, errors, pin off");
    let effects = space.write(4, &[2, 0]);
    assert_eq!(effects, Effects { bus_mastering_ended: true, ..Effects::default() });
    assert!(space.has_memory());
}

#[test]
fn function_reset_restores_first_values() {
    let mut space = card();
    let first: Vec<u32> = (0..1024).map(|index| u32_at(&space, 4 * index)).collect();
    space.write(0, &[0xff; 0x48]);
    space.write(0x4a, &[0xff; 0x100]);
    assert!(space.has_bus_mastering());
    let effects = space.write(0x48, &[0x10, 0xa8]);
    assert_eq!(effects, Effects { function_reset: true, bus_mastering_ended: true });
    let now: Vec<u32> = (0..1024).map(|index| u32_at(&space, 4 * index)).collect();
    assert_eq!(now, first);
    assert_eq!(u32_at(&space, 0x48) & 0xffff, 0x2810, "the bit that resets reads 0");
}

#[test]
fn writes_change_writable_bits_alone() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut space = card();
    let mut ones = card();
    ones.fields.write(0, &[0xff; 4096]);
    let first = card();
    for _ in 0..20_000 {
        let offset = random.random_range(0..4200_u64);
        let mut bytes = vec![0; random.random_range(0..9)];
        random.fill(&mut bytes[..]);
        space.write(offset, &bytes);
    }
    let (mut now, mut fixed, mut all) = ([0; 4096], [0; 4096], [0; 4096]);
    space.read(0, &mut now);
    first.read(0, &mut fixed);
    ones.read(0, &mut all);
    for at in 0..4096 {
        let writable = space.fields.writable(at);
        assert_eq!(now[at] & !writable, fixed[at] & !writable, "{at:#x}");
        assert_eq!(all[at], fixed[at] | writable, "{at:#x}");
    }
    let mut behind = [0xff; 8];
    space.read(4092, &mut behind);
    assert_eq!(behind[4..], [0; 4]);
    space.write(u64::MAX - 2, &[0xff; 8]);
}

#[test]
fn what_cannot_be_is_refused() {
    let with = |bars: &[Bar], msix| ConfigSpace::new(&IDENTITY, bars, LINK, msix).unwrap_err();
    for bytes in [0, 8, 24, 1 << 32] {
        let bar = Bar { bytes, ..BAR_2 };
        assert_eq!(with(&[bar], None), ConfigError::BarBytes { index: 2, bytes });
    }
    for bars in [
        vec![Bar { index: 6, ..BAR_2 }],
        vec![Bar { index: 5, ..BAR_0 }],
        vec![BAR_0, Bar { index: 1, ..BAR_2 }],
        vec![BAR_2, BAR_2],
    ] {
        let index = bars[bars.len() - 1].index;
        assert_eq!(with(&bars, None), ConfigError::BarIndex(index));
    }
    for bars in [[BAR_0, BAR_2], [BAR_2, BAR_0], [BAR_2, Bar { index: 3, ..BAR_2 }]] {
        assert!(ConfigSpace::new(&IDENTITY, &bars, LINK, None).is_ok(), "neighbours");
    }
    for vectors in [0, 2049] {
        let msix = Msix { vectors, ..TABLE };
        assert_eq!(with(&[BAR_0], Some(msix)), ConfigError::Vectors(vectors));
    }
    for (bar, table, pending, offset) in [
        (0, 0x1_0004, 0x1_8000, 0x1_0004),
        (0, 0xff_ff08, 0x1_8000, 0xff_ff08),
        (0, 0, 0x100_0000, 0x100_0000),
        (1, 0, 0x100, 0),
    ] {
        let msix = Msix { bar, table, pending, ..TABLE };
        assert_eq!(with(&[BAR_0], Some(msix)), ConfigError::MsixPlace { bar, offset });
    }
}
