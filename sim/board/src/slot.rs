//! A card in a slot below a bridge, in files as sysfs has them, and a thread in the kernel's place.
//!
//! ```text
//!   bus/pci/devices/DEVICE ─► devices/pci0000:00/BRIDGE/DEVICE: config, resource0, driver
//!   remove, rescan, bind, unbind: written ─► the thread does it, and empties the file
//! ```

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use abi::registers::BOARD_WINDOW;
use abi::window::{directory, BlockKind, PortOperation};

/// PCI address of the card.
pub const DEVICE: &str = "0000:03:00.0";
/// PCI address of the bridge.
pub const BRIDGE: &str = "0000:00:01.0";
/// Folder of the bridge, from the root.
pub const BRIDGE_FOLDER: &str = "devices/pci0000:00/0000:00:01.0";

/// A made-up system of one card. Its files go with it.
pub struct MadeSlot {
    root: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Writes a word of a configuration space or a BAR.
pub fn put(space: &mut [u8], offset: usize, value: u32) {
    space[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

/// The configuration space of a bridge with PCI Express at 0x70, AER and DPC, whose link is up.
pub fn bridge_space() -> Vec<u8> {
    let mut space = vec![0; 4096];
    for (offset, value) in [
        (0x00, 0x1234_8086),
        (0x04, 0x0010_0547),
        (0x34, 0x70),
        (0x70, 0x0042_0010),
        (0x78, 0x0000_293f),
        (0x7c, 0x0017_f103),
        (0x80, 0x2103_0000),
        (0x100, 0x1600_0001),
        (0x160, 0x0001_001d),
        (0x164, 0x0009_0007),
    ] {
        put(&mut space, offset, value);
    }
    space
}

/// Where the command of the configuration port is in BAR 0.
fn port() -> usize {
    BlockKind::ConfigurationPort.block().offset as usize
}

impl MadeSlot {
    /// A card in a slot, with a driver or without, in a folder of its own.
    pub fn new(root: PathBuf, driver: Option<&str>) -> Self {
        let bridge = root.join(BRIDGE_FOLDER);
        let device = bridge.join(DEVICE);
        let links = root.join("bus/pci/devices");
        for folder in [&device, &links] {
            fs::create_dir_all(folder).expect("a folder");
        }
        symlink(&bridge, links.join(BRIDGE)).expect("a link");
        symlink(&device, links.join(DEVICE)).expect("a link");
        let mut space = vec![0; 256];
        put(&mut space, 0, u32::from(DEVICE_ID) << 16 | u32::from(VENDOR_ID));
        fs::write(device.join("config"), space).expect("a file");
        fs::write(bridge.join("config"), bridge_space()).expect("a file");
        let mut bar = vec![0; 1 << 20];
        for (offset, word) in (BOARD_WINDOW as usize..).step_by(4).zip(directory()) {
            put(&mut bar, offset, word);
        }
        fs::write(device.join("resource0"), bar).expect("a file");
        let mut files = vec![device.join("remove"), bridge.join("rescan")];
        let driver = driver.map(|name| root.join("bus/pci/drivers").join(name));
        if let Some(driver) = &driver {
            fs::create_dir_all(driver).expect("a folder");
            symlink(driver, device.join("driver")).expect("a link");
            files.extend([driver.join("bind"), driver.join("unbind")]);
        }
        for file in files {
            fs::write(file, "").expect("a file");
        }
        let ends = Arc::new(AtomicBool::new(false));
        let (place, ended) = (root.clone(), Arc::clone(&ends));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                act(&place, &device, driver.as_deref());
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self { root, ends, thread: Some(thread) }
    }

    /// Where its devices are.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The card's folder, while the system knows it.
    pub fn device(&self) -> PathBuf {
        self.root.join("bus/pci/devices").join(DEVICE)
    }

    /// The bridge's folder.
    pub fn bridge(&self) -> PathBuf {
        self.root.join(BRIDGE_FOLDER)
    }

    /// Whether the configuration port was told to load the user's image; it forgets that.
    pub fn was_told_to_boot(&self) -> bool {
        let file = self.device().join("resource0");
        let mut bar = fs::read(&file).expect("a file");
        let told = bar[port()] == PortOperation::BootUser as u8;
        bar[port()] = 0;
        fs::write(file, bar).expect("a file");
        told
    }
}

impl Drop for MadeSlot {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        fs::remove_dir_all(&self.root).expect("it goes");
        assert!(ended.is_some_and(|ended| ended.is_ok()));
    }
}

/// Whether somebody has written a file; it is emptied.
fn is_written(file: &Path) -> bool {
    let written = fs::metadata(file).is_ok_and(|data| data.len() > 0);
    if written {
        fs::write(file, "").expect("a file");
    }
    written
}

/// What the kernel does when its files are written.
fn act(root: &Path, device: &Path, driver: Option<&Path>) {
    let link = root.join("bus/pci/devices").join(DEVICE);
    let forgotten = root.join("forgotten");
    if let Some(driver) = driver {
        if is_written(&driver.join("unbind")) {
            let _ = fs::remove_file(device.join("driver"));
        }
        if is_written(&driver.join("bind")) {
            // A device that is not there is not bound.
            let _ = symlink(driver, device.join("driver"));
        }
    }
    if is_written(&device.join("remove")) {
        fs::remove_file(&link).expect("a link");
        fs::rename(device, &forgotten).expect("a folder");
    }
    let bridge = device.parent().expect("a bridge");
    if is_written(&bridge.join("rescan")) && forgotten.exists() {
        fs::rename(&forgotten, device).expect("a folder");
        symlink(device, &link).expect("a link");
    }
}
