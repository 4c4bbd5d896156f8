//! Our own TCP's controllers; the kernel's TCP where it is asked for and may be had, and what is
//! taken in its place.
//!
//! ```text
//!   auto ── the kernel's ── refused ──► another one, said on standard error
//!   linux ─ the kernel's ── refused ──► an error that says why
//! ```

use anyhow::Result;
use clap::ValueEnum;
use host::transport::TransportError;
use tcp::config::Law;

use crate::shared::options::UsageError;
use crate::shared::output::complain;

/// What the kernel's is called.
pub const LINUX: &str = "Linux kernel TCP";
/// What smoltcp is called.
pub const SMOLTCP: &str = "smoltcp";
/// What our own is called.
pub const OWN: &str = "our own TCP";
/// Port at which a peer of the lab's network listens.
pub const PORT: u16 = 5001;

/// How our own TCP finds its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Controller {
    /// By a model of the path, blind to light loss.
    Model,
    /// CUBIC.
    Cubic,
    /// DCTCP.
    Dctcp,
}

impl Controller {
    /// Its law.
    pub fn law(self) -> Law {
        match self {
            Self::Model => Law::Model,
            Self::Cubic => Law::Cubic,
            Self::Dctcp => Law::Dctcp,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model-based controller",
            Self::Cubic => "CUBIC",
            Self::Dctcp => "DCTCP",
        }
    }
}

/// How much the kernel's TCP is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportChoice {
    /// Where the machine allows it, otherwise the one of this name.
    OrElse(&'static str),
    /// It and no other.
    Only,
}

/// How the complaint ends that is none: another one is taken.
pub fn name_other(other: &str) -> String {
    format!("using {other} instead")
}

/// The kernel's TCP; `None` where it may not be had and another is to be taken.
pub fn kernel<T>(
    wish: TransportChoice,
    open: impl FnOnce() -> Result<T, TransportError>,
) -> Result<Option<T>> {
    match (open(), wish) {
        (Ok(stack), _) => Ok(Some(stack)),
        (Err(error), TransportChoice::OrElse(other)) if error.is_refusal() => {
            complain(&format!("{error}; {}", name_other(other)));
            Ok(None)
        }
        (Err(error), TransportChoice::Only) if error.is_refusal() => {
            Err(UsageError(format!("linux: {error}")).into())
        }
        (Err(error), _) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn refusal() -> Result<(), TransportError> {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        Err(TransportError::NamespaceRefused { step: "unshare", source })
    }

    #[test]
    fn kernel_only_request_gets_its_refusal_reason() {
        assert!(matches!(kernel(TransportChoice::OrElse(SMOLTCP), refusal), Ok(None)));
        assert!(matches!(kernel(TransportChoice::OrElse(SMOLTCP), || Ok(())), Ok(Some(()))));
        assert!(matches!(kernel(TransportChoice::Only, || Ok(())), Ok(Some(()))));
        let error = kernel(TransportChoice::Only, refusal).expect_err("an error");
        let text = error.downcast::<UsageError>().expect("a refusal").0;
        assert!(text.starts_with("linux: network namespace refused: unshare"), "{text}");
    }
}
