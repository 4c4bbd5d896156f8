//! The plugin's calls, whatever the version of the interface.
//!
//! ```text
//!   versions/vN ─► Plugin ─► Engine of the device ─► card
//! ```
//! Pointers that NCCL holds are boxes of the types here; requests lie in their communicators.

mod memory;

use std::ffi::{CString, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use self::memory::Registration;
use crate::abi::{
    NcclResult, GROUP_MAX, HANDLE_BYTES, POINTER_CUDA, POINTER_DMA_BUF, POINTER_HOST,
};
use crate::cards::{parse, Card, Kind, VARIABLE};
use crate::comm::{messages_of, Comm, Listener};
use crate::engine::{random, Engine, Job, Place};
use crate::error::{PluginError, Result};
use crate::handle::{connecting, set_connecting, Handle};
use crate::log;
use crate::request::Request;

/// Speed of a card's port, megabits in a second (100GBASE-R).
const SPEED_MBPS: i32 = 100_000;
/// What a golden card comes to, in processes of one machine: about the goodput that was measured.
const GOLDEN_SPEED_MBPS: i32 = 10_000;
/// Latency that NCCL chooses algorithms by, microseconds: a round trip of control messages.
const LATENCY_US: f32 = 10.0;
/// Most communicators: flows are what there is least of, and they are counted.
const COMMS_MAX: i32 = 1 << 16;
/// Longest message that NCCL is to send.
const SEND_BYTES_MAX: usize = 1 << 30;

/// The devices, by the environment at the first call.
pub struct Plugin {
    devices: Vec<Device>,
}

/// A device of NCCL.
struct Device {
    card: Card,
    name: CString,
    engine: Mutex<Option<Arc<Engine>>>,
}

/// What a device says of itself, in all versions.
pub struct Properties {
    /// Its name.
    pub name: *const std::ffi::c_char,
    /// Tells cards apart.
    pub guid: u64,
    /// Kinds of memory.
    pub pointer_support: i32,
    /// Speed, megabits in a second.
    pub speed_mbps: i32,
    /// Latency, microseconds.
    pub latency_us: f32,
    /// Most communicators.
    pub comms_max: i32,
    /// Most receives in a group.
    pub receives_max: i32,
    /// Longest message.
    pub send_bytes_max: usize,
    /// Its number.
    pub device: i32,
}

/// A listener of NCCL.
pub struct Listening {
    engine: Arc<Engine>,
    listener: Arc<Listener>,
}

/// A communicator of NCCL.
pub struct Side {
    engine: Arc<Engine>,
    comm: Arc<Comm>,
}

/// A buffer of NCCL.
#[derive(Clone, Copy)]
pub struct Buffer<'a> {
    /// First byte.
    pub address: usize,
    /// Length, or the most that it may be.
    pub bytes: usize,
    /// Tag of the message.
    pub tag: i32,
    /// Registration that it lies in.
    pub registration: &'a Registration,
}

impl Buffer<'_> {
    fn place(&self) -> Result<Place> {
        let bytes = u32::try_from(self.bytes);
        let bytes = bytes.map_err(|_| PluginError::BadLength(self.bytes as i64))?;
        let (region, offset) = self.registration.find(self.address, self.bytes)?;
        Ok(Place { region, offset, tag: self.tag, bytes })
    }
}

static PLUGIN: OnceLock<Plugin> = OnceLock::new();

/// The plugin, whose cards the environment names.
pub fn init() -> Result<&'static Plugin> {
    if let Some(plugin) = PLUGIN.get() {
        return Ok(plugin);
    }
    let named: Option<OsString> = std::env::var_os(VARIABLE);
    let named = named.ok_or(PluginError::NoCards)?;
    let cards = parse(&named.to_string_lossy())?;
    if cards.iter().any(|card| card.takes_dma_bufs) {
        log::info("dma-bufs are taken for tests: a sealed memfd stands for the memory of a GPU");
    } else {
        log::info("host memory alone: no bus of today takes a GPU's dma-buf");
    }
    Ok(PLUGIN.get_or_init(|| Plugin { devices: cards.into_iter().map(Device::new).collect() }))
}

/// The plugin after [`init`].
pub fn get() -> Result<&'static Plugin> {
    PLUGIN.get().ok_or(PluginError::NoCards)
}

impl Device {
    fn new(card: Card) -> Self {
        let name = CString::new(card.name.clone()).unwrap_or_default();
        Self { card, name, engine: Mutex::new(None) }
    }

    /// The card, which is opened by the first who uses it.
    fn engine(&self) -> Result<Arc<Engine>> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*engine {
            return Ok(Arc::clone(engine));
        }
        let opened = Arc::new(Engine::start(&self.card)?);
        *engine = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Plugin {
    /// How many devices there are.
    pub fn count(&self) -> usize {
        self.devices.len()
    }

    fn device(&self, device: i32) -> Result<&Device> {
        let found = usize::try_from(device).ok().and_then(|at| self.devices.get(at));
        found.ok_or(PluginError::NoDevice { device, count: self.devices.len() })
    }

    /// What a device says of itself.
    pub fn properties(&self, device: i32) -> Result<Properties> {
        let found = self.device(device)?;
        let mut hasher = DefaultHasher::new();
        (device, &found.card.name).hash(&mut hasher);
        let dma_bufs = POINTER_CUDA | POINTER_DMA_BUF;
        Ok(Properties {
            name: found.name.as_ptr(),
            guid: hasher.finish(),
            pointer_support: POINTER_HOST | if found.card.takes_dma_bufs { dma_bufs } else { 0 },
            speed_mbps: match found.card.kind {
                Kind::Golden(..) | Kind::Brought(_) => GOLDEN_SPEED_MBPS,
                Kind::Vfio(_) => SPEED_MBPS,
            },
            latency_us: LATENCY_US,
            comms_max: COMMS_MAX,
            receives_max: GROUP_MAX as i32,
            send_bytes_max: SEND_BYTES_MAX,
            device,
        })
    }

    /// Listens on a device, and writes the handle that another rank connects by.
    pub fn listen(&self, device: i32, handle: &mut [u8; HANDLE_BYTES]) -> Result<Listening> {
        let engine = self.device(device)?.engine()?;
        let listener = Arc::new(Listener::new(random()));
        engine.submit(Job::Listen(Arc::clone(&listener)))?;
        let shared = engine.shared();
        let (station, mtu_bytes, nonce) = (shared.station, shared.mtu_bytes, listener.nonce);
        *handle = Handle { station, nonce, mtu_bytes }.to_bytes();
        Ok(Listening { engine, listener })
    }

    /// Connects to a handle: `None` until it is so.
    pub fn connect(&self, device: i32, handle: &mut [u8; HANDLE_BYTES]) -> Result<Option<Side>> {
        let engine = self.device(device)?.engine()?;
        let to = Handle::of(handle).ok_or(PluginError::ForeignHandle(crate::handle::VERSION))?;
        let Some(comm) = engine.comm(connecting(handle)) else {
            let comm = engine.connect(to.station, to.nonce)?;
            set_connecting(handle, comm.id);
            return Ok(None);
        };
        match comm.state() {
            None => Ok(None),
            Some(NcclResult::SUCCESS) => Ok(Some(Side { engine, comm })),
            Some(_) => {
                let gone = PluginError::PeerGone(to.station.address.to_string());
                Side { engine, comm }.close()?;
                Err(gone)
            }
        }
    }
}

impl Listening {
    /// The next rank that has connected.
    pub fn accept(&self) -> Option<Side> {
        let comm = self.listener.take()?;
        Some(Side { engine: Arc::clone(&self.engine), comm })
    }

    /// Listens no more.
    pub fn close(self) -> Result<()> {
        self.engine.submit(Job::Unlisten(self.listener.nonce))
    }
}

impl Side {
    /// The card's thread.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Fails once the other rank is gone.
    fn check(&self) -> Result<()> {
        match self.comm.state() {
            Some(NcclResult::SUCCESS) => Ok(()),
            Some(NcclResult::SYSTEM) => {
                Err(PluginError::CardFailed(self.engine.shared().name.clone()))
            }
            _ => Err(PluginError::PeerGone(self.comm.peer.address.to_string())),
        }
    }

    /// A free request with flows for its messages.
    fn take_request(&self, count: usize, messages: u32) -> Option<usize> {
        let request = self.comm.requests.take(count)?;
        if !self.engine.shared().take_flows(messages) {
            self.comm.requests.give_back(request);
            return None;
        }
        Some(request)
    }

    /// Hands a request to the card's thread.
    fn submit(&self, request: usize, messages: u32, job: Job) -> Result<Option<&Request>> {
        if let Err(error) = self.engine.submit(job) {
            self.comm.requests.give_back(request);
            self.engine.shared().give_flows_back(messages);
            return Err(error);
        }
        Ok(Some(self.comm.requests.get(request)))
    }

    /// Sends a message: `None` as long as the other rank has posted no buffer with its tag, or the
    /// card has no flow.
    pub fn isend(&self, from: &Buffer<'_>) -> Result<Option<&Request>> {
        self.check()?;
        let Some(posted) = self.comm.take_posted(from.tag, from.bytes) else {
            return Ok(None);
        };
        let (bytes, tag) = (from.bytes, from.tag);
        let longer = |posted| PluginError::LongerThanPosted { bytes, posted, tag };
        let posted = posted.map_err(longer)?;
        let place = from.place().inspect_err(|_| self.comm.give_posted_back(posted))?;
        let messages = messages_of(place.bytes);
        let Some(request) = self.take_request(1, messages) else {
            self.comm.give_posted_back(posted);
            return Ok(None);
        };
        let comm = self.comm.id;
        self.submit(request, messages, Job::Send { comm, request, posted, from: place })
    }

    /// Posts buffers: `None` as long as the card has no flows.
    pub fn irecv(&self, into: &[Buffer<'_>]) -> Result<Option<&Request>> {
        self.check()?;
        let places: Result<Vec<Place>> = into.iter().map(Buffer::place).collect();
        let places = places?;
        let messages = places.iter().map(|place| messages_of(place.bytes)).sum();
        let Some(request) = self.take_request(places.len(), messages) else {
            return Ok(None);
        };
        let comm = self.comm.id;
        self.submit(request, messages, Job::Receive { comm, request, places })
    }

    /// Closes it. Returns when the card has none of its buffers any more.
    pub fn close(self) -> Result<()> {
        let id = self.comm.id;
        self.engine.ask(|reply| Job::Close(id, reply))
    }
}
