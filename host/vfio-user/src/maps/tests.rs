//! Ranges against a model that keeps each page by itself.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::shared_file::SharedFile;

const PAGE: u64 = 4096;
const PAGES: usize = 48;

/// For each page: the range it belongs to, its rights, and where it is in the file.
type Model = Vec<Option<(usize, Rights, u64)>>;

fn file_of(file: &SharedFile) -> OwnedFd {
    file.as_fd().try_clone_to_owned().unwrap()
}

fn random_rights(random: &mut SmallRng) -> Rights {
    Rights { read: random.random_range(0..4) > 0, write: random.random_range(0..4) > 0 }
}

fn random_pages(random: &mut SmallRng) -> (usize, usize) {
    let first = random.random_range(0..PAGES);
    (first, random.random_range(1..=(PAGES - first).min(8)))
}

/// What an access of whole bytes must give.
fn expected_addresses(
    model: &Model,
    address: u64,
    bytes: usize,
    needs: Rights,
) -> Result<Vec<u64>, Errno> {
    let mut offsets = Vec::new();
    for at in address..address + bytes as u64 {
        let page = model.get((at / PAGE) as usize).copied().flatten().ok_or(Errno::FAULT)?;
        let (_, rights, offset) = page;
        if needs.read && !rights.read || needs.write && !rights.write {
            return Err(Errno::ACCESS);
        }
        offsets.push(offset + at % PAGE);
    }
    Ok(offsets)
}

#[test]
fn ranges_behave_as_pages_do() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let file = SharedFile::new(PAGES * 2 * PAGE as usize).unwrap();
    let (mut maps, mut model) = (Maps::default(), Model::new());
    model.resize(PAGES, None);
    let (mut taken, mut cut, mut removed, mut reached) = (0, 0, 0, 0);
    for id in 0..6000 {
        let (first, count) = random_pages(&mut random);
        let (address, bytes) = (first as u64 * PAGE, count as u64 * PAGE);
        let pages = first..first + count;
        match random.random_range(0..4) {
            0 | 1 => {
                let offset = random.random_range(0..PAGES as u64) * PAGE;
                let rights = random_rights(&mut random);
                let map = DmaMap { rights, offset, address, bytes };
                let is_free = model[pages.clone()].iter().all(Option::is_none);
                let result = maps.add(&map, Some(file_of(&file)));
                assert_eq!(result, if is_free { Ok(()) } else { Err(Errno::EXIST) }, "{map:?}");
                taken += u64::from(!is_free);
                if is_free {
                    for (index, page) in pages.enumerate() {
                        model[page] = Some((id, rights, offset + index as u64 * PAGE));
                    }
                }
            }
            2 => {
                let result = maps.remove(&DmaUnmap::Range { address, bytes });
                let is_same = |one: usize, other: usize| {
                    let id = |page: usize| model.get(page).copied().flatten().map(|it| it.0);
                    id(one).is_some() && id(one) == id(other)
                };
                let is_cut = first > 0 && is_same(first - 1, first)
                    || is_same(first + count - 1, first + count);
                assert_eq!(result.is_err(), is_cut, "{first} {count} {result:?}");
                cut += u64::from(is_cut);
                if let Ok(list) = result {
                    let bytes: u64 = list.iter().map(|(_, bytes)| bytes).sum();
                    let mapped = model[pages.clone()].iter().flatten().count() as u64;
                    assert_eq!(bytes, mapped * PAGE);
                    removed += mapped;
                    model[pages].fill(None);
                }
            }
            _ => {
                let address = address + random.random_range(0..PAGE);
                let bytes = random.random_range(1..3 * PAGE as usize);
                let needs = random_rights(&mut random);
                let result = maps.pieces(address, bytes, needs);
                let offsets = result.map(|pieces| {
                    let all = pieces.iter().flat_map(|it| it.offset..it.offset + it.bytes as u64);
                    all.collect::<Vec<_>>()
                });
                reached += u64::from(offsets.is_ok());
                assert!(
                    offsets == expected_addresses(&model, address, bytes, needs),
                    "{address:#x}"
                );
            }
        }
    }
    seed::enough("ranges that were taken", taken, 200);
    seed::enough("ranges that would have been cut", cut, 100);
    seed::enough("pages that were removed", removed, 200);
    seed::enough("accesses that were permitted", reached, 50);
    assert!(!maps.remove(&DmaUnmap::All).unwrap().is_empty());
    assert_eq!(maps.count(), 0);
}

/// A guest with an IOMMU of its own maps each page by itself; the kernel allows a process 65,530
/// mappings.
#[test]
fn all_offered_pages_share_one_mapping() {
    let file = SharedFile::new(2 * PAGE as usize).unwrap();
    let mut maps = Maps::default();
    let map = |index: u64| DmaMap {
        rights: Rights::BOTH,
        offset: index % 2 * PAGE,
        address: index * PAGE,
        bytes: PAGE,
    };
    for index in 0..MAPS {
        maps.add(&map(index), Some(file_of(&file))).unwrap();
    }
    assert_eq!(maps.add(&map(MAPS), Some(file_of(&file))), Err(Errno::NOSPC));
    assert_eq!(maps.files.len(), 1);
    let first = &maps.pieces(0, 1, Rights::BOTH).unwrap()[0];
    let last = &maps.pieces((MAPS - 1) * PAGE, 1, Rights::BOTH).unwrap()[0];
    let (Backing::Mapped(first), Backing::Mapped(last)) = (&first.backing, &last.backing) else {
        panic!("a sealed file is mapped");
    };
    assert!(Arc::ptr_eq(first, last));
    maps.remove(&DmaUnmap::All).unwrap();
    assert_eq!(Arc::strong_count(first), 2, "the two of this test");
}

#[test]
fn shrinkable_file_ranges_share_one_descriptor() {
    let path = std::env::temp_dir().join(format!("vfu-maps-{}", std::process::id()));
    std::fs::write(&path, [0; 2 * PAGE as usize]).unwrap();
    let open = |write| std::fs::File::options().read(true).write(write).open(&path).unwrap();
    let mut maps = Maps::default();
    let map = |index: u64, rights| DmaMap { rights, offset: 0, address: index * PAGE, bytes: PAGE };
    for index in 0..2000 {
        maps.add(&map(index, Rights::BOTH), Some(open(true).into())).unwrap();
    }
    let read_only = Some(open(false).into());
    assert_eq!(Maps::default().add(&map(0, Rights::BOTH), read_only), Err(Errno::ACCESS));
    let rights = Rights { read: true, write: false };
    maps.add(&map(2000, rights), Some(open(false).into())).unwrap();
    std::fs::remove_file(path).unwrap();
    let file = |index: u64| match &maps.pieces(index * PAGE, 1, rights).unwrap()[0].backing {
        Backing::File(file) => Arc::as_ptr(file),
        other => panic!("{other:?}"),
    };
    assert_eq!(file(0), file(1999));
    assert_ne!(file(0), file(2000));
}

#[test]
fn range_may_end_at_last_address() {
    let mut maps = Maps::default();
    let rights = Rights::BOTH;
    let address = u64::MAX - 0xfff;
    maps.add(&DmaMap { rights, offset: 0, address, bytes: 0x1000 }, None).unwrap();
    assert_eq!(maps.pieces(u64::MAX, 1, rights).unwrap()[0].offset, 0xfff);
    assert_eq!(maps.pieces(u64::MAX, 2, rights).unwrap_err(), Errno::FAULT);
    let all = DmaUnmap::Range { address: 1, bytes: u64::MAX };
    assert_eq!(maps.remove(&all), Ok(vec![(address, 0x1000)]));
}

#[test]
fn non_file_or_short_file_is_refused() {
    let mut maps = Maps::default();
    let map = DmaMap { rights: Rights::BOTH, offset: PAGE, address: 0, bytes: PAGE };
    let short = SharedFile::new(PAGE as usize).unwrap();
    assert_eq!(maps.add(&map, Some(file_of(&short))), Err(Errno::NXIO));
    let (socket, _) = std::os::unix::net::UnixStream::pair().unwrap();
    assert_eq!(maps.add(&map, Some(socket.into())), Err(Errno::NODEV));
    assert_eq!(maps.count(), 0);
}
