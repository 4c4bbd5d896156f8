//! Takes write jobs from three clients in turn and tells cutter and aligner about each.
//!
//! ```text
//!   client 0 ──►┌────────┐──► cut    (address, length)
//!   client 1 ──►│ Write  │
//!   client 2 ──►│ Select │──► align  (client, shift, beats)
//!               └────────┘
//! ```
//! Timing: combinational; a job is accepted when both queues behind have room.
//!
//! Invariants:
//! 1. Both outputs get every job, in the same order.
//! 2. A client that waits is served before any other is served twice.

use crate::align::AlignJob;
use crate::request::CutJob;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteSelect {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Takes nothing while high and counts from 0.
    pub reset: Signal<In, Bit>,

    /// Jobs of client 0.
    pub client_0_job: MessageSink<WriteJob>,
    /// Jobs of client 1.
    pub client_1_job: MessageSink<WriteJob>,
    /// Jobs of client 2.
    pub client_2_job: MessageSink<WriteJob>,

    /// What the cutter needs to know.
    pub cut: MessageSource<CutJob>,
    /// What the aligner needs to know.
    pub align: MessageSource<AlignJob>,
    /// Jobs accepted since reset, modulo 2^16.
    pub jobs_accepted: Signal<Out, Bits<16>>,
    /// A job was taken.
    pub job_taken: Signal<Out, Bit>,

    turn: DFF<Bits<2>>,
    accepted: DFF<Bits<16>>,

    chosen: Signal<Local, Bits<2>>,
    any: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    job: Signal<Local, WriteJob>,
    offset: Signal<Local, Bits<2>>,
    padded: Signal<Local, Bits<16>>,
    padded_shifted: Signal<Local, Bits<16>>,
    cut_job: Signal<Local, CutJob>,
    align_job: Signal<Local, AlignJob>,
}

impl Logic for WriteSelect {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, accepted);

        // `turn` is the client that was served last.
        self.chosen.next = 0.into();
        if self.turn.q.val() == 0 {
            if self.client_1_job.valid.val() {
                self.chosen.next = 1.into();
            } else if self.client_2_job.valid.val() {
                self.chosen.next = 2.into();
            }
        } else if self.turn.q.val() == 1 {
            if self.client_2_job.valid.val() {
                self.chosen.next = 2.into();
            } else if !self.client_0_job.valid.val() {
                self.chosen.next = 1.into();
            }
        } else if !self.client_0_job.valid.val() {
            self.chosen.next = 2.into();
            if self.client_1_job.valid.val() {
                self.chosen.next = 1.into();
            }
        }
        self.any.next = self.client_0_job.valid.val()
            | self.client_1_job.valid.val()
            | self.client_2_job.valid.val();
        self.has_room.next = self.cut.ready.val() & self.align.ready.val() & !self.reset.val();
        self.advance.next = self.any.val() & self.has_room.val();

        self.client_0_job.ready.next = false;
        self.client_1_job.ready.next = false;
        self.client_2_job.ready.next = false;
        self.job.next = self.client_0_job.payload.val();
        if self.chosen.val() == 0 {
            self.client_0_job.ready.next = self.advance.val();
        } else if self.chosen.val() == 1 {
            self.client_1_job.ready.next = self.advance.val();
            self.job.next = self.client_1_job.payload.val();
        } else {
            self.client_2_job.ready.next = self.advance.val();
            self.job.next = self.client_2_job.payload.val();
        }

        self.cut_job.next.address = self.job.val().address;
        self.cut_job.next.bytes = self.job.val().bytes;
        self.cut_job.next.relaxed = self.job.val().relaxed;
        self.cut_job.next.client = self.chosen.val();
        self.cut.payload.next = self.cut_job.val();
        self.cut.valid.next = self.advance.val();
        // Beats before and after the shift by the address modulo 4.
        self.offset.next = bit_cast::<2, 64>(self.job.val().address);
        self.padded.next = self.job.val().bytes + 63;
        self.padded_shifted.next = self.padded.val() + bit_cast::<16, 2>(self.offset.val());
        self.align_job.next.client = self.chosen.val();
        self.align_job.next.offset = self.offset.val();
        self.align_job.next.beats = self.padded.val().get_bits::<9>(6);
        self.align_job.next.spills =
            self.padded.val().get_bits::<9>(6) != self.padded_shifted.val().get_bits::<9>(6);
        self.align.payload.next = self.align_job.val();
        self.align.valid.next = self.advance.val();

        self.jobs_accepted.next = self.accepted.q.val();
        self.job_taken.next = self.advance.val();
        if self.reset.val() {
            self.accepted.d.next = 0.into();
        } else if self.advance.val() {
            self.turn.d.next = self.chosen.val();
            self.accepted.d.next = self.accepted.q.val() + 1;
        }
    }
}
