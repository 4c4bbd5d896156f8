//! What a device says of itself: `ncclNetProperties_vN_t`.

use std::ffi::{c_char, c_float, c_int};
use std::mem::offset_of;

/// `ncclNetVDeviceProps_vN_t` to version 11: the physical devices behind one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DeviceIds4 {
    /// How many.
    pub count: c_int,
    /// Their numbers.
    pub ids: [c_int; 4],
}

/// The same of version 12.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DeviceIds8 {
    /// How many.
    pub count: c_int,
    /// Their numbers.
    pub ids: [c_int; 8],
}

/// Version 8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the fields are those of version 12, which are documented")]
pub struct PropertiesV8 {
    pub name: *const c_char,
    pub pci_path: *const c_char,
    pub guid: u64,
    pub pointer_support: c_int,
    pub registers_globally: c_int,
    pub speed_mbps: c_int,
    pub port: c_int,
    pub latency_us: c_float,
    pub comms_max: c_int,
    pub receives_max: c_int,
    pub offload: c_int,
    pub offload_version: c_int,
}

/// Versions 9 and 10.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the fields are those of version 12, which are documented")]
pub struct PropertiesV10 {
    pub name: *const c_char,
    pub pci_path: *const c_char,
    pub guid: u64,
    pub pointer_support: c_int,
    pub registers_globally: c_int,
    pub forces_flush: c_int,
    pub speed_mbps: c_int,
    pub port: c_int,
    pub latency_us: c_float,
    pub comms_max: c_int,
    pub receives_max: c_int,
    pub offload: c_int,
    pub offload_version: c_int,
    pub devices: DeviceIds4,
    pub send_bytes_max: usize,
    pub collective_bytes_max: usize,
}

/// Version 11.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the fields are those of version 12, which are documented")]
pub struct PropertiesV11 {
    pub base: PropertiesV10,
    pub multi_requests_max: c_int,
}

/// Version 12.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PropertiesV12 {
    /// Name, for the log.
    pub name: *const c_char,
    /// The device in `/sys`; null where there is none.
    pub pci_path: *const c_char,
    /// Tells cards apart.
    pub guid: u64,
    /// Kinds of memory, of `POINTER_*`.
    pub pointer_support: c_int,
    /// Whether a registration serves every communicator.
    pub registers_globally: c_int,
    /// Whether NCCL has to flush each receive.
    pub forces_flush: c_int,
    /// Speed of the port, megabits in a second.
    pub speed_mbps: c_int,
    /// Number of the port.
    pub port: c_int,
    /// Latency, microseconds.
    pub latency_us: c_float,
    /// Most communicators.
    pub comms_max: c_int,
    /// Most receives in a group.
    pub receives_max: c_int,
    /// Offload to device code; 0 is none.
    pub offload: c_int,
    /// Version of that.
    pub offload_version: c_int,
    /// The physical devices behind it.
    pub devices: DeviceIds8,
    /// Longest message of a send.
    pub send_bytes_max: usize,
    /// Longest message of a collective network.
    pub collective_bytes_max: usize,
    /// Requests in a multi-request.
    pub multi_requests_max: c_int,
    /// Rail of the device; -1 for none.
    pub rail: i16,
    /// Plane of the device; -1 for none.
    pub plane: i16,
}

const _: () = {
    assert!(size_of::<PropertiesV8>() == 64);
    assert!(size_of::<PropertiesV10>() == 104);
    assert!(size_of::<PropertiesV11>() == 112);
    assert!(size_of::<PropertiesV12>() == 128);
    assert!(offset_of!(PropertiesV8, pointer_support) == 24);
    assert!(offset_of!(PropertiesV8, latency_us) == 40);
    assert!(offset_of!(PropertiesV8, offload_version) == 56);
    assert!(offset_of!(PropertiesV10, forces_flush) == 32);
    assert!(offset_of!(PropertiesV10, devices) == 64);
    assert!(offset_of!(PropertiesV10, send_bytes_max) == 88);
    assert!(offset_of!(PropertiesV11, multi_requests_max) == 104);
    assert!(offset_of!(PropertiesV12, devices) == 64);
    assert!(offset_of!(PropertiesV12, send_bytes_max) == 104);
    assert!(offset_of!(PropertiesV12, multi_requests_max) == 120);
    assert!(offset_of!(PropertiesV12, plane) == 126);
};
