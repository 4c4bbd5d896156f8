//! The channels to all stations.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::channel::{Channel, STOPPED_NS};
use super::header::{Header, Station, MESSAGES_END};
use crate::error::Result;
use crate::protocol::{HeaderSink, OutgoingHeader, Packet, PacketPayload};

/// Stations that have a channel.
pub const CHANNELS_MAX: usize = 4096;

/// What comes of control messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlEvent {
    /// A station has said this.
    Told(Station, Vec<u8>),
    /// A station is gone: silent for too long, or opened again.
    Lost(Station),
}

/// The channels of a station.
#[derive(Debug)]
pub struct Channels {
    local: Station,
    /// Names this opening of the card.
    incarnation: u64,
    open: HashMap<SocketAddr, Channel>,
    heard: VecDeque<ControlEvent>,
    /// When it was last looked for stations that are lost.
    looked_ns: u64,
}

impl Channels {
    /// No channels of a station. `incarnation` names this opening of the card: another one than the
    /// last.
    pub fn new(local: Station, incarnation: u64) -> Self {
        // 0 is that of nobody.
        let incarnation = (incarnation % MESSAGES_END).max(1);
        Self { local, incarnation, open: HashMap::new(), heard: VecDeque::new(), looked_ns: 0 }
    }

    /// The channel of a station; `None` if there are too many.
    fn channel(&mut self, station: Station, now_ns: u64) -> Option<&mut Channel> {
        let (incarnation, open) = (self.incarnation, self.open.len());
        match self.open.entry(station.address) {
            Entry::Occupied(entry) => Some(entry.into_mut()),
            Entry::Vacant(_) if open >= CHANNELS_MAX => None,
            Entry::Vacant(entry) => Some(entry.insert(Channel::new(station, incarnation, now_ns))),
        }
    }

    /// Says something to a station. Returns whether it is taken: there may be too many stations.
    pub fn say(&mut self, now_ns: u64, to: Station, content: Vec<u8>) -> bool {
        self.channel(to, now_ns).map(|channel| channel.say(content)).is_some()
    }

    /// From now on the silence of a station counts, or does not.
    pub fn watch(&mut self, now_ns: u64, station: Station, is_watched: bool) {
        if let Some(channel) = self.channel(station, now_ns) {
            channel.watch(is_watched, now_ns);
        }
    }

    /// Something of a station has come that is no control message: it is there, however long its
    /// control messages wait behind its data.
    pub fn note_life(&mut self, station: Station, now_ns: u64) {
        if let Some(channel) = self.open.get_mut(&station.address) {
            channel.note_life(now_ns);
        }
    }

    /// The next thing that a station has said, or that is known of one.
    pub fn event(&mut self) -> Option<ControlEvent> {
        self.heard.pop_front()
    }

    /// Whether everything that was said is acknowledged.
    pub fn is_said(&self) -> bool {
        self.open.values().all(Channel::is_idle)
    }

    /// Takes a packet of a channel. Returns whether its station is another incarnation than before.
    pub fn hear(
        &mut self,
        now_ns: u64,
        (address, header): (SocketAddr, &Header),
        packet: &Packet<'_>,
    ) -> bool {
        let mac = packet.header.get(6..).and_then(|rest| rest.first_chunk());
        let (Some(&mac), PacketPayload::Deferred(content)) = (mac, packet.payload) else {
            return false;
        };
        let station = Station { mac, address };
        let heard = self.channel(station, now_ns).map(|c| c.hear(header, content, now_ns));
        let Some(heard) = heard else {
            return false;
        };
        if heard.is_new {
            self.heard.push_back(ControlEvent::Lost(station));
        }
        self.heard.extend(heard.told.map(|content| ControlEvent::Told(station, content)));
        heard.is_new
    }

    /// Notes the stations that have been silent for too long.
    pub fn find_lost(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.looked_ns, now_ns));
        if passed_ns > STOPPED_NS {
            self.open.values_mut().for_each(|channel| channel.forgive(passed_ns, now_ns));
        }
        let channels = self.open.values_mut();
        let lost = channels.filter_map(|channel| channel.take_lost(now_ns).then_some(channel.to));
        self.heard.extend(lost.map(ControlEvent::Lost));
    }

    /// Sends the packets that are due, as long as the sink has room.
    pub fn transmit(&mut self, now_ns: u64, sink: &mut dyn HeaderSink) -> Result<()> {
        for channel in self.open.values_mut() {
            while sink.has_room() {
                let Some((header, content)) = channel.packet(now_ns) else {
                    break;
                };
                let (packet, layers) = header.packet_with(&self.local, &channel.to, &content, 0);
                let layers = Some(layers);
                sink.send(&OutgoingHeader { flow: None, bytes: &packet, layers, payload: None })?;
            }
        }
        Ok(())
    }

    /// When one of them acts next, if nothing comes before.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.open.values().filter_map(Channel::deadline_ns).min()
    }
}
