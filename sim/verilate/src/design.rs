//! A Verilog text turned into a loadable library: translated, compiled, cached.
//!
//! ```text
//!   Verilog + ports ──> key ──> .cache/verilated/TOP-KEY/model.so   there: done
//!                        └────> Verilator ──> C++ compiler ──> link with the shared runtime
//! ```
//!
//! Invariants
//! 1. The key covers everything that decides the result: Verilog, top name, ports, options,
//!    Verilator build, C++ compiler name, flags and shim.
//! 2. An entry appears in the cache complete (by rename) or not at all; a lock per entry keeps
//!    concurrent processes from building it twice.
//! 3. The Verilator runtime and its headers are compiled once per cache folder, compiler, and place
//!    of the headers.
//!
//! `ZERONIC_CACHE` moves the cache; `CXX` names a compiler other than clang++ and c++.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use hdl::ports::Port;
use sha2::{Digest, Sha256};

use crate::compile::{compile_all, link, Compiler, Unit, TRACE_FLAGS};
use crate::error::BuildError;
use crate::install::{lock, say, workspace_folder, ToolError};
use crate::library::Library;
use crate::options::Options;
use crate::shim;
use crate::toolchain::{hex, Toolchain};

/// Source bytes that go into one compiler run; more makes another, in parallel.
const UNIT_BYTES_MAX: u64 = 400_000;

/// The same without optimisation, where a run costs more than what it compiles.
const QUICK_UNIT_BYTES_MAX: u64 = 1_600_000;

const TRANSLATE_FLAGS: &[&str] = &[
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "unique",
    "--no-timing",
    "--output-split",
    "20000",
    "-Wno-fatal",
    "-Wno-UNOPTFLAT",
    "-Wno-DECLFILENAME",
];

/// A compiled design from which any number of models are made; cheap to clone and to send.
#[derive(Clone)]
pub struct Design {
    ports: Arc<[Port]>,
    /// Each port by its name and by its Verilog name.
    names: Arc<HashMap<String, u32>>,
    warnings: Arc<str>,
    library: Arc<Library>,
    options: Options,
}

impl Design {
    /// Builds `verilog`, whose top module is `top`, or takes it from the cache.
    pub fn build(
        top: &str,
        verilog: &str,
        ports: &[Port],
        options: Options,
    ) -> Result<Design, BuildError> {
        let toolchain = Toolchain::locate()?;
        let compiler = Compiler::locate(&toolchain);
        let cache = workspace_folder("ZERONIC_CACHE", ".cache").join("verilated");
        let job = Job { top, verilog, ports, options, toolchain, compiler, cache };
        let entry = job.entry()?;
        let warnings_path = entry.join("warnings.txt");
        let warnings = read(&warnings_path)?;
        Ok(Design {
            ports: ports.into(),
            names: Arc::new(names_of(ports)),
            warnings: warnings.into(),
            library: Arc::new(Library::load(&entry.join("model.so"))?),
            options,
        })
    }

    /// The port table.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The place of a port in the table.
    pub(crate) fn place(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// What Verilator warned about; see [`crate::width::lint_width_warnings`].
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// The options it was built with.
    pub fn options(&self) -> Options {
        self.options
    }

    pub(crate) fn library(&self) -> &Arc<Library> {
        &self.library
    }
}

/// The places of all ports. Test benches ask for ports by name in every cycle.
fn names_of(ports: &[Port]) -> HashMap<String, u32> {
    let mut names = HashMap::new();
    for (place, port) in (0..).zip(ports) {
        for name in [port.name.clone(), port.verilog_name()] {
            names.entry(name).or_insert(place);
        }
    }
    names
}

struct Job<'a> {
    top: &'a str,
    verilog: &'a str,
    ports: &'a [Port],
    options: Options,
    toolchain: Toolchain,
    compiler: Compiler,
    cache: PathBuf,
}

impl Job<'_> {
    fn key(&self) -> String {
        let mut hash = Sha256::new();
        let names: Vec<String> = self.ports.iter().map(Port::verilog_name).collect();
        for part in [
            self.top.to_owned(),
            self.verilog.to_owned(),
            format!("{:?}", self.options),
            self.toolchain.identity.clone(),
            self.compiler.identity(),
            TRANSLATE_FLAGS.join(" "),
            shim::source(self.ports, &names, self.options.trace),
        ] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hex(&hash.finalize()[..10])
    }

    /// The folder of the built design.
    fn entry(&self) -> Result<PathBuf, BuildError> {
        let name = format!("{}-{}", self.top, self.key());
        let entry = self.cache.join(&name);
        if entry.join("model.so").is_file() {
            return Ok(entry);
        }
        let lock_path = self.cache.join(format!("{name}.lock"));
        let _lock = lock(&lock_path).map_err(io_error(&lock_path))?;
        if entry.join("model.so").is_file() {
            return Ok(entry);
        }
        let started = Instant::now();
        say(format_args!("building {} with Verilator ...", self.top));
        let runtime = self.runtime()?;
        let work = self.cache.join(format!("{name}.{}", std::process::id()));
        if let Err(error) = self.build_in(&work, &runtime) {
            if !matches!(error, BuildError::Translate { .. }) {
                fs::remove_dir_all(&work).map_err(io_error(&work))?;
            }
            return Err(error);
        }
        fs::rename(&work, &entry).map_err(io_error(&entry))?;
        let seconds = started.elapsed().as_secs_f32();
        say(format_args!("built {} in {seconds:.1} s", self.top));
        Ok(entry)
    }

    fn build_in(&self, work: &Path, runtime: &Path) -> Result<(), BuildError> {
        let sources = work.join("obj");
        fs::create_dir_all(&sources).map_err(io_error(&sources))?;
        let warnings = self.translate(work, &sources)?;
        write(&work.join("warnings.txt"), &warnings)?;
        let header = read(&sources.join(format!("{}.h", shim::CLASS)))?;
        let members = shim::members(self.ports, &header)
            .map_err(|port| BuildError::Port { top: self.top.into(), port })?;
        let shim = shim::source(self.ports, &members, self.options.trace);
        write(&sources.join("shim.cpp"), &shim)?;
        let units = plan_units(&sources, self.options.quick)?;
        compile_all(&self.compiler, &units, &sources, Some(runtime))?;
        let mut objects: Vec<PathBuf> = units.iter().map(|unit| unit.object.clone()).collect();
        objects.extend(files_with(runtime, "o")?);
        link(&self.compiler, &objects, &work.join("model.so"))?;
        fs::remove_dir_all(&sources).map_err(io_error(&sources))
    }

    /// Runs Verilator; returns its warnings.
    fn translate(&self, work: &Path, sources: &Path) -> Result<String, BuildError> {
        let input = work.join("design.v");
        write(&input, self.verilog)?;
        let mut command = Command::new(&self.toolchain.verilator);
        command.env("VERILATOR_ROOT", &self.toolchain.root).current_dir(work);
        command.args(TRANSLATE_FLAGS).args(["--prefix", shim::CLASS, "--top-module", self.top]);
        if self.options.trace {
            command.arg("--trace");
        }
        command.arg("--Mdir").arg(sources).arg("design.v");
        let output = command.output().map_err(|reason| ToolError::Start {
            program: self.toolchain.verilator.display().to_string(),
            reason,
        })?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let errors = text.lines().skip_while(|line| !line.starts_with("%Error")).take(40);
        Err(BuildError::Translate {
            top: self.top.into(),
            path: input,
            message: errors.collect::<Vec<_>>().join("\n"),
        })
    }

    /// The folder with the objects of Verilator's runtime, and its headers compiled ahead. These
    /// name their own place.
    fn runtime(&self) -> Result<PathBuf, BuildError> {
        let key = [
            self.toolchain.identity.clone(),
            self.compiler.identity(),
            self.compiler.headers_identity(),
            self.cache.display().to_string(),
        ]
        .join(" ");
        let digest = hex(&Sha256::digest(key)[..6]);
        let folder = self.cache.join(format!("runtime-{digest}"));
        let lock_path = self.cache.join(format!("runtime-{digest}.lock"));
        let _lock = lock(&lock_path).map_err(io_error(&lock_path))?;
        // Headers that are compiled name their place: they cannot be moved there when complete.
        let complete = folder.join("complete");
        if complete.is_file() {
            return Ok(folder);
        }
        say(format_args!("compiling the Verilator runtime ..."));
        fs::create_dir_all(&folder).map_err(io_error(&folder))?;
        let include = self.toolchain.root.join("include");
        let units: Vec<Unit> = ["verilated", "verilated_threads", "verilated_vcd_c"]
            .iter()
            .map(|name| Unit {
                source: include.join(format!("{name}.cpp")),
                object: folder.join(format!("{name}.o")),
                fast: true,
                flags: &[],
            })
            .collect();
        compile_all(&self.compiler, &units, &folder, None)?;
        self.compiler.compile_headers(&folder)?;
        write(&complete, "")?;
        Ok(folder)
    }
}

/// Groups Verilator's many files into few compiler runs; rarely executed code is kept apart, where
/// the other is optimised, and so is what records waveforms.
fn plan_units(sources: &Path, is_quick: bool) -> Result<Vec<Unit>, BuildError> {
    let has = |file: &PathBuf, part: &str| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.contains(part)
    };
    let bytes_max = if is_quick { QUICK_UNIT_BYTES_MAX } else { UNIT_BYTES_MAX };
    let (fast, slow): (Vec<_>, Vec<_>) =
        files_with(sources, "cpp")?.into_iter().partition(|file| !is_quick && !has(file, "__Slow"));
    let (trace, fast): (Vec<_>, Vec<_>) = fast.into_iter().partition(|file| has(file, "__Trace__"));
    let mut units = Vec::new();
    let groups: [(_, _, &str, &[&str]); 3] = [
        (trace, true, "trace", TRACE_FLAGS),
        (fast, true, "fast", &[]),
        (slow, false, "slow", &[]),
    ];
    for (files, fast, name, flags) in groups {
        for (index, text) in group_files(&files, bytes_max)?.iter().enumerate() {
            let stem = format!("unit_{name}_{index}");
            let source = sources.join(format!("{stem}.cc"));
            write(&source, text)?;
            units.push(Unit { source, object: sources.join(format!("{stem}.o")), fast, flags });
        }
    }
    Ok(units)
}

/// Texts that include the files, each of so many bytes at most, or of one file.
fn group_files(files: &[PathBuf], bytes_max: u64) -> Result<Vec<String>, BuildError> {
    let mut texts = Vec::new();
    let mut room = 0;
    for file in files {
        let bytes = fs::metadata(file).map_err(io_error(file))?.len();
        if texts.is_empty() || bytes > room {
            texts.push(String::new());
            room = bytes_max;
        }
        room = room.saturating_sub(bytes);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if let Some(text) = texts.last_mut() {
            text.push_str(&format!("#include \"{name}\"\n"));
        }
    }
    Ok(texts)
}

fn files_with(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, BuildError> {
    let entries = fs::read_dir(folder).map_err(io_error(folder))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(io_error(path))
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    fs::write(path, text).map_err(io_error(path))
}

fn io_error(path: &Path) -> impl Fn(std::io::Error) -> BuildError + '_ {
    move |reason| BuildError::Cache { path: path.to_path_buf(), reason }
}
