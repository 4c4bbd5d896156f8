//! Opens the transport that this machine allows.

use super::{LinkConfig, LinuxTransport, Result, SmoltcpTransport, Transport, TransportError};
use crate::clock::Clock;

/// Opens the kernel transport, or smoltcp with `clock` where this machine refuses it. Also returns
/// the refusal. Any other error is returned as such.
pub fn open(
    link: &LinkConfig,
    clock: Clock,
) -> Result<(Box<dyn Transport>, Option<TransportError>)> {
    match LinuxTransport::open(link) {
        Ok(transport) => Ok((Box::new(transport), None)),
        Err(refusal) if refusal.is_refusal() => {
            Ok((Box::new(SmoltcpTransport::open(link, clock)?), Some(refusal)))
        }
        Err(error) => Err(error),
    }
}
