//! Both directions of the wire between a card and a peer.

use host::transport::peer::WirePeer;

use super::observer::{Observer, Side};
use super::plan::LabError;
use crate::frame::Frame;
use crate::network_side::NetworkSide;
use crate::wire::Wire;

pub(super) fn give_to_peer(
    peer: &mut dyn WirePeer,
    frames: Vec<Frame>,
    observer: &mut dyn Observer,
) -> Result<(), LabError> {
    for frame in frames {
        observer.frame(Side::ToPeer, &frame);
        // The peer's own MAC drops frames with a bad FCS.
        if !frame.is_bad {
            peer.inject_frame(&frame.bytes)?;
        }
    }
    Ok(())
}

/// Both directions of the wire.
pub(super) struct Wires {
    pub(super) to_card: Wire,
    pub(super) to_peer: Wire,
}

impl Wires {
    /// Frames that the wire has lost.
    pub(super) fn lost_frames(&self) -> u64 {
        self.to_card.statistics().lost + self.to_peer.statistics().lost
    }

    /// Releases frames that are held back when no other frame comes. Returns whether there were
    /// any.
    pub(super) fn flush(
        &mut self,
        card: &mut impl NetworkSide,
        peer: &mut dyn WirePeer,
        observer: &mut dyn Observer,
    ) -> Result<bool, LabError> {
        let (mut to_card, mut to_peer) = (Vec::new(), Vec::new());
        self.to_card.flush(&mut to_card);
        self.to_peer.flush(&mut to_peer);
        let any = !(to_card.is_empty() && to_peer.is_empty());
        for frame in to_card {
            observer.frame(Side::ToCard, &frame);
            card.receive(frame);
        }
        give_to_peer(peer, to_peer, observer)?;
        Ok(any)
    }
}
