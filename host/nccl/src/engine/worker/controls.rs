//! What other ranks have said.

use host::driver::bus::Bus;
use host::error::HostError;
use host::message::Station;

use super::Worker;
use crate::abi::NcclResult;
use crate::comm::Posted;
use crate::control::Control;
use crate::line::Line;
use crate::log;

/// How long a receiver waits for the rest, once its sender is closed.
const REST_NS: u64 = 500_000_000;

impl<B: Bus, L: Line> Worker<B, L> {
    /// Takes what a station has said.
    pub(super) fn take_control(&mut self, from: Station, bytes: &[u8]) -> Result<(), HostError> {
        let Some(control) = Control::of(bytes) else {
            log::warn(&format!("{}: nonsense from {}", self.shared.name, from.address));
            return Ok(());
        };
        match control {
            Control::Connect { nonce, sender, mtu_bytes } => {
                return self.take_connect(from, (nonce, sender, mtu_bytes));
            }
            Control::Connected { sender, receiver, mtu_bytes } => {
                if let Some(member) = self.members.get_mut(&sender).filter(|m| m.is_of(from, true))
                {
                    member.other = Some(receiver);
                    let mtu_bytes = mtu_bytes.min(self.shared.mtu_bytes);
                    self.endpoint.limit_mtu(from, mtu_bytes)?;
                    member.comm.set_state(NcclResult::SUCCESS);
                }
            }
            Control::Refused { sender } => {
                if self.members.get(&sender).is_some_and(|member| member.is_of(from, true)) {
                    self.fail(sender, NcclResult::REMOTE)?;
                }
            }
            Control::Posted { sender, slot, first, places } => {
                if let Some(member) = self.members.get(&sender).filter(|m| m.is_of(from, true)) {
                    member.comm.add_posted(posted_of(slot, first, &places).into_iter());
                }
            }
            Control::Length { receiver, slot, at, bytes } => {
                if self.members.get(&receiver).is_some_and(|member| member.is_of(from, false)) {
                    self.take_length((receiver, slot), at, bytes)?;
                }
            }
            Control::SenderClosed { receiver } => {
                if self.members.get(&receiver).is_some_and(|member| member.is_of(from, false)) {
                    self.ended.push((self.now_ns() + REST_NS, receiver));
                }
            }
            Control::ReceiverClosed { sender, next, missing } => {
                if let Some(member) = self.members.get(&sender).filter(|m| m.is_of(from, true)) {
                    member.comm.set_state(NcclResult::REMOTE);
                    self.sends.note_closed(sender, next, missing);
                    self.cancel(|flight| flight.comm == sender)?;
                }
            }
        }
        Ok(())
    }

    fn take_connect(
        &mut self,
        from: Station,
        (nonce, sender, mtu_bytes): (u64, u32, u16),
    ) -> Result<(), HostError> {
        let Some(listener) = self.listeners.get(&nonce).cloned() else {
            return self.endpoint.say(from, &Control::Refused { sender }.to_bytes());
        };
        let comm = self.shared.new_comm(false, from);
        self.add_member(comm.clone(), Some(sender));
        self.endpoint.limit_mtu(from, mtu_bytes.min(self.shared.mtu_bytes))?;
        comm.set_state(NcclResult::SUCCESS);
        let (receiver, mtu_bytes) = (comm.id, self.shared.mtu_bytes);
        self.say(receiver, &Control::Connected { sender, receiver, mtu_bytes });
        listener.add(comm);
        Ok(())
    }

    fn take_length(&mut self, key: (u32, u32), at: u8, bytes: u32) -> Result<(), HostError> {
        let (receiver, slot) = key;
        let parts = match self.receives.set_length(key, at, bytes) {
            None => return Ok(()),
            Some(Ok(parts)) => parts,
            Some(Err(posted)) => {
                let name = &self.shared.name;
                log::warn(&format!("{name}: {bytes} bytes are sent where {posted} are posted"));
                return self.fail(receiver, NcclResult::REMOTE);
            }
        };
        self.cancel(|flight| {
            (flight.comm, flight.slot, flight.at) == (receiver, slot, at) && flight.part >= parts
        })?;
        if let Some(member) = self.members.get(&receiver) {
            self.receives.settle(key, &member.comm);
        }
        Ok(())
    }
}

/// The buffers of a receive that was announced, with the numbers of their messages.
fn posted_of(slot: u32, first: u64, places: &[(i32, u32)]) -> Vec<Posted> {
    let mut next = first;
    let posted = places.iter().zip(0..).map(|(&(tag, bytes_max), at)| {
        let first = next;
        next += u64::from(crate::comm::messages_of(bytes_max));
        Posted { slot, at, tag, bytes_max, first }
    });
    posted.collect()
}
