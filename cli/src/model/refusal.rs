//! Wrong inputs: exit status 2, one line.

use model::error::ModelError;

use crate::shared::options::UsageError;

/// What the model refuses is a wrong input.
pub fn refused(error: ModelError) -> anyhow::Error {
    UsageError(error.to_string()).into()
}
