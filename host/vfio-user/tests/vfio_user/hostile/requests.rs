//! Random requests, and what may become of their bytes.

use rand::rngs::SmallRng;
use rand::Rng;
use vfio_user::codec::{
    Action, Capabilities, Choice, DmaAccess, DmaMap, DmaUnmap, Question, RegionAccess,
    RegionSignals, Request, Rights, SetInterrupts, SmallWrite, Version,
};

/// A number that is often at an edge.
pub fn number(random: &mut SmallRng) -> u64 {
    match random.random_range(0..6) {
        0 => random.random_range(0..64),
        1 => u64::MAX - random.random_range(0..64),
        2 => 1 << random.random_range(0..64),
        3 => (1_u64 << random.random_range(0..64)) - 1,
        4 => random.random_range(0..32) * 0x1000,
        _ => random.random(),
    }
}

/// A valid address and length.
fn range(random: &mut SmallRng) -> (u64, u64) {
    let address = number(random);
    let bytes = number(random).clamp(1, (u64::MAX - address).max(1));
    (address, bytes)
}

/// Any valid request. Data are in `data`.
pub fn request<'a>(random: &mut SmallRng, data: &'a [u8]) -> Request<'a> {
    let (address, bytes) = range(random);
    let (index, flag) = (random.random_range(0..12_u32), random.random());
    let data = &data[..random.random_range(0..=data.len())];
    let count = data.len() as u32;
    let offset = number(random).min(u64::MAX - u64::from(count));
    let region = random.random_range(0..10);
    let access = RegionAccess { offset, region, count };
    let memory = DmaAccess { address: offset, count: count.into() };
    match random.random_range(0..14) {
        0 => Request::Version(version(random)),
        1 => {
            let rights = Rights { read: flag, write: random.random() };
            let offset = number(random).min(u64::MAX - bytes);
            Request::DmaMap(DmaMap { rights, offset, address, bytes })
        }
        2 if flag => Request::DmaUnmap(DmaUnmap::All),
        2 => Request::DmaUnmap(DmaUnmap::Range { address, bytes }),
        3 => Request::DeviceInfo,
        4 => Request::RegionInfo(Question { argsz: random.random_range(32..200), index }),
        5 => Request::RegionSignals(RegionSignals { region: index, count: 0 }),
        6 => Request::InterruptInfo(Question { argsz: 16, index }),
        7 => Request::SetInterrupts(interrupts(random)),
        8 => Request::RegionRead(access),
        9 => Request::RegionWrite(access, data),
        10 => Request::DmaRead(memory),
        11 => Request::DmaWrite(memory, data),
        12 => Request::Reset,
        _ => {
            let write = |_| {
                let bytes = &data[..data.len().min(8)];
                let offset = offset.min(u64::MAX - 8);
                SmallWrite::new(region, offset, bytes).unwrap()
            };
            Request::WriteMany((0..random.random_range(0..5)).map(write).collect())
        }
    }
}

fn version(random: &mut SmallRng) -> Version {
    let capabilities = Capabilities {
        descriptors: number(random),
        transfer_bytes: number(random),
        maps: number(random),
        page_sizes: number(random),
        writes_many: random.random(),
    };
    Version { major: random.random_range(0..2), minor: random.random_range(0..3), capabilities }
}

fn interrupts(random: &mut SmallRng) -> SetInterrupts {
    let count = random.random_range(0..48_u32);
    let action = [Action::Mask, Action::Unmask, Action::Trigger][random.random_range(0..3)];
    let choice = match random.random_range(0..3) {
        0 => Choice::All,
        1 => Choice::Some((0..count).map(|_| random.random()).collect()),
        _ => Choice::Events,
    };
    let (index, start) = (random.random_range(0..7), random.random_range(0..48));
    SetInterrupts { index, start, count, action, choice }
}

/// Changes bytes somewhere, a bit, a byte, a word, or the length.
pub fn mutate(random: &mut SmallRng, bytes: &mut Vec<u8>) {
    let at = random.random_range(0..bytes.len().max(1));
    match random.random_range(0..6) {
        0 => bytes.truncate(at),
        1 => bytes.extend((0..random.random_range(1..40)).map(|_| random.random::<u8>())),
        2 => {
            let word = (number(random) as u32).to_ne_bytes();
            let at = at & !3;
            for (byte, value) in bytes.iter_mut().skip(at).zip(word) {
                *byte = value;
            }
        }
        3 => bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte = random.random()),
        4 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.random()),
        _ => {
            let bit = 1 << random.random_range(0..8);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
        }
    }
}
