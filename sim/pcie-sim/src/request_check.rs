//! The rules that a single request of the card must obey, and its decoding.
//!
//! ```text
//!   RqPacket, Limits --> check --> Request to carry (or none), violations
//! ```
//!
//! A request that breaks a rule is still carried where that has a meaning, so that one mistake
//! yields one report only.
//!
//! Source: PCI Express Base 3.0, 2.2.5 (byte enables), 2.2.7 (memory requests); PG213.

use crate::descriptor::{request_type, rq};
use crate::ports::rq::{RqPacket, DESCRIPTOR_DWORDS};
use crate::tlp::{Request, RequestKind};
use crate::violation::{Log, Stream, Violation};

/// Most dwords of a request: up to the next 4 KiB boundary.
const PAGE: u64 = 4096;

/// What the host has configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub mps: u32,
    pub mrrs: u32,
    pub tags: u16,
}

/// Decodes a packet and reports every broken rule; `None` when it cannot be carried at all.
pub(crate) fn check(packet: RqPacket, limits: Limits, id: u16, log: &mut Log) -> Option<Request> {
    let descriptor = &packet.words[..DESCRIPTOR_DWORDS];
    let zero = [
        ("address type", rq::ADDRESS_TYPE),
        ("poisoned", rq::POISONED),
        ("requester id enable", rq::REQUESTER_ID_ENABLE),
        ("traffic class", rq::TRAFFIC_CLASS),
        ("force ecrc", rq::FORCE_ECRC),
    ];
    for (name, field) in zero {
        let value = field.get(descriptor);
        if value != 0 {
            log.push(Violation::DescriptorField { stream: Stream::Rq, name, value });
        }
    }
    let kind = match rq::TYPE.get(descriptor) as u8 {
        request_type::MEMORY_READ => RequestKind::Read,
        request_type::MEMORY_WRITE => RequestKind::Write,
        other => {
            log.push(Violation::RequestType(other));
            return None;
        }
    };
    let dword_count = rq::DWORD_COUNT.get(descriptor) as u16;
    if !(1..=1024).contains(&dword_count) {
        log.push(Violation::DwordCount(dword_count));
        return None;
    }
    let mut request = Request {
        kind,
        address: rq::ADDRESS.get(descriptor) << 2,
        dword_count,
        first_be: packet.first_be,
        last_be: packet.last_be,
        tag: rq::TAG.get(descriptor) as u8,
        requester_id: id,
        traffic_class: rq::TRAFFIC_CLASS.get(descriptor) as u8,
        attributes: rq::ATTRIBUTES.get(descriptor) as u8,
        payload: Vec::new(),
        epoch: 0,
    };
    check_size(&request, limits, log);
    check_enables(&request, log);
    if kind == RequestKind::Write {
        request.payload = packet.words;
        request.payload.drain(..DESCRIPTOR_DWORDS);
    }
    Some(request)
}

fn check_size(request: &Request, limits: Limits, log: &mut Log) {
    let bytes = u32::from(request.dword_count) * 4;
    if request.address % PAGE + u64::from(bytes) > PAGE {
        log.push(Violation::PageCrossing { address: request.address, bytes });
    }
    match request.kind {
        RequestKind::Write if bytes > limits.mps => {
            log.push(Violation::PayloadTooLong { bytes, mps: limits.mps });
        }
        RequestKind::Read if bytes > limits.mrrs => {
            log.push(Violation::ReadTooLong { bytes, mrrs: limits.mrrs });
        }
        _ => {}
    }
    if request.kind == RequestKind::Read && u16::from(request.tag) >= limits.tags {
        log.push(Violation::TagRange { tag: request.tag, limit: limits.tags });
    }
}

/// One dword: any first enables, no last ones. Two dwords on an 8-byte boundary: any, none empty.
/// Otherwise: no holes.
fn check_enables(request: &Request, log: &mut Log) {
    let (first, last) = (request.first_be, request.last_be);
    let legal = match request.dword_count {
        1 => last == 0,
        2 if request.address.is_multiple_of(8) => first != 0 && last != 0,
        _ => matches!(first, 0x8 | 0xc | 0xe | 0xf) && matches!(last, 0x1 | 0x3 | 0x7 | 0xf),
    };
    if !legal {
        log.push(Violation::ByteEnables { first, last, dwords: request.dword_count });
    }
}
