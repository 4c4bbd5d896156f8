//! A made-up system with a card below a bridge, and a thread that does the kernel's work.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use abi::pci_ids;
use abi::registers::BOARD_WINDOW;
use abi::window::{directory, BlockKind, PortOperation};

use super::CARD;

const BRIDGE: &str = "0000:64:00.0";

/// The system.
pub struct Machine {
    root: PathBuf,
    bar: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn put(space: &mut [u8], offset: usize, value: u32) {
    space[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

/// Where the command of the configuration port is.
fn port() -> usize {
    BlockKind::ConfigurationPort.block().offset as usize
}

impl Machine {
    /// A card in a slot, without a driver.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("zeronic_machine_{}_{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let device = root.join("devices/pci0000:64").join(BRIDGE).join(CARD);
        let bridge = device.parent().expect("a bridge").to_path_buf();
        let links = root.join("bus/pci/devices");
        fs::create_dir_all(&device).expect("a folder");
        fs::create_dir_all(&links).expect("a folder");
        symlink(&bridge, links.join(BRIDGE)).expect("a link");
        symlink(&device, links.join(CARD)).expect("a link");
        let mut space = vec![0; 256];
        let ids = u32::from(pci_ids::DEVICE_ID) << 16 | u32::from(pci_ids::VENDOR_ID);
        put(&mut space, 0, ids);
        fs::write(device.join("config"), space).expect("a file");
        // A bridge with PCI Express at 0x70, whose link is up.
        let mut space = vec![0; 4096];
        for (offset, value) in [
            (0x00, 0x1234_8086),
            (0x04, 0x0010_0547),
            (0x34, 0x70),
            (0x70, 0x0042_0010),
            (0x78, 0x0000_293f),
            (0x7c, 0x0017_f103),
            (0x80, 0x2103_0000),
        ] {
            put(&mut space, offset, value);
        }
        fs::write(bridge.join("config"), space).expect("a file");
        let mut bar = vec![0; 1 << 20];
        for (offset, word) in (BOARD_WINDOW as usize..).step_by(4).zip(directory()) {
            put(&mut bar, offset, word);
        }
        fs::write(device.join("resource0"), bar).expect("a file");
        for file in [device.join("remove"), bridge.join("rescan")] {
            fs::write(file, "").expect("a file");
        }
        let ends = Arc::new(AtomicBool::new(false));
        let (place, ended) = (root.clone(), Arc::clone(&ends));
        let bar = device.join("resource0");
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                work(&place, &device);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self { root, bar, ends, thread: Some(thread) }
    }

    /// Where its devices are.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the configuration port was told to load the user's image; it forgets that.
    pub fn was_told_to_boot(&self) -> bool {
        let mut bar = fs::read(&self.bar).expect("a file");
        let told = bar[port()] == PortOperation::BootUser as u8;
        bar[port()] = 0;
        fs::write(&self.bar, bar).expect("a file");
        told
    }
}

impl Drop for Machine {
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
fn work(root: &Path, device: &Path) {
    let link = root.join("bus/pci/devices").join(CARD);
    let forgotten = root.join("forgotten");
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
