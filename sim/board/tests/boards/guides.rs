//! The guides of the boards, `docs/boards/BOARD.md`: what follows from a board's description is
//! written from it.
//!
//! ```text
//!   Board, abi ──► parts between <!-- NAME --> marks; what is at the board's connectors by hand
//! ```

use abi::pci_ids;
use abi::registers::{self, STATUS};
use abi::window::{
    self, BlockKind, CLOCK_BASE, CLOCK_FREE, CLOCK_MAC, CLOCK_USER, DIRECTORY_MAGIC,
    IDENTITY_BOARD, IDENTITY_BUILT, IDENTITY_HASH, IDENTITY_SLOT, PORT_BOOT_STATUS,
};
use board::boards::BOARDS;
use board::description::Board;

use crate::documents::compare;

/// Boards whose flash openFPGALoader writes; the others' is written by Vivado's hardware server.
const LOADER: [&str; 1] = ["vcu118"];

/// Offset of a word of a block of the window.
fn word(kind: BlockKind, number: u32) -> u32 {
    kind.block().offset + 4 * number
}

fn facts(board: &Board) -> String {
    let (device, pcie, mac, flash) = (&board.device, &board.pcie, &board.mac, &board.flash);
    let pins = |port: &str| board.pad(port).map_or("none".to_owned(), |pad| pad.pins.join(", "));
    let golden = match board.has_golden() {
        true => "one of ours, at 0 (`zeronic build --golden`)",
        false => "the factory image, below the user's slot, which stays as it is",
    };
    let rows = [
        (
            "names",
            std::iter::once(&board.name)
                .chain(board.aliases)
                .copied()
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("part, JTAG id", format!("{}, 0x{:08x} (revision apart)", board.part, device.idcode)),
        (
            "slot",
            format!(
                "PCIe 3.0 x16, {}_{}, die {} (site: {})",
                pcie.kind.primitive(),
                pcie.site,
                pcie.die,
                pcie.site_source
            ),
        ),
        (
            "wire",
            format!("{}, 100G, CMACE4_{}, clock {} MHz", mac.connector, mac.site, mac.clock_mhz),
        ),
        (
            "flash",
            format!(
                "{}, {} MiB, user's slot at 0x{:08x}",
                flash.chip,
                flash.size_bytes >> 20,
                flash.user_offset_bytes
            ),
        ),
        ("golden image", golden.to_owned()),
        ("JTAG", board.jtag.to_owned()),
        (
            "pins beside the module",
            match board.pad("qsfp_modprsl") {
                Some(_) => "at the device: presence and I2C can be read".to_owned(),
                None => {
                    "at the satellite controller: the card cannot see whether a module is there"
                        .to_owned()
                }
            },
        ),
        ("LEDs", pins("led")),
    ];
    let mut text = "| | |\n|---|---|\n".to_owned();
    for (name, value) in rows {
        text += &format!("| {name} | {value} |\n");
    }
    for note in board.notes {
        text += &format!("\n- {note}");
    }
    text + "\n"
}

fn machine() -> String {
    let mebibytes = registers::BAR_BYTES >> 20;
    format!(
        "| setting of the BIOS | value | why |\n|---|---|---|\n\
         | slot | x16, not split (bifurcation off), 3.0 or automatic | the link is x16; a board \
         in an x8 slot works at half the rate |\n\
         | above-4G decoding | on | BAR 0 is 64 bit, prefetchable, {mebibytes} MiB: it fits below \
         as well, but not beside large GPUs |\n\
         | IOMMU (VT-d, AMD-Vi) | on; Linux: `intel_iommu=on` where it is off | a program reaches \
         the card through VFIO, and the card's DMA only what it was given |\n\
         | ASPM | off | not tried otherwise |\n\
         | errors of PCIe | reported to the system, not handled by the firmware, where there is a \
         choice | a device that is reprogrammed leaves the bus: servers have been seen to reset \
         on that (taxi#18, corundum#144) |\n\n\
         Linux, as root, is all that is assumed. There is no driver of ours in the kernel; a \
         driver that takes the card is none of ours.\n"
    )
}

fn licence(board: &Board) -> String {
    format!(
        "Vivado for {}: {}. The MAC's core needs a key that costs nothing and must be fetched \
         from AMD; without it everything works until the bitstream is written.\n`zeronic build` \
         says in one line when either is missing.\n",
        board.part, board.licence
    )
}

/// How a word of BAR 0 is read and written.
const READ: &str = "\
```
sudo setpci -s 03:00.0 COMMAND=2:2
sudo python3 -c 'import mmap, sys
bar = mmap.mmap(open(\"/sys/bus/pci/devices/0000:03:00.0/resource0\", \"r+b\").fileno(), 1 << 20)
words, at = memoryview(bar).cast(\"I\"), int(sys.argv[1], 0) // 4
if sys.argv[2:]: words[at] = int(sys.argv[2], 0)
print(\"%08x\" % words[at])' 0x40000
```
";

fn power_up(board: &Board) -> String {
    let (name, top) = (board.name, board.top());
    let mut steps = vec![
        format!(
            "`zeronic build --board {name}`; the table at its end must be without a word `wrong`. \
             `build-{name}/build/{top}.zimg` is the image."
        ),
        "The machine is off. Cables and switches as above, no module yet; power on.".to_owned(),
    ];
    let by = match LOADER.contains(&name) {
        true => "openFPGALoader over the USB cable",
        false => "Vivado's hardware server (`hw_server` runs where the cable is)",
    };
    steps.push(format!(
        "`zeronic flash --board {name} {top}.zimg --volatile --dry-run`, then without \
         `--dry-run`: part and JTAG id are read and compared, the device is loaded, the flash is \
         not touched. Then a warm start of the machine: the BIOS finds the card only if the \
         device is loaded."
    ));
    steps.push(format!(
        "`lspci -d {:04x}:{:04x} -vv`: there, `LnkSta` 8GT/s x16, BAR 0 with {} MiB. Its address, \
         here 03:00.0, is that of all commands below.",
        pci_ids::VENDOR_ID,
        pci_ids::DEVICE_ID,
        registers::BAR_BYTES >> 20
    ));
    steps.push(identity(board));
    steps.push(clocks(board));
    steps.push(wire());
    if board.has_golden() {
        steps.push(format!(
            "Once: the golden image. `zeronic build --board {name} --golden`, and its `.mcs` into \
             the flash with Vivado's hardware manager: `zeronic flash` writes nothing below the \
             user's slot."
        ));
    }
    steps.push(format!(
        "`zeronic flash --board {name} {top}.zimg`, by {by}: the user's slot alone is erased, \
         written and read back."
    ));
    steps.push(format!(
        "Power off and on. The words of step 5 again. 0x{:05x} is BOOTSTS after command 3 at \
         0x{:05x}: bit 1 says that the device fell back.",
        word(BlockKind::ConfigurationPort, PORT_BOOT_STATUS),
        word(BlockKind::ConfigurationPort, window::PORT_COMMAND),
    ));
    steps.push(format!(
        "From now on a new image needs no warm start: `zeronic device reprogram --device 03:00.0 \
         {top}.zimg`; see [README.md](README.md)."
    ));
    let steps = steps.iter().zip(1..);
    let steps: String = steps.map(|(step, number)| format!("{number}. {step}\n")).collect();
    format!("{steps}\n{READ}")
}

/// The words that say what the card is.
fn identity(board: &Board) -> String {
    format!(
        "Words of BAR 0, read as below (a second number is written): 0x00000 is `{:08x}`; \
         0x{:05x} `{DIRECTORY_MAGIC:08x}`; 0x{:05x} `{:08x}` (this board); 0x{:05x} and four more \
         the git hash; 0x{:05x} the date of the build; 0x{:05x} `00000001` (user's slot).",
        registers::ID_VALUE,
        registers::BOARD_WINDOW,
        word(BlockKind::Identity, IDENTITY_BOARD),
        board.number,
        word(BlockKind::Identity, IDENTITY_HASH),
        word(BlockKind::Identity, IDENTITY_BUILT),
        word(BlockKind::Identity, IDENTITY_SLOT),
    )
}

/// How the MAC is enabled by hand.
fn wire() -> String {
    let mac = |offset: u32| word(BlockKind::Mac, offset / 4);
    format!(
        "Module and cable in, the other end with RS-FEC. Nothing of ours enables the MAC yet; by \
         hand, each a write: 0x{:05x} 3 and 0x{:05x} 7 (RS-FEC), 0x{:05x} 1 (receive), 0x{:05x} \
         0x10 (send: remote fault).\n   Bit {} (aligned) of 0x{STATUS:05x}; then 0x{:05x} 1 \
         (send), and bit {} (the wire is up). Source: PG203, OpenNIC's driver.",
        mac(0x107c),
        mac(0x1000),
        mac(0x14),
        mac(0x0c),
        registers::STATUS_WIRE_ALIGNED.trailing_zeros(),
        mac(0x0c),
        registers::STATUS_WIRE_UP.trailing_zeros()
    )
}

/// The clock words and what they must be.
fn clocks(board: &Board) -> String {
    let free = board.free_clock_ps();
    format!(
        "Clocks, kHz, in hexadecimal: 0x{:05x} 250,000 (`{:08x}`); 0x{:05x} about 322,266 \
         (`{:08x}`), with and without a module; 0x{:05x} 100,000 (made of the \
         free clock); 0x{:05x} {} (the free clock).",
        word(BlockKind::Clocks, CLOCK_USER),
        250_000,
        word(BlockKind::Clocks, CLOCK_MAC),
        322_266,
        word(BlockKind::Clocks, CLOCK_BASE),
        word(BlockKind::Clocks, CLOCK_FREE),
        1_000_000_000 / u64::from(free),
    )
}

fn leds(board: &Board) -> String {
    let count = board.pad("led").map_or(0, |pad| pad.pins.len());
    let lit = [
        "the MAC is aligned",
        "the PCIe link is up",
        "blinks about once a second: the card's clock runs",
    ];
    let mut text = match count {
        0 => "This board has no LED at the device.\n".to_owned(),
        count => {
            let mut text = format!("LED 0 to {}, each lit when 1 (to be seen):\n\n", count - 1);
            text += "| LED | lit |\n|---|---|\n";
            for (number, what) in lit.iter().enumerate().take(count) {
                text += &format!("| {number} | {what} |\n");
            }
            let at = word(BlockKind::Gpio, window::GPIO_LED);
            text += &format!("| all | bits of the word at 0x{at:05x}, beside those |\n");
            text
        }
    };
    text += &format!(
        "\nCounters that tell where frames are, each 64 bit, in [registers.md](../registers.md): \
         `rx_frames`, `tx_frames`, drops by reason from 0x{:05x}, `read_timeouts`, `read_errors`. \
         The MAC's own counters are at 0x{:05x} (PG203).\n",
        abi::counters::COUNTERS_DROP,
        word(BlockKind::Mac, 0),
    );
    text
}

fn symptoms(board: &Board) -> String {
    // Long: one table, a row for each symptom, as it stands in the guide.
    let mut rows = vec![
        (
            "the cable finds another JTAG id",
            "another board, or an engineering sample; `zeronic flash` refuses".to_owned(),
        ),
        (
            "`lspci` does not show the card",
            "the device was loaded after the BIOS had looked: warm start. Still not: slot, power, \
             PERST#, clock of the slot"
                .to_owned(),
        ),
        (
            "the link is x8 or 2.5 GT/s",
            "slot not x16, or split; the other lanes are in another slot".to_owned(),
        ),
        (
            "all words read `ffffffff`",
            "memory decoding is off (`setpci` above), the card has left the bus, or an address \
             that no block has"
                .to_owned(),
        ),
        (
            "the clock word of the MAC is 0",
            format!(
                "its reference clock ({} MHz) is not there: {}",
                board.mac.clock_mhz,
                match board.name {
                    "vcu118" => "the Si570 of QSFP1 was reprogrammed",
                    _ => "the board's oscillator, or the wrong pins",
                }
            ),
        ),
        (
            "aligned, but no frames",
            "RS-FEC differs at the ends; or one end reports a fault (bits 11 and 12 of STATUS)"
                .to_owned(),
        ),
        (
            "never aligned",
            match board.pad("qsfp_modprsl") {
                Some(_) => format!(
                    "no module (bit 0 of 0x{:05x}), in low power or in reset; RS-FEC; cable",
                    word(BlockKind::Gpio, window::GPIO_IN)
                ),
                None => {
                    "no module, or the satellite controller keeps it in low power or in reset; \
                     RS-FEC; cable"
                        .to_owned()
                }
            },
        ),
        (
            "after a power cycle another image than the one written runs",
            match board.has_golden() {
                true => "the slot was not taken: BOOTSTS says why (CRC, IDCODE, watchdog); the \
                    golden image runs"
                    .to_owned(),
                false => {
                    "the slot was not taken: the factory image runs, which has other ids".to_owned()
                }
            },
        ),
        (
            "the machine resets when the device is loaded",
            "`zeronic device reprogram` was not used, or the firmware handles errors of PCIe \
             first"
                .to_owned(),
        ),
    ];
    if board.notes.iter().any(|note| note.contains("CATTRIP")) {
        rows.push((
            "the board goes off some time after it was loaded",
            "CATTRIP is high or open: the satellite controller has taken the power away; a cold \
             start brings the factory image"
                .to_owned(),
        ));
    }
    let mut text = "| symptom | look at |\n|---|---|\n".to_owned();
    for (symptom, cause) in rows {
        text += &format!("| {symptom} | {cause} |\n");
    }
    text + "\nFrom the hardware's manual, not from experience: no board has shown any of this.\n"
}

#[test]
fn guides_match_the_descriptions() {
    for board in BOARDS {
        let document = format!("boards/{}.md", board.name);
        for (part, text) in [
            ("facts", facts(board)),
            ("machine", machine()),
            ("licence", licence(board)),
            ("power-up", power_up(board)),
            ("leds", leds(board)),
            ("symptoms", symptoms(board)),
        ] {
            compare(&document, part, &text);
        }
    }
}

/// Every guide says that nothing was tried, and what is at the board's connectors, each with who
/// says so.
#[test]
fn every_guide_is_whole_and_linked() {
    let read = |name: &str| {
        let path = format!("{}/../../docs/boards/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let index = read("README.md");
    for board in BOARDS {
        let name = format!("{}.md", board.name);
        assert!(index.contains(&format!("]({name})")), "{name} is not linked");
        let text = read(&name);
        assert!(text.contains("**Nothing on this page has been tried on this board**"), "{name}");
        let part = text.split("## Cables, jumpers, cooling").nth(1).expect("a part");
        let part = part.split("\n## ").next().expect("its text");
        let rows: Vec<&str> = part.lines().filter(|line| line.starts_with("| ")).collect();
        assert!(rows.len() >= 6, "{name}: {rows:?}");
        for row in &rows[1..] {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            assert!(cells.len() == 3 && !cells[2].trim().is_empty(), "{name}: {row}");
        }
        assert!(part.contains("| cooling |") && part.contains("| power |"), "{name}");
    }
}
