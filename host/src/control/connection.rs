//! One connection: its flow on the card, its receive and send side, its end.
//!
//! ```text
//!   Opening ─ open, both SYNs seen ─► Installing ─ confirmed ─► Installed
//!                                                                  │ close, all acknowledged
//!                                                  gone ◄─ Removing ◄┘
//! ```
//! A step of a connection makes whatever progress its inputs allow; it never waits. Flow, key and
//! list moves are commands of owner 0; segments and floors go through the ring of the connection's
//! own owner, so they start when the flow's install is confirmed.

pub(crate) mod arrived;
mod ending;
pub mod expected;
pub mod handshake;
pub mod window;

use std::net::SocketAddr;

use self::expected::Expected;
use self::handshake::Handshake;
use self::window::Window;
use super::commands::{
    floor_set, flow_install, segment_truncate, send_floor_set, Acceptance, Entry, FlowInstall,
    FlowName, List,
};
use super::flow::buffer::{Buffer, Done};
use super::flow::deferred::DEFERRED_BYTES_MAX;
use super::flow::receive::ReceiveSide;
use super::flow::send::SendSide;
use super::lists::Shared;
use super::queue::CommandQueue;
use crate::driver::error::{HostError, Result};
use crate::driver::ticket::Ticket;
use crate::transport::{Drained, StreamId, StreamState, StreamStatus, Transport, TransportError};

/// Copies what the bytes below a confirmed floor still miss.
pub type CopyBelow<'a> = dyn FnMut(&mut ReceiveSide, u64) -> Result<()> + 'a;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The handshake is on its way.
    Opening,
    /// The flow's install is on its way.
    Installing(Ticket),
    /// The flow is on the card.
    Installed,
    /// The flow leaves the card.
    Removing(Ticket),
}

/// What a step brought about.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Receive requests that are done.
    pub received: Vec<Done>,
    /// Send requests that are done.
    pub sent: Vec<Done>,
    /// The flow left the card.
    pub gone: bool,
    /// The connection broke, with this error number.
    pub lost: Option<i32>,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// The transport's stream.
    pub stream: StreamId,
    /// Address of this side.
    pub local: SocketAddr,
    /// Address of the peer.
    pub remote: SocketAddr,
    /// Flow on the card.
    pub name: FlowName,
    /// Owner of the flow: the application's number, which is its protection domain, too.
    pub owner: u8,
    /// Where it stands.
    pub phase: Phase,
    /// Receive side, once the handshake is known.
    pub receive: Option<ReceiveSide>,
    /// Send side, once the handshake is known.
    pub send: Option<SendSide>,
    /// Offered window.
    pub window: Window,
    /// What its TCP will hardly accept.
    pub expected: Expected,
    /// Requests made before the handshake was known.
    pub early_receives: Vec<Buffer>,
    /// Requests made before the handshake was known.
    pub early_sends: Vec<Buffer>,
    pub(super) finish_asked: bool,
    pub(super) close_asked: bool,
    pub(super) finished: bool,
    pub(super) end_seen: bool,
    end_reported: bool,
    acceptance_stale: bool,
}

impl Connection {
    /// A connection that waits for its handshake.
    pub fn new(
        stream: StreamId,
        (local, remote): (SocketAddr, SocketAddr),
        name: FlowName,
        owner: u8,
    ) -> Self {
        Self {
            stream,
            local,
            remote,
            name,
            owner,
            phase: Phase::Opening,
            receive: None,
            send: None,
            window: Window::default(),
            expected: Expected::new(0, 0, None),
            early_receives: Vec::new(),
            early_sends: Vec::new(),
            finish_asked: false,
            close_asked: false,
            finished: false,
            end_seen: false,
            end_reported: false,
            acceptance_stale: false,
        }
    }

    /// Asks for the sending half to end after everything posted.
    pub fn finish(&mut self) {
        self.finish_asked = true;
    }

    /// Asks for the end of the connection after everything posted. Returns whether it was asked for
    /// before.
    pub fn close(&mut self) -> bool {
        self.finish_asked = true;
        std::mem::replace(&mut self.close_asked, true)
    }

    /// Whether the connection was closed, and whether its sending half was finished.
    pub fn is_ending(&self) -> (bool, bool) {
        (self.close_asked, self.finish_asked)
    }

    /// Adds a receive request.
    pub fn add_receive(&mut self, buffer: Buffer) {
        match &mut self.receive {
            Some(receive) => receive.queue.add(buffer),
            None => self.early_receives.push(buffer),
        }
    }

    /// Adds a send request.
    pub fn add_send(&mut self, buffer: Buffer) {
        match &mut self.send {
            Some(send) => send.queue.add(buffer),
            None => self.early_sends.push(buffer),
        }
    }

    /// Puts the flow on the card: both initial sequence numbers of the handshake are known, `keys`
    /// are the commands that place its key. `takes_old_acks` is said of its TCP.
    pub fn install(
        &mut self,
        commands: &mut dyn CommandQueue,
        handshake: &Handshake,
        keys: Vec<Entry>,
        takes_old_acks: bool,
    ) {
        let (Some(local), Some(remote)) = (handshake.local, handshake.remote) else {
            return;
        };
        self.expected = handshake
            .expected()
            .unwrap_or_else(|| Expected::new(local, remote, None))
            .with_old_acks(takes_old_acks);
        let flow = self.name.flow;
        let mut receive = ReceiveSide::new(remote.wrapping_add(1), flow);
        let mut send = SendSide::new(local.wrapping_add(1), flow);
        for buffer in self.early_receives.drain(..) {
            receive.queue.add(buffer);
        }
        for buffer in self.early_sends.drain(..) {
            send.queue.add(buffer);
        }
        for (position, payload) in &handshake.early {
            if let Some(offset) = receive.offset(*position) {
                receive.defer(offset, payload, DEFERRED_BYTES_MAX);
            }
        }
        let both_scale = handshake.remote_scales && handshake.local_scale.is_some();
        let shift = if both_scale {
            handshake.local_scale.unwrap_or(0)
        } else {
            0
        };
        self.window = handshake.window.clone().scaled(shift);
        let list = List::committed(flow);
        let mut ticket = commands.command(flow_install(&FlowInstall {
            name: self.name,
            owner: self.owner,
            domain: self.owner.into(),
            acceptance: acceptance(&receive, &send, &self.expected),
            send_floor: send.queue.position(0),
            lists: [(list.base, list.bits); 2],
        }));
        for entry in keys {
            ticket = commands.command(entry);
        }
        self.receive = Some(receive);
        self.send = Some(send);
        self.phase = Phase::Installing(ticket);
    }

    /// Makes what progress the inputs allow.
    pub fn step<T: Transport>(
        &mut self,
        commands: &mut dyn CommandQueue,
        transport: &mut T,
        shared: &mut Shared,
        copy: &mut CopyBelow<'_>,
    ) -> Result<Progress> {
        let mut progress = Progress::default();
        match self.phase {
            Phase::Opening => return Ok(progress),
            Phase::Installing(ticket) if !commands.confirmed(ticket) => return Ok(progress),
            Phase::Installing(_) => self.phase = Phase::Installed,
            Phase::Installed => {}
            Phase::Removing(ticket) => {
                progress.gone = commands.confirmed(ticket);
                return Ok(progress);
            }
        }
        self.step_lists(commands, shared);
        self.step_receive(commands, transport, copy, &mut progress)?;
        let status = self.step_send(commands, transport, &mut progress)?;
        self.refresh_acceptance(commands)?;
        progress.lost = self.lost(&status);
        if progress.lost.is_none() {
            self.step_close(commands, transport, &status)?;
        }
        Ok(progress)
    }

    /// Lets both lists grow and shrink with the requests.
    fn step_lists(&mut self, commands: &mut dyn CommandQueue, shared: &mut Shared) {
        let Shared {
            receive: receive_pool,
            send: send_pool,
            refusals,
            ..
        } = shared;
        let receive = self.receive.as_mut().map(|side| &mut side.queue);
        let send = self.send.as_mut().map(|side| &mut side.queue);
        for (queue, pool) in [(receive, receive_pool), (send, send_pool)] {
            let Some(queue) = queue else { continue };
            let (direction, waiting, list) = (queue.direction(), queue.waiting(), &mut queue.list);
            list.confirm(|ticket| commands.confirmed(ticket), pool);
            let mut command = |entry| commands.command(entry);
            list.adapt(
                (self.name, direction),
                waiting,
                pool,
                refusals,
                &mut command,
            );
        }
    }

    /// The flow has left the card: what its lists borrowed goes back.
    pub fn end_lists(&mut self, shared: &mut Shared) {
        if let Some(receive) = &mut self.receive {
            receive.queue.list.end(&mut shared.receive);
        }
        if let Some(send) = &mut self.send {
            send.queue.list.end(&mut shared.send);
        }
    }

    fn step_receive<T: Transport>(
        &mut self,
        commands: &mut dyn CommandQueue,
        transport: &mut T,
        copy: &mut CopyBelow<'_>,
        progress: &mut Progress,
    ) -> Result<()> {
        let Some(receive) = &mut self.receive else {
            return Ok(());
        };
        let ready = receive.queue.ready(|ticket| commands.confirmed(ticket));
        receive.post(self.name, ready, |entry| {
            commands.command_of(self.owner, entry)
        })?;
        let floor = receive.confirm(|ticket| commands.confirmed(ticket));
        copy(receive, floor)?;
        progress.received.extend(receive.announce(floor));
        let wanted = receive.drainable();
        if wanted > 0 {
            let drained = match transport.drain(self.stream, wanted) {
                // The status tells, too, and what was drained before still goes its way.
                Err(TransportError::Stream { .. }) => Drained {
                    bytes: 0,
                    end_of_stream: false,
                },
                other => other?,
            };
            receive.accept(within("drain", wanted, drained.bytes)?);
            self.end_seen |= drained.end_of_stream;
        }
        if receive.floor_wanted().is_some() {
            self.acceptance_stale = true;
        }
        Ok(())
    }

    /// Ends a withdrawal that is confirmed; `rescued` are the bytes read out of the buffers.
    pub fn end_withdrawal(&mut self, rescued: Vec<(u64, Vec<u8>)>) -> Vec<Done> {
        let end = self.end_seen;
        self.receive
            .as_mut()
            .map_or_else(Vec::new, |r| r.finish_withdrawal(rescued, end))
    }

    /// Withdraws the receive buffers when the stream has ended or a partial request can go back: a
    /// single buffer ends where its bytes end, of several the list's head moves past all.
    pub fn start_withdrawal(&mut self, commands: &mut dyn CommandQueue) -> Result<()> {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return Ok(());
        };
        if self.phase != Phase::Installed {
            return Ok(());
        }
        let ended = self.end_seen && receive.queue.has_requests() && !receive.is_withdrawing();
        let partial = receive.wants_partial();
        let ticket = match receive.cut().filter(|_| partial && !ended) {
            Some((index, bytes)) => {
                commands.command_of(self.owner, segment_truncate(self.name, index, bytes))?
            }
            None if ended || partial => {
                let head = receive.queue.list.tail();
                let entry = floor_set(self.name, acceptance(receive, send, &self.expected), head);
                let ticket = commands.command_of(self.owner, entry)?;
                receive.floor_asked(ticket, head);
                ticket
            }
            None => return Ok(()),
        };
        receive.withdraw(ticket);
        Ok(())
    }

    /// Whether the end of the stream is to be reported now, once.
    pub fn report_end(&mut self) -> bool {
        let idle = self
            .receive
            .as_ref()
            .is_some_and(|r| !r.queue.has_requests());
        let now = self.end_seen && idle && !self.end_reported;
        self.end_reported |= now;
        now
    }

    fn step_send<T: Transport>(
        &mut self,
        commands: &mut dyn CommandQueue,
        transport: &mut T,
        progress: &mut Progress,
    ) -> Result<StreamStatus> {
        let Some(send) = &mut self.send else {
            return Ok(transport.status(self.stream)?);
        };
        let ready = send.queue.ready(|ticket| commands.confirmed(ticket));
        let command = |entry| commands.command_of(self.owner, entry);
        if send.post(self.name, ready, command)? {
            self.acceptance_stale = true;
        }
        progress
            .sent
            .extend(send.confirm(|ticket| commands.confirmed(ticket)));
        let feedable = send.feedable();
        if feedable > 0 {
            let fed = match transport.feed(self.stream, feedable) {
                Err(TransportError::Stream { .. }) => 0,
                other => other?,
            };
            send.feed(within("feed", feedable, fed)?);
        }
        let status = transport.status(self.stream)?;
        self.end_seen |= status.end_of_stream;
        if status.state != StreamState::Connecting {
            if let Some((floor, head)) = send.acknowledge(status.unacknowledged_bytes) {
                let entry = send_floor_set(self.name, floor, head);
                let ticket = commands.command_of(self.owner, entry)?;
                send.floor_asked(ticket);
            }
        }
        if self.finish_asked && !self.finished && send.all_fed() {
            transport.finish(self.stream)?;
            self.finished = true;
        }
        Ok(status)
    }

    fn refresh_acceptance(&mut self, commands: &mut dyn CommandQueue) -> Result<()> {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return Ok(());
        };
        if self.acceptance_stale && !receive.is_withdrawing() {
            let head = receive.head();
            let entry = floor_set(self.name, acceptance(receive, send, &self.expected), head);
            let ticket = commands.command_of(self.owner, entry)?;
            receive.floor_asked(ticket, head);
            self.acceptance_stale = false;
        }
        Ok(())
    }
}

fn acceptance(receive: &ReceiveSide, send: &SendSide, expected: &Expected) -> Acceptance {
    Acceptance {
        floor: receive.queue.position(receive.accepted()),
        ack_low: expected.ack_low(send.floor_position()),
        ack_high: send.ack_high(),
        timestamp_floor: expected.timestamp(),
    }
}

/// What a transport took, which is never more than it was asked for.
fn within(call: &'static str, asked: u64, taken: u64) -> Result<u64> {
    match taken <= asked {
        true => Ok(taken),
        false => Err(TransportError::TookTooMuch { call, asked, taken }.into()),
    }
}

/// Turns missing bytes into the error that names them.
pub fn missing(name: FlowName, (offset, bytes): (u64, u64)) -> HostError {
    HostError::BytesMissing {
        flow: name.flow,
        offset,
        bytes,
    }
}
