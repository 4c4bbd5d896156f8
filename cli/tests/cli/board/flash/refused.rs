//! What is refused before anything is erased: the documented exit status, and no erase seen by the
//! flash.

use std::net::TcpListener;

use abi::image::{Slot, HEADER_BYTES};
use host_board::image::Image;

use crate::board::flash::rig::{assert_failed, cable, data, image, write_image, Rig, VU9P};

/// The image's file must be refused without a word to the cable.
fn expect_refusal(name: &str, file: &[u8], status: i32, parts: &[&str]) {
    let rig = Rig::new(&format!("refused_{name}"), VU9P);
    let path = rig.folder().join("card.zimg");
    std::fs::write(&path, file).expect("a file");
    assert_failed(&rig.flash(path.to_str().expect("a path")), status, parts);
    assert_eq!((rig.server.shifts(), rig.commands().len()), (0, 0), "{name}");
    assert!(rig.changes().is_empty(), "{name}");
}

fn refused_image(name: &str, image: &Image, status: i32, parts: &[&str]) {
    expect_refusal(name, &image.file().expect("a header"), status, parts);
}

#[test]
fn an_image_for_something_else() {
    let good = image("vcu118", 5000);
    refused_image("board", &image("u250", 5000), 3, &["board u250", "vcu118"]);
    let mut part = good.clone();
    part.header.part = "xcu250-figd2104-2-e".to_owned();
    refused_image("part", &part, 3, &["xcu250-figd2104-2-e", "xcvu9p-flga2104-2L-e"]);
    // Another package of the same device is another board's.
    part.header.part = "xcvu9p-fsgd2104-2L-e".to_owned();
    refused_image("package", &part, 3, &["xcvu9p-fsgd2104-2L-e"]);
    let device = Image::new(good.header.clone(), data(0x04b5_7093, 5000));
    refused_image("device", &device, 3, &["0x04b57093", "u250", "0x04b31093"]);
    let mut golden = good.clone();
    golden.header.slot = Slot::Golden;
    refused_image("golden", &golden, 3, &["golden", "user's slot"]);
    let mut narrow = good.data.clone();
    narrow[0x70] = 0;
    let narrow = Image::new(good.header.clone(), narrow);
    refused_image("narrow", &narrow, 3, &["0x70", "SPIx8"]);
    // Another speed grade makes no other image.
    let mut grade = good;
    grade.header.part = "xcvu9p-flga2104-1-i".to_owned();
    let Some(rig) = Rig::with_loader("refused_grade", VU9P) else { return };
    let (status, _, error) = rig.flash(&write_image(rig.folder(), &grade));
    assert_eq!(status, Some(0), "{error}");
}

/// An image that is not all it must be is for a first look: it takes a word more, on each way.
#[test]
fn an_image_that_was_forced() {
    let mut forced = image("vcu118", 5000);
    forced.header.forced = 3;
    refused_image("forced", &forced, 12, &["--force-image", "3 things wrong", "--force"]);
    let rig = Rig::new("refused_forced_ways", VU9P);
    let file = write_image(rig.folder(), &forced);
    for way in [&["--via", "pcie"][..], &["--volatile"], &["--via", "pcie", "--dry-run"]] {
        let words = [&[&file[..], "--board", "vcu118", "--yes"], way].concat();
        assert_failed(&rig.run(&words), 12, &["--force-image", "--force"]);
    }
    let (status, out, error) = rig.run(&[&file, "--board", "vcu118", "--force", "--dry-run"]);
    assert_eq!(status, Some(0), "{error}");
    assert!(out.contains("forced: 3 things wrong with it"), "{out}");
    assert!(rig.changes().is_empty());
}

#[test]
fn short_or_damaged_file_is_refused() {
    let good = image("vcu118", 5000).file().expect("a header");
    expect_refusal("short", &good[..good.len() - 1], 5, &["card.zimg", "short", "4999", "5000"]);
    expect_refusal("header", &good[..100], 5, &["short", "100"]);
    expect_refusal("nothing", &[], 5, &["card.zimg"]);
    for at in [HEADER_BYTES, HEADER_BYTES + 2500, good.len() - 1] {
        let mut damaged = good.clone();
        damaged[at] ^= 0x04;
        expect_refusal("damaged", &damaged, 5, &["damaged", "SHA-256"]);
    }
    expect_refusal("long", &[&good[..], &[0]].concat(), 5, &["5001", "5000"]);
    expect_refusal("other", &[0x5a; 4096], 5, &["no image"]);
    let rig = Rig::new("refused_missing", VU9P);
    let missing = rig.flash("/nowhere/card.zimg");
    assert_failed(&missing, 2, &["/nowhere/card.zimg: No such file"]);
    assert_eq!(missing.2.matches("card.zimg").count(), 1, "{}", missing.2);
}

#[test]
fn another_device_on_the_cable() {
    // One that openFPGALoader knows, and one that it does not.
    for idcode in [0x0377_d093, 0x14b5_7093] {
        let Some(rig) = Rig::with_loader(&format!("device_{idcode:x}"), idcode) else { return };
        let file = write_image(rig.folder(), &image("vcu118", 5000));
        let found = format!("{:x}", idcode & 0x0fff_ffff);
        let parts = ["IDCODE", &found, "vcu118 has 0x04b31093", "Nothing was erased"];
        assert_failed(&rig.flash(&file), 4, &parts);
        assert!(rig.changes().is_empty());
        assert!(rig.server.device().loaded_image().is_none());
        assert_eq!(rig.commands().len(), 2);
    }
}

#[test]
fn no_cable() {
    let Some(rig) = Rig::with_loader("no_cable", VU9P) else { return };
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    // A port where nobody listens.
    let free = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let nobody = cable(free.local_addr().expect("an address"));
    drop(free);
    for cable in [&nobody[..], "jtag-smt2-nc", "a_cable_of_the_moon"] {
        let outcome = rig.run(&[&file, "--board", "vcu118", "--cable", cable, "--yes"]);
        assert_failed(&outcome, 6, &["no device found", "Nothing was erased"]);
    }
    assert!(rig.changes().is_empty());
}

#[test]
fn missing_or_old_tool_is_refused() {
    let Some(rig) = Rig::with_loader("tool", VU9P) else { return };
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    rig.script("openFPGALoader", "#!/bin/sh\necho 'openFPGALoader v0.9.1'\n");
    assert_failed(&rig.flash(&file), 8, &["openFPGALoader", "0.9", "0.11 or later"]);
    rig.script("openFPGALoader", "#!/bin/sh\necho 'no libusb' >&2; exit 127\n");
    assert_failed(&rig.flash(&file), 8, &["no libusb"]);
    let cable = rig.cable();
    let arguments = [&file[..], "--board", "vcu118", "--cable", &cable, "--yes"];
    let mut command = rig.command(&arguments);
    command.env("PATH", rig.folder());
    let outcome = crate::board::flash::rig::outcome(&command.output().expect("it starts"));
    assert_failed(&outcome, 8, &["openFPGALoader", "no such program", "docs/flash.md"]);
    assert_eq!(rig.server.shifts(), 0);
    // Without its bridge to the flash.
    let Some(rig) = Rig::with_loader("bridge", VU9P) else { return };
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    let bridge = rig.bridges().join("spiOverJtag_xcvu9p-flga2104.bit.gz");
    std::fs::remove_file(bridge).expect("it is there");
    assert_failed(&rig.flash(&file), 8, &["spiOverJtag", "OPENFPGALOADER_SOJ_DIR"]);
    assert!(rig.changes().is_empty());
}

#[test]
fn nobody_there_to_ask() {
    let Some(rig) = Rig::with_loader("nobody", VU9P) else { return };
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    let cable = rig.cable();
    let outcome = rig.run(&[&file, "--board", "vcu118", "--cable", &cable]);
    assert_failed(&outcome, 9, &["nobody there to ask", "--yes", "nothing was written"]);
    assert!(rig.changes().is_empty());
}

#[test]
fn wrong_command_lines() {
    let rig = Rig::new("usage", VU9P);
    let file = write_image(rig.folder(), &image("u250", 5000));
    let run = |arguments: &[&str], parts: &[&str]| {
        assert_failed(&rig.run(arguments), 2, parts);
    };
    run(&[&file, "--board", "u2000"], &["'u2000'", "vcu118"]);
    run(&[&file], &["--board"]);
    run(&["--board", "u250"], &["IMAGE.zimg"]);
    run(&[&file, "--board", "u250", "--via", "smoke"], &["'smoke'", "jtag"]);
    run(&[&file, "--board", "u250", "--cable", "xvc:nowhere"], &["xvc:nowhere"]);
    let cable = ["--cable", "ft4232"];
    run(&[&file, "--board", "u250", cable[0], cable[1]], &["ft4232", "hw_server"]);
}
