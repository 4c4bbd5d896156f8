//! What Vivado will be told, without Vivado: scripts and constraints under `ci/vivado/replay.tcl`.
//! What public sources say of it: `facts.rs`, with a board's own folder, and `planted.rs`.
//! What is wrong for any board or for this design: `mistakes.rs`.
//!
//! ```text
//!   card, a top around it, `bitstream/*.tcl`, constraints ─► folder ─► tclsh replay.tcl ─► rc 0
//!                                                 └─ planted fault ──────────────────────► rc 1
//! ```
//! The top here is as small as a top can be: pads, the vendor's two cores, the card. What is proven
//! is that each kind of mistake is seen; the boards' own folders run under the same script.

mod facts;
mod mistakes;
mod planted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use abi::config::SMALL;
use abi::image::{Slot, SLOT_PAD_BYTES};
use abi::pci_ids;
use hdl::crossings::constraints;
use hdl::emit::emit_card;
use host_board::image::{idcode, BitFile, Image};
use sim::switched::replace_once;
use verilate::toolchain::{vivado_help, Yosys};

/// Folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The top: pads, cores and card, as a board's.
const TOP: &str = "\
module zeronic_bench (
    input  wire       pcie_refclk_p,
    input  wire       pcie_refclk_n,
    input  wire       pcie_reset_n,
    input  wire [1:0] qsfp_rx_p,
    input  wire [1:0] qsfp_rx_n,
    output wire [1:0] led
);
    wire user_clk;
    wire gt_txusrclk2;
    wire divided;

    IBUFDS_GTE4 pads (
        .I(pcie_refclk_p),
        .IB(pcie_refclk_n),
        .ODIV2(divided)
    );

    pcie4_uscale_plus_0 pcie (
        .sys_clk(divided),
        .user_clk(user_clk)
    );

    cmac_usplus_0 mac (
        .gt_rxp_in(qsfp_rx_p),
        .gt_txusrclk2(gt_txusrclk2)
    );

    zeronic_small card (
        .user_clk(user_clk),
        .gt_txusrclk2(gt_txusrclk2),
        .tx_axis_tvalid(led[0])
    );
endmodule
";

/// What is known of the board.
const BOARD: &str = "\
set zeronic_board           vcu118
set zeronic_top             zeronic_bench
set zeronic_config          small
set zeronic_contract        1.8
set zeronic_card            zeronic_small
set zeronic_msix_last       003
set zeronic_part            xcvu9p-flga2104-2L-e
set zeronic_pcie_ip         pcie4_uscale_plus
set zeronic_pcie_location   X1Y2
set zeronic_pcie_quad       GTY_Quad_227
set zeronic_cmac_location   X0Y7
set zeronic_cmac_gt_group   X1Y48~X1Y51
set zeronic_cmac_refclk_mhz 156.25
set zeronic_flash_part      mt25qu01g-spi-x1_x2_x4_x8
set zeronic_flash_interface SPIx8
set zeronic_flash_size_mib  256
set zeronic_user_offset     0x08000000
";

const PINS: &str = "\
set_property PACKAGE_PIN AL9 [get_ports { pcie_refclk_p }]
create_clock -name pcie_refclk -period 10.000 [get_ports { pcie_refclk_p }]
set_property PACKAGE_PIN AL8 [get_ports { pcie_refclk_n }]
set_property -dict {PACKAGE_PIN AM17 IOSTANDARD LVCMOS18} [get_ports { pcie_reset_n }]
set_property PACKAGE_PIN Y2 [get_ports { qsfp_rx_p[0] }]
set_property PACKAGE_PIN W4 [get_ports { qsfp_rx_p[1] }]
set_property PACKAGE_PIN AT32 [get_ports { led[0] }]
set_property PACKAGE_PIN AV34 [get_ports { led[1] }]
";

const CONFIG: &str = "set_property CONFIG_VOLTAGE 1.8 [current_design]\n";

const FLOORPLAN: &str = "\
create_pblock pblock_mac
resize_pblock [get_pblocks pblock_mac] -add {SLR2}
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { card/mac_send/fifo card/mac_receive }]
";

/// Commands and options alone are checked: no Verilog is read, and every name is there.
const WITHOUT_NAMES: (&str, &str) = ("REPLAY_NAMES", "0");

/// A fault: file, text, what stands in its place, and what is said of it.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// Names and texts of a folder.
type Files = BTreeMap<String, String>;

fn read(path: &str) -> String {
    let path = Path::new(ROOT).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folder that a board's build begins with.
fn whole() -> Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(write_files).clone()
}

fn write_files() -> Files {
    let card = emit_card(SMALL.name).expect("a configuration").expect("emits");
    let mut files: Files = card.design.files().into_iter().collect();
    let list = files.get_mut("files.f").expect("a list");
    list.push_str("top.v\n");
    for (name, text) in [
        ("top.v", TOP.to_owned()),
        ("board.tcl", BOARD.to_owned()),
        ("build.tcl", read("bitstream/build.tcl")),
        ("steps.tcl", read("bitstream/steps.tcl")),
        ("judge.tcl", read("bitstream/judge.tcl")),
        ("image.tcl", read("bitstream/image.tcl")),
        ("ip.tcl", read("bitstream/ip.tcl")),
        ("constraints/pins.xdc", PINS.to_owned()),
        ("constraints/config.xdc", CONFIG.to_owned()),
        ("constraints/floorplan.xdc", FLOORPLAN.to_owned()),
        ("constraints/crossings.xdc", constraints(&card)),
    ] {
        files.insert(name.to_owned(), text);
    }
    files
}

/// Where a test's files are.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes a folder and runs its build under the replay, with variables of the environment; exit
/// status and output.
fn replay_build(name: &str, files: &Files, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = folder(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("constraints")).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    again(name, variables)
}

/// Runs the build of a folder that is written.
fn again(name: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = folder(name);
    let output = Command::new("tclsh")
        .arg(Path::new(ROOT).join("ci/vivado/replay.tcl"))
        .arg(folder.join("build.tcl"))
        .env("YOSYS", Yosys::locate().expect("Yosys").program)
        .env("VIVADO_HELP", vivado_help().expect("Vivado's help"))
        .envs(variables.iter().copied())
        .output()
        .expect("tclsh runs; Debian's package is `tcl`");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code(), text)
}

/// Lines with what is wrong.
fn problems(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines.filter_map(|it| it.strip_prefix("problem: ")).collect()
}

#[test]
fn folder_runs_with_every_name_found() {
    let (code, text) = replay_build("vivado_whole", &whole(), &[]);
    assert_eq!(problems(&text), [""; 0]);
    assert_eq!(code, Some(0), "{text}");
    let figure = |what: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(what));
        let line = line.unwrap_or_else(|| panic!("no '{what}' in\n{text}"));
        let digits = line.split([' ', ',']).find(|word| !word.is_empty());
        digits.and_then(|word| word.parse::<usize>().ok()).expect(line)
    };
    assert_eq!(figure("pins"), 7, "{text}");
    assert!(figure("names asked") > 100, "{text}");
    assert!(figure("registers asked again behind synthesis") > 1_000, "{text}");
    // Of each AsyncFifo pointers and head, of each ValueCrossing value, toggle, acknowledge.
    assert!(figure("crossings") >= 3 * 3 + 5 * 3, "{text}");
    for command in ["write_bitstream", "write_cfgmem", "synth_ip", "route_design"] {
        assert!(text.contains(command), "{command} is not run:\n{text}");
    }
}

/// The script's own checks: an image that is not right is not written.
#[test]
fn build_stops_where_image_would_err() {
    let files = whole();
    for (variable, value, said) in [
        ("REPLAY_SLACK", "-0.012", "setup: slack -0.012 ns"),
        ("REPLAY_CDC", "Critical  CDC-1  1-bit unknown", "a crossing that is none of the card's"),
        ("REPLAY_SKEW", "Slack (VIOLATED) : -0.1", "bits of a crossing arrive too far apart"),
        ("REPLAY_UNCONSTRAINED", "3", "paths without a constraint (3)"),
        ("REPLAY_PORTS", "led[0], and led[1]", "port led[1] has no pin"),
        ("REPLAY_VERSION", "2023.2.1", "makes wrong logic of masks"),
        ("ZERONIC_GIT_HASH", "123", "40 hexadecimal digits"),
    ] {
        let variables = [WITHOUT_NAMES, (variable, value)];
        let (code, text) = replay_build("vivado_stops", &files, &variables);
        assert_eq!(code, Some(1), "{said}\n{text}");
        assert!(problems(&text).iter().any(|it| it.contains(said)), "{said}: {text}");
        assert!(!text.contains("write_bitstream"), "{text}");
    }
    let forced = [WITHOUT_NAMES, ("REPLAY_VERSION", "2023.2.1"), ("ZERONIC_ANY_VIVADO", "1")];
    let (code, text) = replay_build("vivado_stops", &files, &forced);
    assert_eq!(code, Some(0), "{text}");
}

/// A first image of a board: what is wrong is said, in the figures and in the image's header.
#[test]
fn forced_image_is_marked() {
    let files = whole();
    let force = ("ZERONIC_FORCE_IMAGE", "1");
    let variables = [WITHOUT_NAMES, ("REPLAY_SLACK", "-0.012"), ("REPLAY_PORTS", "led[1]"), force];
    let (code, text) = replay_build("vivado_forced", &files, &variables);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(image("vivado_forced", "zeronic_bench.zimg").header.forced, 2);
    let figures = folder("vivado_forced").join("build/figures.txt");
    let figures = std::fs::read_to_string(figures).expect("figures");
    let wrong = figures.lines().filter(|line| line.starts_with("wrong "));
    assert_eq!(wrong.count(), 2, "{figures}");
    // An image with nothing wrong is no forced one.
    let (code, text) = again("vivado_forced", &[WITHOUT_NAMES, force]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(image("vivado_forced", "zeronic_bench.zimg").header.forced, 0);
}

/// Crossings within a core of the vendor are waived, with a reason; one with an end of ours is not.
#[test]
fn only_vendor_crossings_are_waived() {
    let files = facts::stub(facts::find_board("vcu118"));
    let line = |from: &str, to: &str| {
        format!("CDC-1  Critical  1-bit unknown CDC circuitry  0  None  {from}/C  {to}/D\n")
    };
    let own = line("pcie/inst/phy/a_reg", "pcie/inst/b_reg[3]") + &line("mac/inst/a", "mac/b");
    let run = |text: &str| {
        let variables = [("REPLAY_YOSYS", "0"), ("REPLAY_CDC", text)];
        let (code, said) = replay_build("vivado_waived", &files, &variables);
        let figures = folder("vivado_waived").join("build/figures.txt");
        (code, said, std::fs::read_to_string(figures).expect("figures"))
    };
    let (code, said, figures) = run(&own);
    assert_eq!(code, Some(0), "{said}");
    for cell in ["pcie", "mac"] {
        let waived = format!("waived 1 {cell} the core crosses between");
        assert!(figures.contains(&waived), "{figures}");
    }
    assert!(figures.contains("\ncdc 0\n"), "{figures}");
    for (from, to) in [
        ("pcie/inst/a", "card/b"),
        ("card/a", "pcie/inst/b"),
        ("card/a", "card/b"),
        ("pcie/inst/a", "mac/inst/b"),
        ("pcie2/a", "pcie2/b"),
    ] {
        let (code, said, figures) = run(&(own.clone() + &line(from, to)));
        assert_eq!(code, Some(1), "{from} to {to}: {said}");
        assert!(figures.contains("\ncdc 1\n"), "{from} to {to}: {figures}");
        let wrong = "a crossing that is none of the card's (1)";
        assert!(problems(&said).iter().any(|it| it.contains(wrong)), "{said}");
    }
    // With both, the details say where those of the summary are.
    let both = format!("CDC-1  Critical  2  1-bit unknown CDC circuitry\n{own}");
    assert_eq!(run(&both).0, Some(0));
    // A summary alone does not.
    let (code, _, figures) = run("CDC-1  Critical  7  1-bit unknown CDC circuitry");
    assert_eq!(code, Some(1));
    assert!(figures.contains("\ncdc 7\n"), "{figures}");
}

/// An image that is built: what its header says is so.
fn image(name: &str, file: &str) -> Image {
    Image::read(&folder(name).join("build").join(file)).expect("an image")
}

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn image_identifies_itself_and_reads_back() {
    let variables =
        [WITHOUT_NAMES, ("ZERONIC_GIT_HASH", HASH), ("SOURCE_DATE_EPOCH", "1700000000")];
    let (code, text) = replay_build("vivado_image", &whole(), &variables);
    assert_eq!(code, Some(0), "{text}");
    let image = image("vivado_image", "zeronic_bench.zimg");
    let header = &image.header;
    assert_eq!((header.board.as_str(), header.config.as_str()), ("vcu118", "small"));
    assert_eq!((header.slot, header.contract), (Slot::User, (1, 8)));
    assert_eq!((header.git.as_str(), header.built), (HASH, 1_700_000_000));
    assert_eq!(idcode(&image.data), Some(0x04b3_1093));
    let bit = folder("vivado_image").join("build/zeronic_bench.bit");
    let bit = BitFile::parse(&std::fs::read(bit).expect("a file")).expect("a .bit file");
    assert_eq!((&bit.part, &bit.data), (&header.part, &image.data));
    // In the flash the image begins behind the bytes that a jump may skip, in each of two chips.
    let first = 0x0800_0000 + 2 * SLOT_PAD_BYTES;
    let script = read("bitstream/image.tcl");
    assert!(script.contains(&format!("set zeronic_slot_pad {SLOT_PAD_BYTES}\n")));
    assert!(text.contains(&format!("up 0x{first:08X} ")), "{text}");
}

/// PCIe and nothing else, as a golden image begins.
const GOLDEN_TOP: &str = "\
module zeronic_golden_bench (
    input  wire       pcie_refclk_p,
    output wire [1:0] led
);
    wire divided;

    IBUFDS_GTE4 pads (
        .I(pcie_refclk_p),
        .ODIV2(divided)
    );

    pcie4_uscale_plus_0 pcie (
        .sys_clk(divided),
        .user_clk(led[0])
    );
endmodule
";

#[test]
fn golden_image_is_written_with_optional_jump() {
    let mut files = Files::new();
    let board = BOARD.lines().filter(|line| !line.contains("zeronic_card"));
    let board: String = board.map(|line| format!("{line}\n")).collect();
    let board = replace_once(&board, "zeronic_config          small", "zeronic_config golden")
        + "set zeronic_top zeronic_golden_bench\nset zeronic_image_slot 0\n\
           set zeronic_golden_offset 0x04000000\n";
    let pins: String = PINS
        .lines()
        .filter(|line| !line.contains("qsfp") && !line.contains("_n "))
        .map(|line| format!("{line}\n"))
        .collect();
    for name in ["build", "steps", "judge", "image", "ip"] {
        files.insert(format!("{name}.tcl"), read(&format!("bitstream/{name}.tcl")));
    }
    for (name, text) in [
        ("board.tcl", board.as_str()),
        ("top.v", GOLDEN_TOP),
        ("files.f", "top.v\n"),
        ("constraints/pins.xdc", &pins),
        ("constraints/config.xdc", CONFIG),
    ] {
        files.insert(name.to_owned(), text.to_owned());
    }
    let (code, text) = replay_build("vivado_golden", &files, &[]);
    assert_eq!(problems(&text), [""; 0]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("cmac"), "{text}");
    for (name, config) in [("", "golden"), ("_stay", "golden-stay")] {
        let image = image("vivado_golden", &format!("zeronic_golden_bench{name}.zimg"));
        assert_eq!(image.header.slot, Slot::Golden);
        assert_eq!(image.header.config, config);
    }
    let line = text.lines().find(|line| line.starts_with("flash: ")).expect("places");
    let up: Vec<&str> = line.split_whitespace().filter(|it| it.starts_with("0x")).collect();
    assert_eq!(up, ["0x00000000", "0x04000200"], "{line}");
    for (property, value) in [
        ("NEXT_CONFIG_ADDR", "0x04000000"),
        ("NEXT_CONFIG_REBOOT", "ENABLE"),
        ("TIMER_CFG", "0x001DCD65"),
    ] {
        let said =
            format!("bitstream zeronic_golden_bench.bit: BITSTREAM.CONFIG.{property} {value}");
        assert!(text.contains(&said), "{said}:\n{text}");
        let stays = format!("bitstream zeronic_golden_bench_stay.bit: BITSTREAM.CONFIG.{property}");
        assert!(!text.contains(&stays), "{text}");
    }
}

/// A run that goes on behind a checkpoint asks for no name: that is no success.
#[test]
fn names_never_looked_up_are_reported() {
    let name = "vivado_twice";
    let (code, text) = replay_build(name, &whole(), &[]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = again(name, &[]);
    let build = folder(name).join("build").display().to_string();
    let said = problems(&text);
    assert!(said.len() == 1 && said[0].contains(&build), "{text}");
    assert_eq!(code, Some(1), "{text}");
    std::fs::remove_dir_all(build).expect("a folder");
    let (code, text) = again(name, &[]);
    assert_eq!((code, problems(&text).len()), (Some(0), 0), "{text}");
}

/// What is done stays done, while nothing that it is made from changes.
#[test]
fn build_resumes_behind_last_done_step() {
    let name = "vivado_resumed";
    let whole = whole();
    let fail = [WITHOUT_NAMES, ("REPLAY_FAIL", "route_design ERROR: no way")];
    let (code, text) = replay_build(name, &whole, &fail);
    assert_eq!(code, Some(1), "{text}");
    let steps = |text: &str, what: &str| -> Vec<String> {
        let steps = text.lines().filter_map(|line| line.strip_prefix("zeronic-step "));
        let steps = steps.filter_map(|line| line.strip_suffix(&format!(" {what}")));
        steps.map(str::to_owned).collect()
    };
    assert_eq!(steps(&text, "end"), ["ip", "synthesis", "opt", "place", "phys_opt"]);
    assert_eq!(steps(&text, "begin").last().map(String::as_str), Some("route"));
    let (code, text) = again(name, &[WITHOUT_NAMES]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(steps(&text, "kept"), ["ip", "synthesis", "opt", "place", "phys_opt"]);
    assert_eq!(steps(&text, "end"), ["route", "phys_opt_routed", "reports", "bitstream"]);
    let built = image(name, "zeronic_bench.zimg").header.built;
    // A checkpoint that is gone is made again, and what follows it.
    std::fs::remove_file(folder(name).join("build/phys_opt_routed.dcp")).expect("a checkpoint");
    let (_, text) = again(name, &[WITHOUT_NAMES]);
    assert_eq!(steps(&text, "end"), ["phys_opt_routed", "reports", "bitstream"]);
    assert_eq!(image(name, "zeronic_bench.zimg").header.built, built);
    std::fs::remove_file(folder(name).join("build/opt.dcp")).expect("a checkpoint");
    let (_, text) = again(name, &[WITHOUT_NAMES]);
    assert_eq!(steps(&text, "kept"), ["ip", "synthesis"]);
    // Other constraints, or another Vivado, make another design.
    let pins = folder(name).join("constraints/pins.xdc");
    std::fs::write(&pins, PINS.replace("10.000", "9.900")).expect("a file");
    for variables in [&[WITHOUT_NAMES][..], &[WITHOUT_NAMES, ("REPLAY_VERSION", "2024.2")]] {
        let (code, text) = again(name, variables);
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(steps(&text, "kept"), [""; 0], "{text}");
    }
}

/// Ids and MSI-X vectors that the cores are made with are those of the contract.
#[test]
fn cores_are_made_with_contract_ids() {
    let script = read("bitstream/build.tcl");
    let vectors_less_one = (1 << abi::config::DEFAULT.owner_bits) - 1;
    for (name, value) in [
        ("zeronic_pci_vendor", format!("{:04x}", pci_ids::VENDOR_ID)),
        ("zeronic_pci_device", format!("{:04x}", pci_ids::DEVICE_ID)),
        ("zeronic_pci_subsystem_vendor", format!("{:04x}", pci_ids::SUBSYSTEM_VENDOR_ID)),
        ("zeronic_pci_subsystem", format!("{:04x}", pci_ids::SUBSYSTEM_ID)),
        ("zeronic_pci_revision", format!("{:02x}", pci_ids::REVISION_ID)),
        ("zeronic_pci_class", format!("{:06x}", pci_ids::CLASS_CODE)),
        ("zeronic_msix_last", format!("{vectors_less_one:03X}")),
    ] {
        let words = script.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut found = words.filter(|words| words.first() == Some(&name));
        let found = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found[1], value, "{name}");
    }
    let cores = read("bitstream/ip.tcl");
    for (setting, value) in [
        ("CONFIG.PF0_MSIX_CAP_TABLE_OFFSET", abi::registers::MSIX_TABLE),
        ("CONFIG.PF0_MSIX_CAP_PBA_OFFSET", abi::registers::MSIX_PENDING),
    ] {
        let mut words = cores.split_whitespace().skip_while(|word| *word != setting);
        assert_eq!(words.nth(1), Some(format!("{value:08x}").as_str()), "{setting}");
    }
}
