//! One connection: its flow on the card, its receive and send side, its end.
//!
//! ```text
//!   Opening ─ open, both SYNs seen ─► Installed ─ close, all acknowledged ─► Removing ─► gone
//! ```
//! A step of a connection makes whatever progress its inputs allow; it never waits.

use std::net::SocketAddr;

use super::commands::{
    floor_set, flow_install, flow_remove, send_floor_set, Acceptance, Entry, FlowInstall, FlowName,
};
use super::receive::{Buffer, Done, ReceiveSide};
use super::send::SendSide;
use super::window::Window;
use crate::bus::Bus;
use crate::device::{Device, Ticket};
use crate::error::{HostError, Result};
use crate::transport::{StreamId, StreamState, Transport};

use abi::config::SEGMENTS_COMMITTED_BITS;

/// How far below the send floor an ACK number is still accepted: a window's worth of delay.
const ACK_BEHIND: u32 = 1 << 24;

/// Copies what the bytes below a confirmed floor still miss.
pub type CopyBelow<'a> = dyn FnMut(&mut ReceiveSide, u64) -> Result<()> + 'a;

/// What the two SYNs of a connection said.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    /// Initial sequence number of this side.
    pub local: Option<u32>,
    /// Initial sequence number of the peer.
    pub remote: Option<u32>,
    /// Window scale that this side offered.
    pub local_scale: Option<u8>,
    /// Whether the peer offered window scaling.
    pub remote_scales: bool,
    /// Payload that came before the flow was known, with its sequence numbers.
    pub early: Vec<(u32, Vec<u8>)>,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The handshake is on its way.
    Opening,
    /// The flow is on the card.
    Installed,
    /// The application is done; the last bytes go out.
    Closing,
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
    /// Where it stands.
    pub phase: Phase,
    /// Receive side, once the handshake is known.
    pub receive: Option<ReceiveSide>,
    /// Send side, once the handshake is known.
    pub send: Option<SendSide>,
    /// Offered window.
    pub window: Window,
    /// Requests made before the handshake was known.
    pub early_receives: Vec<Buffer>,
    /// Requests made before the handshake was known.
    pub early_sends: Vec<Buffer>,
    finish_asked: bool,
    finished: bool,
    end_seen: bool,
    end_reported: bool,
    acceptance_stale: bool,
}

impl Connection {
    /// A connection that waits for its handshake.
    pub fn new(stream: StreamId, local: SocketAddr, remote: SocketAddr, name: FlowName) -> Self {
        Self {
            stream,
            local,
            remote,
            name,
            phase: Phase::Opening,
            receive: None,
            send: None,
            window: Window::default(),
            early_receives: Vec::new(),
            early_sends: Vec::new(),
            finish_asked: false,
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

    /// Adds a receive request.
    pub fn add_receive(&mut self, buffer: Buffer) {
        match &mut self.receive {
            Some(receive) => receive.add(buffer),
            None => self.early_receives.push(buffer),
        }
    }

    /// Adds a send request.
    pub fn add_send(&mut self, buffer: Buffer) {
        match &mut self.send {
            Some(send) => send.add(buffer),
            None => self.early_sends.push(buffer),
        }
    }

    /// Puts the flow on the card: both initial sequence numbers of the handshake are known, `keys`
    /// are the commands that place its key.
    pub fn install<B: Bus>(
        &mut self,
        device: &mut Device<B>,
        handshake: &Handshake,
        keys: Vec<Entry>,
        budget_bytes: usize,
    ) {
        let (Some(local), Some(remote)) = (handshake.local, handshake.remote) else {
            return;
        };
        let capacity = 1u16 << SEGMENTS_COMMITTED_BITS;
        let mut receive = ReceiveSide::new(remote.wrapping_add(1), capacity);
        let mut send = SendSide::new(local.wrapping_add(1), capacity);
        for buffer in self.early_receives.drain(..) {
            receive.add(buffer);
        }
        for buffer in self.early_sends.drain(..) {
            send.add(buffer);
        }
        for (position, payload) in &handshake.early {
            if let Some(offset) = receive.offset(*position) {
                receive.defer(offset, payload.clone(), budget_bytes);
            }
        }
        let both_scale = handshake.remote_scales && handshake.local_scale.is_some();
        let shift = if both_scale {
            handshake.local_scale.unwrap_or(0)
        } else {
            0
        };
        self.window = Window::new(shift);
        let list = u32::from(self.name.flow) << SEGMENTS_COMMITTED_BITS;
        let lists = [(list, SEGMENTS_COMMITTED_BITS as u8); 2];
        device.command(flow_install(&FlowInstall {
            name: self.name,
            owner: 0,
            domain: 0,
            acceptance: acceptance(&receive, &send),
            send_floor: send.position(0),
            lists,
        }));
        for entry in keys {
            device.command(entry);
        }
        self.receive = Some(receive);
        self.send = Some(send);
        self.phase = Phase::Installed;
    }

    /// Makes what progress the inputs allow.
    pub fn step<B: Bus, T: Transport>(
        &mut self,
        device: &mut Device<B>,
        transport: &mut T,
        copy: &mut CopyBelow<'_>,
    ) -> Result<Progress> {
        let mut progress = Progress::default();
        if let Phase::Removing(ticket) = self.phase {
            progress.gone = device.confirmed(ticket);
            return Ok(progress);
        }
        self.step_receive(device, transport, copy, &mut progress)?;
        self.step_send(device, transport, &mut progress)?;
        self.refresh_acceptance(device);
        self.step_close(device, transport)?;
        Ok(progress)
    }

    fn step_receive<B: Bus, T: Transport>(
        &mut self,
        device: &mut Device<B>,
        transport: &mut T,
        copy: &mut CopyBelow<'_>,
        progress: &mut Progress,
    ) -> Result<()> {
        let Some(receive) = &mut self.receive else {
            return Ok(());
        };
        receive.post(self.name, |entry| device.command(entry));
        let floor = receive.confirm(|ticket| device.confirmed(ticket));
        copy(receive, floor)?;
        progress.received.extend(receive.announce(floor));
        let wanted = receive.drainable();
        if wanted > 0 {
            let drained = transport.drain(self.stream, wanted)?;
            receive.accept(drained.bytes);
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

    /// Withdraws the receive buffers when the stream has ended or a partial request can go back.
    pub fn start_withdrawal<B: Bus>(&mut self, device: &mut Device<B>) {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return;
        };
        let ended = self.end_seen && receive.has_requests() && !receive.is_withdrawing();
        if ended || receive.wants_partial() {
            let entry = floor_set(self.name, acceptance(receive, send), receive.tail());
            let ticket = device.command(entry);
            receive.floor_asked(ticket);
            receive.withdraw(ticket);
        }
    }

    /// Whether the end of the stream is to be reported now, once.
    pub fn report_end(&mut self) -> bool {
        let idle = self.receive.as_ref().is_some_and(|r| !r.has_requests());
        let now = self.end_seen && idle && !self.end_reported;
        self.end_reported |= now;
        now
    }

    fn step_send<B: Bus, T: Transport>(
        &mut self,
        device: &mut Device<B>,
        transport: &mut T,
        progress: &mut Progress,
    ) -> Result<()> {
        let Some(send) = &mut self.send else {
            return Ok(());
        };
        if send.post(self.name, |entry| device.command(entry)) {
            self.acceptance_stale = true;
        }
        progress
            .sent
            .extend(send.confirm(|ticket| device.confirmed(ticket)));
        let feedable = send.feedable();
        if feedable > 0 {
            let fed = transport.feed(self.stream, feedable)?;
            send.feed(fed);
        }
        let status = transport.status(self.stream)?;
        self.end_seen |= status.end_of_stream;
        if status.state != StreamState::Connecting {
            if let Some((floor, head)) = send.acknowledge(status.unacknowledged_bytes) {
                let ticket = device.command(send_floor_set(self.name, floor, head));
                send.floor_asked(ticket);
            }
        }
        if self.finish_asked && !self.finished && send.all_fed() {
            transport.finish(self.stream)?;
            self.finished = true;
        }
        Ok(())
    }

    fn refresh_acceptance<B: Bus>(&mut self, device: &mut Device<B>) {
        let (Some(receive), Some(send)) = (&mut self.receive, &self.send) else {
            return;
        };
        if self.acceptance_stale && !receive.is_withdrawing() {
            let entry = floor_set(self.name, acceptance(receive, send), receive.head());
            let ticket = device.command(entry);
            receive.floor_asked(ticket);
            self.acceptance_stale = false;
        }
    }

    fn step_close<B: Bus, T: Transport>(
        &mut self,
        device: &mut Device<B>,
        transport: &mut T,
    ) -> Result<()> {
        if self.phase != Phase::Closing || !self.finished {
            return Ok(());
        }
        let status = transport.status(self.stream)?;
        if status.unacknowledged_bytes == 0 || status.state == StreamState::Closed {
            transport.close(self.stream)?;
            self.remove(device);
        }
        Ok(())
    }

    /// Takes the flow off the card.
    pub fn remove<B: Bus>(&mut self, device: &mut Device<B>) {
        let ticket = device.command(flow_remove(self.name));
        self.phase = Phase::Removing(ticket);
    }

    /// Requests that will never be done.
    pub fn cancel(&mut self) -> Vec<u64> {
        let mut requests: Vec<u64> = self.early_receives.drain(..).map(|b| b.request).collect();
        requests.extend(self.early_sends.drain(..).map(|b| b.request));
        if let Some(send) = &mut self.send {
            requests.extend(send.cancel());
        }
        if let Some(receive) = &mut self.receive {
            requests.extend(receive.cancel());
        }
        requests
    }
}

fn acceptance(receive: &ReceiveSide, send: &SendSide) -> Acceptance {
    Acceptance {
        floor: receive.position(receive.accepted()),
        ack_low: send.floor_position().wrapping_sub(ACK_BEHIND),
        ack_high: send.ack_high(),
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
