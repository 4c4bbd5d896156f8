//! The commands of a step: floors and the segments of new requests, in as few as can be.
//!
//! ```text
//!   sends that wait ────► segment_post ...  ┐
//!   receives that wait ─► segment_post ...  ├─► the last of them moves the floors: flow_advance
//!   a receive that ends early, and the next one ─► flow_advance
//! ```
//! A message needs a floor and the segment of the buffer that takes its buffer's place: together
//! they are one command, and one fence for both.

use super::{acceptance, Connection, Ending};
use crate::control::flow::receive::ReceiveSide;
use crate::control::flow::send::SendSide;
use crate::error::Result;
use crate::protocol::{FlowIndex, Guards, Protocol};
use crate::records::commands::{
    floor_set, flow_advance, segment_post, send_floor_set, Advance, Direction, FlowName, Segment,
};
use crate::records::queue::CommandQueue;
use crate::records::ticket::Ticket;

/// What a step asks of the card, and the segment whose command is still to be queued.
struct Step<'a> {
    commands: &'a mut dyn CommandQueue,
    owner: u8,
    name: FlowName,
    guards: Guards,
    held: Option<(Direction, Segment)>,
}

impl Step<'_> {
    /// Queues the command of the segment that was held, and holds this one.
    fn hold(
        &mut self,
        sides: (&mut ReceiveSide, &mut SendSide),
        next: Option<(Direction, Segment)>,
    ) -> Result<()> {
        let Some((direction, segment)) = std::mem::replace(&mut self.held, next) else {
            return Ok(());
        };
        let entry = segment_post(self.name, direction, &segment);
        let ticket = self.commands.command_of(self.owner, entry)?;
        match direction {
            Direction::Receive => sides.0.queue.note_appended(ticket, &segment),
            Direction::Send => sides.1.queue.note_appended(ticket, &segment),
        }
        Ok(())
    }

    /// Moves both floors to where they are to be, with the segment that is held.
    fn advance(&mut self, (receive, send): (&mut ReceiveSide, &mut SendSide)) -> Result<Ticket> {
        let (send_floor, send_head) = send.requested_floor();
        let head = receive.head();
        let acceptance = acceptance(receive, send, &self.guards);
        let append = self.held.take();
        let advance = Advance { acceptance, head, send_floor, send_head };
        let entry = flow_advance(self.name, &advance, append);
        let ticket = self.commands.command_of(self.owner, entry)?;
        match append {
            Some((Direction::Receive, segment)) => receive.queue.note_appended(ticket, &segment),
            Some((Direction::Send, segment)) => send.queue.note_appended(ticket, &segment),
            None => {}
        }
        receive.floor_asked(ticket, head);
        send.floor_asked(ticket);
        Ok(ticket)
    }
}

impl Connection {
    /// Posts what can be posted, and moves the floors that are due.
    pub(super) fn advance<P: Protocol>(
        &mut self,
        commands: &mut dyn CommandQueue,
        (protocol, now_ns): (&P, u64),
    ) -> Result<()> {
        let (Some(receive), Some(send)) = (&mut self.receive, &mut self.send) else {
            return Ok(());
        };
        let ready = receive.queue.ready(|ticket| commands.is_confirmed(ticket));
        let ready_to_send = send.queue.ready(|ticket| commands.is_confirmed(ticket));
        let is_closing = self.asked == Ending::Close;
        let may_end_early = !self.end_taken && !is_closing && self.ended.is_none();
        let posts = ready > 0 && !receive.is_withheld(self.acceptance_stale);
        let rides = posts || ready_to_send > 0 || self.acceptance_stale;
        let mut is_send_floor_due = send.acknowledge(self.acknowledged, (rides, now_ns));
        if ready + ready_to_send == 0 && !rides && !is_send_floor_due {
            return Ok(());
        }
        let guards = protocol.guards(FlowIndex(self.name.flow), send.floor_position());
        let (name, owner) = (self.name, self.owner);
        let mut step = Step { commands, owner, name, guards, held: None };
        let mut left = ready_to_send;
        while let Some((segment, requests)) = send.append(left) {
            left -= requests;
            // The peer may acknowledge it.
            self.acceptance_stale = true;
            step.hold((receive, send), Some((Direction::Send, segment)))?;
        }
        let truncated = match may_end_early && ready > 0 {
            true => receive.truncate_and_append(ready),
            false => None,
        };
        if let Some(segment) = truncated {
            step.hold((receive, send), Some((Direction::Receive, segment)))?;
            let ticket = step.advance((receive, send))?;
            receive.note_truncated_by(ticket);
            self.acceptance_stale = false;
            is_send_floor_due = false;
        }
        for _ in usize::from(truncated.is_some())..ready {
            let Some(segment) = receive.append(self.acceptance_stale) else { break };
            step.hold((receive, send), Some((Direction::Receive, segment)))?;
        }
        // While buffers are withdrawn, no floor of receive is moved.
        let is_floor_due = self.acceptance_stale && !receive.is_withdrawing();
        let may_be_one = !receive.is_withdrawing();
        let parts = [step.held.is_some(), is_floor_due, is_send_floor_due];
        let parts = parts.into_iter().filter(|part| *part).count();
        if may_be_one && parts > 1 {
            step.advance((receive, send))?;
            self.acceptance_stale = false;
            return Ok(());
        }
        step.hold((receive, send), None)?;
        if is_floor_due {
            let head = receive.head();
            let entry = floor_set(name, acceptance(receive, send, &step.guards), head);
            let ticket = step.commands.command_of(owner, entry)?;
            receive.floor_asked(ticket, head);
            self.acceptance_stale = false;
        }
        if is_send_floor_due {
            let (floor, head) = send.requested_floor();
            let ticket = step.commands.command_of(owner, send_floor_set(name, floor, head))?;
            send.floor_asked(ticket);
        }
        Ok(())
    }
}
