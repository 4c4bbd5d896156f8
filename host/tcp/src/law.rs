//! Makes the controller that a configuration names.

use crate::config::Law;
use crate::control::{cubic, dctcp, model, Controller};

/// Makes the controller of a connection (RFC 5681, 3.1), with the initial window of RFC 6928, 2.
pub fn start(law: Law, mss_bytes: u64) -> Box<dyn Controller> {
    match law {
        Law::Cubic => Box::new(cubic::Cubic::new(mss_bytes)),
        Law::Dctcp => Box::new(dctcp::Dctcp::new(mss_bytes)),
        Law::Model => Box::new(model::Model::new(mss_bytes)),
    }
}
