//! `zeronic verilog`: the card's Verilog, its port list, the register manual, and where names in a
//! timing report come from.
//!
//! ```text
//!   DIR/zeronic_lab.v  the card: flat port names of the vendor's hard blocks
//!   DIR/zeronic_B.v    the top of board B around it
//!   DIR/MODULE.v       every other module; with --single-file all are in these two
//!   DIR/files.f        the Verilog files in the order in which tools read them; card.f: the
//!                      card's alone
//!   DIR/constraints/   pins, configuration, floorplan, crossings of card and window
//!   DIR/*.tcl          what Vivado runs: build.tcl
//!   DIR/sim/models.v   the vendor's blocks for simulators
//!   DIR/ports.md       every port of the card with direction, width and meaning
//!   DIR/registers.md   the register manual
//! ```
//! The card and its file are called after the configuration: `zeronic_lab`, `zeronic_small`. The
//! names of all other modules begin with `zeronic_`, or with what `--prefix` says.
//! Without a board the folder has the card alone, for a simulation of one's own.
//! What an earlier run's `files.f` lists is removed first: tools that are given all of a folder
//! would mix two cards. What somebody else has written is never replaced. While a folder is written
//! its list is called `files.f.part`: without `files.f` no tool takes it for whole. A run that
//! fails removes what it has written.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::verilog::Design;
use abi::config::{config_names, CardConfig, LAB};
use anyhow::{Context, Result};
use board::description::Board;
use clap::Args;
use hdl::emit::{emit_card_for, EmittedCard, PREFIX};
use ip::completion_buffer::CompletionBuffer;

use crate::board::files::{board_files, check_fit, golden_files, File};
use crate::board::named;
use crate::manual::manual;
use crate::ports::port_table;
use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::{print, remove, write_file, ResultFile};

/// The list of the Verilog files.
const LIST: &str = "files.f";
/// The list of a folder that is being written, or whose run was interrupted.
const LIST_PART: &str = "files.f.part";
/// The port list.
const PORTS: &str = "ports.md";
/// The register manual.
const REGISTERS: &str = "registers.md";
/// The list of the card's Verilog files alone.
const CARD_LIST: &str = "card.f";
/// Folders below the one that is written to.
const FOLDERS: [&str; 2] = ["constraints", "sim"];
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

/// Arguments of `zeronic verilog`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct VerilogArguments {
    /// Board that the card is for; without one the card alone is written, for a simulation of your
    /// own
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// Folder to write to; made if missing
    #[arg(long, value_name = "DIR", required_unless_present_any = ["manual", "explain"])]
    out: Option<PathBuf>,
    /// Sizes of the card's tables: lab, small, or default-slices, whose receive list is in a die of
    /// its own; default, for simulation, is more than a die holds
    #[arg(long, value_name = "NAME", default_value = LAB.name)]
    config: String,
    /// Completion headers that the hard block's buffer holds, 8 to 256
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    completion_headers: u32,
    /// Completion data that the buffer holds, 512 to 31,744 bytes in multiples of 16
    #[arg(long, default_value_t = 28672, value_name = "BYTES")]
    completion_bytes: u32,
    /// What the name of every module but the top's begins with
    #[arg(long, value_name = "PREFIX", default_value = PREFIX, value_parser = module_prefix)]
    prefix: String,
    /// Write all modules into one file
    #[arg(long)]
    single_file: bool,
    /// Write the board's golden image: slot, board window and flash, without a card
    #[arg(
        long,
        requires = "board",
        conflicts_with_all = ["config", "completion_headers", "completion_bytes", "explain"]
    )]
    golden: bool,
    /// Print which block, file and field a hierarchical name of a timing report comes from
    #[arg(long, value_name = "SIGNAL", conflicts_with_all = ["out", "board", "single_file"])]
    explain: Option<String>,
    /// Write the register manual, and nothing else, to this file (- is standard output)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "out", "board", "config", "completion_headers", "completion_bytes", "prefix",
            "single_file", "explain", "golden",
        ]
    )]
    manual: Option<PathBuf>,
}

/// A prefix that makes a name of Verilog of every block's name.
fn module_prefix(text: &str) -> Result<String, String> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |c: char| is_letter(c) || c.is_ascii_digit();
    match text.chars().all(is_name) && text.chars().take(1).all(is_letter) {
        true => Ok(text.to_owned()),
        false => Err("letters, digits and `_` are possible, and no digit first".to_owned()),
    }
}

/// Runs the command.
pub fn run(arguments: &VerilogArguments) -> Result<bool> {
    if let Some(path) = &arguments.manual {
        write_manual(path)?;
        return Ok(true);
    }
    if let Some(signal) = &arguments.explain {
        print(&explained(&arguments.card()?.design, signal)?)?;
    }
    let Some(out) = &arguments.out else {
        return Ok(true);
    };
    let board = arguments.board.as_deref().map(named).transpose()?;
    let said = match board {
        Some(board) if arguments.golden => write_golden(arguments, board, out)?.1,
        board => write_folder(arguments, board, out)?.said,
    };
    print(&said)?;
    Ok(true)
}

/// A folder as it is written.
pub struct Folder {
    /// The card in it.
    pub card: EmittedCard,
    /// Its configuration.
    pub config: CardConfig,
    /// One line about it.
    pub said: String,
}

/// Writes the folder of a board's golden image; its design, and one line about it.
pub fn write_golden(
    arguments: &VerilogArguments,
    board: &Board,
    out: &Path,
) -> Result<(Design, String)> {
    let (design, around) = golden_files(board, &arguments.prefix, arguments.single_file)?;
    let list = around.verilog.iter().map(|(name, _)| format!("{name}\n"));
    let mut files = vec![(LIST.to_owned(), list.collect())];
    files.extend(around.verilog);
    files.extend(around.others);
    let lines = write_files(out, &files)?;
    let said = format!(
        "{} files, {lines} lines in {}; golden image, top module {}\n",
        files.len(),
        out.display(),
        board.golden_top()
    );
    Ok((design, said))
}

/// Writes files into a folder in the place of those of an earlier run; how many lines.
fn write_files(out: &Path, files: &[File]) -> Result<usize> {
    let made = |folder: &Path| {
        std::fs::create_dir_all(folder)
            .map_err(|error| UsageError(format!("folder {}: {error}", folder.display())))
    };
    made(out)?;
    make_room(out, files)?;
    let mut written = Vec::new();
    let whole = FOLDERS.iter().try_for_each(|folder| Ok(made(&out.join(folder))?));
    let whole = whole.and_then(|()| fill(out, files, &mut written));
    if whole.is_err() {
        for path in written {
            // What cannot be removed either is no list: see LIST_PART.
            let _ = remove(&path);
        }
        for folder in FOLDERS {
            // What somebody else has put there stays.
            let _ = std::fs::remove_dir(out.join(folder));
        }
    }
    whole?;
    Ok(files.iter().map(|(_, text)| text.lines().count()).sum())
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

/// Writes the folder of a board, or without one that of the card alone.
pub fn write_folder(
    arguments: &VerilogArguments,
    board: Option<&Board>,
    out: &Path,
) -> Result<Folder> {
    let card = arguments.card()?;
    let place = board.map_or("no board".to_owned(), Board::summary);
    let (config, headers) = (&arguments.config, arguments.completion_headers);
    let title = format!(
        "Module `{}` for {}, configuration {config}, for a PCIe hard block that stores {headers} \
         completion headers and {} bytes of completions",
        card.top, place, arguments.completion_bytes
    );
    let top = card.design.modules.iter().find(|it| it.name == card.top);
    let top = top.map_or("", |module| &module.text);
    let mut files = arguments.files(board, &card)?;
    files.push((PORTS.to_owned(), port_table(&title, &card.ports, top)));
    files.push((REGISTERS.to_owned(), manual()));
    let lines = write_files(out, &files)?;
    let said = format!(
        "{} files, {lines} lines in {}; card {}, top module {}\n",
        files.len(),
        out.display(),
        card.top,
        board.map_or_else(|| card.top.to_owned(), Board::top)
    );
    let config = CardConfig::named(&arguments.config).context("the card has a configuration")?;
    Ok(Folder { card, config, said })
}

/// Removes the Verilog that an earlier run has left in a folder, unless a list or a file of
/// somebody else's is in the way of `files`.
fn make_room(out: &Path, files: &[(String, String)]) -> Result<()> {
    let mut listed = listed(out, LIST)?;
    listed.extend(self::listed(out, LIST_PART)?);
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
fn listed(out: &Path, list: &str) -> Result<Vec<String>> {
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

/// What a hierarchical name is.
pub fn explained(design: &Design, signal: &str) -> Result<String, UsageError> {
    let origin = design.explain(signal);
    let origin = origin.map_err(|error| UsageError(format!("{signal}: {error}")))?;
    let mut text = format!("{signal}\n");
    let mut row = |what: &str, value: String| text.push_str(&format!("  {what:8}  {value}\n"));
    let place = match (origin.file, origin.line) {
        (Some(file), Some(line)) => format!(", {file}:{line}"),
        _ => String::new(),
    };
    row("block", origin.block.unwrap_or("unknown").to_owned() + &place);
    if let Some(field) = origin.field {
        let bit = origin.bit.map_or(String::new(), |bit| format!(", bit {bit}"));
        row("field", field + &bit);
    }
    let instance = match origin.path.as_str() {
        "" => "the top",
        path => path,
    };
    row("instance", instance.to_owned());
    row("module", format!("{0}, {0}.v", origin.module));
    Ok(text)
}

fn write_manual(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        return print(&manual());
    }
    ResultFile::prepare("--manual", path)?.write(manual().as_bytes())
}

impl VerilogArguments {
    /// What a board's build asks for.
    pub fn of_build(config: &str) -> Self {
        let buffer = CompletionBuffer::default();
        Self {
            board: None,
            out: None,
            config: config.to_owned(),
            completion_headers: buffer.headers,
            completion_bytes: buffer.data * CompletionBuffer::UNIT_BYTES,
            prefix: PREFIX.to_owned(),
            single_file: false,
            golden: false,
            explain: None,
            manual: None,
        }
    }

    /// The card's files, the board's if there is one, and the lists of both; the longer list first,
    /// so that a later run finds even what an interrupted one has written.
    fn files(&self, board: Option<&Board>, card: &EmittedCard) -> Result<Vec<File>> {
        let config = CardConfig::named(&self.config).context("the card has a configuration")?;
        if let Some(board) = board {
            check_fit(board, card, &config)?;
        }
        let mut verilog = match self.single_file {
            true => vec![(format!("{}.v", card.top), card.design.single_file())],
            false => card.design.files(),
        };
        verilog.retain(|(name, _)| name != LIST);
        let list = |files: &[File]| files.iter().map(|(name, _)| format!("{name}\n")).collect();
        let card_list: String = list(&verilog);
        let around = board.map(|board| board_files(board, card, &config, self.single_file));
        let (around, others) = around
            .transpose()?
            .map_or_else(Default::default, |around| (around.verilog, around.others));
        verilog.extend(around);
        let mut files = vec![(LIST.to_owned(), list(&verilog))];
        files.extend(verilog);
        files.push((CARD_LIST.to_owned(), card_list));
        files.extend(others);
        Ok(files)
    }

    /// The card in its configuration.
    fn card(&self) -> Result<EmittedCard> {
        let bytes = self.completion_bytes;
        let buffer = CompletionBuffer {
            headers: self.completion_headers,
            data: bytes / CompletionBuffer::UNIT_BYTES,
        };
        if !bytes.is_multiple_of(CompletionBuffer::UNIT_BYTES) || !buffer.is_supported() {
            let message = format!(
                "no card is built for {} completion headers and {bytes} bytes: 8 to 256 and a \
                 multiple of {} from 512 to 31744 are possible",
                buffer.headers,
                CompletionBuffer::UNIT_BYTES
            );
            return Err(UsageError(message).into());
        }
        let config = &self.config;
        let Some(emitted) = emit_card_for(config, buffer, &self.prefix) else {
            let known = config_names();
            let message = format!("unknown configuration '{config}'; known: {known}");
            return Err(UsageError(message).into());
        };
        emitted.context("the card has no Verilog")
    }
}
