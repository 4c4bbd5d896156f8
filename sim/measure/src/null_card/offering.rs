//! Peers offer packets in turn.
//!
//! ```text
//!   Turn ── whose ──► Offer::make ──► ready ── when there is room ──► header queue ──► judged
//! ```
//! A card that was told to sums up what is ready of one peer: an entry for a run of packets.

use abi::config::RUN_PACKETS_MAX;

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
        while taken < packets {
            match self.publish_offer(packets - taken) {
                0 => break,
                published => taken += published,
            }
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

    /// From now on one header entry stands for so many packets at most: the host must have asked
    /// for runs ([`host::driver::device::DeviceConfig::coalesce`]).
    pub fn set_run(&mut self, packets: usize) {
        self.run_packets = packets.min(RUN_PACKETS_MAX);
    }

    /// Packets at the front of those that are ready that one entry may stand for, of so many.
    fn run_length(&self, packets_max: usize) -> usize {
        let Some(first) = self.ready.front() else {
            return 0;
        };
        let followers = self.ready.iter().zip(self.ready.iter().skip(1));
        let joins = |(before, next): &(&Offer, &Offer)| next.follows(before);
        let length = 1 + followers.take_while(joins).count();
        let most = if self.takes_runs(first.owner) { self.run_packets } else { 1 };
        length.min(most).min(packets_max)
    }

    fn takes_runs(&self, owner: u8) -> bool {
        self.owners[usize::from(owner)].takes_runs()
    }

    /// Publishes the next packet that is ready, or a run of at most so many, if there is one and
    /// the queue has room. Returns how many packets it was.
    fn publish_offer(&mut self, packets_max: usize) -> usize {
        let length = self.run_length(packets_max);
        let Some((&first, &last)) = self.ready.front().zip(self.ready.get(length.max(1) - 1))
        else {
            return 0;
        };
        let rings = &mut self.owners[usize::from(first.owner)];
        if !rings.has_room(&self.shared) {
            return 0;
        }
        match length {
            1 => rings.publish(&self.memory, first.fields(), &first.header),
            _ => {
                let fields = first.fields().chain(last.run_fields(length));
                rings.publish(&self.memory, fields, &first.header);
            }
        }
        for offer in self.ready.drain(..length).collect::<Vec<_>>() {
            match &mut self.later {
                Some(kept) => kept.offered(offer.offered),
                None => {
                    let judged = self.judge_offered(offer.offered);
                    self.note(judged);
                }
            }
        }
        length
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
