//! The payload buffer: holds read data until the read is complete, so that length and verdict of
//! each read are known before its first beat is used.
//!
//! ```text
//!  read_data ──┬──► whole reads, 512 beats ───────────► payload
//!              └──► count ──► length, verdict; 128 ───► read_facts
//! ```
//! Timing: read data are offered three cycles after their last beat, their facts one; one beat per
//! cycle in and out. `beat_freed` and `read_freed` are registers.
//!
//! Invariants:
//! 1. One message of `read_facts` for each read, in order.
//! 2. `beat_freed` and `read_freed` pulse in the cycle after a beat, and the last of a read, have
//!    left.
//!
//! On error: data of a failed read are kept like others, up to the beats that came, and its facts
//! have `failed`.

use crate::messages::ReadFacts;
use abi::config::SEND_READ_BYTES_MAX;
use stream::prelude::*;

// A length is kept in 3 bits of full beats and the bytes of the last.
const _: () = assert!(SEND_READ_BYTES_MAX <= 8 * 64);

/// The buffer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Payload {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Empties the buffer.
    pub reset: Signal<In, Bit>,

    /// Data of each read as one packet, as they arrive; aborted if the read failed.
    pub read_data: PacketSink,
    /// Data of reads that are complete, the failed ones too.
    pub payload: PacketSource,
    /// Length of each read's data, and whether it failed.
    pub read_facts: MessageSource<ReadFacts>,
    /// A beat has left.
    pub beat_freed: Signal<Out, Bit>,
    /// With `beat_freed`: the beat was the last of its read.
    pub read_freed: Signal<Out, Bit>,

    #[value(FrameFifo::new(false, false))]
    buffer: FrameFifo<9, 10>,
    verdicts: Fifo<ReadFacts, 7, 8>,
    beats: DFF<Bits<3>>,
    beat_left: DFF<Bit>,
    read_left: DFF<Bit>,

    take: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
}

impl Logic for Payload {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beats, beat_left, read_left);
        clock!(self, clock, buffer, verdicts);
        self.buffer.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();

        // In: both parts have space for the data of every read that was issued.
        self.buffer.sink.valid.next = self.read_data.valid.val() & self.verdicts.sink.ready.val();
        self.buffer.sink.data.next = self.read_data.data.val();
        self.buffer.sink.byte_count.next = self.read_data.byte_count.val();
        self.buffer.sink.last.next = self.read_data.last.val();
        self.buffer.sink.abort.next = self.read_data.abort.val();
        self.read_data.ready.next = self.buffer.sink.ready.val() & self.verdicts.sink.ready.val();
        self.take.next = self.read_data.valid.val()
            & self.buffer.sink.ready.val()
            & self.verdicts.sink.ready.val();
        if self.take.val() {
            self.beats.d.next = self.beats.q.val() + 1;
            if self.read_data.last.val() {
                self.beats.d.next = 0.into();
            }
        }
        self.verdicts.sink.valid.next =
            self.read_data.valid.val() & self.read_data.last.val() & self.buffer.sink.ready.val();
        self.verdicts.sink.payload.next.beats = self.beats.q.val();
        self.verdicts.sink.payload.next.last_bytes = self.read_data.byte_count.val();
        self.verdicts.sink.payload.next.failed = self.read_data.abort.val();

        // Out: what has left is counted a cycle later.
        MessageSource::<ReadFacts>::link(&mut self.read_facts, &mut self.verdicts.source);
        PacketSource::link(&mut self.payload, &mut self.buffer.source);
        self.leave.next = self.buffer.source.valid.val() & self.payload.ready.val();
        self.beat_left.d.next = self.leave.val() & !self.reset.val();
        self.read_left.d.next =
            self.leave.val() & self.buffer.source.last.val() & !self.reset.val();
        self.beat_freed.next = self.beat_left.q.val();
        self.read_freed.next = self.read_left.q.val();
        if self.reset.val() {
            self.beats.d.next = 0.into();
        }
    }
}
