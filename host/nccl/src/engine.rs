//! One thread for a card: it alone touches endpoint and line.
//!
//! ```text
//!   NCCL's threads ── Job ─► channel ─► Worker ─► Endpoint ─ card ─ line
//!                  ◄─ atomics of requests and communicators ─┘
//! ```
//! A call of NCCL never waits for the thread, but those that register memory or close. The thread
//! polls while anything moves, and sleeps otherwise until a job, a frame or a timer.
#![allow(unsafe_code)]

mod flights;
mod job;
mod peers;
mod receives;
mod sends;
mod shared;
mod worker;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::sync::{Arc, OnceLock};

use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::message::{Endpoint, Station};
use lab::golden_card::{GoldenBus, GoldenCard};
use vfio::KernelBus;

pub use self::job::{Job, Place};
use self::shared::Shared;
use self::worker::Worker;
use crate::cards::{Card, Kind};
use crate::comm::Comm;
use crate::datagrams::DatagramLine;
use crate::error::{PluginError, Result};
use crate::line::{Line, NoLine};
use crate::log;

/// UDP port of the messages: of the dynamic ones (RFC 6335, 6).
const PORT: u16 = 57_700;
/// Flows that are not given to messages: those of the provider itself.
const FLOWS_KEPT: u32 = 8;

/// The card of a device, opened.
pub struct Engine {
    jobs: Sender<Job>,
    shared: Arc<Shared>,
}

impl Engine {
    /// Opens a card and starts its thread.
    pub fn start(card: &Card) -> Result<Self> {
        let not_opened = |why: String| PluginError::NotOpened { name: card.name.clone(), why };
        let mac = local_mac(random());
        let station = Station { mac, address: SocketAddr::new(address_of(mac).into(), PORT) };
        let wake = event_descriptor().map_err(|error| not_opened(error.to_string()))?;
        let shared = Arc::new(Shared::new(card, station, wake));
        let (jobs, taken) = channel();
        let (opened, is_open) = sync_channel(1);
        let (kind, for_thread) = (card.kind.clone(), Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("zeronic".to_owned());
        let opening = Opening { mac, shared: for_thread, jobs: taken, opened };
        thread.spawn(move || open(kind, opening)).map_err(|error| not_opened(error.to_string()))?;
        let is_open = is_open.recv().unwrap_or_else(|_| Err("its thread has ended".to_owned()));
        is_open.map_err(not_opened)?;
        Ok(Self { jobs, shared })
    }

    /// Where the card is, and how.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Gives the thread something to do.
    pub fn submit(&self, job: Job) -> Result<()> {
        let failed = || PluginError::CardFailed(self.shared.name.clone());
        if self.shared.is_dead.load(Ordering::Acquire) {
            return Err(failed());
        }
        self.jobs.send(job).map_err(|_| failed())?;
        if self.shared.is_asleep.swap(false, Ordering::SeqCst) {
            let one = 1u64.to_ne_bytes();
            // SAFETY: the descriptor is open, and eight bytes are at the address.
            unsafe { libc::write(self.shared.wake.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        }
        Ok(())
    }

    /// The same, and waits for the answer.
    pub fn ask<T>(&self, job: impl FnOnce(SyncSender<T>) -> Job) -> Result<T> {
        let (reply, answer) = sync_channel(1);
        self.submit(job(reply))?;
        answer.recv().map_err(|_| PluginError::CardFailed(self.shared.name.clone()))
    }

    /// A new sender, which connects to a listener.
    pub fn connect(&self, to: Station, nonce: u64) -> Result<Arc<Comm>> {
        let comm = self.shared.new_comm(true, to);
        self.submit(Job::Connect(Arc::clone(&comm), nonce))?;
        Ok(comm)
    }

    /// A communicator by its number.
    pub fn comm(&self, id: u32) -> Option<Arc<Comm>> {
        self.shared.lock().get(&id).cloned()
    }
}

/// A card that is being opened, on the thread that will serve it.
pub struct Opening {
    /// Its MAC address.
    pub mac: [u8; 6],
    shared: Arc<Shared>,
    jobs: Receiver<Job>,
    opened: SyncSender<Result<(), String>>,
}

/// Opens a card that a program brings, by its name.
type Bringer = fn(&str, Opening);

static BRINGER: OnceLock<Bringer> = OnceLock::new();

/// Brings simulated cards, which `ZERONIC_CARD` names `brought:NAME`: for tests, where a card is
/// neither the golden one nor in a slot. The first call counts.
pub fn bring(bringer: fn(&str, Opening)) {
    BRINGER.get_or_init(|| bringer);
}

/// Opens a card and serves it.
fn open(kind: Kind, opening: Opening) {
    match kind {
        Kind::Golden(config, settings) => {
            let card = GoldenCard::new(config);
            match DatagramLine::open(&settings, opening.mac, card.clone()) {
                Ok(line) => opening.serve(GoldenBus::new(card), line),
                Err(error) => {
                    opening.refuse(format!("socket in {}: {error}", settings.folder.display()))
                }
            }
        }
        Kind::Vfio(address) => match KernelBus::open(&address) {
            Ok(bus) => opening.serve(bus, NoLine),
            Err(error) => opening.refuse(error.to_string()),
        },
        Kind::Brought(name) => match BRINGER.get() {
            Some(bringer) => bringer(&name, opening),
            None => opening.refuse("this program has brought no card".to_owned()),
        },
    }
}

impl Opening {
    /// There is no such card.
    pub fn refuse(self, why: String) {
        // Who has asked waits for it.
        let _ = self.opened.send(Err(why));
    }

    /// Opens the endpoint of a bus and runs the thread of the card.
    pub fn serve<B: Bus, L: Line>(self, bus: B, line: L) {
        let Self { shared, jobs, opened, .. } = self;
        let config = DeviceConfig::default();
        let endpoint = Endpoint::open(bus, shared.station, shared.mtu_bytes, config);
        let mut endpoint = match endpoint {
            Ok(endpoint) => endpoint,
            Err(error) => return drop(opened.send(Err(error.to_string()))),
        };
        let flows = 1u32 << endpoint.device().sizes().flow_bits;
        shared.give_flows_back(flows - FLOWS_KEPT);
        log::info(&format!(
            "{}: {} flows, MTU {}, at {}",
            shared.name, flows, shared.mtu_bytes, shared.station.address
        ));
        if opened.send(Ok(())).is_ok() {
            // Below 2^63, with room for as many messages as a card ever has.
            Worker::new(endpoint, line, shared, jobs, random() >> 2).run();
        }
    }
}

/// A random number.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A MAC address of this opening of the card: locally administered, of one station (IEEE 802, 8.2).
fn local_mac(random: u64) -> [u8; 6] {
    let mut mac = [0; 6];
    mac.copy_from_slice(&random.to_be_bytes()[..6]);
    mac[0] = mac[0] & 0xfc | 2;
    mac
}

/// The link-local address that follows from a MAC address (RFC 4291, appendix A).
fn address_of(mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac;
    Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

fn event_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointer.
    let number = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
