//! A card that can be judged.

use std::cell::RefCell;
use std::rc::Rc;

use crate::golden_card::GoldenCard;
use crate::network_side::NetworkSide;

/// A card, in RTL or as a model, whose time a test drives and that tells what became of it.
pub trait CardModel: NetworkSide {
    /// Lets `cycles` cycles of the card's clock pass.
    fn run(&mut self, cycles: u64);
    /// Frames that have entered the card.
    fn frames_in(&self) -> u64;
    /// Rules of its ports that the card broke, as text, oldest first.
    fn violations(&self) -> Vec<String>;
    /// Simulated time, ns; `None` of a card that takes no time.
    fn time_ns(&self) -> Option<u64>;
}

/// A card that its bus has as well.
impl<C: CardModel> CardModel for Rc<RefCell<C>> {
    fn run(&mut self, cycles: u64) {
        self.borrow_mut().run(cycles);
    }

    fn frames_in(&self) -> u64 {
        self.borrow().frames_in()
    }

    fn violations(&self) -> Vec<String> {
        self.borrow().violations()
    }

    fn time_ns(&self) -> Option<u64> {
        self.borrow().time_ns()
    }
}

impl CardModel for GoldenCard {
    fn run(&mut self, cycles: u64) {
        GoldenCard::run(self, cycles);
    }

    fn frames_in(&self) -> u64 {
        GoldenCard::frames_in(self)
    }

    /// It has no ports.
    fn violations(&self) -> Vec<String> {
        Vec::new()
    }

    fn time_ns(&self) -> Option<u64> {
        None
    }
}
