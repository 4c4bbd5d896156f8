//! The thread of a card.
//!
//! ```text
//!   jobs ─► line ─► endpoint ─► what is done ─► line ─► again
//!                               nothing for a while? sleep until a job, a frame or a timer
//! ```

mod controls;
mod jobs;
mod sleep;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::Arc;
use std::time::Instant;

use host::driver::bus::Bus;
use host::error::request::RequestError;
use host::error::HostError;
use host::message::{Endpoint, MessageDone, Station};
use host::provider::RegionId;

use super::flights::{Flight, Flights};
use super::job::Job;
use super::peers::Peers;
use super::receives::Receives;
use super::sends::Sends;
use super::shared::Shared;
use crate::abi::NcclResult;
use crate::comm::{Comm, Listener};
use crate::line::Line;
use crate::log;

/// Turns without anything to do before the thread sleeps.
const SPINS: u32 = 100;

/// A communicator, as the thread knows it.
struct Member {
    comm: Arc<Comm>,
    /// Its number at the other end, once it is connected.
    other: Option<u32>,
    /// Number of its next receive.
    next_slot: u32,
}

impl Member {
    /// Whether its other end is at that card, and it sends, or receives.
    fn is_of(&self, peer: Station, is_sender: bool) -> bool {
        self.comm.peer.address == peer.address && self.comm.is_sender == is_sender
    }
}

/// A registration that ends.
struct Leaving {
    region: RegionId,
    reply: SyncSender<()>,
    /// The card was told: nothing in flight used it any more.
    is_told: bool,
}

/// A communicator that is being closed.
struct Closing {
    comm: u32,
    reply: SyncSender<()>,
    /// Until when it waits for the other end to have heard of it.
    until_ns: u64,
}

/// The state of the thread.
pub struct Worker<B: Bus, L: Line> {
    endpoint: Endpoint<B>,
    line: L,
    shared: Arc<Shared>,
    jobs: Receiver<Job>,
    started: Instant,
    members: HashMap<u32, Member>,
    listeners: HashMap<u64, Arc<Listener>>,
    flights: Flights,
    receives: Receives,
    sends: Sends,
    peers: Peers,
    leaving: Vec<Leaving>,
    closing: Vec<Closing>,
    /// Receivers whose sender is closed, and when what they still wait for has failed.
    ended: Vec<(u64, u32)>,
    received_bytes: u64,
    messages: u64,
}

impl<B: Bus, L: Line> Worker<B, L> {
    /// The thread of a card, whose peers number their messages from `base` on.
    pub fn new(
        endpoint: Endpoint<B>,
        line: L,
        shared: Arc<Shared>,
        jobs: Receiver<Job>,
        base: u64,
    ) -> Self {
        Self {
            endpoint,
            line,
            shared,
            jobs,
            started: Instant::now(),
            members: HashMap::new(),
            listeners: HashMap::new(),
            flights: Flights::default(),
            receives: Receives::default(),
            sends: Sends::default(),
            peers: Peers::new(base),
            leaving: Vec::new(),
            closing: Vec::new(),
            ended: Vec::new(),
            received_bytes: 0,
            messages: 0,
        }
    }

    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Runs until the card fails, or nobody can ask for anything any more.
    pub fn run(mut self) {
        let mut idle = 0;
        loop {
            match self.turn() {
                Ok(Some(true)) => idle = 0,
                Ok(Some(false)) => {
                    idle += 1;
                    // Where cores are few, what it waits for needs this one.
                    std::thread::yield_now();
                }
                Ok(None) => return,
                Err(error) => return self.die(&error),
            }
            if idle >= SPINS {
                self.sleep();
                // What the end of a sleep has brought is seen in one turn.
                idle = SPINS - 4;
            }
        }
    }

    /// One turn. Returns whether anything happened; `None` when nobody asks any more.
    fn turn(&mut self) -> Result<Option<bool>, HostError> {
        let Some(mut is_busy) = self.take_jobs() else {
            return Ok(None);
        };
        is_busy |= self.line.carry();
        let done = self.endpoint.poll(self.now_ns())?;
        is_busy |= !done.is_empty();
        for done in done {
            self.take(done)?;
        }
        is_busy |= self.line.carry();
        self.step_ended()?;
        self.step_leaving()?;
        self.step_closing();
        Ok(Some(is_busy))
    }

    fn take(&mut self, done: MessageDone) -> Result<(), HostError> {
        match done {
            MessageDone::Ready { request } => {
                if let Some(flight) = self.flights.get(request) {
                    self.receives.note_ready((flight.comm, flight.slot));
                    self.announce(flight.comm)?;
                }
            }
            MessageDone::Received { request, bytes } => {
                self.received_bytes += u64::from(bytes);
                self.messages += 1;
                self.end_flight(request, Some(bytes));
            }
            MessageDone::Sent { request } | MessageDone::Cancelled { request } => {
                self.end_flight(request, None);
            }
            MessageDone::Failed { request, reason } => {
                let comm = self.flights.get(request).map(|flight| flight.comm);
                self.end_flight(request, None);
                if let Some(comm) = comm {
                    let reason = reason.map_or("it has ended".to_owned(), |r| r.to_string());
                    log::warn(&format!("{}: a message has failed: {reason}", self.shared.name));
                    self.fail(comm, NcclResult::SYSTEM)?;
                }
            }
            MessageDone::Told { from, content } => self.take_control(from, &content)?,
            MessageDone::Lost { station } => {
                let of_it =
                    self.members.values().filter(|m| m.comm.peer.address == station.address);
                let of_it: Vec<u32> = of_it.map(|member| member.comm.id).collect();
                if !of_it.is_empty() {
                    let name = &self.shared.name;
                    log::warn(&format!("{name}: the rank at {} is gone", station.address));
                }
                for comm in of_it {
                    self.fail(comm, NcclResult::REMOTE)?;
                }
            }
        }
        Ok(())
    }

    /// The card is done with a message.
    fn end_flight(&mut self, request: u64, received_bytes: Option<u32>) {
        let Some(flight) = self.flights.remove(request) else {
            return;
        };
        self.shared.give_flows_back(1);
        let Some(member) = self.members.get(&flight.comm) else {
            return;
        };
        let Flight { comm, slot, at, .. } = flight;
        match member.comm.is_sender {
            true => self.sends.end_part((comm, slot, at), &member.comm),
            false => {
                self.receives.end_part((comm, slot), at, received_bytes);
                self.receives.settle((comm, slot), &member.comm);
            }
        }
    }

    /// A communicator has failed: so have its requests. What is in flight is taken from the card.
    fn fail(&mut self, comm: u32, result: NcclResult) -> Result<(), HostError> {
        let Some(member) = self.members.get(&comm) else {
            return Ok(());
        };
        member.comm.set_state(result);
        let requests = self.receives.give_up(comm).into_iter().chain(self.sends.give_up(comm));
        requests.for_each(|request| member.comm.requests.get(request).end(result));
        self.cancel(|flight| flight.comm == comm)
    }

    /// Takes messages from the card.
    fn cancel(&mut self, is_such: impl Fn(&Flight) -> bool) -> Result<(), HostError> {
        for request in self.flights.that(is_such) {
            match self.endpoint.cancel(request) {
                // It has ended, which is among what this turn has still to take.
                Err(HostError::Request(RequestError::UnknownRequest { .. })) => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// What receivers still wait for has failed, a while after their sender was closed.
    fn step_ended(&mut self) -> Result<(), HostError> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let now_ns = self.now_ns();
        let due = |(until_ns, _): &(u64, u32)| *until_ns <= now_ns;
        let due: Vec<u32> = self.ended.iter().filter(|e| due(e)).map(|e| e.1).collect();
        self.ended.retain(|ended| ended.0 > now_ns);
        due.into_iter().try_for_each(|comm| self.fail(comm, NcclResult::REMOTE))
    }

    /// Registrations that nothing uses leave the card, and those that have left are answered.
    fn step_leaving(&mut self) -> Result<(), HostError> {
        let (endpoint, flights) = (&mut self.endpoint, &self.flights);
        let mut told = Ok(());
        self.leaving.retain_mut(|leaving| {
            let region = leaving.region;
            if !leaving.is_told {
                if !flights.any(|flight| flight.region == region) {
                    leaving.is_told = true;
                    if let Err(error) = endpoint.deregister(region) {
                        told = Err(error);
                    }
                }
                return true;
            }
            let is_leaving = endpoint.is_leaving(region);
            if !is_leaving {
                // Who asked may be gone.
                let _ = leaving.reply.send(());
            }
            is_leaving
        });
        told
    }

    /// Communicators of which nothing is in flight are closed, when the other end has heard of it.
    fn step_closing(&mut self) {
        if self.closing.is_empty() {
            return;
        }
        let now_ns = self.now_ns();
        let is_said = self.endpoint.is_said();
        for closing in std::mem::take(&mut self.closing) {
            let id = closing.comm;
            let is_heard = is_said || now_ns >= closing.until_ns;
            if !is_heard || self.flights.any(|flight| flight.comm == id) {
                self.closing.push(closing);
                continue;
            }
            self.shared.lock().remove(&id);
            if let Some(member) = self.members.remove(&id) {
                if self.peers.remove_comm(member.comm.peer.address) {
                    self.endpoint.watch(member.comm.peer, false);
                }
            }
            if self.members.is_empty() {
                self.log_counts();
            }
            // Who asked may be gone.
            let _ = closing.reply.send(());
        }
    }

    fn log_counts(&mut self) {
        let copied_bytes = self.endpoint.copied_payload_bytes();
        let again = self.endpoint.sent_again();
        log::info(&format!(
            "{}: {} bytes received in place, {} bytes copied by the CPU, {} frames sent, {again} \
             packets again, {} messages received",
            self.shared.name,
            self.received_bytes.saturating_sub(copied_bytes),
            copied_bytes,
            self.line.frames(),
            self.messages
        ));
    }

    /// The card has failed: everything that waits for it has.
    fn die(mut self, error: &HostError) {
        log::warn(&format!("{}: the card has failed: {error}", self.shared.name));
        self.shared.is_dead.store(true, Ordering::Release);
        for (comm, member) in &self.members {
            member.comm.set_state(NcclResult::SYSTEM);
            let requests = self.receives.give_up(*comm).into_iter();
            let requests = requests.chain(self.sends.give_up(*comm));
            requests.for_each(|at| member.comm.requests.get(at).end(NcclResult::SYSTEM));
        }
        while let Ok(job) = self.jobs.try_recv() {
            if let Job::Send { comm, request, .. } | Job::Receive { comm, request, .. } = job {
                if let Some(member) = self.members.get(&comm) {
                    member.comm.requests.get(request).end(NcclResult::SYSTEM);
                }
            }
        }
    }
}
