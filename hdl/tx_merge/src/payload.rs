//! Holds the answers of the reads until they are complete, so that length and verdict of each are
//! known before its first beat is used.
//!
//! ```text
//!  read_data ──┬──► whole answers, 512 beats ─────────► answers
//!              └──► count ──► length, verdict; 128 ───► facts
//! ```
//! Timing: an answer is offered three cycles after its last beat, its facts one; one beat a cycle
//! in and out. `beat_freed` and `answer_freed` are registers.
//!
//! Invariants:
//! 1. One message of `facts` for each answer, in order.
//! 2. `beat_freed` and `answer_freed` pulse in the cycle after a beat, and the last of an answer,
//!    have left.

use crate::messages::AnswerFacts;
use abi::config::SEND_READ_BYTES_MAX;
use stream::prelude::*;

// A length is kept in 3 bits of full beats and the bytes of the last.
const _: () = assert!(SEND_READ_BYTES_MAX <= 8 * 64);

/// The buffer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Payload {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Answers as they arrive.
    pub read_data: PacketSink,
    /// Whole answers, the failed ones too.
    pub answers: PacketSource,
    /// How long each is, and whether it failed.
    pub facts: MessageSource<AnswerFacts>,
    /// A beat has left.
    pub beat_freed: Signal<Out, Bit>,
    /// The last beat of an answer has left.
    pub answer_freed: Signal<Out, Bit>,

    #[value(FrameFifo::new(false, false))]
    store: FrameFifo<9, 10>,
    verdicts: Fifo<AnswerFacts, 7, 8>,
    beats: DFF<Bits<3>>,
    beat_left: DFF<Bit>,
    answer_left: DFF<Bit>,

    take: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
}

impl Logic for Payload {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beats, beat_left, answer_left);
        clock!(self, clock, store, verdicts);
        self.store.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();

        // In: both parts have room for every answer that was asked for.
        self.store.sink.valid.next = self.read_data.valid.val() & self.verdicts.sink.ready.val();
        self.store.sink.data.next = self.read_data.data.val();
        self.store.sink.byte_count.next = self.read_data.byte_count.val();
        self.store.sink.last.next = self.read_data.last.val();
        self.store.sink.abort.next = self.read_data.abort.val();
        self.read_data.ready.next = self.store.sink.ready.val() & self.verdicts.sink.ready.val();
        self.take.next = self.read_data.valid.val()
            & self.store.sink.ready.val()
            & self.verdicts.sink.ready.val();
        if self.take.val() {
            self.beats.d.next = self.beats.q.val() + 1;
            if self.read_data.last.val() {
                self.beats.d.next = 0.into();
            }
        }
        self.verdicts.sink.valid.next =
            self.read_data.valid.val() & self.read_data.last.val() & self.store.sink.ready.val();
        self.verdicts.sink.payload.next.beats = self.beats.q.val();
        self.verdicts.sink.payload.next.last_bytes = self.read_data.byte_count.val();
        self.verdicts.sink.payload.next.failed = self.read_data.abort.val();

        // Out: what has left is counted a cycle later.
        MessageSource::<AnswerFacts>::link(&mut self.facts, &mut self.verdicts.source);
        PacketSource::link(&mut self.answers, &mut self.store.source);
        self.leave.next = self.store.source.valid.val() & self.answers.ready.val();
        self.beat_left.d.next = self.leave.val() & !self.reset.val();
        self.answer_left.d.next =
            self.leave.val() & self.store.source.last.val() & !self.reset.val();
        self.beat_freed.next = self.beat_left.q.val();
        self.answer_freed.next = self.answer_left.q.val();
        if self.reset.val() {
            self.beats.d.next = 0.into();
        }
    }
}
