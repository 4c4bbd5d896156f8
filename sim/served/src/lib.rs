//! A simulated card as a device that another process opens: the golden one, or another model.
//!
//! ```text
//!   socket ─► vfio_user::Server ─► ServedCard ─┬─ configuration space
//!                                              ├─ registers ─► Model ─► DMA, interrupts
//!   pages ──► doorbells that the client stores ─┘                 │
//!                         frames in, frames out ──────────────────┘
//! ```
//! When its client is not there, frames are lost, as those of a card that nobody has enabled, and
//! no time passes.
//!
//! Invariants
//! 1. A model reaches the client's memory by bus addresses that the client has mapped, and by no
//!    other.
//! 2. A client that has gone leaves an empty card of a new epoch.
#![forbid(unsafe_code)]

mod card;
mod doorbells;
mod golden_model;
mod model;
mod wire;

use std::path::Path;
use std::time::Duration;

use abi::config::CardConfig;
use abi::registers as r;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use thiserror::Error;
use vfio_user::pci::{ConfigError, CONFIG_BYTES};
pub use vfio_user::Served;
use vfio_user::{Description, Errno, Region, Server, ServerError};

use crate::card::Card;
use crate::doorbells::Doorbells;
pub use crate::golden_model::GoldenModel;
use crate::model::BAR_0;
pub use crate::model::{ClientSide, Model, ORDER_CYCLES, REGION_CONTROL};

/// Why a card cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The socket.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The configuration space contradicts itself.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No memory for doorbell pages.
    #[error("no memory for doorbell pages: {0}")]
    Doorbells(Errno),
}

/// A card and its socket.
pub struct ServedCard<M = GoldenModel> {
    server: Server,
    card: Card<M>,
}

impl ServedCard {
    /// Serves a golden card of a configuration at a socket, all registers by messages.
    pub fn bind(socket: &Path, config: CardConfig) -> Result<Self, ServeError> {
        Self::bind_model(socket, GoldenModel::new(config), false)
    }

    /// The same with doorbell pages that clients map: [`ServedCard::look`] must be called all the
    /// time.
    pub fn bind_mapped(socket: &Path, config: CardConfig) -> Result<Self, ServeError> {
        Self::bind_model(socket, GoldenModel::new(config), true)
    }
}

impl<M: Model> ServedCard<M> {
    /// Serves a card that is another model, with doorbell pages that clients map, or without.
    pub fn bind_model(socket: &Path, model: M, is_mapped: bool) -> Result<Self, ServeError> {
        let card = Card::new(model)?;
        let mut description = Description::pci(CONFIG_BYTES, card.owners() as u32);
        description.regions[BAR_0 as usize] = Region::by_messages(r::BAR_BYTES as u64);
        let control_bytes = card.model.control_bytes();
        if control_bytes > 0 {
            description.regions.push(Region::by_messages(control_bytes));
        }
        let mut card = Self { server: Server::bind(socket, description)?, card };
        if is_mapped {
            card.renew_doorbells()?;
        }
        Ok(card)
    }

    fn renew_doorbells(&mut self) -> Result<(), ServeError> {
        let (doorbells, pages) =
            Doorbells::new(self.card.owners()).map_err(ServeError::Doorbells)?;
        self.card.doorbells = Some(doorbells);
        self.server.set_shared(BAR_0, Some(pages));
        Ok(())
    }

    /// Handles what the client has sent.
    pub fn serve(&mut self) -> Result<Served, ServeError> {
        let served = self.server.serve(&mut self.card)?;
        if served.left.is_some() && self.card.doorbells.is_some() {
            // One that has come in the same call has not asked for the pages yet.
            self.renew_doorbells()?;
        }
        Ok(served)
    }

    /// Looks at the doorbell pages; whether the client has rung.
    pub fn look(&mut self) -> bool {
        let session = self.server.session();
        session.is_some_and(|session| self.card.look(session))
    }

    /// Lets some of the model's own time pass, while a client has the card.
    pub fn run(&mut self) {
        if let Some(session) = self.server.session() {
            self.card.act(session, |model, client| model.run(client));
        }
    }

    /// The model.
    pub fn model(&mut self) -> &mut M {
        &mut self.card.model
    }

    /// Whether doorbells are rung without a message: nobody wakes who sleeps.
    pub fn has_mapped_doorbells(&self) -> bool {
        self.card.doorbells.is_some()
    }

    /// A frame arrives from the wire, without its check sequence. Without a client it is lost.
    pub fn receive(&mut self, bytes: &[u8], is_bad: bool) {
        if let Some(session) = self.server.session() {
            self.card.act(session, |model, client| model.receive(bytes, is_bad, client));
        }
    }

    /// Whether a client has the card.
    pub fn has_client(&mut self) -> bool {
        self.server.session().is_some()
    }

    /// The frames that the card has sent, oldest first.
    pub fn take_sent(&mut self) -> Vec<Vec<u8>> {
        self.card.model.take_sent()
    }

    /// Sleeps until [`ServedCard::serve`] has something to do, or the time is over.
    pub fn wait(&self, limit: Duration) -> Result<(), Errno> {
        let mut sources = [PollFd::new(&self.server, PollFlags::IN)];
        let limit = Timespec::try_from(limit).map_err(|_| Errno::INVAL)?;
        match poll(&mut sources, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
