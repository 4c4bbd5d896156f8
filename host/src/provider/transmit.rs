//! Headers of the protocol on their way to the send rings.

use abi::config::FRAME_BYTES_MAX;

use super::connections::Connections;
use super::{ConnectionId, Provider};
use crate::control::descriptor::{header, raw, send, Payload};
use crate::control::flow::send::DESCRIPTOR_BYTES_MAX;
use crate::driver::bus::Bus;
use crate::driver::device::Device;
use crate::driver::error::{HostError, Result};
use crate::protocol::{HeaderSink, OutgoingHeader, OutgoingPayload, Protocol};

/// Send descriptors queued for the ring above which no more headers are taken.
const SENDS_WAITING_MAX: usize = 64;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Sends the headers that are due. One that breaks a limit ends its connection.
    pub(super) fn transmit(&mut self, now_ns: u64) -> Result<()> {
        let mut sink = Sink {
            device: &mut self.device,
            connections: &self.connections,
            sent_headers: &mut self.counters.sent_headers,
            wrong: None,
        };
        self.protocol.transmit(now_ns, &mut sink)?;
        match sink.wrong {
            Some((id, why)) => self.fail(id, libc::EMSGSIZE, why),
            None => Ok(()),
        }
    }
}

/// The send rings, and the connections whose payload is sent.
struct Sink<'a, B: Bus> {
    device: &'a mut Device<B>,
    connections: &'a Connections,
    sent_headers: &'a mut u64,
    /// A header that the card cannot send, and why.
    wrong: Option<(ConnectionId, String)>,
}

impl<B: Bus> HeaderSink for Sink<'_, B> {
    fn has_room(&self) -> bool {
        self.device.sends_waiting() <= SENDS_WAITING_MAX && self.wrong.is_none()
    }

    fn send(&mut self, outgoing: &OutgoingHeader<'_>) -> Result<()> {
        *self.sent_headers += 1;
        let id = outgoing
            .flow
            .and_then(|flow| self.connections.of_index(flow));
        let connection = id.and_then(|id| self.connections.get(id));
        let bytes = outgoing.bytes;
        let (Some(layers), Some(id), Some(connection)) = (outgoing.layers, id, connection) else {
            if let (Some(_), Some(flow)) = (outgoing.payload, outgoing.flow) {
                return Err(HostError::UnknownConnection(flow.0.into()));
            }
            self.device.send(match outgoing.layers {
                Some(layers) => header(bytes, layers),
                None => raw(bytes),
            });
            return Ok(());
        };
        let Some(payload) = outgoing.payload else {
            return self.device.send_of(connection.owner, header(bytes, layers));
        };
        if let Some(why) = broken_limit(&payload) {
            self.wrong = Some((id, why));
            return Ok(());
        }
        let side = connection.send.as_ref();
        let payload = Payload {
            name: connection.name,
            position: payload.position,
            bytes: payload.bytes,
            mss_bytes: payload.mss_bytes as u16,
            segment_index: side.map_or(0, |side| side.segment_index(payload.position)),
        };
        self.device
            .send_of(connection.owner, send(bytes, layers, &payload))
    }
}

fn broken_limit(payload: &OutgoingPayload) -> Option<String> {
    let (bytes, mss_bytes) = (payload.bytes, payload.mss_bytes);
    let is_within = bytes <= DESCRIPTOR_BYTES_MAX && mss_bytes <= FRAME_BYTES_MAX as u32;
    (!is_within).then(|| {
        format!(
            "the protocol sends {bytes} bytes in frames of {mss_bytes}; the limits are {} and {}",
            DESCRIPTOR_BYTES_MAX, FRAME_BYTES_MAX
        )
    })
}
