//! Sends and receives of a kernel.
#![allow(unsafe_code)]

use crate::cpu::layout::{Channel, Comm, Connection, Message};
use crate::cpu::primitives::{receive_ll, send_ll, Aborted, Line};

/// Most bytes of a request into registered memory (`NCCL_MAX_NET_SIZE`).
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// A channel's part is a multiple of this.
const PART_BYTES: usize = 4096;
/// The connections of messages; those of collectives are 0.
const MESSAGES: usize = 1;

/// A length in 8 bits: three of mantissa (`u32fp8Decode`).
fn length_of(code: u8) -> usize {
    let exponent = code >> 3;
    let mantissa = usize::from(code & 7 | if exponent > 0 { 8 } else { 0 });
    mantissa << exponent.saturating_sub(1)
}

/// The bytes of one of several parts.
fn part_of(parts: u8, part: u8, bytes: usize) -> (usize, usize) {
    let most = bytes.div_ceil(parts.into()).next_multiple_of(PART_BYTES);
    let from = (usize::from(part) * most).min(bytes);
    (from, ((usize::from(part) + 1) * most).min(bytes) - from)
}

/// Both directions of a message's work, side by side.
pub fn run(comm: &Comm, channel: Channel, work: &Message) -> Result<(), Aborted> {
    let part = (channel.number as u8).wrapping_sub(work.channel_base) & (work.channels - 1);
    let (sends, receives) = (part < work.send_channels, part < work.receive_channels);
    if work.send_rank == comm.rank {
        if sends {
            let (from, bytes) = part_of(work.send_channels, part, work.send_bytes);
            // SAFETY: the caller's buffers of NCCL.
            unsafe { work.send.add(from).copy_to(work.receive.add(from), bytes) };
        }
        return Ok(());
    }
    let shared = (Shared(comm), *work);
    std::thread::scope(|scope| {
        let sending = sends.then(|| {
            scope.spawn(move || {
                let (shared, channel) = (shared, channel);
                send(shared.0 .0, channel, &shared.1, part)
            })
        });
        let received = match receives {
            true => receive(comm, channel, work, part),
            false => Ok(()),
        };
        let sent = sending.map_or(Ok(()), |thread| thread.join().unwrap_or(Err(Aborted)));
        received.and(sent)
    })
}

/// A communicator as a thread is given it.
#[derive(Clone, Copy)]
struct Shared<'a>(&'a Comm);

// SAFETY: what it points to is shared by counters.
unsafe impl Send for Shared<'_> {}

fn connection(channel: Channel, rank: i32, sends: bool) -> *mut Connection {
    // SAFETY: NCCL's peers of a channel, one for each rank.
    unsafe {
        let peer = *channel.peers.add(rank as usize);
        match sends {
            true => &raw mut (*peer).send[MESSAGES],
            false => &raw mut (*peer).receive[MESSAGES],
        }
    }
}

fn send(comm: &Comm, channel: Channel, work: &Message, part: u8) -> Result<(), Aborted> {
    let (from, bytes) = part_of(work.send_channels, part, work.send_bytes);
    let connection = connection(channel, work.send_rank, true);
    // SAFETY: inside the caller's buffer.
    let from = unsafe { work.send.add(from) };
    if work.flags & 1 == 1 {
        return send_ll(comm, connection, (from, bytes, length_of(work.send_chunk)));
    }
    let is_registered = work.flags >> 2 & 1 == 1;
    let chunk = if is_registered { REGISTERED_BYTES_MAX } else { length_of(work.send_chunk) };
    let mut line = Line::to_send(comm, connection, 1, 1);
    let mut at = 0;
    loop {
        let part = chunk.min(bytes - at);
        let place = line.wait_to_send(part)?;
        if !is_registered {
            // SAFETY: inside the caller's buffer, and a step of the connection's.
            unsafe { from.add(at).copy_to_nonoverlapping(place, part) };
        }
        line.sent();
        at += part;
        if at >= bytes {
            if is_registered {
                line.wait_until_sent()?;
            }
            line.end();
            return Ok(());
        }
    }
}

fn receive(comm: &Comm, channel: Channel, work: &Message, part: u8) -> Result<(), Aborted> {
    let (from, bytes) = part_of(work.receive_channels, part, work.receive_bytes);
    let connection = connection(channel, work.receive_rank, false);
    // SAFETY: inside the caller's buffer.
    let to = unsafe { work.receive.add(from) };
    if work.flags >> 1 & 1 == 1 {
        return receive_ll(comm, connection, (to, bytes, length_of(work.receive_chunk)));
    }
    let is_registered = work.flags >> 3 & 1 == 1;
    let chunk = if is_registered { REGISTERED_BYTES_MAX } else { length_of(work.receive_chunk) };
    let mut line = Line::to_receive(comm, connection, 1, 1);
    if is_registered {
        line.ask_in_place();
    }
    let mut at = 0;
    loop {
        let part = chunk.min(bytes - at);
        let place = line.wait_to_receive()?;
        if !is_registered {
            // SAFETY: inside the caller's buffer, and a step of the connection's.
            unsafe { place.copy_to_nonoverlapping(to.add(at), part) };
        }
        line.received();
        at += part;
        if at >= bytes {
            line.end();
            return Ok(());
        }
    }
}
