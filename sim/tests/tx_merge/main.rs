//! The send path against its model: frames, errors, fence, and what it costs in cycles.

mod model;
mod peers;
mod random;
mod records;
mod rig;

use std::collections::BTreeSet;

use abi::reason::SendError;
use abi::send_descriptor as at;
use model::Tables;
use rand::rngs::SmallRng;
use rand::SeedableRng;
use records::{plain_memory, Record, World};
use rig::Rig;
use sim::stall::{seed, Stall};

const CALM: (Stall, Stall) = (Stall::None, Stall::None);

#[test]
fn raw_frame_goes_out_as_it_is_and_padded() {
    let mut rig = Rig::new(Tables::default(), plain_memory(), 20, CALM, 1);
    for bytes in [14, 59, 60, 61, 64, 96] {
        let header: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x80).collect();
        rig.post(&Record::raw(&header).bytes(), 3);
    }
    for bytes in [14, 97, 128, 192, 193, 224] {
        let header: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x41).collect();
        let mut record = Record::raw(&header);
        record.set(at::TWO_SLOTS, 1);
        rig.post(&record.bytes(), 3);
    }
    let errors = rig.judge(2_000);
    assert!(errors.iter().all(Option::is_none));
}

#[test]
fn one_frame_is_merged_and_checksummed() {
    let mut world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 20, CALM, 1);
    for payload in [1, 63, 64, 65, 100, 1448] {
        rig.post(&world.tcp_send(payload, 1448).bytes(), 1);
    }
    let errors = rig.judge(5_000);
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
}

#[test]
fn random_descriptors_do_what_the_model_does() {
    let mut seen = BTreeSet::new();
    Stall::matrix(seed(), |source, sink, seed| {
        let mut random = SmallRng::seed_from_u64(seed);
        for world in 0..2 {
            let tables = random::tables(&mut random);
            let memory = random::memory(&mut random, &tables);
            let mut rig = Rig::new(tables.clone(), memory, 20 * world, (source, sink), seed);
            for _ in 0..60 {
                let (record, owner) = random::descriptor(&mut random, &tables);
                rig.post(&record, owner);
            }
            seen.extend(rig.judge(400_000).into_iter().flatten());
        }
    });
    let all: BTreeSet<SendError> = SendError::ALL.iter().copied().collect();
    assert_eq!(seen, all, "errors that came up");
}
