//! The requester half of the hard block: RQ in, tags and completion buffer, RC out.
//!
//! ```text
//!   RQ beats --> RqReceiver --> check --> tags --> requests to transmit
//!   RC beats <-- RcSender <-- completion buffer <-- completions received
//! ```
//!
//! Invariants:
//! 1. a completion enters the buffer only if a header and its data fit, otherwise it is lost;
//! 2. the space is released when the card has taken the last beat of the completion;
//! 3. a completion that does not continue its request where it stopped ends the request.
//!
//! Source: PG213, requester interfaces, error codes; buffer size: two measured numbers in the
//! configuration.

use crate::config::{cycles, PcieConfig};
use crate::descriptor::{error_code, rc, status};
use crate::ports::rc::{Delivered, RcPacket, RcSender, DESCRIPTOR_DWORDS};
use crate::ports::rq::RqReceiver;
use crate::ports::{CardOutputs, RcBeat};
use crate::request_check::{check, Limits};
use crate::tags::{Read, Room, TagError, Tags};
use crate::tlp::{Completion, Request, RequestKind};
use crate::violation::{Log, Violation};

/// A checked request and the sequence number to report to the card.
#[derive(Clone, Debug)]
pub(crate) struct IssuedRead {
    pub request: Request,
    pub sequence_number: u8,
}

/// The requester half.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    rq: RqReceiver,
    rc: RcSender,
    tags: Tags,
    stored: Room,
    limit: Room,
    check_reservation: bool,
    checks_completions: bool,
    timeout_cycles: Option<u64>,
    card_id: u16,
    /// Number of function level resets; completions of reads from before one are discarded.
    epoch: u32,
    /// Most tags in flight so far.
    pub in_flight_peak: u32,
    /// Most of the completion buffer used so far.
    pub stored_peak: Room,
}

impl Requester {
    /// An idle requester.
    pub fn new(config: &PcieConfig) -> Self {
        Self {
            rq: RqReceiver::default(),
            rc: RcSender::default(),
            tags: Tags::new(config.rcb_bytes),
            stored: Room::default(),
            limit: Room { headers: config.completion_headers, data: config.completion_data },
            check_reservation: config.check_reservation,
            checks_completions: config.checks_completions,
            timeout_cycles: config.completion_timeout_ns.map(cycles),
            card_id: config.card_id,
            epoch: 0,
            in_flight_peak: 0,
            stored_peak: Room::default(),
        }
    }

    /// Samples the RC port of one cycle and makes the next beat.
    pub fn step_rc(&mut self, shown: &mut RcBeat, tready: bool, idle: bool) {
        let (tags, stored) = (&mut self.tags, &mut self.stored);
        self.rc.step(shown, tready, idle, |delivered: Delivered| {
            stored.headers -= delivered.headers;
            stored.data -= delivered.data;
            if let Some(tag) = delivered.frees_tag {
                tags.free(tag);
            }
        });
    }

    /// Samples the RQ port of one cycle; complete requests go to `sink`.
    pub fn sample_rq(
        &mut self,
        now: u64,
        card: &CardOutputs,
        tready: bool,
        limits: Limits,
        log: &mut Log,
        mut sink: impl FnMut(IssuedRead),
    ) {
        let Self { rq, tags, stored, limit, .. } = self;
        let (id, epoch, reservation) = (self.card_id, self.epoch, self.check_reservation);
        let deadline = self.timeout_cycles.map(|timeout| now + timeout);
        let peak = &mut self.in_flight_peak;
        rq.sample(&card.rq, tready, log, |packet, log| {
            let sequence_number = packet.sequence_number;
            let Some(mut request) = check(packet, limits, id, log) else { return };
            request.epoch = epoch;
            if request.kind == RequestKind::Read {
                match tags.issue(request.tag, &request, deadline) {
                    Ok(()) => {}
                    Err(TagError::Quarantined) => log.push(Violation::TagQuarantined(request.tag)),
                    Err(TagError::Outstanding) => {
                        log.push(Violation::TagReused(request.tag));
                        return;
                    }
                }
                *peak = (*peak).max(tags.in_flight());
                let headers = tags.promised_room().headers + stored.headers;
                let data = tags.promised_room().data + stored.data;
                if reservation && (headers > limit.headers || data > limit.data) {
                    log.push(Violation::BufferOversubscribed { headers, data });
                }
            }
            sink(IssuedRead { request, sequence_number });
        });
    }

    /// A completion has arrived over the link.
    pub fn receive(&mut self, completion: Completion, log: &mut Log) {
        let tag = completion.tag;
        if completion.epoch != self.epoch {
            return;
        }
        let data = completion.payload.len().div_ceil(4) as u32;
        let room = Room { headers: self.stored.headers + 1, data: self.stored.data + data };
        if room.headers > self.limit.headers || room.data > self.limit.data {
            log.push(Violation::BufferOverrun { tag, headers: room.headers, data: room.data });
            return;
        }
        let Some(read) = self.tags.active(tag) else {
            self.report(tag, error_code::BAD_TAG, false);
            return;
        };
        let error = self.judge(&read, &completion);
        if error == error_code::MISMATCH {
            self.pass_stranger(&completion);
            return;
        }
        if !matches!(error, error_code::NONE | error_code::POISONED) {
            self.end(&completion, error);
            return;
        }
        self.stored = room;
        self.stored_peak.headers = self.stored_peak.headers.max(room.headers);
        self.stored_peak.data = self.stored_peak.data.max(room.data);
        let first_byte = (read.address % 4) as u32;
        let here = (completion.payload.len() as u32 * 4 - first_byte).min(read.remaining);
        let completed = self.tags.advance(tag, here);
        let mut words = descriptor(&completion, error, completed);
        let shift = u64::from(completion.lower_address).wrapping_sub(read.address & 0x7f);
        rc::LOWER_ADDRESS.set(&mut words, read.address.wrapping_add(shift) & 0xfff);
        words.extend_from_slice(&completion.payload);
        let frees_tag = completed.then_some(tag);
        self.rc.push(RcPacket {
            words,
            first_byte,
            valid_bytes: here,
            frees_tag,
            headers: 1,
            data,
        });
    }

    /// Delivers a completion that is not the one of the read with its tag: the read goes on
    /// (PG213, error code 0100).
    fn pass_stranger(&mut self, completion: &Completion) {
        let mut words = descriptor(completion, error_code::MISMATCH, false);
        rc::LOWER_ADDRESS.set(&mut words, u64::from(completion.lower_address));
        words.extend_from_slice(&completion.payload);
        self.rc.push(RcPacket {
            words,
            first_byte: 0,
            valid_bytes: 4 * completion.payload.len() as u32,
            frees_tag: None,
            headers: 0,
            data: 0,
        });
    }

    /// The error code of a completion for `read`.
    fn judge(&self, read: &Read, completion: &Completion) -> u8 {
        let matches = read.attributes == completion.attributes
            && read.traffic_class == completion.traffic_class
            && completion.requester_id == self.card_id;
        if !matches {
            error_code::MISMATCH
        } else if completion.status != status::SUCCESS {
            error_code::BAD_STATUS
        } else if !self.checks_completions {
            error_code::NONE
        } else if u64::from(completion.lower_address) != read.address & 0x7f {
            error_code::BAD_ADDRESS
        } else if u32::from(completion.byte_count) != read.remaining {
            error_code::BAD_LENGTH
        } else if completion.poisoned {
            error_code::POISONED
        } else {
            error_code::NONE
        }
    }

    /// Ends a request with the completion that was wrong; its data is not delivered.
    fn end(&mut self, completion: &Completion, error: u8) {
        let tag = completion.tag;
        self.tags.terminate(tag);
        let header = Completion { payload: Vec::new(), ..completion.clone() };
        self.push_header(descriptor(&header, error, true), Some(tag));
    }

    /// Reports to the card that a read has ended without a completion.
    fn report(&mut self, tag: u8, error: u8, completed: bool) {
        let mut words = vec![0; DESCRIPTOR_DWORDS];
        rc::ERROR_CODE.set(&mut words, u64::from(error));
        rc::REQUEST_COMPLETED.set(&mut words, u64::from(completed));
        rc::REQUESTER_ID.set(&mut words, u64::from(self.card_id));
        rc::TAG.set(&mut words, u64::from(tag));
        self.push_header(words, completed.then_some(tag));
    }

    fn push_header(&mut self, words: Vec<u32>, frees_tag: Option<u8>) {
        let packet =
            RcPacket { words, first_byte: 0, valid_bytes: 0, frees_tag, headers: 0, data: 0 };
        self.rc.push(packet);
    }

    /// Reports reads that have waited too long.
    pub fn expire(&mut self, now: u64) {
        while let Some(tag) = self.tags.timed_out(now) {
            self.report(tag, error_code::TIMEOUT, true);
        }
    }

    /// Ends every read because its function is being reset.
    pub fn function_reset(&mut self) {
        self.epoch += 1;
        for tag in self.tags.terminate_all() {
            self.report(tag, error_code::FUNCTION_RESET, true);
        }
    }

    /// Clears all state, as reset does; the peaks stay.
    pub fn reset(&mut self, config: &PcieConfig) {
        let Self { in_flight_peak, stored_peak, .. } = *self;
        *self = Self { in_flight_peak, stored_peak, ..Self::new(config) };
    }

    /// Tags that are not free.
    pub fn in_flight(&self) -> u32 {
        self.tags.in_flight()
    }
}

fn descriptor(completion: &Completion, error: u8, completed: bool) -> Vec<u32> {
    let mut words = Vec::with_capacity(DESCRIPTOR_DWORDS + completion.payload.len());
    words.resize(DESCRIPTOR_DWORDS, 0);
    let w = &mut words[..];
    rc::LOWER_ADDRESS.set(w, u64::from(completion.lower_address));
    rc::ERROR_CODE.set(w, u64::from(error));
    rc::BYTE_COUNT.set(w, u64::from(completion.byte_count));
    rc::REQUEST_COMPLETED.set(w, u64::from(completed));
    rc::DWORD_COUNT.set(w, completion.payload.len() as u64);
    rc::STATUS.set(w, u64::from(completion.status));
    rc::POISONED.set(w, u64::from(completion.poisoned));
    rc::REQUESTER_ID.set(w, u64::from(completion.requester_id));
    rc::TAG.set(w, u64::from(completion.tag));
    rc::COMPLETER_ID.set(w, u64::from(completion.completer_id));
    rc::TRAFFIC_CLASS.set(w, u64::from(completion.traffic_class));
    rc::ATTRIBUTES.set(w, u64::from(completion.attributes));
    words
}
