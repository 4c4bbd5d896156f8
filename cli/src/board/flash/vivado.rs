//! By Vivado's hardware server: the files it takes, and the script that it runs.
//!
//! ```text
//!   slot in each chip ─► .mcs (addresses in the chip) ─┐
//!   data ──────────────► .bit ─────────────────────────┴─► flash.tcl: IDCODE, erase, write, verify
//! ```
//! The script ends with the exit status that this program then ends with.
//!
//! Source: UG908 (programming).

use std::net::SocketAddr;
use std::path::Path;

use board::description::Board;

use super::check::Checked;
use super::failure::FlashError;
use super::formats::{bit_file, mcs_file};
use super::runner::Output;
use super::steps::{Command, FlashSteps, Purpose, Step};

/// The script.
const SCRIPT: &str = include_str!("../../../../bitstream/flash.tcl");
/// What the program is called.
const VIVADO: &str = "vivado";
/// How lines of the script's own begin.
const OURS: &str = "zeronic: ";

/// The run, by a hardware server and one of its cables.
pub fn plan(
    board: &Board,
    server: (&str, Option<&str>),
    xvc: Option<SocketAddr>,
    work: &Path,
    checked: &Checked,
    volatile: bool,
) -> FlashSteps {
    let script = work.join("flash.tcl");
    let mut arguments: Vec<(&str, String)> = vec![
        ("action", if volatile { "load" } else { "write" }.to_owned()),
        ("url", server.0.to_owned()),
        ("idcode", format!("{:08x}", board.device.idcode)),
    ];
    arguments.extend(server.1.map(|target| ("target", target.to_owned())));
    arguments.extend(xvc.map(|address| ("xvc", address.to_string())));
    let files = match volatile {
        true => vec![load_file(board, work, checked)],
        false => {
            arguments.push(("chip", board.flash.chip.to_owned()));
            chip_files(board, work, checked)
        }
    };
    let paths = files.iter().filter_map(|step| match step {
        Step::File { path, .. } => Some(path.display().to_string()),
        _ => None,
    });
    arguments.extend(paths.map(|path| ("file", path)));
    let mut after = vec![Step::File {
        path: script.clone(),
        what: "what Vivado runs".to_owned(),
        bytes: SCRIPT.as_bytes().to_vec(),
    }];
    after.extend(files);
    let source = script.display().to_string();
    let fixed =
        ["-mode", "batch", "-nojournal", "-nolog", "-notrace", "-source", &source, "-tclargs"];
    let fixed = fixed.iter().map(|word| (*word).to_owned());
    let named = arguments.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
    after.push(Step::Run(Command {
        program: VIVADO.to_owned(),
        arguments: fixed.chain(named).collect(),
        purpose: Purpose::Vivado,
    }));
    FlashSteps { before: Vec::new(), question: question(board, checked, volatile), after }
}

/// What the user is asked.
fn question(board: &Board, checked: &Checked, volatile: bool) -> String {
    match volatile {
        true => format!("Load the device of {}, and leave the flash as it is?", board.name),
        false => format!(
            "Erase the user's slot of {} from 0x{:08x} on in each of {} chips, and write?",
            board.name,
            board.flash.plan().slot_bytes,
            checked.contents.len()
        ),
    }
}

/// The file that a device is loaded from.
fn load_file(board: &Board, work: &Path, checked: &Checked) -> Step {
    Step::File {
        path: work.join("image.bit"),
        what: "the image's data, with Vivado's header".to_owned(),
        bytes: bit_file(board, &checked.image.data),
    }
}

/// The files of the chips.
fn chip_files(board: &Board, work: &Path, checked: &Checked) -> Vec<Step> {
    let contents = checked.contents.iter().enumerate();
    let files = contents.map(|(number, contents)| Step::File {
        path: work.join(format!("chip{number}.mcs")),
        what: format!("the slot in chip {number}"),
        bytes: mcs_file(board.flash.plan().slot_bytes, contents).into_bytes(),
    });
    files.collect()
}

/// Judges how the script has ended.
pub fn judge(board: &Board, volatile: bool, output: &Output) -> Result<(), FlashError> {
    let mut ours = output.text.lines().filter_map(|line| line.strip_prefix(OURS));
    let said = ours.next_back().map_or_else(|| output.last_line(), str::to_owned);
    match output.status {
        Some(0) if output.text.contains("zeronic: done") => Ok(()),
        Some(4) => {
            let code = said.rsplit(' ').next().unwrap_or("");
            Err(FlashError::Device {
                found: u32::from_str_radix(code, 16).unwrap_or(0),
                board: board.name.to_owned(),
                expected: board.device.idcode,
            })
        }
        Some(6) => Err(FlashError::Cable { tool: VIVADO, said }),
        Some(7) => Err(FlashError::Verify { said }),
        Some(8) => Err(FlashError::Tool { tool: VIVADO.to_owned(), said }),
        // It ended before the script had anything to say: no licence, another version.
        _ if !output.was_killed && !output.text.contains("zeronic: begun") => {
            Err(FlashError::Tool { tool: VIVADO.to_owned(), said: output.last_line() })
        }
        _ if volatile => Err(FlashError::NotLoaded { tool: VIVADO, said }),
        _ => Err(FlashError::Interrupted { tool: VIVADO, said }),
    }
}
