//! Moves the bytes of a job to byte 0 of its packet: a window of 64 bytes over two aligned blocks.
//!
//! ```text
//!   aligned block 0  . . . a b c │  beat 1   d e f g . .        shift: place of a in its beat
//!   packet beat 0    a b c d e f │  beat 1   g
//! ```
//! Timing: latency one cycle, one beat per cycle. A job that is not aligned to 64 bytes takes one
//! more cycle than it has aligned blocks if its packet needs the extra beat. `packet` and `client`
//! are registers.
//!
//! Invariants:
//! 1. A packet has exactly the bytes of its job, from byte 0 of the first beat.
//! 2. `abort` is set on the last beat if the job's last aligned block carries `failed`.

use crate::read::reorder_read::{NaturalBeat, NaturalPlace};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Realign {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the current job and the beat that is offered.
    pub reset: Signal<In, Bit>,

    /// Aligned blocks of the jobs, in order.
    pub beat: MessageSink<NaturalBeat>,
    /// Read data: one packet for each job.
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
    has_space: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    is_whole: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    front: Signal<Local, Bits<512>>,
    result: Signal<Local, PacketBeat>,
    #[value(!Bits::<512>::default())]
    all: Constant<Bits<512>>,
}

impl Logic for Realign {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, hold, spilling, spill_place, offered, out_beat, out_client);
        self.has_space.next = !self.offered.q.val() | self.packet.ready.val();
        self.take.next = self.beat.valid.val() & self.has_space.val() & !self.spilling.q.val();
        self.beat.ready.next = self.has_space.val() & !self.spilling.q.val();
        self.place.next = self.beat.payload.val().place;
        if self.spilling.q.val() {
            self.place.next = self.spill_place.q.val();
        }

        // Bytes of the last packet beat, modulo 64, less one. The last block ends the packet
        // unless it reaches beyond the bytes that this window covers.
        self.is_aligned.next = self.place.val().shift == 0;
        self.fits.next = self.place.val().end < self.place.val().shift;
        self.is_whole.next = self.place.val().first & self.place.val().last;
        self.ends.next = self.spilling.q.val()
            | (self.place.val().last
                & (self.is_aligned.val() | self.is_whole.val() | self.fits.val()));

        // Both beats are rotated by the same number of bytes, so a packet beat takes each byte from
        // one of them: the front from the one that is held.
        self.rotate.data.next = self.beat.payload.val().data;
        self.rotate.bytes.next = self.place.val().shift;
        self.front.next = self.all.val() >> (bit_cast::<9, 6>(self.place.val().shift) << 3);
        if !self.spilling.q.val() & (self.is_aligned.val() | self.place.val().first) {
            self.front.next = 0.into();
        }
        self.result.next.data =
            (self.hold.q.val() & self.front.val()) | (self.rotate.result.val() & !self.front.val());
        self.result.next.last = self.ends.val();
        self.result.next.abort = self.ends.val() & self.place.val().failed;
        self.result.next.byte_count = 64.into();
        if self.ends.val() {
            self.result.next.byte_count =
                bit_cast::<7, 6>(self.place.val().end - self.place.val().shift) + 1;
        }

        if self.has_space.val() {
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
