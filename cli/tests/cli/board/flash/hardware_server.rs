//! Vivado's hardware server: a stand-in for Vivado runs the script, and keeps its commands and the
//! files that it was given.

use std::collections::BTreeMap;

use board::boards::BOARDS;
use host_board::image::BitFile;

use crate::board::flash::rig::{assert_failed, image, write_image, Rig, VU9P};

/// A board behind a hardware server.
struct Server {
    rig: Rig,
    variables: Vec<(&'static str, String)>,
}

impl Server {
    fn new(name: &str, idcode: u32) -> Self {
        let rig = Rig::new(&format!("server_{name}"), VU9P);
        let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/board/flash/stand_in.tcl");
        rig.script("vivado", &format!("#!/bin/sh\nexec tclsh '{stand_in}' \"$@\"\n"));
        let log = rig.folder().join("vivado.log").display().to_string();
        let variables = vec![
            ("STAND_IN_LOG", log),
            ("STAND_IN_IDCODE", format!("{:08x}", 0x1000_0000 | idcode)),
            ("STAND_IN_CABLES", "1".to_owned()),
            ("STAND_IN_FAILS", String::new()),
        ];
        Self { rig, variables }
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.rig.command(arguments);
        command.envs(self.variables.iter().cloned());
        crate::board::flash::rig::outcome(&command.output().expect("it starts"))
    }

    fn flash(&self, board: &str) -> (Option<i32>, String, String) {
        let file = write_image(self.rig.folder(), &image(board, 70_000));
        self.run(&[&file, "--board", board, "--yes"])
    }

    /// Vivado's commands so far.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.rig.folder().join("vivado.log"));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn is_erased(&self) -> bool {
        self.log().iter().any(|line| line.starts_with("program_hw_cfgmem"))
    }
}

/// The bytes of an .mcs file, by address.
fn mcs(text: &str) -> BTreeMap<u32, u8> {
    let mut bytes = BTreeMap::new();
    let mut upper = 0;
    for line in text.lines() {
        let digits = line.strip_prefix(':').expect("a record");
        let fields: Vec<u8> = (0..digits.len() / 2)
            .map(|place| u8::from_str_radix(&digits[2 * place..][..2], 16).expect("a byte"))
            .collect();
        assert_eq!(fields.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)), 0);
        let data = &fields[4..fields.len() - 1];
        assert_eq!(data.len(), usize::from(fields[0]));
        let address = u32::from(fields[1]) << 8 | u32::from(fields[2]);
        match fields[3] {
            0 => bytes.extend((upper + address..).zip(data.iter().copied())),
            1 => return bytes,
            4 => upper = u32::from(data[0]) << 24 | u32::from(data[1]) << 16,
            kind => panic!("a record of kind {kind}"),
        }
    }
    panic!("no end");
}

#[test]
fn board_image_lands_at_slot_only() {
    for board in BOARDS.iter().filter(|board| board.name != "vcu118") {
        let server = Server::new(board.name, board.device.idcode);
        let (status, out, error) = server.flash(board.name);
        assert_eq!(status, Some(0), "{out}\n{error}");
        let text = std::fs::read_to_string(server.rig.folder().join("chip0.mcs"));
        let bytes = mcs(&text.expect("a file"));
        let slot = board.flash.user_offset_bytes;
        assert_eq!(bytes.keys().next(), Some(&slot));
        let data = image(board.name, 70_000).data;
        let expected: Vec<u8> = [&[0xff; 256][..], &data].concat();
        assert!(bytes.values().copied().eq(expected));
        assert_eq!(bytes.len(), 70_256);
        let log = server.log().join("\n");
        let chip = format!("get_cfgmem_parts {}", board.flash.chip);
        assert!(log.contains(&chip), "{log}");
        assert!(log.contains("PROGRAM.ADDRESS_RANGE use_file"), "{log}");
        assert_eq!(log.matches("program_hw_cfgmem").count(), 2, "{log}");
    }
}

#[test]
fn two_chips_get_a_file_each() {
    let server = Server::new("two", 0x04b3_1093);
    let file = write_image(server.rig.folder(), &image("vcu118", 70_000));
    let cable = ["--cable", "hw_server:127.0.0.1:3121"];
    let (status, out, error) =
        server.run(&[&file, "--board", "vcu118", cable[0], cable[1], "--yes"]);
    assert_eq!(status, Some(0), "{out}\n{error}");
    for chip in 0..2 {
        let path = server.rig.folder().join(format!("chip{chip}.mcs"));
        let bytes = mcs(&std::fs::read_to_string(path).expect("a file"));
        assert_eq!(bytes.keys().next(), Some(&0x0400_0000));
        assert_eq!(bytes.len(), 256 + 0x68 + (70_000 - 0x68) / 2);
    }
    let log = server.log().join("\n");
    assert!(log.contains("connect_hw_server -url 127.0.0.1:3121"), "{log}");
    let files = log.lines().find(|line| line.contains("PROGRAM.FILES")).expect("files");
    assert!(files.contains("chip0.mcs") && files.contains("chip1.mcs"), "{files}");
}

#[test]
fn volatile_image_is_loaded_from_bit_file() {
    let server = Server::new("volatile", 0x04b5_7093);
    let image = image("u250", 70_000);
    let file = write_image(server.rig.folder(), &image);
    let arguments = [&file[..], "--board", "u250", "--yes", "--volatile"];
    let (status, out, error) = server.run(&arguments);
    assert_eq!(status, Some(0), "{out}\n{error}");
    let bit = std::fs::read(server.rig.folder().join("image.bit")).expect("a file");
    assert!(BitFile::parse(&bit).expect("a .bit file").data == image.data);
    assert!(!server.is_erased());
}

#[test]
fn xvc_server_opens_behind_hardware_server() {
    let server = Server::new("xvc", 0x04b7_d093);
    let file = write_image(server.rig.folder(), &image("u280", 70_000));
    let arguments = [&file[..], "--board", "u280", "--cable", "xvc:127.0.0.1:2542", "--yes"];
    let (status, out, error) = server.run(&arguments);
    assert_eq!(status, Some(0), "{out}\n{error}");
    let log = server.log().join("\n");
    assert!(log.contains("open_hw_target -xvc_url 127.0.0.1:2542"), "{log}");
}

#[test]
fn each_failure_has_its_status() {
    // The U200's device where a U250 was named.
    let server = Server::new("device", 0x04b3_7093);
    assert_failed(&server.flash("u250"), 4, &["0x14b37093", "u250 has 0x04b57093"]);
    assert!(!server.is_erased());
    // One of three cables is named; none of them; all of them.
    for (serial, status) in [("#able_b", 0), ("#9", 6), ("#cable", 6)] {
        let server = Server::new("serial", 0x04b5_7093).with("STAND_IN_CABLES", "3");
        let file = write_image(server.rig.folder(), &image("u250", 5000));
        let cable = format!("hw_server{serial}");
        let outcome = server.run(&[&file, "--board", "u250", "--cable", &cable, "--yes"]);
        assert_eq!(outcome.0, Some(status), "{}", outcome.2);
        let opened = server.log().join("\n").contains("open_hw_target cable_b");
        assert_eq!(opened, status == 0);
    }
    for cables in ["0", "2"] {
        let server = Server::new("cables", 0x04b5_7093).with("STAND_IN_CABLES", cables);
        let parts = ["no device found by vivado", cables, "Nothing was erased"];
        assert_failed(&server.flash("u250"), 6, &parts);
        assert!(!server.is_erased());
    }
    for (fails, status, part) in [
        ("connect_hw_server 1", 6, "connect_hw_server did not end well"),
        ("open_hw_target 1", 6, "open_hw_target"),
        ("program_hw_devices 1", 6, "Nothing was erased"),
        ("program_hw_cfgmem 1", 10, "half an image"),
        ("program_hw_cfgmem 2", 7, "verify failed"),
    ] {
        let server = Server::new("fails", 0x04b5_7093).with("STAND_IN_FAILS", fails);
        assert_failed(&server.flash("u250"), status, &[part]);
        assert_eq!(server.is_erased(), status != 6, "{fails}");
    }
    // Vivado ends before the script begins.
    let server = Server::new("licence", 0x04b5_7093);
    let text = "#!/bin/sh\necho 'ERROR: no licence for Labtools'; exit 1\n";
    server.rig.script("vivado", text);
    assert_failed(&server.flash("u250"), 8, &["vivado", "no licence for Labtools"]);
    // It is killed while it writes.
    let server = Server::new("killed", 0x04b5_7093);
    let text = "#!/bin/sh\necho 'zeronic: begun'; echo 'zeronic: writing'; kill -9 $$\n";
    server.rig.script("vivado", text);
    assert_failed(&server.flash("u250"), 10, &["writing", "half an image"]);
    std::fs::remove_file(server.rig.folder().join("bin/vivado")).expect("a script");
    assert_failed(&server.flash("u250"), 8, &["vivado", "no such program"]);
}

#[test]
fn a_dry_run_prints_the_command() {
    let server = Server::new("dry_run", 0x04b5_7093);
    let log = server.rig.folder().join("commands");
    let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/board/flash/stand_in.tcl");
    let text = format!(
        "#!/bin/sh\necho \"vivado $*\" >> '{}'\nexec tclsh '{stand_in}' \"$@\"\n",
        log.display()
    );
    server.rig.script("vivado", &text);
    for extra in [&[][..], &["--volatile"]] {
        let file = write_image(server.rig.folder(), &image("u250", 5000));
        let common = [&[&file[..], "--board", "u250"], extra].concat();
        let (status, dry, error) = server.run(&[&common[..], &["--dry-run"]].concat());
        assert_eq!((status, &error[..]), (Some(0), ""));
        let before = server.rig.commands().len();
        let (status, out, error) = server.run(&[&common[..], &["--yes"]].concat());
        assert_eq!(status, Some(0), "{out}\n{error}");
        let printed = dry.lines().filter_map(|line| line.strip_prefix("run   "));
        let printed: Vec<&str> = printed.collect();
        assert_eq!(printed, server.rig.commands()[before..]);
        assert_eq!(printed.len(), 1);
    }
}
