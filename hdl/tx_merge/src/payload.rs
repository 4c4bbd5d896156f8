//! Holds the answers of the reads until they are complete, so that a failed one is known at its
//! first beat.
//!
//! ```text
//!  read_data ──┬──► whole answers, 512 beats ──┬──► answers (abort on every beat of a failed one)
//!              └──► verdicts, 128 ─────────────┘
//! ```
//! Timing: an answer is offered two cycles after its last beat; one beat a cycle in and out.
//!
//! Invariants:
//! 1. `answers.abort` is the same for all beats of an answer.
//! 2. `beat_freed` and `answer_freed` pulse when a beat, and the last of an answer, leave.

use stream::prelude::*;

/// The buffer. See the module's head.
#[derive(LogicBlock)]
pub struct Payload {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Answers as they arrive.
    pub read_data: PacketSink,
    /// Whole answers.
    pub answers: PacketSource,
    /// A beat has left.
    pub beat_freed: Signal<Out, Bit>,
    /// The last beat of an answer has left.
    pub answer_freed: Signal<Out, Bit>,

    store: FrameFifo<9, 10>,
    verdicts: Fifo<Bits<1>, 7, 8>,

    leave: Signal<Local, Bit>,
}

impl Default for Payload {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            read_data: Default::default(),
            answers: Default::default(),
            beat_freed: Default::default(),
            answer_freed: Default::default(),
            store: FrameFifo::new(false, false),
            verdicts: Default::default(),
            leave: Default::default(),
        }
    }
}

impl Logic for Payload {
    #[hdl_gen]
    fn update(&mut self) {
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();
        self.verdicts.clock.next = self.clock.val();
        self.verdicts.reset.next = self.reset.val();

        // In: both parts have room for every answer that was asked for.
        self.store.sink.valid.next = self.read_data.valid.val() & self.verdicts.sink.ready.val();
        self.store.sink.data.next = self.read_data.data.val();
        self.store.sink.byte_count.next = self.read_data.byte_count.val();
        self.store.sink.last.next = self.read_data.last.val();
        self.store.sink.abort.next = false;
        self.read_data.ready.next = self.store.sink.ready.val() & self.verdicts.sink.ready.val();
        self.verdicts.sink.valid.next =
            self.read_data.valid.val() & self.read_data.last.val() & self.store.sink.ready.val();
        self.verdicts.sink.payload.next = 0.into();
        if self.read_data.abort.val() {
            self.verdicts.sink.payload.next = 1.into();
        }

        // Out: the verdict stays until its answer has left.
        self.leave.next = self.store.source.valid.val()
            & self.verdicts.source.valid.val()
            & self.answers.ready.val();
        self.answers.valid.next = self.store.source.valid.val() & self.verdicts.source.valid.val();
        self.answers.data.next = self.store.source.data.val();
        self.answers.byte_count.next = self.store.source.byte_count.val();
        self.answers.last.next = self.store.source.last.val();
        self.answers.abort.next = self.verdicts.source.payload.val().any();
        self.store.source.ready.next = self.answers.ready.val() & self.verdicts.source.valid.val();
        self.verdicts.source.ready.next = self.leave.val() & self.store.source.last.val();
        self.beat_freed.next = self.leave.val();
        self.answer_freed.next = self.leave.val() & self.store.source.last.val();
    }
}
