//! The host's crate on a card: provider, transports, messages, a card in another process.

mod idle;
mod messages;
mod protocol;
mod provider;
mod served;
