//! A call of `cargo test`, and how long it may take.

use std::time::Duration;

/// One call of `cargo test`.
#[derive(Debug, PartialEq, Eq)]
pub struct Suite {
    /// The package.
    pub package: &'static str,
    /// Its targets, as `cargo test` takes them.
    pub targets: &'static [&'static str],
    /// Arguments of the test program.
    pub filter: &'static [&'static str],
}

impl Suite {
    /// The unit tests of a package, without those of a kernel.
    pub const fn unit(package: &'static str) -> Self {
        Self { package, targets: &["--lib"], filter: &["--skip", "kernel", "--skip", "linux"] }
    }

    /// Tests of single blocks, by the modules of `hdl/tests/hdl`.
    pub const fn of_hdl(filter: &'static [&'static str]) -> Self {
        Self { package: "hdl", targets: &["--test", "hdl"], filter }
    }

    /// Tests of the package `sim`.
    pub const fn of_sim(targets: &'static [&'static str], filter: &'static [&'static str]) -> Self {
        Self { package: "sim", targets, filter }
    }

    /// Tests of the boards.
    pub const fn of_boards(
        targets: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package: "sim_board", targets, filter }
    }

    /// Tests of the program.
    pub const fn of_program(
        targets: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package: "zeronic", targets, filter }
    }

    /// CPU time after which a test program of it hangs, seconds: several times what any takes. The
    /// load of the machine does not count.
    pub fn cpu_limit_s(&self) -> u64 {
        match self.targets {
            ["--lib"] | ["--bins"] => 30,
            _ => 180,
        }
    }

    /// Its words in a report.
    pub fn name(&self) -> String {
        let targets = self.targets.iter().filter(|word| **word != "--test");
        let words: Vec<&str> = targets.copied().collect();
        format!("{} {}", self.package, words.join(" "))
    }
}

/// A suite that takes so many times as long as without a mutant hangs.
const HANG_FACTOR: u32 = 5;
/// Shortest limit of a run: machines are busy at times.
const LEAST_LIMIT: Duration = Duration::from_secs(30);

/// How long a run may take that takes so long without a mutant.
pub fn limit(took: Duration) -> Duration {
    (took * HANG_FACTOR).max(LEAST_LIMIT)
}
