//! A made-up sysfs with configuration spaces: a plan carried out, and each of its operations
//! failing once.
//!
//! ```text
//!   made-up tree ── files as the kernel has them ──► Sysfs ──► Made: counts, fails the nth, and
//!                                                              does what the kernel does
//! ```

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use abi::registers::{BOARD_WINDOW, BOARD_WINDOW_END};
use abi::window::{directory, BlockKind, PortOperation};

use super::*;

const DEVICE: &str = "0000:03:00.0";
const BRIDGE: &str = "0000:00:01.0";
const DRIVER: &str = "vfio-pci";

/// Offsets in the bridge's configuration space.
const COMMAND: usize = 0x04;
const EXPRESS: usize = 0x70;
const AER: usize = 0x100;
const DPC: usize = 0x160;

/// The folders of a made-up system, gone at the end.
struct Tree {
    root: PathBuf,
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn put(space: &mut [u8], offset: usize, value: u32) {
    space[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

fn bridge_space() -> Vec<u8> {
    let mut space = vec![0; 4096];
    put(&mut space, 0, 0x1234_8086);
    put(&mut space, COMMAND, 0x0010_0547);
    put(&mut space, 0x34, 0x40);
    // Power management, then PCI Express.
    put(&mut space, 0x40, (EXPRESS as u32) << 8 | 0x01);
    put(&mut space, EXPRESS, 0x0042_0010);
    put(&mut space, EXPRESS + 0x08, 0x0000_293f);
    put(&mut space, EXPRESS + 0x0c, 0x0017_f103);
    put(&mut space, EXPRESS + 0x10, 0x2103_0000);
    put(&mut space, AER, (DPC as u32) << 20 | 0x0002_0001);
    put(&mut space, AER + 0x04, 0x0000_4000);
    put(&mut space, AER + 0x08, 0x0010_0000);
    put(&mut space, DPC, 0x0001_001d);
    put(&mut space, DPC + 0x04, 0x0009_0007);
    space
}

fn device_space() -> Vec<u8> {
    let mut space = vec![0; 256];
    put(&mut space, 0, 0x5a4e_10ee);
    put(&mut space, 0x34, 0);
    space
}

impl Tree {
    fn new(name: &str) -> Self {
        let name = format!("zeronic-pci-{name}-{}", std::process::id());
        let tree = Self { root: std::env::temp_dir().join(name) };
        let _ = fs::remove_dir_all(&tree.root);
        let device = tree.device();
        fs::create_dir_all(&device).expect("a folder");
        let links = tree.root.join("bus/pci/devices");
        fs::create_dir_all(&links).expect("a folder");
        for (name, place) in [(BRIDGE, tree.bridge()), (DEVICE, device.clone())] {
            symlink(place, links.join(name)).expect("a link");
        }
        fs::write(tree.bridge().join("config"), bridge_space()).expect("a file");
        fs::write(tree.bridge().join("rescan"), "").expect("a file");
        fs::write(device.join("config"), device_space()).expect("a file");
        fs::write(device.join("remove"), "").expect("a file");
        fs::write(device.join("driver_override"), format!("{DRIVER}\n")).expect("a file");
        let mut bar = vec![0; BOARD_WINDOW_END as usize];
        for (number, word) in directory().into_iter().enumerate() {
            put(&mut bar, BOARD_WINDOW as usize + 4 * number, word);
        }
        fs::write(device.join("resource0"), bar).expect("a file");
        let driver = tree.driver();
        fs::create_dir_all(&driver).expect("a folder");
        for name in ["bind", "unbind"] {
            fs::write(driver.join(name), "").expect("a file");
        }
        symlink(&driver, device.join("driver")).expect("a link");
        tree
    }

    fn bridge(&self) -> PathBuf {
        self.root.join("devices/pci0000:00").join(BRIDGE)
    }

    fn device(&self) -> PathBuf {
        self.bridge().join(DEVICE)
    }

    fn driver(&self) -> PathBuf {
        self.root.join("bus/pci/drivers").join(DRIVER)
    }

    /// Where the device is while the system has forgotten it.
    fn forgotten_path(&self) -> PathBuf {
        self.root.join("forgotten")
    }

    fn bridge_config(&self) -> Vec<u8> {
        fs::read(self.bridge().join("config")).expect("a file")
    }

    /// Everything is as it was at first, the state of the link apart; errors of this run are
    /// forgotten.
    fn is_whole(&self) -> bool {
        let mut config = self.bridge_config();
        config[EXPRESS + 0x13] |= 0x20;
        let driver = fs::canonicalize(self.device().join("driver")).ok();
        let driver = driver.filter(|path| *path == fs::canonicalize(self.driver()).expect("it"));
        let given = fs::read_to_string(self.device().join("driver_override"));
        let given = given.is_ok_and(|text| text.trim() == DRIVER);
        config == bridge_space() && driver.is_some() && given
    }

    fn plan(&self, load: Load) -> Result<ExchangePlan, Vec<Refusal>> {
        let device = DEVICE.parse().expect("an address");
        ExchangePlan::new(&Sysfs::new(&self.root), &device, load, false)
    }
}

/// The kernel's part, with a fault.
struct Made<'a> {
    tree: &'a Tree,
    files: Sysfs,
    /// Operations so far: writes, and the program.
    count: Rc<Cell<usize>>,
    /// The operation that fails.
    fails: Option<usize>,
    /// The program is asked to end behind so many operations.
    asked: Option<usize>,
    /// Looks at the link until it is up again.
    link_looks: u32,
    /// Whether the device is found again.
    found: bool,
}

impl<'a> Made<'a> {
    fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            files: Sysfs::new(&tree.root),
            count: Rc::default(),
            fails: None,
            asked: None,
            link_looks: 3,
            found: true,
        }
    }

    /// Counts an operation, which may be the one that fails.
    fn operation(&self) -> impl Fn(&str) -> io::Result<()> + 'static {
        let (count, fails) = (self.count.clone(), self.fails);
        move |what| {
            count.set(count.get() + 1);
            match fails == Some(count.get()) {
                true => Err(io::Error::other(format!("no {what}"))),
                false => Ok(()),
            }
        }
    }

    fn change(&self, offset: usize, change: impl Fn(u32) -> u32) {
        let path = self.tree.bridge().join("config");
        let mut space = fs::read(&path).expect("a file");
        let word = u32::from_le_bytes(space[offset..offset + 4].try_into().expect("a word"));
        put(&mut space, offset, change(word));
        fs::write(&path, space).expect("a file");
    }

    /// What the kernel does when a file of its is written.
    fn act(&mut self, path: &Path) {
        let (device, forgotten) = (self.tree.device(), self.tree.forgotten_path());
        match path.file_name().and_then(|name| name.to_str()) {
            Some("remove") => {
                let link = self.tree.root.join("bus/pci/devices").join(DEVICE);
                fs::remove_file(link).expect("a link");
                fs::rename(device, forgotten).expect("a folder");
                // The device's link goes down, and the bridge is surprised.
                self.change(EXPRESS + 0x10, |word| word & !(1 << 29));
                self.change(AER + 4, |word| word | 1 << 5);
            }
            Some("rescan") if self.found && forgotten.exists() => {
                let link = self.tree.root.join("bus/pci/devices").join(DEVICE);
                fs::write(forgotten.join("driver_override"), "(null)\n").expect("a file");
                fs::rename(forgotten, &device).expect("a folder");
                symlink(device, link).expect("a link");
            }
            Some("unbind") => fs::remove_file(device.join("driver")).expect("a link"),
            Some("bind") => symlink(self.tree.driver(), device.join("driver")).expect("a link"),
            _ => {}
        }
    }
}

impl Kernel for Made<'_> {
    fn devices(&self) -> PathBuf {
        self.files.devices()
    }

    fn drivers(&self) -> PathBuf {
        self.files.drivers()
    }

    fn read(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.files.read(path, offset, bytes)
    }

    fn write(&mut self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.operation()(&name.unwrap_or_default())?;
        if path.ends_with("config") && offset as usize == AER + 4 {
            // Written ones clear.
            let ones = u32::from_le_bytes(bytes.try_into().expect("a word"));
            self.change(AER + 4, |word| word & !ones);
            return Ok(());
        }
        if path.ends_with("driver_override") {
            assert_eq!(offset, 0, "an attribute is one text");
            return fs::write(path, bytes);
        }
        self.files.write(path, offset, bytes)?;
        self.act(path);
        Ok(())
    }

    fn is_asked_to_end(&self) -> bool {
        self.asked == Some(self.count.get())
    }

    fn wait(&mut self, _: Duration) {
        self.link_looks = self.link_looks.saturating_sub(1);
        if self.link_looks == 0 {
            self.change(EXPRESS + 0x10, |word| word | 1 << 29);
        }
    }
}

/// Runs a plan; what was said, and how it ended.
fn run(made: &mut Made, plan: &ExchangePlan) -> (Vec<StepEvent>, Result<(), Failure>) {
    let mut said = Vec::new();
    let operation = made.operation();
    let mut program = || operation("cable");
    let result = reprogram(made, plan, &mut program, &mut |what| said.push(what));
    (said, result)
}

fn lines(said: &[StepEvent]) -> Vec<String> {
    let text = |said: &StepEvent| match said {
        StepEvent::Step(text) | StepEvent::Restore(text) => Some(text.clone()),
        StepEvent::Failed(_) => None,
    };
    said.iter().filter_map(text).collect()
}

#[test]
fn plan_is_carried_out_as_printed() {
    for load in [Load::Program, Load::Boot(PortOperation::BootUser)] {
        let tree = Tree::new("whole");
        let plan = tree.plan(load).expect("a plan");
        assert_eq!(plan.notes, [""; 0]);
        let mut made = Made::new(&tree);
        let mut masked = false;
        // What is masked while the device is away.
        let check = |tree: &Tree| {
            let space = tree.bridge_config();
            let word = |at: usize| u32::from_le_bytes(space[at..at + 4].try_into().expect("it"));
            assert_eq!(word(COMMAND) & 0xffff, 0x0447);
            assert_eq!(word(EXPRESS + 8) & 0xffff, 0x293b);
            assert_eq!(word(AER + 8), 0x07ff_f030);
            assert_eq!(word(DPC + 4), 0x0008_0007);
        };
        let mut said = Vec::new();
        let mut program = || {
            check(&tree);
            assert!(!tree.device().exists());
            masked = true;
            Ok(())
        };
        let result = reprogram(&mut made, &plan, &mut program, &mut |what| said.push(what));
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(masked, load == Load::Program);
        assert_eq!(lines(&said), plan.lines());
        assert!(tree.is_whole(), "{:x?}", tree.bridge_config());
        let bar = fs::read(tree.device().join("resource0")).expect("a file");
        let port = BlockKind::ConfigurationPort.block().offset as usize;
        assert_eq!(bar[port], if load == Load::Program { 0 } else { 2 });
    }
}

/// Each operation of a run fails once: it is said, what follows does not run, and everything is as
/// before, but what the failing restoration could not restore.
#[test]
fn each_failing_operation_restores_the_rest() {
    for load in [Load::Program, Load::Boot(PortOperation::BootGolden)] {
        let tree = Tree::new("count");
        let plan = tree.plan(load).expect("a plan");
        let mut made = Made::new(&tree);
        run(&mut made, &plan).1.expect("it is done");
        // Neither the wait nor the card's own loading is an operation.
        let forward = plan.steps.len() - 1 - usize::from(load != Load::Program);
        for number in 1..=made.count.get() {
            let tree = Tree::new(&format!("fail-{number}"));
            let mut made = Made::new(&tree);
            made.fails = Some(number);
            let (said, result) = run(&mut made, &plan_of(&tree, load));
            let failure = result.expect_err("an operation failed");
            if number <= forward {
                assert_eq!(failure.unrestored, [""; 0], "{number}: {failure}");
                assert!(tree.is_whole(), "{number}: {failure}");
                assert!(failure.to_string().ends_with("everything is as it was"), "{failure}");
                let failed = |said: &StepEvent| matches!(said, StepEvent::Failed(_));
                let at = said.iter().position(failed).expect("it is said");
                assert_eq!(lines(&said[..at]), plan.lines()[..at]);
            } else {
                // A restoration: the others are done all the same.
                let kept = plan.lines().len() - lines(&said).len();
                assert_eq!(kept, 0, "{number}: {said:?}");
                assert!(!tree.is_whole(), "{number}");
                assert!(!failure.is_restored(), "{number}: {failure}");
            }
        }
    }
}

#[test]
fn interrupted_program_restores_first() {
    let tree = Tree::new("asked");
    let plan = plan_of(&tree, Load::Program);
    for operations in 0..plan.steps.len() {
        let mut made = Made::new(&tree);
        made.asked = Some(operations);
        let (said, result) = run(&mut made, &plan);
        let failure = result.expect_err("it ends");
        assert!(failure.to_string().contains("asked to end; everything is as it was"));
        assert!(tree.is_whole(), "{operations}: {failure}");
        assert!(said.len() > 2 * operations, "{said:?}");
    }
}

fn plan_of(tree: &Tree, load: Load) -> ExchangePlan {
    tree.plan(load).expect("a plan")
}

#[test]
fn missing_link_or_device_is_reported() {
    let tree = Tree::new("link");
    let plan = tree.plan(Load::Program).expect("a plan");
    let mut made = Made::new(&tree);
    made.link_looks = u32::MAX;
    let (_, result) = run(&mut made, &plan);
    let text = result.expect_err("no link").to_string();
    assert!(text.contains("the link comes up: it is down still, after 20 s"), "{text}");
    let tree = Tree::new("gone");
    let plan = tree.plan(Load::Program).expect("a plan");
    let mut made = Made::new(&tree);
    made.found = false;
    let (said, result) = run(&mut made, &plan);
    let failure = result.expect_err("no device");
    let text = failure.to_string();
    assert!(
        text.contains(
            "NOT restored: 0000:03:00.0: the system looks for it: it is not there after 5 s"
        ),
        "{text}"
    );
    assert!(text.contains("; 0000:03:00.0: driver vfio-pci takes it"), "{text}");
    assert_eq!(lines(&said), plan.lines());
    // The bridge is as it was, but that its link is down.
    let mut space = bridge_space();
    put(&mut space, EXPRESS + 0x10, 0x2103_0000);
    assert!(tree.bridge_config() == space);
}

fn expect_refusal(tree: &Tree, parts: &[&str]) {
    let refusals = tree.plan(Load::Boot(PortOperation::BootUser)).expect_err("refused");
    let lines: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
    assert_eq!(lines.len(), parts.len(), "{lines:#?}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.contains(part), "'{part}' is not in: {line}");
    }
}

#[test]
fn impossible_plan_is_reported_before_acting() {
    let tree = Tree::new("others");
    for other in ["0000:03:00.1", "0000:03:00.2"] {
        fs::create_dir(tree.bridge().join(other)).expect("a folder");
    }
    let mut space = device_space();
    put(&mut space, 0, 0x5000_10ee);
    fs::write(tree.device().join("config"), space).expect("a file");
    let mut space = bridge_space();
    put(&mut space, DPC + 0x08, 0x0000_0001);
    fs::write(tree.bridge().join("config"), space).expect("a file");
    fs::remove_file(tree.device().join("resource0")).expect("a file");
    expect_refusal(
        &tree,
        &[
            "0000:03:00.0 is 10ee:5000, not a card (10ee:5a4e)",
            "are also 0000:03:00.1, 0000:03:00.2",
            "DPC Status 0x0001",
            "resource0 cannot be written",
        ],
    );
    let tree = Tree::new("express");
    let mut space = bridge_space();
    put(&mut space, 0x34, 0);
    put(&mut space, AER, 0);
    fs::write(tree.bridge().join("config"), space).expect("a file");
    expect_refusal(&tree, &["bridge 0000:00:01.0 has no PCI Express capability"]);
    // A device at the root complex.
    let tree = Tree::new("root");
    let place = tree.root.join("devices/pci0000:00").join(DEVICE);
    fs::rename(tree.device(), &place).expect("a folder");
    let link = tree.root.join("bus/pci/devices").join(DEVICE);
    fs::remove_file(&link).expect("a link");
    symlink(place, &link).expect("a link");
    expect_refusal(&tree, &["has no bridge above it"]);
    fs::remove_file(&link).expect("a link");
    expect_refusal(&tree, &["there is no device 0000:03:00.0"]);
}

#[test]
fn bridge_without_optional_parts_gets_note() {
    let tree = Tree::new("plain");
    let mut space = bridge_space();
    put(&mut space, AER, 0);
    put(&mut space, EXPRESS + 0x0c, 0x0007_f103);
    // Its list of capabilities goes in a circle.
    put(&mut space, EXPRESS, 0x0042_0010 | (0x40 << 8));
    fs::write(tree.bridge().join("config"), space).expect("a file");
    fs::remove_file(tree.device().join("driver")).expect("a link");
    let plan = tree.plan(Load::Program).expect("a plan");
    assert_eq!(plan.notes.len(), 3, "{:?}", plan.notes);
    assert_eq!(plan.steps.len(), 5);
    run(&mut Made::new(&tree), &plan).1.expect("it is done");
}

#[test]
fn image_without_port_does_not_boot() {
    let tree = Tree::new("port");
    let plan = tree.plan(Load::Boot(PortOperation::BootUser)).expect("a plan");
    for (offset, value, said) in [
        (BOARD_WINDOW as usize + 4, 7, "the image that runs has no block ConfigurationPort"),
        (BOARD_WINDOW as usize, 0, "no directory of blocks: 0x00000000"),
    ] {
        let path = tree.device().join("resource0");
        let mut bar = fs::read(&path).expect("a file");
        put(&mut bar, offset, value);
        fs::write(&path, bar).expect("a file");
        let failure = run(&mut Made::new(&tree), &plan).1.expect_err("no port");
        assert!(failure.to_string().contains(said), "{failure}");
        assert_eq!(failure.unrestored, [""; 0]);
    }
}

#[test]
fn addresses_read_as_kernel_writes_them() {
    for (text, name) in
        [("03:00.0", DEVICE), ("0000:03:00.0", DEVICE), ("0001:AF:1f.7", "0001:af:1f.7")]
    {
        assert_eq!(text.parse::<Address>().expect(text).name(), name);
    }
    for wrong in ["", "03:00", "03:00.8", "3:0.0", "0000:03:00.0/..", "pci0000:00"] {
        assert!(wrong.parse::<Address>().is_err(), "{wrong}");
    }
}
