//! Sends that a test holds back, as a card that takes its time.

use super::{GoldenDevice, Memory};
use crate::tables::Flow;
use crate::tx;

impl GoldenDevice {
    /// From now on descriptors stop between the look-up of their flow and that of their list, as
    /// they may in the card when commands come between; confirmations wait for them.
    pub fn hold_sends(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Descriptors that are held.
    pub fn held_sends(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.sends.len())
    }

    /// Whether descriptors are held, or confirmations because descriptors may be.
    pub fn holds_any(&self) -> bool {
        let held = self.held.as_ref();
        held.is_some_and(|held| !held.sends.is_empty() || !held.commands.is_empty())
    }

    /// Lets all that is held go on, in order.
    pub fn release_sends(&mut self, memory: &mut dyn Memory) {
        let held = self.held.take().unwrap_or_default();
        for (id, record, flow) in held.sends {
            self.send_seen(id, &record, flow.as_ref(), memory);
        }
        for (id, status) in held.commands {
            self.complete(id, status, memory);
        }
    }

    pub(super) fn send_seen(
        &mut self,
        id: usize,
        record: &[u8],
        seen: Option<&Flow>,
        memory: &mut dyn Memory,
    ) {
        let mut read = |address, bytes| memory.read(address, bytes);
        let sent = tx::send_seen(seen, &self.tables, id as u8, record, &mut read);
        self.sent.extend(sent.frames);
        if let Some(error) = sent.error {
            self.fail_send(id, error, record, memory);
        }
    }
}
