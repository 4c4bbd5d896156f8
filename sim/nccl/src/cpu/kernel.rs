//! NCCL's kernels on the CPU: messages, and the rings of all-reduce, all-gather and reduce-scatter,
//! of 32-bit floats that are added.
//!
//! Each channel is a thread, as it is a block of a GPU; the works of a batch run side by side.
#![allow(unsafe_code)]

mod collective;
mod functions;
mod message;

pub use self::functions::function_of;
use super::layout::{Arguments, Batch, Channel, Comm, Layout, Message};
use super::primitives::Aborted;

/// Kinds of work (`ncclDevWorkType`).
const KIND_MESSAGE: u32 = 0;
const KIND_COLLECTIVE: u32 = 1;

/// What all threads of a kernel share.
#[derive(Clone, Copy)]
struct Kernel<'a> {
    arguments: &'a Arguments,
    words: &'a [u128],
    comm: &'a Comm,
    /// The function of the kernel, where a batch does not say it.
    function: u32,
}

// SAFETY: pointers of NCCL's to memory that its threads share by counters.
unsafe impl Send for Kernel<'_> {}
// SAFETY: as above.
unsafe impl Sync for Kernel<'_> {}

/// Runs a kernel of a function, with its arguments.
pub fn run(words: &[u128], function: Option<u32>, layout: &Layout) {
    // SAFETY: NCCL's arguments, at 16 bytes, whose communicator lives as long as its kernels run.
    let (arguments, comm) = unsafe {
        let arguments = &*words.as_ptr().cast::<Arguments>();
        (arguments, layout.comm(arguments.comm))
    };
    let kernel = Kernel { arguments, words, comm: &comm, function: function.unwrap_or_default() };
    std::thread::scope(|scope| {
        let channels = (0..64).filter(|at| kernel.arguments.channel_mask >> at & 1 == 1);
        for (block, number) in channels.enumerate() {
            scope.spawn(move || {
                let kernel = kernel;
                // An aborted one leaves its buffers as they are.
                let _ = kernel.run_channel(kernel.comm.channel(number), block);
            });
        }
    });
}

impl<'a> Kernel<'a> {
    fn batch(&self, at: usize) -> Batch {
        // SAFETY: the batches follow the arguments, one for each channel and those they name.
        unsafe {
            let first = self.words.as_ptr().cast::<Arguments>().add(1).cast::<Batch>();
            *first.add(at)
        }
    }

    /// Where a work of a batch lies: among the arguments, or in a list of NCCL's.
    fn work(&self, offset: usize) -> *const u8 {
        let (start, offset): (*const u8, _) = match self.arguments.storage {
            0 => (self.words.as_ptr().cast(), offset),
            _ => (self.arguments.work, offset & self.arguments.work_mask as usize),
        };
        start.wrapping_add(offset)
    }

    fn run_channel(&self, channel: Channel, first: usize) -> Result<(), Aborted> {
        let mut at = first;
        loop {
            let batch = self.batch(at);
            let kind = batch.flags >> 15 & 3;
            let function = match self.comm.layout.says_function {
                true => batch.flags >> 28,
                false => self.function,
            };
            let works = (0..64).filter(|bit| batch.offset_bits >> bit & 1 == 1);
            let base = batch.offset_base as usize;
            match kind {
                KIND_MESSAGE => std::thread::scope(|scope| {
                    for bit in works {
                        let at = self.work(base + bit * size_of::<Message>());
                        // SAFETY: NCCL's work of this kind lies there.
                        let work = unsafe { at.cast::<Message>().read_unaligned() };
                        let kernel = *self;
                        scope.spawn(move || {
                            let (kernel, channel, work) = (kernel, channel, work);
                            // An aborted one leaves its buffers as they are.
                            let _ = message::run(kernel.comm, channel, &work);
                        });
                    }
                }),
                KIND_COLLECTIVE => {
                    for bit in works {
                        let layout = &self.comm.layout;
                        let at = self.work(base + bit * layout.collective_bytes());
                        // SAFETY: NCCL's work of this kind lies there.
                        let work = unsafe { layout.collective(at) };
                        collective::run(self.comm, &channel, &work, function)?;
                    }
                }
                other => panic!("a kernel with work of kind {other}, which is not known"),
            }
            match batch.flags & 0x3fff {
                0 => return Ok(()),
                jump => at += jump as usize,
            }
        }
    }
}
