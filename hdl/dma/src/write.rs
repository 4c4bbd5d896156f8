//! The write engine: turns write jobs of three clients into memory write requests and the beats
//! that carry their payload.
//!
//! ```text
//!  client 0..2 job ──► WriteSelect ──┬─► Cutter ──► WriteMaker ──► tlp   (descriptor, position)
//!                                    └─► DwordAligner ──────────► beat  (payload, dword aligned)
//!  client 0..2 data ─────────────────────────┘
//! ```
//! Timing: one beat and one TLP per cycle, no idle cycle between jobs. Outputs depend on registers
//! and, for `beat`, on the client's data in the same cycle.
//!
//! Invariants:
//! 1. Jobs are served whole, in the order of their handshakes; waiting clients are granted in turn.
//! 2. A TLP is as long as the largest payload allows. It ends at a line of 64 bytes if it is not
//!    the last of its job, and never crosses 4 KiB.
//! 3. Exactly the bytes of the job are enabled.
//! 4. Relaxed ordering is set if the job allows it; no snoop is never set.
//! 5. A job that shares its last beat is followed by the next job of the same client, from the
//!    middle of that beat on; the two jobs have one packet.
//!
//! A client's `abort` has no effect: a client that hands over a write job guarantees its bytes.
//!
//! Source: docs/specification.md, Writes; PG213, requester request descriptor; PCI Express Base
//! 3.0, 2.2.5 (byte enables).

pub mod dword_aligner;
pub mod write_select;

use crate::byte_enables::ByteEnables;
use crate::cutter::Cutter;
use crate::messages::{CutJob, Piece, RequestTlp};
use crate::write::dword_aligner::{AlignJob, DwordAligner};
use crate::write::write_select::WriteSelect;
use stream::messages::SHARED_AT_BYTE;
use stream::prelude::*;

/// The last dword of a shared beat that belongs to its first job.
const HALF_END: u64 = SHARED_AT_BYTE as u64 / 4 - 1;

/// Makes a write request of each piece: descriptor, byte enables, position of its payload.
///
/// Timing: `tlp` is combinational from `piece`; one request per cycle.
///
/// Invariants: the payload of a job is contiguous. The next job starts at the next beat, or in the
/// middle of the last beat if that is shared.
#[derive(LogicBlock, BlockDefault)]
pub struct WriteMaker {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Sets the position of the next payload to the beat `written`.
    pub reset: Signal<In, Bit>,
    /// Number of payload beats stored so far, modulo 2^12.
    pub written: Signal<In, Bits<12>>,

    /// Pieces, in job order.
    pub piece: MessageSink<Piece>,
    /// A request for each piece.
    pub tlp: MessageSource<RequestTlp>,

    enables: ByteEnables,
    inverted: DFF<Bits<16>>,

    place_before: Signal<Local, Bits<16>>,
    dwords: Signal<Local, Bits<9>>,
    position_last: Signal<Local, Bits<16>>,
    ordering: Signal<Local, Bits<128>>,
    result: Signal<Local, RequestTlp>,
    #[value(15)]
    beat_end: Constant<Bits<16>>,
    #[value(HALF_END)]
    half_end: Constant<Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
    #[value((1u128 << 75).to_bits::<128>())]
    memory_write: Constant<Bits<128>>,
    #[value(0)]
    strict_ordering: Constant<Bits<128>>,
    #[value((1u128 << 125).to_bits::<128>())]
    relaxed_ordering: Constant<Bits<128>>,
}

impl Logic for WriteMaker {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, inverted);

        self.enables.address.next = self.piece.payload.val().address;
        self.enables.bytes.next = self.piece.payload.val().bytes;
        self.dwords.next = self.enables.dwords.val();

        // The register holds the position before the next dword, so that the last dword needs no
        // second sum. It is inverted, so that the next position is 0 at power-up.
        self.place_before.next = !self.inverted.q.val();
        self.position_last.next = self.place_before.val() + bit_cast::<16, 9>(self.dwords.val());

        self.ordering.next = self.strict_ordering.val();
        if self.piece.payload.val().relaxed {
            self.ordering.next = self.relaxed_ordering.val();
        }
        self.result.next.header = bit_cast::<128, 64>(self.enables.dword_address.val())
            | (bit_cast::<128, 9>(self.dwords.val()) << 64)
            | self.memory_write.val()
            | self.ordering.val();
        self.result.next.dwords = self.dwords.val();
        self.result.next.start = self.place_before.val() + self.one.val();
        self.result.next.end_beat = self.position_last.val().get_bits::<12>(4);
        self.result.next.first_be = self.enables.first_be.val();
        self.result.next.last_be = self.enables.last_be.val();
        self.result.next.last = self.piece.payload.val().last;
        self.tlp.payload.next = self.result.val();
        self.tlp.valid.next = self.piece.valid.val();
        self.piece.ready.next = self.tlp.ready.val();

        if self.piece.valid.val() & self.tlp.ready.val() {
            self.inverted.d.next = !self.position_last.val();
            if self.piece.payload.val().last {
                self.inverted.d.next = !(self.position_last.val() | self.beat_end.val());
                if self.piece.payload.val().shares {
                    self.inverted.d.next = !(self.position_last.val() | self.half_end.val());
                }
            }
        }
        if self.reset.val() {
            self.inverted.d.next = bits::<16>(0) - (bit_cast::<16, 12>(self.written.val()) << 4);
        }
    }
}

/// The engine. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteEngine {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all jobs. Positions continue at the beat `written`.
    pub reset: Signal<In, Bit>,

    /// Write jobs of client 0.
    pub client_0_job: MessageSink<WriteJob>,
    /// Packets of client 0: one for each job, in order, of exactly the job's bytes.
    pub client_0_data: PacketSink,
    /// Write jobs of client 1.
    pub client_1_job: MessageSink<WriteJob>,
    /// Packets of client 1: one for each job, in order, of exactly the job's bytes.
    pub client_1_data: PacketSink,
    /// Write jobs of client 2.
    pub client_2_job: MessageSink<WriteJob>,
    /// Packets of client 2: one for each job, in order, of exactly the job's bytes.
    pub client_2_data: PacketSink,

    /// Write requests, in the order of the jobs.
    pub tlp: MessageSource<RequestTlp>,
    /// Payload of the requests. Each job begins with a new beat, or in the middle of a shared one.
    pub beat: MessageSource<Bits<512>>,

    /// Number of beats that the payload memory has stored so far, modulo 2^12.
    pub written: Signal<In, Bits<12>>,
    /// Largest payload of a TLP: 128 << max_payload bytes.
    pub max_payload: Signal<In, Bits<2>>,
    /// Number of jobs accepted since reset, modulo 2^16.
    pub jobs_accepted: Signal<Out, Bits<16>>,
    /// A job was accepted.
    pub job_taken: Signal<Out, Bit>,

    select: WriteSelect,
    cut_queue: Fifo<CutJob, 2, 3>,
    cutter: Cutter,
    maker: WriteMaker,
    tlp_queue: Fifo<RequestTlp, 4, 5>,
    align_queue: Fifo<AlignJob, 3, 4>,
    aligner: DwordAligner,

    client: Signal<Local, Bits<2>>,
}

impl Logic for WriteEngine {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, select, cut_queue, cutter, maker, tlp_queue);
        clock!(self, clock, align_queue, aligner);
        self.select.reset.next = self.reset.val();
        self.cut_queue.reset.next = self.reset.val();
        self.cutter.reset.next = self.reset.val();
        self.maker.reset.next = self.reset.val();
        self.tlp_queue.reset.next = self.reset.val();
        self.align_queue.reset.next = self.reset.val();
        self.aligner.reset.next = self.reset.val();

        MessageSink::<WriteJob>::link(&mut self.client_0_job, &mut self.select.client_0_job);
        MessageSink::<WriteJob>::link(&mut self.client_1_job, &mut self.select.client_1_job);
        MessageSink::<WriteJob>::link(&mut self.client_2_job, &mut self.select.client_2_job);
        MessageSource::<CutJob>::join(&mut self.select.cut, &mut self.cut_queue.sink);
        MessageSource::<CutJob>::join(&mut self.cut_queue.source, &mut self.cutter.job);
        MessageSource::<Piece>::join(&mut self.cutter.piece, &mut self.maker.piece);
        MessageSource::<RequestTlp>::join(&mut self.maker.tlp, &mut self.tlp_queue.sink);
        MessageSource::<RequestTlp>::link(&mut self.tlp, &mut self.tlp_queue.source);
        MessageSource::<AlignJob>::join(&mut self.select.align, &mut self.align_queue.sink);
        MessageSource::<AlignJob>::join(&mut self.align_queue.source, &mut self.aligner.job);
        MessageSource::<Bits<512>>::link(&mut self.beat, &mut self.aligner.beat);
        self.cutter.limit.next = self.max_payload.val();
        self.cutter.by_lines.next = true;
        self.maker.written.next = self.written.val();
        self.jobs_accepted.next = self.select.jobs_accepted.val();
        self.job_taken.next = self.select.job_taken.val();

        // The packet of the oldest job is taken from its client.
        self.client.next = self.aligner.client.val();
        self.client_0_data.ready.next = false;
        self.client_1_data.ready.next = false;
        self.client_2_data.ready.next = false;
        self.aligner.data_valid.next = self.client_0_data.valid.val();
        self.aligner.data.next = self.client_0_data.data.val();
        if self.client.val() == 0 {
            self.client_0_data.ready.next = self.aligner.data_ready.val();
        } else if self.client.val() == 1 {
            self.client_1_data.ready.next = self.aligner.data_ready.val();
            self.aligner.data_valid.next = self.client_1_data.valid.val();
            self.aligner.data.next = self.client_1_data.data.val();
        } else {
            self.client_2_data.ready.next = self.aligner.data_ready.val();
            self.aligner.data_valid.next = self.client_2_data.valid.val();
            self.aligner.data.next = self.client_2_data.data.val();
        }
    }
}
