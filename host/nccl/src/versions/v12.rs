//! Version 12: NCCL 2.30.

use std::ffi::{c_int, c_void};

use super::guard::{get_mut, guard};
use super::shared;
use super::v10::properties_of;
use crate::abi::{DeviceIds8, Logger, NcclResult, NetV12, PropertiesV12};
use crate::plugin::Properties;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// The table of version 12.
pub const NET: NetV12 = net!(NetV12 { make_v_device, finalize, set_net_attr });

by_device!(context);
transfers!(usize, _profiler, _profilers);

fn as_v12(of: &Properties) -> PropertiesV12 {
    let base = properties_of(of);
    PropertiesV12 {
        name: base.name,
        pci_path: base.pci_path,
        guid: base.guid,
        pointer_support: base.pointer_support,
        registers_globally: base.registers_globally,
        forces_flush: base.forces_flush,
        speed_mbps: base.speed_mbps,
        port: base.port,
        latency_us: base.latency_us,
        comms_max: base.comms_max,
        receives_max: base.receives_max,
        offload: base.offload,
        offload_version: base.offload_version,
        devices: DeviceIds8 { count: 1, ids: [of.device, 0, 0, 0, 0, 0, 0, 0] },
        send_bytes_max: base.send_bytes_max,
        collective_bytes_max: base.collective_bytes_max,
        multi_requests_max: 1,
        // None is known.
        rail: -1,
        plane: -1,
    }
}

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV12) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::properties(device, into, as_v12) }
}
