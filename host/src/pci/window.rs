//! The board window of a card, through the file of its BAR 0: enough to have it load an image.
//!
//! ```text
//!   resource0 ──► directory ──► configuration port ──► PortOperation
//! ```
#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use abi::registers::{BOARD_WINDOW, BOARD_WINDOW_END};
use abi::window::{
    BlockKind, PortOperation, BLOCKS, DIRECTORY_ENTRY_WORDS, DIRECTORY_MAGIC, PORT_COMMAND,
};

/// Bytes of BAR 0 that are mapped.
const BYTES: usize = BOARD_WINDOW_END as usize;

/// BAR 0, mapped.
struct Window {
    at: NonNull<libc::c_void>,
}

impl Window {
    fn open(file: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(file)?;
        let bytes = file.metadata()?.len();
        if bytes < BYTES as u64 {
            let text = format!("BAR 0 has {bytes} bytes, the board window ends at {BYTES}");
            return Err(io::Error::other(text));
        }
        // SAFETY: a new mapping of a whole file that is open; nothing else is at its address.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(at) {
            Some(at) if at.as_ptr() != libc::MAP_FAILED => Ok(Self { at }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && (offset as usize) < BYTES);
        // SAFETY: the word lies in the mapping, aligned; the mapping lives as long as `self`.
        // Device memory is read and written word by word, as these atomics do.
        unsafe {
            self.at
                .byte_add(offset as usize)
                .cast::<AtomicU32>()
                .as_ref()
        }
    }

    fn read(&self, offset: u32) -> u32 {
        u32::from_le(self.word(offset).load(Ordering::SeqCst))
    }

    fn write(&self, offset: u32, value: u32) {
        self.word(offset).store(value.to_le(), Ordering::SeqCst);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping that `open` made; no reference to it is left.
        unsafe {
            libc::munmap(self.at.as_ptr(), BYTES);
        }
    }
}

/// Has the card load an image: it leaves the bus.
pub fn load(resource: &Path, operation: PortOperation) -> io::Result<()> {
    let window = Window::open(resource)?;
    let magic = window.read(BOARD_WINDOW);
    if magic != DIRECTORY_MAGIC {
        let text = format!("no board window: word 0 is 0x{magic:08x}, not 0x{DIRECTORY_MAGIC:08x}");
        return Err(io::Error::other(text));
    }
    let entries = window.read(BOARD_WINDOW + 4).min(BLOCKS.len() as u32);
    for entry in 0..entries {
        let at = BOARD_WINDOW + 8 + 4 * entry * DIRECTORY_ENTRY_WORDS as u32;
        let [kind, offset, _, words] = [0, 4, 8, 12].map(|byte| window.read(at + byte));
        let is_port = kind == BlockKind::ConfigurationPort as u32 && words > PORT_COMMAND;
        if is_port && offset.is_multiple_of(4) && offset < BOARD_WINDOW_END {
            window.write(offset + 4 * PORT_COMMAND, operation as u32);
            return Ok(());
        }
    }
    Err(io::Error::other("this image has no configuration port"))
}
