//! By openFPGALoader: its commands, and what its output says.
//!
//! ```text
//!   --Version   0.11 or later; to load the device 0.10 will do
//!   --detect    IDCODE of the device: that of the board
//!   --write-flash --offset SLOT --verify     each chip from its slot on, nothing below
//! ```

use std::path::Path;

use board::description::Board;

use super::cable::Cable;
use super::check::Checked;
use super::failure::FlashError;
use super::runner::Output;
use super::steps::{Command, FlashSteps, Purpose, Step};

/// What the program is called in messages.
pub const LOADER: &str = "openFPGALoader";
/// Names the program, if it is not on PATH.
const VARIABLE: &str = "OPENFPGALOADER";
/// Oldest version that knows the second of two flash chips.
const VERSION_WRITE_MIN: (u32, u32) = (0, 11);
/// Oldest version that knows the devices.
const VERSION_LOAD_MIN: (u32, u32) = (0, 10);

/// The run that writes the flash, or loads the device.
pub fn plan(
    board: &Board,
    cable: &Cable,
    part: &str,
    work: &Path,
    checked: &Checked,
) -> FlashSteps {
    let command = |purpose, arguments: Vec<String>| {
        let program = std::env::var(VARIABLE).unwrap_or_else(|_| LOADER.to_owned());
        Step::Run(Command { program, arguments, purpose })
    };
    let words = |text: &[&str]| text.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let cable = match cable {
        Cable::Xvc(address) => {
            let (ip, port) = (address.ip().to_string(), address.port().to_string());
            words(&["--cable", "xvc-client", "--ip", &ip, "--port", &port])
        }
        Cable::Named(name, serial) | Cable::HwServer(name, serial) => {
            let mut cable = words(&["--cable", name]);
            let serial = serial.iter().flat_map(|serial| ["--ftdi-serial", serial]);
            cable.extend(serial.map(str::to_owned));
            cable
        }
    };
    let before = vec![
        command(Purpose::Version(VERSION_WRITE_MIN), words(&["--Version"])),
        command(Purpose::Detect, [&cable[..], &words(&["--detect"])].concat()),
    ];
    let contents = &checked.contents;
    let file = |number: usize| work.join(format!("chip{number}.bin"));
    let name = |number: usize| file(number).display().to_string();
    let mut after: Vec<Step> = contents
        .iter()
        .enumerate()
        .map(|(number, bytes)| Step::File {
            path: file(number),
            what: format!("the slot in chip {number}"),
            bytes: bytes.clone(),
        })
        .collect();
    let offset = format!("0x{:08x}", board.flash.plan().slot_bytes);
    let mut write = [&cable[..], &words(&["--fpga-part", part, "--write-flash"])].concat();
    if contents.len() == 2 {
        let second = name(1);
        write.extend(words(&["--target-flash", "both", "--secondary-bitstream", &second]));
    }
    write.extend(words(&["--offset", &offset, "--verify", &name(0)]));
    let chips = contents.len() as u32;
    after.push(command(Purpose::Write { chips }, write));
    FlashSteps {
        before,
        question: format!(
            "Erase the user's slot of {} from {offset} on in each of {chips} chips, and write?",
            board.name
        ),
        after,
    }
}

/// The run that loads the device and leaves the flash alone.
pub fn load_plan(
    board: &Board,
    cable: &Cable,
    part: &str,
    work: &Path,
    checked: &Checked,
) -> FlashSteps {
    let mut steps = plan(board, cable, part, work, checked);
    let path = work.join("image.bin");
    let load = Command {
        arguments: match steps.before.last() {
            Some(Step::Run(detect)) => {
                let cable = detect.arguments[..detect.arguments.len() - 1].to_vec();
                let load = ["--fpga-part", part, "--write-sram"].map(str::to_owned);
                [&cable[..], &load, &[path.display().to_string()]].concat()
            }
            _ => Vec::new(),
        },
        program: std::env::var(VARIABLE).unwrap_or_else(|_| LOADER.to_owned()),
        purpose: Purpose::Load,
    };
    if let Some(Step::Run(version)) = steps.before.first_mut() {
        version.purpose = Purpose::Version(VERSION_LOAD_MIN);
    }
    steps.question = format!("Load the device of {}, and leave the flash as it is?", board.name);
    steps.after = vec![
        Step::File { path, what: "the image's data".to_owned(), bytes: checked.image.data.clone() },
        Step::Run(load),
    ];
    steps
}

/// Judges the output of a command.
pub fn judge(board: &Board, purpose: Purpose, output: &Output) -> Result<(), FlashError> {
    match purpose {
        Purpose::Version(least) => judge_version(least, output),
        Purpose::Detect => judge_device(board, output),
        Purpose::Load => judge_load(output),
        Purpose::Write { chips } => judge_write(chips, output),
        Purpose::Vivado => Ok(()),
    }
}

fn judge_version(least: (u32, u32), output: &Output) -> Result<(), FlashError> {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let version = output.text.split_once(LOADER).and_then(|(_, rest)| {
        let (major, rest) = rest.trim_start_matches([' ', 'v']).split_once('.')?;
        Some((number(major)?, number(rest)?))
    });
    let said = match version {
        Some(version) if output.is_good && version >= least => return Ok(()),
        Some((major, minor)) => {
            let (least, least_minor) = least;
            format!("version {major}.{minor}, {least}.{least_minor} or later is needed")
        }
        None => output.last_line(),
    };
    Err(FlashError::Tool { tool: LOADER.to_owned(), said })
}

fn judge_device(board: &Board, output: &Output) -> Result<(), FlashError> {
    let after = |word: &str| {
        let parts = output.text.split(word).skip(1);
        let codes = parts.map(|rest| rest.trim_start().trim_start_matches("0x"));
        let codes = codes.filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
            u32::from_str_radix(&digits, 16).ok()
        });
        codes.collect::<Vec<u32>>()
    };
    let known = after("idcode ");
    // A device that it does not know is named in its error.
    let mut unknown = after("Unknown device with IDCODE: ");
    // Bit 0 of an IDCODE is 1: what else comes is no answer of a device.
    unknown.retain(|code| code & 1 == 1);
    let expected = board.device.idcode;
    let failed = |said: String| FlashError::Cable { tool: LOADER, said };
    match (&known[..], &unknown[..]) {
        ([found], []) if output.is_good && found & 0x0fff_ffff == expected => Ok(()),
        (_, [found, ..]) | ([found], []) if found & 0x0fff_ffff != expected => {
            Err(FlashError::Device { found: *found, board: board.name.to_owned(), expected })
        }
        ([_, _, ..], _) => Err(failed(format!("{} devices on the cable", known.len()))),
        _ => Err(failed(output.last_line())),
    }
}

fn judge_load(output: &Output) -> Result<(), FlashError> {
    // It does not end with an error when the device does not start. Before version 1.0 it does not
    // say whether it has.
    let done = output.text.rsplit_once(" done ");
    if output.is_good && done.is_none_or(|(_, rest)| rest.trim_start().starts_with('1')) {
        return Ok(());
    }
    Err(FlashError::NotLoaded {
        tool: LOADER,
        said: match output.is_good {
            true => "the device did not start (DONE is low)".to_owned(),
            false => output.last_line(),
        },
    })
}

fn judge_write(chips: u32, output: &Output) -> Result<(), FlashError> {
    let failed = output.text.lines().find(|line| line.contains("Verification failed"));
    if let Some(line) = failed {
        return Err(FlashError::Verify { said: line.trim().to_owned() });
    }
    let said = output.last_line();
    if output.is_good {
        let verified = output.text.matches("Verifying write").count();
        if verified == chips as usize {
            return Ok(());
        }
        return Err(FlashError::Verify {
            said: format!("{LOADER} has read {verified} of {chips} chips back"),
        });
    }
    let is_bridge = |line: &&str| line.contains("fail to open") && line.contains("spiOverJtag");
    if let Some(line) = output.text.lines().find(is_bridge) {
        return Err(FlashError::Tool {
            tool: LOADER.to_owned(),
            said: format!("{}; OPENFPGALOADER_SOJ_DIR names the folder", line.trim()),
        });
    }
    // What a program that was killed has said need not be all that it has done. Otherwise it has
    // named the chip before it erased anything.
    let said_lower = output.text.to_lowercase();
    let has_chip = ["jedec id", "detected: "].iter().any(|name| said_lower.contains(name));
    if !output.was_killed && !has_chip {
        return Err(FlashError::Cable { tool: LOADER, said });
    }
    Err(FlashError::Interrupted { tool: LOADER, said })
}
