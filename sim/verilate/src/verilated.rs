//! A running Verilated design: ports as memory, `eval`, waveforms.
//!
//! ```text
//!   Model ── port("packet$valid") ──> PortId ── get / set / words ──> the C++ object's own fields
//!     └───── eval()                      settles everything that depends on what was set
//! ```
//!
//! Invariants
//! 1. A model is made, stepped and dropped on one thread; several may live in one process.
//! 2. Reading and writing a port is a memory access: no call, no allocation.
//! 3. Values written are cut to the width of the port.
//!
//! Only this file and `library.rs` are unsafe.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;

use hdl::ports::{Port, PortDirection};

use crate::design::Design;
use crate::error::BuildError;
use crate::install::say;
use crate::library::Handle;
use crate::options::Options;
use crate::shim::storage_bytes;
use crate::wave::{Wave, WaveError};

/// Names a port of one design; found once, used every cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortId(u32);

struct Slot {
    data: NonNull<u8>,
    bits: usize,
    /// `storage_bytes(bits)`, which the shim checked at compile time.
    bytes: usize,
    /// The port's bits, if it has up to 64.
    mask: u64,
    is_input: bool,
}

/// One running copy of a design.
pub struct Model {
    handle: Handle,
    slots: Vec<Slot>,
    wave: Option<NonNull<Wave>>,
    evaluations: u64,
    design: Design,
}

impl Design {
    /// A model of its own, all registers at their initial values.
    pub fn model(&self) -> Model {
        Model::new(self.clone())
    }
}

impl Model {
    /// Builds a design and makes one model of it.
    pub fn build(
        top: &str,
        verilog: &str,
        ports: &[Port],
        options: Options,
    ) -> Result<Model, BuildError> {
        Ok(Design::build(top, verilog, ports, options)?.model())
    }

    fn new(design: Design) -> Model {
        let library = design.library();
        let trace = u32::from(design.options().trace);
        // SAFETY: the shim's constructor takes any numbers: no random start, seed 0.
        let handle = unsafe { (library.create)(0, 0, trace) };
        let slots = design
            .ports()
            .iter()
            .enumerate()
            .map(|(index, port)| {
                // SAFETY: `handle` is live; the index is one of the table the shim was made from.
                let data = unsafe { (library.port)(handle, index as u32) };
                Slot {
                    data: NonNull::new(data.cast()).expect("the shim knows every port"),
                    bits: port.bits,
                    bytes: storage_bytes(port.bits),
                    mask: u64::MAX >> (64 - port.bits.clamp(1, 64)),
                    is_input: port.direction == PortDirection::Input,
                }
            })
            .collect();
        Model { handle, slots, wave: None, evaluations: 0, design }
    }

    /// The design it was made from.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The port of that name, if there is one; see [`Model::port`].
    pub fn find_port(&self, name: &str) -> Option<PortId> {
        self.design.place(name).map(PortId)
    }

    /// The port of that name: as in the Verilog, or `bundle$field` for a field of a bundle.
    ///
    /// # Panics
    /// If there is none; the message lists those that exist.
    pub fn port(&self, name: &str) -> PortId {
        self.find_port(name).unwrap_or_else(|| {
            let names: Vec<_> = self.design.ports().iter().map(|port| &port.name[..]).collect();
            panic!("no port `{name}`; there are: {}", names.join(", "))
        })
    }

    /// Name, direction and width of a port.
    #[inline]
    pub fn port_info(&self, id: PortId) -> &Port {
        &self.design.ports()[id.0 as usize]
    }

    /// The value of a port of up to 64 bits.
    #[inline]
    pub fn get(&self, id: PortId) -> u64 {
        let slot = &self.slots[id.0 as usize];
        let data = slot.data.as_ptr();
        // SAFETY: `data` points at the model's field, which has `bytes` bytes and is aligned for
        // its type.
        unsafe {
            match slot.bytes {
                1 => u64::from(data.read()),
                2 => u64::from(data.cast::<u16>().read()),
                4 => u64::from(data.cast::<u32>().read()),
                8 => data.cast::<u64>().read(),
                _ => panic!("`{}` is {} bits: use words", self.port_info(id).name, slot.bits),
            }
        }
    }

    /// Sets a port of up to 64 bits; bits beyond its width are dropped.
    #[inline]
    pub fn set(&mut self, id: PortId, value: u64) {
        let slot = &self.slots[id.0 as usize];
        let data = slot.data.as_ptr();
        let value = value & slot.mask;
        // SAFETY: as in `get`; `&mut self` makes this the only access.
        unsafe {
            match slot.bytes {
                1 => data.write(value as u8),
                2 => data.cast::<u16>().write(value as u16),
                4 => data.cast::<u32>().write(value as u32),
                8 => data.cast::<u64>().write(value),
                _ => panic!("`{}` is {} bits: use words", self.port_info(id).name, slot.bits),
            }
        }
    }

    /// True if a one-bit port is high.
    #[inline]
    pub fn is_high(&self, id: PortId) -> bool {
        self.get(id) != 0
    }

    /// The 32-bit words of a port of more than 64 bits, least significant first.
    #[inline]
    pub fn words(&self, id: PortId) -> &[u32] {
        let (data, words) = self.wide(id);
        // SAFETY: the field is an array of that many words (checked by the shim); only `&mut
        // self` methods write it.
        unsafe { std::slice::from_raw_parts(data, words) }
    }

    /// The words of a port of more than 64 bits; the caller keeps bits beyond its width zero.
    #[inline]
    pub fn words_mut(&mut self, id: PortId) -> &mut [u32] {
        let (data, words) = self.wide(id);
        // SAFETY: as in `words`; `&mut self` makes this the only access.
        unsafe { std::slice::from_raw_parts_mut(data, words) }
    }

    #[inline]
    fn wide(&self, id: PortId) -> (*mut u32, usize) {
        let slot = &self.slots[id.0 as usize];
        let name = &self.port_info(id).name;
        assert!(slot.bits > 64, "`{name}` is {} bits: use get and set", slot.bits);
        (slot.data.as_ptr().cast(), slot.bits.div_ceil(32))
    }

    /// Copies a port of any width into `bytes`, least significant first.
    #[inline]
    pub fn get_bytes(&self, id: PortId, bytes: &mut [u8]) {
        if self.slots[id.0 as usize].bits <= 64 {
            let value = self.get(id).to_le_bytes();
            let count = bytes.len().min(8);
            bytes[..count].copy_from_slice(&value[..count]);
            bytes[count..].fill(0);
            return;
        }
        let words = self.words(id).iter().copied().chain(std::iter::repeat(0));
        for (piece, word) in bytes.chunks_mut(4).zip(words) {
            piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
        }
    }

    /// Sets a port of any width from `bytes`, least significant first; missing bytes are zero.
    #[inline]
    pub fn set_bytes(&mut self, id: PortId, bytes: &[u8]) {
        let bits = self.slots[id.0 as usize].bits;
        if bits <= 64 {
            let mut value = [0; 8];
            let count = bytes.len().min(8);
            value[..count].copy_from_slice(&bytes[..count]);
            self.set(id, u64::from_le_bytes(value));
            return;
        }
        let words = self.words_mut(id);
        let mut pieces = bytes.chunks(4);
        for word in words.iter_mut() {
            let mut whole = [0; 4];
            if let Some(piece) = pieces.next() {
                whole[..piece.len()].copy_from_slice(piece);
            }
            *word = u32::from_le_bytes(whole);
        }
        if !bits.is_multiple_of(32) {
            words[bits / 32] &= (1 << (bits % 32)) - 1;
        }
    }

    /// Settles the design after inputs changed.
    #[inline]
    pub fn eval(&mut self) {
        self.evaluations += 1;
        // SAFETY: `handle` is live and used on one thread: `Model` is neither Send nor Sync.
        unsafe { (self.design.library().eval)(self.handle) }
    }

    /// Number of evaluations so far: a measure of work that does not depend on the machine.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Sets every input to zero.
    pub fn clear_inputs(&mut self) {
        for index in 0..self.slots.len() {
            if self.slots[index].is_input {
                self.set_bytes(PortId(index as u32), &[]);
            }
        }
    }

    /// Starts recording waveforms into `path`: `.vcd` as text, anything else as FST.
    pub fn open_wave(&mut self, path: &Path) -> Result<(), WaveError> {
        if !self.design.options().trace {
            return Err(WaveError::NotBuilt);
        }
        self.close_wave()?;
        let wave = NonNull::from(Box::leak(Box::new(Wave::create(path)?)));
        let user = wave.as_ptr().cast();
        // SAFETY: `handle` is live; `wave` is freed in `close_wave` only, after the trace was
        // closed; the callback runs only inside calls of the shim.
        unsafe { (self.design.library().trace_open)(self.handle, write_wave, user) };
        self.wave = Some(wave);
        Ok(())
    }

    /// True while waveforms are recorded.
    #[inline]
    pub fn has_wave(&self) -> bool {
        self.wave.is_some()
    }

    /// Records all values that changed, at a time in picoseconds that must not go back.
    pub fn dump_wave(&mut self, time_ps: u64) {
        if self.wave.is_some() {
            // SAFETY: a trace is open, see `open_wave`.
            unsafe { (self.design.library().trace_dump)(self.handle, time_ps) }
        }
    }

    /// Ends the recording with its error if a write has failed: nothing more can be recorded.
    pub fn check_wave(&mut self) -> Result<(), WaveError> {
        // SAFETY: the allocation lives until `close_wave` takes it; the shim, which writes to it,
        // does not run now.
        let failed = self.wave.is_some_and(|wave| unsafe { wave.as_ref() }.has_failed());
        if failed {
            return self.close_wave();
        }
        Ok(())
    }

    /// Ends the recording; errors of earlier writes surface here.
    pub fn close_wave(&mut self) -> Result<(), WaveError> {
        let Some(wave) = self.wave.take() else { return Ok(()) };
        // SAFETY: a trace is open and writes its last bytes here; afterwards nothing but `wave`
        // knows the allocation that `open_wave` leaked.
        let wave = unsafe {
            (self.design.library().trace_close)(self.handle);
            Box::from_raw(wave.as_ptr())
        };
        wave.finish()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Err(error) = self.close_wave() {
            say(format_args!("{error}"));
        }
        // SAFETY: the handle is live until here and not used after.
        unsafe { (self.design.library().delete)(self.handle) }
    }
}

extern "C" fn write_wave(user: *mut c_void, text: *const c_char, bytes: u64) {
    // SAFETY: `user` is the `Wave` that `open_wave` passed, and nothing else borrows it
    // while the shim runs; `text` has `bytes` readable bytes for the duration of the call.
    let (wave, text) = unsafe {
        let text = std::slice::from_raw_parts(text.cast::<u8>(), bytes as usize);
        (&mut *user.cast::<Wave>(), text)
    };
    wave.write(text);
}
