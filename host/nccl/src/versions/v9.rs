//! Version 9: NCCL 2.24.

use std::ffi::{c_int, c_void};

use super::guard::guard;
use super::shared;
use super::v10::properties_of;
use crate::abi::{Logger, NcclResult, NetV9, PropertiesV10};

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// The table of version 9.
pub const NET: NetV9 = net!(NetV9 { make_v_device });

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

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV10) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::properties(device, into, properties_of) }
}

unsafe extern "C" fn isend(
    comm: Pointer,
    data: Pointer,
    bytes: usize,
    tag: c_int,
    handle: Pointer,
    request: Out,
) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::isend_from(comm, (data, bytes, tag), handle, request) }
}

unsafe extern "C" fn irecv(
    comm: Pointer,
    count: c_int,
    data: Out,
    bytes: *mut usize,
    tags: *mut c_int,
    handles: Out,
    request: Out,
) -> NcclResult {
    // SAFETY: NCCL's array has `count` elements.
    let length = |at| unsafe { *bytes.add(at) };
    // SAFETY: as NCCL calls it.
    unsafe { shared::irecv_into(comm, count, (data, &length, tags), handles, request) }
}
