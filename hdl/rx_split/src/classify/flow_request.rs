//! Requests the flows of packets, and gives confirmations their place among them.
//!
//! ```text
//!  packets ──────┬──► flow_lookup
//!                └─┐
//!  confirmation ───┴─► waiting, in the order of the look-ups
//! ```
//! Timing: combinational, one packet or confirmation per cycle; `flow_lookup.valid` depends only on
//! registers of the neighbours.
//!
//! Invariants:
//! 1. A confirmation is placed after every packet whose look-up was taken before the confirmation
//!    came: it is taken first, as soon as no offered look-up waits.
//! 2. A packet without transport, or one that cannot be verified, is not looked up; it goes to
//!    owner 0 and names no flow.
//! 3. An offered look-up stands until it is taken. That relies on `waiting`, a queue: its `ready`
//!    does not fall before something comes.
//!
//! Source: docs/specification.md, Fence, Order, and Owners and domains.

use crate::classify::messages::RuleInput;
use crate::messages::{PacketInfo, RxItem, RxItemKind, StoredPacket};
use abi::header_entry::FLOW_NONE;
use abi::reason::Disposition;
use stream::prelude::*;

/// The requester. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FlowRequest {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: nothing is taken, and an offered look-up is withdrawn.
    pub reset: Signal<In, Bit>,

    /// Verified packets.
    pub packets: MessageSink<StoredPacket>,
    /// Confirmations from the tables.
    pub confirmation: MessageSink<CommandEnd>,
    /// Look-ups to the flow table.
    pub flow_lookup: MessageSource<FlowLookup>,
    /// Packets and confirmations that wait for the replies, in order.
    pub waiting: MessageSource<RuleInput>,
    /// A packet is taken in this cycle.
    pub taken: Signal<Out, Bit>,

    offered: DFF<Bit>,

    info: Signal<Local, PacketInfo>,
    stored: Signal<Local, StoredPacket>,
    ended: Signal<Local, CommandEnd>,
    fence: Signal<Local, Confirmation>,
    requests: Signal<Local, Bit>,
    may_take: Signal<Local, Bit>,
    take_confirmation: Signal<Local, Bit>,
    may_packet: Signal<Local, Bit>,
    take_packet: Signal<Local, Bit>,
    draft: Signal<Local, RxItem>,
    #[value(RxItem::default())]
    none: Constant<RxItem>,
    #[value(Disposition::NotTransport as u64)]
    not_transport: Constant<DispositionCode>,
    #[value(Disposition::Unverified as u64)]
    unverified: Constant<DispositionCode>,
    #[value(u64::from(FLOW_NONE))]
    flow_none: Constant<Bits<16>>,
    /// NOP, NOP, kind 8, length 10.
    #[value(0x0a08_0101)]
    usual: Constant<Bits<32>>,
    #[value(12)]
    usual_bytes: Constant<Bits<6>>,
}

impl Logic for FlowRequest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, offered);
        self.stored.next = self.packets.payload.val();
        self.info.next = self.stored.val().info;
        self.ended.next = self.confirmation.payload.val();
        self.fence.next = self.ended.val().confirmation;

        self.may_take.next = self.waiting.ready.val() & !self.reset.val();
        self.take_confirmation.next =
            self.confirmation.valid.val() & self.may_take.val() & !self.offered.q.val();
        self.requests.next = self.info.val().transport & !self.info.val().unverified;
        self.may_packet.next =
            self.packets.valid.val() & self.may_take.val() & !self.take_confirmation.val();
        self.flow_lookup.valid.next = self.may_packet.val() & self.requests.val();
        self.flow_lookup.payload.next.key = self.info.val().key;
        self.take_packet.next =
            self.may_packet.val() & (!self.requests.val() | self.flow_lookup.ready.val());
        self.offered.d.next =
            self.may_packet.val() & self.requests.val() & !self.flow_lookup.ready.val();
        self.confirmation.ready.next = self.take_confirmation.val();
        self.packets.ready.next = self.take_packet.val();
        self.taken.next = self.take_packet.val();

        self.draft.next = self.none.val();
        self.draft.next.start = self.stored.val().start;
        self.draft.next.stop = self.stored.val().stop;
        self.draft.next.header_bytes = self.info.val().header_bytes;
        self.draft.next.frame_bytes = self.info.val().frame_bytes;
        self.draft.next.payload_bytes = self.info.val().payload_bytes;
        self.draft.next.l4_offset = self.info.val().l4_offset;
        self.draft.next.profile = self.info.val().profile;
        self.draft.next.position = self.info.val().position;
        self.draft.next.flow = self.flow_none.val();
        self.draft.next.disposition = self.not_transport.val();
        if self.info.val().unverified {
            self.draft.next.disposition = self.unverified.val();
        }
        if self.take_confirmation.val() {
            self.draft.next.kind = RxItemKind::Confirmation;
            self.draft.next.owner = self.fence.val().owner;
            self.draft.next.position = self.fence.val().index;
            self.draft.next.generation = self.fence.val().status;
            self.draft.next.flow = self.ended.val().flow;
            self.draft.next.ends_run = self.ended.val().ends_flow;
            self.draft.next.sweeps = self.ended.val().ends_owner;
        }
        self.waiting.valid.next = self.take_confirmation.val() | self.take_packet.val();
        self.waiting.payload.next.packet = self.draft.val();
        self.waiting.payload.next.requested = self.requests.val() & !self.take_confirmation.val();
        self.waiting.payload.next.tcp = self.info.val().tcp;
        self.waiting.payload.next.flags = self.info.val().flags;
        self.waiting.payload.next.ack = self.info.val().ack;
        self.waiting.payload.next.options = self.info.val().options;
        self.waiting.payload.next.option_bytes = self.info.val().option_bytes;
        self.waiting.payload.next.usual = (self.info.val().options.get_bits::<32>(0)
            == self.usual.val())
            & (self.info.val().option_bytes >= self.usual_bytes.val());
    }
}
