//! Error numbers of failed connections, as Linux has them.
//!
//! ```text
//!   HostError, SendError ─► number ─► Completion::Failed
//! ```

use abi::reason::SendError;

use crate::driver::error::HostError;

/// The number of an error that ends a connection.
pub(super) fn of(error: &HostError) -> i32 {
    match error {
        HostError::Transport(error) => error.errno(),
        HostError::UnknownRegion(_) => libc::EFAULT,
        HostError::Mapping { .. } => libc::EFAULT,
        HostError::NoBounce { .. } => libc::ENOBUFS,
        HostError::HandshakeForgotten(_) => libc::ENOBUFS,
        _ => libc::EIO,
    }
}

/// The number of a failed send. The card names a code that this library may not know.
pub(super) fn of_send(error: Option<SendError>) -> i32 {
    match error {
        Some(SendError::SendRegionRefused) => libc::EFAULT,
        Some(SendError::LinkDown) => libc::ENETDOWN,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{StreamId, TransportError};
    use std::io;

    #[test]
    fn a_failure_has_the_number_of_its_cause() {
        let stream = |number| TransportError::Stream {
            stream: StreamId(1),
            source: io::Error::from_raw_os_error(number),
        };
        for number in [libc::ECONNRESET, libc::ETIMEDOUT, libc::ECONNREFUSED] {
            assert_eq!(of(&stream(number).into()), number);
        }
        let (call, asked, taken) = ("feed", 1, 2);
        let broken = TransportError::TookTooMuch { call, asked, taken };
        assert_eq!(of(&broken.into()), libc::EPROTO);
        assert_eq!(of(&HostError::UnknownRegion(3)), libc::EFAULT);
        let owner = 1;
        let (bytes, why) = (1 << 21, String::new());
        let no_bounce = HostError::NoBounce { owner, bytes, why };
        assert_eq!(of(&no_bounce), libc::ENOBUFS);
        let ring = "send";
        assert_eq!(of(&HostError::RingStopped { owner, ring }), libc::EIO);
        let region = Some(SendError::SendRegionRefused);
        assert_eq!(of_send(region), libc::EFAULT);
        assert_eq!(of_send(Some(SendError::SendBadFlow)), libc::EIO);
        assert_eq!(of_send(None), libc::EIO);
    }
}
