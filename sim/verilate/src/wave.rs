//! Waveform files: the VCD text that a model prints, as it is or turned into FST on the fly.
//!
//! ```text
//!   model ── VCD text ──> .vcd file
//!                 └─────> header: scopes, signals ──> changes ──> .fst file
//! ```
//!
//! Invariants
//! 1. Memory does not grow with the length of the recording.
//! 2. After a failed write nothing more is written, and `finish` returns the failure.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType,
};

/// Changes kept in memory before they are compressed and written.
const BUFFER_BYTES_MAX: usize = 32 << 20;

/// Why there is no waveform, or only a part.
#[derive(Debug, thiserror::Error)]
pub enum WaveError {
    /// The design was built without tracing.
    #[error("the design was built without waveforms: build it with Options::TRACED")]
    NotBuilt,
    /// The file cannot be written.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// The FST writer refused something.
    #[error("{0}")]
    Fst(#[from] fst_writer::FstWriteError),
    /// A recording that had begun did not reach its end.
    #[error("waveform {} is incomplete: {reason}", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What failed.
        reason: String,
    },
    /// The model printed something that is not the VCD this file knows.
    #[error("unexpected VCD line `{0}`")]
    Vcd(String),
}

type Out = BufWriter<File>;

/// A waveform being recorded.
pub(crate) struct Wave {
    path: PathBuf,
    state: State,
    partial_line: Vec<u8>,
    failure: Option<WaveError>,
}

enum State {
    Vcd(Out),
    Header(Box<FstHeaderWriter<Out>>, HashMap<Vec<u8>, Signal>),
    Body(Box<FstBodyWriter<Out>>, HashMap<Vec<u8>, Signal>),
    Failed,
}

/// An error with its causes; the FST writer's own text lacks the system's reason.
fn with_sources(error: &WaveError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source().and_then(Error::source);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

impl State {
    fn finish(self) -> Result<(), WaveError> {
        match self {
            State::Vcd(mut file) => file.flush()?,
            State::Header(header, _) => header.finish()?.finish()?.flush()?,
            State::Body(body, _) => body.finish()?.flush()?,
            State::Failed => {}
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Signal {
    id: FstSignalId,
    bits: usize,
}

impl Wave {
    pub fn create(path: &Path) -> Result<Wave, WaveError> {
        let state = if path.extension().is_some_and(|extension| extension == "vcd") {
            State::Vcd(BufWriter::new(File::create(path)?))
        } else {
            let info = FstInfo {
                start_time: 0,
                timescale_exponent: -12,
                version: "zeronic".into(),
                date: String::new(),
                file_type: FstFileType::Verilog,
            };
            let mut file = File::create(path)?;
            // The FST writer seeks back to fields it has left open, and panics on a pipe.
            file.stream_position()?;
            let writer = FstHeaderWriter::new(BufWriter::new(file), &info)?;
            State::Header(Box::new(writer), HashMap::new())
        };
        Ok(Wave { path: path.to_path_buf(), state, partial_line: Vec::new(), failure: None })
    }

    /// Takes the next piece of VCD text.
    pub fn write(&mut self, text: &[u8]) {
        if self.has_failed() {
            return;
        }
        if let Err(error) = self.write_checked(text) {
            self.failure = Some(error);
            self.state = State::Failed;
            self.partial_line = Vec::new();
        }
    }

    /// True after a failed write.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn write_checked(&mut self, text: &[u8]) -> Result<(), WaveError> {
        if let State::Vcd(file) = &mut self.state {
            return Ok(file.write_all(text)?);
        }
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            if piece.last() != Some(&b'\n') {
                self.partial_line.extend_from_slice(piece);
            } else if self.partial_line.is_empty() {
                self.line(&piece[..piece.len() - 1])?;
            } else {
                let mut line = std::mem::take(&mut self.partial_line);
                line.extend_from_slice(&piece[..piece.len() - 1]);
                self.line(&line)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), WaveError> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Header(mut header, mut signals) => {
                self.state = if header_line(&mut header, &mut signals, line)? {
                    State::Body(Box::new(header.finish()?), signals)
                } else {
                    State::Header(header, signals)
                };
            }
            State::Body(mut body, signals) => {
                body_line(&mut body, &signals, line)?;
                self.state = State::Body(body, signals);
            }
            other => self.state = other,
        }
        Ok(())
    }

    /// Completes the file.
    pub fn finish(self) -> Result<(), WaveError> {
        let finished = match self.failure {
            Some(failure) => Err(failure),
            None => self.state.finish(),
        };
        finished.map_err(|reason| WaveError::Incomplete {
            path: self.path,
            reason: with_sources(&reason),
        })
    }
}

/// Takes a line of the header; true at its end.
fn header_line(
    header: &mut FstHeaderWriter<Out>,
    signals: &mut HashMap<Vec<u8>, Signal>,
    line: &[u8],
) -> Result<bool, WaveError> {
    let text = String::from_utf8_lossy(line);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let unexpected = || WaveError::Vcd(text.clone().into_owned());
    match words[..] {
        ["$scope", _, name, ..] => header.scope(name, "", FstScopeType::Module)?,
        ["$upscope", ..] => header.up_scope()?,
        ["$var", _, bits, code, ref name @ .., "$end"] => {
            let bits: usize = bits.parse().map_err(|_| unexpected())?;
            let kind = FstSignalType::bit_vec(bits as u32);
            let alias = signals.get(code.as_bytes()).map(|signal| signal.id);
            let (name, direction) = (name.join(" "), FstVarDirection::Implicit);
            let id = header.var(name, kind, FstVarType::Wire, direction, alias)?;
            signals.insert(code.as_bytes().to_vec(), Signal { id, bits });
        }
        ["$enddefinitions", ..] => return Ok(true),
        ["$version" | "$date" | "$timescale", ..] => {}
        _ => return Err(unexpected()),
    }
    Ok(false)
}

fn body_line(
    body: &mut FstBodyWriter<Out>,
    signals: &HashMap<Vec<u8>, Signal>,
    line: &[u8],
) -> Result<(), WaveError> {
    let unexpected = || WaveError::Vcd(String::from_utf8_lossy(line).into_owned());
    let (value, code) = match line[0] {
        b'#' => {
            let time = std::str::from_utf8(&line[1..]).ok().and_then(|text| text.parse().ok());
            if body.size() > BUFFER_BYTES_MAX {
                body.flush()?;
            }
            return Ok(body.time_change(time.ok_or_else(unexpected)?)?);
        }
        b'b' => {
            let space = line.iter().position(|byte| *byte == b' ').ok_or_else(unexpected)?;
            (&line[1..space], &line[space + 1..])
        }
        b'0' | b'1' | b'x' | b'z' => line.split_at(1),
        b'$' => return Ok(()),
        _ => return Err(unexpected()),
    };
    let signal = signals.get(code).ok_or_else(unexpected)?;
    if value.len() == signal.bits {
        body.signal_change(signal.id, value)?;
    } else if value.len() < signal.bits {
        let mut padded = vec![b'0'; signal.bits];
        padded[signal.bits - value.len()..].copy_from_slice(value);
        body.signal_change(signal.id, &padded)?;
    } else {
        return Err(unexpected());
    }
    Ok(())
}
