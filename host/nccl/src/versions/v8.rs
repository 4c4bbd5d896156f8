//! Version 8: NCCL 2.20 and later.

use std::ffi::{c_int, c_void};

use super::guard::guard;
use super::shared;
use crate::abi::{Logger, NcclResult, NetV8, PropertiesV8};
use crate::plugin::Properties;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// The table of version 8.
pub const NET: NetV8 = net!(NetV8 {});

by_device!();

unsafe extern "C" fn init(logger: Option<Logger>) -> NcclResult {
    guard(|| shared::init_with(logger))
}

unsafe extern "C" fn connect(
    device: c_int,
    handle: Pointer,
    comm: Out,
    _device_comm: Out,
) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::connect_to(device, handle, comm) }
}

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV8) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe {
        shared::properties(device, into, |of: &Properties| PropertiesV8 {
            name: of.name,
            pci_path: std::ptr::null(),
            guid: of.guid,
            pointer_support: of.pointer_support,
            registers_globally: 1,
            speed_mbps: of.speed_mbps,
            port: 1,
            latency_us: of.latency_us,
            comms_max: of.comms_max,
            receives_max: of.receives_max,
            offload: 0,
            offload_version: 0,
        })
    }
}

unsafe extern "C" fn isend(
    comm: Pointer,
    data: Pointer,
    bytes: c_int,
    tag: c_int,
    handle: Pointer,
    request: Out,
) -> NcclResult {
    // A negative length is one that no registration holds.
    let bytes = bytes as usize;
    // SAFETY: as NCCL calls it.
    unsafe { shared::isend_from(comm, (data, bytes, tag), handle, request) }
}

unsafe extern "C" fn irecv(
    comm: Pointer,
    count: c_int,
    data: Out,
    bytes: *mut c_int,
    tags: *mut c_int,
    handles: Out,
    request: Out,
) -> NcclResult {
    // SAFETY: NCCL's array has `count` elements.
    let length = |at| (unsafe { *bytes.add(at) }) as usize;
    // SAFETY: as NCCL calls it.
    unsafe { shared::irecv_into(comm, count, (data, &length, tags), handles, request) }
}
