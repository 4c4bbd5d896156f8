//! The card's own Verilog and documents, in a folder for a simulation of one's own.
//!
//! ```text
//!   CardOptions ─► emit ─┬─ verilog ────────────────────────┐
//!                        └─ documents: ports, registers ────┴─► folder::write ─► DIR
//! ```
//! Nothing here knows a board. A board's folder has these files and its own around them.

pub mod explain;
pub mod folder;
pub mod manual;
pub mod ports;

use std::path::Path;

use abi::config::{config_names, CardConfig, LAB};
use anyhow::{Context, Result};
use clap::Args;
use hdl::emit::{emit_card_for, EmittedCard, PREFIX};
use ip::completion_buffer::CompletionBuffer;

use self::folder::{list, File, CARD_LIST, LIST, PORTS, REGISTERS};
use self::manual::manual;
use self::ports::port_table;
use crate::shared::options::UsageError;

/// Which card is written, and how.
#[derive(Debug, Args)]
pub struct CardOptions {
    /// Sizes of the card's tables: lab, small, or default-slices, whose receive list is in a die of
    /// its own; default, for simulation, is more than a die holds
    #[arg(long, value_name = "NAME", default_value = LAB.name)]
    pub config: String,
    /// Completion headers that the hard block's buffer holds, 8 to 256
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    pub completion_headers: u32,
    /// Completion data that the buffer holds, 512 to 31,744 bytes in multiples of 16
    #[arg(long, default_value_t = 28672, value_name = "BYTES")]
    pub completion_bytes: u32,
    /// What the name of every module but the top's begins with
    #[arg(long, value_name = "PREFIX", default_value = PREFIX, value_parser = module_prefix)]
    pub prefix: String,
    /// Write all modules into one file
    #[arg(long)]
    pub single_file: bool,
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

/// Writes the folder of the card alone; one line about it.
pub fn write_card(options: &CardOptions, out: &Path) -> Result<String> {
    let card = options.emit()?;
    let verilog = options.verilog(&card);
    let names = list(&verilog);
    let mut files = vec![(LIST.to_owned(), names.clone())];
    files.extend(verilog);
    files.push((CARD_LIST.to_owned(), names));
    files.extend(options.documents(&card, "no board"));
    let lines = folder::write(out, &files)?;
    Ok(format!(
        "{} files, {lines} lines in {}; card {}, top module {}\n",
        files.len(),
        out.display(),
        card.top,
        card.top
    ))
}

impl CardOptions {
    /// Those of a configuration, all else as it is without an option.
    pub fn of_config(config: &str) -> Self {
        let buffer = CompletionBuffer::default();
        Self {
            config: config.to_owned(),
            completion_headers: buffer.headers,
            completion_bytes: buffer.data * CompletionBuffer::UNIT_BYTES,
            prefix: PREFIX.to_owned(),
            single_file: false,
        }
    }

    /// The sizes of its configuration.
    pub fn sizes(&self) -> Result<CardConfig> {
        CardConfig::find_config(&self.config).context("the card has a configuration")
    }

    /// The Verilog files of the card, in the order in which tools read them.
    pub fn verilog(&self, card: &EmittedCard) -> Vec<File> {
        let mut verilog = match self.single_file {
            true => vec![(format!("{}.v", card.top), card.design.single_file())],
            false => card.design.files(),
        };
        verilog.retain(|(name, _)| name != LIST);
        verilog
    }

    /// The port list of the card, for what it is in, and the register manual.
    pub fn documents(&self, card: &EmittedCard, place: &str) -> [File; 2] {
        let (config, headers) = (&self.config, self.completion_headers);
        let title = format!(
            "Module `{}` for {place}, configuration {config}, for a PCIe hard block that stores \
             {headers} completion headers and {} bytes of completions",
            card.top, self.completion_bytes
        );
        let top = card.design.modules.iter().find(|it| it.name == card.top);
        let top = top.map_or("", |module| &module.text);
        [(PORTS.to_owned(), port_table(&title, &card.ports, top)), (REGISTERS.to_owned(), manual())]
    }

    /// Emits the card in its configuration.
    pub fn emit(&self) -> Result<EmittedCard> {
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
