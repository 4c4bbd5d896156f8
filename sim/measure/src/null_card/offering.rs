//! Peers offer packets in turn.
//!
//! ```text
//!   Turn ── whose ──► Offer::make ──► ready ── when there is room ──► header queue ──► judged
//! ```

use super::offer::{accepts, Offer, Offered};
use super::payload::place;
use super::turn::Turn;
use super::wrong::Wrong;
use super::NullCard;

impl NullCard {
    /// From now on a peer offers so many packets in a row before the next one does; else one.
    pub fn set_burst(&mut self, packets: usize) {
        self.turn = Turn::new(packets);
    }

    /// Offers up to `packets` packets of `payload_bytes` from the first `peers` peers, which take
    /// turns: first those that are ready. Returns how many the host's windows and its queue took.
    pub fn offer(&mut self, packets: usize, payload_bytes: u32, peers: usize) -> usize {
        self.prepare(packets, payload_bytes, peers);
        let mut taken = 0;
        while taken < packets && self.publish_offer() {
            taken += 1;
        }
        self.counters.packets += taken as u64;
        taken
    }

    /// Packets that are ready to be offered.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Makes packets ready to be offered, as [`NullCard::offer`] makes them, until there are
    /// `packets` of them or the host's windows take no more. They acknowledge what the host has
    /// sent by now: if it sends on, they may come too late for the limits of their flows, which is
    /// found.
    pub fn prepare(&mut self, packets: usize, payload_bytes: u32, peers: usize) {
        if self.ready.len() >= packets {
            return;
        }
        self.judge_kept();
        let (peers, mut refused) = (peers.min(self.peers.len()), 0);
        while self.ready.len() < packets && refused < peers {
            let at = self.turn.next(peers);
            let offer = Offer::make(&self.tables, (at, &mut self.peers[at]), payload_bytes);
            match offer.and_then(|offer| self.place(offer)) {
                Ok(Some(offer)) => {
                    self.ready.push_back(offer);
                    refused = 0;
                }
                refusal => {
                    self.note(refusal.map(|_| ()));
                    self.turn.end();
                    refused += 1;
                }
            }
        }
    }

    /// Writes the payload of a packet, on a card that does.
    fn place(&mut self, offer: Option<Offer>) -> Result<Option<Offer>, Wrong> {
        let (Some(pattern), Some(offer)) = (&self.payload, offer) else {
            return Ok(offer);
        };
        let (position, index, bytes) = (offer.position, offer.first, offer.offered.bytes);
        let payload = pattern.at(offer.place, bytes as usize);
        let at = (offer.name.flow, index);
        let placed = place(&self.tables, &mut self.memory, at, position, payload);
        let range = Wrong::Range { position, bytes, index };
        placed.ok_or(range).map(|()| Some(offer))
    }

    /// Publishes the next packet that is ready, if there is one and the queue has room.
    fn publish_offer(&mut self) -> bool {
        let Some(&offer) = self.ready.front() else {
            return false;
        };
        let rings = &mut self.owners[usize::from(offer.owner)];
        if !rings.has_room(&self.shared) {
            return false;
        }
        rings.publish(&self.memory, offer.fields(), &offer.header);
        self.ready.pop_front();
        match &mut self.later {
            Some(kept) => kept.offered(offer.offered),
            None => {
                let judged = self.judge_offered(offer.offered);
                self.note(judged);
            }
        }
        true
    }

    /// Judges whether a packet that was published is one that its flow takes.
    pub(super) fn judge_offered(&mut self, offered: Offered) -> Result<(), Wrong> {
        let peer = &mut self.peers[offered.peer];
        let next = peer.published;
        peer.published = next.wrapping_add(offered.bytes);
        let flow = peer.flow.and_then(|flow| self.tables.flow(flow));
        flow.map_or(Ok(()), |flow| accepts(flow, offered.number, next))
    }
}
