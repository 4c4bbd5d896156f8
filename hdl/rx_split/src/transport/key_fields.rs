//! Numbers of the TCP header, and the flow key.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. The key has the layout of `abi::flow_key`; what the profile does not use is zero.

use crate::messages::{FlowKey, NetworkInfo, Word16, Word32};
use crate::transport::messages::LayoutDraft;
use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// The fields. See the module's head.
#[derive(LogicBlock, Default)]
pub struct KeyFields {
    /// Packet with its lengths.
    pub draft: Signal<In, LayoutDraft>,
    /// Message key of the packet's profile header.
    pub message_key: Signal<In, Bits<64>>,
    /// TCP sequence number.
    pub sequence_number: Signal<Out, Bits<32>>,
    /// TCP acknowledgement number.
    pub ack: Signal<Out, Bits<32>>,
    /// TCP flags.
    pub flags: Signal<Out, Bits<8>>,
    /// TCP window.
    pub window: Signal<Out, Bits<16>>,
    /// The reserved bits of TCP and its urgent pointer are 0.
    pub tcp_plain: Signal<Out, Bit>,
    /// Flow key of the packet.
    pub key: Signal<Out, Bits<384>>,

    bytes: Signal<Local, Bits<480>>,
    network: Signal<Local, NetworkInfo>,
    profile: Signal<Local, Bits<PROFILE_BITS>>,
    sequence_word: Signal<Local, Word32>,
    ack_word: Signal<Local, Word32>,
    window_word: Signal<Local, Word16>,
    flow_key: Signal<Local, FlowKey>,
}

impl Logic for KeyFields {
    #[hdl_gen]
    fn update(&mut self) {
        self.bytes.next = self.draft.val().bytes;
        self.network.next = self.draft.val().network;
        self.profile.next = self.draft.val().profile;
        self.sequence_word.next.byte0 = self.bytes.val().get_bits::<8>(32);
        self.sequence_word.next.byte1 = self.bytes.val().get_bits::<8>(40);
        self.sequence_word.next.byte2 = self.bytes.val().get_bits::<8>(48);
        self.sequence_word.next.byte3 = self.bytes.val().get_bits::<8>(56);
        self.ack_word.next.byte0 = self.bytes.val().get_bits::<8>(64);
        self.ack_word.next.byte1 = self.bytes.val().get_bits::<8>(72);
        self.ack_word.next.byte2 = self.bytes.val().get_bits::<8>(80);
        self.ack_word.next.byte3 = self.bytes.val().get_bits::<8>(88);
        self.sequence_number.next = self.sequence_word.val().into();
        self.ack.next = self.ack_word.val().into();
        self.flags.next = self.bytes.val().get_bits::<8>(104);
        self.window_word.next.high = self.bytes.val().get_bits::<8>(112);
        self.window_word.next.low = self.bytes.val().get_bits::<8>(120);
        self.window.next = self.window_word.val().into();
        self.tcp_plain.next = !(self.bytes.val().get_bits::<4>(96).any()
            | self.bytes.val().get_bits::<16>(144).any());

        self.flow_key.next.remote = self.network.val().remote;
        self.flow_key.next.local = self.network.val().local;
        self.flow_key.next.ports = self.bytes.val().get_bits::<32>(0);
        self.flow_key.next.protocol = bits::<8>(17);
        self.flow_key.next.version = bits::<4>(4);
        self.flow_key.next.profile = bit_cast::<4, 2>(self.profile.val());
        self.flow_key.next.message_key = 0.into();
        self.flow_key.next.padding = 0.into();
        if self.network.val().tcp {
            self.flow_key.next.protocol = bits::<8>(6);
        }
        if self.network.val().ipv6 {
            self.flow_key.next.version = bits::<4>(6);
        }
        if self.profile.val().any() {
            self.flow_key.next.message_key = self.message_key.val();
        }
        self.key.next = self.flow_key.val().into();
    }
}
