//! Requester request stream: beats with up to two straddled TLPs become packets.
//!
//! ```text
//!   RqBeat, tready --> RqReceiver --> RqPacket (descriptor, payload, enables, sequence number)
//! ```
//!
//! Framing rules, each reported when broken:
//! 1. an offered beat stays until it is taken, and `tvalid` does not fall inside a packet;
//! 2. a packet starts at dword 0, or at dword 8 when another one ends in dwords 0 to 7;
//! 3. a packet ends where its descriptor's length says, and `is_eop` names exactly the ends;
//! 4. `tkeep` is all ones; `tlast` has no meaning.
//!
//! On error the descriptor's length decides where the packet ends; an illegal start is
//! dropped with the rest of its beat.
//!
//! Source: PG213, requester request interface, 512 bit, straddle.

use crate::descriptor::{request_type, rq, rq_user};
use crate::ports::{RqBeat, BEAT_DWORDS};
use crate::violation::{Log, Stream, Violation};

/// Dwords of the descriptor.
pub(crate) const DESCRIPTOR_DWORDS: usize = 4;

/// One request as it came over the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RqPacket {
    /// Descriptor and payload.
    pub words: Vec<u32>,
    pub first_be: u8,
    pub last_be: u8,
    pub sequence_number: u8,
}

/// Dwords of a packet as its descriptor announces them.
fn announced_dwords(descriptor: &[u32]) -> usize {
    let has_payload = rq::TYPE.get(descriptor) as u8 == request_type::MEMORY_WRITE;
    let payload = if has_payload { rq::DWORD_COUNT.get(descriptor) as usize } else { 0 };
    DESCRIPTOR_DWORDS + payload
}

/// Receiver of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct RqReceiver {
    /// Packet that has begun and not ended, and its announced dwords.
    running: Option<(RqPacket, usize)>,
    /// Beat that was offered and not taken.
    held: Option<RqBeat>,
    /// `tvalid` is low inside a packet, and that has been reported.
    gap: bool,
}

impl RqReceiver {
    /// Samples one cycle; a packet that ends in it goes to `sink`.
    pub fn sample(
        &mut self,
        beat: &RqBeat,
        tready: bool,
        log: &mut Log,
        mut sink: impl FnMut(RqPacket, &mut Log),
    ) {
        if self.held.take().is_some_and(|held| held != *beat) {
            log.push(Violation::OfferChanged(Stream::Rq));
        }
        if !beat.tvalid {
            if self.running.is_some() && !self.gap {
                log.push(Violation::ValidDroppedInPacket(Stream::Rq));
                self.gap = true;
            }
            return;
        }
        self.gap = false;
        match tready {
            true => self.take(beat, log, &mut sink),
            false => self.held = Some(*beat),
        }
    }

    fn take(&mut self, beat: &RqBeat, log: &mut Log, sink: &mut dyn FnMut(RqPacket, &mut Log)) {
        if beat.tkeep != 0xffff {
            log.push(Violation::Keep { stream: Stream::Rq, tkeep: beat.tkeep });
        }
        check_side_band(beat, log);
        let running = self.running.is_some();
        let is_sop = rq_user::IS_SOP.get(&beat.tuser) as u8;
        if is_sop == 0b10 || (is_sop == 0b11 && running) || (is_sop == 0 && !running) {
            log.push(Violation::StartFlags { is_sop, running });
        }
        let mut ends = Ends { beat, count: 0 };
        let mut position = 0;
        if let Some((packet, announced)) = self.running.take() {
            position = self.append(packet, announced, 0, &mut ends, log, sink);
        }
        for slot in (0..2).filter(|slot| is_sop & (1 << slot) != 0) {
            let pointer = rq_user::SOP_POINTER[slot].get(&beat.tuser) as u8;
            let expected = if position == 0 { 0 } else { 2 };
            if pointer != expected || position > 8 {
                log.push(Violation::StartPointer { pointer });
                break;
            }
            let from = usize::from(pointer) * 4;
            let announced = announced_dwords(&beat.tdata[from..from + DESCRIPTOR_DWORDS]);
            let packet = RqPacket {
                words: Vec::with_capacity(announced),
                first_be: rq_user::FIRST_BE[slot].get(&beat.tuser) as u8,
                last_be: rq_user::LAST_BE[slot].get(&beat.tuser) as u8,
                sequence_number: rq_user::SEQUENCE_NUMBER[slot].get(&beat.tuser) as u8,
            };
            position = self.append(packet, announced, from, &mut ends, log, sink);
        }
        ends.check_count(log);
        if rq_user::DISCONTINUE.is_set(&beat.tuser) {
            log.push(Violation::Discontinued(Stream::Rq));
            self.running = None;
        }
    }

    /// Adds the dwords of the beat from `from` on; returns the position after the packet.
    fn append(
        &mut self,
        mut packet: RqPacket,
        announced: usize,
        from: usize,
        ends: &mut Ends,
        log: &mut Log,
        sink: &mut dyn FnMut(RqPacket, &mut Log),
    ) -> usize {
        let remaining = announced - packet.words.len();
        let here = remaining.min(BEAT_DWORDS - from);
        packet.words.extend_from_slice(&ends.beat.tdata[from..from + here]);
        if here < remaining {
            self.running = Some((packet, announced));
            return BEAT_DWORDS;
        }
        ends.expect((from + here - 1) as u32, log);
        if !rq_user::DISCONTINUE.is_set(&ends.beat.tuser) {
            sink(packet, log);
        }
        from + here
    }
}

/// The ends that a beat names, compared with those that it must name.
struct Ends<'a> {
    beat: &'a RqBeat,
    count: usize,
}

impl Ends<'_> {
    /// The next end must be at dword `expected`.
    fn expect(&mut self, expected: u32, log: &mut Log) {
        let is_eop = rq_user::IS_EOP.get(&self.beat.tuser) as u8;
        if let Some(field) = rq_user::EOP_POINTER.get(self.count) {
            let pointer = field.get(&self.beat.tuser) as u8;
            if is_eop & (1 << self.count) == 0 || u32::from(pointer) != expected {
                log.push(Violation::EndMismatch { is_eop, pointer, expected });
            }
        }
        self.count += 1;
    }

    /// No end may be named beyond those expected.
    fn check_count(&self, log: &mut Log) {
        let is_eop = rq_user::IS_EOP.get(&self.beat.tuser) as u8;
        if is_eop >> self.count != 0 {
            let pointer = rq_user::EOP_POINTER[self.count.min(1)].get(&self.beat.tuser) as u8;
            let expected = BEAT_DWORDS as u32;
            log.push(Violation::EndMismatch { is_eop, pointer, expected });
        }
    }
}

fn check_side_band(beat: &RqBeat, log: &mut Log) {
    let offset = rq_user::ADDRESS_OFFSET.get(&beat.tuser);
    if offset != 0 {
        log.push(Violation::SideBand { name: "addr_offset", value: offset });
    }
    let hints = rq_user::TPH_PRESENT.get(&beat.tuser);
    if hints != 0 {
        log.push(Violation::SideBand { name: "tph_present", value: hints });
    }
}
