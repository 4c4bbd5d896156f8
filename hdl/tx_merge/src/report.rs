//! Ends each descriptor: counts it, counts its error and makes its event.
//!
//! ```text
//!  record ──┬──► descriptor_done, finished
//!  ended  ──┴──► error_count, send_event        (refused, or a frame of it was aborted)
//! ```
//! Timing: one descriptor per cycle; one with an error when its event is taken, which waits for
//! nothing that an owner does. All outputs except `finished` follow the inputs of the same cycle.
//!
//! Invariants:
//! 1. One `descriptor_done` for each descriptor, in order.
//! 2. One `error_count` and one event for each descriptor that failed, with the error of the
//!    look-up or `read_failed`.
//! 3. `finished` counts the descriptors modulo 2^32.
//!
//! Source: docs/specification.md, Failed sends.

use crate::messages::SendRecord;
use abi::reason::SendError;
use stream::prelude::*;

// The literal of the kernel.
const _: () = assert!(SendError::ReadFailed as u8 == 5);

/// The stage. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Report {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Sets `finished` to 0.
    pub reset: Signal<In, Bit>,

    /// What the look-up decided on each descriptor, in ring order.
    pub record: MessageSink<SendRecord>,
    /// One message for each descriptor when its frames are made; 1: some payload could not be read.
    pub ended: MessageSink<Bits<1>>,
    /// Event of a failed descriptor, for its owner's header queue.
    pub send_event: MessageSource<SendEvent>,
    /// Number of the SendError of a failed descriptor.
    pub error_count: PulseSource<SendErrorCode>,
    /// A descriptor is finished.
    pub descriptor_done: Signal<Out, Bit>,
    /// Descriptors finished since reset, modulo 2^32.
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
