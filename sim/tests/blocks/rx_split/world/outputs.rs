//! What leaves the card, in order: writes, flush reads and their answers, confirmations.

use rx_split::hold::flusher::FLUSH_BYTES;
use sim::dma_rig::shared_beat;
use sim::harness::payload::field;
use sim::harness::source::Packet;
use stream::messages::*;

use super::{flush_address, World};

/// Something that left the card, in order; a write when its job was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A write: address, bytes, relaxed.
    Write(u64, Vec<u8>, bool),
    /// A flush read.
    Flush(u64),
    /// It was answered; or not, and it failed.
    Flushed(u64, bool),
    /// A confirmation with its command index.
    Confirmation(u32),
}

/// A write job that was taken.
pub struct TakenJob {
    /// Its place among the outputs.
    output: usize,
    bytes: usize,
    /// The next one begins in its last beat.
    shares: bool,
}

impl World {
    /// Takes what left the card in this cycle.
    pub fn collect(&mut self) {
        while let Some(job) = self.write_job.messages.pop_front() {
            let value = |name| field::<WriteJob>(&job, name);
            self.jobs.push_back(TakenJob {
                output: self.outputs.len(),
                bytes: value("bytes") as usize,
                shares: value("shares") == 1,
            });
            let relaxed = value("relaxed") == 1;
            self.outputs.push(Output::Write(value("address"), Vec::new(), relaxed));
        }
        while let Some(packet) = self.write_data.packets.pop_front() {
            assert!(!packet.abort);
            let job = self.jobs.pop_front().expect("a job came first");
            if !job.shares {
                self.set_written(&job, packet.bytes);
                continue;
            }
            let second = self.jobs.pop_front().expect("both jobs came first");
            assert!(!second.shares, "a third job in the packet");
            let (bytes, behind) = shared_beat::split(&packet.bytes, job.bytes, second.bytes);
            self.shared_beats += 1;
            self.set_written(&job, bytes);
            self.set_written(&second, behind);
        }
        self.flush();
        while let Some(message) = self.confirmed.messages.pop_front() {
            let index = field::<Confirmation>(&message, "index") as u32;
            self.confirmed_behind.push((index, self.slots_written));
            self.outputs.push(Output::Confirmation(index));
        }
    }

    /// The bytes of a write job are there.
    fn set_written(&mut self, job: &TakenJob, written: Vec<u8>) {
        let Output::Write(address, bytes, relaxed) = &mut self.outputs[job.output] else {
            panic!("{} is no write", job.output);
        };
        assert_eq!(written.len(), job.bytes, "bytes at {address:#x}");
        *bytes = written;
        self.slots_written += u64::from(!*relaxed);
    }

    /// Takes flush reads and answers those whose time has come.
    fn flush(&mut self) {
        while let Some(job) = self.flush_job.messages.pop_front() {
            assert_eq!(field::<ReadJob>(&job, "bytes"), FLUSH_BYTES);
            let address = field::<ReadJob>(&job, "address");
            let due = self.pulses.cycles + self.flush_cycles;
            self.flushes.push_back((due, address));
            self.outputs.push(Output::Flush(address));
        }
        while let Some((due, address)) = self.flushes.front().copied() {
            if due > self.pulses.cycles {
                return;
            }
            self.flushes.pop_front();
            let memory = (0..4).find(|memory| flush_address(*memory) == address);
            let memory = memory.expect("it is one of these") as usize;
            let fails = self.flush_fails[memory].pop_front().unwrap_or(false);
            self.flush_data.push(Packet {
                bytes: vec![0; FLUSH_BYTES as usize],
                abort: fails,
                ..Packet::default()
            });
            self.outputs.push(Output::Flushed(address, fails));
        }
    }

    pub fn has_flushed(&self) -> bool {
        let is_flush = |output: &Output| matches!(output, Output::Flush(_));
        self.outputs.iter().any(is_flush)
    }
}
