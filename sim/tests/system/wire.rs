//! The whole card at a wire that fails; `wire_support` has the scenarios.

use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use verilate::options::Options;

use super::wire_support::{self, CAUSES};

fn card(config: PcieConfig) -> SimulatedCard {
    SimulatedCard::new("small", config, Options::default()).expect("it builds")
}

#[test]
fn a_frame_that_a_reset_of_the_mac_cuts_off_is_counted_and_glued_to_nothing() {
    wire_support::cut_off(&card);
}

#[test]
fn a_wire_that_goes_down_is_seen_told_to_owner_0_and_comes_back() {
    wire_support::goes_down(&card);
}

#[test]
fn no_frame_of_an_old_epoch_leaves_whatever_began_the_new_one() {
    wire_support::old_frames(&card, &CAUSES);
}

#[test]
fn a_frame_that_stood_still_for_any_number_of_epochs_is_of_none() {
    wire_support::stands_still(&card);
}
