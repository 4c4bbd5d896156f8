//! The whole card at a wire that fails; `wire_support` has the scenarios.

use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use verilate::options::Options;

use super::wire_support::{self, CAUSES};

fn card(config: PcieConfig) -> SimulatedCard {
    SimulatedCard::new("small", config, Options::default()).expect("it builds")
}

#[test]
fn frame_cut_by_mac_reset_is_counted() {
    wire_support::cut_off(&card);
}

#[test]
fn wire_down_is_told_and_recovers() {
    wire_support::goes_down(&card);
}

#[test]
fn no_frame_of_old_epoch_leaves() {
    wire_support::old_frames(&card, &CAUSES);
}

#[test]
fn stalled_frame_belongs_to_no_epoch() {
    wire_support::stands_still(&card);
}
