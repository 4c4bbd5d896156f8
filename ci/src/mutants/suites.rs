//! Which tests could see a fault in a file, cheapest first.
//!
//! A suite is one call of `cargo test`. Tests that only compare text (digests, area, planted
//! faults, whose text a mutant may be) judge no behaviour and are not among them. Those with the
//! kernel's TCP take their time from the wall clock: they judge nothing but what only they reach.

use std::path::Path;

use super::suite::Suite;

/// Only what runs on the golden card, without a kernel.
const ON_GOLDEN: &[&str] = &["--skip", "verilated", "--skip", "kernel"];
/// Without the faults that are planted in a text.
const NO_PLANTED: &[&str] = &["--skip", "faults", "--skip", "caught"];

/// Test programs of `sim`.
const BLOCKS: &[&str] = &["--test", "blocks"];
const HOST: &[&str] = &["--test", "host"];
const SYSTEM: &[&str] = &["--test", "system"];
const VERILOG: &[&str] = &["--test", "verilog"];
/// The test program of `sim/measure`.
const MEASURE: &[&str] = &["--test", "measure"];

/// Of the receive path what compares values, without what takes its time: planted faults, rates,
/// held entries.
const QUICK_RECEIVE: &[&str] =
    &["--skip", "faults", "--skip", "rate", "--skip", "held", "--skip", "shared"];

/// The unit tests of the program.
const PROGRAM: Suite = Suite::of_program(&["--bins"], &["--skip", "kernel"]);

/// What costs the engines cycles, and no more.
const DMA_RATE: Suite = Suite::of("measure", MEASURE, &["dma_rate::"], &[]);

/// Suites by the start of a path; the first that fits counts.
const TABLE: &[(&str, &[Suite])] = &[
    (
        "host/tcp/src",
        &[Suite::unit("zeronic-tcp"), Suite::of("zeronic-tcp", &["--tests"], &[], &[])],
    ),
    (
        "host/vfio-user/src",
        &[Suite::unit("zeronic-vfio-user"), Suite::of("zeronic-vfio-user", &["--tests"], &[], &[])],
    ),
    (
        "host/src/message",
        &[Suite::unit("zeronic-host"), Suite::of_sim(HOST, &["messages::"], NO_PLANTED)],
    ),
    (
        "host/src/transport/linux",
        &[
            Suite::of("zeronic-host", &["--lib", "--test", "transport"], &[], &[]),
            Suite::of_sim(SYSTEM, &["golden::"], &[]),
            Suite::of_sim(HOST, &["kernel", "every_byte"], &[]),
        ],
    ),
    (
        "host/src/transport",
        &[
            Suite::unit("zeronic-host"),
            Suite::of(
                "zeronic-host",
                &["--test", "transport"],
                &[],
                &["--skip", "linux", "--skip", "kernel"],
            ),
            Suite::of_sim(HOST, &["provider::"], ON_GOLDEN),
        ],
    ),
    (
        "host/board/src",
        &[Suite::unit("host_board"), Suite::of_boards(&["--test", "boards"], &["flash_update::"])],
    ),
    (
        "host/src",
        &[
            Suite::unit("zeronic-host"),
            Suite::of_sim(HOST, &["provider::"], ON_GOLDEN),
            Suite::of_sim(HOST, &["protocol::", "messages::", "idle::"], ON_GOLDEN),
            Suite::of("measure", MEASURE, &["connections::", "null_card::"], ON_GOLDEN),
            Suite::of_sim(SYSTEM, &["golden::"], &[]),
            Suite::of_sim(HOST, &["kernel", "every_byte"], &[]),
        ],
    ),
    (
        "sim/golden/src",
        &[
            Suite::unit("zeronic-golden"),
            Suite::of_sim(HOST, &["provider::"], ON_GOLDEN),
            Suite::of_sim(BLOCKS, &["rx_split::"], QUICK_RECEIVE),
            Suite::of_sim(BLOCKS, &["tx_merge::", "tables::random::"], NO_PLANTED),
            Suite::of_sim(SYSTEM, &["random::"], &[]),
        ],
    ),
    (
        "sim/pcie-sim/src",
        &[
            Suite::unit("zeronic-pcie-sim"),
            Suite::of("zeronic-pcie-sim", &["--test", "pcie_sim"], &[], &[]),
            Suite::of_sim(BLOCKS, &["dma::read::", "dma::write::"], NO_PLANTED),
        ],
    ),
    (
        "sim/verilate/src",
        &[Suite::unit("verilate"), Suite::of("verilate", &["--test", "verilate"], &[], &[])],
    ),
    (
        "sim/measure/src",
        &[
            Suite::unit("measure"),
            Suite::of("measure", MEASURE, &["null_card::", "connections::"], &[]),
            Suite::of("measure", MEASURE, &["dma_rate::", "rates::"], &[]),
            Suite::of("measure", MEASURE, &["system_"], &[]),
        ],
    ),
    (
        "hdl/stream/src",
        &[
            Suite::of_hdl(&["stream::"]),
            Suite::of_sim(BLOCKS, &["packets::", "harness::", "crossings::"], NO_PLANTED),
        ],
    ),
    (
        "hdl/tables/src",
        &[
            Suite::of_hdl(&["tables::"]),
            Suite::of_sim(BLOCKS, &["single_blocks::toeplitz_hash::"], &[]),
            Suite::of_sim(
                BLOCKS,
                &["tables::random::", "tables::lists::", "tables::order::", "tables::statuses::"],
                NO_PLANTED,
            ),
        ],
    ),
    (
        "hdl/rx_split/src/verify",
        &[
            Suite::of_sim(BLOCKS, &["checksum_exact::"], &[]),
            Suite::of_sim(BLOCKS, &["rx_split::"], QUICK_RECEIVE),
        ],
    ),
    (
        "hdl/rx_split/src",
        &[
            Suite::of_hdl(&["rx_split::"]),
            Suite::of_sim(BLOCKS, &["rx_split::"], QUICK_RECEIVE),
            Suite::of_sim(BLOCKS, &["rx_split::"], NO_PLANTED),
        ],
    ),
    (
        "hdl/tx_merge/src/checksum",
        &[
            Suite::of_sim(BLOCKS, &["checksum_exact::"], &[]),
            Suite::of_sim(BLOCKS, &["tx_merge::"], NO_PLANTED),
        ],
    ),
    (
        "hdl/tx_merge/src",
        &[Suite::of_hdl(&["tx_merge::"]), Suite::of_sim(BLOCKS, &["tx_merge::"], NO_PLANTED)],
    ),
    (
        "hdl/dma/src/read",
        &[
            Suite::of_hdl(&["dma::"]),
            Suite::of_sim(BLOCKS, &["single_blocks::tags::"], &[]),
            Suite::of_sim(
                BLOCKS,
                &[
                    "dma::read::",
                    "dma::read_errors::",
                    "dma::activity::",
                    "dma::ends::",
                    "dma::leaves::",
                ],
                NO_PLANTED,
            ),
            DMA_RATE,
        ],
    ),
    (
        "hdl/dma/src",
        &[
            Suite::of_hdl(&["dma::"]),
            Suite::of_sim(
                BLOCKS,
                &[
                    "dma::write::",
                    "dma::write_order::",
                    "dma::activity::",
                    "dma::read::",
                    "dma::window::",
                    "dma::beat_plan::",
                    "dma::leaves::",
                ],
                NO_PLANTED,
            ),
            DMA_RATE,
        ],
    ),
    ("hdl/host_interface/src/completer", &[Suite::of_sim(BLOCKS, &["completer::"], NO_PLANTED)]),
    ("hdl/host_interface/src/completion", &[Suite::of_sim(BLOCKS, &["completion::"], NO_PLANTED)]),
    (
        "hdl/host_interface/src/csr",
        &[Suite::of_hdl(&["host_interface::"]), Suite::of_sim(BLOCKS, &["csr::"], NO_PLANTED)],
    ),
    (
        "hdl/host_interface/src/interrupt",
        &[Suite::of_sim(BLOCKS, &["interrupt::moderated::", "interrupt::races::"], NO_PLANTED)],
    ),
    (
        "hdl/host_interface/src/ring",
        &[
            Suite::of_hdl(&["host_interface::"]),
            Suite::of_sim(BLOCKS, &["ring::", "slots::", "pushed::"], NO_PLANTED),
        ],
    ),
    (
        "hdl/host_interface/src",
        &[
            Suite::of_hdl(&["host_interface::"]),
            Suite::of_sim(BLOCKS, &["ring::", "csr::"], NO_PLANTED),
            Suite::of_sim(SYSTEM, &["card::"], NO_PLANTED),
        ],
    ),
    (
        "hdl/board/src/window",
        &[Suite::of_boards(&["--test", "boards"], &["window::", "flash::", "--skip", "planted"])],
    ),
    (
        "hdl/board/src",
        &[Suite::of_boards(
            &["--test", "boards"],
            &["boards::", "tops::", "documents::", "golden"],
        )],
    ),
    ("hdl/ip/src/cmac", &[Suite::of_sim(BLOCKS, &["mac::", "mac_side::"], NO_PLANTED)]),
    ("hdl/ip/src/pcie_core", &[Suite::of_boards(&["--test", "boards"], &["boards::", "tops::"])]),
    ("hdl/ip/src", &[Suite::of_hdl(&["ip::"]), Suite::of_sim(BLOCKS, &["mac::"], NO_PLANTED)]),
    (
        "hdl/verilog/src",
        &[
            Suite::of("verilog", &["--lib", "--test", "emit"], &[], &[]),
            Suite::of_sim(VERILOG, &["meaning::"], &[]),
        ],
    ),
    ("hdl/abi/src", &[Suite::unit("zeronic-abi"), Suite::of_sim(HOST, &["provider::"], ON_GOLDEN)]),
    ("hdl/src/crossings", &[Suite::of_sim(VERILOG, &["crossings::"], &[])]),
    (
        "hdl/src",
        &[
            Suite::of_hdl(&["emit::", "ports::"]),
            Suite::of_sim(VERILOG, &["lint::"], ON_GOLDEN),
            Suite::of_sim(SYSTEM, &["card::"], ON_GOLDEN),
        ],
    ),
    ("cli/src/board/flash", &[PROGRAM, Suite::of_program(&["--test", "cli"], &["board::flash::"])]),
    (
        "cli/src/board",
        &[
            PROGRAM,
            Suite::of_program(
                &["--test", "cli"],
                &["board::boards::", "board::build::", "board::device::"],
            ),
            Suite::of_program(&["--test", "cli"], &["verilog::"]),
        ],
    ),
    (
        "cli/src/replay",
        &[
            PROGRAM,
            Suite::of_program(
                &["--test", "cli"],
                &[
                    "sending::",
                    "learned::",
                    "flow_files::",
                    "captures::",
                    "regions::",
                    "replay::",
                    "disturbed::",
                ],
            ),
        ],
    ),
    (
        "cli/src/demo",
        &[PROGRAM, Suite::of_program(&["--test", "cli"], &["demo::", "--skip", "kernel"])],
    ),
    (
        "cli/src/bench",
        &[
            PROGRAM,
            Suite::of_program(
                &["--test", "cli"],
                &["bench::", "counts::", "--skip", "kernel", "--skip", "cpu_time"],
            ),
        ],
    ),
    (
        "cli/src",
        &[
            PROGRAM,
            Suite::of_program(
                &["--test", "cli"],
                &[
                    "arguments::",
                    "output::",
                    "documents::",
                    "verilog::",
                    "regions::",
                    "--skip",
                    "kernel",
                ],
            ),
        ],
    ),
];

/// Parts of the program that measure, and that no test judges by value; and what installs tools
/// for everything that runs after it.
const LEFT_OUT: &[&str] = &["cli/src/soak.rs", "sim/verilate/src/toolchain.rs"];

/// The suites of a file, cheapest first; `None` for a file whose mutants nothing is to judge.
pub fn of(file: &Path) -> Option<&'static [Suite]> {
    let is_below = |start: &&str| file.starts_with(start) || file_starts(file, start);
    let is_left_out = file.ends_with("tests.rs") || LEFT_OUT.iter().any(is_below);
    let row = TABLE.iter().find(|(start, _)| is_below(start));
    row.filter(|_| !is_left_out).map(|(_, suites)| *suites)
}

/// The row of a file's suites: files of one row are judged by the same.
pub fn row(file: &Path) -> Option<usize> {
    let suites = of(file)?;
    TABLE.iter().position(|(_, known)| std::ptr::eq(*known, suites))
}

/// Whether a path starts with this text: `a/b` is the start of `a/b.rs` and of `a/b/c.rs`.
fn file_starts(file: &Path, start: &str) -> bool {
    file.to_str().is_some_and(|file| file.strip_prefix(start) == Some(".rs"))
}

/// Whether a file is the contract, whose constants all sides read.
pub fn has_contract(file: &Path) -> bool {
    file.starts_with("hdl/abi/src")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::untested::has_no_unit_tests;

    /// Packages whose folder has another name.
    const FOLDERS: &[(&str, &str)] = &[
        ("zeronic", "cli"),
        ("host_board", "host/board"),
        ("zeronic-host", "host"),
        ("zeronic-abi", "hdl/abi"),
        ("verilog", "hdl/verilog"),
        ("zeronic-tcp", "host/tcp"),
        ("zeronic-vfio-user", "host/vfio-user"),
        ("sim_board", "sim/board"),
        ("zeronic-golden", "sim/golden"),
        ("zeronic-pcie-sim", "sim/pcie-sim"),
        ("verilate", "sim/verilate"),
        ("measure", "sim/measure"),
    ];

    #[test]
    fn the_longest_start_comes_first() {
        for (at, (start, _)) in TABLE.iter().enumerate() {
            let hidden = |(before, _): &(&str, _)| Path::new(start).starts_with(before);
            assert!(!TABLE[..at].iter().any(hidden), "{start} is never reached");
        }
    }

    #[test]
    fn a_module_goes_with_its_folder() {
        let of = |file: &str| super::of(Path::new(file)).map(|suites| suites[0].name());
        assert_eq!(of("hdl/host_interface/src/csr.rs"), of("hdl/host_interface/src/csr/peaks.rs"));
        assert_eq!(of("host/src/provider.rs"), Some("zeronic-host --lib".into()));
        assert_eq!(of("sim/lab/src/exchange.rs"), None);
        assert_eq!(of("cli/src/soak.rs"), None);
        let bench = super::of(Path::new("cli/src/bench/all.rs")).expect("suites");
        assert!(bench.iter().any(|suite| suite.filter.contains(&"bench::")), "tests of its own");
    }

    #[test]
    fn every_start_and_every_test_exists() {
        let root = crate::walk::workspace();
        for (start, suites) in TABLE {
            assert!(root.join(start).exists() || root.join(format!("{start}.rs")).exists());
            for suite in *suites {
                let folder = FOLDERS.iter().find(|(name, _)| *name == suite.package);
                let folder = root.join(folder.map_or(suite.package, |(_, folder)| folder));
                let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
                let has_none = has_no_unit_tests(&manifest.expect("a manifest"));
                assert!(!has_none || !suite.targets.contains(&"--lib"), "{folder:?}");
                let tests = folder.join("tests");
                for name in suite.targets.iter().filter(|word| !word.starts_with("--")) {
                    let file = tests.join(name);
                    let exists = file.join("main.rs").exists();
                    assert!(exists || file.with_extension("rs").exists(), "{name}");
                }
            }
        }
    }
}
