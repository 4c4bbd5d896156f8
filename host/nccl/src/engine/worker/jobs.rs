//! What NCCL's threads have asked for.

use std::sync::mpsc::{SyncSender, TryRecvError};
use std::sync::Arc;

use host::driver::bus::Bus;
use host::error::HostError;
use host::provider::RegionId;

use super::{Closing, Leaving, Member, Worker};
use crate::abi::NcclResult;
use crate::comm::{messages_of, Comm, Posted, MESSAGE_BYTES_MAX};
use crate::control::Control;
use crate::engine::flights::Flight;
use crate::engine::job::{Job, Place};
use crate::line::Line;
use crate::log;

/// How long a communicator that is closed waits for the other end to have heard of it.
const HEARD_NS: u64 = 300_000_000;

/// The parts of a place: number, offset and length of each.
fn parts(place: &Place) -> impl Iterator<Item = (u32, u64, u32)> + '_ {
    (0..messages_of(place.bytes)).map(|part| {
        let from = part * MESSAGE_BYTES_MAX;
        let bytes = (place.bytes - from).min(MESSAGE_BYTES_MAX);
        (part, place.offset + u64::from(from), bytes)
    })
}

impl<B: Bus, L: Line> Worker<B, L> {
    /// Carries out all jobs. Returns whether there were any; `None` when there will be none.
    pub(super) fn take_jobs(&mut self) -> Option<bool> {
        let mut is_busy = false;
        loop {
            match self.jobs.try_recv() {
                Ok(job) => self.carry_out(job),
                Err(TryRecvError::Empty) => return Some(is_busy),
                Err(TryRecvError::Disconnected) => return None,
            }
            is_busy = true;
        }
    }

    fn carry_out(&mut self, job: Job) {
        match job {
            Job::Register(kind, range, reply) => {
                let region = self.endpoint.register_existing(kind, range);
                // Who asked may be gone.
                let _ = reply.send(region.map_err(|error| error.to_string()));
            }
            Job::Deregister(region, reply) => self.deregister(region, reply),
            Job::Listen(listener) => drop(self.listeners.insert(listener.nonce, listener)),
            Job::Unlisten(nonce) => drop(self.listeners.remove(&nonce)),
            Job::Connect(comm, nonce) => {
                let (sender, mtu_bytes) = (comm.id, self.shared.mtu_bytes);
                self.add_member(comm, None);
                self.say(sender, &Control::Connect { nonce, sender, mtu_bytes });
            }
            Job::Send { comm, request, posted, from } => self.send(comm, request, posted, from),
            Job::Receive { comm, request, places } => self.receive(comm, request, &places),
            Job::Close(comm, reply) => self.close(comm, reply),
        }
    }

    pub(super) fn add_member(&mut self, comm: Arc<Comm>, other: Option<u32>) {
        if self.peers.add_comm(comm.peer.address) {
            self.endpoint.watch(comm.peer, true);
        }
        self.members.insert(comm.id, Member { comm, other, next_slot: 0 });
    }

    /// Says something to the other end of a communicator.
    pub(super) fn say(&mut self, comm: u32, control: &Control) {
        let Some(member) = self.members.get(&comm) else {
            return;
        };
        if let Err(error) = self.endpoint.say(member.comm.peer, &control.to_bytes()) {
            self.note_failure(comm, &error);
        }
    }

    /// A call for a communicator has failed.
    pub(super) fn note_failure(&mut self, comm: u32, error: &HostError) {
        log::warn(&format!("{}: {error}", self.shared.name));
        if let Err(error) = self.fail(comm, NcclResult::SYSTEM) {
            log::warn(&format!("{}: {error}", self.shared.name));
        }
    }

    /// Ends a registration, whatever is in flight there: NCCL does so when it aborts.
    fn deregister(&mut self, region: RegionId, reply: SyncSender<()>) {
        let users = self.flights.that(|flight| flight.region == region);
        let users: Vec<u32> =
            users.iter().filter_map(|request| self.flights.get(*request)).map(|f| f.comm).collect();
        for comm in users {
            if let Err(error) = self.fail(comm, NcclResult::INTERNAL) {
                self.note_failure(comm, &error);
            }
        }
        self.leaving.push(Leaving { region, reply, is_told: false });
    }

    fn send(&mut self, comm: u32, request: usize, posted: Posted, from: Place) {
        let messages = messages_of(from.bytes);
        let Some(member) = self.members.get(&comm) else {
            return self.shared.give_flows_back(messages);
        };
        let state = member.comm.state().unwrap_or(NcclResult::INTERNAL);
        let (NcclResult::SUCCESS, Some(receiver)) = (state, member.other) else {
            member.comm.requests.get(request).end(state);
            return self.shared.give_flows_back(messages);
        };
        let (peer, Posted { slot, at, first, .. }) = (member.comm.peer, posted);
        if (messages, messages_of(posted.bytes_max)) != (1, 1) {
            self.say(comm, &Control::Length { receiver, slot, at, bytes: from.bytes });
        }
        self.sends.add((comm, slot, at), request, from.bytes, messages);
        for (part, offset, bytes) in parts(&from) {
            let flight = Flight { comm, slot, at, part, region: from.region };
            let number = self.flights.add(flight);
            let source = (from.region, offset, bytes);
            let sent = self.endpoint.send(peer, first + u64::from(part), source, number);
            if let Err(error) = sent {
                self.flights.remove(number);
                self.shared.give_flows_back(messages - part);
                return self.note_failure(comm, &error);
            }
        }
        if let Some(member) = self.members.get(&comm) {
            self.sends.settle((comm, slot, at), &member.comm);
        }
    }

    fn receive(&mut self, comm: u32, request: usize, places: &[Place]) {
        let messages = places.iter().map(|place| messages_of(place.bytes)).sum();
        let Some(member) = self.members.get_mut(&comm) else {
            return self.shared.give_flows_back(messages);
        };
        let state = member.comm.state().unwrap_or(NcclResult::INTERNAL);
        if state != NcclResult::SUCCESS {
            member.comm.requests.get(request).end(state);
            return self.shared.give_flows_back(messages);
        }
        let (peer, slot) = (member.comm.peer, member.next_slot);
        member.next_slot = slot.wrapping_add(1);
        let first = self.peers.take_messages(peer.address, messages);
        self.receives.add((comm, slot), request, first, places);
        let mut left = messages;
        let mut message = first;
        for (place, at) in places.iter().zip(0..) {
            for (part, offset, bytes) in parts(place) {
                let flight = Flight { comm, slot, at, part, region: place.region };
                let number = self.flights.add(flight);
                let into = (place.region, offset, bytes);
                if let Err(error) = self.endpoint.expect(peer, message, into, number) {
                    self.flights.remove(number);
                    self.shared.give_flows_back(left);
                    return self.note_failure(comm, &error);
                }
                (left, message) = (left - 1, message + 1);
            }
        }
        if messages == 0 {
            // Nothing to wait for: there is room for empty messages alone.
            if let Err(error) = self.announce(comm) {
                self.note_failure(comm, &error);
            }
        }
    }

    /// Tells the sender of the receives that are ready.
    pub(super) fn announce(&mut self, comm: u32) -> Result<(), HostError> {
        let Some(sender) = self.members.get(&comm).and_then(|member| member.other) else {
            return Ok(());
        };
        while let Some(control) = self.receives.announce(comm, sender) {
            self.say(comm, &control);
        }
        Ok(())
    }

    fn close(&mut self, comm: u32, reply: SyncSender<()>) {
        let Some(member) = self.members.get(&comm) else {
            // Who asked may be gone.
            let _ = reply.send(());
            return;
        };
        let is_well = member.comm.state() == Some(NcclResult::SUCCESS);
        let (next, is_sender) = (member.next_slot, member.comm.is_sender);
        let missing = if is_well { self.receives.missing(comm, next) } else { u64::MAX };
        let control = member.other.map(|other| match is_sender {
            true => Control::SenderClosed { receiver: other },
            false => Control::ReceiverClosed { sender: other, next, missing },
        });
        let until_ns = match is_well {
            true => self.now_ns() + HEARD_NS,
            false => 0,
        };
        if let Some(control) = control {
            self.say(comm, &control);
        }
        if let Err(error) = self.fail(comm, NcclResult::INTERNAL) {
            self.note_failure(comm, &error);
        }
        self.closing.push(Closing { comm, reply, until_ns });
    }
}
