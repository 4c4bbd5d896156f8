//! The rings of a kernel: all-reduce, all-gather, reduce-scatter.
//!
//! ```text
//!   all-reduce of n ranks: send, n - 2 times add and send, add and keep and send, n - 2 times keep
//!   and send, keep; a chunk of each rank in each turn
//! ```
#![allow(unsafe_code)]

use super::functions::{ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER};
use crate::cpu::layout::{Channel, Collective, Comm, GRAIN_BYTES, SIMPLE, STEPS};
use crate::cpu::primitives::{Aborted, Line};

/// Steps of a slice, and slices of a chunk, of all three.
const SLICE_STEPS: u64 = 2;
const CHUNK_SLICES: u64 = 2;
/// The connections of collectives.
const COLLECTIVES: usize = 0;

/// A channel's part of a collective, in elements.
struct Part {
    /// Elements of all channels.
    count: usize,
    offset: usize,
    elements: usize,
    chunk: usize,
}

impl Part {
    fn of(work: &Collective, channel: usize, element_bytes: usize) -> Self {
        let (first, last) = ((work.flags & 0xff) as usize, (work.flags >> 8 & 0xff) as usize);
        let middle = (last - first).saturating_sub(1);
        let grains = |shift: u64| (work.chunk_grains >> shift & 0x1f_ffff) as usize;
        let of_grains = |grains: usize| grains * (GRAIN_BYTES / element_bytes);
        let [of_first, of_middle, of_last] = work.counts;
        let count = of_first + middle * of_middle + of_last;
        let (offset, elements, grains) = if channel == first {
            (0, of_first, grains(0))
        } else if channel == last {
            (of_first + middle * of_middle, of_last, grains(42))
        } else {
            let before = channel - first - 1;
            (of_first + before * of_middle, of_middle, grains(21))
        };
        Self { count, offset, elements, chunk: of_grains(grains) }
    }
}

/// What a turn of the ring does with a chunk.
#[derive(Clone, Copy)]
struct Turn {
    /// Takes what comes, else what is to be sent.
    receives: bool,
    /// Adds the own elements.
    adds: bool,
    /// Where the result is kept.
    keeps: Option<usize>,
    /// Sends the result on.
    sends: bool,
    /// The own elements.
    input: usize,
}

/// A ring of one channel.
struct Ring<'a, T> {
    send: Line<'a>,
    receive: Line<'a>,
    input: *const T,
    output: *mut T,
    step_elements: usize,
    add: fn(T, T) -> T,
}

impl<T: Copy> Ring<'_, T> {
    /// One turn with a chunk of so many elements, in slices.
    fn turn(&mut self, turn: Turn, elements: usize) -> Result<(), Aborted> {
        let slices = CHUNK_SLICES as usize;
        let least = elements.div_ceil(16 * slices) * 16;
        let most = least.max(self.step_elements * SLICE_STEPS as usize / 32);
        let mut at = 0;
        for _ in 0..slices {
            let count = most.min(elements - at);
            let from = match turn.receives {
                true => Some(self.receive.wait_to_receive()?.cast::<T>()),
                false => None,
            };
            let to = match turn.sends {
                true => Some(self.send.wait_to_send(count * size_of::<T>())?.cast::<T>()),
                false => None,
            };
            for element in 0..count {
                // SAFETY: inside NCCL's buffers of a slice, and the caller's of the collective.
                unsafe {
                    let own = self.input.add(turn.input + at + element);
                    let value = match from {
                        Some(from) if turn.adds => (self.add)(*from.add(element), *own),
                        Some(from) => *from.add(element),
                        None => *own,
                    };
                    if let Some(kept) = turn.keeps {
                        self.output.add(kept + at + element).write(value);
                    }
                    if let Some(to) = to {
                        to.add(element).write(value);
                    }
                }
            }
            if turn.receives {
                self.receive.received();
            }
            if turn.sends {
                self.send.sent();
            }
            at += count;
        }
        Ok(())
    }
}

fn ring<'a, T>(
    comm: &'a Comm,
    channel: &Channel,
    work: &Collective,
    add: fn(T, T) -> T,
) -> Ring<'a, T> {
    // SAFETY: NCCL's peers of a channel, one for each rank.
    let (send, receive) = unsafe {
        let peer = |rank: i32| *channel.peers.add(rank as usize);
        let next = &raw mut (*peer(channel.next)).send[COLLECTIVES];
        (next, &raw mut (*peer(channel.previous)).receive[COLLECTIVES])
    };
    Ring {
        send: Line::to_send(comm, send, SLICE_STEPS, CHUNK_SLICES),
        receive: Line::to_receive(comm, receive, SLICE_STEPS, CHUNK_SLICES),
        input: work.send.cast(),
        output: work.receive.cast(),
        step_elements: comm.buffer_bytes[SIMPLE] as usize / STEPS as usize / size_of::<T>(),
        add,
    }
}

/// Runs a channel's part of a collective.
pub fn run(
    comm: &Comm,
    channel: &Channel,
    work: &Collective,
    function: u32,
) -> Result<(), Aborted> {
    let number = channel.number;
    let ranks = comm.ranks as usize;
    match function {
        ALL_REDUCE => {
            let mut ring = ring::<f32>(comm, channel, work, |a, b| a + b);
            let part = Part::of(work, number, size_of::<f32>());
            all_reduce(&mut ring, &part, (channel.index as usize, ranks))?;
            end(ring);
        }
        REDUCE_SCATTER => {
            let mut ring = ring::<f32>(comm, channel, work, |a, b| a + b);
            let part = Part::of(work, number, size_of::<f32>());
            reduce_scatter(&mut ring, &part, &ring_ranks(channel, ranks))?;
            end(ring);
        }
        ALL_GATHER => {
            let mut ring = ring::<u8>(comm, channel, work, |a, _| a);
            let part = Part::of(work, number, 1);
            all_gather(&mut ring, &part, &ring_ranks(channel, ranks))?;
            end(ring);
        }
        other => panic!("a kernel of function {other}, which is not known"),
    }
    Ok(())
}

fn end<T>(ring: Ring<'_, T>) {
    ring.send.end();
    ring.receive.end();
}

/// The ranks in the order of the ring, this one first.
fn ring_ranks(channel: &Channel, ranks: usize) -> Vec<usize> {
    // SAFETY: NCCL's list has a place for each rank.
    (0..ranks).map(|at| unsafe { *channel.ring_ranks.add(at) } as usize).collect()
}

fn all_reduce(
    ring: &mut Ring<'_, f32>,
    part: &Part,
    (index, ranks): (usize, usize),
) -> Result<(), Aborted> {
    let mut chunk = part.chunk;
    let all = ranks * chunk;
    for from in (0..part.elements).step_by(all) {
        let left = part.elements - from;
        if left < all {
            chunk = left.div_ceil(ranks).next_multiple_of(4);
        }
        let place = |number: usize| {
            let of_rank = (index + ranks - number) % ranks;
            let at = of_rank * chunk;
            (part.offset + from + at, chunk.min(left.saturating_sub(at)))
        };
        let (at, count) = place(1);
        let base = Turn { receives: false, adds: false, keeps: None, sends: true, input: at };
        ring.turn(base, count)?;
        for number in 2..ranks {
            let (at, count) = place(number);
            ring.turn(Turn { receives: true, adds: true, input: at, ..base }, count)?;
        }
        let (at, count) = place(0);
        let kept = Turn { receives: true, adds: true, keeps: Some(at), sends: true, input: at };
        ring.turn(kept, count)?;
        for number in 1..ranks - 1 {
            let (at, count) = place(number);
            ring.turn(Turn { adds: false, keeps: Some(at), input: at, ..kept }, count)?;
        }
        let (at, count) = place(ranks - 1);
        ring.turn(Turn { adds: false, sends: false, keeps: Some(at), input: at, ..kept }, count)?;
    }
    Ok(())
}

fn all_gather(ring: &mut Ring<'_, u8>, part: &Part, order: &[usize]) -> Result<(), Aborted> {
    for from in (0..part.elements).step_by(part.chunk.max(1)) {
        let count = part.chunk.min(part.elements - from);
        let input = part.offset + from;
        let kept = |rank: usize| Some(input + rank * part.count);
        let first =
            Turn { receives: false, adds: false, keeps: kept(order[0]), sends: true, input };
        ring.turn(first, count)?;
        for number in 1..order.len() - 1 {
            let keeps = kept(order[order.len() - number]);
            ring.turn(Turn { receives: true, keeps, ..first }, count)?;
        }
        let keeps = kept(order[1]);
        ring.turn(Turn { receives: true, sends: false, keeps, ..first }, count)?;
    }
    Ok(())
}

fn reduce_scatter(ring: &mut Ring<'_, f32>, part: &Part, order: &[usize]) -> Result<(), Aborted> {
    for from in (0..part.elements).step_by(part.chunk.max(1)) {
        let count = part.chunk.min(part.elements - from);
        let own = part.offset + from;
        let input = |rank: usize| own + rank * part.count;
        let last = order.len() - 1;
        let first = Turn {
            receives: false,
            adds: false,
            keeps: None,
            sends: true,
            input: input(order[last]),
        };
        ring.turn(first, count)?;
        for number in 2..order.len() {
            let input = input(order[order.len() - number]);
            ring.turn(Turn { receives: true, adds: true, input, ..first }, count)?;
        }
        let input = input(order[0]);
        let kept = Turn { receives: true, adds: true, keeps: Some(own), sends: false, input };
        ring.turn(kept, count)?;
    }
    Ok(())
}
