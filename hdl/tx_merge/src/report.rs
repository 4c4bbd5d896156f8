//! Closes each descriptor: counts it, counts its error and tells the owner.
//!
//! ```text
//!  record ──┬──► descriptor_done, finished
//!  ended  ──┴──► error_count, send_event        (refused, or a frame of it was aborted)
//! ```
//! Timing: one descriptor a cycle; one with an error when its event is taken, which waits for
//! nothing that an owner does.
//!
//! Invariants:
//! 1. One `descriptor_done` for each descriptor, in order; one `error_count` and one event for
//!    each that failed, with the error of the look-up or `read_failed`.
//! 2. `finished` counts them modulo 2^32.

use crate::messages::SendRecord;
use abi::reason::SendError;
use stream::prelude::*;

// The literal of the kernel.
const _: () = assert!(SendError::ReadFailed as u8 == 5);

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Report {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// What is known since the look-up.
    pub record: MessageSink<SendRecord>,
    /// The descriptor's frames are made; 1: some could not be read.
    pub ended: MessageSink<Bits<1>>,
    /// For the owner's header queue.
    pub send_event: MessageSource<SendEvent>,
    /// Number of a SendError.
    pub error_count: PulseSource<SendErrorCode>,
    /// A descriptor is finished.
    pub descriptor_done: Signal<Out, Bit>,
    /// How many are.
    pub finished: Signal<Out, Bits<32>>,

    count: DFF<Bits<32>>,

    event_message: Signal<Local, SendEvent>,
    both: Signal<Local, Bit>,
    failed: Signal<Local, Bit>,
    done: Signal<Local, Bit>,

    #[value(SendError::ReadFailed as u64)]
    read_failed: Constant<SendErrorCode>,
}

impl Logic for Report {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count);
        self.both.next = self.record.valid.val() & self.ended.valid.val();
        self.failed.next = self.record.payload.val().refused | self.ended.payload.val().any();
        self.done.next = self.both.val() & (!self.failed.val() | self.send_event.ready.val());
        self.record.ready.next = self.done.val();
        self.ended.ready.next = self.done.val();

        self.event_message.next = self.record.payload.val().event_message;
        if !self.record.payload.val().refused {
            self.event_message.next.error = self.read_failed.val();
        }
        self.send_event.valid.next = self.both.val() & self.failed.val();
        self.send_event.payload.next = self.event_message.val();
        self.error_count.valid.next = self.done.val() & self.failed.val();
        self.error_count.payload.next = self.event_message.val().error;
        self.descriptor_done.next = self.done.val();

        self.finished.next = self.count.q.val();
        if self.done.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.reset.val() {
            self.count.d.next = 0.into();
        }
    }
}
