//! BAR 0 of a card, as the system offers it in sysfs.
//!
//! ```text
//!   SYSFS/bus/pci/devices/BDF/enable ────► the device answers, also without a driver
//!                            /resource0 ─► mapping ─► words, 32 bits an access
//! ```
//! Whoever may open the file may do this; the window refuses what would harm the card. One program
//! at a time: the file is locked.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions, TryLockError};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::time::Duration;

use crate::window::{Window, WindowError};

/// Where the system's devices are.
pub const SYSFS: &str = "/sys";

/// Bytes of a word.
const WORD_BYTES: u32 = 4;

/// BAR 0 of a card.
#[derive(Debug)]
pub struct Resource {
    start: NonNull<u32>,
    bytes: usize,
    /// Its lock goes with it.
    _file: File,
    /// The device was switched on for this.
    is_enabled: bool,
    /// The device leaves the system: its folder goes.
    folder: PathBuf,
}

/// The folder of a PCI device.
pub fn device_folder(sysfs: &Path, device: &str) -> PathBuf {
    sysfs.join("bus/pci/devices").join(device)
}

impl Resource {
    /// Maps BAR 0 of the device at a PCI address: `0000:65:00.0`.
    pub fn open(sysfs: &Path, device: &str) -> Result<Self, WindowError> {
        Self::of_device(&device_folder(sysfs, device))
    }

    /// Maps BAR 0 of the device in a folder of sysfs.
    pub fn of_device(folder: &Path) -> Result<Self, WindowError> {
        let path = folder.join("resource0");
        let failed = |error| WindowError::System { what: path.display().to_string(), error };
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let bytes = usize::try_from(bytes).unwrap_or(0);
        if bytes == 0 {
            return Err(failed(std::io::Error::other("BAR 0 has no bytes")));
        }
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => failed(std::io::Error::other("in use by another program")),
            TryLockError::Error(error) => failed(error),
        })?;
        let start = map(&file, bytes).map_err(failed)?;
        Ok(Self {
            is_enabled: switch(folder, true),
            start,
            bytes,
            _file: file,
            folder: folder.to_path_buf(),
        })
    }

    /// Where a word is in memory.
    fn word(&self, offset: u32) -> Result<NonNull<u32>, WindowError> {
        let end = u64::from(offset) + u64::from(WORD_BYTES);
        if !offset.is_multiple_of(WORD_BYTES) || end > self.bytes as u64 {
            return Err(WindowError::Outside { offset, bytes: self.bytes as u64 });
        }
        // Mapped memory of a device that is gone is not to be touched.
        if !self.folder.exists() {
            return Err(WindowError::Gone { offset });
        }
        // SAFETY: the word lies within the mapping, as was just compared.
        Ok(unsafe { self.start.add((offset / WORD_BYTES) as usize) })
    }
}

/// Switches a device on that no driver has switched on, or off again; whether it did. The system
/// counts who needs it. Where there is nothing to switch, accesses show whether the device answers.
fn switch(folder: &Path, on: bool) -> bool {
    let file = folder.join("enable");
    let is_off = std::fs::read_to_string(&file).is_ok_and(|text| text.trim() == "0");
    let wanted = if on { "1" } else { "0" };
    is_off == on && std::fs::write(&file, wanted).is_ok()
}

fn map(file: &File, bytes: usize) -> std::io::Result<NonNull<u32>> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let (null, number) = (std::ptr::null_mut(), file.as_raw_fd());
    // SAFETY: a new mapping at an address that the kernel chooses touches no other object; the
    // descriptor is open, and the file has this many bytes.
    let start = unsafe { libc::mmap(null, bytes, rights, libc::MAP_SHARED, number, 0) };
    if start == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    NonNull::new(start.cast()).ok_or_else(|| std::io::Error::other("a mapping at address 0"))
}

impl Window for Resource {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        let word = self.word(offset)?;
        // SAFETY: `word` is in the mapping and aligned; the device may change it, hence volatile.
        Ok(u32::from_le(unsafe { word.read_volatile() }))
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        let word = self.word(offset)?;
        // SAFETY: `word` is in the mapping and aligned, and no reference to it exists; the device
        // sees every write, hence volatile.
        unsafe { word.write_volatile(value.to_le()) };
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        if self.is_enabled {
            switch(&self.folder, false);
        }
        // SAFETY: the mapping was made by `open` with this length, and nothing borrows it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysfs(name: &str, bytes: usize) -> PathBuf {
        let root = std::env::temp_dir().join(format!("zeronic_{name}_{}", std::process::id()));
        let folder = device_folder(&root, "0000:65:00.0");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("resource0"), vec![0; bytes]).expect("a file");
        root
    }

    #[test]
    fn words_are_those_of_the_file() {
        let root = sysfs("words", 0x10_0000);
        let mut bar = Resource::open(&root, "0000:65:00.0").expect("BAR 0");
        bar.write(0x4_1000, 0x1122_3344).expect("a word");
        assert_eq!(bar.read(0x4_1000).expect("a word"), 0x1122_3344);
        let file = device_folder(&root, "0000:65:00.0").join("resource0");
        let bytes = std::fs::read(file).expect("a file");
        assert_eq!(bytes[0x4_1000..0x4_1004], [0x44, 0x33, 0x22, 0x11]);
        for offset in [0x10_0000, 0xf_fffe, 0x4_1001, u32::MAX - 3] {
            let error = bar.read(offset).expect_err("outside");
            assert!(matches!(error, WindowError::Outside { .. }), "{error}");
        }
        let error = Resource::open(&root, "0000:65:00.0").expect_err("it is in use");
        assert!(error.to_string().contains("in use"), "{error}");
        std::fs::remove_dir_all(&root).expect("it goes");
        let error = bar.read(0x4_1000).expect_err("it is gone");
        assert!(matches!(error, WindowError::Gone { .. }), "{error}");
    }

    #[test]
    fn driverless_device_is_enabled_temporarily() {
        for (before, during) in [("0\n", "1"), ("1\n", "1\n")] {
            let root = sysfs("enable", 0x10_0000);
            let file = device_folder(&root, "0000:65:00.0").join("enable");
            std::fs::write(&file, before).expect("a file");
            let text = || std::fs::read_to_string(&file).expect("a file");
            let bar = Resource::open(&root, "0000:65:00.0").expect("BAR 0");
            assert_eq!(text(), during);
            drop(bar);
            assert_eq!(text().trim(), before.trim());
            std::fs::remove_dir_all(&root).expect("it goes");
        }
    }

    #[test]
    fn missing_device_is_named() {
        let root = sysfs("missing", 0);
        let error = Resource::open(&root, "0000:66:00.0").expect_err("not there");
        assert!(error.to_string().contains("0000:66:00.0"), "{error}");
        let error = Resource::open(&root, "0000:65:00.0").expect_err("empty");
        assert!(error.to_string().contains("no bytes"), "{error}");
        std::fs::remove_dir_all(&root).expect("it goes");
    }
}
