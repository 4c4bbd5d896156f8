//! The TCPs of a demo's two ends: the one that is asked for, or the one that this machine allows.
//!
//! ```text
//!   auto ── the kernel's ── refused ──► our own
//!   linux ─ the kernel's ── refused ──► an error that says why
//! ```

use anyhow::Result;
use clap::ValueEnum;
use host::clock::Clock;
use host::tcp::TcpProtocol;
use host::transport::peer::{KernelPeer, SmoltcpPeer, TcpPeer, WirePeer};
use host::transport::{LinkConfig, LinuxTransport, SmoltcpTransport, Transport, TransportError};
use tcp::{Config, Secret};

use crate::shared::stack::{self, Controller, TransportChoice, LINUX, OWN, SMOLTCP};

/// Which TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stack {
    /// The kernel's where the machine allows it, otherwise our own.
    Auto,
    /// The Linux kernel's, in a network namespace of its own.
    Linux,
    /// smoltcp, in this process.
    Smoltcp,
    /// Our own, made for headers only, in this process.
    Tcp,
}

/// A transport, and its name.
pub enum ChosenStack {
    /// The kernel's.
    Kernel(Box<dyn Transport>, &'static str),
    /// smoltcp.
    Smoltcp(Box<dyn Transport>, &'static str),
    /// Our own.
    Own(Box<TcpProtocol>, String),
}

/// A peer.
pub struct Peer {
    /// What it is called.
    pub name: String,
    /// Whether its timers run by the demo's clock.
    pub is_skipping: bool,
    /// The peer.
    pub it: Box<dyn WirePeer>,
}

/// What is asked for.
pub struct Stacks {
    pub transport: Stack,
    pub peer: Stack,
    pub controller: Controller,
    /// Of our own TCP.
    pub secret: Secret,
    pub clock: Clock,
}

impl Stacks {
    /// The transport of this end, on its link.
    pub fn transport(&self, link: &LinkConfig) -> Result<ChosenStack> {
        Ok(match kernel(self.transport, || LinuxTransport::open(link))? {
            Ok(linux) => ChosenStack::Kernel(Box::new(linux), LINUX),
            Err(Instead::Smoltcp) => {
                let smoltcp = SmoltcpTransport::open(link, self.clock.clone())?;
                ChosenStack::Smoltcp(Box::new(smoltcp), SMOLTCP)
            }
            Err(Instead::Own) => ChosenStack::Own(Box::new(self.own_tcp(link, 0)), self.own_name()),
        })
    }

    /// The peer, on its link.
    pub fn peer(&self, link: &LinkConfig) -> Result<Peer> {
        let clock = self.clock.clone();
        let (it, name): (Box<dyn WirePeer>, _) = match kernel(self.peer, || KernelPeer::open(link))?
        {
            Ok(linux) => {
                return Ok(Peer { name: LINUX.into(), is_skipping: false, it: Box::new(linux) })
            }
            Err(Instead::Smoltcp) => (Box::new(SmoltcpPeer::open(link, clock)?), SMOLTCP.into()),
            Err(Instead::Own) => {
                (Box::new(TcpPeer::new(self.own_tcp(link, 1), link, clock)), self.own_name())
            }
        };
        Ok(Peer { name, is_skipping: true, it })
    }

    /// Our own TCP for a wire of one's own, at one of its two ends.
    fn own_tcp(&self, link: &LinkConfig, end: u8) -> TcpProtocol {
        let config = Config { law: self.controller.law(), ..Config::private_wire() };
        let mut secret = self.secret.0;
        secret[31] ^= end;
        TcpProtocol::new(link, config, Secret(secret))
    }

    fn own_name(&self) -> String {
        format!("{OWN}, {}", self.controller.name())
    }
}

/// What is taken where it is not the kernel's.
enum Instead {
    Smoltcp,
    Own,
}

/// The kernel's TCP if it is asked for and may be had; what is taken instead; or an error.
fn kernel<T>(
    wish: Stack,
    open: impl FnOnce() -> Result<T, TransportError>,
) -> Result<Result<T, Instead>> {
    let wish = match wish {
        Stack::Smoltcp => return Ok(Err(Instead::Smoltcp)),
        Stack::Tcp => return Ok(Err(Instead::Own)),
        Stack::Auto => TransportChoice::OrElse(OWN),
        Stack::Linux => TransportChoice::Only,
    };
    Ok(stack::kernel(wish, open)?.ok_or(Instead::Own))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::shared::options::UsageError;

    fn refusal() -> Result<(), TransportError> {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        Err(TransportError::NamespaceRefused { step: "unshare", source })
    }

    /// Where the kernel's may not be had, `auto` is our own, and whoever names it is told why not.
    #[test]
    fn missing_kernel_rights_give_own_or_reason() {
        assert!(matches!(kernel(Stack::Auto, refusal), Ok(Err(Instead::Own))));
        assert!(matches!(kernel(Stack::Tcp, refusal), Ok(Err(Instead::Own))));
        assert!(matches!(kernel(Stack::Smoltcp, refusal), Ok(Err(Instead::Smoltcp))));
        assert!(matches!(kernel(Stack::Auto, || Ok(())), Ok(Ok(()))));
        let error = kernel(Stack::Linux, refusal).err().expect("an error");
        let text = error.downcast::<UsageError>().expect("a refusal").0;
        assert!(text.starts_with("linux: network namespace refused: unshare"), "{text}");
    }
}
