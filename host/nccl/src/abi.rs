//! NCCL's plugin interface, as C has it: constants, properties, tables of functions.
//!
//! NCCL asks the library for `ncclNetPlugin_vN`, from its newest N down, and takes the first. The
//! layouts are those of NCCL's public headers `net_vN.h`; sizes and offsets are asserted when this
//! is compiled, because one function too few is a jump to nowhere in NCCL.

mod properties;
mod tables;

use std::ffi::{c_char, c_int, c_ulong};

pub use properties::{
    DeviceIds4, DeviceIds8, PropertiesV10, PropertiesV11, PropertiesV12, PropertiesV8,
};
pub use tables::{
    Accept, CloseComm, Connect, ConnectCtx, ConnectV10, CountDevices, DeregMr, Finalize,
    GetDeviceMr, GetProperties, Iflush, Init, InitCtx, InitV10, IrecvConsumed, IrecvV10, IrecvV8,
    IrecvV9, IsendV10, IsendV8, IsendV9, Listen, ListenCtx, MakeVDevice, Name, NetV10, NetV11,
    NetV12, NetV8, NetV9, RegMr, RegMrDmaBuf, SetNetAttr, Test,
};

/// `ncclResult_t`. Any number may come of another plugin, so it is no enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct NcclResult(pub c_int);

impl NcclResult {
    /// `ncclSuccess`.
    pub const SUCCESS: Self = Self(0);
    /// `ncclSystemError`: a call of the system, or the card, failed.
    pub const SYSTEM: Self = Self(2);
    /// `ncclInternalError`.
    pub const INTERNAL: Self = Self(3);
    /// `ncclInvalidArgument`.
    pub const INVALID_ARGUMENT: Self = Self(4);
    /// `ncclInvalidUsage`: the settings cannot work.
    pub const INVALID_USAGE: Self = Self(5);
    /// `ncclRemoteError`: another rank is gone.
    pub const REMOTE: Self = Self(6);
}

/// `ncclDebugLogger_t`: level, flags, file, line, format and what the format names.
pub type Logger = unsafe extern "C" fn(c_int, c_ulong, *const c_char, c_int, *const c_char, ...);

/// Level of a warning, shown by `NCCL_DEBUG=WARN`.
pub const LOG_WARN: c_int = 2;
/// Level of information, shown by `NCCL_DEBUG=INFO`.
pub const LOG_INFO: c_int = 3;
/// Flag of what concerns the network (`NCCL_DEBUG_SUBSYS=NET`).
pub const LOG_NET: c_ulong = 16;

/// Bytes of a handle, which goes from the one who listens to the one who connects.
pub const HANDLE_BYTES: usize = 128;
/// Pointers to host memory.
pub const POINTER_HOST: c_int = 1;
/// Pointers to GPU memory.
pub const POINTER_CUDA: c_int = 2;
/// GPU memory as a dma-buf.
pub const POINTER_DMA_BUF: c_int = 4;
/// Requests that NCCL has in flight on a communicator (`NCCL_NET_MAX_REQUESTS`).
pub const REQUESTS_MAX: usize = 32;
/// Receives in a group (`NCCL_PROXY_MAX_SUBS` allows no more).
pub const GROUP_MAX: usize = 8;
/// What `*request` of a receive holds whose completion is optional
/// (`NCCL_NET_OPTIONAL_RECV_COMPLETION`).
pub const OPTIONAL_COMPLETION: usize = 1;
