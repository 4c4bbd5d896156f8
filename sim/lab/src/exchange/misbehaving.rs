//! An application on a shard of its own whose rings stop, or whose queue stays full.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use host::driver::bus::MemoryKind;
use host::driver::rings::RingSizes;
use host::protocol::Protocol;
use host::provider::{ConnectionId, Provider, RegionId, ShardId};
use host::transport::peer::{Script, WirePeer};

use super::plan::LabError;
use crate::golden_card::{GoldenBus, GoldenCard, RingKind, Withheld};

/// What becomes of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Its command ring cannot be read, as if it had freed the memory.
    Commands,
    /// Its send ring cannot be read.
    Sends,
    /// The card takes nothing out of its send ring.
    Full,
}

/// Rounds until it misbehaves: its connection is open, and bytes are under way.
const ROUNDS: u32 = 20;
/// Bytes of a request.
const BYTES: u32 = 50_000;
/// Its send ring is short, to be full soon, log2 of its slots.
const SEND_BITS: u32 = 3;

/// The application. See the head of this file.
pub(super) struct Misbehaving {
    harm: Harm,
    shard: ShardId,
    region: RegionId,
    connection: ConnectionId,
    rounds: u32,
}

impl Misbehaving {
    /// Opens a shard, an application and a connection to a peer at `remote`.
    pub(super) fn open<P: Protocol<Remote = SocketAddr>>(
        harm: Harm,
        provider: &mut Provider<GoldenBus, P>,
        peer: &mut dyn WirePeer,
        remote: SocketAddr,
    ) -> Result<Self, LabError> {
        let script = Script { send_bytes: BYTES.into(), seed: 11, receive_bytes_max: None };
        peer.listen(remote, script)?;
        let rings = RingSizes { send_bits: SEND_BITS, ..RingSizes::default() };
        let shard = provider.open_shard(rings)?;
        let application = provider.open_application(shard)?;
        let bytes = 2 * BYTES as usize;
        let region = provider.register(application, MemoryKind::Application, bytes)?;
        let connection = provider.connect(application, remote)?;
        Ok(Self { harm, shard, region, connection, rounds: 0 })
    }

    /// A round: it posts what it may, and misbehaves when its time has come. What it is told is
    /// its own affair.
    pub(super) fn step<P: Protocol<Remote = SocketAddr>>(
        &mut self,
        provider: &mut Provider<GoldenBus, P>,
        card: &mut Rc<RefCell<GoldenCard>>,
    ) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(ROUNDS / 4) {
            let _ = provider.recv(self.connection, self.region.span(0, BYTES), 1);
            let _ = provider.send(self.connection, self.region.span(BYTES.into(), BYTES), 2);
        }
        if self.rounds == ROUNDS {
            let owner = self.shard.0;
            match self.harm {
                Harm::Commands => card.borrow_mut().make_unreadable(owner, RingKind::Command),
                Harm::Sends => card.borrow_mut().make_unreadable(owner, RingKind::Send),
                Harm::Full => card.borrow_mut().withhold(Some(Withheld::SendsOf(owner))),
            }
        }
    }
}
