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
without_settings!();
transfers!(c_int);

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
