//! What the system offers of its PCI devices, as files below a root path.
//!
//! ```text
//!   ROOT/bus/pci/devices/ADDRESS ──► ROOT/devices/pci0000:00/BRIDGE/ADDRESS
//!     config   driver ──► ROOT/bus/pci/drivers/NAME   remove   rescan   resource0
//! ```

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::signals::is_asked;

/// Place of a function: domain, bus, device, function, as the kernel writes it: `0000:01:00.0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    /// The name in sysfs.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let full = match text.matches(':').count() {
            1 => format!("0000:{text}"),
            _ => text.to_owned(),
        };
        let is_hex = |part: &str, digits: usize| {
            part.len() == digits && part.chars().all(|c| c.is_ascii_hexdigit())
        };
        let is_slot = |slot: &str, function: &str| {
            is_hex(slot, 2) && matches!(function.as_bytes(), [b'0'..=b'7'])
        };
        let (place, function) = full.rsplit_once('.').unwrap_or((&full, ""));
        let parts: Vec<&str> = place.split(':').collect();
        match parts[..] {
            [domain, bus, slot]
                if is_hex(domain, 4) && is_hex(bus, 2) && is_slot(slot, function) =>
            {
                Ok(Self(full.to_ascii_lowercase()))
            }
            _ => Err(format!("'{text}' is no PCI address as 0000:01:00.0")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The files of the system; a test puts faults between.
pub trait Kernel {
    /// Folder of all devices.
    fn devices(&self) -> PathBuf;

    /// Folder of all drivers.
    fn drivers(&self) -> PathBuf;

    /// Reads bytes of a file from an offset on.
    fn read(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes bytes of a file at an offset.
    fn write(&mut self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// A file of text, without the blanks at its ends.
    fn text(&self, path: &Path) -> io::Result<String> {
        Ok(fs::read_to_string(path)?.trim().to_owned())
    }

    /// Where a path leads, without links.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    /// Names in a folder, sorted.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        let names = entries.iter().map(|entry| entry.file_name());
        let mut names: Vec<String> =
            names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Whether a file may be written; it is not touched.
    fn may_write(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path).map(|_| ())
    }

    /// Lets time pass.
    fn wait(&mut self, time: Duration);

    /// Whether the program is asked to end.
    fn is_asked_to_end(&self) -> bool;
}

/// The system's own files.
#[derive(Clone, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

impl Sysfs {
    /// Below a root path: `/sys`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }
}

impl Kernel for Sysfs {
    fn devices(&self) -> PathBuf {
        self.root.join("bus/pci/devices")
    }

    fn drivers(&self) -> PathBuf {
        self.root.join("bus/pci/drivers")
    }

    fn read(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        fs::File::open(path)?.read_exact_at(bytes, offset)
    }

    fn write(&mut self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.write_all_at(bytes, offset)
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    fn is_asked_to_end(&self) -> bool {
        is_asked()
    }
}
