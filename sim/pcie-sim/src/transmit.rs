//! The transmit half of the hard block: queues, flow control credits and the lanes to the host.
//!
//! ```text
//!   RQ --> in order --> posted ----------------------> lanes --> root complex
//!                  \--> non-posted queue (waits) ----/
//!   CC --> in order --------------------------------/   <-- credits come back
//! ```
//!
//! Invariants:
//! 1. posted requests leave in order; a non-posted one leaves after the posted ones before it, and
//!    may be overtaken by later posted ones while it waits for credits;
//! 2. completions keep their own order and no order with requests;
//! 3. the sequence number is reported when the request has been given to the lanes: from then on
//!    nothing from CC can arrive before it.
//!
//! Source: PCI Express Base 3.0, 2.4.1 and 2.6; PG213, `pcie_rq_seq_num`.

use crate::config::{cycles, Credits, PcieConfig};
use crate::link::Link;
use crate::mmio::CompletedRead;
use crate::requester::IssuedRead;
use crate::statistics::Direction;
use crate::tlp::{Request, RequestKind};
use std::collections::VecDeque;

/// What is sent to the host.
#[derive(Clone, Debug)]
pub(crate) enum Upstream {
    Request(Request),
    /// A completion of the card; the last one of a read brings its result.
    Completion(Option<CompletedRead>),
}

/// The transmit half.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    requests: VecDeque<IssuedRead>,
    nonposted: VecDeque<IssuedRead>,
    completions: VecDeque<(u32, Option<CompletedRead>)>,
    link: Link<Upstream>,
    limit: Credits,
    used: Credits,
    /// Totals since reset, for the "consumed" view of the credit outputs.
    returned: Credits,
    returns: VecDeque<(u64, Credits)>,
    sequence_numbers: VecDeque<u8>,
    stored_dwords: u32,
    completion_dwords: u32,
    capacity_dwords: u32,
    nonposted_max: usize,
    completion_first: bool,
    /// No posted request leaves before this cycle, as if the host had given no credit for one.
    posted_from: u64,
    return_cycles: u64,
    request_overhead: u32,
    completion_overhead: u32,
    /// Traffic so far.
    pub statistics: Direction,
}

const NONE: Credits = Credits { posted_headers: 0, posted_data: 0, nonposted_headers: 0 };

impl Transmitter {
    /// Empty queues and all credits.
    pub fn new(config: &PcieConfig) -> Self {
        let link = &config.link;
        Self {
            requests: VecDeque::new(),
            nonposted: VecDeque::new(),
            completions: VecDeque::new(),
            link: Link::new(link.bytes_per_cycle_fixed(), cycles(link.latency_ns)),
            limit: config.host_credits,
            used: NONE,
            returned: NONE,
            returns: VecDeque::new(),
            sequence_numbers: VecDeque::new(),
            stored_dwords: 0,
            completion_dwords: 0,
            capacity_dwords: config.transmit_beats * 16,
            nonposted_max: config.nonposted_queue,
            completion_first: false,
            posted_from: 0,
            return_cycles: cycles(config.credit_return_ns),
            request_overhead: link.request_overhead_bytes,
            completion_overhead: link.completion_overhead_bytes,
            statistics: Direction::default(),
        }
    }

    /// Withholds the credit for posted requests until a cycle.
    pub fn hold_posted(&mut self, until: u64) {
        self.posted_from = until;
    }

    /// Writes that were taken from the card and have not been given to the lanes.
    pub fn writes_waiting(&self) -> usize {
        self.requests.iter().filter(|issued| issued.request.kind == RequestKind::Write).count()
    }

    /// Whether one more beat of RQ fits.
    pub fn takes_requests(&self) -> bool {
        self.stored_dwords + 16 <= self.capacity_dwords
    }

    /// Whether one more beat of CC fits.
    pub fn takes_completions(&self) -> bool {
        self.completion_dwords + 16 <= self.capacity_dwords
    }

    /// Queues a request.
    pub fn push_request(&mut self, issued: IssuedRead) {
        self.stored_dwords += dwords_of(&issued.request);
        self.requests.push_back(issued);
    }

    /// Adds a completion with `dwords` dwords of payload.
    pub fn push_completion(&mut self, dwords: u32, done: Option<CompletedRead>) {
        self.completion_dwords += dwords + 3;
        self.completions.push_back((dwords, done));
    }

    /// Starts on the lanes what may be sent in this cycle.
    pub fn transmit(&mut self, now: u64) {
        self.collect_returns(now);
        while self.link.is_free(now) {
            self.queue_nonposted();
            let sent = match self.completion_first {
                true => self.send_completion(now) || self.send_request(now),
                false => self.send_request(now) || self.send_completion(now),
            };
            if !sent {
                return;
            }
            self.completion_first = !self.completion_first;
        }
    }

    /// Moves reads that have reached the head out of the way of later writes.
    fn queue_nonposted(&mut self) {
        while self.nonposted.len() < self.nonposted_max {
            match self.requests.front() {
                Some(head) if head.request.kind == RequestKind::Read => {
                    self.nonposted.extend(self.requests.pop_front());
                }
                _ => return,
            }
        }
    }

    /// Older reads first; a read without credit lets a write pass.
    fn send_request(&mut self, now: u64) -> bool {
        let read_credit = self.used.nonposted_headers < self.limit.nonposted_headers;
        if read_credit {
            if let Some(issued) = self.nonposted.pop_front() {
                self.used.nonposted_headers += 1;
                self.send(now, issued);
                return true;
            }
        }
        let Some(head) = self.requests.front() else { return false };
        let data = data_credits(&head.request);
        let fits = head.request.kind == RequestKind::Write
            && now >= self.posted_from
            && self.used.posted_headers < self.limit.posted_headers
            && self.used.posted_data + data <= self.limit.posted_data;
        if !fits {
            return false;
        }
        self.used.posted_headers += 1;
        self.used.posted_data += data;
        if let Some(issued) = self.requests.pop_front() {
            self.send(now, issued);
        }
        true
    }

    fn send(&mut self, now: u64, issued: IssuedRead) {
        let request = issued.request;
        self.stored_dwords -= dwords_of(&request);
        self.sequence_numbers.push_back(issued.sequence_number);
        let payload = request.payload.len() as u32 * 4;
        let bytes = payload + self.request_overhead;
        match request.kind {
            RequestKind::Read => self.statistics.reads += 1,
            RequestKind::Write => self.statistics.writes += 1,
        }
        self.statistics.count(payload, bytes);
        self.link.send(now, bytes, Upstream::Request(request));
    }

    fn send_completion(&mut self, now: u64) -> bool {
        let Some((dwords, done)) = self.completions.pop_front() else { return false };
        self.completion_dwords -= dwords + 3;
        let bytes = dwords * 4 + self.completion_overhead;
        self.statistics.completions += 1;
        self.statistics.count(dwords * 4, bytes);
        self.link.send(now, bytes, Upstream::Completion(done));
        true
    }

    /// The next TLP that reaches the root complex; its credits start their way back.
    pub fn receive(&mut self, now: u64) -> Option<Upstream> {
        let tlp = self.link.receive(now)?;
        if let Upstream::Request(request) = &tlp {
            let credit = match request.kind {
                RequestKind::Read => Credits { nonposted_headers: 1, ..NONE },
                RequestKind::Write => {
                    let posted_data = data_credits(request);
                    Credits { posted_headers: 1, posted_data, nonposted_headers: 0 }
                }
            };
            self.returns.push_back((now + self.return_cycles, credit));
        }
        Some(tlp)
    }

    fn collect_returns(&mut self, now: u64) {
        while let Some((at, credit)) = self.returns.front().copied() {
            if at > now {
                return;
            }
            self.returns.pop_front();
            self.used.posted_headers -= credit.posted_headers;
            self.used.posted_data -= credit.posted_data;
            self.used.nonposted_headers -= credit.nonposted_headers;
            self.returned.posted_headers += credit.posted_headers;
            self.returned.posted_data += credit.posted_data;
            self.returned.nonposted_headers += credit.nonposted_headers;
        }
    }

    /// The next sequence number to report.
    pub fn sequence_number(&mut self) -> Option<u8> {
        self.sequence_numbers.pop_front()
    }

    /// Credits that `cfg_fc_sel` 4 (available), 5 (limit) and 6 (consumed) show; the running
    /// counters of the latter two wrap like those of the link.
    pub fn credits(&self, select: u8) -> Credits {
        let map = |f: fn(u32, u32, u32) -> u32| Credits {
            posted_headers: f(
                self.limit.posted_headers,
                self.used.posted_headers,
                self.returned.posted_headers,
            ),
            posted_data: f(
                self.limit.posted_data,
                self.used.posted_data,
                self.returned.posted_data,
            ),
            nonposted_headers: f(
                self.limit.nonposted_headers,
                self.used.nonposted_headers,
                self.returned.nonposted_headers,
            ),
        };
        match select {
            4 => map(|limit, used, _| limit - used),
            5 => map(|limit, _, returned| limit.wrapping_add(returned)),
            6 => map(|_, used, returned| used.wrapping_add(returned)),
            _ => NONE,
        }
    }

    /// Whether nothing waits to be sent or is in flight.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
            && self.nonposted.is_empty()
            && self.completions.is_empty()
            && self.link.is_empty()
    }

    /// Drops everything, as link-down does; the statistics stay.
    pub fn reset(&mut self, config: &PcieConfig) {
        *self = Self { statistics: self.statistics, ..Self::new(config) };
    }
}

/// Dwords that a request occupies in the hard block.
fn dwords_of(request: &Request) -> u32 {
    request.payload.len() as u32 + 4
}

fn data_credits(request: &Request) -> u32 {
    (request.payload.len() as u32).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beat_is_taken_while_whole_fits() {
        let beats = |transmit_beats| PcieConfig { transmit_beats, ..PcieConfig::default() };
        let beat = || IssuedRead { request: Request::write(0, &[0; 48]), sequence_number: 0 };
        for count in 1..4 {
            let mut queue = Transmitter::new(&beats(count));
            for _ in 0..count {
                assert!(queue.takes_requests() && queue.takes_completions());
                queue.push_request(beat());
                queue.push_completion(13, None);
            }
            assert!(!queue.takes_requests() && !queue.takes_completions());
        }
    }
}
