//! What of a frame lies in application memory.

use super::{InFlight, Peer};
use crate::error::MeasureError;
use crate::parties::host::Host;

impl Peer {
    /// Whether the bytes of a frame lie where they belong.
    pub(super) fn is_in_memory(
        &mut self,
        host: &Host,
        sent: &InFlight,
    ) -> Result<bool, MeasureError> {
        let it = &host.flows[usize::from(sent.flow)];
        let Some(pieces) = it.receive.pieces(sent.offset, sent.bytes) else {
            return Ok(false);
        };
        for (address, offset, bytes) in pieces {
            self.buffer.resize(bytes, 0);
            host.read(address, &mut self.buffer)?;
            let wrong = it.contents[0].first_wrong(offset, &self.buffer, &mut self.scratch);
            if wrong.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Nothing of a frame that was dropped may lie in memory. What lay there before differs from it
    /// in every eight bytes, except by a chance of 2^-64; fewer bytes are no evidence.
    pub(super) fn judge_dropped(
        &mut self,
        host: &mut Host,
        sent: &InFlight,
    ) -> Result<(), MeasureError> {
        let (flow, offset) = (usize::from(sent.flow), sent.offset);
        let it = &host.flows[flow];
        for (address, start, bytes) in it.receive.pieces(offset, sent.bytes).unwrap_or_default() {
            self.buffer.resize(bytes, 0);
            self.scratch.resize(bytes, 0);
            host.read(address, &mut self.buffer)?;
            it.contents[0].fill(start, &mut self.scratch);
            let chunks = (self.buffer.chunks_exact(8)).zip(self.scratch.chunks_exact(8));
            if chunks.into_iter().any(|(landed, right)| landed == right) {
                host.problems.add(|| {
                    format!("flow {flow}, offset {offset}: bytes of a dropped frame in memory")
                });
                break;
            }
        }
        Ok(())
    }
}
