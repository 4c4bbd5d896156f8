//! A device to try server and client with: a word to keep, a copier, an interrupt, a doorbell page.
//!
//! ```text
//!   BAR 0   0x00  reads "TOYS"             0x20 copies COUNT bytes from SOURCE to TARGET, then
//!           0x04  a word that is kept           raises vector 0; reads the last error number
//!           0x08  SOURCE   0x10 TARGET     0x24 raises the vector that is written
//!           0x18  COUNT                    0x28 writes seen, 0x2c resets seen
//!                                          0x30 vectors 0 to 31 that wait for an event
//!           0x1000  a page that clients map
//! ```

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use vfio_user::codec::{Area, DmaMap};
use vfio_user::description::INTERRUPT_MSIX;
use vfio_user::{
    Description, Device, Errno, Mapping, Region, Served, Server, Session, SharedFile, SharedPages,
};

pub const BAR_BYTES: u64 = 0x10000;
pub const PAGE: u64 = 0x1000;
pub const VECTORS: u32 = 40;
pub const ID: u32 = u32::from_le_bytes(*b"TOYS");

/// What a test may look at from outside.
#[derive(Debug, Default)]
pub struct Seen {
    pub writes: Mutex<Vec<(u32, u64, Vec<u8>)>>,
    pub maps: AtomicU64,
    pub unmaps: AtomicU64,
    pub left: AtomicU64,
    pub ends: Mutex<Vec<String>>,
    pub refused: AtomicU64,
    pub resets: AtomicU64,
    /// The whole BAR 0 as the device maps it; clients see one page of it.
    pub pages: OnceLock<Mapping>,
}

pub struct Toy {
    registers: Vec<u8>,
    config: Vec<u8>,
    resets: u32,
    writes: u32,
    page: Mapping,
    seen: Arc<Seen>,
}

impl Toy {
    pub fn new(seen: Arc<Seen>) -> (Self, Description) {
        let file = SharedFile::new(BAR_BYTES as usize).unwrap();
        let page = file.map().unwrap();
        seen.pages.set(file.map().unwrap()).unwrap();
        let mut description = Description::pci(256, VECTORS);
        let areas = vec![Area { offset: PAGE, bytes: PAGE }];
        let shared = SharedPages { file: file.into(), file_offset: 0, areas };
        description.regions[0] = Region { shared: Some(shared), ..Region::by_messages(BAR_BYTES) };
        description.regions[1] = Region { read: true, bytes: 16, ..Region::default() };
        let mut toy = Self {
            registers: vec![0; BAR_BYTES as usize],
            config: (0..=255).collect(),
            resets: 0,
            writes: 0,
            page,
            seen,
        };
        toy.clear();
        (toy, description)
    }

    fn clear(&mut self) {
        self.registers.fill(0);
        self.registers[..4].copy_from_slice(&ID.to_le_bytes());
    }

    fn number(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.registers[at..at + 8].try_into().unwrap())
    }

    fn copy(&mut self, client: &mut Session) -> Result<(), Errno> {
        let mut bytes = vec![0; self.number(0x18) as usize];
        client.read_memory(self.number(8), &mut bytes)?;
        client.write_memory(self.number(0x10), &bytes)
    }
}

impl Device for Toy {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        let offset = offset as usize;
        let pending = (0..32).filter(|vector| client.is_pending(INTERRUPT_MSIX, *vector));
        let pending: u32 = pending.map(|vector| 1 << vector).sum();
        self.registers[0x30..0x34].copy_from_slice(&pending.to_le_bytes());
        self.registers[0x28..0x2c].copy_from_slice(&self.writes.to_le_bytes());
        self.registers[0x2c..0x30].copy_from_slice(&self.resets.to_le_bytes());
        match region {
            0 if (PAGE as usize..2 * PAGE as usize).contains(&offset) => {
                self.page.read(offset, into);
            }
            0 => into.copy_from_slice(&self.registers[offset..offset + into.len()]),
            7 => into.copy_from_slice(&self.config[offset..offset + into.len()]),
            _ => into.fill(0x11),
        }
        Ok(())
    }

    fn write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
        client: &mut Session,
    ) -> Result<(), Errno> {
        self.writes += 1;
        self.seen.writes.lock().unwrap().push((region, offset, from.to_vec()));
        let at = offset as usize;
        match (region, at) {
            (0, 0x20) => {
                let result = self.copy(client);
                let error = result.err().map_or(0, |error| error.raw_os_error() as u32);
                self.registers[0x20..0x24].copy_from_slice(&error.to_le_bytes());
                client.raise(INTERRUPT_MSIX, 0)
            }
            (0, 0x24) => client.raise(INTERRUPT_MSIX, from[0].into()),
            (0, _) => {
                self.registers[at..at + from.len()].copy_from_slice(from);
                Ok(())
            }
            (_, _) => {
                self.config[at..at + from.len()].copy_from_slice(from);
                Ok(())
            }
        }
    }

    fn reset(&mut self, _: &mut Session) -> Result<(), Errno> {
        self.resets += 1;
        self.seen.resets.fetch_add(1, Ordering::SeqCst);
        self.clear();
        Ok(())
    }

    fn memory_mapped(&mut self, _: &DmaMap, _: &mut Session) {
        self.seen.maps.fetch_add(1, Ordering::SeqCst);
    }

    fn memory_unmapped(&mut self, _: u64, _: u64) {
        self.seen.unmaps.fetch_add(1, Ordering::SeqCst);
    }

    fn client_left(&mut self) {
        self.seen.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// A toy served by a thread until this is dropped.
pub struct ServedToy {
    pub socket: PathBuf,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A socket of its own for each test.
pub fn socket(name: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    std::env::temp_dir().join(format!("vfu-{}-{count}-{name}", std::process::id()))
}

pub fn serve(name: &str) -> ServedToy {
    serve_as(name, Arc::new(Seen::default()), |_, _| {})
}

/// The same, with another description and configuration space.
pub fn serve_as(
    name: &str,
    seen: Arc<Seen>,
    change: impl FnOnce(&mut Description, &mut [u8]),
) -> ServedToy {
    let (mut toy, mut description) = Toy::new(seen.clone());
    change(&mut description, &mut toy.config);
    serve_device(name, seen, toy, description)
}

/// Serves any device.
pub fn serve_device(
    name: &str,
    seen: Arc<Seen>,
    mut device: impl Device + Send + 'static,
    description: Description,
) -> ServedToy {
    let socket = socket(name);
    let mut server = Server::bind(&socket, description).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, noted) = (stop.clone(), seen.clone());
    let thread = std::thread::spawn(move || {
        while !flag.load(Ordering::SeqCst) {
            if wait(&server, Duration::from_millis(20)) {
                note(&noted, server.serve(&mut device).unwrap());
            }
        }
    });
    ServedToy { socket, seen, stop, thread: Some(thread) }
}

fn note(seen: &Seen, served: Served) {
    seen.refused.fetch_add(served.refused as u64, Ordering::SeqCst);
    if let Some(end) = served.left {
        seen.ends.lock().unwrap().push(end.to_string());
    }
}

/// Waits until a descriptor is readable.
pub fn wait(on: &impl std::os::fd::AsFd, limit: Duration) -> bool {
    let mut list = [PollFd::new(on, PollFlags::IN)];
    poll(&mut list, Some(&Timespec::try_from(limit).unwrap())).unwrap() > 0
}

impl ServedToy {
    /// Ends the server, as if its process had ended.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            assert!(result.is_ok() || std::thread::panicking(), "the server's thread panicked");
        }
    }

    /// Waits until something holds that another thread brings about.
    pub fn until(&self, what: &str, holds: impl Fn(&Seen) -> bool) {
        for _ in 0..2000 {
            if holds(&self.seen) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("not within 2 s: {what}; {:?}", self.seen);
    }
}

impl Drop for ServedToy {
    fn drop(&mut self) {
        self.end();
    }
}
