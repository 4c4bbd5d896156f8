//! The files of a replay.
//!
//! ```text
//!   before the run   Results::prepare ── removes every result of an earlier run, of either side
//!                    Results::expect ─── one buffer for each segment
//!   after it         entries, sent, buffers, and the summary last
//! ```

use std::io::ErrorKind;
use std::path::Path;

use super::setup::{FlowSetup, ReplaySetup};
use crate::shared::options::UsageError;
use crate::shared::output::{discard, ResultFile};

/// The folder of the buffers.
const BUFFERS: &str = "buffers";

/// The files that a replay writes.
#[derive(Debug)]
pub struct Results {
    /// Header entries, one line each.
    pub entries: ResultFile,
    /// Capture of what was sent; replays of the receive side have none.
    pub sent: Option<ResultFile>,
    /// Segments by flow; replays of the send side have none.
    pub buffers: Vec<Vec<ResultFile>>,
    /// The verdict.
    pub summary: ResultFile,
}

impl Results {
    /// Removes the results of an earlier run from `out`: they must not be taken for results of this
    /// run, not even if it fails.
    pub fn prepare(out: &Path, sends: bool) -> Result<Self, UsageError> {
        let folder = |error| UsageError(format!("folder {}: {error}", out.display()));
        std::fs::create_dir_all(out).map_err(folder)?;
        discard_buffers(&out.join(BUFFERS))?;
        let file = |name: &str| ResultFile::prepare("file", &out.join(name));
        let sent = "sent.pcapng";
        if !sends {
            discard(&out.join(sent))?;
        }
        Ok(Self {
            entries: file("entries.txt")?,
            sent: sends.then(|| file(sent)).transpose()?,
            buffers: Vec::new(),
            summary: file("summary.json")?,
        })
    }

    /// Adds the buffers of a setup.
    pub fn expect(&mut self, out: &Path, setup: &ReplaySetup) -> Result<(), UsageError> {
        let folder = out.join(BUFFERS);
        std::fs::create_dir_all(&folder)
            .map_err(|error| UsageError(format!("folder {}: {error}", folder.display())))?;
        for flow in &setup.flows {
            let files = (0..flow.segments.len())
                .map(|number| ResultFile::prepare("file", &out.join(buffer_name(flow, number))));
            self.buffers.push(files.collect::<Result<_, UsageError>>()?);
        }
        Ok(())
    }
}

/// The name, in the folder of the results, of a segment's bytes.
pub fn buffer_name(flow: &FlowSetup, segment: usize) -> String {
    format!("{BUFFERS}/{}-{segment}.bin", flow.name)
}

/// Removes the buffers of an earlier run, and their folder if nothing else is there.
fn discard_buffers(folder: &Path) -> Result<(), UsageError> {
    let failed = |error| UsageError(format!("folder {}: {error}", folder.display()));
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    let mut is_empty = true;
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.strip_suffix(".bin").and_then(|it| it.rsplit_once('-'));
        match number {
            Some((_, number)) if number.parse::<u16>().is_ok() => discard(&path)?,
            _ => is_empty = false,
        }
    }
    if is_empty {
        std::fs::remove_dir(folder).map_err(failed)?;
    }
    Ok(())
}
