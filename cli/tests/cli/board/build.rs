//! `zeronic build` beside a stand-in for Vivado, which carries out the real script and answers from
//! the environment (`ci/vivado/replay.tcl`).

use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Output;

use abi::image::Slot;
use host_board::image::{idcode, Image};
use sha2::{Digest, Sha256};
use verilate::toolchain::{hex, vivado_help, workspace_folder, Yosys};

use crate::run::{command, expect_refusal, expect_success, folder, ROOT};

/// The steps of a build, in their order.
const STEPS: [&str; 9] = [
    "ip",
    "synthesis",
    "opt",
    "place",
    "phys_opt",
    "route",
    "phys_opt_routed",
    "reports",
    "bitstream",
];

/// A register of the card at either end of a path, and what both are called in its blocks.
const PATH: &str = "shell/card/datapath/rx_split/intake/gate/toggle_reg/C \
                    shell/card/mac_send/crossing/head_reg[1]/D";
const ENDS: [&str; 2] = ["datapath/rx_split/intake/gate.toggle.q", "mac_send/crossing.head.q[1]"];

/// A folder with a Vivado of the stand-in's kind, and one to build in.
struct Bench {
    folder: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Self {
        let folder = folder(name);
        let bin = folder.join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        let bench = Self { folder };
        // The last word is the script.
        bench.install(&format!(
            "[ \"$1\" = -version ] && echo \"vivado v${{REPLAY_VERSION:-2023.1}}\" && exit\n\
             for script; do :; done\n\
             REPLAY_NAMES=0 exec tclsh {ROOT}/ci/vivado/replay.tcl \"$PWD/$script\"\n"
        ));
        bench
    }

    /// Puts a script in Vivado's place.
    fn install(&self, script: &str) {
        let program = self.folder.join("bin/vivado");
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a program");
    }

    fn out(&self) -> PathBuf {
        self.folder.join("out")
    }

    /// Runs the build.
    fn build(&self, more: &[&str], variables: &[(&str, &str)]) -> Built {
        let path = std::env::var("PATH").expect("a PATH");
        let path = format!("{}:{path}", self.folder.join("bin").display());
        self.build_with(&path, more, variables)
    }

    fn build_with(&self, path: &str, more: &[&str], variables: &[(&str, &str)]) -> Built {
        let out = self.out();
        let out = out.to_str().expect("a path");
        let is_golden = more.contains(&"--golden");
        let size: &[&str] = if is_golden { &[] } else { &["--config", "small"] };
        let words = ["build", "--board", "vcu118", "--out", out];
        let mut command = command(&[&words[..], size, more].concat());
        for name in ["ZERONIC_GIT_HASH", "SOURCE_DATE_EPOCH"] {
            command.env_remove(name);
        }
        command.env("VIVADO_HELP", vivado_help().expect("Vivado's help"));
        command.env("PATH", path).envs(variables.iter().copied());
        Built(command.output().expect("the program starts"))
    }

    fn result(&self, name: &str) -> PathBuf {
        self.out().join("build").join(name)
    }
}

struct Built(Output);

impl Built {
    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// What is said on standard error, without the steps that begin.
    fn messages(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0.stderr).into_owned();
        let lines = text.lines().filter(|line| !line.ends_with(" ..."));
        lines.map(str::to_owned).collect()
    }

    /// It must end with that status.
    fn expect_status(self, status: i32) -> Self {
        let (out, said) = (self.out(), self.messages());
        assert_eq!(self.0.status.code(), Some(status), "{out}\n{said:#?}");
        self
    }

    /// It must end with that status and one line that says all of `parts`.
    fn expect_refusal(self, status: i32, parts: &[&str]) -> Self {
        let built = self.expect_status(status);
        let said = built.messages();
        assert_eq!(said.len(), 1, "{said:#?}");
        for part in parts {
            assert!(said[0].contains(part), "'{part}' is not in: {}", said[0]);
        }
        built
    }

    /// Steps that were run or kept, in their order.
    fn steps(&self, kept: bool) -> Vec<String> {
        let out = self.out();
        let lines = out.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let step = words.next().filter(|word| STEPS.contains(word))?;
            let what = words.next()?;
            let is_time = what.split(':').count() == 3 && what.len() == 7;
            ((what == "kept" && kept) || (is_time && !kept)).then(|| step.to_owned())
        });
        lines.collect()
    }

    fn has(&self, parts: &[&str]) {
        let out = self.out();
        for part in parts {
            assert!(out.contains(part), "'{part}' is not in:\n{out}");
        }
    }
}

#[test]
fn timely_build_writes_image_and_table() {
    let bench = Bench::new("build_good");
    let variables = [("REPLAY_SLACK", "0.012"), ("REPLAY_PATH", PATH)];
    let built = bench.build(&["--jobs", "4"], &variables).expect_status(0);
    assert_eq!(built.messages(), [""; 0]);
    assert_eq!(built.steps(false), STEPS);
    built.has(&[
        "slack of user_clk (4.000 ns), setup / hold",
        "slack of gt_txusrclk2 (3.103 ns), setup / hold",
        "0.012 / 0.02 ns",
        ENDS[0],
        ENDS[1],
        "die 1",
        "68123 LUT (17.29 %), 350.5 BRAM (48.68 %), 188 URAM (58.75 %)",
    ]);
    let image = Image::read(&bench.result("zeronic_vcu118.zimg")).expect("an image");
    assert_eq!(image.header.board, "vcu118");
    assert_eq!(image.header.config, "small");
    assert_eq!(image.header.slot, Slot::User);
    assert_eq!(idcode(&image.data), Some(0x04b3_1093));
    let mut git = std::process::Command::new("git");
    let git = git.args(["rev-parse", "HEAD"]).current_dir(ROOT).output();
    let git = git.expect("git runs").stdout;
    assert_eq!(image.header.git, String::from_utf8_lossy(&git).trim());
    let log = std::fs::read_to_string(bench.result("vivado.log")).expect("a log");
    assert!(log.contains("1 set_param"), "{log}");
    // The same once more: what is done is kept, and the image is the same.
    let again = bench.build(&[], &variables).expect_status(0);
    assert_eq!(again.steps(false), ["reports", "bitstream"]);
    let second = Image::read(&bench.result("zeronic_vcu118.zimg")).expect("an image");
    assert_eq!(second, image);
    let fresh = bench.build(&["--fresh"], &variables).expect_status(0);
    assert_eq!(fresh.steps(false).len(), 9);
}

/// What must hold, and what is said where it does not.
const WRONG: [(&str, &str, &[&str]); 5] = [
    (
        "REPLAY_SLACK",
        "-0.031",
        &["-0.031 ns, 5 LUTs", ENDS[0], ENDS[1], "wrong: setup: slack -0.031 ns"],
    ),
    (
        "REPLAY_CDC",
        "CDC-1  Critical  3  1-bit unknown CDC circuitry",
        &["critical crossings", "wrong: a crossing that is none of the card's (3)"],
    ),
    ("REPLAY_UNCONSTRAINED", "7", &["wrong: paths without a constraint (7)"]),
    (
        "REPLAY_PORTS",
        "led[0], and qsfp_resetl",
        &["led[0], qsfp_resetl", "wrong: port qsfp_resetl has no pin"],
    ),
    ("REPLAY_SKEW", "Slack (VIOLATED)", &["wrong: bits of a crossing arrive too far apart (1)"]),
];

#[test]
fn wrong_image_is_not_written() {
    let bench = Bench::new("build_wrong");
    bench.build(&[], &[]).expect_status(0);
    for (variable, value, said) in WRONG {
        let built = bench.build(&[], &[(variable, value), ("REPLAY_PATH", PATH)]).expect_status(1);
        built.has(said);
        assert_eq!(built.steps(true).len(), 7, "{}", built.out());
        assert_eq!(built.messages(), [""; 0]);
        for end in ["bit", "zimg", "mcs"] {
            let file = bench.result(&format!("zeronic_vcu118.{end}"));
            assert!(!file.exists(), "{variable}: {}", file.display());
        }
    }
}

/// For a first look at a board: the image is there, says what it is, and so does the exit status.
#[test]
fn an_image_may_be_forced() {
    let bench = Bench::new("build_forced");
    let variables = [("REPLAY_SLACK", "-0.031"), ("REPLAY_PORTS", "led[0]"), ("REPLAY_PATH", PATH)];
    let built = bench.build(&["--force-image"], &variables);
    let built = built.expect_refusal(5, &["forced", "2 things are wrong"]);
    built.has(&["wrong: setup: slack -0.031 ns", "wrong: port led[0] has no pin", "image "]);
    let file = bench.result("zeronic_vcu118.zimg");
    assert_eq!(Image::read(&file).expect("an image").header.forced, 2);
    // Without the option it is not written; with nothing wrong it is none that was forced.
    bench.build(&[], &variables).expect_status(1);
    assert!(!file.exists());
    bench.build(&["--force-image"], &[]).expect_status(0);
    assert_eq!(Image::read(&file).expect("an image").header.forced, 0);
}

#[test]
fn the_worst_paths_are_explained() {
    let bench = Bench::new("build_explained");
    let variables = [("REPLAY_SLACK", "-0.031"), ("REPLAY_PATH", PATH)];
    let built = bench.build(&["--explain"], &variables).expect_status(1);
    built.has(&[
        "setup from shell/card/datapath/rx_split/intake/gate/toggle_reg/C",
        "hold to shell/card/mac_send/crossing/head_reg[1]/D",
        "block     ValueCrossing",
        "hdl/stream/src/",
        "field     head.q, bit 1",
    ]);
    // The window is of the board's top; the cores have no block of ours.
    let names = "shell/window/clocks/mac/turn_reg/C shell/mac/core/inst/x_reg/D";
    let built = bench.build(&["--explain"], &[("REPLAY_PATH", names)]).expect_status(0);
    built.has(&["shell/window/clocks/mac.turn.q", "hdl/board/src/", "none of ours"]);
}

#[test]
fn wrong_vivado_is_refused_unless_forced() {
    let bench = Bench::new("build_version");
    for version in ["2023.2", "2023.2.1"] {
        let built = bench.build(&[], &[("REPLAY_VERSION", version)]);
        built.expect_refusal(2, &[version, "wrong logic of masks", "--force-vivado"]);
    }
    assert!(!bench.result("vivado.log").exists());
    let forced =
        bench.build(&["--force-vivado"], &[("REPLAY_VERSION", "2023.2.1")]).expect_status(0);
    forced.has(&["2023.2.1"]);
}

#[test]
fn build_resumes_after_a_crash() {
    let bench = Bench::new("build_crash");
    let built = bench.build(&[], &[("REPLAY_FAIL", "route_design")]);
    let built = built.expect_refusal(4, &["step route", "signal 9", "vivado.log"]);
    assert_eq!(built.steps(false), ["ip", "synthesis", "opt", "place", "phys_opt"]);
    let again = bench.build(&[], &[]).expect_status(0);
    assert_eq!(again.steps(true), ["ip", "synthesis", "opt", "place", "phys_opt"]);
    // A crash behind the reports has figures, and no image.
    let built = bench.build(&[], &[("REPLAY_FAIL", "write_bitstream")]);
    let built = built.expect_refusal(4, &["step bitstream", "the design is as it must be"]);
    built.has(&["slack of user_clk"]);
    // Of a step that was cut off there is no checkpoint: it is run again.
    let built = bench.build(&["--fresh"], &[("REPLAY_FAIL", "write_checkpoint/3")]);
    built.expect_refusal(4, &["step place", "signal 9"]);
    assert_eq!(bench.build(&[], &[]).expect_status(0).steps(true), ["ip", "synthesis", "opt"]);
}

#[test]
fn vivado_failure_is_one_line() {
    let bench = Bench::new("build_failed");
    let key = "ERROR: [Common 17-345] A valid license was not found for feature 'Synthesis'";
    let built = bench.build(&[], &[("REPLAY_FAIL", &format!("synth_design {key}"))]);
    built.expect_refusal(
        4,
        &["step synthesis", "no licence (xcvu9p-flga2104-2L-e", "Vivado Enterprise"],
    );
    let error = "ERROR: [Place 30-640] Place Check : This design requires more URAM cells";
    let built = bench.build(&[], &[("REPLAY_FAIL", &format!("place_design {error}"))]);
    built.expect_refusal(4, &["step place", error]);
    // A checkpoint goes to a disk that is full.
    let checkpoint = bench.result("unfinished.dcp");
    symlink("/dev/full", &checkpoint).expect("a link");
    let built = bench.build(&["--jobs", "2"], &[]);
    built.expect_refusal(4, &["step place", "the disk is full", "no space left on device"]);
    std::fs::remove_file(&checkpoint).expect("a link goes");
    assert_eq!(bench.build(&[], &[]).expect_status(0).steps(true), ["ip", "synthesis", "opt"]);
    bench.install("echo 'libtinfo.so.5: cannot open shared object file' >&2; exit 127\n");
    bench.build(&[], &[]).expect_refusal(4, &["-version says no version", "libtinfo.so.5"]);
    bench.install("[ \"$1\" = -version ] && echo v2024.1 && exit 0\nexit 0\n");
    bench.build(&[], &[]).expect_refusal(4, &["ended without a result"]);
}

#[test]
fn without_vivado_folder_and_next_step_remain() {
    let bench = Bench::new("build_without");
    let empty = bench.folder.join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    // A file of that name that is no program is none.
    std::fs::write(empty.join("vivado"), "text").expect("a file");
    let path = empty.to_str().expect("a path");
    let out = bench.out();
    let built = bench.build_with(path, &[], &[]);
    let line = "vivado -mode batch -source build.tcl";
    let built =
        built.expect_refusal(3, &["no `vivado` on the PATH", out.to_str().expect("a path"), line]);
    built.has(&["card zeronic_small, top module zeronic_vcu118"]);
    for name in ["build.tcl", "steps.tcl", "judge.tcl", "image.tcl", "board.tcl", "files.f"] {
        assert!(out.join(name).is_file(), "{name}");
    }
}

#[test]
fn golden_image_is_built_where_ours() {
    let bench = Bench::new("build_golden");
    let names = "golden/window/chips/command/kept_reg[3]/C golden/pcie_side/core/inst/x_reg/D";
    let built = bench.build(&["--golden"], &[("REPLAY_PATH", names)]).expect_status(0);
    built.has(&[
        "golden image, top module zeronic_golden_vcu118",
        "golden/window/chips/command.kept.q[3]",
    ]);
    for (name, config) in [("", "golden"), ("_stay", "golden-stay")] {
        let file = bench.result(&format!("zeronic_golden_vcu118{name}.zimg"));
        let image = Image::read(&file).expect("an image");
        assert_eq!((image.header.slot, image.header.config.as_str()), (Slot::Golden, config));
    }
    let out = bench.out();
    let out = out.to_str().expect("a path");
    let words = ["build", "--golden", "--board", "u280", "--out", out];
    expect_refusal(&words, &["u280", "factory image", "vcu118"]);
    expect_refusal(&[&words[..], &["--config", "small"]].concat(), &["--golden", "--config"]);
}

/// The small card as Yosys leaves it: flat, its logic optimised across the blocks' borders. That
/// takes a while, so it is kept for the next run.
fn netlist(out: &Path) -> PathBuf {
    let list = std::fs::read_to_string(out.join("card.f")).expect("a list");
    let mut hash = Sha256::new();
    for file in list.lines() {
        hash.update(std::fs::read(out.join(file)).expect("a file"));
    }
    let yosys = Yosys::locate().expect("Yosys");
    hash.update(&yosys.identity);
    hash.update(NETLIST_SCRIPT);
    let cache = workspace_folder("ZERONIC_CACHE", ".cache").join("netlists");
    std::fs::create_dir_all(&cache).expect("a folder");
    let kept = cache.join(format!("{}.v", hex(&hash.finalize()[..10])));
    if kept.is_file() {
        return kept;
    }
    let fresh = cache.join(format!("unfinished.{}.v", std::process::id()));
    let script = format!(
        "read_verilog {}\n{NETLIST_SCRIPT}write_verilog -noattr {}\n",
        list.replace('\n', " "),
        fresh.display()
    );
    let commands = out.join("netlist.ys");
    std::fs::write(&commands, script).expect("a script");
    let mut command = std::process::Command::new(yosys.program);
    command.arg("-q").arg("-s").arg(&commands).current_dir(out);
    let output = command.output().expect("Yosys runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    std::fs::rename(&fresh, &kept).expect("a file");
    kept
}

/// What Yosys does. Wires without a reader go first: most of the time of `opt` is theirs.
const NETLIST_SCRIPT: &str = "hierarchy -top zeronic_small\nproc\nflatten\nopt_clean -purge\nopt\n";

#[test]
fn cards_test_runs_on_netlist() {
    let bench = Bench::new("build_netlist");
    let without = bench.build_with("/nowhere", &[], &[]);
    without.expect_status(3);
    let good = netlist(&bench.out());
    let name = good.to_str().expect("a path");
    let built = bench.build(&["--check-netlist"], &[("REPLAY_NETLIST", name)]).expect_status(0);
    built.has(&["netlist           0:00:", "the netlist does what the card does"]);
    let text = std::fs::read_to_string(&good).expect("a netlist");
    let broken = bench.folder.join("broken.v");
    let name = broken.to_str().expect("a path");
    // A mask that is shifted the wrong way: what the synthesis of Vivado 2023.2 is known for.
    let at = text.find("64'hffffffffffffffff << \\datapath.tx_merge.assemble.checksum.unit");
    let (before, mask) = text.split_at(at.expect("a mask"));
    let wrong_way = format!("{before}{}", mask.replacen("<<", ">>", 1));
    std::fs::write(&broken, wrong_way).expect("a file");
    let wrong = bench.build(&["--check-netlist"], &[("REPLAY_NETLIST", name)]).expect_status(1);
    wrong.has(&["wrong: the netlist does not do what the card does: "]);
    assert_eq!(wrong.steps(false), [""; 0]);
    // A card that cannot be asked, and one with primitives that nobody has models of.
    let primitive = "endmodule\n\nmodule more (a);\n  LUT6 x (.O(a));\nendmodule\n";
    for (from, to, said) in [
        ("module zeronic_small(user_clk, ", "module zeronic_small(", "has no port user_clk"),
        ("module zeronic_small(", "module zeronic_smal(", "no module zeronic_small"),
        ("endmodule\n", primitive, "unisims/LUT6.v is not there"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&broken, text.replacen(from, to, 1)).expect("a file");
        let built = bench.build(&["--check-netlist"], &[("REPLAY_NETLIST", name)]);
        built.expect_refusal(4, &["--check-netlist", said]);
    }
}

/// What fails behind the end of a step and before the next one is blamed on neither.
#[test]
fn failure_between_steps_blames_neither() {
    let bench = Bench::new("build_between");
    let lines = |lines: &[&str]| {
        let said: String = lines.iter().map(|line| format!("echo '{line}'\n")).collect();
        format!("[ \"$1\" = -version ] && echo 'vivado v2023.1' && exit\n{said}exit 1\n")
    };
    let (begun, ended) = ("zeronic-step opt begin", "zeronic-step opt end");
    let between = "ERROR: [Common 17-69] between";
    bench.install(&lines(&[begun, ended, between]));
    bench.build(&[], &[]).expect_refusal(4, &["Vivado failed between its steps", between]);
    let within = "ERROR: [Place 30-640] within";
    bench.install(&lines(&[begun, ended, "zeronic-step place begin", within]));
    bench.build(&[], &[]).expect_refusal(4, &["Vivado failed in step place", within]);
}

/// Other statuses than 0 and 1 are in the help and in the guide.
#[test]
fn the_exit_statuses_are_documented() {
    let help = expect_success(&["build", "--help"]);
    let guide = std::fs::read_to_string(Path::new(ROOT).join("docs/boards/README.md"));
    let guide = guide.expect("a document");
    for status in 0..=4 {
        let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{status}  ")));
        assert!(line.is_some(), "{status}:\n{help}");
        assert!(guide.contains(&format!("\n| {status} | ")), "{status}");
    }
}
