//! Devices at a socket that are no card of ours, and what is no device.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use abi::registers as r;
use abi::ABI_VERSION;
use vfio_user::description::REGION_CONFIG;
use vfio_user::{Description, Device, Errno, Region, Server, Session};

/// What a device answers.
#[derive(Clone, Copy)]
pub struct Answers {
    pub vendor: u16,
    pub id: u32,
    pub version: u32,
    /// All of BAR 0 reads as ones.
    pub is_gone: bool,
}

impl Answers {
    /// As a card.
    pub const CARD: Self =
        Self { vendor: VENDOR_ID, id: r::ID_VALUE, version: ABI_VERSION, is_gone: false };
}

struct Other(Answers);

impl Device for Other {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        _client: &mut Session,
    ) -> Result<(), Errno> {
        let answers = self.0;
        let ids = u32::from(DEVICE_ID) << 16 | u32::from(answers.vendor);
        let word = match (region, offset as u32) {
            (REGION_CONFIG, 0) => ids,
            (REGION_CONFIG, _) => 0,
            _ if answers.is_gone => u32::MAX,
            (_, r::ID) => answers.id,
            (_, r::VERSION) => answers.version,
            _ => 0,
        };
        let bytes = word.to_le_bytes();
        into.iter_mut().zip(bytes.iter().cycle()).for_each(|(into, byte)| *into = *byte);
        Ok(())
    }

    fn write(&mut self, _: u32, _: u64, _: &[u8], _: &mut Session) -> Result<(), Errno> {
        Ok(())
    }

    fn reset(&mut self, _client: &mut Session) -> Result<(), Errno> {
        Ok(())
    }
}

/// A socket of its own.
fn socket(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = format!("zeronic-fake-{}-{number}-{name}.sock", std::process::id());
    std::env::temp_dir().join(file)
}

/// A server of such a device, in a thread.
pub struct Fake {
    socket: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    pub fn start(answers: Answers) -> Self {
        let socket = socket("device");
        let mut description = Description::pci(4096, 4);
        description.regions[0] = Region::by_messages(r::BAR_BYTES as u64);
        let mut server = Server::bind(&socket, description).expect("a socket");
        let ends = Arc::new(AtomicBool::new(false));
        let until = ends.clone();
        let thread = std::thread::spawn(move || {
            let mut device = Other(answers);
            while !until.load(Ordering::Relaxed) {
                server.serve(&mut device).expect("it serves");
                std::thread::yield_now();
            }
        });
        Self { socket, ends, thread: Some(thread) }
    }

    pub fn bus(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A socket that answers whatever comes with something else.
pub struct Babble {
    socket: PathBuf,
}

impl Babble {
    pub fn start() -> Self {
        let socket = socket("babble");
        let listener = UnixListener::bind(&socket).expect("a socket");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut some = [0; 64];
                let _ = stream.read(&mut some);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        Self { socket }
    }

    pub fn bus(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }
}

impl Drop for Babble {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}
