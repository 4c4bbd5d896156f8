//! A call of `cargo test`, and how long it may take.

use std::time::Duration;

/// One call of `cargo test`.
#[derive(Debug, PartialEq, Eq)]
pub struct Suite {
    /// The package.
    pub package: &'static str,
    /// Its targets, as `cargo test` takes them.
    pub targets: &'static [&'static str],
    /// What is in the names of its tests, one of these; empty: anything.
    pub names: &'static [&'static str],
    /// Further arguments of the test program.
    pub filter: &'static [&'static str],
}

impl Suite {
    /// Tests of a package, by its targets, what is in their names, and further arguments.
    pub const fn of(
        package: &'static str,
        targets: &'static [&'static str],
        names: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package, targets, names, filter }
    }

    /// The unit tests of a package, without those of a kernel.
    pub const fn unit(package: &'static str) -> Self {
        let filter = &["--skip", "kernel", "--skip", "linux"];
        Self { package, targets: &["--lib"], names: &[], filter }
    }

    /// Tests of single blocks, by the modules of `hdl/tests/hdl`.
    pub const fn of_hdl(names: &'static [&'static str]) -> Self {
        Self { package: "hdl", targets: &["--test", "hdl"], names, filter: &[] }
    }

    /// Tests of the package `sim`: its program, and what is in their names.
    pub const fn of_sim(
        targets: &'static [&'static str],
        names: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package: "sim", targets, names, filter }
    }

    /// Tests of the boards.
    pub const fn of_boards(
        targets: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package: "sim_board", targets, names: &[], filter }
    }

    /// Tests of the program.
    pub const fn of_program(
        targets: &'static [&'static str],
        filter: &'static [&'static str],
    ) -> Self {
        Self { package: "zeronic", targets, names: &[], filter }
    }

    /// Arguments of its test programs.
    pub fn arguments(&self) -> Vec<&'static str> {
        [self.names, self.filter].concat()
    }

    /// CPU time after which a test program of it hangs, seconds: several times what any takes. The
    /// load of the machine does not count.
    pub fn cpu_limit_s(&self) -> u64 {
        match self.targets {
            ["--lib"] | ["--bins"] => 30,
            _ => 300,
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
