//! Keeps the facts of packets from their look-up to the runs, by the packet's place in the packet
//! buffer, which is its own until its header was read.
//!
//! ```text
//!  packet ─► facts ─► [register] ─► memory ─► facts of the packet at `start`
//! ```
//! Timing: a packet's facts can be read three cycles after it was taken; `facts` follows `start` by
//! two cycles.
//!
//! Source: docs/specification.md, Runs.

use crate::messages::{LinkFacts, PacketInfo, StoredPacket, Word32};
use crate::runs::messages::RunFacts;
use abi::config::SLOT_HEADER_BYTES;
use stream::prelude::*;

/// The facts of a packet. Combinational.
#[derive(LogicBlock, BlockDefault)]
pub struct FactsOf {
    /// A verified packet.
    pub packet: Signal<In, StoredPacket>,
    /// Its facts.
    pub facts: Signal<Out, RunFacts>,

    info: Signal<Local, PacketInfo>,
    link: Signal<Local, LinkFacts>,
    options: Signal<Local, Bits<320>>,
    value: Signal<Local, Word32>,
    echo: Signal<Local, Word32>,
    stamped: Signal<Local, Bit>,
    plain: Signal<Local, Bit>,
    /// NOP, NOP, kind 8, length 10.
    #[value(0x0a08_0101)]
    timestamps: Constant<Bits<32>>,
    #[value(12)]
    timestamp_bytes: Constant<Bits<6>>,
    /// ACK, and PSH left out.
    #[value(0x10)]
    ack_alone: Constant<Bits<8>>,
    #[value(0xf7)]
    not_push: Constant<Bits<8>>,
    #[value(SLOT_HEADER_BYTES as u64)]
    header_bytes_max: Constant<Bits<8>>,
}

impl Logic for FactsOf {
    #[hdl_gen]
    fn update(&mut self) {
        self.info.next = self.packet.val().info;
        self.link.next = self.packet.val().link;
        self.options.next = self.info.val().options;
        self.value.next.byte0 = self.options.val().get_bits::<8>(32);
        self.value.next.byte1 = self.options.val().get_bits::<8>(40);
        self.value.next.byte2 = self.options.val().get_bits::<8>(48);
        self.value.next.byte3 = self.options.val().get_bits::<8>(56);
        self.echo.next.byte0 = self.options.val().get_bits::<8>(64);
        self.echo.next.byte1 = self.options.val().get_bits::<8>(72);
        self.echo.next.byte2 = self.options.val().get_bits::<8>(80);
        self.echo.next.byte3 = self.options.val().get_bits::<8>(88);
        self.stamped.next = (self.info.val().option_bytes == self.timestamp_bytes.val())
            & (self.options.val().get_bits::<32>(0) == self.timestamps.val());
        self.plain.next = !self.info.val().option_bytes.any() | self.stamped.val();
        self.facts.next.addresses = self.link.val().addresses;
        self.facts.next.tags = self.link.val().tags;
        self.facts.next.traffic = self.link.val().traffic;
        self.facts.next.fits = self.info.val().tcp
            & self.info.val().tcp_plain
            & self.link.val().plain
            & self.plain.val()
            & ((self.info.val().flags & self.not_push.val()) == self.ack_alone.val())
            & (self.info.val().header_bytes <= self.header_bytes_max.val());
        self.facts.next.push = self.info.val().flags.get_bit(3);
        self.facts.next.stamped = self.stamped.val();
        self.facts.next.ack = self.info.val().ack;
        self.facts.next.window = self.info.val().window;
        self.facts.next.timestamp = 0.into();
        self.facts.next.echo = 0.into();
        if self.stamped.val() {
            self.facts.next.timestamp = self.value.val().into();
            self.facts.next.echo = self.echo.val().into();
        }
    }
}

/// The memory, for a packet buffer of 2^BUFFER_BITS beats. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FactsMemory<const BUFFER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The packet offered.
    pub packet: Signal<In, StoredPacket>,
    /// It is taken in this cycle.
    pub taken: Signal<In, Bit>,
    /// Pointer of the first beat of the packet whose facts are read.
    pub start: Signal<In, Bits<16>>,
    /// Facts of the packet that `start` named two cycles ago.
    pub facts: Signal<Out, RunFacts>,

    facts_of: FactsOf,
    memory: BlockRam<RunFacts, BUFFER_BITS>,
    is_new: DFF<Bit>,
    place: DFF<Bits<16>>,
    made: DFF<RunFacts>,
}

impl<const BUFFER_BITS: usize> Logic for FactsMemory<BUFFER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_new, place, made);
        clock!(self, clock, memory);
        self.facts_of.packet.next = self.packet.val();
        self.is_new.d.next = self.taken.val();
        self.place.d.next = self.packet.val().start;
        self.made.d.next = self.facts_of.facts.val();
        self.memory.write_address.next = bit_cast::<BUFFER_BITS, 16>(self.place.q.val());
        self.memory.write_data.next = self.made.q.val();
        self.memory.write_enable.next = self.is_new.q.val();
        self.memory.read_address.next = bit_cast::<BUFFER_BITS, 16>(self.start.val());
        self.memory.read_enable.next = true;
        self.memory.register_enable.next = true;
        self.facts.next = self.memory.read_data.val();
    }
}
