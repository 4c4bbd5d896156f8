//! Reads the numbers that segmentation counts up out of a header as its beats pass.
//!
//! ```text
//!  header beat ──► [beat] ─┬─► 16 bytes from byte 4 of the IP header on ──► identification
//!                          └─► 16 bytes from byte 4 of the TCP header on ─► sequence, flags
//!                  (each lane keeps its byte)  close ──► rotate ──► queue of 128 ──► numbers
//! ```
//! Timing: one beat per cycle; the numbers are queued in the second cycle after `close`. Every
//! input goes to registers alone; `has_space` is a register.
//!
//! Invariants:
//! 1. One message of `numbers` for each `close`.
//! 2. While `has_space` is high one more `close` may come; up to three that are not queued yet are
//!    allowed for.
//! 3. Numbers of a header that does not have them (its layers lie elsewhere) are undefined;
//!    consumers ignore them.

use crate::descriptor::window_take::WindowTake;
use crate::messages::{HeaderLayout, HeaderNumbers};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DescriptorNumbers {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,

    /// A header beat passes.
    pub valid: Signal<In, Bit>,
    /// Number of the header beat.
    pub beat: Signal<In, Bits<3>>,
    /// Bytes of the header beat.
    pub data: Signal<In, Bits<512>>,
    /// Where the layers of the header lie.
    pub layout: Signal<In, HeaderLayout>,
    /// The descriptor ends, with this beat or without one.
    pub close: Signal<In, Bit>,
    /// The queue has free space: a descriptor may end.
    pub has_space: Signal<Out, Bit>,
    /// Numbers of each header, one message for each `close`.
    pub numbers: MessageSource<HeaderNumbers>,

    l3: WindowTake,
    l4: WindowTake,
    passed: DFF<Bit>,
    passed_beat: DFF<Bits<3>>,
    passed_data: DFF<Bits<512>>,
    l3_start: DFF<Bits<8>>,
    l4_start: DFF<Bits<8>>,
    closed: DFF<Bit>,
    due: DFF<Bit>,
    space: DFF<Bit>,
    queue: BlockFifo<HeaderNumbers, 7, 8>,

    tcp: Signal<Local, Bits<128>>,
    ip: Signal<Local, Bits<128>>,
}

impl Logic for DescriptorNumbers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, passed, passed_beat, passed_data, l3_start);
        dff_setup!(self, clock, l4_start, closed, due, space);
        clock!(self, clock, l3, l4, queue);
        self.queue.reset.next = self.reset.val();
        MessageSource::<HeaderNumbers>::link(&mut self.numbers, &mut self.queue.source);

        self.passed.d.next = self.valid.val();
        if self.valid.val() {
            self.passed_beat.d.next = self.beat.val();
            self.passed_data.d.next = self.data.val();
            self.l3_start.d.next = self.layout.val().l3_offset + 4;
            self.l4_start.d.next = self.layout.val().l4_offset + 4;
        }
        self.closed.d.next = self.close.val() & !self.reset.val();
        self.l3.valid.next = self.passed.q.val();
        self.l3.beat.next = self.passed_beat.q.val();
        self.l3.data.next = self.passed_data.q.val();
        self.l3.start.next = self.l3_start.q.val();
        self.l4.valid.next = self.passed.q.val();
        self.l4.beat.next = self.passed_beat.q.val();
        self.l4.data.next = self.passed_data.q.val();
        self.l4.start.next = self.l4_start.q.val();
        self.due.d.next = self.closed.q.val() & !self.reset.val();
        // Three are on their way at most, when there is has_space for one more.
        self.space.d.next = self.queue.level.val() < 125;
        self.has_space.next = self.space.q.val();

        // Numbers are big-endian in the header.
        self.ip.next = self.l3.window.val();
        self.tcp.next = self.l4.window.val();
        self.queue.sink.valid.next = self.due.q.val();
        self.queue.sink.payload.next.identification =
            (bit_cast::<16, 8>(self.ip.val().get_bits::<8>(0)) << 8)
                | bit_cast::<16, 8>(self.ip.val().get_bits::<8>(8));
        self.queue.sink.payload.next.sequence =
            (bit_cast::<32, 8>(self.tcp.val().get_bits::<8>(0)) << 24)
                | (bit_cast::<32, 8>(self.tcp.val().get_bits::<8>(8)) << 16)
                | (bit_cast::<32, 8>(self.tcp.val().get_bits::<8>(16)) << 8)
                | bit_cast::<32, 8>(self.tcp.val().get_bits::<8>(24));
        self.queue.sink.payload.next.flags = self.tcp.val().get_bits::<8>(72);
    }
}
