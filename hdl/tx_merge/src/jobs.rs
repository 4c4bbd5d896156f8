//! Issues the read of each granted piece when its answer has room.
//!
//! ```text
//!  piece ──► read_job
//!              ▲ room of the payload buffer: 512 beats, 128 answers
//!  beat_freed ─┘
//! ```
//! Timing: one job a cycle, offered the cycle after its piece was taken.
//!
//! Invariants:
//! 1. One job for each piece, in their order.
//! 2. Beats and answers of all jobs issued and not yet freed fit the payload buffer: it never
//!    stalls the reads.

use crate::plan::SendPiece;
use stream::prelude::*;

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
    beats_used: DFF<Bits<10>>,
    answers_used: DFF<Bits<8>>,

    job_beats: Signal<Local, Bits<10>>,
    beats_up: Signal<Local, Bits<13>>,
    beats_with_job: Signal<Local, Bits<10>>,
    has_room: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
}

impl Logic for Jobs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, job, job_valid, beats_used, answers_used);
        self.read_job.valid.next = self.job_valid.q.val();
        self.read_job.payload.next = self.job.q.val();

        self.beats_up.next = self.piece.payload.val().bytes + 63;
        self.job_beats.next = bit_cast::<10, 7>(self.beats_up.val().get_bits::<7>(6));
        self.beats_with_job.next = self.beats_used.q.val() + self.job_beats.val();
        self.has_room.next = (self.beats_with_job.val() <= 512) & (self.answers_used.q.val() < 128);
        self.issue.next = self.piece.valid.val()
            & self.has_room.val()
            & (!self.job_valid.q.val() | self.read_job.ready.val());
        self.piece.ready.next = self.issue.val();
        if self.read_job.ready.val() {
            self.job_valid.d.next = false;
        }
        if self.issue.val() {
            self.job_valid.d.next = true;
            self.job.d.next.address = self.piece.payload.val().address;
            self.job.d.next.bytes = bit_cast::<16, 13>(self.piece.payload.val().bytes);
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
            self.beats_used.d.next = 0.into();
            self.answers_used.d.next = 0.into();
        }
    }
}
