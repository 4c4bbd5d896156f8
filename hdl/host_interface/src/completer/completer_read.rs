//! Reads the dwords of a memory read from the registers, one after the other.
//!
//! Timing: asks one cycle after `start`; `done` is high for one cycle, `data` stays until the next
//! `start`. `address` and `dwords` must stay until `done`.
//!
//! Invariants:
//! 1. Dword n of the read lies in bits 32 n + 31 : 32 n of `data`; the others are 0.
//! 2. With `flush` nothing is asked for.

use stream::prelude::*;

/// What the reader does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReadPhase {
    /// Waits for `start`.
    Idle,
    /// Asks for a dword.
    Ask,
    /// Waits for the dword.
    Wait,
    /// Says that it is done.
    Done,
}

/// The reader. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterRead {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Stops.
    pub reset: Signal<In, Bit>,

    /// Begin.
    pub start: Signal<In, Bit>,
    /// The read asks for no byte.
    pub flush: Signal<In, Bit>,
    /// Byte offset of the first dword.
    pub address: Signal<In, Bits<24>>,
    /// Dwords, 1 to 16.
    pub dwords: Signal<In, Bits<5>>,

    /// Registers read.
    pub read_request: MessageSource<Bits<24>>,
    /// Their values.
    pub read_reply: MessageSink<Bits<32>>,
    /// What was read.
    pub data: Signal<Out, Bits<512>>,
    /// All was read.
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
    #[value(0)]
    zero: Constant<Bits<5>>,
    #[value(0)]
    empty: Constant<Bits<512>>,
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

        self.read_request.valid.next = self.phase.q.val() == ReadPhase::Ask;
        self.read_request.payload.next = self.place_address.q.val();
        self.read_reply.ready.next = self.phase.q.val() == ReadPhase::Wait;
        self.data.next = self.words.q.val();
        self.done.next = self.phase.q.val() == ReadPhase::Done;

        match self.phase.q.val() {
            ReadPhase::Idle => {
                if self.start.val() {
                    self.index.d.next = self.zero.val();
                    self.place_address.d.next = self.address.val();
                    self.words.d.next = self.empty.val();
                    self.phase.d.next = ReadPhase::Ask;
                    if self.flush.val() {
                        self.phase.d.next = ReadPhase::Done;
                    }
                }
            }
            ReadPhase::Ask => {
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
                    self.phase.d.next = ReadPhase::Ask;
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
