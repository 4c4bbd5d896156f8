//! Output of the program: standard output, standard error and result files.
//!
//! ```text
//!   before the run   keep ───────────────── input files must not be overwritten
//!                    ResultFile::prepare ── removes an earlier result; can it be written?
//!   during it        ResultFile::begin ──── files that are filled during the run: their name ends
//!                                           in `.part` until Begun::finish
//!   after it         ResultFile::write ──── whole or not at all, and before anything is printed
//!                    print ──────────────── a closed pipe ends the program silently
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::Serialize;
use thiserror::Error;

use crate::shared::options::UsageError;

/// Standard output is closed.
#[derive(Debug, Error)]
#[error("standard output is closed")]
pub struct OutputClosed;

/// Prints to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    check_printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The outcome of an attempt to print.
pub fn check_printed(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(OutputClosed.into()),
        result => result.context("standard output"),
    }
}

/// Prints on standard error. Failures to print are ignored.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "zeronic: {text}");
}

/// A file for the results of a run.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    /// Something that is written to and never replaced: a pipe, a terminal. It stays open, as the
    /// reader of a pipe takes its closing for the end.
    device: Option<File>,
}

impl ResultFile {
    /// Removes what an earlier run has left at `path`, so that it cannot be taken for the result
    /// of one that fails, and sees that it can be written. `named` is what the user calls it.
    pub fn prepare(named: &str, path: &Path) -> Result<Self, UsageError> {
        let failed = |error| UsageError(format!("{named} {}: {error}", path.display()));
        // What a link leads to is replaced, not the link.
        let target = target(path).map_err(failed)?;
        if let Some(device) = open_device(&target).map_err(failed)? {
            return Ok(Self { path: path.to_path_buf(), device: Some(device) });
        }
        check_free(named, path, &target)?;
        keep(named, &target);
        let file = Self { path: target, device: None };
        remove(&file.path).map_err(failed)?;
        let (_, part) = file.part().map_err(failed)?;
        fs::remove_file(&part).map_err(failed)?;
        Ok(file)
    }

    /// Makes the file that it is until it is whole, with a name that no other file has.
    fn part(&self) -> io::Result<(File, PathBuf)> {
        let mut number = 0;
        loop {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".{}-{number}.part", std::process::id()));
            match File::create_new(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                made => return Ok((made?, name.into())),
            }
        }
    }

    /// Begins to fill it as the run goes on. What is interrupted has not its name.
    pub fn begin(&self) -> Result<Begun> {
        let begun = match &self.device {
            Some(device) => device.try_clone().map(|file| (file, None)),
            None => self.part().map(|(file, part)| (file, Some(part))),
        };
        let (file, part) = begun.with_context(|| format!("file {}", self.path.display()))?;
        Ok(Begun { file, part, path: self.path.clone() })
    }

    /// Writes it.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).with_context(|| format!("file {}", self.path.display()))
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(mut device) = self.device.as_ref() {
            return device.write_all(bytes);
        }
        let (mut file, part) = self.part()?;
        let whole = file.write_all(bytes);
        let whole = whole.and_then(|()| fs::rename(&part, &self.path));
        if whole.is_err() {
            // A partial file is useless; the first error is the one to report.
            let _ = fs::remove_file(&part);
        }
        whole
    }

    /// Writes figures as JSON.
    pub fn write_json(&self, figures: &impl Serialize) -> Result<()> {
        self.write(serde_json::to_string_pretty(figures)?.as_bytes())
    }
}

/// A file that is filled during a run; dropped before it is whole, it is removed.
#[derive(Debug)]
pub struct Begun {
    file: File,
    /// Its name until it is whole; none of what is never replaced.
    part: Option<PathBuf>,
    path: PathBuf,
}

impl Begun {
    /// What is written to.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Where it is filled.
    pub fn path(&self) -> &Path {
        self.part.as_deref().unwrap_or(&self.path)
    }

    /// It is whole, and gets its name.
    pub fn finish(mut self) -> Result<()> {
        let named = || format!("file {}", self.path.display());
        if let Some(part) = &self.part {
            fs::rename(part, &self.path).with_context(named)?;
        }
        self.part = None;
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // A partial file is useless; why the run ended is reported elsewhere.
            let _ = fs::remove_file(part);
        }
    }
}

/// Most links in a row that are followed, as in Linux.
const LINKS_MAX: usize = 40;

/// Where a path's links lead, to a file that need not be there. What is open already, such as
/// standard output, is not looked through: it may be a file, which others go on writing.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let link = match fs::read_link(&path) {
            Ok(link) if !is_open_already(&path) => link,
            _ => return Ok(path),
        };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other(format!("more than {LINKS_MAX} links in a row")))
}

/// The names of what the program has open.
fn is_open_already(path: &Path) -> bool {
    let folder = path.parent();
    let in_folder = |name| folder == Some(Path::new(name));
    ["/dev/stdout", "/dev/stderr"].map(Path::new).contains(&path)
        || in_folder("/dev/fd")
        || in_folder("/proc/self/fd")
}

/// Opens what is no file of its own; `None` for a file or a folder, there or not.
fn open_device(path: &Path) -> io::Result<Option<File>> {
    let open = || OpenOptions::new().append(true).open(path);
    if is_open_already(path) {
        // As it is: opened a second time, a file would be written from its start again.
        let file = match path.file_name().and_then(OsStr::to_str) {
            Some("stdout" | "1") => io::stdout().as_fd().try_clone_to_owned().map(File::from),
            Some("stderr" | "2") => io::stderr().as_fd().try_clone_to_owned().map(File::from),
            _ => open(),
        };
        return file.map(Some);
    }
    match fs::metadata(path) {
        Ok(data) if !data.is_file() && !data.is_dir() => open().map(Some),
        _ => Ok(None),
    }
}

/// The file of `--json`, if it was asked for.
pub fn json_file(path: Option<&Path>) -> Result<Option<ResultFile>, UsageError> {
    path.map(|path| ResultFile::prepare("--json", path)).transpose()
}

/// Writes a file that a folder of results has, whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    ResultFile::prepare("file", path)?.write(bytes)
}

/// Removes a file of an earlier run that this one has none like.
pub fn discard(path: &Path) -> Result<(), UsageError> {
    let failed = |error| UsageError(format!("file {}: {error}", path.display()));
    let target = target(path).map_err(failed)?;
    if fs::metadata(&target).is_ok_and(|data| data.is_file()) {
        check_free("file", path, &target)?;
        remove(&target).map_err(failed)?;
    }
    Ok(())
}

/// Removes a file that may be there.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The files that this run reads and writes, with what the user calls them: no result may take the
/// place of another, or of what the run is about to read.
static IN_USE: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Keeps the results away from a file that the run reads.
pub fn keep(named: &str, path: &Path) {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.insert(place(path), named.to_owned());
}

/// Whether no other file of the run is at `target`, where `path` leads.
fn check_free(named: &str, path: &Path, target: &Path) -> Result<(), UsageError> {
    let place = place(target);
    let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    match in_use.get(&place) {
        Some(other) => {
            Err(UsageError(format!("{named} {}: {other} is the same file", path.display())))
        }
        None => Ok(()),
    }
}

/// A path that is the same for all names of a file, there or not.
fn place(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let there = fs::canonicalize(path);
    there.unwrap_or_else(|_| match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    })
}
