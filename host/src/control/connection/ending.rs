//! How a connection ends: broken by its TCP, or closed and done.
//!
//! What TCP had accepted goes to the application first, and a buffer that is on its way back with
//! some of it counts as such.

use super::{Connection, Phase};
use crate::control::commands::flow_remove;
use crate::control::queue::CommandQueue;
use crate::driver::error::Result;
use crate::transport::{StreamState, StreamStatus, Transport};

impl Connection {
    /// The error number with which the connection broke, once nothing that TCP had accepted before
    /// is on its way to the application any more. One whose both halves have ended before, every
    /// byte acknowledged, is not broken.
    pub(super) fn lost(&self, status: &StreamStatus) -> Option<i32> {
        let unacknowledged = status.unacknowledged_bytes > 0;
        let error = match status.error {
            None if status.state == StreamState::Closed && unacknowledged => libc::ECONNABORTED,
            other => other?,
        };
        if self.end_seen && self.finished && !unacknowledged {
            return None;
        }
        let taken = self.receive.as_ref().is_none_or(|receive| {
            receive.is_settled() && (status.readable_bytes == 0 || !receive.queue.has_requests())
        });
        taken.then_some(error)
    }

    pub(super) fn step_close<T: Transport>(
        &mut self,
        commands: &mut dyn CommandQueue,
        transport: &mut T,
        status: &StreamStatus,
    ) -> Result<()> {
        if !self.close_asked || !self.finished {
            return Ok(());
        }
        // What is acknowledged is sent: its requests are done when the send floor is confirmed.
        let sending = self
            .send
            .as_ref()
            .is_some_and(|send| send.queue.has_requests());
        if status.unacknowledged_bytes == 0 && !sending {
            transport.close(self.stream)?;
            self.remove(commands);
        }
        Ok(())
    }

    /// Takes the flow off the card.
    pub fn remove(&mut self, commands: &mut dyn CommandQueue) {
        let ticket = commands.command(flow_remove(self.name));
        self.phase = Phase::Removing(ticket);
    }

    /// Requests that will never be done.
    pub fn cancel(&mut self) -> Vec<u64> {
        let mut requests: Vec<u64> = self.early_receives.drain(..).map(|b| b.request).collect();
        requests.extend(self.early_sends.drain(..).map(|b| b.request));
        if let Some(send) = &mut self.send {
            requests.extend(send.queue.cancel());
        }
        if let Some(receive) = &mut self.receive {
            requests.extend(receive.queue.cancel());
        }
        requests
    }
}
