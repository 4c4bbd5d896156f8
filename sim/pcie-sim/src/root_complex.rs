//! The root complex: posted writes in order, reads with latency and splitting, interrupts, faults.
//!
//! ```text
//!   arrive --> IOMMU --> DRAM path (in order: writes, interrupts, register results) --> visible
//!                   \--> GPU path n (own latency)  -----------------------------------> visible
//!                   \--> reads (after the writes of their path) --> completions --> link
//!          refused --> fault log (writes), unsupported request (reads)
//! ```
//!
//! Invariants:
//! 1. on one path writes become visible in order of arrival, except that a relaxed-ordering write
//!    to DRAM may pass; there is no order between paths;
//! 2. a read sees every write of its path that arrived before it: a read of GPU memory that has
//!    completed proves all earlier writes to that memory visible;
//! 3. completions of one read arrive in order, cut at the read completion boundary; those of
//!    different reads in any order.
//!
//! Source: PCI Express Base 3.0, 2.3.1.1 (splitting), 2.4.1 (ordering).

use crate::config::{cycles, PcieConfig};
use crate::descriptor::status;
use crate::fault::{Fault, FaultRecord, Injector};
use crate::iommu::{Iommu, Refusal};
use crate::memory::{Memories, MemoryId};
use crate::mmio::CompletedRead;
use crate::random::Random;
use crate::tlp::{Completion, Request, RequestKind};
use std::collections::VecDeque;

/// An interrupt message that the host has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Address that was written.
    pub address: u64,
    /// The dword that was written.
    pub data: u32,
    /// When it was delivered.
    pub cycle: u64,
}

/// What becomes visible at the end of a posted path.
#[derive(Clone, Debug)]
enum Effect {
    Write { memory: MemoryId, offset: u64, request: Request },
    Interrupt { address: u64, data: u32 },
    Result(CompletedRead),
}

/// One posted path, a FIFO: an entry becomes visible at its time, after all before it.
#[derive(Clone, Debug)]
struct Path {
    queue: VecDeque<(u64, u64, Effect)>,
    next_serial: u64,
    latency_cycles: u64,
}

impl Path {
    fn new(latency_cycles: u64) -> Self {
        Self { queue: VecDeque::new(), next_serial: 0, latency_cycles }
    }

    fn push(&mut self, now: u64, jitter: u64, effect: Effect) {
        let at = now + self.latency_cycles + jitter;
        self.queue.push_back((at, self.next_serial, effect));
        self.next_serial += 1;
    }

    fn pop(&mut self, now: u64) -> Option<Effect> {
        match self.queue.front() {
            Some((at, ..)) if *at <= now => self.queue.pop_front().map(|(_, _, effect)| effect),
            _ => None,
        }
    }

    /// Everything that was pushed before `serial` is visible.
    fn has_committed(&self, serial: u64) -> bool {
        self.queue.front().is_none_or(|(_, front, _)| *front >= serial)
    }
}

/// A read that is being completed.
#[derive(Clone, Debug)]
struct ActiveRead {
    request: Request,
    target: Result<(MemoryId, u64), Refusal>,
    fault: Option<Fault>,
    ready_at: u64,
    path: usize,
    /// Writes of the path that must be visible first.
    barrier: u64,
    /// Next byte and bytes left.
    next: u64,
    remaining: u32,
}

/// The root complex.
#[derive(Debug)]
pub(crate) struct RootComplex {
    pub iommu: Iommu,
    pub memories: Memories,
    pub injector: Injector,
    pub fault_log: Vec<FaultRecord>,
    pub interrupts: VecDeque<Interrupt>,
    /// Paths to DRAM (0) and to the GPUs.
    paths: Vec<Path>,
    reads: VecDeque<ActiveRead>,
    read_cycles: u64,
    gpu_extra_cycles: u64,
    jitter_cycles: u64,
    random: Random,
    pub interrupt_count: u64,
    pub refusal_count: u64,
}

impl RootComplex {
    /// Empty queues over `memories`.
    pub fn new(config: &PcieConfig, memories: Memories) -> Self {
        let gpu = |_: &_| Path::new(cycles(config.gpu_write_ns));
        let mut paths = vec![Path::new(cycles(config.dram_write_ns))];
        paths.extend(config.gpus.iter().map(gpu));
        Self {
            iommu: Iommu::default(),
            memories,
            injector: Injector::default(),
            fault_log: Vec::new(),
            interrupts: VecDeque::new(),
            paths,
            reads: VecDeque::new(),
            read_cycles: cycles(config.latency_ns - 2 * config.link.latency_ns),
            gpu_extra_cycles: cycles(config.gpu_read_extra_ns),
            jitter_cycles: cycles(config.jitter_ns),
            random: Random::new(config.seed ^ 0x726f_6f74),
            interrupt_count: 0,
            refusal_count: 0,
        }
    }

    /// A request has arrived.
    pub fn receive(&mut self, now: u64, request: Request, config: &PcieConfig) {
        match request.kind {
            RequestKind::Write => self.receive_write(now, request, config),
            RequestKind::Read => self.receive_read(now, request),
        }
    }

    /// The result of a register read has arrived: it follows the writes before it.
    pub fn receive_result(&mut self, now: u64, done: CompletedRead) {
        self.post(now, 0, Effect::Result(done));
    }

    fn post(&mut self, now: u64, path: usize, effect: Effect) {
        let jitter = self.jitter();
        self.paths[path].push(now, jitter, effect);
    }

    fn jitter(&mut self) -> u64 {
        self.random.below(self.jitter_cycles + 1)
    }

    fn receive_write(&mut self, now: u64, request: Request, config: &PcieConfig) {
        let inside = request.address.wrapping_sub(config.interrupt_base);
        if inside < config.interrupt_bytes {
            if request.dword_count != 1 || request.first_be != 0xf {
                self.refuse(now, &request, Refusal::MalformedInterrupt);
                return;
            }
            let (address, data) = (request.address, request.payload[0]);
            self.post(now, 0, Effect::Interrupt { address, data });
            return;
        }
        match self.translate(&request) {
            Err(refusal) => self.refuse(now, &request, refusal),
            Ok((memory, offset)) => {
                let passes = path_of(memory) == 0
                    && request.is_relaxed()
                    && self.random.chance(config.relaxed_pass_permille);
                if passes {
                    self.memories.commit(memory, offset, &request);
                } else {
                    let effect = Effect::Write { memory, offset, request };
                    self.post(now, path_of(memory), effect);
                }
            }
        }
    }

    fn receive_read(&mut self, now: u64, request: Request) {
        let bytes = request.address..request.address + u64::from(request.dword_count) * 4;
        let fault = self.injector.strike(bytes, &mut self.random);
        let target = self.translate(&request);
        if let Err(refusal) = target {
            self.refuse(now, &request, refusal);
        }
        let path = target.map_or(0, |(memory, _)| path_of(memory));
        let jitter = self.jitter();
        let late = if let Some(Fault::Late(ns)) = fault { cycles(ns) } else { 0 };
        let extra = if path == 0 { 0 } else { self.gpu_extra_cycles };
        self.reads.push_back(ActiveRead {
            target,
            fault,
            ready_at: now + self.read_cycles + jitter + late + extra,
            path,
            barrier: self.paths[path].next_serial,
            next: request.first_byte(),
            remaining: request.byte_count(),
            request,
        });
    }

    fn translate(&self, request: &Request) -> Result<(MemoryId, u64), Refusal> {
        let bytes = u64::from(request.dword_count) * 4;
        let write = request.kind == RequestKind::Write;
        let (memory, offset) = self.iommu.translate(request.address, bytes, write)?;
        match self.memories.reachable(memory, offset, bytes) {
            Ok(()) => Ok((memory, offset)),
            Err(_) => Err(Refusal::BeyondBar),
        }
    }

    /// Logs an access that was refused.
    pub fn refuse(&mut self, now: u64, request: &Request, refusal: Refusal) {
        self.refusal_count += 1;
        self.fault_log.push(FaultRecord {
            cycle: now,
            bus_address: request.address,
            bytes: u32::from(request.dword_count) * 4,
            write: request.kind == RequestKind::Write,
            refusal,
        });
    }

    /// Makes visible what is due; results of register reads go to `sink`.
    pub fn commit(&mut self, now: u64, mut sink: impl FnMut(CompletedRead)) {
        for path in &mut self.paths {
            while let Some(effect) = path.pop(now) {
                match effect {
                    Effect::Write { memory, offset, request } => {
                        self.memories.commit(memory, offset, &request);
                    }
                    Effect::Interrupt { address, data } => {
                        self.interrupts.push_back(Interrupt { address, data, cycle: now });
                        self.interrupt_count += 1;
                    }
                    Effect::Result(done) => sink(done),
                }
            }
        }
    }

    /// Makes every DRAM write that has been translated visible, as an invalidation that drains.
    pub fn drain(&mut self) {
        for (at, ..) in &mut self.paths[0].queue {
            *at = 0;
        }
    }

    /// The next completion for the link, if one is ready.
    pub fn completion(&mut self, now: u64, config: &PcieConfig) -> Option<Completion> {
        loop {
            let index = self.choose(now, config)?;
            let read = &mut self.reads[index];
            let completion = read.next_completion(&self.memories, &mut self.random, config);
            let finished = completion.is_none() || read.remaining == 0;
            if finished {
                self.reads.remove(index);
            }
            if completion.is_some() {
                return completion;
            }
        }
    }

    /// The oldest ready read; now and then another ready one.
    fn choose(&mut self, now: u64, config: &PcieConfig) -> Option<usize> {
        let paths = &self.paths;
        let ready = |r: &ActiveRead| r.ready_at <= now && paths[r.path].has_committed(r.barrier);
        let first = self.reads.iter().position(ready)?;
        if !self.random.chance(config.reorder_permille) {
            return Some(first);
        }
        let count = self.reads.iter().filter(|r| ready(r)).count() as u64;
        let pick = self.random.below(count) as usize;
        self.reads.iter().enumerate().filter(|(_, r)| ready(r)).nth(pick).map(|(i, _)| i)
    }

    /// Whether no write is still invisible and no read incomplete.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.paths.iter().all(|path| path.queue.is_empty())
    }

    /// Drops every read, as when the link to the requester goes down.
    pub fn cancel_reads(&mut self) {
        self.reads.clear();
    }
}

/// Bit 0 of the attributes: no snoop.
const NO_SNOOP: u8 = 1;

fn path_of(memory: MemoryId) -> usize {
    match memory {
        MemoryId::Dram | MemoryId::Pages(_) => 0,
        MemoryId::Gpu(gpu) => gpu + 1,
    }
}

impl ActiveRead {
    /// Cuts the next completion; `None` when none will come any more.
    fn next_completion(
        &mut self,
        memories: &Memories,
        random: &mut Random,
        config: &PcieConfig,
    ) -> Option<Completion> {
        let refusal = match (self.fault, self.target) {
            (Some(Fault::CompleterAbort), _) => Some(status::COMPLETER_ABORT),
            (Some(Fault::UnsupportedRequest), _) | (_, Err(_)) => Some(status::UNSUPPORTED_REQUEST),
            _ => None,
        };
        if let Some(status) = refusal {
            self.remaining = 0;
            return Some(self.header(status, 4, Vec::new(), config));
        }
        let Ok((memory, offset)) = self.target else { return None };
        let here = self.cut(random, config);
        if self.fault == Some(Fault::Lost) && here == self.remaining {
            return None;
        }
        let aligned = self.next & !3;
        let dwords = ((self.next - aligned) as u32 + here).div_ceil(4);
        let at = offset + (aligned - self.request.address);
        let mut payload = memories.dwords(memory, at, dwords as usize);
        if self.fault == Some(Fault::OtherAttributes) {
            self.fault = None;
            payload.iter_mut().for_each(|word| *word = !*word);
            let mut other = self.header(status::SUCCESS, self.remaining as u16, payload, config);
            other.attributes ^= NO_SNOOP;
            return Some(other);
        }
        let mut completion = self.header(status::SUCCESS, self.remaining as u16, payload, config);
        self.next += u64::from(here);
        self.remaining -= here;
        self.apply_fault(&mut completion);
        Some(completion)
    }

    /// Length in bytes of the next completion: to the end, or to a multiple of the completion
    /// size, or (by chance) of the read completion boundary.
    fn cut(&self, random: &mut Random, config: &PcieConfig) -> u32 {
        let early = random.chance(config.random_split_permille);
        let size = if early { config.rcb_bytes } else { config.completion_payload_bytes };
        let to_boundary = size - (self.next % u64::from(size)) as u32;
        to_boundary.min(self.remaining)
    }

    fn header(
        &self,
        status: u8,
        byte_count: u16,
        payload: Vec<u32>,
        config: &PcieConfig,
    ) -> Completion {
        Completion {
            requester_id: self.request.requester_id,
            completer_id: config.host_id,
            tag: self.request.tag,
            status,
            lower_address: (self.next & 0x7f) as u8,
            byte_count,
            poisoned: false,
            traffic_class: self.request.traffic_class,
            attributes: self.request.attributes,
            payload,
            epoch: self.request.epoch,
        }
    }

    fn apply_fault(&mut self, completion: &mut Completion) {
        match self.fault {
            Some(Fault::Poison) => {
                completion.poisoned = true;
                completion.payload.iter_mut().for_each(|word| *word = !*word);
            }
            Some(Fault::WrongAddress) => {
                completion.lower_address ^= 0x40;
                self.remaining = 0;
            }
            Some(Fault::WrongLength) => {
                completion.byte_count += 64;
                self.remaining = 0;
            }
            _ => {}
        }
    }
}
