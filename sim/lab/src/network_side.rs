//! The network side of a card, in RTL or as a model: frames in, frames out.

use std::cell::RefCell;
use std::rc::Rc;

use crate::frame::Frame;

/// A card's network side.
pub trait NetworkSide {
    /// A frame arrives from the wire.
    fn receive(&mut self, frame: Frame);
    /// Moves the frames that the card has sent into `into`.
    fn take_sent(&mut self, into: &mut Vec<Frame>);
    /// Every frame handed in has entered the card.
    fn is_quiet(&self) -> bool;
    /// How long the wire to the card is still busy with the frames handed in, in simulated ps.
    fn wire_busy_ps(&self) -> u64;
    /// Simulated time so far, ps.
    fn now_ps(&self) -> u64;
    /// Frames and packets of the bus that have passed the card's ports so far; `None` while one is
    /// on its way. A card that shows the same number for a while has nothing to do.
    fn traffic(&self) -> Option<u64>;
}

/// A card that its bus has as well.
impl<C: NetworkSide> NetworkSide for Rc<RefCell<C>> {
    fn receive(&mut self, frame: Frame) {
        self.borrow_mut().receive(frame);
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        self.borrow_mut().take_sent(into);
    }

    fn is_quiet(&self) -> bool {
        self.borrow().is_quiet()
    }

    fn wire_busy_ps(&self) -> u64 {
        self.borrow().wire_busy_ps()
    }

    fn now_ps(&self) -> u64 {
        self.borrow().now_ps()
    }

    fn traffic(&self) -> Option<u64> {
        self.borrow().traffic()
    }
}
