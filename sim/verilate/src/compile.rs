//! Runs the C++ compiler over a set of files, as many at once as there are cores.
//!
//! Every file of every model begins with Verilator's headers, which take a second to read, longer
//! than the rest of a small one. They are compiled ahead, once for each level of optimisation.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use crate::error::BuildError;
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

/// What an optimised file may use on a processor with AVX2: moves of wide signals take fewer
/// instructions.
const AVX2_FLAGS: &[&str] = &["-mavx2", "-mbmi", "-mbmi2"];

const DEFINES: &[&str] =
    &["-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=1", "-DVM_TRACE_VCD=1"];

/// What is compiled ahead.
const HEADERS: &str = "#include \"verilated.h\"\n#include \"verilated_vcd_c.h\"\n";

/// A C++ compiler with its include path.
pub(crate) struct Compiler {
    program: String,
    include: PathBuf,
    fast_flags: Vec<&'static str>,
    header_flags: &'static [&'static str],
    link_flags: &'static [&'static str],
}

/// One run of the compiler.
pub(crate) struct Unit {
    /// What is compiled.
    pub source: PathBuf,
    /// Where the object goes.
    pub object: PathBuf,
    /// Runs every cycle: optimise.
    pub fast: bool,
    /// Flags beside those of all units.
    pub flags: &'static [&'static str],
}

/// For what records waveforms: thousands of short loops, each run once for a recorded change.
/// Unrolled, they take twice as long to compile, and run no faster.
pub(crate) const TRACE_FLAGS: &[&str] = &["-fno-unroll-loops"];

impl Compiler {
    /// `CXX`; otherwise the newest clang++, whose models compile and run faster; otherwise `c++`.
    pub fn locate(toolchain: &Toolchain) -> Compiler {
        static FOUND: LazyLock<String> =
            LazyLock::new(|| newest_clang().unwrap_or_else(|| "c++".into()));
        let program = std::env::var("CXX").unwrap_or_else(|_| FOUND.clone());
        let mut fast_flags = vec!["-O2"];
        if has_avx2() {
            fast_flags.extend(AVX2_FLAGS);
        }
        // Clang leaves a call to libatomic in Verilator's runtime, and does not link that library.
        let is_clang = Path::new(&program)
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("clang"));
        Compiler {
            program,
            include: toolchain.root.join("include"),
            fast_flags,
            // A wheel that is installed again has the same headers, written at another time.
            header_flags: if is_clang { &["-Xclang", "-fno-pch-timestamp"] } else { &[] },
            link_flags: if is_clang { &["-latomic"] } else { &[] },
        }
    }

    /// Part of cache keys.
    pub fn identity(&self) -> String {
        format!(
            "{} {} {} {} {}",
            self.program,
            FLAGS.join(" "),
            DEFINES.join(" "),
            self.fast_flags.join(" "),
            TRACE_FLAGS.join(" ")
        )
    }

    /// What decides whether headers that were compiled ahead are of use: the compiler's build, and
    /// where Verilator's headers are.
    pub fn headers_identity(&self) -> String {
        let version = Command::new(&self.program).arg("--version").output();
        let version = version.map_or_else(|_| Vec::new(), |output| output.stdout);
        format!("{} {}", self.include.display(), String::from_utf8_lossy(&version))
    }

    /// Compiles the headers into `folder`, for [`compile_all`].
    pub fn compile_headers(&self, folder: &Path) -> Result<(), BuildError> {
        for fast in [true, false] {
            let source = headers(folder, fast);
            std::fs::write(&source, HEADERS)
                .map_err(|reason| BuildError::Cache { path: source.clone(), reason })?;
            let mut command = self.command(fast, folder);
            command.args(self.header_flags);
            // Clang, too, looks for this ending.
            let object = source.with_extension("h.gch");
            command.args(["-x", "c++-header", "-o"]).arg(object);
            command.arg(&source);
            run(command, &source)?;
        }
        Ok(())
    }

    fn command(&self, fast: bool, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args(FLAGS).args(DEFINES);
        if fast {
            command.args(&self.fast_flags);
        } else {
            command.arg("-O0");
        }
        command.arg("-I.").arg("-I").arg(&self.include).arg("-I").arg(self.include.join("vltstd"));
        command
    }

    fn compile(&self, unit: &Unit, folder: &Path, ahead: Option<&Path>) -> Result<(), BuildError> {
        let mut command = self.command(unit.fast, folder);
        if let Some(ahead) = ahead {
            command.arg("-include").arg(headers(ahead, unit.fast));
        }
        command.args(unit.flags).arg("-c").arg("-o").arg(&unit.object).arg(&unit.source);
        run(command, &unit.source)
    }
}

/// The header that stands for all that are compiled ahead.
fn headers(folder: &Path, fast: bool) -> PathBuf {
    folder.join(if fast { "fast.h" } else { "slow.h" })
}

/// Compiles all units; the first failure is returned and stops the others from starting. `ahead` is
/// the folder with the headers that are compiled.
pub(crate) fn compile_all(
    compiler: &Compiler,
    units: &[Unit],
    folder: &Path,
    ahead: Option<&Path>,
) -> Result<(), BuildError> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(units.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = compiler.compile(unit, folder, ahead) {
                        next.store(units.len(), Ordering::Relaxed);
                        *failure.lock().expect("no holder panics") = Some(error);
                    }
                }
            });
        }
    });
    failure.into_inner().expect("no holder panics").map_or(Ok(()), Err)
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
        .args(objects)
        .args(compiler.link_flags);
    run(command, library)
}

/// Versions that are searched by name, as in `clang++-16`. With 16 or later the card's model runs
/// 1.2 times as fast as with 14, which is `clang++` in Debian 12.
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 15..=40;

/// The newest clang++ that has the libraries of a model; the plain name where that is the newest.
fn newest_clang() -> Option<String> {
    let versioned = CLANG_VERSIONS.map(|version| format!("clang++-{version}"));
    let found = versioned.chain(["clang++".to_owned()]).filter_map(|name| {
        let version = Command::new(&name).arg("-dumpversion").output().ok()?;
        Some((major_version(&version.stdout)?, name))
    });
    let mut found: Vec<(u32, String)> = found.collect();
    found.sort_by_key(|(version, _)| *version);
    let newest = found.into_iter().rev();
    newest.map(|(_, name)| name).find(|name| has_libraries(name))
}

/// 14 of `14.0.6`.
fn major_version(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    text.split('.').next()?.trim().parse().ok()
}

/// True if this compiler finds the libraries that a model is linked with.
fn has_libraries(program: &str) -> bool {
    ["libstdc++.so", "libatomic.so"].iter().all(|library| {
        let query = format!("-print-file-name={library}");
        // A library that is not found is printed as it was given.
        let found = Command::new(program).arg(query).output();
        found.is_ok_and(|found| found.stdout.starts_with(b"/"))
    })
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

fn run(mut command: Command, file: &Path) -> Result<(), BuildError> {
    let failed = |message| BuildError::Compile { file: file.display().to_string(), message };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_versions_are_read() {
        assert_eq!(major_version(b"14.0.6\n"), Some(14));
        assert_eq!(major_version(b"22\n"), Some(22));
        assert_eq!(major_version(b"unknown\n"), None);
    }

    #[test]
    fn none_is_newer_than_the_taken() {
        let Some(taken) = newest_clang() else {
            skip::skip(skip::Need::Clang, "there is no clang++ here");
            return;
        };
        let version = |name: &str| {
            let found = Command::new(name).arg("-dumpversion").output().ok()?;
            major_version(&found.stdout)
        };
        for name in CLANG_VERSIONS.map(|number| format!("clang++-{number}")) {
            let is_usable = version(&name).is_some() && has_libraries(&name);
            assert!(!is_usable || version(&name) <= version(&taken), "{name}");
        }
    }
}
