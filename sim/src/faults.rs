//! Faults that break the rule of each decision, planted where two stages meet.

use rust_hdl_core::prelude::Synth;
use stream::prelude::*;
use verilate::design::Design;
use verilate::shared::share;

use crate::harness::payload::place;
use crate::planted::{with_bits, Planted};

/// A broken rule, with the number that switches it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 1: drops move no counter.
    DropUncounted = 1,
    /// 2: classification sees a floor (and cursor) 4 KiB below the one that software set.
    FloorIgnored = 2,
    /// 3: the MAC's verdict on a frame does not reach the verifying stage.
    BadFrameBelieved = 3,
    /// 4: segments appear to start one position early.
    SegmentMisplaced = 4,
    /// 5: the peer's port is ignored, so that other connections match the known flow.
    StrangerKnown = 5,
    /// 6: confirmations bypass the receive path.
    FenceSkipped = 6,
    /// 7: every access to a region is granted.
    RegionIgnored = 7,
    /// 8: sending sees a send floor 8 KiB below the one that software set.
    SendFloorIgnored = 8,
    /// 9: the length of a request differs from its header.
    RequestLength = 9,
    /// 9: sending pauses inside a frame.
    FrameGap = 10,
    /// 11: every command is treated as one of owner 0.
    OwnerIgnored = 11,
    /// 12: the epoch never changes.
    EpochStuck = 12,
    /// 9: requests advance whether or not the hard block takes them.
    RequestReadyIgnored = 13,
    /// 9: completions to the host advance whether or not the hard block takes them.
    ReplyReadyIgnored = 14,
    /// 9: beats advance whether or not the MAC takes them.
    MacReadyIgnored = 15,
    /// 7: a packet is judged by the share of the packet buffer that owner 1 holds.
    RivalsShare = 16,
    /// 7: a packet is judged by the room in the header queue of owner 1.
    RivalsQueue = 17,
    /// 14: no command ends a run.
    RunForgotten = 18,
}

const CARD: &str = "zeronic_small";
const DATAPATH: &str = "datapath";

/// A message with one field changed by `wrong`.
fn change_field<T: Synth>(net: &str, field: &str, wrong: impl Fn(&str) -> String) -> String {
    let (at, bits) = place::<T>(field);
    let inner = wrong(&format!("{net}[{}:{at}]", at + bits - 1));
    with_bits(net, T::BITS, (at, bits), &inner)
}

/// The small card with every fault, built.
///
/// # Panics
/// If it does not build.
pub fn build_with_faults() -> Design {
    let built = share("the small card with every fault", || {
        let mut card = Planted::card("small");
        at_the_top(&mut card);
        ready(&mut card);
        in_the_datapath(&mut card);
        room(&mut card);
        fence(&mut card);
        card.build()
    });
    built.unwrap_or_else(|error| panic!("the card with faults: {error}"))
}

fn at_the_top(card: &mut Planted) {
    let off = |net: &str| format!("({net} & 1'd0)");
    let input = |instance, port| [CARD, instance, port];
    card.at_input(Fault::DropUncounted as u8, input("host_interface", "drop_count_valid"), off);
    card.at_input(Fault::BadFrameBelieved as u8, input("datapath", "rx_frames_abort"), off);
    card.at_input(Fault::OwnerIgnored as u8, input("datapath", "command_fetch_payload"), |net| {
        change_field::<RingFetch>(net, "owner", |_| "8'd0".to_owned())
    });
    // The last epoch: a smaller one than before would clear the tables.
    card.at_input(Fault::EpochStuck as u8, input("datapath", "epoch"), |net| {
        format!("(({net} & 16'd0) | 16'hfffe)")
    });
    // Bits 64 to 74 of a request's header are its length in dwords (PG213).
    card.at_output(Fault::RequestLength as u8, ["host_interface", "s_axis_rq_tdata"], |net| {
        format!("({net} ^ (512'd1 << 64))")
    });
    card.at_output(Fault::FrameGap as u8, ["mac_send", "tx_axis_tvalid"], |net| {
        format!("({net} & tx_axis_tdata[3])")
    });
}

/// Ready inputs that are ignored.
fn ready(card: &mut Planted) {
    for (fault, [instance, port], always) in [
        (Fault::RequestReadyIgnored, ["host_interface", "s_axis_rq_tready"], "4'd15"),
        (Fault::ReplyReadyIgnored, ["host_interface", "s_axis_cc_tready"], "4'd15"),
        (Fault::MacReadyIgnored, ["mac_send", "tx_axis_tready"], "1'd1"),
    ] {
        card.at_input(fault as u8, [CARD, instance, port], |_| always.to_owned());
    }
}

fn in_the_datapath(card: &mut Planted) {
    let input = |instance, port| [DATAPATH, instance, port];
    let forgotten = Fault::RunForgotten as u8;
    card.at_input(forgotten, input("rx_split", "confirmation_sink_payload"), |net| {
        // Of its flow and of its owner, one bit each.
        let (at, _) = place::<CommandEnd>("ends_flow");
        with_bits(net, CommandEnd::BITS, (at, 2), "2'd0")
    });
    card.at_input(Fault::FloorIgnored as u8, input("rx_split", "flow_reply_payload"), |net| {
        change_field::<FlowReply>(net, "floor", |bits| format!("{bits} - 32'd4096"))
    });
    card.at_input(Fault::FloorIgnored as u8, input("rx_split", "cursor"), |net| {
        format!("({net} - 32'd4096)")
    });
    card.at_input(
        Fault::SegmentMisplaced as u8,
        input("rx_split", "segment_reply_payload"),
        |net| change_field::<SegmentReply>(net, "position", |bits| format!("{bits} - 32'd1")),
    );
    card.at_input(Fault::StrangerKnown as u8, input("tables", "flow_lookup_payload"), |net| {
        let port = abi::flow_key::REMOTE_PORT;
        // Port 9000, as on the wire.
        let known = "16'h2823";
        with_bits(net, FlowLookup::BITS, (8 * port.start, 16), known)
    });
    card.at_input(Fault::RegionIgnored as u8, input("rx_split", "region_reply_payload"), |net| {
        change_field::<RegionReply>(net, "granted", |_| "1'd1".to_owned())
    });
    card.at_input(Fault::SendFloorIgnored as u8, input("tx_merge", "flow_reply_payload"), |net| {
        change_field::<SendFlowReply>(net, "floor", |bits| format!("{bits} - 32'd8192"))
    });
}

/// Room that is another owner's.
fn room(card: &mut Planted) {
    let rival = |_: &str| "8'd1".to_owned();
    let share = Fault::RivalsShare as u8;
    card.at_input(share, ["share_check", "shares", "owner"], rival);
    let queue = Fault::RivalsQueue as u8;
    card.at_input(queue, ["admit", "owners", "space_owner"], rival);
    card.at_input(queue, ["admit", "owners", "early_owner"], rival);
}

/// Confirmations go from tables to tx_merge directly, past rx_split.
fn fence(card: &mut Planted) {
    let fault = Fault::FenceSkipped as u8;
    let valid = card.net(DATAPATH, "tables", "confirmation_valid");
    let payload = card.net(DATAPATH, "tables", "confirmation_payload");
    let ready = card.net(DATAPATH, "tx_merge", "confirmation_sink_ready");
    let mut input = |instance, port, wrong: &str| {
        card.at_input(fault, [DATAPATH, instance, port], |_| wrong.to_owned());
    };
    input("rx_split", "confirmation_sink_valid", "1'd0");
    input("tx_merge", "confirmation_sink_valid", &valid);
    let (at, bits) = place::<CommandEnd>("confirmation");
    let confirmation = format!("{payload}[{}:{at}]", at + bits - 1);
    input("tx_merge", "confirmation_sink_payload", &confirmation);
    input("tables", "confirmation_ready", &ready);
}
