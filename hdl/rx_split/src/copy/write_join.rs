//! Direct and released writes on one client of `dma.write`.
//!
//! ```text
//!  released_job ─┐                           released_data ─┐
//!                ├─► write_job ─► order (4) ─►              ├─► write_data
//!  direct_job ───┘           metadata of a shared beat ─┐   │
//!                            direct_data ───────────────┴───┘
//! ```
//! Timing: combinational; released jobs are granted first.
//!
//! Invariants:
//! 1. The packets come in the order in which their jobs were taken.
//! 2. A job that was offered stays until it is taken.
//! 3. After a direct job that shares its last beat the next job taken is a direct one; the two make
//!    one packet.
//! 4. It relies on `shared` and `metadata` to stand with `direct_data`.

use stream::prelude::*;

/// The join. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteJoin {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: the order of jobs is forgotten.
    pub reset: Signal<In, Bit>,

    /// Write jobs of slots that were held.
    pub released_job: MessageSink<WriteJob>,
    /// Packets of `released_job`.
    pub released_data: PacketSink,
    /// Write jobs of everything that was not held.
    pub direct_job: MessageSink<WriteJob>,
    /// Packets of `direct_job`.
    pub direct_data: PacketSink,
    /// The second half of the beat at `direct_data` is `metadata`.
    pub shared: Signal<In, Bit>,
    /// Metadata that share the beat at `direct_data`.
    pub metadata: Signal<In, Bits<256>>,
    /// All jobs, to `dma.write`.
    pub write_job: MessageSource<WriteJob>,
    /// All packets, in the order of their jobs.
    pub write_data: PacketSource,

    order: ThroughFifo<Bit, 2, 3>,
    offered_direct: DFF<Bit>,
    joins: DFF<Bit>,
    is_direct: DFF<Bit>,
    is_open: DFF<Bit>,

    direct: Signal<Local, Bit>,
    any: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    from_direct: Signal<Local, Bit>,
    has_order: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
}

impl Logic for WriteJoin {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offered_direct, joins, is_direct, is_open);
        clock!(self, clock, order);
        self.order.reset.next = self.reset.val();

        self.direct.next =
            self.offered_direct.q.val() | self.joins.q.val() | !self.released_job.valid.val();
        self.write_job.payload.next = self.released_job.payload.val();
        self.any.next = self.released_job.valid.val() & self.order.sink.ready.val();
        if self.direct.val() {
            self.write_job.payload.next = self.direct_job.payload.val();
            self.any.next = self.direct_job.valid.val() & self.order.sink.ready.val();
        }
        self.write_job.valid.next = self.any.val();
        self.taken.next = self.any.val() & self.write_job.ready.val();
        self.direct_job.ready.next =
            self.direct.val() & self.write_job.ready.val() & self.order.sink.ready.val();
        self.released_job.ready.next =
            !self.direct.val() & self.write_job.ready.val() & self.order.sink.ready.val();
        self.offered_direct.d.next = self.any.val() & self.direct.val() & !self.taken.val();
        if self.taken.val() {
            self.joins.d.next = self.direct.val() & self.direct_job.payload.val().shares;
        }
        self.order.sink.valid.next = self.taken.val() & !self.joins.q.val();
        self.order.sink.payload.next = self.direct.val();

        // The packet at hand.
        self.has_order.next = self.is_open.q.val();
        self.from_direct.next = self.is_direct.q.val();
        self.write_data.valid.next = self.has_order.val() & self.released_data.valid.val();
        self.write_data.data.next = self.released_data.data.val();
        self.write_data.byte_count.next = self.released_data.byte_count.val();
        self.write_data.last.next = self.released_data.last.val();
        self.write_data.abort.next = false;
        if self.from_direct.val() {
            self.write_data.valid.next = self.has_order.val() & self.direct_data.valid.val();
            self.write_data.data.next = self.direct_data.data.val();
            if self.shared.val() {
                self.write_data.data.next =
                    bit_cast::<512, 256>(self.direct_data.data.val().get_bits::<256>(0))
                        | (bit_cast::<512, 256>(self.metadata.val()) << 256);
            }
            self.write_data.byte_count.next = self.direct_data.byte_count.val();
            self.write_data.last.next = self.direct_data.last.val();
        }
        self.direct_data.ready.next =
            self.has_order.val() & self.from_direct.val() & self.write_data.ready.val();
        self.released_data.ready.next =
            self.has_order.val() & !self.from_direct.val() & self.write_data.ready.val();
        self.moves.next =
            self.write_data.valid.val() & self.write_data.last.val() & self.write_data.ready.val();
        // The next one follows without a pause.
        self.order.source.ready.next = !self.is_open.q.val() | self.moves.val();
        if !self.is_open.q.val() | self.moves.val() {
            self.is_direct.d.next = self.order.source.payload.val();
            self.is_open.d.next = self.order.source.valid.val();
        }
        if self.reset.val() {
            self.offered_direct.d.next = false;
            self.joins.d.next = false;
            self.is_open.d.next = false;
        }
    }
}
