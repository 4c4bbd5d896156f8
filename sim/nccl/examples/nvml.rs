//! An NVML for a machine without a GPU: what NCCL asks `libnvidia-ml.so.1` when it looks around.
//! Built as a library, for `ci/nccl.sh` alone.
//!
//! # Safety
//! All are called by NCCL, by the signatures of NVML.
#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_uint, c_void};

const OK: c_int = 0;
/// `NVML_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 3;
const BUS_ID: &[u8; 13] = b"0000:0a:00.0\0";
/// Vendor 0x10de, device 0x20b0.
const PCI_ID: c_uint = 0x20b0_10de;

fn put<T>(to: *mut T, value: T) -> c_int {
    // SAFETY: NCCL's own variable of this type.
    unsafe { to.write(value) };
    OK
}

macro_rules! exports {
    ($($name:ident($($argument:ident: $kind:ty),*) $body:block)*) => {
        $(
            /// As NVML has it.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> c_int $body
        )*
    };
}

exports! {
    nvmlInit() { OK }
    nvmlInit_v2() { OK }
    nvmlShutdown() { OK }
    nvmlDeviceGetCount(count: *mut c_uint) { put(count, 1) }
    nvmlDeviceGetCount_v2(count: *mut c_uint) { put(count, 1) }
    nvmlDeviceGetHandleByPciBusId(_bus: *const c_char, device: *mut usize) { put(device, 1) }
    nvmlDeviceGetHandleByPciBusId_v2(_bus: *const c_char, device: *mut usize) { put(device, 1) }
    nvmlDeviceGetHandleByIndex(_index: c_uint, device: *mut usize) { put(device, 1) }
    nvmlDeviceGetHandleByIndex_v2(_index: c_uint, device: *mut usize) { put(device, 1) }
    nvmlDeviceGetIndex(_device: usize, index: *mut c_uint) { put(index, 0) }
    nvmlDeviceGetCudaComputeCapability(_device: usize, major: *mut c_int, minor: *mut c_int) {
        put(major, 8);
        put(minor, 0)
    }
    nvmlDeviceGetP2PStatus(_one: usize, _other: usize, _kind: c_int, status: *mut c_int) {
        put(status, 1)
    }
    nvmlDeviceGetNvLinkState(_device: usize, _link: c_uint, _state: *mut c_int) { NOT_SUPPORTED }
    nvmlDeviceGetNvLinkCapability(_device: usize, _link: c_uint, _kind: c_int, _to: *mut c_uint) {
        NOT_SUPPORTED
    }
    nvmlDeviceGetNvLinkRemotePciInfo(_device: usize, _link: c_uint, _to: *mut c_void) {
        NOT_SUPPORTED
    }
    nvmlDeviceGetNvLinkRemotePciInfo_v2(_device: usize, _link: c_uint, _to: *mut c_void) {
        NOT_SUPPORTED
    }
    nvmlDeviceGetPciInfo_v3(_device: usize, to: *mut u8) {
        // SAFETY: `nvmlPciInfo_t` of 68 bytes: short bus id 16, five numbers, bus id 32.
        unsafe {
            to.write_bytes(0, 68);
            to.copy_from_nonoverlapping(BUS_ID.as_ptr(), BUS_ID.len());
            to.add(20).cast::<c_uint>().write_unaligned(10);
            to.add(28).cast::<c_uint>().write_unaligned(PCI_ID);
            to.add(32).cast::<c_uint>().write_unaligned(PCI_ID);
            to.add(36).copy_from_nonoverlapping(BUS_ID.as_ptr(), BUS_ID.len());
        }
        OK
    }
    nvmlDeviceGetPciInfoExt(_device: usize, to: *mut c_uint) {
        // SAFETY: `nvmlPciInfoExt_v1_t`: eight numbers, then the bus id.
        unsafe {
            for (at, value) in [(2, 10), (4, PCI_ID), (5, PCI_ID), (6, 3), (7, 2)] {
                to.add(at).write(value);
            }
            to.add(8).cast::<u8>().copy_from_nonoverlapping(BUS_ID.as_ptr(), BUS_ID.len());
        }
        OK
    }
    nvmlDeviceGetPcieLinkMaxSpeed(_device: usize, speed: *mut c_uint) { put(speed, 16_000) }
    nvmlDeviceGetCurrPcieLinkGeneration(_device: usize, to: *mut c_uint) { put(to, 4) }
    nvmlDeviceGetCurrPcieLinkWidth(_device: usize, to: *mut c_uint) { put(to, 16) }
    nvmlDeviceGetFieldValues(_device: usize, _count: c_int, _to: *mut c_void) { NOT_SUPPORTED }
    nvmlDeviceGetName(_device: usize, to: *mut u8, _bytes: c_uint) {
        // SAFETY: NCCL's buffer, which is longer.
        unsafe { to.copy_from_nonoverlapping(c"CPU".as_ptr().cast(), 4) };
        OK
    }
    nvmlDeviceGetGpuFabricInfoV(_device: usize, _to: *mut c_void) { NOT_SUPPORTED }
    nvmlDeviceGetPlatformInfo(_device: usize, _to: *mut c_void) { NOT_SUPPORTED }
    nvmlSystemGetConfComputeState(_to: *mut c_void) { NOT_SUPPORTED }
    nvmlSystemGetConfComputeSettings(_to: *mut c_void) { NOT_SUPPORTED }
}

/// As NVML has it.
#[no_mangle]
pub extern "C" fn nvmlErrorString(_: c_int) -> *const c_char {
    c"of no GPU".as_ptr()
}
