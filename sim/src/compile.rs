//! Runs the C++ compiler over a set of files, as many at once as there are cores.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::design::BuildError;
use crate::toolchain::Toolchain;

/// Flags for every file. Hidden symbols keep several models in one process apart.
const FLAGS: &[&str] = &[
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-pthread",
    "-w",
];

const DEFINES: &[&str] = &[
    "-DVM_COVERAGE=0",
    "-DVM_SC=0",
    "-DVM_TIMING=0",
    "-DVM_TRACE=1",
    "-DVM_TRACE_VCD=1",
];

/// A C++ compiler with its include path.
pub(crate) struct Compiler {
    program: String,
    include: PathBuf,
}

/// One run of the compiler.
pub(crate) struct Unit {
    /// What is compiled.
    pub source: PathBuf,
    /// Where the object goes.
    pub object: PathBuf,
    /// Runs every cycle: optimise.
    pub fast: bool,
}

impl Compiler {
    /// `CXX`, or the system's `c++`.
    pub fn locate(toolchain: &Toolchain) -> Compiler {
        let program = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        Compiler {
            program,
            include: toolchain.root.join("include"),
        }
    }

    /// Part of cache keys.
    pub fn identity(&self) -> String {
        format!("{} {} {}", self.program, FLAGS.join(" "), DEFINES.join(" "))
    }

    fn compile(&self, unit: &Unit, folder: &Path) -> Result<(), BuildError> {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args(FLAGS).args(DEFINES);
        command.arg(if unit.fast { "-O2" } else { "-O0" });
        command
            .arg("-I.")
            .arg("-I")
            .arg(&self.include)
            .arg("-I")
            .arg(self.include.join("vltstd"));
        command
            .arg("-c")
            .arg("-o")
            .arg(&unit.object)
            .arg(&unit.source);
        run(command, &unit.source)
    }
}

/// Compiles all units; the first failure is returned and stops the others from starting.
pub(crate) fn compile_all(
    compiler: &Compiler,
    units: &[Unit],
    folder: &Path,
) -> Result<(), BuildError> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(units.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = compiler.compile(unit, folder) {
                        next.store(units.len(), Ordering::Relaxed);
                        *failure.lock().expect("no holder panics") = Some(error);
                    }
                }
            });
        }
    });
    failure
        .into_inner()
        .expect("no holder panics")
        .map_or(Ok(()), Err)
}

/// Links objects into a shared library that exports the shim alone.
pub(crate) fn link(
    compiler: &Compiler,
    objects: &[PathBuf],
    library: &Path,
) -> Result<(), BuildError> {
    let mut command = Command::new(&compiler.program);
    command
        .args(["-shared", "-Wl,-Bsymbolic", "-pthread", "-o"])
        .arg(library)
        .args(objects);
    run(command, library)
}

fn run(mut command: Command, file: &Path) -> Result<(), BuildError> {
    let failed = |message| BuildError::Compile {
        file: file.display().to_string(),
        message,
    };
    let output = command.output().map_err(|reason| {
        let program = command.get_program().to_string_lossy().into_owned();
        failed(format!("cannot run {program}: {reason}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(text.lines().take(40).collect::<Vec<_>>().join("\n")))
}
