//! Packets and frames on their way to the TCP.

use super::Observed;
use crate::error::Result;
use crate::headers::packet::parse_tcp;
use crate::protocol::{Doubt, FlowIndex, Packet, PacketPayload, Verdict};
use crate::transport::{self, Transport};

impl<T: Transport> Observed<T> {
    /// What becomes of a packet of an installed flow.
    pub(super) fn judge(&mut self, index: FlowIndex, packet: &Packet<'_>) -> Result<Verdict> {
        let is_its_own = |index| {
            let flow = self.flow(index)?;
            (flow.is_installed && flow.has_addresses).then_some(())
        };
        if is_its_own(index).is_none() {
            // Another connection with these addresses has begun.
            self.take_without_flow(packet)?;
            return Ok(Verdict::Refused);
        }
        self.touch(index);
        let Some(parsed) = parse_tcp(packet.header) else {
            self.counters.refused_headers += 1;
            return Ok(Verdict::Refused);
        };
        let flow = self.find_flow(index)?;
        if !flow.expected.is_for_us(packet.header, &parsed) {
            let verdict = flow.judge_misdirected(&parsed, packet);
            self.counters.withheld_foreign += 1;
            return Ok(verdict);
        }
        if packet.payload_bytes > 0 && !parsed.may_carry() {
            // No TCP accepts payload of such a packet, so none is kept.
            self.judged = Some((parsed, Doubt::Foreign));
            self.take_judged(index, packet)?;
            return Ok(Verdict::Refused);
        }
        let verdict = flow.judge(&parsed, packet);
        match verdict {
            Verdict::Later(doubt) => self.judged = Some((parsed, doubt)),
            _ => self.counters.withheld_headers += 1,
        }
        Ok(verdict)
    }

    /// The packet that was judged last is kept: it is shown to the TCP.
    pub(super) fn take_judged(&mut self, index: FlowIndex, packet: &Packet<'_>) -> Result<()> {
        if let Some((parsed, doubt)) = self.judged.take() {
            self.known_mut(index)?.note_received(&parsed, packet, doubt);
        }
        self.deliver(packet)
    }

    /// The connection with the addresses of a packet.
    pub(super) fn of_addresses(&self, packet: &Packet<'_>) -> Option<FlowIndex> {
        let parsed = parse_tcp(packet.header)?;
        let tuple = (parsed.destination, parsed.source);
        self.tuples.get(&tuple).copied()
    }

    /// Takes a packet without an installed flow: of a handshake, of a connection that is being
    /// accepted or was given up.
    pub(super) fn take_without_flow(&mut self, packet: &Packet<'_>) -> Result<()> {
        let Some(parsed) = parse_tcp(packet.header) else {
            self.counters.refused_headers += 1;
            return Ok(());
        };
        let tuple = (parsed.destination, parsed.source);
        if !self.handshakes.is_for_us(tuple, packet.header, &parsed) {
            self.counters.withheld_foreign += 1;
            return Ok(());
        }
        self.handshakes.note_received(tuple, &parsed);
        if let Some(&index) = self.tuples.get(&tuple) {
            self.touch(index);
        }
        let is_kept = match packet.payload {
            PacketPayload::Deferred(payload) => self.handshakes.keep_early(tuple, &parsed, payload),
            // Placed or dropped for an old flow with the same addresses: the payload is lost.
            _ => packet.payload_bytes == 0 || !parsed.may_carry(),
        };
        if !is_kept {
            self.counters.withheld_headers += 1;
            return Ok(());
        }
        self.deliver(packet)
    }

    fn deliver(&mut self, packet: &Packet<'_>) -> Result<()> {
        let payload_bytes = packet.payload_bytes as usize;
        let delivered = match &packet.run {
            None => self.transport.deliver(packet.header, payload_bytes),
            Some(run) => self.transport.deliver_run(packet.header, run),
        };
        self.count_refused(delivered)
    }

    /// A packet that the TCP refuses is dropped and counted. Its peer repeats it, or its connection
    /// ends.
    pub(super) fn count_refused(&mut self, delivered: transport::Result<()>) -> Result<()> {
        match delivered {
            Err(error) if error.is_of_packet() => {
                self.counters.refused_headers += 1;
                Ok(())
            }
            other => Ok(other?),
        }
    }
}
