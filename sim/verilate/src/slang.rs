//! slang as a program.
//!
//! ```text
//!   arguments ──> python, pyslang ──> diagnostics, exit status
//! ```
//! The package has the library alone: this runs it as slang's own program would run.

use std::process::Command;

use crate::toolchain::{slang_python, ToolError};

/// Arguments in, diagnostics out.
const PROGRAM: &str = "\
import sys
from pyslang import driver
d = driver.Driver()
d.addStandardArgs()
ok = d.parseCommandLine('slang ' + ' '.join(sys.argv[1:])) and d.processOptions()
ok = ok and d.parseAllSources()
ok = ok and d.runFullCompilation(False)
sys.exit(0 if ok else 1)
";

/// slang, to be given its arguments.
pub fn slang_command() -> Result<Command, ToolError> {
    let mut command = Command::new(slang_python()?);
    command.args(["-c", PROGRAM]);
    Ok(command)
}
