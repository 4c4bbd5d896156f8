//! A run whose card, wire and peer are in another process, or are real: all in their own time.
//!
//! ```text
//!   application ─ Provider ─ Bus ══► card ─ wire ─► a peer that sends back what it receives
//! ```
//! The peer knows nothing of the run. The application sends random bytes of a seed, receives them
//! again, and judges them by SHA-256: each byte has gone through the card both ways.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use host::driver::bus::Bus;
use host::protocol::Protocol;
use host::provider::Provider;
use host::transport::patience::Patience;
use host::transport::peer::digest_of;

use super::application::Application;
use super::observer::{Observer, Status};
use super::plan::{Exchange, LabError};
use super::quiet::Stuck;

/// Time in which nothing moves before the host sleeps.
const SPIN: Duration = Duration::from_micros(500);
/// Longest sleep: the timers of some protocols are not known outside.
const SLEEP: Duration = Duration::from_millis(1);

/// What has come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Bytes, and their digest.
    pub received: (u64, [u8; 32]),
    /// Digest of what was sent.
    pub expected: [u8; 32],
    /// Wall time from the call that connects to the end of the stream.
    pub elapsed: Duration,
}

impl Echo {
    /// Every byte came back, once, in order.
    pub fn is_exact(&self) -> bool {
        self.received.1 == self.expected
    }
}

/// Connects to a peer at `remote` that sends back what it receives, and moves the bytes of
/// `exchange`, whose wire is none of ours.
pub fn exchange_with_echo<B: Bus, P: Protocol<Remote = SocketAddr>>(
    provider: &mut Provider<B, P>,
    remote: SocketAddr,
    exchange: &Exchange,
    observer: &mut dyn Observer,
) -> Result<Echo, LabError> {
    let bytes = exchange.bytes;
    let begun = Instant::now();
    let mut application = Application::connect(provider, remote, exchange)?;
    let mut patience = Patience::new([0; 2]);
    let mut busy = begun;
    loop {
        let mut moved = application.post_sends(provider, bytes)?;
        moved |= provider.poll()?;
        while let Some(completion) = provider.next_completion() {
            moved = true;
            application.take(provider, completion, bytes)?;
        }
        let (received, sent) = (application.received, application.sent_done);
        let (lost, skipped, waiting) = (0, Duration::ZERO, None);
        observer.round(Status { received, sent, lost, skipped, waiting })?;
        if application.is_done(bytes) {
            break;
        }
        if patience.is_over([received, sent]) {
            let why = Stuck::WallTime;
            return Err(LabError::Stuck { why, received, sent, lost, bytes, waiting });
        }
        if moved {
            busy = Instant::now();
        } else if busy.elapsed() < SPIN {
            std::thread::yield_now();
        } else {
            provider.wait(SLEEP)?;
        }
    }
    let (received, elapsed) = (application.received, begun.elapsed());
    let received = (received, application.digest());
    Ok(Echo { received, expected: digest_of(exchange.seed, bytes), elapsed })
}
