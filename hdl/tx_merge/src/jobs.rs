//! Cuts granted pieces into read jobs and issues each when its answer has room.
//!
//! ```text
//!  piece ──► cut at 4 KiB addresses ──► read_job
//!                  ▲ room of the payload buffer: 512 beats, 32 answers
//!  beat_freed ─────┘
//! ```
//! Timing: at most one job every second cycle.
//!
//! Invariants:
//! 1. Jobs follow the pieces' order and cover each byte once.
//! 2. Beats and answers of all jobs issued and not yet freed fit the payload buffer: it never
//!    stalls the reads.

use crate::plan::SendPiece;
use abi::config::SEND_READ_BYTES_MAX;
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SEND_READ_BYTES_MAX == 4096);

/// The stage. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Jobs {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Pieces in stream order.
    pub piece: MessageSink<SendPiece>,
    /// Reads.
    pub read_job: MessageSource<ReadJob>,
    /// A beat has left the payload buffer.
    pub beat_freed: Signal<In, Bit>,
    /// And it was the last of its answer.
    pub answer_freed: Signal<In, Bit>,

    job: DFF<ReadJob>,
    job_valid: DFF<Bit>,
    done_bytes: DFF<Bits<18>>,
    beats_used: DFF<Bits<10>>,
    answers_used: DFF<Bits<6>>,

    address: Signal<Local, Bits<64>>,
    page_rest: Signal<Local, Bits<18>>,
    page_offset: Signal<Local, Bits<18>>,
    piece_rest: Signal<Local, Bits<18>>,
    job_bytes: Signal<Local, Bits<18>>,
    job_beats: Signal<Local, Bits<10>>,
    beats_up: Signal<Local, Bits<18>>,
    beats_with_job: Signal<Local, Bits<10>>,
    has_room: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
}

impl Logic for Jobs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            job,
            job_valid,
            done_bytes,
            beats_used,
            answers_used
        );
        self.read_job.valid.next = self.job_valid.q.val();
        self.read_job.payload.next = self.job.q.val();

        // The next job ends with the piece or at a multiple of 4 KiB.
        self.address.next =
            self.piece.payload.val().address + bit_cast::<64, 18>(self.done_bytes.q.val());
        self.page_offset.next = bit_cast::<18, 12>(self.address.val().get_bits::<12>(0));
        self.page_rest.next = 4096 - self.page_offset.val();
        self.piece_rest.next = self.piece.payload.val().bytes - self.done_bytes.q.val();
        self.job_bytes.next = self.piece_rest.val();
        if self.page_rest.val() < self.piece_rest.val() {
            self.job_bytes.next = self.page_rest.val();
        }
        self.beats_up.next = self.job_bytes.val() + 63;
        self.job_beats.next = self.beats_up.val().get_bits::<10>(6);

        self.beats_with_job.next = self.beats_used.q.val() + self.job_beats.val();
        self.has_room.next = (self.beats_with_job.val() <= 512) & (self.answers_used.q.val() < 32);
        self.issue.next = self.piece.valid.val() & !self.job_valid.q.val() & self.has_room.val();
        self.piece.ready.next = self.issue.val() & (self.job_bytes.val() == self.piece_rest.val());
        if self.job_valid.q.val() & self.read_job.ready.val() {
            self.job_valid.d.next = false;
        }
        if self.issue.val() {
            self.job_valid.d.next = true;
            self.job.d.next.address = self.address.val();
            self.job.d.next.bytes = bit_cast::<16, 18>(self.job_bytes.val());
            self.done_bytes.d.next = self.done_bytes.q.val() + self.job_bytes.val();
            if self.job_bytes.val() == self.piece_rest.val() {
                self.done_bytes.d.next = 0.into();
            }
        }

        // Room is used when a job is issued and given back beat by beat.
        if self.issue.val() & self.beat_freed.val() {
            self.beats_used.d.next = self.beats_with_job.val() - 1;
        } else if self.issue.val() {
            self.beats_used.d.next = self.beats_with_job.val();
        } else if self.beat_freed.val() {
            self.beats_used.d.next = self.beats_used.q.val() - 1;
        }
        if self.issue.val() & !self.answer_freed.val() {
            self.answers_used.d.next = self.answers_used.q.val() + 1;
        } else if !self.issue.val() & self.answer_freed.val() {
            self.answers_used.d.next = self.answers_used.q.val() - 1;
        }
        if self.reset.val() {
            self.job_valid.d.next = false;
            self.done_bytes.d.next = 0.into();
            self.beats_used.d.next = 0.into();
            self.answers_used.d.next = 0.into();
        }
    }
}
