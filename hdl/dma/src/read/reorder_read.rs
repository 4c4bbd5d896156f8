//! Reads complete read data out of the reorder memory, in job order.
//!
//! ```text
//!   complete ──►┌─────────────┐ 64-byte block ┌─────────┐ packet beats
//!               │ ReorderRead │──────────────►│ Realign │──────────────► client 0..3
//!               └──────▲──────┘               └─────────┘
//!               ReorderMemory
//! ```
//! An *aligned block* is 64 aligned bytes of the bus address space. A job covers consecutive ones.
//!
//! Timing: an aligned block is offered three cycles after its request came at `complete`; one
//! beat per cycle. `read_address`, `retire` and `complete.ready` are combinational from `complete`
//! and registers; `complete.ready` waits for `complete.valid`.
//!
//! Invariants:
//! 1. Read data leave in the order in which jobs were accepted, over all clients. A client that
//!    does not take its read data holds up the others, so each must be able to take what it
//!    requested.
//! 2. `failed` of a beat is set if its request or an earlier one of its job failed.
//! 3. A request is retired when its last beat is addressed.
//!
//! Source: docs/specification.md, Reads.

use crate::read::data_wait::CompleteOrder;
use crate::read::messages::ReadOrder;
use stream::prelude::*;

/// An aligned block of read data.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NaturalBeat {
    /// The 64 bytes; those outside of the job are undefined.
    pub data: Bits<512>,
    /// Place of the beat in its job.
    pub place: NaturalPlace,
}

/// Place of an aligned block in its job.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NaturalPlace {
    /// Client that gets the read data.
    pub client: Bits<2>,
    /// First aligned block of the job.
    pub first: Bit,
    /// Last aligned block of the job.
    pub last: Bit,
    /// Place of the job's first byte in its first aligned block.
    pub shift: Bits<6>,
    /// Place of the last byte of the beat's request in that request's last aligned block; on the
    /// last beat of the job, of the job's last byte.
    pub end: Bits<6>,
    /// The beat's request or an earlier one of the job failed.
    pub failed: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReorderRead {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the current job and the beats that are read.
    pub reset: Signal<In, Bit>,

    /// Requests in job order whose read data are complete.
    pub complete: MessageSink<CompleteOrder>,
    /// Beat of the reorder memory to read.
    pub read_address: Signal<Out, Bits<9>>,
    /// The beat of the reorder memory that was addressed two cycles before.
    pub read_data: Signal<In, Bits<512>>,
    /// The last beat of this request is addressed: its tag and its beats are free.
    pub retire: PulseSource<ReadOrder>,

    /// Aligned blocks, in job order.
    pub beat: MessageSource<NaturalBeat>,

    queue: Fifo<NaturalBeat, 3, 4>,
    has_space: DFF<Bit>,
    offset: DFF<Bits<3>>,
    shift: DFF<Bits<6>>,
    has_failed: DFF<Bit>,
    latched: DFF<Bit>,
    latched_place: DFF<NaturalPlace>,
    pending: DFF<Bit>,
    pending_place: DFF<NaturalPlace>,

    request: Signal<Local, ReadOrder>,
    first_byte: Signal<Local, Bits<9>>,
    last_byte: Signal<Local, Bits<9>>,
    is_first: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    failed_now: Signal<Local, Bit>,
    place: Signal<Local, NaturalPlace>,
    result: Signal<Local, NaturalBeat>,
}

impl Logic for ReorderRead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            has_space,
            offset,
            shift,
            has_failed,
            latched,
            latched_place,
            pending,
            pending_place
        );
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        MessageSource::<NaturalBeat>::link(&mut self.beat, &mut self.queue.source);

        // The next beat of the oldest request, if the queue has space for it and for those that are
        // still being read.
        self.request.next = self.complete.payload.val().order;
        self.first_byte.next = self.request.val().begin;
        self.last_byte.next = self.request.val().end;
        self.is_first.next = self.request.val().first & (self.offset.q.val() == 0);
        self.is_last.next = (self.first_byte.val().get_bits::<3>(6) + self.offset.q.val())
            == self.last_byte.val().get_bits::<3>(6);
        self.has_space.d.next = self.queue.level.val() < 4;
        self.advance.next = self.complete.valid.val() & self.has_space.q.val() & !self.reset.val();
        self.read_address.next = self.request.val().start + bit_cast::<9, 3>(self.offset.q.val());
        self.complete.ready.next = self.advance.val() & self.is_last.val();
        self.retire.valid.next = self.advance.val() & self.is_last.val();
        self.retire.payload.next = self.request.val();

        self.failed_now.next =
            self.complete.payload.val().failed | (self.has_failed.q.val() & !self.is_first.val());
        self.place.next.client = self.request.val().client;
        self.place.next.first = self.is_first.val();
        self.place.next.last = self.request.val().last & self.is_last.val();
        self.place.next.shift = self.shift.q.val();
        if self.is_first.val() {
            self.place.next.shift = self.first_byte.val().get_bits::<6>(0);
        }
        self.place.next.end = self.last_byte.val().get_bits::<6>(0);
        self.place.next.failed = self.failed_now.val();
        self.latched.d.next = self.advance.val();
        self.latched_place.d.next = self.place.val();
        self.pending.d.next = self.latched.q.val();
        self.pending_place.d.next = self.latched_place.q.val();
        if self.advance.val() {
            self.offset.d.next = self.offset.q.val() + 1;
            self.shift.d.next = self.place.val().shift;
            self.has_failed.d.next = self.failed_now.val();
            if self.is_last.val() {
                self.offset.d.next = 0.into();
            }
        }
        if self.reset.val() {
            self.offset.d.next = 0.into();
            self.latched.d.next = false;
            self.pending.d.next = false;
        }

        self.result.next.data = self.read_data.val();
        self.result.next.place = self.pending_place.q.val();
        self.queue.sink.payload.next = self.result.val();
        self.queue.sink.valid.next = self.pending.q.val();
    }
}
