//! Turns a verdict into a plan for the frames and a record for the report.
//!
//! ```text
//!  verdict ──┬──► plan   (to segment, queue of 128)
//!            ├──► record (to report, queue of 128)
//!            └──► dropped_bytes
//! ```
//! Timing: one verdict per cycle; each queue adds three cycles, `dropped_bytes` comes one later.
//! The queues hold the descriptors whose payload is on its way: 128 small ones last for 900 ns at
//! two cycles for each frame.
//!
//! Invariants:
//! 1. One plan and one record for each verdict, in the same order.
//! 2. With more than one frame both checksums are always inserted.

use crate::messages::{HeaderLayout, SendFields, SendPlan, SendRecord, SendVerdict};
use stream::prelude::*;

/// The planner. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Planner {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties both queues.
    pub reset: Signal<In, Bit>,

    /// What was decided on each descriptor.
    pub verdict: MessageSink<SendVerdict>,
    /// Frames to make of each descriptor, in ring order.
    pub plan: MessageSource<SendPlan>,
    /// What the end of each descriptor needs to know, in ring order.
    pub record: MessageSource<SendRecord>,
    /// Payload of a descriptor that will not be read: what is trimmed or refused.
    pub dropped_bytes: PulseSource<Bits<18>>,

    plan_queue: BlockFifo<SendPlan, 7, 8>,
    record_queue: BlockFifo<SendRecord, 7, 8>,
    taken: DFF<Bit>,
    descriptor_bytes: DFF<Bits<18>>,
    read_bytes: DFF<Bits<18>>,

    fields: Signal<Local, SendFields>,
    layout: Signal<Local, HeaderLayout>,
    fixed_layout: Signal<Local, HeaderLayout>,
    event_message: Signal<Local, SendEvent>,
    cut: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
}

impl Logic for Planner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken, descriptor_bytes, read_bytes);
        clock!(self, clock, plan_queue, record_queue);
        self.plan_queue.reset.next = self.reset.val();
        self.record_queue.reset.next = self.reset.val();
        MessageSource::<SendPlan>::link(&mut self.plan, &mut self.plan_queue.source);
        MessageSource::<SendRecord>::link(&mut self.record, &mut self.record_queue.source);

        self.take.next = self.verdict.valid.val()
            & self.plan_queue.sink.ready.val()
            & self.record_queue.sink.ready.val();
        self.verdict.ready.next =
            self.plan_queue.sink.ready.val() & self.record_queue.sink.ready.val();
        self.plan_queue.sink.valid.next = self.take.val();
        self.record_queue.sink.valid.next = self.take.val();

        // With more than one frame both checksums are always inserted.
        self.fields.next = self.verdict.payload.val().fields;
        self.layout.next = self.fields.val().layout;
        self.cut.next = self.verdict.payload.val().payload_bytes
            > bit_cast::<18, 14>(self.fields.val().mss_bytes);
        self.fixed_layout.next = self.layout.val();
        self.fixed_layout.next.l4_checksum = self.layout.val().l4_checksum | self.cut.val();
        self.fixed_layout.next.ip_checksum =
            (self.layout.val().ip_checksum | self.cut.val()) & !self.layout.val().ipv6;
        self.plan_queue.sink.payload.next.refused = self.verdict.payload.val().refused;
        self.plan_queue.sink.payload.next.template_beats = self.fields.val().template_beats;
        self.plan_queue.sink.payload.next.layout = self.fixed_layout.val();
        self.plan_queue.sink.payload.next.cut = self.cut.val();
        self.plan_queue.sink.payload.next.rewrite = self.verdict.payload.val().payload_bytes.any();
        self.plan_queue.sink.payload.next.payload_bytes = self.verdict.payload.val().payload_bytes;
        self.plan_queue.sink.payload.next.trim_bytes = self.verdict.payload.val().trim_bytes;
        self.plan_queue.sink.payload.next.mss_bytes = self.fields.val().mss_bytes;

        self.event_message.next.owner = self.fields.val().owner;
        self.event_message.next.flow = self.fields.val().flow;
        self.event_message.next.generation = self.fields.val().generation;
        self.event_message.next.error = self.verdict.payload.val().error;
        self.event_message.next.position = self.fields.val().position;
        self.record_queue.sink.payload.next.refused = self.verdict.payload.val().refused;

        // What is cut off or refused is never read.
        self.taken.d.next = self.take.val() & !self.reset.val();
        self.descriptor_bytes.d.next = self.fields.val().payload_bytes;
        self.read_bytes.d.next = self.verdict.payload.val().payload_bytes;
        if self.verdict.payload.val().refused {
            self.read_bytes.d.next = 0.into();
        }
        self.dropped_bytes.valid.next = self.taken.q.val();
        self.dropped_bytes.payload.next = self.descriptor_bytes.q.val() - self.read_bytes.q.val();
        self.record_queue.sink.payload.next.event_message = self.event_message.val();
    }
}
