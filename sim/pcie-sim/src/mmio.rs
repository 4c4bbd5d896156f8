//! Register accesses of the host: queueing, tags, and the strict check of the card's completions.
//!
//! ```text
//!   write / read -> waiting -> (credits, tag) -> CQ -> card -> CC -> check -> Done -> result
//! ```
//!
//! Invariants:
//! 1. accesses leave in order; a read waits while all tags are used;
//! 2. a result reaches the host in order with the card's writes (it travels the posted path);
//! 3. every delivered read ends: by completions, or by the host's timeout.
//!
//! Source: PCI Express Base 3.0, 2.3.1 (completion rules).

use crate::config::{cycles, Bar, Credits, PcieConfig};
use crate::descriptor::{cc, cq, request_type, status};
use crate::ports::cq::{AcceptedRequest, CqPacket};
use crate::tlp::{Request, RequestKind};
use crate::violation::{Log, Stream, Violation};
use std::collections::{HashMap, VecDeque};
use thiserror::Error;

/// Tags that the root complex uses for register reads.
const TAGS: usize = 32;
/// Longest access in bytes: one write-combined line.
const ACCESS_BYTES_MAX: usize = 64;

/// A register read in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmioRead(u64);

/// Why a register access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MmioError {
    /// No BAR of the card holds the whole range.
    #[error("{bytes} bytes at {address:#x} lie in no bar")]
    NoBar {
        /// First byte.
        address: u64,
        /// Length.
        bytes: usize,
    },
    /// Longer than a line, empty, or across a line.
    #[error("an access of {0} bytes is empty, exceeds a line or crosses one")]
    Length(usize),
    /// The card, or the hard block with memory decoding off, completed it as unsupported request.
    #[error("unsupported request")]
    UnsupportedRequest,
    /// The card completed it as completer abort.
    #[error("completer abort")]
    CompleterAbort,
    /// The card marked the data as wrong.
    #[error("poisoned completion")]
    Poisoned,
    /// No completion in time.
    #[error("no completion in time")]
    Timeout,
    /// The link went down before the completion.
    #[error("link down")]
    LinkDown,
}

/// Result of a register read.
pub type MmioResult = Result<Vec<u8>, MmioError>;

/// A read that has ended and is on its way to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompletedRead {
    read: MmioRead,
    tag: u8,
    result: MmioResult,
}

#[derive(Clone, Debug)]
struct Access {
    request: Request,
    bar: Bar,
    read: Option<MmioRead>,
}

#[derive(Clone, Debug)]
struct Outstanding {
    read: MmioRead,
    request: Request,
    next: u64,
    remaining: u32,
    bytes: Vec<u8>,
    delivered: bool,
    deadline: u64,
    /// The card has sent the last completion; the result travels.
    ended: bool,
    /// The read timed out before the hard block could deliver it; the tag stays in use.
    abandoned: bool,
}

/// All register accesses.
#[derive(Clone, Debug)]
pub(crate) struct Mmio {
    waiting: VecDeque<Access>,
    outstanding: [Option<Outstanding>; TAGS],
    outstanding_count: usize,
    results: HashMap<MmioRead, MmioResult>,
    next_read: u64,
    limit: Credits,
    used: Credits,
    timeout_cycles: u64,
    host_id: u16,
}

impl Mmio {
    /// No accesses.
    pub fn new(config: &PcieConfig) -> Self {
        Self {
            waiting: VecDeque::new(),
            outstanding: std::array::from_fn(|_| None),
            outstanding_count: 0,
            results: HashMap::new(),
            next_read: 0,
            limit: config.card_credits,
            used: Credits { posted_headers: 0, posted_data: 0, nonposted_headers: 0 },
            timeout_cycles: cycles(config.mmio_timeout_ns),
            host_id: config.host_id,
        }
    }

    /// Queues a write.
    pub fn write(&mut self, bars: &[Bar], address: u64, bytes: &[u8]) -> Result<(), MmioError> {
        let bar = find_bar(bars, address, bytes.len())?;
        let request = Request::write(address, bytes);
        self.queue(request, bar, None);
        Ok(())
    }

    /// Queues a read.
    pub fn read(
        &mut self,
        bars: &[Bar],
        address: u64,
        bytes: usize,
    ) -> Result<MmioRead, MmioError> {
        let bar = find_bar(bars, address, bytes)?;
        let read = MmioRead(self.next_read);
        self.next_read += 1;
        self.queue(Request::read(address, bytes, 0), bar, Some(read));
        Ok(read)
    }

    fn queue(&mut self, mut request: Request, bar: Bar, read: Option<MmioRead>) {
        request.requester_id = self.host_id;
        self.waiting.push_back(Access { request, bar, read });
    }

    /// Whether no access is queued or in flight.
    pub fn is_idle(&self) -> bool {
        let used = &self.used;
        self.waiting.is_empty()
            && self.outstanding_count == 0
            && used.posted_headers + used.nonposted_headers == 0
    }

    /// Takes the result of a read, if it has one.
    pub fn poll(&mut self, read: MmioRead) -> Option<MmioResult> {
        self.results.remove(&read)
    }

    /// The next access that may go over the link, as the hard block will present it.
    pub fn next(&mut self, now: u64) -> Option<CqPacket> {
        let head = self.waiting.front()?;
        let data = (head.request.payload.len() as u32).div_ceil(4);
        let tag = match head.read {
            None => {
                let fits = self.used.posted_headers < self.limit.posted_headers
                    && self.used.posted_data + data <= self.limit.posted_data;
                if !fits {
                    return None;
                }
                self.used.posted_headers += 1;
                self.used.posted_data += data;
                None
            }
            Some(_) => {
                if self.used.nonposted_headers >= self.limit.nonposted_headers {
                    return None;
                }
                let free = self.outstanding.iter().position(Option::is_none)?;
                self.used.nonposted_headers += 1;
                Some(free as u8)
            }
        };
        let mut access = self.waiting.pop_front()?;
        if let (Some(tag), Some(read)) = (tag, access.read) {
            access.request.tag = tag;
            self.outstanding_count += 1;
            self.outstanding[usize::from(tag)] =
                Some(Outstanding::new(read, access.request.clone(), now + self.timeout_cycles));
        }
        Some(packet_of(access))
    }

    /// The card has taken a request from CQ: its credits are free again.
    pub fn note_taken(&mut self, taken: AcceptedRequest) {
        match taken {
            AcceptedRequest::Write { dwords } => {
                self.used.posted_headers -= 1;
                self.used.posted_data -= (dwords as u32).div_ceil(4);
            }
            AcceptedRequest::Read(tag) => {
                self.used.nonposted_headers -= 1;
                if let Some(outstanding) = &mut self.outstanding[usize::from(tag) % TAGS] {
                    outstanding.delivered = true;
                }
            }
        }
    }

    /// The hard block refuses a request itself, since memory decoding is off.
    pub fn refuse(&mut self, taken: AcceptedRequest) -> Option<CompletedRead> {
        self.note_taken(taken);
        let AcceptedRequest::Read(tag) = taken else { return None };
        let outstanding = self.outstanding[usize::from(tag) % TAGS].as_mut()?;
        outstanding.end(tag, Err(MmioError::UnsupportedRequest))
    }

    /// Checks a completion of the card; `None` when nothing waits for it, else the result if it
    /// was the last.
    pub fn check(
        &mut self,
        words: &[u32],
        config: &PcieConfig,
        log: &mut Log,
    ) -> Option<Option<CompletedRead>> {
        let tag = cc::TAG.get(words) as u8;
        let slot = self.outstanding.get_mut(usize::from(tag)).and_then(Option::as_mut);
        let Some(outstanding) = slot.filter(|o| o.delivered && !o.ended) else {
            log.push(Violation::UnexpectedCompletion(tag));
            return None;
        };
        outstanding.check_header(words, log);
        Some(match cc::STATUS.get(words) as u8 {
            status::SUCCESS => outstanding.take_data(words, config, log),
            status::UNSUPPORTED_REQUEST => outstanding.end(tag, Err(MmioError::UnsupportedRequest)),
            status::COMPLETER_ABORT => outstanding.end(tag, Err(MmioError::CompleterAbort)),
            status => {
                log.push(Violation::CompletionStatus { tag, status });
                outstanding.end(tag, Err(MmioError::UnsupportedRequest))
            }
        })
    }

    /// A result has reached the host.
    pub fn finish(&mut self, done: CompletedRead) {
        let slot = &mut self.outstanding[usize::from(done.tag) % TAGS];
        if slot.as_ref().is_some_and(|o| o.read == done.read) {
            let abandoned = slot.take().is_some_and(|o| o.abandoned);
            self.outstanding_count -= 1;
            if !abandoned {
                self.results.insert(done.read, done.result);
            }
        }
    }

    /// Times out reads that the card has not completed in time.
    pub fn expire(&mut self, now: u64, log: &mut Log) {
        if self.outstanding_count == 0 {
            return;
        }
        for tag in 0..TAGS {
            let Some(outstanding) = &self.outstanding[tag] else { continue };
            if outstanding.deadline > now || outstanding.ended {
                continue;
            }
            if outstanding.delivered {
                let address = outstanding.request.address;
                log.push(Violation::CompletionMissing { tag: tag as u8, address });
            }
            self.results.insert(outstanding.read, Err(MmioError::Timeout));
            match &mut self.outstanding[tag] {
                Some(waiting) if !waiting.delivered => {
                    waiting.abandoned = true;
                    waiting.deadline = u64::MAX;
                }
                slot => {
                    *slot = None;
                    self.outstanding_count -= 1;
                }
            }
        }
    }

    /// Ends every access, as link-down does.
    pub fn reset(&mut self, config: &PcieConfig) {
        let waiting = self.waiting.iter().filter_map(|access| access.read);
        let outstanding = self.outstanding.iter().flatten().map(|o| o.read);
        let lost: Vec<MmioRead> = waiting.chain(outstanding).collect();
        let mut results = std::mem::take(&mut self.results);
        for read in lost {
            results.entry(read).or_insert(Err(MmioError::LinkDown));
        }
        *self = Self { results, next_read: self.next_read, ..Self::new(config) };
    }
}

impl Outstanding {
    fn new(read: MmioRead, request: Request, deadline: u64) -> Self {
        Self {
            read,
            next: request.first_byte(),
            remaining: request.byte_count(),
            bytes: Vec::new(),
            request,
            delivered: false,
            deadline,
            ended: false,
            abandoned: false,
        }
    }

    fn end(&mut self, tag: u8, result: MmioResult) -> Option<CompletedRead> {
        self.ended = true;
        Some(CompletedRead { read: self.read, tag, result })
    }

    fn expect(&self, name: &'static str, has: u64, expected: u64, log: &mut Log) {
        if has != expected {
            let tag = self.request.tag;
            log.push(Violation::CompletionField { tag, name, has, expected });
        }
    }

    /// Fields that are copied from the request or must be zero.
    fn check_header(&self, words: &[u32], log: &mut Log) {
        let zero = [
            ("address type", cc::ADDRESS_TYPE),
            ("locked", cc::LOCKED),
            ("completer id enable", cc::COMPLETER_ID_ENABLE),
            ("force ecrc", cc::FORCE_ECRC),
        ];
        for (name, field) in zero {
            let value = field.get(words);
            if value != 0 {
                log.push(Violation::DescriptorField { stream: Stream::Cc, name, value });
            }
        }
        let request = &self.request;
        let copied = [
            ("requester id", cc::REQUESTER_ID, u64::from(request.requester_id)),
            ("traffic class", cc::TRAFFIC_CLASS, u64::from(request.traffic_class)),
            ("attributes", cc::ATTRIBUTES, u64::from(request.attributes)),
        ];
        for (name, field, expected) in copied {
            self.expect(name, field.get(words), expected, log);
        }
        if cc::STATUS.get(words) as u8 != status::SUCCESS {
            self.expect("dword count", cc::DWORD_COUNT.get(words), 0, log);
        }
    }

    /// Data must continue where it stopped and end at the end or at a completion boundary.
    fn take_data(
        &mut self,
        words: &[u32],
        config: &PcieConfig,
        log: &mut Log,
    ) -> Option<CompletedRead> {
        let lower = cc::LOWER_ADDRESS.get(words);
        self.expect("lower address", lower, self.next & 0x7f, log);
        self.expect("byte count", cc::BYTE_COUNT.get(words), u64::from(self.remaining), log);
        let offset = (self.next % 4) as u32;
        let dwords = cc::DWORD_COUNT.get(words) as u32;
        let whole = (offset + self.remaining).div_ceil(4);
        let end = self.next - u64::from(offset) + u64::from(dwords) * 4;
        let legal_part =
            dwords > 0 && dwords < whole && end.is_multiple_of(u64::from(config.rcb_bytes));
        if !(dwords == whole || legal_part) || dwords * 4 > config.mps_bytes {
            self.expect("dword count", u64::from(dwords), u64::from(whole), log);
            return self.end(self.request.tag, Err(MmioError::UnsupportedRequest));
        }
        let here = (dwords * 4 - offset).min(self.remaining);
        let bytes = words[3..].iter().flat_map(|w| w.to_le_bytes());
        self.bytes.extend(bytes.skip(offset as usize).take(here as usize));
        self.next += u64::from(here);
        self.remaining -= here;
        if cc::POISONED.is_set(words) {
            return self.end(self.request.tag, Err(MmioError::Poisoned));
        }
        match self.remaining {
            0 => {
                let bytes = std::mem::take(&mut self.bytes);
                self.end(self.request.tag, Ok(bytes))
            }
            _ => None,
        }
    }
}

fn find_bar(bars: &[Bar], address: u64, bytes: usize) -> Result<Bar, MmioError> {
    let line = ACCESS_BYTES_MAX as u64;
    if bytes == 0 || address % line + bytes as u64 > line {
        return Err(MmioError::Length(bytes));
    }
    let holds = |bar: &&Bar| {
        let inside = address.checked_sub(bar.base);
        inside.is_some_and(|at| at < bar.bytes && bytes as u64 <= bar.bytes - at)
    };
    bars.iter().find(holds).copied().ok_or(MmioError::NoBar { address, bytes })
}

/// The CQ packet of an access.
fn packet_of(access: Access) -> CqPacket {
    let (request, bar) = (access.request, access.bar);
    let kind = match request.kind {
        RequestKind::Read => request_type::MEMORY_READ,
        RequestKind::Write => request_type::MEMORY_WRITE,
    };
    let mut words = vec![0; crate::ports::cq::DESCRIPTOR_DWORDS];
    cq::ADDRESS.set(&mut words, request.address >> 2);
    cq::DWORD_COUNT.set(&mut words, u64::from(request.dword_count));
    cq::TYPE.set(&mut words, u64::from(kind));
    cq::REQUESTER_ID.set(&mut words, u64::from(request.requester_id));
    cq::TAG.set(&mut words, u64::from(request.tag));
    cq::BAR_ID.set(&mut words, u64::from(bar.index));
    cq::BAR_APERTURE.set(&mut words, u64::from(bar.bytes.trailing_zeros()));
    cq::TRAFFIC_CLASS.set(&mut words, u64::from(request.traffic_class));
    cq::ATTRIBUTES.set(&mut words, u64::from(request.attributes));
    words.extend_from_slice(&request.payload);
    let nonposted = access.read.map(|_| request.tag);
    CqPacket { words, first_be: request.first_be, last_be: request.last_be, nonposted }
}
