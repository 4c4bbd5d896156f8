//! The end of a connection: failed by its protocol, or closed.
//!
//! Everything that the protocol had accepted is delivered to the application first. That includes
//! bytes in a buffer that is being withdrawn, and those of a receive that they do not fill.

use super::ended::Ended;
use super::{Connection, Ending, Phase};
use crate::control::flow::buffer::{Copy, Withdrawn};
use crate::control::flow::receive::ReceiveSide;
use crate::error::Result;
use crate::failure::Failure;
use crate::protocol::Protocol;
use crate::records::commands::flow_remove;
use crate::records::queue::CommandQueue;
use crate::records::state::PostedState;

impl Connection {
    /// Its protocol has ended.
    pub fn take_ended(&mut self, ended: Ended) {
        self.ended = Some(Box::new(ended));
    }

    /// Why its protocol ended, if it has.
    pub fn ending_reason(&self) -> Option<&Ended> {
        self.ended.as_deref()
    }

    /// Why the connection failed, once all bytes that its protocol had accepted before are
    /// delivered. A connection whose two halves had ended, with every byte acknowledged, has not
    /// failed.
    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        let ended = self.ended.as_ref()?;
        let is_over = self.end_seen && self.finished && self.is_acknowledged();
        let is_taken = self.receive.as_ref().is_none_or(|receive| {
            let is_all = receive.has_all_taken() && receive.accepted_bytes() >= ended.accepted_to;
            receive.is_settled() && (is_all || !receive.queue.has_requests())
        });
        (is_taken && !is_over).then(|| ended.reason.clone())
    }

    /// Whether the peer has everything that was offered.
    fn is_acknowledged(&self) -> bool {
        let send = self.send.as_ref();
        send.is_none_or(|send| send.offered_end() <= self.acknowledged)
    }

    pub(super) fn step_close<P: Protocol>(
        &mut self,
        commands: &mut dyn CommandQueue,
        (protocol, now_ns): (&mut P, u64),
    ) -> Result<()> {
        if self.asked != Ending::Close || !self.finished {
            return Ok(());
        }
        // Send requests complete only when the send floor beyond them is confirmed.
        let sending = self.send.as_ref().is_some_and(|send| send.queue.has_requests());
        if self.is_acknowledged() && !sending {
            protocol.close(now_ns, self.index())?;
            self.remove(commands);
        }
        Ok(())
    }

    /// Queues the removal of the flow.
    pub fn remove(&mut self, commands: &mut dyn CommandQueue) {
        let ticket = commands.command(flow_remove(self.name));
        self.phase = Phase::Removing(ticket);
    }

    /// Removes a request of this name that waits, a receive before a send. Returns the bytes that
    /// it has received.
    pub fn cancel_waiting(&mut self, request: u64) -> Option<u32> {
        for early in [&mut self.early_receives, &mut self.early_sends] {
            if let Some(at) = early.iter().position(|buffer| buffer.request == request) {
                early.remove(at);
                return Some(0);
            }
        }
        let receive = self.receive.as_mut().map(|receive| &mut receive.queue);
        let send = self.send.as_mut().map(|send| &mut send.queue);
        let mut queues = [receive, send].into_iter().flatten();
        let done = queues.find_map(|queue| queue.cancel_waiting(request));
        done.map(|done| done.bytes)
    }

    /// Asks for a posted receive of this name to be cancelled. Returns whether there is one.
    pub fn cancel_posted(&mut self, request: u64) -> bool {
        let receive = self.receive.as_mut();
        receive.is_some_and(|receive| receive.cancel_posted(request))
    }

    /// How far a posted send of this name has come.
    pub fn posted_state(&self, request: u64) -> Option<PostedState> {
        let send = self.send.as_ref();
        send.and_then(|send| send.queue.posted_state(request))
    }

    /// Whether a receive that is not complete has bytes that its protocol had accepted.
    pub fn has_received(&self) -> bool {
        self.receive.as_ref().is_some_and(ReceiveSide::has_received)
    }

    /// Removes all requests after the flow was removed: receives that have bytes which the protocol
    /// had accepted are done, the others are to be cancelled. `copy` completes the buffers with
    /// what was deferred, and says whether it could.
    pub fn end(&mut self, spares_payload: bool, copy: &mut dyn FnMut(&Copy) -> bool) -> Withdrawn {
        let early = self.early_receives.drain(..).chain(self.early_sends.drain(..));
        let mut ended = Withdrawn::default();
        ended.cancelled.extend(early.map(|buffer| buffer.request));
        if let Some(send) = &mut self.send {
            ended.cancelled.extend(send.queue.cancel());
        }
        if let Some(receive) = &mut self.receive {
            receive.end(spares_payload, copy, &mut ended);
        }
        ended
    }
}
