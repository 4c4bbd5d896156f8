//! What a request may be told beside what it needs. The default is what the short form of a call
//! does, and a field that is added later has one.

/// How a receive completes: [`super::Provider::recv_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// As soon as some bytes have arrived and no more are in progress, not only when the buffer is
    /// full.
    pub partial: bool,
}
