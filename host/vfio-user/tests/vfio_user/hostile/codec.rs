//! The codec on any bytes.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use vfio_user::codec::{
    Command, DeviceInfo, DmaAccess, DmaUnmap, Header, InterruptInfo, RegionAccess, RegionInfo,
    Request, SmallWrite, Version,
};

use crate::hostile::requests::{mutate, request};

const ROUNDS: u32 = 20_000;

/// Takes bytes apart as each reply. That none panics is what is tried.
fn read_as_replies(bytes: &[u8]) {
    let _ = Version::decode(bytes);
    let _ = DmaUnmap::decode(bytes);
    let _ = DeviceInfo::decode(bytes);
    let _ = RegionInfo::decode(bytes);
    let _ = InterruptInfo::decode(bytes);
    let _ = RegionAccess::decode_data(bytes);
    let _ = RegionAccess::decode(bytes);
    let _ = DmaAccess::decode_data(bytes);
    let _ = DmaAccess::decode_written(bytes);
    let _ = SmallWrite::decode_done(bytes);
}

#[test]
fn requests_read_back_as_assembled() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let data: Vec<u8> = (0..80).collect();
    let mut seen = [0_u32; 16];
    for _ in 0..ROUNDS {
        let request = request(&mut random, &data);
        let number = request.command().number();
        let bytes = request.encode();
        assert_eq!(Request::decode(number, &bytes), Ok(request));
        seen[usize::from(number)] += 1;
    }
    for command in Command::ALL {
        assert!(seen[usize::from(command.number())] > 0, "{command:?} was not tried");
    }
}

#[test]
fn mutated_requests_fail_or_mean_themselves() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let data: Vec<u8> = (0..80).collect();
    let (mut good, mut bad) = (0, 0);
    for _ in 0..ROUNDS {
        let request = request(&mut random, &data);
        let number = request.command().number();
        let mut bytes = request.encode();
        for _ in 0..random.random_range(1..4) {
            mutate(&mut random, &mut bytes);
        }
        read_as_replies(&bytes);
        match Request::decode(number, &bytes) {
            Ok(request) => {
                good += 1;
                let again = request.encode();
                assert_eq!(Request::decode(number, &again), Ok(request.clone()), "{request:?}");
            }
            Err(error) => {
                bad += 1;
                assert!(error.errno().raw_os_error() > 0);
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
    }
    seed::enough("mutated requests that still say something", good, 1000);
    seed::enough("mutated requests that are refused", bad, 1000);
}

#[test]
fn any_bytes_are_no_panic() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    for _ in 0..ROUNDS {
        let mut bytes = vec![0; random.random_range(0..200)];
        random.fill(&mut bytes[..]);
        read_as_replies(&bytes);
        for number in 0..20 {
            let _ = Request::decode(number, &bytes);
        }
        let header: [u8; 16] = random.random();
        if let Ok(decoded) = Header::decode(&header) {
            assert_eq!(decoded.encode()[..8], header[..8], "id, command and size");
        }
    }
}

/// A reply about a region is the one that its receiver walks through.
#[test]
fn mutated_region_replies_end_without_panic() {
    use vfio_user::codec::Area;
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut refused = 0;
    for _ in 0..ROUNDS {
        let areas: Vec<Area> = (0..random.random_range(0..5))
            .map(|_| Area { offset: random.random(), bytes: random.random() })
            .collect();
        let file_offset = random.random::<bool>().then(|| random.random());
        let info = RegionInfo {
            index: 1,
            bytes: random.random(),
            file_offset,
            areas,
            ..Default::default()
        };
        let (mut bytes, _) = info.encode(u32::MAX);
        assert_eq!(RegionInfo::decode(&bytes), Ok((info, bytes.len() as u32)));
        mutate(&mut random, &mut bytes);
        refused += u64::from(RegionInfo::decode(&bytes).is_err());
    }
    seed::enough("replies that are refused", refused, 100);
}
