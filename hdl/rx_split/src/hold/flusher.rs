//! Flush reads: one in flight for each memory except 0, each covering every write before it.
//!
//! ```text
//!  wanted ─► [ticket 1] ─┐                    ┌─► flush_job
//!            [ticket 2] ─┼─► lowest ─► offer ─┤
//!            [ticket 3] ─┘                    └─► order (4) ◄── flush_data
//! ```
//! Timing: a flush read is offered two cycles after its slot landed, if none is in flight.
//!
//! Invariants:
//! 1. A flush read is offered after every write job that was taken before its slots landed; that
//!    `dma.read` keeps this order on the bus is its own invariant.
//! 2. A memory never waits for another one's flush read to return before its own is requested. Read
//!    data return in the order of the requests: one that times out delays those after it.
//! 3. The address of a flush read that waits is the one that software wrote last.
//!
//! On error: see [`crate::hold::flush_ticket`].
//!
//! Source: docs/specification.md, Hold and Reads.

use crate::hold::flush_ticket::FlushTicket;
use stream::prelude::*;

/// Bytes of a flush read.
pub const FLUSH_BYTES: u64 = 4;

/// The flusher. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Flusher {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: tickets and flush reads owed are forgotten.
    pub reset: Signal<In, Bit>,

    /// A slot lands that waits for these memories, one bit each.
    pub wanted: Signal<In, Bits<4>>,
    /// Tickets that the slot waits for: memory 1 in bits 23:0, then memory 2, memory 3.
    pub tickets: Signal<Out, Bits<72>>,
    /// Tickets that wait no longer: memory 1 in bits 23:0, then memory 2, memory 3.
    pub done: Signal<Out, Bits<72>>,
    /// Memories whose `done` ticket failed twice, one bit each.
    pub broken: Signal<Out, Bits<4>>,

    /// Memory to flush.
    pub memory: Signal<Out, Bits<2>>,
    /// Address of the flush read of `memory`, in the same cycle.
    pub flush_address: Signal<In, Bits<64>>,
    /// Flush reads to `dma.read`.
    pub flush_job: MessageSource<ReadJob>,
    /// Read data of the flush reads, in order.
    pub flush_data: PacketSink,

    account: [FlushTicket; 3],
    order: Fifo<Bits<2>, 2, 3>,
    offered: DFF<Bit>,
    chosen: DFF<Bits<2>>,

    next_memory: Signal<Local, Bits<2>>,
    requested: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    ended_memory: Signal<Local, Bits<2>>,
    #[value(FLUSH_BYTES)]
    flush_bytes: Constant<Bits<16>>,
}

impl Logic for Flusher {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offered, chosen);
        clock!(self, clock, order);
        self.order.reset.next = self.reset.val();
        for i in 0..3 {
            self.account[i].clock.next = self.clock.val();
            self.account[i].reset.next = self.reset.val();
            self.account[i].failed.next = self.flush_data.abort.val();
        }
        self.account[0].wanted.next = self.wanted.val().get_bit(1);
        self.account[1].wanted.next = self.wanted.val().get_bit(2);
        self.account[2].wanted.next = self.wanted.val().get_bit(3);
        self.tickets.next = bit_cast::<72, 24>(self.account[0].ticket.val())
            | (bit_cast::<72, 24>(self.account[1].ticket.val()) << 24)
            | (bit_cast::<72, 24>(self.account[2].ticket.val()) << 48);
        self.done.next = bit_cast::<72, 24>(self.account[0].done.val())
            | (bit_cast::<72, 24>(self.account[1].done.val()) << 24)
            | (bit_cast::<72, 24>(self.account[2].done.val()) << 48);
        self.broken.next = (bit_cast::<4, 1>(self.account[0].broken.val().into()) << 1)
            | (bit_cast::<4, 1>(self.account[1].broken.val().into()) << 2)
            | (bit_cast::<4, 1>(self.account[2].broken.val().into()) << 3);

        // The lowest memory that requests is next. Each requests again only when its read has
        // returned.
        self.next_memory.next = bits::<2>(3);
        if self.account[1].requests.val() {
            self.next_memory.next = bits::<2>(2);
        }
        if self.account[0].requests.val() {
            self.next_memory.next = bits::<2>(1);
        }
        self.requested.next = self.account[0].requests.val()
            | self.account[1].requests.val()
            | self.account[2].requests.val();
        self.starts.next =
            self.requested.val() & !self.offered.q.val() & self.order.sink.ready.val();
        self.account[0].started.next = self.starts.val() & (self.next_memory.val() == 1);
        self.account[1].started.next = self.starts.val() & (self.next_memory.val() == 2);
        self.account[2].started.next = self.starts.val() & (self.next_memory.val() == 3);

        self.memory.next = self.chosen.q.val();
        self.flush_job.valid.next = self.offered.q.val();
        self.flush_job.payload.next.address = self.flush_address.val();
        self.flush_job.payload.next.bytes = self.flush_bytes.val();
        self.taken.next = self.offered.q.val() & self.flush_job.ready.val();
        self.order.sink.valid.next = self.starts.val();
        self.order.sink.payload.next = self.next_memory.val();
        if self.taken.val() {
            self.offered.d.next = false;
        }
        if self.starts.val() {
            self.offered.d.next = true;
            self.chosen.d.next = self.next_memory.val();
        }

        self.flush_data.ready.next = true;
        self.ended.next = self.flush_data.valid.val() & self.flush_data.last.val();
        self.ended_memory.next = self.order.source.payload.val();
        self.order.source.ready.next = self.ended.val();
        self.account[0].returned.next = self.ended.val() & (self.ended_memory.val() == 1);
        self.account[1].returned.next = self.ended.val() & (self.ended_memory.val() == 2);
        self.account[2].returned.next = self.ended.val() & (self.ended_memory.val() == 3);
        if self.reset.val() {
            self.offered.d.next = false;
        }
    }
}
