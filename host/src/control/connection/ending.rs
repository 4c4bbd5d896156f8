//! The end of a connection: failed by its TCP, or closed.
//!
//! Everything that TCP had accepted is delivered to the application first. That includes bytes in a
//! buffer that is being withdrawn.

use super::{Connection, Phase};
use crate::control::commands::flow_remove;
use crate::control::flow::state::PostedState;
use crate::control::queue::CommandQueue;
use crate::driver::error::Result;
use crate::transport::{StreamState, StreamStatus, Transport};

impl Connection {
    /// The error number with which the connection failed, once all bytes that TCP had accepted
    /// before are delivered.
    pub(super) fn lost(&mut self, status: &StreamStatus) -> Option<i32> {
        let error = self.error(status);
        self.is_failing = error.is_some();
        let taken = self.receive.as_ref().is_none_or(|receive| {
            receive.is_settled() && (status.readable_bytes == 0 || !receive.queue.has_requests())
        });
        error.filter(|_| taken)
    }

    /// A connection whose two halves had ended, with every byte acknowledged, has not failed.
    fn error(&self, status: &StreamStatus) -> Option<i32> {
        let unacknowledged = status.unacknowledged_bytes > 0;
        let error = match status.error {
            None if status.state == StreamState::Closed && unacknowledged => libc::ECONNABORTED,
            other => other?,
        };
        let is_over = self.end_seen && self.finished && !unacknowledged;
        (!is_over).then_some(error)
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
        // Send requests complete only when the send floor beyond them is confirmed.
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

    /// Queues the removal of the flow.
    pub fn remove(&mut self, commands: &mut dyn CommandQueue) {
        let ticket = commands.command(flow_remove(self.name));
        self.phase = Phase::Removing(ticket);
    }

    /// Removes a request of this name that waits, a receive before a send. Returns whether there
    /// was one.
    pub fn cancel_waiting(&mut self, request: u64) -> bool {
        for early in [&mut self.early_receives, &mut self.early_sends] {
            if let Some(at) = early.iter().position(|buffer| buffer.request == request) {
                early.remove(at);
                return true;
            }
        }
        let receive = self.receive.as_mut().map(|receive| &mut receive.queue);
        let send = self.send.as_mut().map(|send| &mut send.queue);
        let mut queues = [receive, send].into_iter().flatten();
        queues.any(|queue| queue.cancel_waiting(request))
    }

    /// How far a posted request of this name has come, a receive before a send.
    pub fn posted_state(&self, request: u64) -> Option<PostedState> {
        let receive = self.receive.as_ref().map(|receive| &receive.queue);
        let send = self.send.as_ref().map(|send| &send.queue);
        let mut queues = [receive, send].into_iter().flatten();
        queues.find_map(|queue| queue.posted_state(request))
    }

    /// Removes all requests, which are to be cancelled.
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
