//! Which exit status a failure has, in every command.
//!
//! ```text
//!   error ─► a status of its own (build, device, flash) ─► that one
//!        ├─► the card, the host stack or what is measured did what it must not do ─► 1
//!        ├─► standard output was closed ─► 141
//!        └─► all else: command line, files, disk, tools, system ─► 2
//! ```
//! A full disk is no fault of the card: whoever repeats the run elsewhere may find it right.

use host::driver::bus::BusError;
use host::driver::error::DriverError;
use host::error::HostError;
use lab::exchange::LabError;
use measure::connections::ConnectionsError;
use measure::cpu::error::{CpuError, JoinedError};
use measure::error::MeasureError;
use measure::host::error::{RigError, StackError};
use measure::loss::LossError;
use measure::speed::socket::SocketError;
use thiserror::Error;

use crate::shared::options::StatusError;
use crate::shared::output::OutputClosed;

/// Something is wrong: a check has failed, or it does not go on.
const WRONG: u8 = 1;
/// The run cannot be made.
const CANNOT: u8 = 2;
/// Standard output is closed: as a shell reports a program ended by SIGPIPE.
const CLOSED: u8 = 128 + 13;

/// Said below the options of every command that has no statuses of its own.
pub const STATUSES: &str = "\
Exit status:
  0    done, and all that was checked is right
  1    something is wrong: a check failed, the card or the host stack stopped or broke a rule
  2    the run cannot be made: command line, input, a file that cannot be read or written, a full
       disk, a tool or a right that is missing
  141  nobody reads standard output any more";

/// The card did what it must not do.
#[derive(Debug, Error)]
#[error("the card is wrong: {0}")]
pub struct CardFault(pub String);

/// What was measured is wrong.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// That what was measured is wrong.
pub fn wrong(text: impl Into<String>) -> anyhow::Error {
    Wrong(text.into()).into()
}

/// The exit status of an error.
pub fn status(error: &anyhow::Error) -> u8 {
    if let Some(own) = error.downcast_ref::<StatusError>() {
        return own.status;
    }
    if error.is::<OutputClosed>() {
        return CLOSED;
    }
    match error.is::<CardFault>() || error.is::<Wrong>() || error.chain().any(is_wrong) {
        true => WRONG,
        false => CANNOT,
    }
}

/// Whether a cause says that something did what it must not do.
fn is_wrong(cause: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = cause.downcast_ref() {
        return is_of_card(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return breaks_contract(error);
    }
    // What a run of host and card ends with is theirs, but for what the system has refused.
    if let Some(error) = cause.downcast_ref() {
        return is_of_lab(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return match error {
            SocketError::Lab(error) => is_of_lab(error),
            SocketError::Host(error) | SocketError::Refused(error) => is_of_card(error),
            SocketError::Build(_) | SocketError::Bus(_) => false,
        };
    }
    if let Some(error) = cause.downcast_ref() {
        return matches!(error, LossError::NoLoss | LossError::RulesBroken(_));
    }
    if let Some(error) = cause.downcast_ref() {
        return match error {
            MeasureError::Host(error) => !is_of_system(error),
            other => matches!(other, MeasureError::Stuck(_)),
        };
    }
    if let Some(error) = cause.downcast_ref() {
        return is_of_cpu(error);
    }
    if let Some(error) = cause.downcast_ref() {
        return match error {
            StackError::Rig(error) => is_of_rig(error),
            other => matches!(other, StackError::CardPanicked),
        };
    }
    match cause.downcast_ref() {
        Some(ConnectionsError::Host(error)) => !is_of_system(error),
        other => other.is_some(),
    }
}

/// Whether an exchange has stopped by what it must not do.
fn is_of_lab(error: &LabError) -> bool {
    match error {
        LabError::Host(error) => !is_of_system(error),
        LabError::Peer(_) | LabError::Stopped(_) => false,
        _ => true,
    }
}

/// Whether a measurement of CPU time has stopped by what must not happen.
fn is_of_cpu(error: &CpuError) -> bool {
    match error {
        CpuError::Rig(error) => is_of_rig(error),
        CpuError::Joined(JoinedError::Host(error)) => !is_of_system(error),
        CpuError::Joined(other) => !matches!(other, JoinedError::Transport(_)),
        CpuError::WrongSum { .. }
        | CpuError::SenderPanicked
        | CpuError::CardPanicked
        | CpuError::NothingMoved => true,
        _ => false,
    }
}

/// Whether a rig of the null card has stopped by what it must not do.
fn is_of_rig(error: &RigError) -> bool {
    match error {
        RigError::Host(error) => !is_of_system(error),
        _ => true,
    }
}

/// Whether an error of the host stack is that of the system below it.
fn is_of_system(error: &HostError) -> bool {
    matches!(
        error,
        HostError::Transport(_)
            | HostError::Memory(_)
            | HostError::Driver(DriverError::Bus(BusError::NoMemory { .. }))
    )
}

/// Whether an error of the host stack is one of the card.
fn is_of_card(error: &HostError) -> bool {
    matches!(error, HostError::Driver(error) if breaks_contract(error))
}

/// Whether an error of the driver says that the card broke its contract.
fn breaks_contract(error: &DriverError) -> bool {
    matches!(
        error,
        DriverError::NotACard(_)
            | DriverError::GoldenImage
            | DriverError::ResetTimeout(_)
            | DriverError::EpochLost { .. }
            | DriverError::RingStopped { .. }
            | DriverError::WriteRefused { .. }
            | DriverError::BadEntry { .. }
            | DriverError::BadRun { .. }
            | DriverError::CommandRefused { .. }
            | DriverError::Bus(BusError::NoAnswer(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::options::UsageError;
    use anyhow::Context;
    use host::error::table::TableError;
    use host::transport::TransportError;
    use lab::exchange::Stuck;

    #[test]
    fn only_the_cards_acts_are_its_fault() {
        let stuck = CardFault("it is stuck".to_owned());
        assert_eq!(status(&anyhow::Error::from(stuck).context("frame 3")), 1);
        let stopped = || HostError::Driver(DriverError::RingStopped { owner: 0, ring: "send" });
        assert_eq!(status(&anyhow::Error::from(stopped()).context("frame 3")), 1);
        assert_eq!(status(&LabError::Host(stopped()).into()), 1);
        assert_eq!(status(&MeasureError::Host(stopped()).into()), 1);
        assert_eq!(status(&HostError::Table(TableError::NoKeySlot { slots: 8 }).into()), 2);
        assert_eq!(status(&Wrong("the sums differ".to_owned()).into()), 1);
    }

    /// One kind of failure, whichever command meets it.
    #[test]
    fn environment_errors_share_one_status() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let here = anyhow::Error::from(full).context("file x");
        assert_eq!(status(&here), 2);
        assert_eq!(status(&UsageError("--loss 2".to_owned()).into()), 2);
        assert_eq!(status(&LabError::Stopped("capture x: No space left".to_owned()).into()), 2);
        let refused = TransportError::NamespaceRefused {
            step: "unshare",
            source: std::io::ErrorKind::PermissionDenied.into(),
        };
        assert_eq!(status(&LabError::Peer(refused).into()), 2);
        assert_eq!(status(&std::fs::read("/nowhere").context("file x").unwrap_err()), 2);
    }

    #[test]
    fn stalled_run_is_wrong() {
        let why = Stuck::Forever;
        let lab = LabError::Stuck { why, received: 0, sent: 0, lost: 0, bytes: 1, waiting: None };
        assert_eq!(status(&anyhow::Error::from(lab).context("1 rules broken")), 1);
        assert_eq!(status(&MeasureError::Stuck("receive").into()), 1);
        assert_eq!(status(&CpuError::from(JoinedError::Stuck { bytes: 5 }).into()), 1);
    }

    #[test]
    fn own_statuses_and_closed_pipe_stay() {
        assert_eq!(status(&OutputClosed.into()), 141);
        let own = StatusError { status: 7, text: "verify failed".to_owned() };
        assert_eq!(status(&own.into()), 7);
    }
}
