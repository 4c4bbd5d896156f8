//! Memory that a program already has, a file of pages or pages at an address: the card fills it and
//! sends from it, and nothing is copied.
//!
//! ```text
//!   memfd of the program  │ page 0 │ received ..... │ to be sent ..... │ last page │
//!                                  └────────── the region ─────────────┘
//! ```
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;

use host::driver::bus::{Bus, BusError, MemoryKind};
use host::driver::error::DriverError;
use host::error::application::ApplicationError;
use host::error::region::RegionError;
use host::error::HostError;
use host::memory::{AddressRange, DmaBuf, MemoryError, MemoryFile, MemoryRange, SharedBytes};
use host::provider::{ApplicationId, Completion, RegionId, ShardId};
use host::transport::peer::{digest_of, RandomBytes, Script, WirePeer};
use lab::network_side::NetworkSide;
use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};

use crate::provider::calls::peer_address;
use crate::provider::owners::harmed::{harm_application, Harm};
use crate::provider::rig::{
    assert_clean, cancelled_completion, golden, prompt, received_completion, sent_completion,
    verilated_rig, GoldenRig, Rig,
};

const FIRST: ApplicationId = ApplicationId::FIRST;
const PAGE: usize = 4096;
/// Bytes each way on a connection.
const BYTES: usize = 16 * PAGE;
const FILE_BYTES: usize = 2 * BYTES + 2 * PAGE;
const SEED: u64 = 8;
const PEER_SEED: u64 = 9;

/// A memfd as programs make them, sealed as said.
fn memfd(name: &CStr, bytes: usize, seals: SealFlags) -> File {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let file = File::from(file.expect("a memfd"));
    file.set_len(bytes as u64).expect("a length");
    fcntl_add_seals(&file, seals).expect("seals");
    file
}

/// The file as the library knows it; the program keeps its own descriptor.
fn adopt(file: &File) -> Result<MemoryFile, MemoryError> {
    MemoryFile::adopt(file.try_clone().expect("a descriptor").into())
}

fn random(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    RandomBytes::new(seed).fill(&mut bytes);
    bytes
}

fn read(file: &File, at: usize, bytes: usize) -> Vec<u8> {
    let mut read = vec![0; bytes];
    file.read_exact_at(&mut read, at as u64).expect("bytes");
    read
}

/// How often this process has mapped a memfd of that name.
fn mappings(name: &CStr) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let name = format!("/memfd:{} ", name.to_str().expect("text"));
    maps.lines().filter(|line| line.contains(&name)).count()
}

/// A connection in the course of which the peer fills the first half of a region and gets the
/// second half.
fn exchange<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, region: RegionId) {
    let provider = &mut rig.machine.host;
    let id = provider.connect(FIRST, peer_address(5001)).expect("it starts");
    let half = BYTES as u32;
    provider.recv(id, region.span(0, half), 1).expect("a request");
    provider.send(id, region.span(half.into(), half), 2).expect("a request");
    for done in [received_completion(id, 1, half), sent_completion(id, 2)] {
        rig.completion(|c| *c == done);
    }
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    let last = rig.machine.peer.conversations().pop().expect("a conversation");
    assert_eq!(last.received_bytes, BYTES as u64);
    assert_eq!(last.received_digest, digest_of(SEED, BYTES as u64));
}

fn fills_and_sends<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, name: &CStr) {
    let script = Script { send_bytes: BYTES as u64, seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let file = memfd(name, FILE_BYTES, SealFlags::SHRINK);
    file.write_all_at(&[0x5a; FILE_BYTES], 0).expect("room");
    let at = (PAGE + BYTES) as u64;
    file.write_all_at(&random(SEED), at).expect("room");
    let range = adopt(&file).expect("it is sealed").range(PAGE, 2 * BYTES);
    let range = range.expect("pages of the file");
    let first = rig.machine.host.register_existing(FIRST, range.clone()).expect("room");
    exchange(rig, first);
    let expected = [random(PEER_SEED), random(SEED)].concat();
    assert!(read(&file, PAGE, 2 * BYTES) == expected, "other bytes");
    for outside in [0, FILE_BYTES - PAGE] {
        assert_eq!(read(&file, outside, PAGE), [0x5a; PAGE]);
    }
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, 0);

    // The same pages as another region, which stays when the first one goes.
    let second = rig.machine.host.register_existing(FIRST, range).expect("room");
    assert_ne!(first, second);
    // The card's mapping of each region, and the guarded one.
    assert_eq!(mappings(name), 4);
    rig.machine.host.deregister(first).expect("it goes");
    rig.until("the first to go", |_| mappings(name) == 2);
    file.write_all_at(&[0; BYTES], PAGE as u64).expect("room");
    exchange(rig, second);
    assert!(read(&file, PAGE, 2 * BYTES) == expected, "other bytes");
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, 0);
    rig.machine.host.deregister(second).expect("it goes");
    rig.until("the second to go", |_| mappings(name) == 0);
    assert!(read(&file, PAGE, 2 * BYTES) == expected, "other bytes");
}

#[test]
fn golden_card_uses_programs_own_memory() {
    fills_and_sends(&mut prompt(), c"own-memory-golden");
}

#[test]
fn verilated_card_uses_programs_own_memory() {
    let mut rig = verilated_rig();
    fills_and_sends(&mut rig, c"own-memory-verilated");
    assert_clean(&rig.machine.card);
}

/// Pages that this program has mapped for itself, private and anonymous, as those of an allocator.
pub struct Arena {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the pages belong to the process, and the test that made them copies in one thread.
unsafe impl Send for Arena {}
// SAFETY: as for `Send`.
unsafe impl Sync for Arena {}

impl Arena {
    pub fn new(bytes: usize) -> Arc<Self> {
        let (null, rights) = (std::ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping at an address that the kernel chooses touches no other object.
        let start = unsafe { mmap_anonymous(null, bytes, rights, MapFlags::PRIVATE) };
        let start = start.expect("memory");
        Arc::new(Self { start: start.cast(), bytes })
    }

    /// What the program sees at its own address.
    pub fn bytes(&self) -> SharedBytes<'_> {
        let start = NonNull::new(self.start).expect("it is mapped");
        // SAFETY: the pages are mapped as long as the arena, and nothing refers to their bytes.
        unsafe { SharedBytes::new(start, self.bytes) }
    }

    /// A part of it, for a card.
    pub fn range(self: &Arc<Self>, offset: usize, bytes: usize) -> MemoryRange {
        assert!(offset + bytes <= self.bytes);
        // SAFETY: the arena keeps its pages mapped, and nothing refers to their bytes.
        let range = unsafe {
            AddressRange::new(self.start.wrapping_add(offset), bytes, Arc::clone(self) as Arc<_>)
        };
        range.expect("pages of the arena").into()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length.
        unsafe { munmap(self.start.cast(), self.bytes).expect("it goes") };
    }
}

/// The same for memory that the program names by its address: the card writes it and reads it
/// there, and its neighbours stay as they are.
fn fills_and_sends_at_an_address<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    let script = Script { send_bytes: BYTES as u64, seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let arena = Arena::new(FILE_BYTES);
    arena.bytes().write(0, &[0x5a; FILE_BYTES]);
    arena.bytes().write(PAGE + BYTES, &random(SEED));
    let region = rig.machine.host.register_existing(FIRST, arena.range(PAGE, 2 * BYTES));
    let region = region.expect("room");
    exchange(rig, region);
    let expected = [random(PEER_SEED), random(SEED)].concat();
    assert!(arena.bytes().to_vec(PAGE, 2 * BYTES) == expected, "other bytes");
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, 0);

    for outside in [0, FILE_BYTES - PAGE] {
        assert_eq!(arena.bytes().to_vec(outside, PAGE), [0x5a; PAGE]);
    }
    rig.machine.host.deregister(region).expect("it goes");
    // The region, its guarded mapping and the card let go of the arena, and nobody unmaps it.
    rig.until("the region to go", |_| Arc::strong_count(&arena) == 1);
    assert!(arena.bytes().to_vec(PAGE, 2 * BYTES) == expected, "other bytes");
}

#[test]
fn golden_card_uses_memory_at_address() {
    fills_and_sends_at_an_address(&mut prompt());
}

#[test]
fn verilated_card_uses_memory_at_address() {
    let mut rig = verilated_rig();
    fills_and_sends_at_an_address(&mut rig);
    assert_clean(&rig.machine.card);
}

/// A dma-buf is refused with the reason, and takes no region and no address.
fn refuses_a_dma_buf<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    let known = rig.machine.host.register(FIRST, MemoryKind::Application, PAGE).expect("room");
    let null = File::open("/dev/null").expect("it is there");
    let buffer = MemoryRange::from(DmaBuf::new(null.into(), 2 * PAGE).expect("whole pages"));
    let refused = rig.machine.host.register_existing(FIRST, buffer).expect_err("it is refused");
    let HostError::Driver(DriverError::Bus(BusError::Memory(MemoryError::NotMappable { bytes }))) =
        refused
    else {
        panic!("{refused}");
    };
    assert_eq!(bytes, 2 * PAGE);
    let next = rig.machine.host.register(FIRST, MemoryKind::Application, PAGE).expect("room");
    assert_eq!(next.0, known.0 + 1);
}

#[test]
fn every_card_refuses_dma_buf_with_reason() {
    refuses_a_dma_buf(&mut golden());
    refuses_a_dma_buf(&mut verilated_rig());
}

/// Each registration belongs to one application, as that of any other memory.
#[test]
fn mapped_region_belongs_to_one_application() {
    mapped_region(&mut golden());
}

#[test]
fn mapped_region_stays_beside_harmed_one() {
    for harm in Harm::ALL {
        let mut rig = golden();
        harm_application(&mut rig, harm);
        mapped_region(&mut rig);
    }
}

fn mapped_region(rig: &mut GoldenRig) {
    let file = memfd(c"own-memory-shared", 2 * PAGE, SealFlags::SHRINK);
    let range = adopt(&file).expect("it is sealed").all().expect("pages");
    let other = rig.machine.host.open_application(ShardId::FIRST).expect("a domain");
    let region = rig.machine.host.register_existing(other, range.clone()).expect("room");
    let memory = rig.machine.host.memory(region).expect("a region");
    assert_eq!(memory.kind, MemoryKind::Application);
    assert_eq!((memory.bytes, memory.address % 8192), (2 * PAGE, 0));
    let mut mapping = rig.machine.host.map(region).expect("a mapping");
    mapping.write(PAGE, b"seen by all");
    assert_eq!(read(&file, PAGE, 11), b"seen by all");
    // It is the other application's.
    let id = rig.machine.host.connect(FIRST, peer_address(9)).expect("it starts");
    let foreign = rig.machine.host.recv(id, region.span(0, 1), 1);
    assert!(matches!(foreign, Err(HostError::Region(RegionError::ForeignRegion { .. }))));
    let own = rig.machine.host.register_existing(FIRST, range).expect("room");
    rig.machine.host.recv(id, own.span(0, 1), 1).expect("the first application's own registration");
    rig.completion(|c| *c == cancelled_completion(id, 1));
}

#[test]
fn transient_or_partial_pages_are_refused() {
    let grow = SealFlags::GROW;
    let open = memfd(c"own-memory-open", PAGE, grow);
    match adopt(&open) {
        Err(MemoryError::NotSealed { seals }) => assert_eq!(seals, grow.bits() as i32),
        other => panic!("{other:?}"),
    }
    for bytes in [0, PAGE + 1] {
        let odd = memfd(c"own-memory-odd", bytes, SealFlags::SHRINK);
        match adopt(&odd) {
            Err(MemoryError::NotPages { bytes: found }) => assert_eq!(found, bytes as u64),
            other => panic!("{other:?}"),
        }
    }
    // No memfd at all.
    let null = File::open("/dev/null").expect("it is there");
    match adopt(&null) {
        Err(MemoryError::System { call, source }) => {
            assert_eq!(call, "F_GET_SEALS");
            assert_eq!(source.raw_os_error(), Some(libc::EINVAL));
        }
        other => panic!("{other:?}"),
    }
    let mut rig = golden();
    let mut refused = |application, range: MemoryRange| {
        let registered = rig.machine.host.register_existing(application, range);
        registered.expect_err("it is refused")
    };
    let file = MemoryFile::new(2 * PAGE).expect("room");
    let error = refused(FIRST, file.range(PAGE, 100).expect("a range"));
    assert_eq!(error.to_string(), "100 bytes are not whole pages of 4096 bytes");
    let error = refused(ApplicationId(3), file.all().expect("a range"));
    assert!(matches!(error, HostError::Application(ApplicationError::Unknown { .. })));
    // Sealed against writing: the card could not fill it.
    let seals = SealFlags::SHRINK | SealFlags::WRITE;
    let fixed = adopt(&memfd(c"own-memory-fixed", PAGE, seals)).expect("it is sealed");
    match refused(FIRST, fixed.all().expect("a range")) {
        HostError::Driver(DriverError::Bus(BusError::Memory(MemoryError::System {
            call,
            source,
        }))) => assert_eq!((call, source.raw_os_error()), ("mmap", Some(libc::EPERM))),
        other => panic!("{other}"),
    }
}
