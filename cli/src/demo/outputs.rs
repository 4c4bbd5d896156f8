//! The files of a demo's results.

use std::path::PathBuf;

use super::arguments::DemoArguments;
use crate::shared::options::UsageError;
use crate::shared::output::{json_file, ResultFile};

/// The files that the user named, checked to be writable before a long run.
pub struct Outputs {
    /// Waveform.
    pub wave: Option<ResultFile>,
    /// Capture.
    pub pcap: Option<ResultFile>,
    /// Figures.
    pub json: Option<ResultFile>,
}

impl Outputs {
    /// Sees that they can be written.
    pub fn prepare(arguments: &DemoArguments) -> Result<Self, UsageError> {
        let file = |option: &str, path: &Option<PathBuf>| {
            let path = path.as_deref();
            path.map(|path| ResultFile::prepare(option, path)).transpose()
        };
        Ok(Self {
            wave: file("--wave", &arguments.wave)?,
            pcap: file("--pcap", &arguments.pcap)?,
            json: json_file(arguments.json.as_deref())?,
        })
    }
}
