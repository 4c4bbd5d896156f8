//! Hands the answers on in job order: whole packets from byte 0, whatever the address was.
//!
//! ```text
//!   complete ──►┌────────┐ natural beats ┌─────────┐ packet beats
//!                │ Gather │──────────────►│ Realign │──────────────► client 0..3
//!                └───▲────┘               └─────────┘
//!            reorder memory
//! ```
//! A *natural beat* is an aligned 64 bytes of the bus address space; a job covers consecutive ones.
//!
//! Timing: a beat is offered five cycles after its request came; one beat a cycle, one more
//! cycle for a job whose first byte is not at a 64-byte boundary. Outputs are registered.
//!
//! Invariants:
//! 1. Answers leave in the order in which jobs were accepted, over all clients: a client that does
//!    not take its answer holds up the others, so each must be able to take what it asked for.
//! 2. A packet has exactly the bytes of its job; `abort` is set on its last beat when any part
//!    failed.
//! 3. A tag is retired when its last beat has been read.

use crate::read::answer_wait::CompleteOrder;
use crate::read::messages::ReadOrder;
use stream::prelude::*;

/// A natural beat of an answer.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NaturalBeat {
    /// Its bytes.
    pub data: Bits<512>,
    /// What is to be known about it.
    pub place: NaturalPlace,
}

/// Place of a natural beat in its job.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NaturalPlace {
    /// Client that gets it.
    pub client: Bits<2>,
    /// First beat of the job.
    pub first: Bit,
    /// Last beat of the job.
    pub last: Bit,
    /// Place of the job's first byte in its first beat.
    pub shift: Bits<6>,
    /// Place of the job's last byte in its last beat.
    pub end: Bits<6>,
    /// Some part of the job failed.
    pub failed: Bit,
}

/// Reads answers out of the reorder memory.
#[derive(LogicBlock, Default)]
pub struct Gather {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the job at hand.
    pub reset: Signal<In, Bit>,

    /// Requests in job order, their answers complete.
    pub complete: MessageSink<CompleteOrder>,
    /// Reorder memory: beat to read.
    pub read_address: Signal<Out, Bits<9>>,
    /// Reorder memory: the beat, two cycles later.
    pub read_data: Signal<In, Bits<512>>,
    /// The answer has been read.
    pub retire: PulseSource<ReadOrder>,

    /// Natural beats out.
    pub beat: MessageSource<NaturalBeat>,

    queue: Fifo<NaturalBeat, 3, 4>,
    has_room: DFF<Bit>,
    offset: DFF<Bits<3>>,
    shift: DFF<Bits<6>>,
    has_failed: DFF<Bit>,
    latched: DFF<Bit>,
    latched_place: DFF<NaturalPlace>,
    pending: DFF<Bit>,
    pending_place: DFF<NaturalPlace>,

    request: Signal<Local, ReadOrder>,
    at: Signal<Local, Bits<3>>,
    first_byte: Signal<Local, Bits<9>>,
    last_byte: Signal<Local, Bits<9>>,
    is_first: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    failed_now: Signal<Local, Bit>,
    place: Signal<Local, NaturalPlace>,
    result: Signal<Local, NaturalBeat>,
}

impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            has_room,
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

        // The next beat of the oldest request, if it fits behind four that are on their way.
        self.request.next = self.complete.payload.val().order;
        self.first_byte.next = self.request.val().begin;
        self.last_byte.next = self.request.val().end;
        self.at.next = self.first_byte.val().get_bits::<3>(6) + self.offset.q.val();
        self.is_first.next = self.request.val().first & (self.offset.q.val() == 0);
        self.is_last.next = self.at.val() == self.last_byte.val().get_bits::<3>(6);
        self.has_room.d.next = self.queue.level.val() < 4;
        self.advance.next = self.complete.valid.val() & self.has_room.q.val() & !self.reset.val();
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

/// Moves the bytes of a job to the front: a window of 64 bytes over two natural beats.
#[derive(LogicBlock, BlockDefault)]
pub struct Realign {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the job at hand.
    pub reset: Signal<In, Bit>,

    /// Natural beats in.
    pub beat: MessageSink<NaturalBeat>,
    /// Packets out.
    pub packet: PacketSource,
    /// Client that the packet is for.
    pub client: Signal<Out, Bits<2>>,

    rotate: Rotate,
    hold: DFF<Bits<512>>,
    spilling: DFF<Bit>,
    spill_place: DFF<NaturalPlace>,
    offered: DFF<Bit>,
    out_beat: DFF<PacketBeat>,
    out_client: DFF<Bits<2>>,

    place: Signal<Local, NaturalPlace>,
    is_aligned: Signal<Local, Bit>,
    has_room: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    count: Signal<Local, Bits<6>>,
    fits: Signal<Local, Bit>,
    is_whole: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    shift_at: Signal<Local, Bits<9>>,
    front: Signal<Local, Bits<512>>,
    result: Signal<Local, PacketBeat>,
    #[value(!Bits::<512>::default())]
    all: Constant<Bits<512>>,
    #[value(0)]
    none: Constant<Bits<512>>,
}

impl Logic for Realign {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            hold,
            spilling,
            spill_place,
            offered,
            out_beat,
            out_client
        );
        self.has_room.next = !self.offered.q.val() | self.packet.ready.val();
        self.take.next = self.beat.valid.val() & self.has_room.val() & !self.spilling.q.val();
        self.beat.ready.next = self.has_room.val() & !self.spilling.q.val();
        self.place.next = self.beat.payload.val().place;
        if self.spilling.q.val() {
            self.place.next = self.spill_place.q.val();
        }

        // Bytes of the last packet beat, modulo 64, less one; the last natural beat ends the packet
        // unless it reaches beyond the bytes that this window shows.
        self.count.next = self.place.val().end - self.place.val().shift;
        self.is_aligned.next = self.place.val().shift == 0;
        self.fits.next = self.place.val().end < self.place.val().shift;
        self.is_whole.next = self.place.val().first & self.place.val().last;
        self.ends.next = self.spilling.q.val()
            | (self.place.val().last
                & (self.is_aligned.val() | self.is_whole.val() | self.fits.val()));

        // Both beats are turned by the same number of bytes, so a packet beat takes each byte from
        // one of them: the front from the one held.
        self.rotate.data.next = self.beat.payload.val().data;
        self.rotate.bytes.next = self.place.val().shift;
        self.shift_at.next = bit_cast::<9, 6>(self.place.val().shift) << 3;
        self.front.next = self.all.val() >> self.shift_at.val();
        if !self.spilling.q.val() & (self.is_aligned.val() | self.place.val().first) {
            self.front.next = self.none.val();
        }
        self.result.next.data =
            (self.hold.q.val() & self.front.val()) | (self.rotate.result.val() & !self.front.val());
        self.result.next.last = self.ends.val();
        self.result.next.abort = self.ends.val() & self.place.val().failed;
        self.result.next.byte_count = 64.into();
        if self.ends.val() {
            self.result.next.byte_count = bit_cast::<7, 6>(self.count.val()) + 1;
        }

        if self.has_room.val() {
            self.offered.d.next = self.spilling.q.val()
                | (self.take.val()
                    & (self.is_aligned.val() | !self.place.val().first | self.place.val().last));
            self.out_beat.d.next = self.result.val();
            self.out_client.d.next = self.place.val().client;
            self.spilling.d.next = self.take.val() & self.place.val().last & !self.ends.val();
        }
        if self.take.val() {
            self.hold.d.next = self.rotate.result.val();
            self.spill_place.d.next = self.place.val();
        }
        if self.reset.val() {
            self.offered.d.next = false;
            self.spilling.d.next = false;
        }
        self.packet.valid.next = self.offered.q.val();
        self.packet.data.next = self.out_beat.q.val().data;
        self.packet.byte_count.next = self.out_beat.q.val().byte_count;
        self.packet.last.next = self.out_beat.q.val().last;
        self.packet.abort.next = self.out_beat.q.val().abort;
        self.client.next = self.out_client.q.val();
    }
}
