//! Memory of one end, registered as NCCL registers it, with canaries.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{ensure, Context, Result};

use super::report::check;
use crate::net::{Buffer, Net, Pointer};

/// Bytes behind each buffer that nobody may write.
const CANARY_BYTES: usize = 64;
const CANARY: u8 = 0xc5;
/// Before the first buffer, so that nothing is at a page.
const ODD_BYTES: usize = 72;

/// The buffers of one end: one for each sender and step, in shared pages.
pub struct Buffers {
    start: *mut u8,
    mapped_bytes: usize,
    file: OwnedFd,
    stride: usize,
    bytes_max: usize,
    steps: usize,
    /// Registrations, one for each sender.
    handles: Vec<Pointer>,
    senders: usize,
}

// SAFETY: the pages belong to the process; one thread at a time uses the value.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Buffers for so many senders and steps.
    pub fn new(senders: usize, steps: usize, bytes_max: usize) -> Result<Self> {
        let stride = (bytes_max + CANARY_BYTES).next_multiple_of(8) + 8;
        let bytes = ODD_BYTES + senders * steps * stride;
        let mapped_bytes = bytes.next_multiple_of(4096);
        let file = sealed_file(mapped_bytes)?;
        // SAFETY: a new mapping of a file of that length.
        let start = unsafe {
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let none = std::ptr::null_mut();
            libc::mmap(none, mapped_bytes, rights, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        ensure!(start != libc::MAP_FAILED, "mmap: {}", io::Error::last_os_error());
        let handles = Vec::new();
        let start = start.cast();
        let all = Self { start, mapped_bytes, file, stride, bytes_max, steps, handles, senders };
        all.fill(0, mapped_bytes, CANARY);
        Ok(all)
    }

    fn offset(&self, sender: usize, step: usize) -> usize {
        ODD_BYTES + (sender * self.steps + step % self.steps) * self.stride
    }

    fn fill(&self, offset: usize, bytes: usize, value: u8) {
        assert!(offset + bytes <= self.mapped_bytes);
        // SAFETY: inside the mapping; nobody has references to it.
        unsafe { self.start.add(offset).write_bytes(value, bytes) };
    }

    /// Fills all of them.
    pub fn fill_all(&self, value: u8) {
        self.fill(0, self.mapped_bytes, value);
    }

    /// Whether every byte is this.
    pub fn is_all(&self, value: u8) -> bool {
        self.read(0, self.mapped_bytes).iter().all(|byte| *byte == value)
    }

    fn read(&self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(offset + bytes <= self.mapped_bytes);
        let mut found = vec![0; bytes];
        // SAFETY: inside the mapping; nobody has references to it.
        unsafe { self.start.add(offset).copy_to_nonoverlapping(found.as_mut_ptr(), bytes) };
        found
    }

    /// Writes a message; behind it comes a canary.
    pub fn write(&self, sender: usize, step: usize, message: &[u8]) {
        assert!(message.len() <= self.bytes_max);
        let to = self.offset(sender, step);
        // SAFETY: inside the mapping; nobody has references to it.
        unsafe { self.start.add(to).copy_from_nonoverlapping(message.as_ptr(), message.len()) };
    }

    /// Overwrites a buffer, canary included.
    pub fn spoil(&self, sender: usize, step: usize, value: u8) {
        self.fill(self.offset(sender, step), self.bytes_max, value);
    }

    /// Makes a buffer ready to receive: nothing but canaries.
    pub fn clear(&self, sender: usize, step: usize) {
        self.spoil(sender, step, CANARY);
    }

    /// A message that was received, and whether nothing behind it was written.
    pub fn received(&self, sender: usize, step: usize, bytes: usize) -> (Vec<u8>, bool) {
        let mut all = self.read(self.offset(sender, step), self.bytes_max + CANARY_BYTES);
        let is_clean = all[bytes..].iter().all(|byte| *byte == CANARY);
        all.truncate(bytes);
        (all, is_clean)
    }

    /// A buffer as a call takes it.
    pub fn buffer(&self, sender: usize, step: usize, bytes: usize, tag: c_int) -> Buffer {
        let data = self.start.expose_provenance() + self.offset(sender, step);
        Buffer { data, bytes, tag, handle: self.handles[sender] }
    }

    /// The bytes of a sender: first one and length.
    fn range(&self, sender: usize) -> (usize, usize) {
        (self.offset(sender, 0), self.steps * self.stride)
    }

    /// Registers the memory of each sender: as ranges of one allocation.
    pub fn register(&mut self, net: &dyn Net, comm: Pointer, is_gpu: bool) -> Result<()> {
        for sender in 0..self.senders {
            let handle = self.register_one(net, comm, is_gpu, sender)?;
            self.handles.push(handle);
        }
        Ok(())
    }

    /// One more registration of a sender's memory.
    pub fn register_one(
        &self,
        net: &dyn Net,
        comm: Pointer,
        is_gpu: bool,
        sender: usize,
    ) -> Result<Pointer> {
        let (offset, bytes) = self.range(sender);
        let data = self.start.expose_provenance() + offset;
        let (code, handle) = match is_gpu {
            false => net.reg_mr(comm, data, bytes, 1),
            true => {
                let descriptor = self.descriptor_at(offset)?;
                // The plugin has its own, or none, when the call is over.
                net.reg_mr_dma_buf(comm, data, bytes, 0, descriptor.as_raw_fd())
            }
        };
        check(code, "regMr")?;
        ensure!(handle != 0, "regMr has given no handle");
        Ok(handle)
    }

    /// The file as a dma-buf of what begins at an offset: its position says where.
    fn descriptor_at(&self, offset: usize) -> Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let opened = std::fs::File::options().read(true).write(true).open(&path);
        let opened = OwnedFd::from(opened.context("the memfd cannot be opened again")?);
        // SAFETY: the descriptor is open; the call takes no pointer.
        let at = unsafe { libc::lseek(opened.as_raw_fd(), offset as i64, libc::SEEK_SET) };
        ensure!(at == offset as i64, "lseek: {}", io::Error::last_os_error());
        Ok(opened)
    }

    /// Ends all registrations.
    pub fn deregister(&mut self, net: &dyn Net, comm: Pointer) -> Result<()> {
        for handle in self.handles.drain(..) {
            check(net.dereg_mr(comm, handle), "deregMr")?;
        }
        Ok(())
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, which nobody uses any more.
        unsafe { libc::munmap(self.start.cast(), self.mapped_bytes) };
    }
}

/// A memfd that does not shrink, which stands for the memory of a GPU.
fn sealed_file(bytes: usize) -> Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let number = unsafe { libc::memfd_create(c"gpu".as_ptr(), flags) };
    ensure!(number >= 0, "memfd_create: {}", io::Error::last_os_error());
    // SAFETY: the call succeeded, so it is a new descriptor that nobody else owns.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: the descriptor is open; the calls take no pointer.
    let is_set = unsafe {
        libc::ftruncate(file.as_raw_fd(), bytes as i64) == 0
            && libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) == 0
    };
    ensure!(is_set, "memfd: {}", io::Error::last_os_error());
    Ok(file)
}
