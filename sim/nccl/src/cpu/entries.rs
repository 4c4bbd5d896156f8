//! The entries of the CUDA driver that NCCL asks the runtime for.
//!
//! # Safety
//! All are called by NCCL, by the signatures of the driver API.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use super::installed::installed;
use super::{allocations, kernel, queue};

/// `CUresult`.
type Code = c_int;
const OK: Code = 0;
const INVALID_VALUE: Code = 1;
const NOT_SUPPORTED: Code = 801;
/// Most bytes of a kernel's arguments.
const ARGUMENT_BYTES_MAX: usize = 8192;
/// `CU_LAUNCH_PARAM_END`, `..._BUFFER_POINTER`.
const END: usize = 0;
const ARGUMENTS: usize = 1;

type Pointer = *mut c_void;

fn put<T>(to: *mut T, value: T) -> Code {
    if !to.is_null() {
        // SAFETY: NCCL's own variable of this type.
        unsafe { to.write(value) };
    }
    OK
}

unsafe extern "C" fn unknown() -> Code {
    eprintln!("nccl-cpu: an entry of the driver is not replaced");
    NOT_SUPPORTED
}

unsafe extern "C" fn name_of_error(_: Code, to: *mut *const c_char) -> Code {
    put(to, c"of no GPU".as_ptr())
}

unsafe extern "C" fn context(to: *mut Pointer) -> Code {
    put(to, std::ptr::without_provenance_mut(1))
}

unsafe extern "C" fn succeed() -> Code {
    OK
}

unsafe extern "C" fn device(to: *mut c_int) -> Code {
    put(to, 0)
}

unsafe extern "C" fn attribute(to: *mut c_int, which: c_int, _: c_int) -> Code {
    // GPUDirect RDMA, dma-bufs.
    let is_dma_buf = matches!(which, 116 | 124);
    put(to, c_int::from(is_dma_buf && std::env::var_os("NCCL_CPU_DMA_BUF").is_some()))
}

unsafe extern "C" fn uuid(to: *mut [u8; 16]) -> Code {
    put(to, [7; 16])
}

unsafe extern "C" fn pointer_attribute(to: *mut c_int, _: c_int, _: usize) -> Code {
    put(to, 0)
}

unsafe extern "C" fn address_range(start: *mut usize, bytes: *mut usize, of: usize) -> Code {
    let Some(found) = allocations::range_of(of) else {
        return INVALID_VALUE;
    };
    put(start, found.0);
    put(bytes, found.1)
}

unsafe extern "C" fn dma_buf(
    to: *mut c_int,
    address: usize,
    bytes: usize,
    _kind: c_int,
    _flags: c_ulonglong,
) -> Code {
    match allocations::descriptor_of(address, bytes) {
        Some(descriptor) => put(to, descriptor),
        None => INVALID_VALUE,
    }
}

unsafe fn launch(kernel: Pointer, extra: *const usize) -> Code {
    let Some(installed) = installed() else {
        return INVALID_VALUE;
    };
    let mut arguments: Option<(usize, usize)> = None;
    let mut at = extra;
    // SAFETY: NCCL's list of pairs, which ends with `END`.
    unsafe {
        while !at.is_null() && *at != END {
            let (name, value) = (*at, *at.add(1));
            let (start, bytes) = arguments.unwrap_or_default();
            arguments = Some(match name {
                ARGUMENTS => (value, bytes),
                _ => (start, *std::ptr::with_exposed_provenance::<usize>(value)),
            });
            at = at.add(2);
        }
    }
    let Some((start, bytes)) = arguments.filter(|(_, bytes)| *bytes <= ARGUMENT_BYTES_MAX) else {
        return INVALID_VALUE;
    };
    // Words of 16 bytes, as the structures inside need them.
    let mut words = vec![0u128; bytes.div_ceil(16)];
    let from = std::ptr::with_exposed_provenance::<u8>(start);
    // SAFETY: NCCL's arguments of so many bytes.
    unsafe { from.copy_to_nonoverlapping(words.as_mut_ptr().cast(), bytes) };
    let function = installed.functions.get(&kernel.addr()).copied();
    queue::push(move || kernel::run(&words, function, &installed.layout));
    OK
}

unsafe extern "C" fn launch_ex(
    _: *const c_void,
    kernel: Pointer,
    _: Pointer,
    extra: *const usize,
) -> Code {
    // SAFETY: as NCCL calls it.
    unsafe { launch(kernel, extra) }
}

unsafe extern "C" fn launch_kernel(
    kernel: Pointer,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: Pointer,
    _: Pointer,
    extra: *const usize,
) -> Code {
    // SAFETY: as NCCL calls it.
    unsafe { launch(kernel, extra) }
}

/// An entry by its name.
pub fn find(name: &str) -> *const () {
    match name {
        "cuGetErrorString" | "cuGetErrorName" => name_of_error as *const (),
        "cuCtxGetCurrent" => context as *const (),
        "cuCtxSetCurrent" => succeed as *const (),
        "cuCtxGetDevice" | "cuDeviceGet" => device as *const (),
        "cuDeviceGetAttribute" => attribute as *const (),
        "cuDeviceGetUuid" => uuid as *const (),
        "cuPointerGetAttribute" => pointer_attribute as *const (),
        "cuMemGetAddressRange" => address_range as *const (),
        "cuMemGetHandleForAddressRange" => dma_buf as *const (),
        "cuLaunchKernelEx" => launch_ex as *const (),
        "cuLaunchKernel" => launch_kernel as *const (),
        _ => unknown as *const (),
    }
}
