//! What a connection waits for after a step.
//!
//! ```text
//!   receive side, send side ── the later of both ──┐
//!   phase, end, requests to end ───────────────────┴─► quiet, commands under way, or a step is due
//! ```

use super::{Connection, Ending, Phase};
use crate::control::rest::Rest;

impl Connection {
    /// What the connection waits for. If for nothing, it also finds what the next packet may say
    /// without a step.
    pub fn rest(&mut self) -> Rest {
        let rest = self.waits_for();
        let is_quiet = rest == Rest::Quiet;
        if let (Some(receive), Some(send)) = (&mut self.receive, &self.send) {
            receive.set_quiet(is_quiet && !self.end_taken);
            self.quiet_to = match is_quiet && self.asked == Ending::Open {
                true => send.quiet_to(),
                false => 0,
            };
        }
        rest
    }

    /// Whether everything requested is posted, and confirmed.
    pub fn is_posted(&self) -> bool {
        let receive = self.receive.as_ref().map(|side| &side.queue);
        let send = self.send.as_ref().map(|side| &side.queue);
        let mut queues = [receive, send].into_iter().flatten();
        self.phase == Phase::Installed
            && queues.all(|queue| queue.waiting() == 0 && queue.is_confirmed())
    }

    fn waits_for(&self) -> Rest {
        let (Some(receive), Some(send)) = (&self.receive, &self.send) else {
            return match self.is_open || self.asked == Ending::Close {
                true => Rest::Due,
                false => Rest::Quiet,
            };
        };
        let ends = match self.asked {
            Ending::Open => false,
            Ending::Finish => !self.finished,
            Ending::Close => true,
        };
        let reports = self.end_taken && !self.end_reported;
        let has_more = ends || reports || self.acceptance_stale || self.ended.is_some();
        match self.phase {
            Phase::Installing(_) | Phase::Removing(_) => Rest::UnderWay,
            Phase::Installed if !has_more => receive.rest(self.end_taken).max(send.rest()),
            Phase::Opening | Phase::Installed => Rest::Due,
        }
    }
}
