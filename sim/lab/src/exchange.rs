//! A card with a driver on one side and a peer on the other, for system tests and the demo.
//!
//! ```text
//!   application ─ Provider ─ Bus ─ card ── wire with faults ──► peer (kernel, smoltcp, our own)
//!                    └ transport       ◄── wire with faults ──
//! ```
//! The application sends random bytes of one seed and receives the peer's of another; both are
//! judged by SHA-256.
//!
//! Time is the card's. An end in this process has it too, by [`Lab::clock`], and the lab skips what
//! is idle (`exchange/quiet.rs`). A kernel has the wall clock. Where card and peer are in another
//! process, [`exchange_with_echo`] is the run.

mod application;
mod far;
mod misbehaving;
mod observer;
mod plan;
mod quiet;
mod scenario;
mod wires;

use std::net::SocketAddr;

use host::clock::ManualClock;
use host::driver::bus::Bus;
use host::protocol::Protocol;
use host::provider::Provider;
use host::transport::peer::{digest_of, Progress, Script, WirePeer};

use self::application::Application;
pub use self::far::{exchange_with_echo, Echo};
pub use self::observer::{Blind, Observer, Side, Status};
pub use self::plan::{Exchange, LabError, Outcome, BUFFER_BYTES};
use self::quiet::Quiet;
pub use self::quiet::{End, Stuck, Waiting};
pub use self::scenario::{Harm, Scenario, ScenarioError};
use self::wires::{give_to_peer, Wires};
use crate::frame::{wire_time_ps, Frame};
use crate::network_side::NetworkSide;
use crate::time::{ADVANCE_CYCLES, USER_CLOCK_PS};
use crate::wire::Wire;

/// Longest frame that a peer may hand out.
const FRAME_BUFFER_BYTES: usize = 65_600;

/// Frames of the peer in one round, at most.
const FRAMES_PER_ROUND: usize = 32;
/// Rounds in which the reason of a reset that the peer has got must be told here.
const RESET_ROUNDS_MAX: u32 = 2_000;
/// How far ahead the wire to the card is filled: two rounds of the simulated bus.
const WIRE_AHEAD_PS: u64 = 2 * ADVANCE_CYCLES * USER_CLOCK_PS;

/// A card, its provider and its peer. See the head of the module.
pub struct Lab<'a, B: Bus, P: Protocol, C: NetworkSide> {
    /// The provider under test.
    pub provider: &'a mut Provider<B, P>,
    /// The card's network side.
    pub card: &'a mut C,
    /// The peer.
    pub peer: &'a mut dyn WirePeer,
    /// The clock of the ends in this process: the lab sets it to the card's time, and skips what
    /// is idle. Without one, whoever observes the run sets the clocks.
    pub clock: Option<ManualClock>,
}

impl<B: Bus, P: Protocol<Remote = SocketAddr>, C: NetworkSide> Lab<'_, B, P, C> {
    /// Connects to the peer at `remote` and moves the bytes of `exchange` each way.
    pub fn run(
        &mut self,
        remote: SocketAddr,
        exchange: &Exchange,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, LabError> {
        let (bytes, seed) = (exchange.bytes, exchange.seed);
        let script = Script { send_bytes: bytes, seed: seed ^ 0x70, receive_bytes_max: None };
        self.peer.listen(remote, script)?;
        let mut application = Application::connect(self.provider, remote, exchange)?;
        let mut wires = Wires {
            to_card: Wire::new(exchange.disturbance, seed ^ 1),
            to_peer: Wire::new(exchange.disturbance, seed ^ 2),
        };
        let is_disturbed = !exchange.disturbance.spares_frames();
        let mut quiet = Quiet::new(self.clock.clone(), self.card.now_ps(), is_disturbed);
        let conversed = self.converse(&mut application, exchange, &mut wires, &mut quiet, observer);
        let is_forgotten = match conversed {
            Err(LabError::Connection(_)) if self.has_all(&application, exchange.bytes) => true,
            conversed => conversed.map(|()| false)?,
        };
        let peer = self.peer.conversations();
        let last = peer.last();
        let peer_received = last.map_or((0, [0; 32]), |c| (c.received_bytes, c.received_digest));
        Ok(Outcome {
            received: (application.received, application.digest()),
            received_expected: digest_of(seed ^ 0x70, bytes),
            sent: peer_received,
            sent_expected: digest_of(seed, bytes),
            simulated: quiet.simulated_time(),
            skipped: quiet.skipped_time(),
            lost: wires.lost_frames(),
            is_forgotten,
        })
    }

    /// Whether both ends have all bytes and the end of the other's stream.
    fn has_all(&self, application: &Application, bytes: u64) -> bool {
        let conversations = self.peer.conversations();
        let of_peer = conversations.last();
        application.has_received(bytes)
            && of_peer
                .is_some_and(|it| it.progress == Progress::Finished && it.received_bytes == bytes)
    }

    fn converse(
        &mut self,
        application: &mut Application,
        exchange: &Exchange,
        wires: &mut Wires,
        quiet: &mut Quiet,
        observer: &mut dyn Observer,
    ) -> Result<(), LabError> {
        let mut reset_rounds = 0;
        loop {
            let mut moved = application.post_sends(self.provider, exchange.bytes)?;
            self.provider.poll()?;
            while let Some(completion) = self.provider.next_completion() {
                moved = true;
                application.take(self.provider, completion, exchange.bytes)?;
            }
            moved |= self.carry(wires, quiet.skipped_ps(), observer)?;
            let status = Status {
                received: application.received,
                sent: application.sent_done,
                lost: wires.lost_frames(),
                skipped: quiet.skipped_time(),
                waiting: quiet.waiting(),
            };
            observer.round(status)?;
            let conversations = self.peer.conversations();
            let of_peer = conversations.last();
            if let Some(Progress::Failed(number)) = of_peer.map(|c| c.progress) {
                // What ended the connection here may be told only when its flow has left the card.
                reset_rounds += 1;
                if reset_rounds > RESET_ROUNDS_MAX {
                    return Err(LabError::PeerConnection(number));
                }
                continue;
            }
            let peer_done = of_peer.is_some_and(|c| c.progress == Progress::Finished);
            if application.is_done(exchange.bytes) && peer_done {
                return Ok(());
            }
            let of_peer = of_peer.map_or((0, 0), |c| (c.received_bytes, c.sent_bytes));
            let progress = [status.received, status.sent, of_peer.0, of_peer.1];
            quiet.round(moved, self.card, progress);
            let stuck = match quiet.is_long() {
                true => self.rest(wires, quiet, observer)?,
                false => quiet.stuck(),
            };
            if let Some(why) = stuck {
                return Err(stuck_at(why, status, exchange.bytes));
            }
        }
    }

    /// Nothing has moved for a while: releases what the wire holds back, or goes on to the next
    /// timer. Returns whether there is none.
    fn rest(
        &mut self,
        wires: &mut Wires,
        quiet: &mut Quiet,
        observer: &mut dyn Observer,
    ) -> Result<Option<Stuck>, LabError> {
        if wires.flush(self.card, self.peer, observer)? {
            quiet.end();
            return Ok(None);
        }
        let protocol = self.provider.deadline();
        Ok(quiet.skip(protocol, self.peer.next_timer()))
    }

    /// Moves the frames on the wire; their times include the skipped time. Returns whether there
    /// were any.
    fn carry(
        &mut self,
        wires: &mut Wires,
        skipped_ps: u64,
        observer: &mut dyn Observer,
    ) -> Result<bool, LabError> {
        let mut moved = false;
        let mut sent = Vec::new();
        self.card.take_sent(&mut sent);
        let mut arrived = Vec::new();
        for mut frame in sent {
            moved = true;
            frame.time_ps += skipped_ps;
            wires.to_peer.carry(frame, &mut arrived);
        }
        give_to_peer(self.peer, arrived, observer)?;
        let mut buffer = vec![0; FRAME_BUFFER_BYTES];
        let mut arrived = Vec::new();
        // The wire must not run dry before the next round, nor hold more than the peer's own queue
        // would.
        for _ in 0..FRAMES_PER_ROUND {
            let busy_ps = self.card.wire_busy_ps();
            if busy_ps > WIRE_AHEAD_PS {
                break;
            }
            let Some(length) = self.peer.poll_frame(&mut buffer)? else { break };
            moved = true;
            let mut frame = Frame::padded(&buffer[..length]);
            let wire_ps = wire_time_ps(frame.bytes.len());
            frame.time_ps = skipped_ps + self.card.now_ps() + busy_ps + wire_ps;
            wires.to_card.carry(frame, &mut arrived);
            for frame in arrived.drain(..) {
                observer.frame(Side::ToCard, &frame);
                self.card.receive(frame);
            }
        }
        Ok(moved)
    }
}

fn stuck_at(why: Stuck, status: Status, bytes: u64) -> LabError {
    let Status { received, sent, lost, waiting, .. } = status;
    LabError::Stuck { why, received, sent, lost, bytes, waiting }
}
