//! What a user sees of a demo while it runs: the progress bar, or a line now and then; the capture.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use lab::exchange::{LabError, Observer, Side, Status};
use lab::frame::Frame;
use sim::harness::pcapng::CaptureWriter;

use crate::shared::output::{Begun, ResultFile};
use crate::shared::progress::{Progress, Unit};

/// The progress bar and the capture.
pub(super) struct Watcher {
    progress: Progress,
    pcap: Option<Begun>,
    capture: Option<CaptureWriter<BufWriter<File>>>,
    failed: Option<std::io::Error>,
    is_broken: bool,
}

impl Watcher {
    pub(super) fn new(bytes: u64, pcap: Option<ResultFile>) -> Result<Self> {
        let create = |file: &Begun| {
            let writer = |file| CaptureWriter::new(BufWriter::new(file), &["to card", "to peer"]);
            let created = file.file().and_then(writer);
            created.with_context(|| format!("capture {}", file.path().display()))
        };
        let pcap = pcap.as_ref().map(ResultFile::begin).transpose()?;
        let capture = pcap.as_ref().map(create).transpose()?;
        Ok(Self {
            progress: Progress::new(2 * bytes, Unit::Bytes),
            pcap,
            capture,
            failed: None,
            is_broken: false,
        })
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        self.progress.clear();
        let finished = self.capture.take().map(CaptureWriter::finish);
        let finished = finished.transpose().map(drop);
        finished.with_context(|| format!("capture {}", self.path().display()))?;
        // One that could not be written is not whole.
        let whole = self.pcap.take().filter(|_| !self.is_broken);
        whole.map_or(Ok(()), Begun::finish)
    }

    fn path(&self) -> &Path {
        self.pcap.as_ref().map_or(Path::new(""), Begun::path)
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
        let bytes = status.received + status.sent;
        self.progress.set(bytes, &why_long(&status));
        match self.failed.take() {
            Some(error) => {
                Err(LabError::Stopped(format!("capture {}: {error}", self.path().display())))
            }
            None => Ok(()),
        }
    }

    fn frame(&mut self, side: Side, frame: &Frame) {
        if let Some(capture) = &mut self.capture {
            let interface = u32::from(side == Side::ToPeer);
            if let Err(error) = capture.frame(interface, frame.time_ps, &frame.bytes) {
                self.is_broken = true;
                self.failed.get_or_insert(error);
            }
        }
    }
}
