//! NCCL's kernels on the CPU: messages, and the rings of all-reduce, all-gather and reduce-scatter,
//! of 32-bit floats that are added.
//!
//! Each channel is a thread, as it is a block of a GPU; the works of a batch run side by side.
#![allow(unsafe_code)]

mod channel;
mod collective;
mod message;

use self::channel::ChannelOf;
use super::layout::{Arguments, Batch, Channel, Collective, Comm, Message};
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
}

// SAFETY: pointers of NCCL's to memory that its threads share by counters.
unsafe impl Send for Kernel<'_> {}
// SAFETY: as above.
unsafe impl Sync for Kernel<'_> {}

/// Runs a kernel with its arguments.
pub fn run(words: &[u128]) {
    // SAFETY: NCCL's arguments, at 16 bytes, whose communicator lives as long as its kernels run.
    let kernel = unsafe {
        let arguments = &*words.as_ptr().cast::<Arguments>();
        Kernel { arguments, words, comm: &*arguments.comm }
    };
    std::thread::scope(|scope| {
        let channels = (0..64).filter(|at| kernel.arguments.channel_mask >> at & 1 == 1);
        for (block, number) in channels.enumerate() {
            scope.spawn(move || {
                let kernel = kernel;
                // SAFETY: the channels follow the communicator.
                let channel = unsafe {
                    let first = kernel.arguments.comm.add(1).cast::<Channel>();
                    ChannelOf { number, channel: &*first.add(number) }
                };
                // An aborted one leaves its buffers as they are.
                let _ = kernel.run_channel(channel, block);
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

    /// A work of a batch: among the arguments, or in a list of NCCL's.
    fn work<T: Copy>(&self, offset: usize) -> T {
        let start: *const u8 = match self.arguments.storage {
            0 => self.words.as_ptr().cast(),
            _ => self.arguments.work,
        };
        let offset = match self.arguments.storage {
            0 => offset,
            _ => offset & self.arguments.work_mask as usize,
        };
        // SAFETY: NCCL's work of this kind lies there.
        unsafe { start.add(offset).cast::<T>().read_unaligned() }
    }

    fn run_channel(&self, channel: ChannelOf<'a>, first: usize) -> Result<(), Aborted> {
        let mut at = first;
        loop {
            let batch = self.batch(at);
            let (kind, function) = (batch.flags >> 15 & 3, batch.flags >> 28);
            let works = (0..64).filter(|bit| batch.offset_bits >> bit & 1 == 1);
            let base = batch.offset_base as usize;
            match kind {
                KIND_MESSAGE => std::thread::scope(|scope| {
                    for bit in works {
                        let work: Message = self.work(base + bit * size_of::<Message>());
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
                        let work: Collective = self.work(base + bit * size_of::<Collective>());
                        collective::run(self.comm, channel, &work, function)?;
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
