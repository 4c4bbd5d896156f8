//! Cuts each granted piece into reads and issues a read when the payload buffer has space for it.
//!
//! ```text
//!  piece ──► [0, 512) [512, 1024) ... ──► read_job
//!                                           ▲ free space in the buffer: 512 beats, 128 reads
//!                   beat_freed, read_freed ─┘
//! ```
//! Timing: one job per cycle, offered the cycle after its piece came; what it needs of the payload
//! buffer is counted a cycle later. `piece.ready` follows `read_job.ready` in the same cycle.
//!
//! Invariants:
//! 1. The jobs of a piece cover its bytes in order. Each ends with the piece or at a multiple of
//!    512 bytes: read data are handed on when they are complete, so a long read would delay its
//!    start.
//! 2. The data of all reads issued and not yet freed fit the payload buffer: it never stalls the
//!    reads.
//!
//! Source: docs/specification.md, Gather.

use crate::messages::SendPiece;
use abi::config::{PAGE_BITS_MIN, SEND_PIECE_BYTES_MAX, SEND_READ_BYTES_MAX};
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SEND_READ_BYTES_MAX == 512 && SEND_PIECE_BYTES_MAX == 1 << PAGE_BITS_MIN);

/// Counts what the reads in flight and the data not yet freed take of the payload buffer.
/// `has_space` is a register.
#[derive(LogicBlock, Default)]
pub struct PayloadSpace {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The whole payload buffer is free.
    pub reset: Signal<In, Bit>,

    /// The payload buffer has space for any read.
    pub has_space: Signal<Out, Bit>,
    /// A read is issued.
    pub issue: Signal<In, Bit>,
    /// Bytes of the read that is issued, 1 to 512.
    pub bytes: Signal<In, Bits<10>>,
    /// A beat has left the payload buffer.
    pub beat_freed: Signal<In, Bit>,
    /// With `beat_freed`: the beat was the last of its read.
    pub read_freed: Signal<In, Bit>,

    free: DFF<Bit>,
    beats_used: DFF<Bits<10>>,
    reads_used: DFF<Bits<8>>,

    read_beats: Signal<Local, Bits<10>>,
    beats_with_read: Signal<Local, Bits<10>>,
}

impl Logic for PayloadSpace {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, free, beats_used, reads_used);
        // A read takes eight beats at most, and two may be issued and not counted yet.
        self.free.d.next = (self.beats_used.q.val() <= 488) & (self.reads_used.q.val() < 126);
        self.has_space.next = self.free.q.val();
        self.read_beats.next = bit_cast::<10, 4>((self.bytes.val() + 63).get_bits::<4>(6));
        self.beats_with_read.next = self.beats_used.q.val() + self.read_beats.val();

        // Space is taken when a read is issued, and freed beat by beat.
        if self.issue.val() & self.beat_freed.val() {
            self.beats_used.d.next = self.beats_with_read.val() - 1;
        } else if self.issue.val() {
            self.beats_used.d.next = self.beats_with_read.val();
        } else if self.beat_freed.val() {
            self.beats_used.d.next = self.beats_used.q.val() - 1;
        }
        if self.issue.val() & !self.read_freed.val() {
            self.reads_used.d.next = self.reads_used.q.val() + 1;
        } else if !self.issue.val() & self.read_freed.val() {
            self.reads_used.d.next = self.reads_used.q.val() - 1;
        }
        if self.reset.val() {
            self.beats_used.d.next = 0.into();
            self.reads_used.d.next = 0.into();
        }
    }
}

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Jobs {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the piece under way and the job that is offered, and frees the payload buffer.
    pub reset: Signal<In, Bit>,

    /// Pieces in stream order.
    pub piece: MessageSink<SendPiece>,
    /// Reads of at most 512 bytes.
    pub read_job: MessageSource<ReadJob>,
    /// Bytes of a read that is issued, one cycle later.
    pub requested_bytes: PulseSource<Bits<10>>,
    /// A beat has left the payload buffer.
    pub beat_freed: Signal<In, Bit>,
    /// With `beat_freed`: the beat was the last of its read.
    pub read_freed: Signal<In, Bit>,

    job: DFF<ReadJob>,
    job_valid: DFF<Bit>,
    in_piece: DFF<Bit>,
    block: DFF<Bits<3>>,
    rest: DFF<Bits<13>>,
    issued: DFF<Bit>,
    issued_bytes: DFF<Bits<10>>,
    space: PayloadSpace,

    address: Signal<Local, Bits<64>>,
    offset: Signal<Local, Bits<12>>,
    left: Signal<Local, Bits<13>>,
    block_end: Signal<Local, Bits<13>>,
    block_rest: Signal<Local, Bits<10>>,
    ends: Signal<Local, Bit>,
    bytes: Signal<Local, Bits<10>>,
    issue: Signal<Local, Bit>,
    /// Pieces do not cross a multiple of 4 KiB.
    #[value(u64::MAX << PAGE_BITS_MIN)]
    page: Constant<Bits<64>>,
}

impl Logic for Jobs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, job, job_valid, in_piece, block, rest);
        dff_setup!(self, clock, issued, issued_bytes);
        clock!(self, clock, space);
        self.read_job.valid.next = self.job_valid.q.val();
        self.read_job.payload.next = self.job.q.val();

        // The next read of the piece: up to the next multiple of 512, or to its end.
        self.address.next = self.piece.payload.val().address;
        self.offset.next = self.address.val().get_bits::<12>(0);
        self.left.next = self.piece.payload.val().bytes;
        if self.in_piece.q.val() {
            self.offset.next = bit_cast::<12, 3>(self.block.q.val()) << 9;
            self.left.next = self.rest.q.val();
        }
        self.block_rest.next = 512 - bit_cast::<10, 9>(self.offset.val().get_bits::<9>(0));
        // Up to 512 bytes from the last multiple: from single bits, after one sum. Only a piece's
        // first read begins elsewhere.
        self.block_end.next =
            self.piece.payload.val().bytes + bit_cast::<13, 9>(self.address.val().get_bits::<9>(0));
        self.ends.next = !(self.block_end.val().get_bits::<3>(10).any()
            | (self.block_end.val().get_bit(9) & self.block_end.val().get_bits::<9>(0).any()));
        if self.in_piece.q.val() {
            self.ends.next = !(self.rest.q.val().get_bits::<3>(10).any()
                | (self.rest.q.val().get_bit(9) & self.rest.q.val().get_bits::<9>(0).any()));
        }
        self.bytes.next = self.block_rest.val();
        if self.ends.val() {
            self.bytes.next = bit_cast::<10, 13>(self.left.val());
        }

        self.issue.next = self.piece.valid.val()
            & self.space.has_space.val()
            & (!self.job_valid.q.val() | self.read_job.ready.val());
        self.piece.ready.next = self.issue.val() & self.ends.val();
        self.issued.d.next = self.issue.val();
        self.issued_bytes.d.next = self.bytes.val();
        self.requested_bytes.valid.next = self.issued.q.val();
        self.requested_bytes.payload.next = self.issued_bytes.q.val();
        self.space.reset.next = self.reset.val();
        self.space.issue.next = self.issued.q.val();
        self.space.bytes.next = self.issued_bytes.q.val();
        self.space.beat_freed.next = self.beat_freed.val();
        self.space.read_freed.next = self.read_freed.val();
        if self.read_job.ready.val() {
            self.job_valid.d.next = false;
        }
        if self.issue.val() {
            self.job_valid.d.next = true;
            self.job.d.next.address =
                (self.address.val() & self.page.val()) | bit_cast::<64, 12>(self.offset.val());
            self.job.d.next.bytes = bit_cast::<16, 10>(self.bytes.val());
            self.in_piece.d.next = !self.ends.val();
            self.block.d.next = self.offset.val().get_bits::<3>(9) + 1;
            self.rest.d.next = self.left.val() - bit_cast::<13, 10>(self.block_rest.val());
        }

        if self.reset.val() {
            self.job_valid.d.next = false;
            self.in_piece.d.next = false;
            self.issued.d.next = false;
        }
    }
}
