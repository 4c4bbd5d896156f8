//! Reads the dwords of a memory read from the registers, one after the other.
//!
//! Timing: the first request is offered one cycle after `start`. `done` is high for one cycle;
//! `data` stays until the next `start`. `address` and `dwords` must stay until `done`.
//!
//! Invariants:
//! 1. Dword n of the read lies in bits 32 n + 31 : 32 n of `data`; the other bits are 0.
//! 2. With `flush` no register is read.

use stream::prelude::*;

/// What the reader does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReadPhase {
    /// Waits for `start`.
    Idle,
    /// Requests a dword.
    Request,
    /// Waits for the dword.
    Wait,
    /// Reports that it is done.
    Done,
}

/// The reader. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterRead {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Stops and forgets the read.
    pub reset: Signal<In, Bit>,

    /// Begin a read.
    pub start: Signal<In, Bit>,
    /// The read names no byte.
    pub flush: Signal<In, Bit>,
    /// Byte offset in BAR 0 of the first dword.
    pub address: Signal<In, Bits<24>>,
    /// Number of dwords, 1 to 16.
    pub dwords: Signal<In, Bits<5>>,

    /// Byte offset in BAR 0 of a dword to read; one at a time.
    pub read_request: MessageSource<Bits<24>>,
    /// Value of the dword requested.
    pub read_reply: MessageSink<Bits<32>>,
    /// Data that were read.
    pub data: Signal<Out, Bits<512>>,
    /// All dwords were read.
    pub done: Signal<Out, Bit>,

    phase: DFF<ReadPhase>,
    index: DFF<Bits<5>>,
    place_address: DFF<Bits<24>>,
    words: DFF<Bits<512>>,

    index_next: Signal<Local, Bits<5>>,
    is_last: Signal<Local, Bit>,
    place: Signal<Local, Bits<9>>,

    #[value(1)]
    one: Constant<Bits<5>>,
    #[value(4)]
    dword_bytes: Constant<Bits<24>>,
}

impl Logic for CompleterRead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, index, place_address, words);
        self.index_next.next = self.index.q.val() + self.one.val();
        self.is_last.next = self.index_next.val() == self.dwords.val();
        self.place.next = bit_cast::<9, 5>(self.index.q.val()) << 5;

        self.read_request.valid.next = self.phase.q.val() == ReadPhase::Request;
        self.read_request.payload.next = self.place_address.q.val();
        self.read_reply.ready.next = self.phase.q.val() == ReadPhase::Wait;
        self.data.next = self.words.q.val();
        self.done.next = self.phase.q.val() == ReadPhase::Done;

        match self.phase.q.val() {
            ReadPhase::Idle => {
                if self.start.val() {
                    self.index.d.next = 0.into();
                    self.place_address.d.next = self.address.val();
                    self.words.d.next = 0.into();
                    self.phase.d.next = ReadPhase::Request;
                    if self.flush.val() {
                        self.phase.d.next = ReadPhase::Done;
                    }
                }
            }
            ReadPhase::Request => {
                if self.read_request.ready.val() {
                    self.phase.d.next = ReadPhase::Wait;
                }
            }
            ReadPhase::Wait => {
                if self.read_reply.valid.val() {
                    self.words.d.next = self.words.q.val()
                        | (bit_cast::<512, 32>(self.read_reply.payload.val()) << self.place.val());
                    self.index.d.next = self.index_next.val();
                    self.place_address.d.next = self.place_address.q.val() + self.dword_bytes.val();
                    self.phase.d.next = ReadPhase::Request;
                    if self.is_last.val() {
                        self.phase.d.next = ReadPhase::Done;
                    }
                }
            }
            ReadPhase::Done => self.phase.d.next = ReadPhase::Idle,
        }
        if self.reset.val() {
            self.phase.d.next = ReadPhase::Idle;
        }
    }
}
