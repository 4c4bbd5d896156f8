//! What a machine that forbids namespaces is told.

use host::transport::TransportError;

use crate::shared::options::UsageError;

/// An error of the kernel's side; a usage error where this machine forbids namespaces.
pub fn refusal_error(error: TransportError) -> anyhow::Error {
    match error.is_refusal() {
        true => {
            UsageError(format!("bench cpu: the kernel's TCP needs network namespaces: {error}"))
                .into()
        }
        false => error.into(),
    }
}
