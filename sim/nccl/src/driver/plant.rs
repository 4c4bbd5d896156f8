//! Faults that are planted between the driver and a plugin: the driver has to find each.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_int;
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nccl::abi::HANDLE_BYTES;

use crate::net::{Buffer, Code, Net, Pointer, Properties};

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// A receive is done before its bytes are there.
    EarlyReceive,
    /// Messages go to the buffer of another tag.
    TagIgnored,
    /// The length of a receive is what was posted.
    LengthIsMaximum,
    /// A byte is written behind a message.
    ByteTooFar,
    /// A message without bytes is forgotten.
    EmptyLost,
    /// The bytes of two receives in flight are exchanged.
    WrongSlot,
    /// A send is done before its bytes are gone.
    EarlySend,
    /// A receive whose request held a stale pointer is taken for one whose completion is optional.
    StaleIsOptional,
    /// One bit of a long message is wrong.
    BitFlipped,
    /// The lengths of a group are in the wrong order.
    LengthsShifted,
}

/// The request of a send that was not made.
const NOTHING: Pointer = usize::MAX;

/// A receive in flight.
struct Receive {
    buffers: Vec<Buffer>,
    was_stale: bool,
}

/// A plugin with a fault.
pub struct Planted {
    net: Box<dyn Net>,
    fault: Fault,
    receives: Mutex<HashMap<Pointer, Receive>>,
}

impl Planted {
    /// Plants a fault before a plugin.
    pub fn new(net: Box<dyn Net>, fault: Fault) -> Self {
        Self { net, fault, receives: Mutex::default() }
    }

    fn receives(&self) -> MutexGuard<'_, HashMap<Pointer, Receive>> {
        self.receives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A receive is done: what the fault makes of it.
    fn spoil(&self, done: &Receive, others: &HashMap<Pointer, Receive>, bytes: &mut [c_int]) {
        let group = &mut bytes[..done.buffers.len()];
        match self.fault {
            Fault::LengthIsMaximum => {
                let maxima = done.buffers.iter().map(|buffer| buffer.bytes as c_int);
                group.iter_mut().zip(maxima).for_each(|(bytes, most)| *bytes = most);
            }
            Fault::LengthsShifted => group.rotate_right(1),
            Fault::ByteTooFar => flip(done.buffers[0].data + group[0] as usize),
            Fault::BitFlipped if group[0] > 1000 => flip(done.buffers[0].data + 777),
            Fault::WrongSlot => {
                if let Some(other) = others.values().next() {
                    let bytes = done.buffers[0].bytes.min(other.buffers[0].bytes);
                    exchange(done.buffers[0].data, other.buffers[0].data, bytes);
                }
            }
            _ => {}
        }
    }
}

/// Changes a byte.
fn flip(at: Pointer) {
    let at = with_exposed_provenance_mut::<u8>(at);
    // SAFETY: inside the driver's buffer or its canary, which nobody has references to.
    unsafe { at.write(!at.read()) };
}

fn exchange(one: Pointer, other: Pointer, bytes: usize) {
    let pointer = with_exposed_provenance_mut::<u8>;
    for at in 0..bytes {
        // SAFETY: both are buffers of the driver of that length.
        unsafe { pointer(one + at).swap(pointer(other + at)) };
    }
}

impl Net for Planted {
    fn init(&self) -> Code {
        self.net.init()
    }

    fn devices(&self) -> (Code, c_int) {
        self.net.devices()
    }

    fn properties(&self, device: c_int) -> (Code, Properties) {
        self.net.properties(device)
    }

    fn listen(&self, device: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer) {
        self.net.listen(device, handle)
    }

    fn connect(&self, device: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer) {
        self.net.connect(device, handle)
    }

    fn accept(&self, listening: Pointer) -> (Code, Pointer) {
        self.net.accept(listening)
    }

    fn reg_mr(&self, comm: Pointer, data: Pointer, bytes: usize, kind: c_int) -> (Code, Pointer) {
        self.net.reg_mr(comm, data, bytes, kind)
    }

    fn reg_mr_dma_buf(
        &self,
        comm: Pointer,
        data: Pointer,
        bytes: usize,
        offset: u64,
        descriptor: c_int,
    ) -> (Code, Pointer) {
        self.net.reg_mr_dma_buf(comm, data, bytes, offset, descriptor)
    }

    fn dereg_mr(&self, comm: Pointer, handle: Pointer) -> Code {
        self.net.dereg_mr(comm, handle)
    }

    fn isend(&self, comm: Pointer, from: Buffer) -> (Code, Pointer) {
        match self.fault {
            Fault::EmptyLost if from.bytes == 0 => (0, NOTHING),
            _ => self.net.isend(comm, from),
        }
    }

    fn irecv(&self, comm: Pointer, into: &[Buffer], request: Pointer) -> (Code, Pointer) {
        let mut buffers = into.to_vec();
        if self.fault == Fault::TagIgnored {
            let tags: Vec<c_int> = into.iter().rev().map(|buffer| buffer.tag).collect();
            buffers.iter_mut().zip(tags).for_each(|(buffer, tag)| buffer.tag = tag);
        }
        let (code, given) = self.net.irecv(comm, &buffers, request);
        if given != 0 {
            let receive = Receive { buffers, was_stale: request > 1 };
            self.receives().insert(given, receive);
        }
        (code, given)
    }

    fn iflush(&self, comm: Pointer, of: &[Buffer]) -> (Code, Pointer) {
        self.net.iflush(comm, of)
    }

    fn test(&self, request: Pointer, bytes: &mut [c_int]) -> (Code, c_int) {
        if request == NOTHING {
            return (0, 1);
        }
        let mut receives = self.receives();
        let Some(receive) = receives.get(&request) else {
            let (code, done) = self.net.test(request, bytes);
            return (code, if self.fault == Fault::EarlySend { 1 } else { done });
        };
        let is_early = self.fault == Fault::EarlyReceive
            || self.fault == Fault::StaleIsOptional && receive.was_stale;
        let (code, done) = self.net.test(request, bytes);
        if is_early && done == 0 {
            let maxima = receive.buffers.iter().map(|buffer| buffer.bytes as c_int);
            bytes.iter_mut().zip(maxima).for_each(|(bytes, most)| *bytes = most);
            return (code, 1);
        }
        if done == 1 {
            if let Some(done) = receives.remove(&request) {
                self.spoil(&done, &receives, bytes);
            }
        }
        (code, done)
    }

    fn consumed(&self, comm: Pointer, count: c_int, request: Pointer) -> Code {
        self.net.consumed(comm, count, request)
    }

    fn close_send(&self, comm: Pointer) -> Code {
        self.net.close_send(comm)
    }

    fn close_recv(&self, comm: Pointer) -> Code {
        self.net.close_recv(comm)
    }

    fn close_listen(&self, listening: Pointer) -> Code {
        self.net.close_listen(listening)
    }

    fn finalize(&self) -> Code {
        self.net.finalize()
    }
}
