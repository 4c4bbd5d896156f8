//! Headers of the protocol on their way to the send rings.
//!
//! ```text
//!   header ─┬─ of a flow on the card ─────────────► descriptor with its position
//!           └─ beyond the table ── payload copied ─► descriptor of the shard's bounce flow
//! ```
//!
//! `transmit` is called by each poll, once connections have been stepped.

use abi::config::FRAME_BYTES_MAX;

use crate::ahead::SENDERS_AHEAD;
use crate::control::connection::Connection;
use crate::control::flow::send::{SendSide, DESCRIPTOR_BYTES_MAX};
use crate::driver::bus::Bus;
use crate::driver::device::Device;
use crate::error::request::RequestError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::headers::layers::Layers;
use crate::protocol::{FlowIndex, HeaderSink, OutgoingHeader, OutgoingPayload, Protocol};
use crate::provider::bounce::Bounce;
use crate::provider::connections::Connections;
use crate::provider::copier::Copier;
use crate::provider::counters::ProviderCounters;
use crate::provider::{ConnectionId, Provider};
use crate::records::descriptor::{header, raw, send, Descriptor, Payload};

/// Slots and descriptors that wait for a send ring that does not move, from which on headers for it
/// are dropped: as many as a queue of Linux holds.
const SENDS_LEFT_MAX: usize = 1000;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Sends the headers that are due. One that breaks a limit ends its connection.
    pub(in crate::provider) fn transmit(&mut self, now_ns: u64) {
        loop {
            let payloads_left = self.look_ahead_to_send();
            let mut sink = Sink {
                device: &mut self.device,
                connections: &self.connections,
                bounces: &mut self.bounces,
                copier: &mut self.copier,
                counters: &mut self.counters,
                payloads_left,
                wrong: Vec::new(),
            };
            let sent = self.protocol.transmit(now_ns, &mut sink);
            let (wrong, is_next) = (sink.wrong, sink.payloads_left == 0 && sent.is_ok());
            self.note_protocol(sent);
            for (id, reason) in wrong {
                self.fail(id, reason);
            }
            if !is_next {
                return;
            }
        }
    }

    /// Asks for what the next senders need. Returns how many headers with payload may be sent then.
    fn look_ahead_to_send(&self) -> usize {
        let Some(ahead) = &self.ahead else { return usize::MAX };
        let next = (0..SENDERS_AHEAD).map_while(|place| (ahead.sending)(&self.protocol, place));
        next.for_each(|flow| self.connections.expect_sender(flow.0));
        SENDERS_AHEAD
    }
}

/// The send rings, and the connections whose payload is sent.
struct Sink<'a, B: Bus> {
    device: &'a mut Device<B>,
    connections: &'a Connections,
    bounces: &'a mut [Bounce],
    copier: &'a mut Copier,
    counters: &'a mut ProviderCounters,
    /// Headers with payload until the next ones are looked ahead.
    payloads_left: usize,
    /// Connections with a header that cannot be sent, and why not.
    wrong: Vec<(ConnectionId, Failure)>,
}

impl<B: Bus> HeaderSink for Sink<'_, B> {
    #[inline]
    fn has_room(&self) -> bool {
        self.payloads_left > 0 && !self.device.is_any_full()
    }

    #[inline]
    fn has_room_for(&self, flow: FlowIndex) -> bool {
        if self.payloads_left == 0 {
            return false;
        }
        let Some(connection) = self.connections.with_index(flow) else {
            return !self.device.is_full(0);
        };
        let owner = connection.owner;
        let is_bounced = !connection.on_card && connection.send.is_some();
        let mut bounces = self.bounces.iter();
        let has_place = |bounce: &Bounce| bounce.owner != owner || bounce.has_room();
        !self.device.is_full(owner) && (!is_bounced || bounces.all(has_place))
    }

    fn send(&mut self, outgoing: &OutgoingHeader<'_>) -> Result<()> {
        self.counters.sent_headers += 1;
        let known = outgoing.flow.map(|flow| self.connections.with_index(flow));
        let bytes = outgoing.bytes;
        let (Some(layers), Some(connection)) = (outgoing.layers, known.flatten()) else {
            if let (Some(_), Some(flow)) = (outgoing.payload, outgoing.flow) {
                return Err(HostError::Request(RequestError::UnknownConnection(flow.0.into())));
            }
            return self.pass(
                0,
                match outgoing.layers {
                    Some(layers) => header(bytes, layers),
                    None => raw(bytes),
                },
            );
        };
        let owner = connection.owner;
        let Some(payload) = &outgoing.payload else {
            // Without payload it is nobody's: how a connection ends is said by the driver's rings.
            let owner = if self.device.known_stopped(owner).1 { 0 } else { owner };
            return self.pass(owner, header(bytes, layers));
        };
        self.payloads_left = self.payloads_left.saturating_sub(1);
        if is_beyond_limit(payload) {
            self.break_off(connection, beyond_limit(payload));
            return Ok(());
        }
        let side = connection.send.as_ref();
        if let Some(side) = side.filter(|_| !connection.on_card) {
            return self.bounce((connection, side), (bytes, layers), payload);
        }
        let payload = Payload {
            name: connection.name,
            position: payload.position,
            bytes: payload.bytes,
            mss_bytes: payload.mss_bytes as u16,
            segment_index: side.map_or(0, |side| side.segment_index(payload.position)),
        };
        self.pass(owner, send(bytes, layers, &payload))
    }
}

impl<B: Bus> Sink<'_, B> {
    /// Queues a descriptor in the ring of an owner. It is dropped if the ring has stopped, or does
    /// not move, and too much waits for it.
    #[inline]
    fn pass(&mut self, owner: u8, descriptor: Descriptor<'_>) -> Result<()> {
        if !self.device.send_within(owner, descriptor, SENDS_LEFT_MAX)? {
            self.counters.unsent_headers += 1;
        }
        Ok(())
    }

    /// This connection has a header that cannot be sent.
    #[cold]
    fn break_off(&mut self, connection: &Connection, reason: Failure) {
        self.wrong.push((self.connections.id(connection), reason));
    }

    /// Sends a header with payload of a connection that the card does not know.
    fn bounce(
        &mut self,
        (connection, side): (&Connection, &SendSide),
        (header, layers): (&[u8], Layers),
        payload: &OutgoingPayload,
    ) -> Result<()> {
        let (id, owner) = (self.connections.id(connection), connection.owner);
        if !self.device.takes_sends(owner, SENDS_LEFT_MAX) {
            self.counters.unsent_headers += 1;
            return Ok(());
        }
        if side.is_below_floor(payload.position) {
            // A repetition that crossed its acknowledgement.
            self.counters.overtaken_sends += 1;
            return Ok(());
        }
        let bounce = self.bounces.iter_mut().find(|bounce| bounce.owner == owner);
        let parts = side.parts(payload.position, payload.bytes);
        let (Some(bounce), Some(parts)) = (bounce, parts) else {
            let &OutgoingPayload { position, bytes, .. } = payload;
            self.break_off(connection, Failure::NotOffered { position, bytes });
            return Ok(());
        };
        let name = bounce.name;
        let slots = raw(header).slots() as u32;
        let slots = self.device.send_progress(owner).1.wrapping_add(slots);
        let copier = &mut *self.copier;
        let copied = bounce.copy((id, payload.bytes, slots), |write| {
            let mut parts = parts.iter();
            parts.try_for_each(|part| copier.show(part, write))
        });
        let place = match copied {
            Ok(Some(place)) => place,
            // The others do not wait for it.
            Ok(None) => {
                self.counters.unsent_headers += 1;
                return Ok(());
            }
            Err(error) => {
                self.break_off(connection, Failure::of(&error));
                return Ok(());
            }
        };
        let payload = Payload {
            name,
            position: place.0,
            bytes: payload.bytes,
            mss_bytes: payload.mss_bytes as u16,
            segment_index: place.1,
        };
        self.pass(owner, send(header, layers, &payload))
    }
}

#[inline]
fn is_beyond_limit(payload: &OutgoingPayload) -> bool {
    payload.bytes > DESCRIPTOR_BYTES_MAX || payload.mss_bytes > FRAME_BYTES_MAX as u32
}

#[cold]
fn beyond_limit(payload: &OutgoingPayload) -> Failure {
    Failure::DescriptorLimit {
        bytes: payload.bytes,
        mss_bytes: payload.mss_bytes,
        bytes_max: DESCRIPTOR_BYTES_MAX,
        mss_bytes_max: FRAME_BYTES_MAX as u32,
    }
}
