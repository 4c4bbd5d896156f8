//! The DMA engines alone at speed, each figure beside its own limit, each byte judged.
//!
//! ```text
//!   jobs without end ──► Requester ── RQ, RC ──► link, root complex, memory
//!                           │                                │
//!                           └─ read data = image             └─ what was written = image
//! ```
//! The image is the expected content of memory. A job writes other bytes in each pass over its
//! place; the bytes of the previous pass are judged when it is issued, and all of memory at the
//! end.

use abi::config::METADATA_BYTES;
use pcie_sim::{PcieConfig, CYCLE_NS};
use sim::dma_rig::{Read, Rig, Write, QUIET_CYCLES};
use sim::harness::stall::Stall;

use super::limits::{
    bytes_of, gigabytes_per_second, job, read_limit, share_beside_reads, write_limit, Kind,
    SPAN_BYTES,
};
use crate::error::MeasureError;
use crate::packets::frames::header_bytes;
use crate::parties::host::Problems;

/// Cycles before the measurement: eight microseconds, several round trips.
const WARM_UP_CYCLES: u64 = 2_000;
/// Jobs that are queued at the write engine at any time.
const WRITES_AHEAD: u64 = 64;
/// Jobs that are outstanding at the read engine at any time.
const READS_AHEAD: u64 = 512;
/// Share of their limit at which writes are offered beside reads: queued writes would be granted
/// before the reads.
const WRITES_BESIDE_READS: f64 = 0.99;
/// Write client and read client that are used, as in [`sim::dma_rig::WRITERS`].
const WRITER: usize = 0;
const READER: usize = 2;
/// Cycles after which every write must be in memory.
const DRAIN_CYCLES_MAX: u64 = 100_000;

/// Jobs of the engines, repeated without end. Reads and writes must not overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineLoad {
    /// Name of the work.
    pub name: String,
    /// Writes, in turn.
    pub writes: Vec<Kind>,
    /// Reads, in turn.
    pub reads: Vec<Kind>,
    /// Configuration of the slot.
    pub pcie: PcieConfig,
}

/// GB/s of payload of one engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// As measured.
    pub measured: f64,
    /// What link, port and buffers allow.
    pub limit: f64,
}

impl Rate {
    /// Measured over limit.
    pub fn share(&self) -> f64 {
        self.measured / self.limit
    }
}

/// What came of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The write engine's rate, if there were writes.
    pub write: Option<Rate>,
    /// The read engine's rate, if there were reads.
    pub read: Option<Rate>,
    /// Simulated time that was measured.
    pub time_ns: u64,
    /// What went wrong; empty when every byte is right and no rule was broken.
    pub problems: Problems,
}

fn kind(bytes: u64, stride: u64, offset: u64) -> Kind {
    Kind { bytes, stride, offset }
}

/// The header entry of TCP over IPv4 with timestamps, in the upper half.
pub const ENTRY: Kind = Kind {
    bytes: (METADATA_BYTES + header_bytes(false, true)) as u64,
    stride: 128,
    offset: SPAN_BYTES / 2,
};

/// Writes of every size that the card makes.
pub fn write_loads() -> Vec<EngineLoad> {
    let work = |name: &str, writes: &[Kind]| EngineLoad {
        name: format!("write {name}"),
        writes: writes.to_vec(),
        reads: Vec::new(),
        pcie: PcieConfig::default(),
    };
    vec![
        work("4 KiB", &[kind(4096, 4096, 0)]),
        work("1,448 B unaligned, and an entry", &[kind(1448, 1448, 33), ENTRY]),
        work("256 B", &[kind(256, 256, 0)]),
        work("256 B, unaligned", &[kind(256, 512, 33)]),
        work("98 B, header entries", &[ENTRY]),
        work("64 B", &[kind(64, 64, 0)]),
    ]
}

/// Reads of several sizes from hosts that cut completions at `completion_bytes`, with as many
/// completion headers.
pub fn read_loads(completion_bytes: u32, completion_headers: u32) -> Vec<EngineLoad> {
    let pcie = PcieConfig {
        completion_payload_bytes: completion_bytes,
        completion_headers,
        ..PcieConfig::default()
    };
    let work = |name: &str, read: Kind| {
        let slot = format!("completions of {completion_bytes} B, {completion_headers} headers");
        EngineLoad {
            name: format!("read {name}, {slot}"),
            writes: Vec::new(),
            reads: vec![read],
            pcie: pcie.clone(),
        }
    };
    vec![
        work("4 KiB", kind(4096, 4096, 0)),
        work("1,448 B unaligned", kind(1448, 1448, 33)),
        work("512 B", kind(512, 512, 0)),
        work("64 B", kind(64, 64, 0)),
    ]
}

/// Both engines at once.
pub fn both_loads() -> Vec<EngineLoad> {
    vec![EngineLoad {
        name: "4 KiB, both at once".to_owned(),
        writes: vec![kind(4096, 4096, SPAN_BYTES / 2)],
        reads: vec![kind(4096, 4096, 0)],
        pcie: PcieConfig::default(),
    }]
}

/// The byte at an offset after a number of passes over its place.
fn pattern(offset: u64, pass: u64) -> u8 {
    let mixed = offset
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(pass.wrapping_mul(0xd1b5_4a32_d192_ed03));
    (mixed >> 56) as u8
}

/// The running engines, and the expected content of memory.
struct Engines<'a> {
    work: &'a EngineLoad,
    rig: Rig,
    base: u64,
    image: Vec<u8>,
    written: u64,
    asked: u64,
    answered: u64,
    problems: Problems,
}

impl<'a> Engines<'a> {
    fn open(work: &'a EngineLoad) -> Result<Self, MeasureError> {
        let mut rig = Rig::new(work.pcie.clone(), Stall::None, Stall::None)?;
        let base = rig.slot.memory(SPAN_BYTES);
        let image: Vec<u8> = (0..SPAN_BYTES).map(|offset| pattern(offset, 0)).collect();
        let filled = rig.slot.pcie.write(base, &image);
        filled.map_err(MeasureError::Memory)?;
        Ok(Self {
            work,
            rig,
            base,
            image,
            written: 0,
            asked: 0,
            answered: 0,
            problems: Problems::default(),
        })
    }

    /// Issues writes until there were `count`.
    fn write_up_to(&mut self, count: u64) {
        while self.written < count {
            let (at, bytes) = job(&self.work.writes, self.written);
            self.judge(at, bytes);
            self.written += 1;
            let pass = self.written;
            let fresh: Vec<u8> = (at..at + bytes).map(|at| pattern(at, pass)).collect();
            self.image[at as usize..(at + bytes) as usize].copy_from_slice(&fresh);
            self.rig.push_write(&Write {
                client: WRITER,
                address: self.base + at,
                bytes: fresh,
                relaxed: true,
            });
        }
    }

    /// Compares a stretch of memory with the image.
    fn judge(&mut self, at: u64, bytes: u64) {
        let landed = self.rig.slot.bytes(self.base + at, bytes as usize);
        let wanted = &self.image[at as usize..(at + bytes) as usize];
        if landed != wanted {
            let wrong = landed.iter().zip(wanted).position(|(a, b)| a != b);
            let wrong = at + wrong.unwrap_or(0) as u64;
            self.problems.add(|| format!("memory: wrong byte at offset {wrong:#x}"));
        }
    }

    /// Issues reads up to a fixed number outstanding.
    fn read_on(&mut self) {
        while self.asked < self.answered + READS_AHEAD {
            let (at, bytes) = job(&self.work.reads, self.asked);
            self.rig.push_read(&Read {
                client: READER,
                address: self.base + at,
                bytes: bytes as usize,
            });
            self.asked += 1;
        }
    }

    /// Takes the read data that have arrived and judges them.
    fn take_answers(&mut self) {
        while let Some(packet) = self.rig.clients.answers[READER].packets.pop_front() {
            let (at, bytes) = job(&self.work.reads, self.answered);
            let wanted = &self.image[at as usize..(at + bytes) as usize];
            if packet.abort || packet.bytes != wanted {
                let (index, abort) = (self.answered, packet.abort);
                self.problems
                    .add(|| format!("answer {index} at {at:#x}: aborted {abort}, or wrong bytes"));
            }
            self.answered += 1;
        }
    }

    /// Write jobs that the engine has taken.
    fn writes_taken(&self) -> u64 {
        self.rig.clients.jobs[WRITER].handshakes()
    }

    /// Payload bytes written and read so far.
    fn bytes(&self) -> [u64; 2] {
        let of = |kinds: &[Kind], count| match kinds {
            [] => 0,
            kinds => bytes_of(kinds, count),
        };
        [of(&self.work.writes, self.writes_taken()), of(&self.work.reads, self.answered)]
    }

    /// Runs for some cycles; `writes` is how many jobs there have to be by a cycle.
    fn run(&mut self, cycles: u64, writes: impl Fn(&Self) -> u64) {
        for _ in 0..cycles {
            if !self.work.writes.is_empty() {
                self.write_up_to(writes(self));
            }
            if !self.work.reads.is_empty() {
                self.read_on();
            }
            self.rig.cycle();
            self.take_answers();
        }
    }

    /// Waits until every write is in memory and judges all of it.
    fn finish(&mut self) -> Result<(), MeasureError> {
        let end = self.rig.bench.now() + DRAIN_CYCLES_MAX;
        let mut quiet = 0;
        while quiet < QUIET_CYCLES || self.answered < self.asked {
            if self.rig.bench.now() > end {
                return Err(MeasureError::Stuck("the DMA engines"));
            }
            self.rig.cycle();
            self.take_answers();
            quiet = if self.rig.is_quiet() { quiet + 1 } else { 0 };
        }
        self.judge(0, SPAN_BYTES);
        for violation in self.rig.violations() {
            self.problems.add(|| violation);
        }
        Ok(())
    }
}

/// Measures one kind of work for `time_ns` of simulated time.
pub fn measure(work: &EngineLoad, time_ns: u64) -> Result<Outcome, MeasureError> {
    let mut engines = Engines::open(work)?;
    let read_limit = (!work.reads.is_empty()).then(|| read_limit(&work.reads, &work.pcie));
    let share = read_limit.map_or(1.0, |limit| share_beside_reads(limit, &work.pcie));
    let write_limit =
        (!work.writes.is_empty()).then(|| write_limit(&work.writes, &work.pcie, share));
    let pace = match (write_limit, read_limit) {
        (Some(limit), Some(_)) => {
            let mean =
                bytes_of(&work.writes, work.writes.len() as u64) as f64 / work.writes.len() as f64;
            Some(WRITES_BESIDE_READS * limit / mean)
        }
        _ => None,
    };
    let started = engines.rig.bench.now();
    let writes = |engines: &Engines<'_>| match pace {
        Some(jobs_per_cycle) => {
            ((engines.rig.bench.now() - started) as f64 * jobs_per_cycle) as u64
        }
        None => engines.writes_taken() + WRITES_AHEAD,
    };
    engines.run(WARM_UP_CYCLES, writes);
    let before = engines.bytes();
    let cycles = time_ns.div_ceil(CYCLE_NS);
    engines.run(cycles, writes);
    let after = engines.bytes();
    engines.finish()?;
    let rate = |direction: usize, limit: Option<f64>| {
        let measured = (after[direction] - before[direction]) as f64 / cycles as f64;
        limit.map(|limit| Rate {
            measured: gigabytes_per_second(measured),
            limit: gigabytes_per_second(limit),
        })
    };
    Ok(Outcome {
        write: rate(0, write_limit),
        read: rate(1, read_limit),
        time_ns: cycles * CYCLE_NS,
        problems: engines.problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> EngineLoad {
        both_loads().remove(0)
    }

    fn run_with(fault: impl Fn(&mut Engines<'_>)) -> Problems {
        let work = small();
        let mut engines = Engines::open(&work).expect("it builds");
        engines.run(500, |_| 4);
        fault(&mut engines);
        engines.run(1500, |_| 4);
        engines.finish().expect("it ends");
        engines.problems
    }

    #[test]
    fn byte_where_unwritten_is_noticed() {
        assert_eq!(run_with(|_| {}), Problems::default());
        let problems = run_with(|engines| {
            let at = engines.base + SPAN_BYTES - 7;
            let wrong = !engines.image[SPAN_BYTES as usize - 7];
            engines.rig.slot.pcie.write(at, &[wrong]).expect("mapped");
        });
        let expected = format!("wrong byte at offset {:#x}", SPAN_BYTES - 7);
        assert!(problems.first[0].contains(&expected), "{problems:?}");
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        let problems = run_with(|engines| {
            let (at, _) = job(&engines.work.reads, engines.answered + 60);
            let wrong = !engines.image[at as usize];
            let address = engines.base + at;
            engines.rig.slot.pcie.write(address, &[wrong]).expect("mapped");
        });
        assert!(problems.first[0].contains("answer "), "{problems:?}");
    }
}
