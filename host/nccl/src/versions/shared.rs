//! The calls that are equal in all versions, and the bodies of those that differ in their shape.
//!
//! # Safety
//! All of them are called by NCCL, or by who does as NCCL does: pointers are null or point to what
//! `net.h` says, a communicator is used by the threads that `net.h` allows, and what was closed is
//! not used again.

use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;

use super::guard::{get, get_mut, guard};
use crate::abi::{Logger, NcclResult, GROUP_MAX, HANDLE_BYTES, POINTER_DMA_BUF};
use crate::error::{PluginError, Result};
use crate::log;
use crate::plugin::{self, Buffer, Listening, Properties, Registration, Side};
use crate::request::Request;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// Puts a value into a box that C holds.
fn give<T>(value: T) -> Pointer {
    Box::into_raw(Box::new(value)).cast()
}

/// Takes the value of a box that C held.
///
/// # Safety
/// It is null, or of [`give`] with this type, and not used again.
unsafe fn take<T>(pointer: Pointer, name: &'static str) -> Result<T> {
    if pointer.is_null() {
        return Err(PluginError::NullPointer(name));
    }
    // SAFETY: the caller's.
    Ok(*unsafe { Box::from_raw(pointer.cast::<T>()) })
}

/// A request as NCCL holds it; null for none.
fn pointer_of(request: Option<&Request>) -> Pointer {
    request.map_or(std::ptr::null_mut(), |request| std::ptr::from_ref(request) as Pointer)
}

pub fn init_with(logger: Option<Logger>) -> Result<()> {
    log::set(logger);
    plugin::init()?;
    stay_loaded();
    Ok(())
}

/// NCCL unloads plugins, and to version 10 does not say so before: the threads of the cards need
/// the code to stay.
fn stay_loaded() {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let here = stay_loaded as fn() as *const c_void;
    // SAFETY: the address is one of this library, the structure is its own.
    let is_found = unsafe { libc::dladdr(here, &mut found) } != 0 && !found.dli_fname.is_null();
    if is_found {
        // SAFETY: the name is that of a library which is loaded; in a program it finds none.
        unsafe { libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NODELETE) };
    }
}

pub unsafe extern "C" fn devices(count: *mut c_int) -> NcclResult {
    guard(|| {
        // SAFETY: NCCL's number.
        *unsafe { get_mut(count, "ndev") }? = plugin::get()?.count() as c_int;
        Ok(())
    })
}

/// The properties of a device, as a version has them.
pub unsafe fn properties<P>(
    device: c_int,
    into: *mut P,
    as_version: impl FnOnce(&Properties) -> P,
) -> NcclResult {
    guard(|| {
        let properties = plugin::get()?.properties(device)?;
        if into.is_null() {
            return Err(PluginError::NullPointer("props"));
        }
        // SAFETY: NCCL's structure, which need not be filled before.
        unsafe { into.write(as_version(&properties)) };
        Ok(())
    })
}

pub unsafe fn listen_on(device: c_int, handle: Pointer, comm: Out) -> NcclResult {
    guard(|| {
        // SAFETY: NCCL's bytes.
        let handle = unsafe { get_mut(handle.cast::<[u8; HANDLE_BYTES]>(), "handle") }?;
        // SAFETY: NCCL's pointer.
        let comm = unsafe { get_mut(comm, "listenComm") }?;
        *comm = give(plugin::get()?.listen(device, handle)?);
        Ok(())
    })
}

pub unsafe fn connect_to(device: c_int, handle: Pointer, comm: Out) -> NcclResult {
    guard(|| {
        // SAFETY: NCCL's bytes.
        let handle = unsafe { get_mut(handle.cast::<[u8; HANDLE_BYTES]>(), "handle") }?;
        // SAFETY: NCCL's pointer.
        let comm = unsafe { get_mut(comm, "sendComm") }?;
        *comm = std::ptr::null_mut();
        if let Some(side) = plugin::get()?.connect(device, handle)? {
            *comm = give(side);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn accept(listening: Pointer, comm: Out, _device_comm: Out) -> NcclResult {
    guard(|| {
        // SAFETY: of `listen_on`.
        let listening = unsafe { get(listening.cast::<Listening>(), "listenComm") }?;
        // SAFETY: NCCL's pointer.
        let comm = unsafe { get_mut(comm, "recvComm") }?;
        *comm = listening.accept().map_or(std::ptr::null_mut(), give);
        Ok(())
    })
}

pub unsafe extern "C" fn reg_mr(
    comm: Pointer,
    data: Pointer,
    bytes: usize,
    kind: c_int,
    handle: Out,
) -> NcclResult {
    guard(|| {
        // SAFETY: of `connect_to` or `accept`.
        let side = unsafe { get(comm.cast::<Side>(), "comm") }?;
        // SAFETY: NCCL's pointer.
        let handle = unsafe { get_mut(handle, "mhandle") }?;
        // SAFETY: NCCL keeps the memory until `deregMr`, and has no references to it.
        let registered =
            unsafe { Registration::of_address(side.engine(), data.addr(), bytes, kind) };
        *handle = give(registered?);
        Ok(())
    })
}

pub unsafe extern "C" fn reg_mr_dma_buf(
    comm: Pointer,
    data: Pointer,
    bytes: usize,
    kind: c_int,
    offset: u64,
    descriptor: c_int,
    handle: Out,
) -> NcclResult {
    guard(|| {
        // SAFETY: of `connect_to` or `accept`.
        let side = unsafe { get(comm.cast::<Side>(), "comm") }?;
        // SAFETY: NCCL's pointer.
        let handle = unsafe { get_mut(handle, "mhandle") }?;
        if descriptor < 0 || !side.engine().shared().takes_dma_bufs {
            return Err(PluginError::MemoryKind(POINTER_DMA_BUF));
        }
        // SAFETY: it is open for the time of the call.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let at = (data.addr(), bytes);
        *handle = give(Registration::of_dma_buf(side.engine(), at, kind, offset, descriptor)?);
        Ok(())
    })
}

pub unsafe extern "C" fn dereg_mr(_comm: Pointer, handle: Pointer) -> NcclResult {
    guard(|| {
        // SAFETY: of a call that registered.
        unsafe { take::<Registration>(handle, "mhandle") }?.end()
    })
}

/// Sends; the request is null where it has to be tried again.
pub unsafe fn isend_from(
    comm: Pointer,
    (data, bytes, tag): (Pointer, usize, c_int),
    handle: Pointer,
    request: Out,
) -> NcclResult {
    guard(|| {
        // SAFETY: of `connect_to`.
        let side = unsafe { get(comm.cast::<Side>(), "sendComm") }?;
        // SAFETY: NCCL's pointer.
        let request = unsafe { get_mut(request, "request") }?;
        *request = std::ptr::null_mut();
        // SAFETY: of a call that registered.
        let registration = unsafe { get(handle.cast::<Registration>(), "mhandle") }?;
        let from = Buffer { address: data.addr(), bytes, tag, registration };
        *request = pointer_of(side.isend(&from)?);
        Ok(())
    })
}

/// Receives; the request is null where it has to be tried again. What it held before is 1 where the
/// completion is optional, otherwise stale: neither matters here, as every receive completes.
pub unsafe fn irecv_into(
    comm: Pointer,
    count: c_int,
    (data, bytes, tags): (Out, &dyn Fn(usize) -> usize, *mut c_int),
    handles: Out,
    request: Out,
) -> NcclResult {
    guard(|| {
        // SAFETY: of `accept`.
        let side = unsafe { get(comm.cast::<Side>(), "recvComm") }?;
        // SAFETY: NCCL's pointer.
        let request = unsafe { get_mut(request, "request") }?;
        if !(1..=GROUP_MAX as c_int).contains(&count) {
            return Err(PluginError::GroupTooLarge(count));
        }
        *request = std::ptr::null_mut();
        let mut into = Vec::with_capacity(GROUP_MAX);
        for at in 0..count as usize {
            // SAFETY: NCCL's arrays have `count` elements.
            let (address, tag, handle) =
                unsafe { ((*data.add(at)).addr(), *tags.add(at), *handles.add(at)) };
            // SAFETY: of a call that registered.
            let registration = unsafe { get(handle.cast::<Registration>(), "mhandle") }?;
            into.push(Buffer { address, bytes: bytes(at), tag, registration });
        }
        *request = pointer_of(side.irecv(&into)?);
        Ok(())
    })
}

/// What was received is visible when its request is done: there is nothing to flush.
pub unsafe extern "C" fn iflush(
    _comm: Pointer,
    _count: c_int,
    _data: Out,
    _bytes: *mut c_int,
    _handles: Out,
    request: Out,
) -> NcclResult {
    guard(|| {
        // SAFETY: NCCL's pointer.
        *unsafe { get_mut(request, "request") }? = std::ptr::null_mut();
        Ok(())
    })
}

pub unsafe extern "C" fn test(request: Pointer, done: *mut c_int, bytes: *mut c_int) -> NcclResult {
    let mut result = NcclResult::SUCCESS;
    let guarded = guard(|| {
        // SAFETY: of a send or receive, whose communicator is open.
        let request = unsafe { get(request.cast::<Request>(), "request") }?;
        // SAFETY: NCCL's number.
        let done = unsafe { get_mut(done, "done") }?;
        let tested = request.test(|at, length| {
            if !bytes.is_null() {
                // SAFETY: NCCL's array has a number for each buffer of the request.
                unsafe { *bytes.add(at) = length as c_int };
            }
        });
        *done = c_int::from(tested == Some(NcclResult::SUCCESS));
        result = tested.unwrap_or(NcclResult::SUCCESS);
        Ok(())
    });
    match guarded {
        NcclResult::SUCCESS => result,
        failed => failed,
    }
}

pub unsafe extern "C" fn close_side(comm: Pointer) -> NcclResult {
    guard(|| {
        // SAFETY: of `connect_to` or `accept`, and not used again.
        unsafe { take::<Side>(comm, "comm") }?.close()
    })
}

pub unsafe extern "C" fn close_listen(comm: Pointer) -> NcclResult {
    guard(|| {
        // SAFETY: of `listen_on`, and not used again.
        unsafe { take::<Listening>(comm, "listenComm") }?.close()
    })
}

pub unsafe extern "C" fn get_device_mr(_: Pointer, _: Pointer, _: Out) -> NcclResult {
    guard(|| Err(PluginError::NotOffered("getDeviceMr")))
}

pub unsafe extern "C" fn irecv_consumed(_: Pointer, _: c_int, _: Pointer) -> NcclResult {
    NcclResult::SUCCESS
}

pub unsafe extern "C" fn make_v_device(_: *mut c_int, _: Pointer) -> NcclResult {
    guard(|| Err(PluginError::NotOffered("makeVDevice")))
}

/// The cards stay open: another communicator may come.
pub unsafe extern "C" fn finalize(_context: Pointer) -> NcclResult {
    NcclResult::SUCCESS
}

pub unsafe extern "C" fn set_net_attr(_context: Pointer, _attributes: Pointer) -> NcclResult {
    NcclResult::SUCCESS
}
