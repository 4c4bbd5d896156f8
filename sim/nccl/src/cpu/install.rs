//! The library, loaded and with its CUDA entries replaced.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;

use anyhow::{ensure, Context, Result};
use libloading::os::unix::{Library as Opened, RTLD_GLOBAL, RTLD_NOW};

use super::installed::{keep, Installed};
use super::layout::Layout;
use super::{kernel, runtime};

/// Bytes of a jump: `mov rax, to; jmp rax`.
const JUMP_BYTES: usize = 12;
/// Bytes of a stub that names its entry: `mov rdi, name`, and a jump.
const STUB_BYTES: usize = 32;
const PAGE_BYTES: usize = 4096;
/// Section of symbols; kind of a function (ELF-64, gABI 4.1).
const SYMTAB: u32 = 2;
const FUNCTION: u8 = 2;

/// NCCL, ready to be called.
pub struct Library {
    library: Opened,
    /// Entries that were replaced.
    pub replaced: usize,
    /// Entries that say their name and fail.
    pub others: usize,
}

impl Library {
    /// A function of the library.
    ///
    /// # Safety
    /// It has this type.
    pub unsafe fn get<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: the caller's.
        let found = unsafe { self.library.get::<T>(name.as_bytes()) };
        Ok(*found.with_context(|| format!("NCCL has no {name}"))?)
    }
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().context("the file is cut off")
}

fn u32_at(bytes: &[u8], at: usize) -> Result<usize> {
    Ok(u32::from_le_bytes(word(bytes, at)?) as usize)
}

fn u64_at(bytes: &[u8], at: usize) -> Result<usize> {
    Ok(u64::from_le_bytes(word(bytes, at)?) as usize)
}

/// The functions of a library by its own symbol table: name and address in the file.
fn functions(file: &[u8]) -> Result<Vec<(String, usize, usize)>> {
    ensure!(file.starts_with(b"\x7fELF\x02\x01"), "it is no library of 64 bits");
    let (sections, size) = (u64_at(file, 40)?, usize::from(u16::from_le_bytes(word(file, 58)?)));
    let count = usize::from(u16::from_le_bytes(word(file, 60)?));
    let section = |number: usize| sections + number * size;
    let table = (0..count).find(|n| u32_at(file, section(*n) + 4).ok() == Some(SYMTAB as usize));
    let table =
        section(table.context("its symbols were stripped: another release of it is needed")?);
    let names = u64_at(file, section(u32_at(file, table + 40)?) + 24)?;
    let (from, bytes) = (u64_at(file, table + 24)?, u64_at(file, table + 32)?);
    let mut found = Vec::new();
    for at in (from..from + bytes).step_by(24) {
        let kind = word::<1>(file, at + 4)?[0] & 0xf;
        let (address, length) = (u64_at(file, at + 8)?, u64_at(file, at + 16)?);
        if kind != FUNCTION || address == 0 {
            continue;
        }
        let name = file.get(names + u32_at(file, at)?..).context("the file is cut off")?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        found.push((String::from_utf8_lossy(name).into_owned(), address, length));
    }
    Ok(found)
}

/// Whether a function is an entry of the CUDA runtime.
fn is_entry(name: &str) -> bool {
    let rest = name.strip_prefix("cuda");
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Where a library lies in memory.
fn base_of(library: &Opened) -> Result<usize> {
    // SAFETY: a function that each release exports; it is not called.
    let symbol = unsafe { library.get::<*const c_void>(b"ncclGetVersion") };
    let symbol = symbol.context("it is no NCCL")?;
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is one of the library, the structure is its own.
    ensure!(unsafe { libc::dladdr(symbol.into_raw(), &mut found) } != 0, "dladdr has failed");
    Ok(found.dli_fbase.addr())
}

/// Makes a piece of memory writable code.
fn open_code(at: usize, bytes: usize) -> Result<()> {
    let page = at / PAGE_BYTES * PAGE_BYTES;
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let start = std::ptr::with_exposed_provenance_mut(page);
    // SAFETY: pages of the library's code, which stays code.
    let opened = unsafe { libc::mprotect(start, at + bytes - page, all) };
    ensure!(opened == 0, "mprotect: {}", std::io::Error::last_os_error());
    Ok(())
}

fn jump(to: *const ()) -> [u8; JUMP_BYTES] {
    let mut code = [0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0];
    code[2..10].copy_from_slice(&to.addr().to_le_bytes());
    code
}

/// A stub that calls [`runtime::unknown`] with a name.
fn stub(name: &str) -> Result<[u8; STUB_BYTES]> {
    let name: *mut c_char = CString::new(name)?.into_raw();
    let mut code = [0; STUB_BYTES];
    code[..2].copy_from_slice(&[0x48, 0xbf]);
    code[2..10].copy_from_slice(&name.addr().to_le_bytes());
    code[10..10 + JUMP_BYTES].copy_from_slice(&jump(runtime::unknown as *const ()));
    Ok(code)
}

/// New memory for code.
fn stubs(count: usize) -> Result<*mut u8> {
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let (none, flags) = (std::ptr::null_mut(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let bytes = (count * STUB_BYTES).next_multiple_of(PAGE_BYTES);
    // SAFETY: a new mapping.
    let start = unsafe { libc::mmap(none, bytes, all, flags, -1, 0) };
    ensure!(start != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
    Ok(start.cast())
}

/// Loads NCCL and replaces its CUDA entries. A release whose structures are not known is refused.
pub fn install(path: &Path) -> Result<Library> {
    ensure!(cfg!(target_arch = "x86_64"), "jumps are written for x86-64 alone");
    // SAFETY: what is loaded runs its constructors: who names the file trusts it.
    let library = unsafe { Opened::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    let library = library.with_context(|| format!("{} cannot be loaded", path.display()))?;
    let mut version = 0;
    // SAFETY: `ncclResult_t ncclGetVersion(int*)`.
    unsafe {
        let get = library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"ncclGetVersion")?;
        get(&mut version);
    }
    let layout = Layout::of(version)?;
    let base = base_of(&library)?;
    let all = functions(&std::fs::read(path)?)?;
    let kernels = all.iter().filter_map(|(name, address, _)| {
        kernel::function_of(name).map(|function| (base + address, function))
    });
    keep(Installed { layout, functions: kernels.collect() });
    let entries = all.into_iter().filter(|(name, _, bytes)| is_entry(name) && *bytes >= JUMP_BYTES);
    let entries: Vec<_> = entries.collect();
    let mut next_stub = stubs(entries.len())?;
    let mut installed = Library { library, replaced: 0, others: 0 };
    for (name, address, _) in entries {
        let to = match runtime::find(&name) {
            Some(to) => {
                installed.replaced += 1;
                to
            }
            None => {
                installed.others += 1;
                let code = stub(&name)?;
                let at = next_stub;
                // SAFETY: there is room for a stub of each entry.
                unsafe {
                    at.copy_from_nonoverlapping(code.as_ptr(), code.len());
                    next_stub = at.add(STUB_BYTES);
                }
                at.cast_const().cast()
            }
        };
        open_code(base + address, JUMP_BYTES)?;
        let at = std::ptr::with_exposed_provenance_mut::<u8>(base + address);
        // SAFETY: code of a function that is at least this long and that nobody runs now.
        unsafe { at.copy_from_nonoverlapping(jump(to).as_ptr(), JUMP_BYTES) };
    }
    ensure!(installed.replaced > 40, "only {} entries of CUDA were found", installed.replaced);
    Ok(installed)
}
