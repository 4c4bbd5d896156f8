//! Whose fault an error is: the card's (exit status 1), or that of what it was given (2).

use host::driver::bus::BusError;
use host::driver::error::HostError;
use thiserror::Error;

use crate::options::UsageError;
use crate::output::OutputClosed;

/// The card did what it must not do.
#[derive(Debug, Error)]
#[error("the card is wrong: {0}")]
pub struct CardFault(pub String);

/// Makes every error that is not the card's one of use.
pub fn sorted(error: anyhow::Error) -> anyhow::Error {
    let causes = || error.chain().filter_map(|cause| cause.downcast_ref());
    let of_card = error.is::<CardFault>() || causes().any(is_of_card);
    if of_card || error.is::<OutputClosed>() || error.is::<UsageError>() {
        return error;
    }
    UsageError(format!("{error:#}")).into()
}

/// Whether an error of the driver says that the card broke its contract.
fn is_of_card(error: &HostError) -> bool {
    matches!(
        error,
        HostError::NotACard(_)
            | HostError::GoldenImage
            | HostError::ResetTimeout(_)
            | HostError::EpochLost { .. }
            | HostError::RingStopped { .. }
            | HostError::WriteRefused { .. }
            | HostError::BadEntry { .. }
            | HostError::CommandRefused { .. }
            | HostError::Bus(BusError::NoAnswer(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    fn is_usage(error: anyhow::Error) -> bool {
        sorted(error).is::<UsageError>()
    }

    #[test]
    fn what_the_card_did_is_its_fault_and_all_else_is_not() {
        let stuck = CardFault("it is stuck".to_owned());
        assert!(!is_usage(anyhow::Error::from(stuck).context("frame 3")));
        let stopped = HostError::RingStopped { owner: 0, ring: "send" };
        assert!(!is_usage(anyhow::Error::from(stopped).context("frame 3")));
        assert!(!is_usage(OutputClosed.into()));
        let full = std::fs::read("/nowhere").context("file x").unwrap_err();
        let text = sorted(full).to_string();
        assert!(text.starts_with("file x: "), "{text}");
        let keys = HostError::NoKeySlot { slots: 8 };
        assert!(is_usage(keys.into()));
    }
}
