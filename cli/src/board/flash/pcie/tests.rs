//! A run over the board window of a card that is a model.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::image::SYNC_WORD;
use board::boards::find;
use host_board::chips::slot_contents;
use host_board::image::{Header, Image};
use host_board::window::{Window, WindowError};
use sim_board::boot::{boot, Booted};
use sim_board::flash_chip::FlashChip;
use sim_board::flash_window::FlashWindow;
use sim_board::slot::{self, MadeSlot};

use super::*;
use crate::board::flash::run::{FlashRun, Open};

const GOLDEN: [u8; 64] = [0x6b; 64];
const CARD: &str = slot::DEVICE;

/// A system with the card in a slot, without a driver.
fn system(name: &str) -> MadeSlot {
    let name = format!("zeronic-flash-{name}-{}", std::process::id());
    MadeSlot::new(std::env::temp_dir().join(name), None)
}

/// A window that the test looks into while the run has it.
struct Shared(Rc<RefCell<FlashWindow>>);

impl Window for Shared {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        self.0.borrow_mut().read(offset)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        self.0.borrow_mut().write(offset, value)
    }

    fn wait(&mut self, time: Duration) {
        self.0.borrow_mut().wait(time);
    }
}

/// A card in a slot, and an image for it.
struct Rig {
    board: &'static Board,
    window: Rc<RefCell<FlashWindow>>,
    checked: Checked,
}

impl Rig {
    fn new(board: &str) -> Self {
        let board = find(board).expect("a board");
        let mut data: Vec<u8> = (0..20_000u32).map(|place| ((place * 37) >> 3) as u8).collect();
        for offset in [0x50, 0x70] {
            data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
        }
        let room = u64::from(board.flash.size_bytes);
        let contents = slot_contents(&data, board.flash.chips(), room).expect("it fits");
        let header = Header {
            board: board.name.to_owned(),
            part: board.part.to_owned(),
            config: "lab".to_owned(),
            slot: abi::image::Slot::User,
            contract: (1, 7),
            git: "0".repeat(40),
            built: 0,
            bytes: 0,
            sha256: String::new(),
            forced: 0,
        };
        let plan = board.flash.plan();
        let mut chips = vec![FlashChip::new(plan.chip_bytes); plan.chips as usize];
        chips[0].write_initial(0, &GOLDEN);
        let window = FlashWindow::new(board.number, chips, plan.chip_bytes, plan.slot_bytes);
        Self {
            board,
            window: Rc::new(RefCell::new(window)),
            checked: Checked { image: Image::new(header, data), contents },
        }
    }

    /// Runs a plan; its lines, and how it ends.
    fn run(&self, plan: &FlashSteps) -> (String, Result<(), FlashError>) {
        self.run_in(plan, Path::new("/nowhere"))
    }

    /// The same where the system's devices are in a folder.
    fn run_in(&self, plan: &FlashSteps, sysfs: &Path) -> (String, Result<(), FlashError>) {
        let open = |device: &str| {
            assert_eq!(device, CARD);
            Ok(Box::new(Shared(Rc::clone(&self.window))) as Box<dyn Window>)
        };
        let mut lines = String::new();
        let mut say = |text: &str| {
            lines += text;
            Ok(())
        };
        let card: (Open, &Path) = (&open, sysfs);
        let mut run = FlashRun::new(self.board, false, &self.checked.contents, card, &mut say);
        let result = run.steps(&plan.before).and_then(|()| run.steps(&plan.after));
        let result = result.map_err(|error| error.downcast().expect("a failure of the flash"));
        (lines, result)
    }

    fn plan(&self) -> FlashSteps {
        plan(self.board, CARD, &self.checked, None)
    }

    fn boots(&self) -> Booted {
        let window = self.window.borrow();
        let (slot, image) = (self.board.flash.plan().slot_bytes, &self.checked.image.data[..]);
        boot(window.chips(), &GOLDEN, slot, &[image])
    }

    fn is_unchanged(&self) -> bool {
        self.window.borrow().changes().is_empty()
    }
}

#[test]
fn run_follows_dry_run_and_image_boots() {
    for board in ["vcu118", "vcu1525", "u250", "u55c"] {
        let rig = Rig::new(board);
        let dry = rig.plan().to_string();
        let (lines, result) = rig.run(&rig.plan());
        result.expect("an update");
        let dry: Vec<&str> = dry.lines().filter(|line| !line.starts_with("ask ")).collect();
        assert_eq!(dry, lines.lines().collect::<Vec<_>>());
        assert!(dry.len() > 6, "{dry:?}");
        assert_eq!(rig.boots(), Booted::Image(0), "{board}");
    }
}

#[test]
fn other_board_in_slot_stays() {
    let rig = Rig::new("u250");
    let other = Rig::new("u200");
    let (_, result) = other.run(&rig.plan());
    let error = result.expect_err("another board");
    assert_eq!(error.status(), 4);
    let text = error.to_string();
    assert!(text.contains(CARD) && text.contains("Nothing was erased"), "{text}");
    assert!(other.is_unchanged());
}

#[test]
fn card_with_other_flash_stays() {
    let rig = Rig::new("u250");
    let plan = rig.plan();
    let chips = vec![FlashChip::new(128 << 20)];
    *rig.window.borrow_mut() = FlashWindow::new(rig.board.number, chips, 128 << 20, 0x0200_0000);
    let error = rig.run(&plan).1.expect_err("another slot");
    assert_eq!(error.status(), 11);
    assert!(error.to_string().contains("Nothing was erased"), "{error}");
    assert!(rig.is_unchanged());
}

#[test]
fn lost_card_is_noticed_golden_image_boots() {
    let rig = Rig::new("vcu118");
    rig.window.borrow_mut().cut_after(5000);
    let error = rig.run(&rig.plan()).1.expect_err("it is gone");
    assert_eq!(error.status(), 11);
    let text = error.to_string();
    assert!(text.contains("does not answer") && text.contains("half an image"), "{text}");
    assert_eq!(rig.boots(), Booted::Golden);
    let rig = Rig::new("vcu118");
    rig.window.borrow_mut().cut_after(3);
    let error = rig.run(&rig.plan()).1.expect_err("it was never there");
    assert_eq!(error.status(), 6);
    assert!(error.to_string().contains("Nothing was erased"), "{error}");
}

#[test]
fn a_verify_that_fails_says_so() {
    let rig = Rig::new("vcu118");
    let address = rig.board.flash.plan().slot_bytes + 0x1234;
    rig.window.borrow_mut().chips_mut()[1].wear(address, 1);
    let error = rig.run(&rig.plan()).1.expect_err("a worn cell");
    assert_eq!(error.status(), 7);
    let text = error.to_string();
    assert!(text.contains(&format!("0x{address:08x}")), "{text}");
    assert_eq!(rig.boots(), Booted::Golden);
}

#[test]
fn returning_card_must_run_the_image() {
    let machine = system("boot");
    for (hash, slot, said) in [
        ([0; 5], 1, None),
        ([0, 0, 0, 0, 9], 1, Some("00000009, not 0000")),
        ([0; 5], 0, Some("golden image")),
    ] {
        let rig = Rig::new("vcu118");
        rig.window.borrow_mut().set_hash(hash);
        rig.window.borrow_mut().set_slot(slot);
        let exchange = exchange(machine.root(), CARD).expect("a card in a slot");
        let plan = plan(rig.board, CARD, &rig.checked, Some(exchange));
        let dry = plan.to_string();
        let (lines, result) = rig.run_in(&plan, machine.root());
        let dry: Vec<&str> = dry.lines().filter(|line| !line.starts_with("ask ")).collect();
        assert_eq!(dry, lines.lines().collect::<Vec<_>>());
        assert!(dry.iter().filter(|line| line.starts_with("boot ")).count() > 6, "{dry:?}");
        assert!(machine.was_told_to_boot(), "{lines}");
        assert_eq!(rig.boots(), Booted::Image(0));
        match (said, result) {
            (None, result) => result.expect("it runs"),
            (Some(said), result) => {
                let error = result.expect_err("another image");
                assert_eq!(error.status(), 11);
                assert!(error.to_string().contains(said), "{error}");
            }
        }
    }
}

#[test]
fn card_without_exchange_is_not_written() {
    let machine = system("refused");
    let error = exchange(machine.root(), "0000:66:00.0").expect_err("no card");
    assert_eq!(error.status(), 11);
    assert!(error.to_string().contains("Nothing was erased"), "{error}");
    assert!(exchange(machine.root(), "slot 3").is_err());
}
