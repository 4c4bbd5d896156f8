//! A packet's placement as it stands before and after the rules.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. Without `ruled`, or without a flow, the packet goes to owner 0 and names no flow.

use crate::messages::{PacketInfo, Placement, StoredPacket};
use crate::rules::{disposition, RulesResult};
use abi::header_entry::FLOW_NONE;
use abi::reason::Disposition;
use stream::prelude::*;

/// The placement. See the module's head.
#[derive(LogicBlock)]
pub struct Draft {
    /// The packet.
    pub packet: Signal<In, StoredPacket>,
    /// Its flow.
    pub flow: Signal<In, FlowReply>,
    /// What the rules say.
    pub result: Signal<In, RulesResult>,
    /// The rules were asked.
    pub ruled: Signal<In, Bit>,
    /// The placement.
    pub placement: Signal<Out, Placement>,

    info: Signal<Local, PacketInfo>,
    draft: Signal<Local, Placement>,
    blank: Constant<Placement>,
    not_transport: Constant<Bits<4>>,
    unverified: Constant<Bits<4>>,
    flow_none: Constant<Bits<16>>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            packet: Default::default(),
            flow: Default::default(),
            result: Default::default(),
            ruled: Default::default(),
            placement: Default::default(),
            info: Default::default(),
            draft: Default::default(),
            blank: Constant::new(Placement::default()),
            not_transport: disposition(Disposition::NotTransport),
            unverified: disposition(Disposition::Unverified),
            flow_none: Constant::new(u64::from(FLOW_NONE).to_bits()),
        }
    }
}

impl Logic for Draft {
    #[hdl_gen]
    fn update(&mut self) {
        self.info.next = self.packet.val().info;
        self.draft.next = self.blank.val();
        self.draft.next.start = self.packet.val().start;
        self.draft.next.stop = self.packet.val().stop;
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
        if self.ruled.val() {
            self.draft.next.verified = true;
            self.draft.next.walk = self.result.val().walk;
            self.draft.next.disposition = self.result.val().disposition;
            self.draft.next.place_position = self.result.val().position;
            self.draft.next.place_bytes = self.result.val().bytes;
            self.draft.next.trimmed_bytes = self.result.val().trimmed;
            if self.flow.val().hit {
                self.draft.next.hit = true;
                self.draft.next.flow = self.flow.val().flow;
                self.draft.next.generation = self.flow.val().generation;
                self.draft.next.owner = self.flow.val().owner;
                self.draft.next.domain = self.flow.val().domain;
                self.draft.next.cursor = self.flow.val().cursor;
            }
        }
        self.placement.next = self.draft.val();
    }
}
