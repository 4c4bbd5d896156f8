//! A machine with a card: who drives the card, the card, and who is at the other end of its wire.
//!
//! ```text
//!   host ──── Bus ──── card ══ wire ══ peer        clock: one for both ends
//!    ├ Driver: commands, descriptors, header entries, by hand
//!    └ Provider: an application's calls, a protocol below them
//! ```
//! The card is the golden one or a simulated one; whoever has no peer puts frames on the wire
//! itself. Two machines are joined by [`Wire::join`](crate::wire::Wire::join).

mod driven;
mod model;
mod provided;

use host::clock::ManualClock;
use host::transport::peer::WirePeer;
use host::transport::TransportError;

pub use self::driven::{Driver, MachineError};
pub use self::model::CardModel;
pub use self::provided::{smoltcp_ends, SmoltcpMachine};
use crate::exchange::Side;
use crate::frame::Frame;
use crate::network_side::NetworkSide;

/// Longest frame that a peer may hand out.
const FRAME_BUFFER_BYTES: usize = 65_600;

/// A machine. See the head of the module.
pub struct Machine<H, C, N = ()> {
    /// Who drives the card: a [`Driver`], or a `Provider`. It has the bus.
    pub host: H,
    /// The card's network side.
    pub card: C,
    /// Who is at the other end of the wire.
    pub peer: N,
    /// The clock of both ends. Without one they have the wall's, or somebody else sets theirs.
    pub clock: Option<ManualClock>,
}

impl<H, C: NetworkSide, N> Machine<H, C, N> {
    /// The card receives a frame that is whole.
    pub fn receive(&mut self, bytes: Vec<u8>) {
        self.card.receive(Frame { bytes, ..Frame::default() });
    }

    /// Takes the frames that the card has sent.
    pub fn take_sent(&mut self) -> Vec<Frame> {
        let mut sent = Vec::new();
        self.card.take_sent(&mut sent);
        sent
    }
}

impl<H, C: NetworkSide, N: WirePeer> Machine<H, C, N> {
    /// Moves the frames that both ends have for each other, those of the card first. `passes` sees
    /// each and says whether it arrives.
    pub fn carry(
        &mut self,
        mut passes: impl FnMut(Side, &Frame) -> bool,
    ) -> Result<(), TransportError> {
        for frame in self.take_sent() {
            if passes(Side::ToPeer, &frame) {
                self.peer.inject_frame(&frame.bytes)?;
            }
        }
        let mut buffer = vec![0; FRAME_BUFFER_BYTES];
        while let Some(bytes) = self.peer.poll_frame(&mut buffer)? {
            let frame = Frame::padded(&buffer[..bytes]);
            if passes(Side::ToCard, &frame) {
                self.card.receive(frame);
            }
        }
        Ok(())
    }
}
