//! The simulated slot, driven beat by beat as a card drives it.

mod card;
mod faults;
mod framing;
mod reads;
mod registers;
mod violations;
mod writes;
