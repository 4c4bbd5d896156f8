//! The entries of the CUDA runtime that NCCL calls, for a machine without a GPU.
//!
//! # Safety
//! All are called by NCCL, by the signatures of the CUDA runtime (toolkit 13, runtime API).
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void, CStr};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{allocations, entries, queue};

/// `cudaError_t`.
pub type Code = c_int;
/// `cudaSuccess`.
pub const OK: Code = 0;
/// `cudaErrorNotReady`.
const NOT_READY: Code = 600;
/// `cudaErrorNotSupported`.
const NOT_SUPPORTED: Code = 801;
/// `cudaErrorMemoryAllocation`.
const NO_MEMORY: Code = 2;
/// A driver of CUDA 13.4.
const DRIVER: c_int = 13_040;
/// Compute capability 8.0 in `cudaDeviceProp`, its length, and where its numbers are.
const PROPERTIES: (usize, usize, usize) = (1008, 360, 384);
const MULTIPROCESSORS: c_int = 108;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// An entry that is not replaced: its name is told.
///
/// # Safety
/// The name is a C string.
pub unsafe extern "C" fn unknown(name: *const c_char) -> Code {
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(name) };
    eprintln!("nccl-cpu: {} is not replaced", name.to_string_lossy());
    NOT_SUPPORTED
}

/// Writes what a pointer of NCCL points to.
fn put<T>(to: *mut T, value: T) -> Code {
    if !to.is_null() {
        // SAFETY: NCCL's own variable of this type.
        unsafe { to.write(value) };
    }
    OK
}

static HANDLES: AtomicUsize = AtomicUsize::new(0x1000);

/// A new stream, event or pool: a number.
fn handle(to: Out) -> Code {
    let number = HANDLES.fetch_add(16, Ordering::Relaxed);
    put(to, std::ptr::without_provenance_mut(number))
}

fn memory(to: Out, bytes: usize) -> Code {
    match allocations::allocate(bytes) {
        0 => NO_MEMORY,
        start => put(to, std::ptr::with_exposed_provenance_mut(start)),
    }
}

unsafe extern "C" fn version(to: *mut c_int) -> Code {
    put(to, DRIVER)
}

unsafe extern "C" fn zero(to: *mut c_int) -> Code {
    put(to, 0)
}

unsafe extern "C" fn one(to: *mut c_int) -> Code {
    put(to, 1)
}

unsafe extern "C" fn succeed() -> Code {
    OK
}

unsafe extern "C" fn wait() -> Code {
    queue::drain(|| false);
    OK
}

unsafe extern "C" fn name_of_error(_: Code) -> *const c_char {
    c"of no GPU".as_ptr()
}

/// `cudaDeviceGetAttribute`, by the numbers of `cudaDeviceAttr`.
unsafe extern "C" fn attribute(to: *mut c_int, which: c_int, _device: c_int) -> Code {
    let has_dma_bufs = c_int::from(std::env::var_os("NCCL_CPU_DMA_BUF").is_some());
    put(
        to,
        match which {
            75 => 8,               // compute capability, major
            16 => MULTIPROCESSORS, // multiprocessors
            10 => 32,              // warp size
            8 => 48 << 10,         // shared memory of a block
            97 => 164 << 10,       // the same, opted in
            41 => 1,               // unified addresses
            116 => has_dma_bufs,   // GPUDirect RDMA
            _ => 0,
        },
    )
}

unsafe extern "C" fn properties(to: *mut u8, _device: c_int) -> Code {
    let (bytes, major_at, processors_at) = PROPERTIES;
    // SAFETY: NCCL's structure, `cudaDeviceProp`, of this length.
    unsafe {
        to.write_bytes(0, bytes);
        to.add(major_at).cast::<c_int>().write_unaligned(8);
        to.add(processors_at).cast::<c_int>().write_unaligned(MULTIPROCESSORS);
        c"CPU".as_ptr().cast::<u8>().copy_to_nonoverlapping(to, 4);
    }
    OK
}

unsafe extern "C" fn bus_id(to: *mut c_char, bytes: c_int, _device: c_int) -> Code {
    let text = b"0000:0a:00.0\0";
    let count = text.len().min(bytes.max(0) as usize);
    // SAFETY: NCCL's buffer of so many bytes.
    unsafe { text.as_ptr().cast::<c_char>().copy_to_nonoverlapping(to, count) };
    OK
}

unsafe extern "C" fn malloc(to: Out, bytes: usize) -> Code {
    memory(to, bytes)
}

/// `cudaHostAlloc`, `cudaMallocHost`, `cudaMallocAsync`: what follows the length does not matter.
unsafe extern "C" fn malloc_with(to: Out, bytes: usize, _: c_uint) -> Code {
    memory(to, bytes)
}

unsafe extern "C" fn malloc_from_pool(to: Out, bytes: usize, _: Pointer, _: Pointer) -> Code {
    memory(to, bytes)
}

unsafe extern "C" fn device_pointer(to: Out, host: Pointer, _: c_uint) -> Code {
    put(to, host)
}

unsafe extern "C" fn copy(to: *mut u8, from: *const u8, bytes: usize) -> Code {
    queue::drain(|| false);
    // SAFETY: NCCL's buffers of so many bytes.
    unsafe { from.copy_to(to, bytes) };
    OK
}

unsafe extern "C" fn fill(to: *mut u8, value: c_int, bytes: usize) -> Code {
    queue::drain(|| false);
    // SAFETY: NCCL's buffer of so many bytes.
    unsafe { to.write_bytes(value as u8, bytes) };
    OK
}

unsafe extern "C" fn new_handle(to: Out) -> Code {
    handle(to)
}

unsafe extern "C" fn stream_number(stream: Pointer, to: *mut c_ulonglong) -> Code {
    put(to, stream.addr() as c_ulonglong)
}

unsafe extern "C" fn query() -> Code {
    if queue::is_empty() {
        OK
    } else {
        NOT_READY
    }
}

/// Nothing is captured.
unsafe extern "C" fn is_capturing(_stream: Pointer, state: *mut c_int) -> Code {
    put(state, 0)
}

unsafe extern "C" fn capture(_: Pointer, state: *mut c_int, _: Pointer, graph: Out) -> Code {
    put(graph, std::ptr::null_mut());
    put(state, 0)
}

unsafe extern "C" fn function_attributes(to: *mut u8, _function: *const c_void) -> Code {
    // SAFETY: NCCL's structure, `cudaFuncAttributes`, whose first 64 bytes are its numbers.
    unsafe { to.write_bytes(0, 64) };
    OK
}

unsafe extern "C" fn function_of_symbol(to: *mut *const c_void, symbol: *const c_void) -> Code {
    put(to, symbol)
}

unsafe extern "C" fn call_on_host(
    _stream: Pointer,
    call: extern "C" fn(Pointer),
    with: Pointer,
) -> Code {
    let with = with.expose_provenance();
    queue::push(move || call(std::ptr::with_exposed_provenance_mut(with)));
    OK
}

/// `cudaPointerAttributes`: kind 2 is device memory.
#[repr(C)]
struct PointerAttributes {
    kind: c_int,
    device: c_int,
    on_device: *const c_void,
    on_host: *const c_void,
}

unsafe extern "C" fn pointer_attributes(to: *mut PointerAttributes, of: *const c_void) -> Code {
    put(to, PointerAttributes { kind: 2, device: 0, on_device: of, on_host: std::ptr::null() })
}

unsafe extern "C" fn cannot_access(to: *mut c_int, _: c_int, _: c_int) -> Code {
    put(to, 0)
}

unsafe extern "C" fn memory_left(free: *mut usize, all: *mut usize) -> Code {
    put(free, 1 << 33);
    put(all, 1 << 33)
}

unsafe extern "C" fn entry_point(
    name: *const c_char,
    to: *mut *const (),
    _flags: c_ulonglong,
    result: *mut c_int,
) -> Code {
    // SAFETY: NCCL's string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    put(result, 0);
    put(to, entries::find(&name))
}

unsafe extern "C" fn entry_point_of(
    name: *const c_char,
    to: *mut *const (),
    _version: c_uint,
    flags: c_ulonglong,
    result: *mut c_int,
) -> Code {
    // SAFETY: as NCCL calls it.
    unsafe { entry_point(name, to, flags, result) }
}

/// The entries by name.
pub fn find(name: &str) -> Option<*const ()> {
    TABLE.iter().find(|entry| entry.0 == name).map(|entry| entry.1 .0)
}

/// A function, whatever its signature.
struct Function(*const ());

// SAFETY: the address of code.
unsafe impl Sync for Function {}

macro_rules! table {
    ($($name:literal => $function:expr,)*) => {
        &[$(($name, Function($function as *const ())),)*]
    };
}

static TABLE: &[(&str, Function)] = table! {
    "cudaDriverGetVersion" => version,
    "cudaRuntimeGetVersion" => version,
    "cudaGetDevice" => zero,
    "cudaSetDevice" => succeed,
    "cudaGetDeviceCount" => one,
    "cudaDeviceGetAttribute" => attribute,
    "cudaGetDeviceProperties" => properties,
    "cudaGetDeviceProperties_v2" => properties,
    "cudaDeviceGetPCIBusId" => bus_id,
    "cudaGetLastError" => succeed,
    "cudaPeekAtLastError" => succeed,
    "cudaGetErrorString" => name_of_error,
    "cudaGetErrorName" => name_of_error,
    "cudaMalloc" => malloc,
    "cudaFree" => succeed,
    "cudaHostAlloc" => malloc_with,
    "cudaMallocHost" => malloc,
    "cudaMallocAsync" => malloc_with,
    "cudaMallocFromPoolAsync" => malloc_from_pool,
    "cudaFreeAsync" => succeed,
    "cudaFreeHost" => succeed,
    "cudaHostRegister" => succeed,
    "cudaHostUnregister" => succeed,
    "cudaHostGetDevicePointer" => device_pointer,
    "cudaMemcpy" => copy,
    "cudaMemcpyAsync" => copy,
    "cudaMemset" => fill,
    "cudaMemsetAsync" => fill,
    "cudaStreamCreate" => new_handle,
    "cudaStreamCreateWithFlags" => new_handle,
    "cudaStreamCreateWithPriority" => new_handle,
    "cudaStreamDestroy" => succeed,
    "cudaStreamSynchronize" => wait,
    "cudaStreamQuery" => query,
    "cudaDeviceSynchronize" => wait,
    "cudaStreamWaitEvent" => succeed,
    "cudaStreamGetId" => stream_number,
    "cudaEventCreate" => new_handle,
    "cudaEventCreateWithFlags" => new_handle,
    "cudaEventDestroy" => succeed,
    "cudaEventRecord" => succeed,
    "cudaEventQuery" => query,
    "cudaEventSynchronize" => wait,
    "cudaThreadExchangeStreamCaptureMode" => succeed,
    "cudaStreamIsCapturing" => is_capturing,
    "cudaStreamGetCaptureInfo" => capture,
    "cudaStreamGetCaptureInfo_v2" => capture,
    "cudaStreamGetCaptureInfo_v3" => capture,
    "cudaFuncGetAttributes" => function_attributes,
    "cudaFuncSetAttribute" => succeed,
    "cudaGetFuncBySymbol" => function_of_symbol,
    "cudaMemPoolCreate" => new_handle,
    "cudaMemPoolDestroy" => succeed,
    "cudaMemPoolSetAttribute" => succeed,
    "cudaLaunchHostFunc" => call_on_host,
    "cudaPointerGetAttributes" => pointer_attributes,
    "cudaDeviceCanAccessPeer" => cannot_access,
    "cudaDeviceSetLimit" => succeed,
    "cudaMemGetInfo" => memory_left,
    "cudaGetDriverEntryPoint" => entry_point,
    "cudaGetDriverEntryPointByVersion" => entry_point_of,
};
