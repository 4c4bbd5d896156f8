//! `zeronic demo`: a TCP peer, a card, an application, and a verdict.
//!
//! ```text
//!   --bus sim ───────────────► simulated: the card, RTL or model, and a peer in this process
//!   --bus vfio-user:SOCKET ──► far: the card and its peer in another process
//!   --bus vfio:0000:01:00.0 ─► far: a card in a slot, and whoever echoes at its wire
//! ```

mod arguments;
mod card;
mod ends;
mod far;
mod outputs;
mod report;
mod simulated;
mod stacks;
mod watcher;

use anyhow::Result;
use host::transport::IPV6_MTU_BYTES_MIN;

pub use self::arguments::DemoArguments;
use self::outputs::Outputs;
use crate::shared::bus::BusName;
use crate::shared::options::UsageError;

/// Runs the demo. True when every byte is right and every packet is accounted for.
pub fn run(arguments: &DemoArguments) -> Result<bool> {
    if arguments.ipv6 && arguments.mtu < IPV6_MTU_BYTES_MIN {
        let mtu = arguments.mtu;
        let message =
            format!("--mtu {mtu}: IPv6 needs a link of at least {IPV6_MTU_BYTES_MIN} bytes");
        return Err(UsageError(message).into());
    }
    if arguments.bus != BusName::Sim {
        far::check(arguments)?;
    }
    arguments.model.with_wave(arguments.wave.is_some())?;
    // Before anything is said of the transport.
    let outputs = Outputs::prepare(arguments)?;
    match &arguments.bus {
        BusName::Sim => simulated::run(arguments, outputs),
        BusName::Card(name) => far::run(arguments, outputs, name),
    }
}
