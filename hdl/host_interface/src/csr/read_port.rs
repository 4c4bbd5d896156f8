//! Takes register reads and returns the word of the block that the offset belongs to.
//!
//! ```text
//!  request ──► address ──► identity, counters, interrupts, rings ──► reply
//! ```
//! Timing: a read is taken one cycle after it was offered, since counters are looked up for one
//! cycle. Its value is offered one cycle later.
//!
//! Invariants:
//! 1. Nothing is taken while `hold` is high, and no word of the interrupts while
//!    `interrupts_busy` is.
//! 2. An offset that belongs to no block reads as 0.
//!
//! Source: `abi::registers`.

use abi::config::CardConfig;
use abi::registers as r;
use stream::prelude::*;

/// The port. See the module's head.
///
/// The port of a card with these sizes.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig)]
pub struct ReadPort {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Takes no read while high.
    pub hold: Signal<In, Bit>,

    /// Byte offsets in BAR 0 of the registers to read.
    pub request: MessageSink<Bits<24>>,
    /// Values of the registers read, in request order.
    pub reply: MessageSource<Bits<32>>,

    /// Byte offset of the read that is offered.
    pub address: Signal<Out, Bits<24>>,
    /// The read of `address` takes place in this cycle.
    pub reading: Signal<Out, Bit>,
    /// Identification word at `address`.
    pub identity: Signal<In, Bits<32>>,
    /// Counter word at the `address` of the cycle before.
    pub counter: Signal<In, Bits<32>>,
    /// MSI-X table word at `address`.
    pub interrupts: Signal<In, Bits<32>>,
    /// A message is under way that was decided on before: reads of the MSI-X table wait.
    pub interrupts_busy: Signal<In, Bit>,
    /// Rings that have stopped, of the owner at `address`: bit 0 commands, bit 1 sends.
    pub status: Signal<In, Bits<2>>,

    requested: DFF<Bit>,
    word: DFF<Bits<32>>,
    word_valid: DFF<Bit>,

    at: Signal<Local, Bits<24>>,
    free: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    is_interrupts: Signal<Local, Bit>,
    is_status: Signal<Local, Bit>,
    value: Signal<Local, Bits<32>>,
    #[value(u64::from(r::DOORBELLS))]
    doorbells_begin: Constant<Bits<24>>,
    #[value(u64::from(r::DOORBELLS + (r::DOORBELL_STRIDE << config.owner_bits)))]
    doorbells_end: Constant<Bits<24>>,
    #[value(u64::from(r::DOORBELL_STATUS / 4))]
    status_word_at: Constant<Bits<10>>,
}

impl Logic for ReadPort {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, requested, word, word_valid);
        self.at.next = self.request.payload.val();
        self.address.next = self.at.val();
        self.is_interrupts.next = self.at.val().get_bits::<8>(16) == bits::<8>(1);
        self.free.next = self.requested.q.val()
            & !self.word_valid.q.val()
            & !self.hold.val()
            & !(self.is_interrupts.val() & self.interrupts_busy.val());
        self.take.next = self.request.valid.val() & self.free.val();
        self.requested.d.next = self.request.valid.val() & !self.take.val();
        self.request.ready.next = self.free.val();
        self.reading.next = self.take.val();

        self.is_status.next = (self.at.val() >= self.doorbells_begin.val())
            & (self.at.val() < self.doorbells_end.val())
            & (self.at.val().get_bits::<10>(2) == self.status_word_at.val());
        self.value.next = bits::<32>(0);
        if self.at.val().get_bits::<18>(6) == bits::<18>(0) {
            self.value.next = self.identity.val();
        } else if self.at.val().get_bits::<12>(12) == bits::<12>(8) {
            self.value.next = self.counter.val();
        } else if self.is_interrupts.val() {
            self.value.next = self.interrupts.val();
        } else if self.is_status.val() {
            self.value.next = bit_cast::<32, 2>(self.status.val());
        }

        if self.word_valid.q.val() & self.reply.ready.val() {
            self.word_valid.d.next = false;
        }
        if self.take.val() {
            self.word.d.next = self.value.val();
            self.word_valid.d.next = true;
        }
        self.reply.valid.next = self.word_valid.q.val();
        self.reply.payload.next = self.word.q.val();
    }
}
