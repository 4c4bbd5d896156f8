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
without_settings!();
transfers!(usize);

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV10) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::properties(device, into, properties_of) }
}
