//! The kernel's TCP over a veth pair: one connection, `send` and `recv` of 64 KiB.
//!
//! ```text
//!   idle ─► warm-up ─► window ─► end ─► idle
//!                       │               └── busy cores, mean of before and after: baseline
//!                       └── busy time of the machine less baseline, over bytes received
//! ```

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::null_card::payload::{sum, Pattern};
use host::transport::zero_copy::{self, ZeroCopies};
use host::transport::VethPair;

use super::error::{CpuError, Result};
use super::machine::{busy_seconds, idle_cores};
use super::null::GB;
use crate::timing::cores::thread_time;

/// Bytes of a call.
const CALL_BYTES: usize = 64 << 10;

/// How the kernel's TCP sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Its congestion control.
    pub congestion_control: &'static str,
    /// By reference (`MSG_ZEROCOPY`).
    pub by_reference: bool,
}

/// What ours is compared with: unpaced, as no queue of this machine paces it, nor it itself.
pub const BASELINE: Way = Way { congestion_control: "cubic", by_reference: false };
/// What stands beside it, where the machine has it. BBR paces itself.
pub const OTHERS: [Way; 3] = [
    Way { congestion_control: "bbr", by_reference: false },
    Way { congestion_control: "reno", by_reference: false },
    Way { congestion_control: "cubic", by_reference: true },
];

/// The run that is measured.
pub struct Kernel<'a> {
    /// The two networks.
    pub pair: &'a VethPair,
    /// How it sends.
    pub way: Way,
    /// The application reads each received byte once.
    pub touched: bool,
}

/// CPU seconds for a GB.
#[derive(Clone, Copy, Debug)]
pub struct KernelCost {
    /// Of the machine, less what it was busy without us.
    pub machine: f64,
    /// Of the two threads alone: a lower limit that no other program disturbs.
    pub threads: f64,
    /// Cores that were busy without us.
    pub idle_cores: f64,
    /// Rate of the connection, Gb/s of payload.
    pub gbps: f64,
    /// Share of the sends by reference whose bytes the kernel has copied after all: its own word.
    pub copied: Option<f64>,
}

/// Sends until it is told to stop. Returns the time that this thread had a core, and what became of
/// sends by reference.
fn send(mut stream: TcpStream, way: Way, stop: &AtomicBool) -> Result<(Duration, ZeroCopies)> {
    static PATTERN: OnceLock<Pattern> = OnceLock::new();
    let (pattern, from) = (PATTERN.get_or_init(|| Pattern::new(CALL_BYTES)), thread_time());
    let (mut place, mut copies) = (0, ZeroCopies::default());
    if way.by_reference {
        zero_copy::allow(&stream)?;
    }
    while !stop.load(Ordering::Relaxed) {
        let bytes = pattern.at(place, CALL_BYTES);
        let sent = match way.by_reference {
            true => send_by_reference(&stream, bytes, &mut copies)?,
            false => stream.write(bytes)?,
        };
        place += sent as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    zero_copy::take_notices(&stream, &mut copies)?;
    Ok((thread_time() - from, copies))
}

/// Sends by reference, when the kernel has room to remember it.
fn send_by_reference(
    stream: &TcpStream,
    bytes: &'static [u8],
    copies: &mut ZeroCopies,
) -> Result<usize> {
    zero_copy::take_notices(stream, copies)?;
    let sent = zero_copy::send(stream, bytes)?;
    if sent == 0 {
        std::thread::yield_now();
    }
    Ok(sent)
}

/// The receiving end.
struct Receiver {
    stream: TcpStream,
    buffer: Vec<u8>,
    touched: bool,
    bytes: u64,
    sum: u64,
}

impl Receiver {
    /// Receives once; false at the end of the stream.
    fn receive(&mut self) -> Result<bool> {
        let bytes = self.stream.read(&mut self.buffer)?;
        self.bytes += bytes as u64;
        if self.touched {
            self.sum += sum(&self.buffer[..bytes]);
        }
        Ok(bytes > 0)
    }

    fn receive_for(&mut self, time: Duration) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < time {
            if !self.receive()? {
                return Err(CpuError::Ended);
            }
        }
        Ok(())
    }
}

impl Kernel<'_> {
    /// Measures for so long.
    pub fn measure(&self, window: Duration) -> Result<KernelCost> {
        let before = idle_cores(window / 2)?;
        let (to, from) = self.pair.connect(self.way.congestion_control)?;
        let stop = AtomicBool::new(false);
        let mut receiver = Receiver {
            stream: from,
            buffer: vec![0; CALL_BYTES],
            touched: self.touched,
            bytes: 0,
            sum: 0,
        };
        let (busy, elapsed, bytes, threads, copies) = std::thread::scope(|scope| {
            let sending = scope.spawn(|| send(to, self.way, &stop));
            let mut work = || {
                let thread = thread_time();
                receiver.receive_for(window / 8)?;
                let (busy, started, bytes) = (busy_seconds()?, Instant::now(), receiver.bytes);
                receiver.receive_for(window)?;
                let busy = busy_seconds()? - busy;
                let (elapsed, bytes) = (started.elapsed(), receiver.bytes - bytes);
                stop.store(true, Ordering::Relaxed);
                while receiver.receive()? {}
                Ok((busy, elapsed, bytes, thread_time() - thread))
            };
            let result: Result<_> = work();
            // A sender whose receiver has failed waits for room: it ends with the connection.
            stop.store(true, Ordering::Relaxed);
            let _ = receiver.stream.shutdown(Shutdown::Both);
            let sent = sending.join().map_err(|_| CpuError::SenderPanicked)?;
            let (busy, elapsed, bytes, thread) = result?;
            let (sent, copies) = sent?;
            Ok::<_, CpuError>((busy, elapsed, bytes, thread + sent, copies))
        })?;
        let after = idle_cores(window / 2)?;
        if self.touched {
            let expected = Pattern::new(0).sum(0, receiver.bytes);
            let found = receiver.sum;
            if found != expected {
                return Err(CpuError::WrongSum { found, expected });
            }
        }
        let idle_cores = (before + after) / 2.0;
        let machine = busy - idle_cores * elapsed.as_secs_f64();
        Ok(KernelCost {
            machine: machine / (bytes as f64 / GB),
            threads: threads.as_secs_f64() / (receiver.bytes as f64 / GB),
            idle_cores,
            gbps: bytes as f64 * 8.0 / elapsed.as_secs_f64() / 1e9,
            copied: (copies.done > 0).then(|| copies.copied as f64 / copies.done as f64),
        })
    }
}
