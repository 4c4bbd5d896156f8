//! The clients of the requester: what they write and read, and the sources and sinks of that.
//!
//! ```text
//!   write jobs, data ─► WRITERS ─┐
//!                                ├─► Requester
//!   read jobs ─► READERS ─► answers
//! ```

use verilate::verilated::Model;

use crate::harness::agent::Agent;
use crate::harness::monitor::StreamMonitor;
use crate::harness::sink::PacketSink;
use crate::harness::source::{MessageSource, PacketSource};
use crate::harness::stall::Stall;

/// Names of the write clients.
pub const WRITERS: [&str; 3] = ["receive", "completion", "interrupt"];
/// Names of the read clients.
pub const READERS: [&str; 4] = ["command", "send_ring", "payload", "flush"];

/// A write job and its bytes.
#[derive(Clone, Debug)]
pub struct Write {
    /// Which of [`WRITERS`].
    pub client: usize,
    /// Bus address.
    pub address: u64,
    /// Data to write.
    pub bytes: Vec<u8>,
    /// Relaxed ordering.
    pub relaxed: bool,
}

/// A read job.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Which of [`READERS`].
    pub client: usize,
    /// Bus address.
    pub address: u64,
    /// Number of bytes.
    pub bytes: usize,
}

/// Sources and sinks of all clients.
pub struct Clients {
    /// Write jobs of each of [`WRITERS`].
    pub write_jobs: Vec<MessageSource>,
    /// Data of the write jobs.
    pub write_data: Vec<PacketSource>,
    /// Read jobs of each of [`READERS`].
    pub read_jobs: Vec<MessageSource>,
    /// Read data of each of [`READERS`].
    pub answers: Vec<PacketSink>,
    /// Monitors of the write jobs.
    pub jobs: Vec<StreamMonitor>,
    monitors: Vec<StreamMonitor>,
}

impl Clients {
    pub(super) fn new(model: &Model, source: Stall, sink: Stall, seed: u64) -> Clients {
        let job = |name: &&str| MessageSource::new(model, &format!("{name}_job"), source, seed);
        let data = |name: &&str| {
            PacketSource::new(model, &format!("{name}_data"), source, seed.rotate_left(8))
        };
        let answer = |name: &&str| PacketSink::new(model, &format!("{name}_data"), sink, seed);
        let monitor = |name: String| StreamMonitor::new(model, &name);
        let of = |suffix: &'static str| move |name: &&str| format!("{name}_{suffix}");
        Clients {
            write_jobs: WRITERS.iter().map(job).collect(),
            write_data: WRITERS.iter().map(data).collect(),
            read_jobs: READERS.iter().map(job).collect(),
            answers: READERS.iter().map(answer).collect(),
            jobs: WRITERS.iter().map(of("job")).map(monitor).collect(),
            monitors: READERS.iter().map(of("data")).map(monitor).collect(),
        }
    }

    pub(super) fn violations(&self) -> impl Iterator<Item = String> + '_ {
        let all = self.monitors.iter().flat_map(|one| &one.violations);
        all.map(ToString::to_string)
    }

    pub(super) fn agents(&mut self) -> Vec<&mut dyn Agent> {
        let mut agents: Vec<&mut dyn Agent> = Vec::new();
        agents.extend(self.write_jobs.iter_mut().map(|x| x as &mut dyn Agent));
        agents.extend(self.write_data.iter_mut().map(|x| x as &mut dyn Agent));
        agents.extend(self.read_jobs.iter_mut().map(|x| x as &mut dyn Agent));
        agents.extend(self.answers.iter_mut().map(|x| x as &mut dyn Agent));
        agents.extend(self.jobs.iter_mut().map(|x| x as &mut dyn Agent));
        agents.extend(self.monitors.iter_mut().map(|x| x as &mut dyn Agent));
        agents
    }
}
