//! Version 10: NCCL 2.26.

use std::ffi::{c_int, c_void};

use super::guard::guard;
use super::shared;
use crate::abi::{DeviceIds4, Logger, NcclResult, NetV10, PropertiesV10};
use crate::plugin::Properties;

type Pointer = *mut c_void;
type Out = *mut Pointer;

/// The table of version 10.
pub const NET: NetV10 = net!(NetV10 { make_v_device });

by_device!();
transfers!(usize, _profiler, _profilers);

unsafe extern "C" fn init(logger: Option<Logger>, _profiler: Pointer) -> NcclResult {
    guard(|| shared::init_with(logger))
}

/// In this version alone the settings are the second argument.
unsafe extern "C" fn connect(
    device: c_int,
    _settings: Pointer,
    handle: Pointer,
    comm: Out,
    _device_comm: Out,
) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::connect_to(device, handle, comm) }
}

/// The properties of versions 9 and 10.
pub fn properties_of(of: &Properties) -> PropertiesV10 {
    PropertiesV10 {
        name: of.name,
        pci_path: std::ptr::null(),
        guid: of.guid,
        pointer_support: of.pointer_support,
        registers_globally: 1,
        // What was received is visible when its request is done, in GPU memory too: the card
        // publishes its entry behind a flush read.
        forces_flush: 0,
        speed_mbps: of.speed_mbps,
        port: 1,
        latency_us: of.latency_us,
        comms_max: of.comms_max,
        receives_max: of.receives_max,
        offload: 0,
        offload_version: 0,
        devices: DeviceIds4 { count: 1, ids: [of.device, 0, 0, 0] },
        send_bytes_max: of.send_bytes_max,
        collective_bytes_max: of.send_bytes_max,
    }
}

unsafe extern "C" fn get_properties(device: c_int, into: *mut PropertiesV10) -> NcclResult {
    // SAFETY: as NCCL calls it.
    unsafe { shared::properties(device, into, properties_of) }
}
