//! A poll, step by step, and the wait for the next one.
//!
//! ```text
//!   application ── poll ─► failures ─► headers ─► protocol ─► events ─► rekey, beyond
//!                                                                          │
//!               ◄─ completions ─ failures ◄─ transmit ◄─ progress ◄────────┘
//! ```
//! Called by applications; what is not public here, by [`Provider::poll`] in this order.

mod agreement;
mod beyond;
mod events;
mod failures;
mod headers;
mod progress;
mod transmit;

use std::time::Duration;

use crate::control::rest::Rest;
use crate::driver::bus::Bus;
use crate::error::Result;
use crate::failure::Failure;
use crate::protocol::Protocol;
use crate::provider::Provider;
use crate::transport::NextTimer;

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Advances card, protocol and connections. Returns whether there are completions to take. An
    /// error is the card's: it has to be opened again. What a protocol fails at ends a connection,
    /// or nothing ([`crate::protocol`]).
    pub fn poll(&mut self) -> Result<bool> {
        self.device.bus().advance()?;
        let now_ns = self.now_ns();
        self.take_faults()?;
        self.poll_device()?;
        self.connections.wake(|mark| self.device.has_passed(mark));
        self.take_headers(now_ns)?;
        self.take_refused();
        let advanced = self.protocol.advance(now_ns);
        self.note_protocol(advanced);
        self.take_events();
        self.step_rekeying()?;
        self.step_bounces()?;
        self.touch_held(now_ns);
        self.step_connections(now_ns);
        self.transmit(now_ns);
        self.end_removals()?;
        self.poll_device()?;
        Ok(!self.completions.is_empty())
    }

    /// Waits for the card or for the protocol, at most for `limit` of the card's time; see
    /// [`Device::wait`]. Returns whether there may be something to poll for. It ends when the
    /// protocol's next timer is due ([`Protocol::deadline`]), and does not begin while a connection
    /// is due.
    pub fn wait(&mut self, limit: Duration) -> Result<bool> {
        let mut limit = limit;
        let mut ends_with_timer = false;
        let held_ns = self.held.front().map(|held| held.0);
        let due_ns = match self.protocol.deadline() {
            NextTimer::At(at_ns) => Some(held_ns.map_or(at_ns, |held_ns| held_ns.min(at_ns))),
            _ => held_ns,
        };
        if let Some(at_ns) = due_ns {
            let left = self.clock.lasting(at_ns.saturating_sub(self.now_ns()));
            ends_with_timer = left <= limit;
            limit = limit.min(left);
        }
        if limit.is_zero() || self.connections.has_ready() {
            self.device.bus().advance()?;
            return Ok(true);
        }
        // Room in a bounce region comes when the card has taken descriptors over.
        for bounce in self.bounces.iter().filter(|bounce| !bounce.has_room()) {
            if !self.device.await_sends(bounce.owner, bounce.slots_seen())? {
                self.device.bus().advance()?;
                return Ok(false);
            }
        }
        match self.device.wait(limit, self.protocol.readiness()) {
            Ok(came) => Ok(came || ends_with_timer),
            // A ring that stopped while nobody polled: what follows of it is to be polled for.
            Err(error) => self.end_shard(error.into()).map(|()| true),
        }
    }

    /// When the protocol acts next, if nothing comes before.
    pub fn deadline(&mut self) -> NextTimer {
        let held = self.held.front().map(|(until_ns, _)| *until_ns);
        match (self.protocol.deadline(), held) {
            (NextTimer::At(at), Some(held)) => NextTimer::At(at.min(held)),
            (NextTimer::Never, Some(held)) => NextTimer::At(held),
            (timer, _) => timer,
        }
    }

    /// Steps the connections whose floors have waited long enough.
    fn touch_held(&mut self, now_ns: u64) {
        while let Some(&(_, id)) = self.held.front().filter(|(until_ns, _)| *until_ns <= now_ns) {
            self.held.pop_front();
            self.connections.touch(id);
        }
    }

    fn step_connections(&mut self, now_ns: u64) {
        let mut stepped = std::mem::take(&mut self.stepped);
        if self.shared.take_returned() {
            // An entry came free that one of them may have.
            self.wanting.drain().for_each(|id| self.connections.touch(id));
        }
        self.connections.take_ready(&mut stepped);
        self.connections.expect_steps(&stepped);
        for &id in &stepped {
            // All that fails here is the connection's: its protocol, its regions, its bytes.
            if let Err(error) = self.step_connection(id, now_ns) {
                self.fail(id, Failure::of(&error));
            }
            let Some(connection) = self.connections.get_mut(id) else { continue };
            connection.charge(&mut self.budget);
            if connection.wants_list() {
                self.wanting.insert(id);
            }
            match connection.rest() {
                Rest::Quiet => {}
                Rest::UnderWay => {
                    let mark = self.device.mark(connection.owner);
                    self.connections.await_card(id, mark);
                }
                Rest::Due => self.connections.touch(id),
            }
        }
        self.stepped = stepped;
    }
}
