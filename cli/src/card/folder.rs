//! A folder of Verilog: written whole or not at all, in the place of an earlier one.
//!
//! What an earlier run's `files.f` lists is removed first: tools that are given all of a folder
//! would mix two cards. What somebody else has written is never replaced. While a folder is written
//! its list is called `files.f.part`: without `files.f` no tool takes it for whole. A run that
//! fails removes what it has written.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shared::options::UsageError;
use crate::shared::output::{remove, write_file};

/// Name of a file, and its text.
pub type File = (String, String);

/// The list of the Verilog files.
pub const LIST: &str = "files.f";
/// The list of a folder that is being written, or whose run was interrupted.
const LIST_PART: &str = "files.f.part";
/// The port list.
pub const PORTS: &str = "ports.md";
/// The register manual.
pub const REGISTERS: &str = "registers.md";
/// The list of the card's Verilog files alone.
pub const CARD_LIST: &str = "card.f";
/// How what is written for a board begins.
const BOARD_OPENING: &str = "# Zeronic: ";
/// How the models of the vendor's blocks begin.
const MODELS_OPENING: &str = "// Zeronic: ";
/// How every Verilog file begins.
const OPENING: &str = "`default_nettype none\n";
/// How the port list begins.
const PORTS_OPENING: &str = "# Ports of the card\n\nModule `";
/// How the register manual begins.
const REGISTERS_OPENING: &str = "# Register manual\n\nContract version ";

/// The text of a list of these files.
pub fn list(files: &[File]) -> String {
    files.iter().map(|(name, _)| format!("{name}\n")).collect()
}

/// Writes files into a folder in the place of those of an earlier run; how many lines.
pub fn write(out: &Path, files: &[File]) -> Result<usize> {
    let made = |folder: &Path| {
        std::fs::create_dir_all(folder)
            .map_err(|error| UsageError(format!("folder {}: {error}", folder.display())))
    };
    made(out)?;
    make_room(out, files)?;
    let mut written = Vec::new();
    let folders = folders(files);
    let whole = folders.iter().try_for_each(|folder| Ok(made(&out.join(folder))?));
    let whole = whole.and_then(|()| fill(out, files, &mut written));
    if whole.is_err() {
        for path in written {
            // What cannot be removed either is no list: see LIST_PART.
            let _ = remove(&path);
        }
        for folder in folders {
            // What somebody else has put there stays.
            let _ = std::fs::remove_dir(out.join(folder));
        }
    }
    whole?;
    Ok(files.iter().map(|(_, text)| text.lines().count()).sum())
}

/// The folders that files lie in, below the one that is written to.
fn folders(files: &[File]) -> BTreeSet<&str> {
    files.iter().filter_map(|(name, _)| Some(name.split_once('/')?.0)).collect()
}

/// Writes files, whose list gets its name last.
fn fill(out: &Path, files: &[File], written: &mut Vec<PathBuf>) -> Result<()> {
    for (name, text) in files {
        let path = out.join(if name == LIST { LIST_PART } else { name });
        written.push(path.clone());
        write_file(&path, text.as_bytes())?;
    }
    let (part, list) = (out.join(LIST_PART), out.join(LIST));
    std::fs::rename(part, &list).with_context(|| format!("file {}", list.display()))
}

/// Removes the Verilog that an earlier run has left in a folder, unless a list or a file of
/// somebody else's is in the way of `files`.
fn make_room(out: &Path, files: &[File]) -> Result<()> {
    let mut listed = read_list(out, LIST)?;
    listed.extend(self::read_list(out, LIST_PART)?);
    let fresh = files.iter().filter(|(name, _)| name != LIST);
    for (name, text) in fresh.filter(|(name, _)| !listed.contains(name)) {
        let path = out.join(name);
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Ok(old) if is_own(name, &old, text) || text.as_bytes().starts_with(&old) => {}
            _ => {
                let message = format!("{}: this program has not written it", path.display());
                return Err(UsageError(message).into());
            }
        }
    }
    let lists = [LIST.to_owned(), LIST_PART.to_owned()];
    for file in lists.iter().chain(&listed).map(|name| out.join(name)) {
        remove(&file).with_context(|| format!("file {}", file.display()))?;
    }
    Ok(())
}

/// The names in a list of a folder; all of them must be this program's. An interrupted run may have
/// left the list and a file cut at any place.
fn read_list(out: &Path, list: &str) -> Result<Vec<String>> {
    let path = out.join(list);
    let list = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        list => list.with_context(|| format!("file {}", path.display()))?,
    };
    let mut names = Vec::new();
    for line in list.split_inclusive('\n') {
        let name = line.trim_end_matches(['\r', '\n']);
        let file = out.join(name);
        let is_plain = name.ends_with(".v") && !name.contains(['/', '\\']);
        let may_be_gone = is_plain || is_cut(line);
        match std::fs::read(&file) {
            Err(error) if may_be_gone && error.kind() == ErrorKind::NotFound => {}
            Ok(text) if is_plain && begins_as(OPENING, &text) => names.push(name.to_owned()),
            _ => {
                let path = path.display();
                let message = format!("{path} lists '{name}', which this program has not written");
                return Err(UsageError(message).into());
            }
        }
    }
    Ok(names)
}

/// Whether a line of a list ends within a name.
fn is_cut(line: &str) -> bool {
    let name = line.strip_suffix('.').unwrap_or(line);
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text begins with `opening`, or ends before it could.
fn begins_as(opening: &str, text: &[u8]) -> bool {
    let opening = opening.as_bytes();
    text.starts_with(opening) || opening.starts_with(text)
}

/// Whether a file begins as this program's do: Verilog with the place in the sources that its
/// first module comes from.
fn is_own(name: &str, text: &[u8], fresh: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    match name {
        PORTS => text.starts_with(PORTS_OPENING),
        REGISTERS => text.starts_with(REGISTERS_OPENING),
        "sim/models.v" => text.starts_with(MODELS_OPENING),
        CARD_LIST => text.lines().all(|line| line.ends_with(".v")),
        _ if name.ends_with(".xdc") || name.ends_with(".tcl") => {
            text.starts_with(BOARD_OPENING) || text.lines().next() == fresh.lines().next()
        }
        _ => {
            let module = text.strip_prefix(OPENING);
            let module = module.and_then(|text| text.strip_prefix("\n// "));
            let line = module.and_then(|text| text.lines().next());
            line.is_some_and(|line| line.contains(".rs:"))
        }
    }
}
