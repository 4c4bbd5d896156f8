//! Version 11: NCCL 2.28.

use std::ffi::{c_int, c_void};

use super::guard::{get_mut, guard};
use super::shared;
use super::v10::properties_of;
use crate::abi::{Logger, NcclResult, NetV11, PropertiesV11};
use crate::plugin::Properties;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// The table of version 11.
pub const NET: NetV11 = net!(NetV11 { make_v_device, finalize, set_net_attr });

by_device!(context);
transfers!(usize, _profiler, _profilers);

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV11) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe {
        shared::properties(device, into, |of: &Properties| PropertiesV11 {
            base: properties_of(of),
            multi_requests_max: 1,
        })
    }
}
