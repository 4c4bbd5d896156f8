//! A toy device behind a socket: it turns bytes in its client's memory round and interrupts.
//!
//! ```text
//!   client ── write ADDRESS ──► socket ──► server ── Toy: read_memory, reverse, write_memory
//!     ▲ └── SharedFile, mapped by both ───────────────┘
//!     └──── event: interrupt ◄────────────────────────┘
//! ```

use std::error::Error;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use vfio_user::codec::Rights;
use vfio_user::description::{INTERRUPT_MSIX, REGION_CONFIG};
use vfio_user::pci::{Bar, ConfigSpace, Identity, Link};
use vfio_user::{
    Client, Description, Device, Errno, Event, Region, Server, ServerError, Session, SharedFile,
};

const BAR_BYTES: u64 = 0x1000;
/// The one register: a write of 8 bytes is the address of [`WORD`] bytes to turn round.
const ADDRESS: u64 = 0;
const WORD: usize = 8;
/// Where the client's memory lies for the device.
const MEMORY: u64 = 0x10_0000;
const MEMORY_BYTES: usize = 0x1000;

struct Toy {
    config: ConfigSpace,
}

impl Device for Toy {
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        _: &mut Session,
    ) -> Result<(), Errno> {
        match region {
            REGION_CONFIG => self.config.read(offset, into),
            _ => into.fill(0),
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
        if region == REGION_CONFIG {
            self.config.write(offset, from);
            return Ok(());
        }
        let address: [u8; 8] = from.try_into().map_err(|_| Errno::INVAL)?;
        let (address, mut bytes) = (u64::from_le_bytes(address), [0; WORD]);
        client.read_memory(address, &mut bytes)?;
        bytes.reverse();
        client.write_memory(address, &bytes)?;
        client.raise(INTERRUPT_MSIX, 0)
    }

    fn reset(&mut self, _: &mut Session) -> Result<(), Errno> {
        self.config.reset();
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let identity = Identity {
        vendor: 0x1234,
        device: 0x7074,
        subsystem_vendor: 0,
        subsystem: 0,
        revision: 1,
        class: 0xff_0000,
        serial: None,
    };
    let bar = Bar { index: 0, bytes: BAR_BYTES, is_64_bit: false, is_prefetchable: false };
    let link = Link { generation: 3, lanes: 1, payload: 0 };
    let toy = Toy { config: ConfigSpace::new(&identity, &[bar], link, None)? };
    let mut description = Description::pci(4096, 1);
    description.regions[0] = Region::by_messages(BAR_BYTES);
    let socket: PathBuf = std::env::temp_dir().join(format!("toy-{}", std::process::id()));
    let server = Server::bind(&socket, description)?;
    let serving = thread::spawn(move || serve(server, toy));

    let mut client = Client::connect(&socket)?;
    let mut seen = [0; 4];
    client.read(REGION_CONFIG, 0, &mut seen)?;
    let [a, b, c, d] = seen;
    let seen = [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])];
    println!("{}: device {:04x}:{:04x}", socket.display(), seen[0], seen[1]);

    let file = SharedFile::new(MEMORY_BYTES)?;
    let memory = file.map()?;
    memory.write(0, b"drawkcab");
    client.map_memory(MEMORY, MEMORY_BYTES as u64, file.as_fd(), 0, Rights::BOTH)?;
    let interrupt = Event::new()?;
    client.attach(INTERRUPT_MSIX, 0, &[interrupt.as_fd()])?;
    client.write(0, ADDRESS, &MEMORY.to_le_bytes())?;
    let (mut word, interrupts) = ([0; WORD], interrupt.take());
    memory.read(0, &mut word);
    println!("memory: {}, interrupts: {interrupts}", String::from_utf8_lossy(&word));
    drop(client);
    serving.join().map_err(|_| "the server's thread panicked")??;
    if seen != [identity.vendor, identity.device] || &word != b"backward" || interrupts != 1 {
        return Err(format!("{seen:04x?}, {word:?}, {interrupts} interrupts").into());
    }
    Ok(())
}

/// Serves until the client has gone. A program with a loop of its own waits for the server's
/// descriptor there instead.
fn serve(mut server: Server, mut toy: Toy) -> Result<(), ServerError> {
    while server.serve(&mut toy)?.left.is_none() {
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}
