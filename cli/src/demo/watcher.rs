//! What a user sees of a demo while it runs: the progress bar, or a line now and then; the capture.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use sim::harness::mac::Frame;
use sim::harness::pcapng::CaptureWriter;
use sim::lab::{LabError, Observer, Side, Status};

use crate::output::{complain, ResultFile};

/// How often a run without a progress bar says how far it is.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// The progress bar and the capture.
pub(super) struct Watcher {
    bar: ProgressBar,
    bytes: u64,
    said: Instant,
    pcap: Option<ResultFile>,
    capture: Option<CaptureWriter<BufWriter<File>>>,
    failed: Option<std::io::Error>,
}

impl Watcher {
    pub(super) fn new(bytes: u64, pcap: Option<ResultFile>) -> Result<Self> {
        let bar = ProgressBar::new(2 * bytes);
        let style = [
            "{elapsed_precise} [{bar:40}] {bytes}/{total_bytes}",
            " {bytes_per_sec} eta {eta}{wide_msg}",
        ];
        bar.set_style(ProgressStyle::with_template(&style.concat())?.progress_chars("=> "));
        let create = |file: &ResultFile| {
            let writer = |file| CaptureWriter::new(BufWriter::new(file), &["to card", "to peer"]);
            let created = file.create().and_then(writer);
            created.with_context(|| format!("capture {}", file.path().display()))
        };
        let capture = pcap.as_ref().map(create).transpose()?;
        Ok(Self {
            bar,
            bytes,
            said: Instant::now(),
            pcap,
            capture,
            failed: None,
        })
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        self.bar.finish_and_clear();
        let finished = self.capture.take().map(CaptureWriter::finish);
        let finished = finished.transpose().map(drop);
        finished.with_context(|| format!("capture {}", self.path().display()))
    }

    fn path(&self) -> &Path {
        self.pcap.as_ref().map_or(Path::new(""), ResultFile::path)
    }

    /// Says how far the run is, and why it takes long: in the bar, or on standard error.
    fn tell(&mut self, status: &Status) {
        if !self.bar.is_hidden() {
            let why = why_long(status);
            if why != self.bar.message() {
                self.bar.set_message(why);
            }
        } else if self.said.elapsed() > SAY_EVERY {
            self.said = Instant::now();
            let Status { received, sent, .. } = status;
            let (bytes, why) = (self.bytes, why_long(status));
            complain(&format!(
                "{received} bytes received and {sent} sent of {bytes}{why}"
            ));
        }
    }
}

/// Why a run takes long: what it waits for, what was lost.
fn why_long(status: &Status) -> String {
    let mut why = String::new();
    if status.lost > 0 {
        why += &format!("; {} frames lost", status.lost);
    }
    if !status.skipped.is_zero() {
        why += &format!("; {:.3} s skipped", status.skipped.as_secs_f64());
    }
    if let Some(waiting) = status.waiting {
        why += &format!("; waits for {waiting}");
    }
    why
}

impl Observer for Watcher {
    fn round(&mut self, status: Status) -> Result<(), LabError> {
        self.bar.set_position(status.received + status.sent);
        self.tell(&status);
        match self.failed.take() {
            Some(error) => Err(LabError::Stopped(format!(
                "capture {}: {error}",
                self.path().display()
            ))),
            None => Ok(()),
        }
    }

    fn frame(&mut self, side: Side, frame: &Frame) {
        if let Some(capture) = &mut self.capture {
            let interface = u32::from(side == Side::ToPeer);
            if let Err(error) = capture.frame(interface, frame.time_ps, &frame.bytes) {
                self.failed.get_or_insert(error);
            }
        }
    }
}
