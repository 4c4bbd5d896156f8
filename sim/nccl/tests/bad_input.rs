//! What a plugin is given that it cannot take: one line in NCCL's log, the right result, nothing
//! hung.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nccl::abi::HANDLE_BYTES;
use nccl_harness::driver::lone::with_pair;
use nccl_harness::driver::{run, Narrow, Settings};
use nccl_harness::net::{lines, linked, load, Net};

/// `ncclSystemError`, `ncclInternalError`, `ncclInvalidArgument`.
const SYSTEM: i32 = 2;
const INTERNAL: i32 = 3;
const INVALID_ARGUMENT: i32 = 4;
const HOST: i32 = 1;
const CUDA: i32 = 2;
const PAGE_BYTES: usize = 4096;

/// Two golden cards, for every plugin of this process.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("zn-bad-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let card = format!("golden:{}?dmabuf=1", folder.display());
        std::env::set_var("ZERONIC_CARD", format!("{card},{card}"));
        folder
    })
}

/// The plugin, for one user at a time: the lines of its log are counted.
fn plugin() -> (MutexGuard<'static, ()>, Box<dyn Net>) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    folder();
    let net = linked(12).expect("the newest version");
    assert_eq!(net.init(), 0);
    (guard, net)
}

/// A page with these rights, or none.
fn page(rights: i32) -> usize {
    let (none, flags) = (std::ptr::null_mut(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which stays.
    let page = unsafe { libc::mmap(none, PAGE_BYTES, rights, flags, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    page.expose_provenance()
}

#[test]
fn memory_that_cannot_be_mapped_is_refused() {
    let (_one, net) = plugin();
    let good = page(libc::PROT_READ | libc::PROT_WRITE);
    let cases = [
        ("nothing", 0, PAGE_BYTES, HOST, SYSTEM),
        ("no rights", page(libc::PROT_NONE), PAGE_BYTES, HOST, SYSTEM),
        ("no right to write", page(libc::PROT_READ), 100, HOST, SYSTEM),
        ("the end of addresses", usize::MAX - 100, 1000, HOST, SYSTEM),
        ("no bytes", good, 0, HOST, SYSTEM),
        ("a GPU's address", good, PAGE_BYTES, CUDA, INVALID_ARGUMENT),
        ("no kind", good, PAGE_BYTES, 64, INVALID_ARGUMENT),
    ];
    let checked = with_pair(&*net, |comm, _| {
        for (name, address, bytes, kind, right) in cases {
            lines();
            let (code, handle) = net.reg_mr(comm, address, bytes, kind);
            let lines = lines();
            assert_eq!((code, handle, lines.len()), (right, 0, 1), "{name}: {lines:?}");
        }
        let null = OwnedFd::from(std::fs::File::open("/dev/null")?);
        lines();
        let (code, handle) = net.reg_mr_dma_buf(comm, good, PAGE_BYTES, 0, null.as_raw_fd());
        let lines = lines();
        assert_eq!((code, handle, lines.len()), (SYSTEM, 0, 1), "no dma-buf: {lines:?}");
        // The card goes on.
        let (code, handle) = net.reg_mr(comm, good + 100, 1000, HOST);
        assert_eq!((code, net.dereg_mr(comm, handle)), (0, 0));
        Ok(())
    });
    checked.expect("a pair");
}

#[test]
fn handle_of_another_plugin_is_refused() {
    let (_one, net) = plugin();
    lines();
    let mut handle = [0x5a; HANDLE_BYTES];
    let (code, comm) = net.connect(0, &mut handle);
    let lines = lines();
    let refusals = lines.iter().filter(|line| line.contains("all ranks need the same library"));
    assert_eq!((code, comm, refusals.count()), (INTERNAL, 0, 1), "{lines:?}");
}

#[test]
fn plugin_loaded_twice_serves_both() {
    let (_one, _net) = plugin();
    let program = std::env::current_exe().expect("a path");
    let library = program.with_file_name("libnccl_net_zeronic.so");
    let nets = ["one", "other"].map(|name| {
        let copy = folder().join(format!("{name}.so"));
        std::fs::copy(&library, &copy).expect("it is built with the tests");
        load(&copy, 12).expect("it is a plugin").net
    });
    std::thread::scope(|scope| {
        for (net, seed) in nets.iter().zip(1..) {
            scope.spawn(move || {
                assert_eq!(net.init(), 0);
                let narrow = Some(Narrow { devices: [0, 1] });
                let settings = Settings { aborts: false, registers: true, limit_s: 60, narrow };
                run(&**net, seed, settings).expect("every byte is right");
            });
        }
    });
}
