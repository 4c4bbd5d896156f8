//! What a kernel does to a connection: waits for room or data, and says how far it is.
//!
//! ```text
//!   send:    head + STEPS > step ─► fill ─► tail = step
//!   receive: tail > step ─────────► use ──► head = step
//! ```
//! The other side of each is NCCL's proxy, which sends and receives.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{fence, AtomicIsize, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::layout::{Comm, Connection, SIMPLE, STEPS};

/// Ends a kernel whose communicator is aborted: what it has done so far does not matter.
pub struct Aborted;

/// Looks in vain before a kernel rests, and how long it rests then: a GPU that waits leaves the
/// cores to those that it waits for.
const LOOKS: u32 = 256;
const REST: Duration = Duration::from_micros(20);

/// Waits until something is so, or the communicator is aborted.
fn wait(comm: &Comm, is_so: impl Fn() -> bool) -> Result<(), Aborted> {
    let mut looks = 0u32;
    while !is_so() {
        looks += 1;
        if looks > LOOKS {
            // SAFETY: NCCL's flag lives as long as the communicator.
            let is_aborted =
                unsafe { AtomicU32::from_ptr(comm.abort) }.load(Ordering::Acquire) != 0;
            if is_aborted {
                return Err(Aborted);
            }
            std::thread::sleep(REST);
        }
        std::hint::spin_loop();
    }
    Ok(())
}

fn load(at: *mut u64) -> u64 {
    // SAFETY: a counter of a connection, shared with the proxy.
    unsafe { AtomicU64::from_ptr(at) }.load(Ordering::Acquire)
}

/// Whether the steps before `last` fit the buffer. The proxy lets none begin by a head of `-STEPS`.
fn has_room(head: *mut u64, last: u64) -> bool {
    load(head).wrapping_add(STEPS) >= last
}

fn store(at: *mut u64, value: u64) {
    fence(Ordering::SeqCst);
    // SAFETY: a counter of a connection, shared with the proxy.
    unsafe { AtomicU64::from_ptr(at) }.store(value, Ordering::Release);
}

/// One direction of a kernel on a connection.
pub struct Line<'a> {
    comm: &'a Comm,
    connection: *mut Connection,
    step: u64,
    /// Steps of a slice.
    steps: u64,
}

impl<'a> Line<'a> {
    /// A kernel goes on where the last one ended, at a whole chunk of so many slices.
    fn new(comm: &'a Comm, connection: *mut Connection, steps: u64, slices: u64) -> Self {
        // SAFETY: NCCL's connection, which this thread alone uses now.
        let step = unsafe { (*connection).step }.next_multiple_of(steps * slices);
        Self { comm, connection, step, steps }
    }

    /// The sending side.
    pub fn to_send(comm: &'a Comm, connection: *mut Connection, steps: u64, slices: u64) -> Self {
        Self::new(comm, connection, steps, slices)
    }

    /// The receiving side, which says at once where it begins.
    pub fn to_receive(comm: &'a Comm, at: *mut Connection, steps: u64, slices: u64) -> Self {
        let line = Self::new(comm, at, steps, slices);
        store(line.connection().head, line.step);
        line
    }

    fn connection(&self) -> &'a Connection {
        // SAFETY: NCCL's connection lives as long as the communicator.
        unsafe { &*self.connection }
    }

    /// The place of the present step in the buffer.
    fn place(&self) -> *mut u8 {
        let connection = self.connection();
        let slot = (self.step % STEPS) as usize;
        let start = connection.buffers[SIMPLE];
        // SAFETY: the connection's buffer has `STEPS` steps, or the proxy says where in it.
        unsafe {
            let told = connection.place(&self.comm.layout, self.step);
            if let Some(offset) = told.and_then(|place| place.offset()) {
                return start.offset(offset);
            }
            start.add(slot * connection.step_bytes as usize)
        }
    }

    /// Waits for room for a slice, and says how many bytes it will have. Returns its place.
    pub fn wait_to_send(&mut self, bytes: usize) -> Result<*mut u8, Aborted> {
        let connection = self.connection();
        let last = self.step + self.steps;
        wait(self.comm, || has_room(connection.head, last))?;
        self.say_bytes(bytes);
        let place = self.place();
        self.step = last;
        Ok(place)
    }

    /// Tells the proxy how many bytes the present step has.
    fn say_bytes(&self, bytes: usize) {
        if let Some(place) = self.connection().place(&self.comm.layout, self.step) {
            // SAFETY: a word of the proxy's list.
            let length = unsafe { AtomicIsize::from_ptr(place.length()) };
            length.store(bytes as isize, Ordering::Release);
        }
    }

    /// Asks the proxy to receive into the user's memory: it says so by the length 0.
    pub fn ask_in_place(&self) {
        self.say_bytes(0);
    }

    /// The slice is filled.
    pub fn sent(&self) {
        store(self.connection().tail, self.step);
    }

    /// Waits until the proxy has sent the last step: it says so by the length -1. What lies in the
    /// user's memory is the user's again only then.
    pub fn wait_until_sent(&self) -> Result<(), Aborted> {
        let place = self.connection().place(&self.comm.layout, self.step - self.steps);
        let Some(length) = place.map(|place| place.length()) else {
            return Ok(());
        };
        // SAFETY: a word of the proxy's list.
        let length = unsafe { AtomicIsize::from_ptr(length) };
        wait(self.comm, || length.load(Ordering::Acquire) == -1)
    }

    /// Waits for a slice. Returns its place.
    pub fn wait_to_receive(&mut self) -> Result<*mut u8, Aborted> {
        let connection = self.connection();
        let last = self.step + self.steps;
        wait(self.comm, || load(connection.tail) >= last)?;
        let place = self.place();
        self.step = last;
        Ok(place)
    }

    /// The slice is used.
    pub fn received(&self) {
        store(self.connection().head, self.step);
    }

    /// The kernel ends here.
    pub fn end(self) {
        // SAFETY: NCCL's connection, which this thread alone uses now.
        unsafe { (*self.connection).step = self.step };
    }
}

/// A line of 16 bytes of the protocol LL: two words of 8 bytes, each of data in its lower half and
/// a flag in its upper one. A word is written and read at once, so that data and flag belong to
/// each other, whoever writes it: this kernel or a card.
#[repr(C, align(16))]
struct LineOfWords([AtomicU64; 2]);

/// The word of some data and the flag of its step.
fn word_of(data: u32, flag: u32) -> u64 {
    u64::from(flag) << 32 | u64::from(data)
}

/// Sends by the protocol LL, in which each word says whether it is there.
pub fn send_ll(
    comm: &Comm,
    connection: *mut Connection,
    (from, bytes, chunk): (*const u8, usize, usize),
) -> Result<(), Aborted> {
    let mut line = Line::new(comm, connection, 1, 1);
    let mut at = 0;
    loop {
        let part = chunk.min(bytes - at);
        let lines = part.div_ceil(8);
        let head = line.connection().head;
        wait(comm, || has_room(head, line.step + 1))?;
        let step_bytes = comm.buffer_bytes[0] as usize / STEPS as usize;
        // Now and then all of a step is sent, so that old flags go.
        let is_cleaning = line.step & 0x7fff_fff8 == 0x7fff_fff8;
        line.say_bytes(if is_cleaning { step_bytes } else { lines * 16 });
        let (slot, flag) = ((line.step % STEPS) as usize, line.step as u32 + 1);
        for number in 0..lines {
            let mut words = [0u32; 2];
            let left = (part - number * 8).min(8);
            // SAFETY: inside the sender's buffer, and inside a step of the connection's.
            let to = unsafe {
                let source = from.add(at + number * 8);
                source.copy_to_nonoverlapping(words.as_mut_ptr().cast(), left);
                let to = line.connection().buffers[0].add(slot * step_bytes);
                &*to.cast::<LineOfWords>().add(number)
            };
            for (word, data) in to.0.iter().zip(words) {
                word.store(word_of(data, flag), Ordering::Release);
            }
        }
        line.step += 1;
        at += part;
        if at >= bytes {
            line.end();
            return Ok(());
        }
    }
}

/// Receives by the protocol LL.
pub fn receive_ll(
    comm: &Comm,
    connection: *mut Connection,
    (to, bytes, chunk): (*mut u8, usize, usize),
) -> Result<(), Aborted> {
    let mut line = Line::new(comm, connection, 1, 1);
    let mut at = 0;
    loop {
        let part = chunk.min(bytes - at);
        let step_bytes = comm.buffer_bytes[0] as usize / STEPS as usize;
        let (slot, flag) = ((line.step % STEPS) as usize, line.step as u32 + 1);
        for number in 0..part.div_ceil(8) {
            // SAFETY: inside a step of the connection's buffer.
            let from = unsafe {
                let start = line.connection().buffers[0].add(slot * step_bytes);
                &*start.cast::<LineOfWords>().add(number)
            };
            let mut words = [0u32; 2];
            for (word, data) in from.0.iter().zip(&mut words) {
                let found = Cell::new(0);
                wait(comm, || {
                    found.set(word.load(Ordering::Acquire));
                    found.get() >> 32 == u64::from(flag)
                })?;
                *data = found.get() as u32;
            }
            let left = (part - number * 8).min(8);
            // SAFETY: inside the receiver's buffer.
            unsafe {
                words.as_ptr().cast::<u8>().copy_to_nonoverlapping(to.add(at + number * 8), left);
            }
        }
        line.step += 1;
        line.received();
        at += part;
        if at >= bytes {
            line.end();
            return Ok(());
        }
    }
}
