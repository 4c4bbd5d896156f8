//! Bytes drained from the TCP and fed to it, and the events that follow from it.
//!
//! ```text
//!   touched ─► drain up to granted ─► feed up to offered ─► status ─► events ─┬─► at rest
//!      ▲                                                                      │
//!      └──────── unacknowledged bytes: a kernel works in its own time ────────┘
//! ```

use super::flow::Flow;
use super::{within, Observed};
use crate::error::Result;
use crate::failure::Failure;
use crate::protocol::{FlowIndex, ProtocolEvent};
use crate::transport::{
    self, Drained, Event, StreamState, StreamStatus, Transport, TransportError,
};

impl<T: Transport> Observed<T> {
    pub(super) fn take_transport_events(&mut self) -> Result<()> {
        while let Some(event) = self.transport.poll_event()? {
            match event {
                Event::Stream(stream) => {
                    if let Some(&index) = self.streams.get(&stream) {
                        self.touch(index);
                    }
                }
                // It has ended a wait; the application asks by accepting.
                Event::Incoming(_) => {}
            }
        }
        Ok(())
    }

    pub(super) fn step_touched(&mut self) -> Result<()> {
        // In the order of the flows, so that a run follows from its seed.
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        for &index in &touched {
            let place = self.flows.get_mut(usize::from(index.0));
            let Some(flow) = place.and_then(Option::as_deref_mut) else { continue };
            flow.is_touched = false;
            let mut step = Step { index, transport: &mut self.transport, events: &mut self.events };
            let is_at_rest = match step.run(flow) {
                Ok(is_at_rest) => is_at_rest,
                Err(error) => {
                    let why = error.to_string();
                    step.report_end(flow, Failure::protocol(error.errno(), why), flow.accepted);
                    true
                }
            };
            if !is_at_rest {
                self.touch(index);
            }
        }
        touched.clear();
        touched.append(&mut self.touched);
        self.touched = touched;
        Ok(())
    }
}

/// A step of one connection.
struct Step<'a, T> {
    index: FlowIndex,
    transport: &'a mut T,
    events: &'a mut std::collections::VecDeque<ProtocolEvent>,
}

impl<T: Transport> Step<'_, T> {
    /// Returns whether the connection is at rest: until something touches it, a step would change
    /// nothing.
    fn run(&mut self, flow: &mut Flow) -> transport::Result<bool> {
        if !flow.is_installed {
            return self.open(flow);
        }
        let is_ended = self.drain(flow)?;
        self.feed(flow)?;
        let status = self.transport.status(flow.stream)?;
        if status.state != StreamState::Connecting {
            let acknowledged = flow.fed.saturating_sub(status.unacknowledged_bytes);
            if acknowledged > flow.acknowledged {
                flow.acknowledged = acknowledged;
                let (flow, to) = (self.index, acknowledged);
                self.events.push_back(ProtocolEvent::Acknowledged { flow, to });
            }
        }
        if (is_ended || status.end_of_stream) && !std::mem::replace(&mut flow.end_seen, true) {
            self.events.push_back(ProtocolEvent::EndOfStream(self.index));
        }
        self.report_failure(flow, &status);
        // What is not acknowledged may be acknowledged by a packet whose header the TCP is still
        // working on.
        let is_fed = flow.fed == flow.offered && flow.acknowledged == flow.fed;
        Ok(is_fed && flow.finish_asked == flow.finished && flow.ended.is_none())
    }

    /// A connection that is not installed yet: open, or failed.
    fn open(&mut self, flow: &mut Flow) -> transport::Result<bool> {
        let status = self.transport.status(flow.stream)?;
        match status.state {
            StreamState::Connecting => {}
            StreamState::Open => {
                if !std::mem::replace(&mut flow.is_open, true) {
                    self.events.push_back(ProtocolEvent::Opened(self.index));
                }
            }
            StreamState::Closed => {
                let (errno, why) = match status.error {
                    Some(errno) => (errno, error_text(errno)),
                    None => (libc::ECONNABORTED, "closed before it was open".to_owned()),
                };
                self.report_end(flow, Failure::protocol(errno, why), 0);
            }
        }
        Ok(true)
    }

    /// Drains what there is memory for. Returns whether the receiving half has ended.
    fn drain(&mut self, flow: &mut Flow) -> transport::Result<bool> {
        let wanted = flow.granted.saturating_sub(flow.accepted);
        if wanted == 0 {
            return Ok(false);
        }
        let drained = match self.transport.drain(flow.stream, wanted) {
            // The status reports the error as well, and bytes drained before are still delivered.
            Err(TransportError::Stream { .. }) => Drained { bytes: 0, end_of_stream: false },
            other => other?,
        };
        let bytes = within("drain", wanted, drained.bytes)?;
        if bytes > 0 {
            flow.accepted += bytes;
            let (index, to) = (self.index, flow.accepted);
            self.events.push_back(ProtocolEvent::Accepted { flow: index, to });
        }
        Ok(drained.end_of_stream)
    }

    /// Feeds what was offered, and after all of it the end of the sending half.
    fn feed(&mut self, flow: &mut Flow) -> transport::Result<()> {
        let feedable = flow.offered - flow.fed;
        if feedable > 0 {
            let fed = match self.transport.feed(flow.stream, feedable) {
                Err(TransportError::Stream { .. }) => 0,
                other => other?,
            };
            flow.fed += within("feed", feedable, fed)?;
        }
        if flow.finish_asked && !flow.finished && flow.fed == flow.offered {
            self.transport.finish(flow.stream)?;
            flow.finished = true;
        }
        Ok(())
    }

    /// A connection that ended with bytes unacknowledged has failed, whatever its TCP says.
    fn report_failure(&mut self, flow: &mut Flow, status: &StreamStatus) {
        let is_cut = status.state == StreamState::Closed && status.unacknowledged_bytes > 0;
        let errno = match status.error {
            Some(errno) => errno,
            None if is_cut => libc::ECONNABORTED,
            None => return,
        };
        let accepted_to = flow.accepted + status.readable_bytes;
        let reason = format!("stream {}: {}", flow.stream.0, error_text(errno));
        self.report_end(flow, Failure::protocol(errno, reason), accepted_to);
    }

    fn report_end(&mut self, flow: &mut Flow, reason: Failure, accepted_to: u64) {
        let errno = reason.errno();
        if flow.ended.replace((errno, accepted_to)) != Some((errno, accepted_to)) {
            self.events.push_back(ProtocolEvent::Ended { flow: self.index, reason, accepted_to });
        }
    }
}

fn error_text(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}
