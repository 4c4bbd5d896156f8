//! One TCP connection: its flow on the card, its receive side and send side, its close.
//!
//! ```text
//!   Opening ─ TCP open, SYNs known ─► Installing ─ confirmed ─► Installed
//!                                                                  │ close, all acknowledged
//!                          removed ◄─ confirmed ─ Removing ◄───────┘
//! ```
//! A step makes all progress that its inputs allow and never blocks. Commands for flow, key and
//! list moves go through the ring of owner 0; segments and floors go through the ring of the
//! connection's own owner, so they start after the install is confirmed.

pub(crate) mod arrived;
mod ending;
pub mod expected;
pub mod handshake;
pub mod window;

use std::net::SocketAddr;

use self::expected::Expected;
use self::handshake::Handshake;
use self::window::Window;
use super::budget::Budget;
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

/// Copies deferred bytes below a confirmed floor into the buffers.
pub type CopyBelow<'a> = dyn FnMut(&mut ReceiveSide, u64) -> Result<()> + 'a;

/// Phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The handshake is in progress.
    Opening,
    /// The flow is being installed.
    Installing(Ticket),
    /// The flow is on the card.
    Installed,
    /// The flow is being removed.
    Removing(Ticket),
}

/// Result of a step.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Receive requests that are complete.
    pub received: Vec<Done>,
    /// Send requests that are complete.
    pub sent: Vec<Done>,
    /// The flow was removed from the card.
    pub gone: bool,
    /// Error number with which the connection failed.
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
    /// Name of the flow on the card.
    pub name: FlowName,
    /// Owner of the flow: the shard whose rings it uses.
    pub owner: u8,
    /// Protection domain of the flow: its application.
    pub domain: u16,
    /// Phase of the connection.
    pub phase: Phase,
    /// Packets with its addresses are its own. They are another's once its TCP has given it up.
    pub has_addresses: bool,
    /// Receive side, once the handshake is known.
    pub receive: Option<ReceiveSide>,
    /// Send side, once the handshake is known.
    pub send: Option<SendSide>,
    /// Offered window.
    pub window: Window,
    /// Which packets its TCP is expected to accept.
    pub expected: Expected,
    /// Its TCP was still opening when it was last asked.
    pub is_connecting: bool,
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
    /// Bytes that the budget of all connections was charged with.
    charged_bytes: usize,
    /// Its TCP has failed; bytes that TCP had accepted before are still to be delivered.
    pub(super) is_failing: bool,
}

impl Connection {
    /// A connection of an owner and domain that waits for its handshake.
    pub fn new(
        stream: StreamId,
        (local, remote): (SocketAddr, SocketAddr),
        name: FlowName,
        (owner, domain): (u8, u16),
    ) -> Self {
        Self {
            stream,
            local,
            remote,
            name,
            owner,
            domain,
            phase: Phase::Opening,
            has_addresses: true,
            receive: None,
            send: None,
            window: Window::default(),
            expected: Expected::new(0, 0, None),
            is_connecting: false,
            early_receives: Vec::new(),
            early_sends: Vec::new(),
            finish_asked: false,
            close_asked: false,
            finished: false,
            end_seen: false,
            end_reported: false,
            acceptance_stale: false,
            charged_bytes: 0,
            is_failing: false,
        }
    }

    /// Requests the end of the sending half after everything posted.
    pub fn finish(&mut self) {
        self.finish_asked = true;
    }

    /// Requests the end of the connection after everything posted. Returns whether it was requested
    /// before.
    pub fn close(&mut self) -> bool {
        self.finish_asked = true;
        std::mem::replace(&mut self.close_asked, true)
    }

    /// Whether the connection was closed, and whether its sending half was finished.
    pub fn is_ending(&self) -> (bool, bool) {
        (self.close_asked, self.finish_asked)
    }

    /// Charges the budget of all connections with what the connection holds now.
    pub fn charge(&mut self, budget: &mut Budget) {
        let held_bytes = self.receive.as_ref().map_or(0, |r| r.held_bytes());
        budget.charge(self.domain, self.charged_bytes, held_bytes);
        self.charged_bytes = held_bytes;
    }

    /// Gives the budget back what the connection holds, because it ends.
    pub fn discharge(&mut self, budget: &mut Budget) {
        budget.charge(self.domain, self.charged_bytes, 0);
        self.charged_bytes = 0;
    }

    /// Receive requests and send requests that are not complete.
    pub fn open_requests(&self) -> (usize, usize) {
        let receive = self.receive.as_ref();
        let send = self.send.as_ref();
        (
            receive.map_or(self.early_receives.len(), |r| r.queue.open_requests()),
            send.map_or(self.early_sends.len(), |s| s.queue.open_requests()),
        )
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

    /// Installs the flow on the card. Both initial sequence numbers of the handshake must be known.
    /// `keys` are the commands that place its key; `takes_old_acks` is that of the transport.
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
        let scale = handshake.local_scale.filter(|_| handshake.remote_scales);
        let shift = scale.unwrap_or(0);
        self.window = handshake.window.clone().scaled(shift);
        let list = List::committed(flow);
        let mut ticket = commands.command(flow_install(&FlowInstall {
            name: self.name,
            owner: self.owner,
            domain: self.domain,
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

    /// Makes all progress that the inputs allow.
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

    /// Whether nothing is under way: until a request, a packet, a header of its TCP or an event of
    /// the transport touches the connection, a step would change nothing.
    pub fn is_at_rest(&self) -> bool {
        let (Some(receive), Some(send)) = (&self.receive, &self.send) else {
            return self.is_connecting && !self.close_asked;
        };
        let ends = self.finish_asked && !self.finished || self.close_asked;
        let reports = self.end_seen && !self.end_reported;
        self.phase == Phase::Installed
            && !(ends || reports || self.acceptance_stale || self.is_failing)
            && receive.is_at_rest()
            && send.is_at_rest()
    }

    /// Grows and shrinks both segment lists with the number of requests.
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

    /// Returns what the lists borrowed, after the flow was removed from the card.
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
                // The status reports the error as well, and bytes drained before are still
                // delivered.
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

    /// Ends a confirmed withdrawal; `rescued` are the bytes copied out of the buffers.
    pub fn end_withdrawal(&mut self, rescued: Vec<(u64, Vec<u8>)>) -> Vec<Done> {
        let end = self.end_seen;
        self.receive
            .as_mut()
            .map_or_else(Vec::new, |r| r.finish_withdrawal(rescued, end))
    }

    /// Withdraws the receive buffers when the stream has ended or a partial request can be
    /// returned. A single buffer is truncated at its last byte; of several, the head of the list
    /// moves past all.
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

    /// Whether to report the end of the stream now; true once.
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

/// Checks that a transport took no more than it was asked to take.
fn within(call: &'static str, asked: u64, taken: u64) -> Result<u64> {
    match taken <= asked {
        true => Ok(taken),
        false => Err(TransportError::TookTooMuch { call, asked, taken }.into()),
    }
}

/// The error for missing bytes.
pub fn missing(name: FlowName, (offset, bytes): (u64, u64)) -> HostError {
    HostError::BytesMissing {
        flow: name.flow,
        offset,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::regions::RegionName;
    use crate::transport::{Clock, LinkConfig, ManualClock, SmoltcpTransport, Tuning};
    use abi::command::{FLOW_INSTALL, FLOW_REMOVE, OPCODE, SEGMENT_POST};

    const OWNER: u8 = 3;

    /// Records owner and opcode of each command, and confirms on demand.
    #[derive(Default)]
    struct RecordedCommands {
        queued: Vec<(u8, u8)>,
        confirmed: u64,
    }

    impl RecordedCommands {
        fn queue(&mut self, owner: u8, entry: &Entry) -> Ticket {
            self.queued.push((owner, OPCODE.get(entry) as u8));
            Ticket(self.queued.len() as u64 - 1)
        }

        fn confirm_all(&mut self) {
            self.confirmed = self.queued.len() as u64;
        }

        fn take(&mut self) -> Vec<(u8, u8)> {
            let taken = self.queued.split_off(self.confirmed as usize);
            self.queued.extend(&taken);
            taken
        }
    }

    impl CommandQueue for RecordedCommands {
        fn command(&mut self, entry: Entry) -> Ticket {
            self.queue(0, &entry)
        }

        fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket> {
            Ok(self.queue(owner, &entry))
        }

        fn confirmed(&self, ticket: Ticket) -> bool {
            ticket.0 < self.confirmed
        }
    }

    #[test]
    fn a_flow_posts_after_its_install_and_ends_after_its_removal_is_confirmed() {
        let link = LinkConfig::lab(1, 1500, Tuning::REAL_TIME);
        let clock = Clock::Manual(ManualClock::default());
        let mut transport = SmoltcpTransport::open(&link, clock).unwrap();
        let stream = transport.connect(([10, 77, 0, 2], 80).into()).unwrap();
        let addresses = transport.addresses(stream).unwrap();
        let name = FlowName {
            flow: 1,
            generation: 1,
        };
        let mut connection = Connection::new(stream, addresses, name, (OWNER, 9));
        connection.add_receive(Buffer {
            request: 7,
            region: RegionName { index: 0, key: 1 },
            known: None,
            offset: 0,
            bytes: 100,
            partial: false,
        });
        let mut commands = RecordedCommands::default();
        let mut handshake = Handshake::default();
        (handshake.local, handshake.remote) = (Some(99), Some(499));
        connection.install(&mut commands, &handshake, Vec::new(), false);
        assert_eq!(commands.take(), [(0, FLOW_INSTALL)]);
        let mut shared = Shared::new(6, 12);
        let mut copy = |_: &mut ReceiveSide, _| Ok(());
        let mut step = |connection: &mut Connection, commands: &mut RecordedCommands| {
            connection.step(commands, &mut transport, &mut shared, &mut copy)
        };
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(commands.queued.len(), 1, "the install is not confirmed");
        commands.confirm_all();
        assert!(!connection.is_at_rest(), "the install is under way");
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(connection.phase, Phase::Installed);
        assert_eq!(commands.take(), [(OWNER, SEGMENT_POST)]);
        assert!(!connection.is_at_rest(), "a segment is under way");
        commands.confirm_all();
        step(&mut connection, &mut commands).unwrap();
        assert!(connection.is_at_rest(), "it waits for the peer");
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(commands.take(), [], "a step at rest changes nothing");
        connection.remove(&mut commands);
        assert_eq!(commands.take(), [(0, FLOW_REMOVE)]);
        assert!(!step(&mut connection, &mut commands).unwrap().gone);
        commands.confirm_all();
        assert!(step(&mut connection, &mut commands).unwrap().gone);
        assert_eq!(connection.cancel(), [7]);
    }
}
