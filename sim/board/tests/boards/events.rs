//! What may happen to a board in a machine, through its whole top: resets of every kind, a wire
//! that fails, a clock that stands. Frames go both ways behind each.

use board::boards::find;
use hdl::emit::on_large_stack;
use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;

use crate::whole::{small, whole};
use crate::wire_support::{self, Cause, CAUSES};

#[test]
fn every_event_passes_whole_top() {
    on_large_stack(|| {
        let card = small();
        for name in ["vcu118", "u280"] {
            let design = whole(find(name).expect("a board"), card, None);
            let cards = |config: PcieConfig| SimulatedCard::of(&design, config).expect("a card");
            let mut causes = CAUSES.to_vec();
            causes.push(Cause::Perst);
            wire_support::old_frames(&cards, &causes);
            wire_support::goes_down(&cards);
            wire_support::cut_off(&cards);
            wire_support::stands_still(&cards);
        }
    });
}
