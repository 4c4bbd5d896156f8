//! One connection: its flow on the card, its receive side and send side, its close.
//!
//! ```text
//!   Opening ─ its protocol is open ─► Installing ─ confirmed ─► Installed
//!                                                                  │ close, all acknowledged
//!                          removed ◄─ confirmed ─ Removing ◄───────┘
//! ```
//! A step makes all progress that its inputs allow and never blocks. Commands for flow, key and
//! list moves go through the ring of owner 0; segments and floors go through the ring of the
//! connection's own owner, so they start after the install is confirmed.

mod advance;
pub mod ended;
mod ending;
mod install;
pub(crate) mod layout;
pub(crate) mod received_packet;
mod waiting;

use self::ended::Ended;
use super::budget::Budget;
use super::flow::buffer::{Buffer, CompletedBuffer, Withdrawn};
use super::flow::receive::ReceiveSide;
use super::flow::send::SendSide;
use super::lists::Shared;
use crate::error::protocol::ProtocolError;
use crate::error::{HostError, Result};
use crate::failure::Failure;
use crate::protocol::{FlowIndex, Guards, Protocol};
use crate::records::commands::{floor_set, segment_truncate, Acceptance, FlowName};
use crate::records::queue::CommandQueue;
use crate::records::ticket::Ticket;

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

/// Which end its application has asked for, each more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// None: both halves go on.
    Open,
    /// That of the sending half, after everything posted.
    Finish,
    /// That of the connection, after everything posted.
    Close,
}

/// Result of a step, which adds to it.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Receive requests that are complete.
    pub received: Vec<CompletedBuffer>,
    /// Send requests that are complete.
    pub sent: Vec<CompletedBuffer>,
    /// The flow was removed from the card.
    pub gone: bool,
    /// When the connection is to be stepped again at the latest, if the step has found so.
    pub held_until_ns: Option<u64>,
    /// Why the connection failed.
    pub lost: Option<Failure>,
}

/// One connection. In which order its fields lie, and why: `connection/layout.rs`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection {
    /// Name of the flow on the card.
    pub name: FlowName,
    /// Owner of the flow: the shard whose rings it uses.
    pub owner: u8,
    /// Protection domain of the flow: its application.
    pub domain: u16,
    /// Whether the card has its flow. Otherwise all its payload is deferred and bounced, and the
    /// card gets none of its commands.
    pub on_card: bool,
    /// Its protocol is open.
    pub is_open: bool,
    pub(super) asked: Ending,
    /// Its protocol has been told to end the sending half.
    pub(super) finished: bool,
    /// The peer has ended its sending half, and its protocol has accepted all bytes before.
    end_taken: bool,
    /// The same, and all these bytes are in buffers.
    pub(super) end_seen: bool,
    end_reported: bool,
    acceptance_stale: bool,
    /// Phase of the connection.
    pub phase: Phase,
    /// Bytes that the budget of all connections was charged with.
    charged_bytes: usize,
    /// What its protocol has acknowledged of the bytes sent.
    pub(super) acknowledged: u64,
    /// While nothing is under way: what may be acknowledged without a step.
    quiet_to: u64,
    /// Receive side, once the flow is installed.
    pub receive: Option<ReceiveSide>,
    /// Send side, once the flow is installed.
    pub send: Option<SendSide>,
    /// What its protocol was told to be granted.
    granted: u64,
    /// Requests made before the flow was installed.
    pub early_receives: Vec<Buffer>,
    /// Requests made before the flow was installed.
    pub early_sends: Vec<Buffer>,
    /// Its protocol has ended; bytes that were accepted before are still to be delivered.
    pub(super) ended: Option<Box<Ended>>,
}

impl Connection {
    /// A connection of an owner and domain that waits for its protocol to be open.
    pub fn new(name: FlowName, (owner, domain): (u8, u16)) -> Self {
        Self {
            name,
            owner,
            domain,
            on_card: true,
            phase: Phase::Opening,
            receive: None,
            send: None,
            is_open: false,
            early_receives: Vec::new(),
            early_sends: Vec::new(),
            asked: Ending::Open,
            finished: false,
            end_taken: false,
            end_seen: false,
            end_reported: false,
            acceptance_stale: false,
            charged_bytes: 0,
            granted: 0,
            acknowledged: 0,
            quiet_to: 0,
            ended: None,
        }
    }

    /// The name that its protocol has for it.
    pub fn index(&self) -> FlowIndex {
        FlowIndex(self.name.flow)
    }

    /// Whether packets are its own: its flow is installed, or on its way to the card.
    pub fn is_installed(&self) -> bool {
        matches!(self.phase, Phase::Installing(_) | Phase::Installed)
    }

    /// Requests the end of the sending half after everything posted.
    pub fn finish(&mut self) {
        self.asked = self.asked.max(Ending::Finish);
    }

    /// Requests the end of the connection after everything posted. Returns whether it was requested
    /// before.
    pub fn close(&mut self) -> bool {
        std::mem::replace(&mut self.asked, Ending::Close) == Ending::Close
    }

    /// Which end was asked for.
    pub fn requested_ending(&self) -> Ending {
        self.asked
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

    /// Its protocol has accepted everything before `to` in order.
    pub fn take_accepted(&mut self, to: u64) {
        if let Some(receive) = &mut self.receive {
            receive.take(to);
        }
    }

    /// Takes what its protocol has accepted of a packet, if that is all that happened: a connection
    /// at rest stays so. Returns whether it does.
    #[inline]
    pub fn absorb(&mut self) -> bool {
        self.receive.as_mut().is_some_and(ReceiveSide::absorb)
    }

    /// The peer has everything before `to`. Returns whether a connection at rest stays so: within
    /// a buffer that is being sent it needs no step.
    #[inline]
    pub fn take_acknowledged(&mut self, to: u64) -> bool {
        self.acknowledged = self.acknowledged.max(to);
        self.acknowledged < self.quiet_to
    }

    /// The peer has ended its sending half, and everything before that was accepted.
    pub fn take_end(&mut self) {
        self.end_taken = true;
    }

    /// Whether requests wait because a pool of lists was empty.
    pub fn wants_list(&self) -> bool {
        let receive = self.receive.as_ref().is_some_and(|side| side.queue.wants_list());
        receive || self.send.as_ref().is_some_and(|side| side.queue.wants_list())
    }

    /// A step follows: asks for what lies apart.
    #[inline]
    pub fn expect_step(&self) {
        if let (Some(receive), Some(send)) = (&self.receive, &self.send) {
            receive.expect();
            send.queue.expect();
        }
    }

    /// Makes all progress that the inputs allow.
    pub fn step<P: Protocol>(
        &mut self,
        commands: &mut dyn CommandQueue,
        (protocol, now_ns): (&mut P, u64),
        shared: &mut Shared,
        copy: &mut CopyBelow<'_>,
        progress: &mut Progress,
    ) -> Result<()> {
        match self.phase {
            Phase::Opening => return Ok(()),
            Phase::Installing(ticket) if !commands.is_confirmed(ticket) => return Ok(()),
            Phase::Installing(_) => self.phase = Phase::Installed,
            Phase::Installed => {}
            Phase::Removing(ticket) => {
                progress.gone = commands.is_confirmed(ticket);
                return Ok(());
            }
        }
        self.step_lists(commands, shared);
        self.step_receive(commands, copy, progress)?;
        self.step_send(commands, (protocol, now_ns), progress)?;
        let held_until_ns =
            |send: &Option<SendSide>| send.as_ref().map_or(0, SendSide::held_until_ns);
        let held_before_ns = held_until_ns(&self.send);
        self.advance(commands, (protocol, now_ns))?;
        let held_ns = held_until_ns(&self.send);
        progress.held_until_ns = Some(held_ns).filter(|&ns| ns != 0 && ns != held_before_ns);
        self.step_finish((protocol, now_ns))?;
        progress.lost = self.take_failure();
        if progress.lost.is_none() {
            self.step_close(commands, (protocol, now_ns))?;
        }
        Ok(())
    }

    /// Grows and shrinks both segment lists with the number of requests.
    fn step_lists(&mut self, commands: &mut dyn CommandQueue, shared: &mut Shared) {
        let Shared { receive: receive_pool, send: send_pool, refusals, .. } = shared;
        let receive_holds_back = self.receive.as_ref().is_some_and(|side| side.is_withheld(false));
        let receive = self.receive.as_mut().map(|side| &mut side.queue);
        let send = self.send.as_mut().map(|side| &mut side.queue);
        for (queue, pool, holds_back) in
            [(receive, receive_pool, receive_holds_back), (send, send_pool, false)]
        {
            let Some(queue) = queue else { continue };
            let waiting = if holds_back { 0 } else { queue.waiting() };
            let (direction, list) = (queue.direction(), queue.list_mut());
            list.confirm(|ticket| commands.is_confirmed(ticket), pool);
            let mut command = |entry| commands.command(entry);
            list.adapt((self.name, direction), waiting, pool, refusals, &mut command);
        }
    }

    /// Returns what the lists borrowed, after the flow was removed from the card.
    pub fn end_lists(&mut self, shared: &mut Shared) {
        if let Some(receive) = &mut self.receive {
            receive.queue.list_mut().end(&mut shared.receive);
        }
        if let Some(send) = &mut self.send {
            send.queue.list_mut().end(&mut shared.send);
        }
    }

    fn step_receive(
        &mut self,
        commands: &mut dyn CommandQueue,
        copy: &mut CopyBelow<'_>,
        progress: &mut Progress,
    ) -> Result<()> {
        let Some(receive) = &mut self.receive else { return Ok(()) };
        let floor = receive.confirm(|ticket| commands.is_confirmed(ticket));
        copy(receive, floor)?;
        receive.announce(floor, &mut progress.received);
        receive.accept_taken();
        self.end_seen = self.end_taken && receive.has_all_taken();
        let is_ending = self.end_taken || self.asked == Ending::Close || self.ended.is_some();
        if receive.is_floor_due(is_ending) {
            self.acceptance_stale = true;
        }
        Ok(())
    }

    /// Tells its protocol how much memory there is. What is being withdrawn is not granted.
    pub fn grant<P: Protocol>(&mut self, protocol: &mut P, now_ns: u64) {
        let Some(receive) = &mut self.receive else { return };
        let end = receive.grantable();
        receive.promise(end);
        if std::mem::replace(&mut self.granted, end) != end {
            protocol.extend_receive(now_ns, self.index(), end);
        }
    }

    /// Ends a confirmed withdrawal; `rescued` are the bytes copied out of the buffers.
    pub fn end_withdrawal(&mut self, rescued: Vec<(u64, Vec<u8>)>) -> Withdrawn {
        let end = self.end_seen;
        let receive = self.receive.as_mut();
        receive.map_or_else(Withdrawn::default, |receive| receive.finish_withdrawal(rescued, end))
    }

    /// Withdraws the receive buffers when the stream has ended, a partial request can be returned
    /// or one is cancelled. A single buffer is truncated at its last byte; of several, the head of
    /// the list moves past all.
    pub fn start_withdrawal<P: Protocol>(
        &mut self,
        commands: &mut dyn CommandQueue,
        protocol: &P,
    ) -> Result<()> {
        let guards = self.guards(protocol);
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else { return Ok(()) };
        if self.phase != Phase::Installed {
            return Ok(());
        }
        let ended = self.end_seen && receive.queue.has_requests() && !receive.is_withdrawing();
        let partial = receive.wants_partial();
        let cancels = receive.wants_cancel();
        let ticket = match receive.truncation().filter(|_| partial && !ended && !cancels) {
            Some((index, bytes)) => {
                commands.command_of(self.owner, segment_truncate(self.name, index, bytes))?
            }
            None if ended || partial || cancels => {
                let head = receive.queue.list().tail();
                let entry = floor_set(self.name, acceptance(receive, send, &guards), head);
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
        let idle = self.receive.as_ref().is_some_and(|r| !r.queue.has_requests());
        let now = self.end_seen && idle && !self.end_reported;
        self.end_reported |= now;
        now
    }

    fn step_send<P: Protocol>(
        &mut self,
        commands: &mut dyn CommandQueue,
        (protocol, now_ns): (&mut P, u64),
        progress: &mut Progress,
    ) -> Result<()> {
        let index = self.index();
        let Some(send) = &mut self.send else { return Ok(()) };
        send.confirm(|ticket| commands.is_confirmed(ticket), &mut progress.sent);
        if let Some(end) = send.offer() {
            protocol.extend_send(now_ns, index, end);
        }
        Ok(())
    }

    /// Ends the sending half after the last request was offered.
    fn step_finish<P: Protocol>(&mut self, (protocol, now_ns): (&mut P, u64)) -> Result<()> {
        let (index, send) = (self.index(), self.send.as_ref());
        let Some(send) = send else { return Ok(()) };
        if self.asked >= Ending::Finish && !self.finished && send.all_offered() {
            protocol.finish(now_ns, index)?;
            self.finished = true;
        }
        Ok(())
    }

    fn guards<P: Protocol>(&self, protocol: &P) -> Guards {
        let floor = self.send.as_ref().map_or(0, |send| send.floor_position());
        protocol.guards(self.index(), floor)
    }
}

fn acceptance(receive: &ReceiveSide, send: &SendSide, guards: &Guards) -> Acceptance {
    Acceptance {
        floor: receive.queue.position(receive.accepted_bytes()),
        ack_low: guards.ack_low,
        ack_high: send.ack_high(),
        timestamp_floor: guards.timestamp_floor,
    }
}

/// The error for missing bytes.
pub fn missing(name: FlowName, (offset, bytes): (u64, u64)) -> HostError {
    HostError::Protocol(ProtocolError::BytesMissing { flow: name.flow, offset, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::regions::RegionName;
    use crate::control::rest::Rest;
    use crate::protocol::{Arrival, ConnectOptions, HeaderSink, Install, Packet, Verdict};
    use crate::records::commands::Entry;
    use crate::records::queue::QueueError;
    use abi::command::{FLOW_INSTALL, FLOW_REMOVE, OPCODE, SEGMENT_POST};
    use std::net::SocketAddr;

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

        fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket, QueueError> {
            Ok(self.queue(owner, &entry))
        }

        fn is_confirmed(&self, ticket: Ticket) -> bool {
            ticket.0 < self.confirmed
        }
    }

    /// Notes what it is granted and offered.
    #[derive(Default)]
    struct RecordingProtocol {
        granted: Vec<u64>,
        offered: Vec<u64>,
    }

    impl Protocol for RecordingProtocol {
        type Remote = ();

        fn connect(&mut self, _: u64, _: FlowIndex, (): (), _: &ConnectOptions) -> Result<()> {
            Ok(())
        }

        fn addresses(&self, flow: FlowIndex) -> Result<(SocketAddr, SocketAddr)> {
            Err(HostError::Protocol(ProtocolError::UnknownFlow(flow.0)))
        }

        fn key(&self, _: FlowIndex) -> Result<Option<crate::protocol::FlowKey>> {
            Ok(None)
        }

        fn install(&mut self, flow: FlowIndex) -> Result<Install> {
            Err(HostError::Protocol(ProtocolError::UnknownFlow(flow.0)))
        }

        fn finish(&mut self, _: u64, _: FlowIndex) -> Result<()> {
            Ok(())
        }

        fn close(&mut self, _: u64, _: FlowIndex) -> Result<()> {
            Ok(())
        }

        fn abort(&mut self, _: u64, _: FlowIndex) -> Result<()> {
            Ok(())
        }

        fn arrive(&mut self, _: u64, _: FlowIndex, _: &Packet<'_>) -> Result<Arrival> {
            Ok(Verdict::Refused.into())
        }

        fn flow_of(&self, _: &Packet<'_>) -> Option<FlowIndex> {
            None
        }

        fn arrive_without_flow(&mut self, _: u64, _: &Packet<'_>) -> Result<()> {
            Ok(())
        }

        fn extend_receive(&mut self, _: u64, _: FlowIndex, end: u64) {
            self.granted.push(end);
        }

        fn extend_send(&mut self, _: u64, _: FlowIndex, end: u64) {
            self.offered.push(end);
        }

        fn advance(&mut self, _: u64) -> Result<()> {
            Ok(())
        }

        fn event(&mut self) -> Option<crate::protocol::ProtocolEvent> {
            None
        }

        fn transmit(&mut self, _: u64, _: &mut dyn HeaderSink) -> Result<()> {
            Ok(())
        }
    }

    fn buffer(request: u64) -> Buffer {
        Buffer {
            request,
            region: RegionName { index: 0, key: 1 },
            known: None,
            offset: 0,
            bytes: 100,
            partial: false,
            filled: 0,
        }
    }

    #[test]
    fn flow_posts_only_between_confirmed_commands() {
        let name = FlowName { flow: 1, generation: 1 };
        let mut connection = Connection::new(name, (OWNER, 9));
        connection.add_receive(buffer(7));
        let mut commands = RecordedCommands::default();
        let install =
            Install { profile: 0, receive_first: 500, send_first: 100, early: Vec::new() };
        connection.install(&mut commands, &install, &Guards::default(), Vec::new());
        assert_eq!(commands.take(), [(0, FLOW_INSTALL)]);
        let mut shared = Shared::new(6, 12);
        let mut copy = |_: &mut ReceiveSide, _| Ok(());
        let mut protocol = RecordingProtocol::default();
        let mut step = |connection: &mut Connection, commands: &mut RecordedCommands| {
            let (mut progress, by) = (Progress::default(), (&mut protocol, 0));
            let stepped = connection.step(commands, by, &mut shared, &mut copy, &mut progress);
            connection.grant(&mut protocol, 0);
            stepped.map(|()| progress)
        };
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(commands.queued.len(), 1, "the install is not confirmed");
        commands.confirm_all();
        assert_eq!(connection.rest(), Rest::UnderWay, "the install");
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(connection.phase, Phase::Installed);
        assert_eq!(commands.take(), [(OWNER, SEGMENT_POST)]);
        assert_eq!(connection.rest(), Rest::UnderWay, "a segment");
        commands.confirm_all();
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(connection.rest(), Rest::Quiet, "it waits for the peer");
        step(&mut connection, &mut commands).unwrap();
        assert_eq!(commands.take(), [], "a step at rest changes nothing");
        connection.remove(&mut commands);
        assert_eq!(commands.take(), [(0, FLOW_REMOVE)]);
        assert!(!step(&mut connection, &mut commands).unwrap().gone);
        commands.confirm_all();
        assert!(step(&mut connection, &mut commands).unwrap().gone);
        let ended = connection.end(true, &mut |_| panic!("nothing was received"));
        assert_eq!((ended.done, ended.cancelled), (vec![], vec![7]));
        assert_eq!((protocol.granted, protocol.offered), (vec![100], vec![]));
    }
}
