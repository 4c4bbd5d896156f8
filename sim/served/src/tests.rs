//! Clients of one card, one after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

use abi::config::SMALL;
use vfio_user::{Client, ClientError};

use super::*;

const OWNER: u32 = 1;
const PAGE: u32 = r::DOORBELLS + OWNER * r::DOORBELL_STRIDE;

/// A card with mapped doorbells, in a thread.
struct Other {
    socket: std::path::PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Other {
    fn start() -> Self {
        let file = format!("zeronic-served-{}.sock", std::process::id());
        let socket = std::env::temp_dir().join(file);
        let mut card = ServedCard::bind_mapped(&socket, SMALL).expect("a socket");
        let ends = Arc::new(AtomicBool::new(false));
        let until = ends.clone();
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                card.serve().expect("it serves");
                card.look();
                std::thread::yield_now();
            }
        });
        Self { socket, ends, thread: Some(thread) }
    }

    /// The next client, as soon as the last one has gone.
    fn client(&self) -> Client {
        loop {
            match Client::connect(&self.socket) {
                Err(ClientError::Busy(_)) => std::thread::yield_now(),
                client => return client.expect("a card"),
            }
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn status(client: &mut Client) -> u32 {
    let mut word = [0; 4];
    let at = PAGE + r::DOORBELL_STATUS;
    client.read(BAR_0, at.into(), &mut word).expect("a register");
    u32::from_le_bytes(word)
}

/// A wrong index stops a ring: whoever has rung last shows in the status.
#[test]
fn departed_clients_store_reaches_nobody() {
    let other = Other::start();
    let bytes = u64::from(r::DOORBELL_STRIDE);
    let first = other.client();
    let old = first.map_region(BAR_0, PAGE.into(), bytes).expect("pages");
    drop(first);
    let mut client = other.client();
    let enable = r::CONTEXTS + OWNER * r::CONTEXT_STRIDE + r::CONTEXT_ENABLE;
    client.write(BAR_0, enable.into(), &1_u32.to_le_bytes()).expect("it is enabled");
    old.store(r::DOORBELL_SEND as usize, 99);
    assert_eq!(status(&mut client), 0);
    let own = client.map_region(BAR_0, PAGE.into(), bytes).expect("pages");
    own.store(r::DOORBELL_SEND as usize, 99);
    // A message is carried out behind what was stored before.
    assert_eq!(status(&mut client), r::STATUS_SEND_STOPPED);
    assert_eq!(own.load(r::DOORBELL_STATUS as usize), r::STATUS_SEND_STOPPED);
}
