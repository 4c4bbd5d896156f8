//! The symbols that NCCL looks for, one for each version of its interface, and the calls that are
//! equal in all of them.
//!
//! What NCCL passes is as `net_vN.h` says: pointers to what it owns, null where that is allowed.
//! Each call reads them here, once, and hands on references.

/// A table of functions: those of a version's file, and those that are equal in all versions.
macro_rules! net {
    ($table:ident { $($more:ident),* }) => {
        $table {
            name: $crate::abi::Name(c"Zeronic".as_ptr()),
            init,
            devices: $crate::versions::shared::devices,
            get_properties,
            listen,
            connect,
            accept: $crate::versions::shared::accept,
            reg_mr: $crate::versions::shared::reg_mr,
            reg_mr_dma_buf: $crate::versions::shared::reg_mr_dma_buf,
            dereg_mr: $crate::versions::shared::dereg_mr,
            isend,
            irecv,
            iflush: $crate::versions::shared::iflush,
            test: $crate::versions::shared::test,
            close_send: $crate::versions::shared::close_side,
            close_recv: $crate::versions::shared::close_side,
            close_listen: $crate::versions::shared::close_listen,
            get_device_mr: $crate::versions::shared::get_device_mr,
            irecv_consumed: $crate::versions::shared::irecv_consumed,
            $($more: $crate::versions::shared::$more,)*
        }
    };
}

/// The calls of a version that take a device as their first argument, or a context before it.
macro_rules! by_device {
    () => {
        unsafe extern "C" fn listen(device: c_int, handle: Pointer, comm: Out) -> NcclResult {
            // SAFETY: as NCCL calls it.
            unsafe { shared::listen_on(device, handle, comm) }
        }
    };
    (context) => {
        unsafe extern "C" fn listen(
            _context: Pointer,
            device: c_int,
            handle: Pointer,
            comm: Out,
        ) -> NcclResult {
            // SAFETY: as NCCL calls it.
            unsafe { shared::listen_on(device, handle, comm) }
        }

        unsafe extern "C" fn connect(
            _context: Pointer,
            device: c_int,
            handle: Pointer,
            comm: Out,
            _device_comm: Out,
        ) -> NcclResult {
            // SAFETY: as NCCL calls it.
            unsafe { shared::connect_to(device, handle, comm) }
        }

        unsafe extern "C" fn init(
            context: Out,
            _comm: u64,
            _settings: Pointer,
            logger: Option<Logger>,
            _profiler: Pointer,
        ) -> NcclResult {
            guard(|| {
                shared::init_with(logger)?;
                // SAFETY: NCCL's pointer. The context is the plugin itself: nothing is kept in it.
                *unsafe { get_mut(context, "ctx") }? = std::ptr::null_mut();
                Ok(())
            })
        }
    };
}

/// What versions 8 and 9 begin with: a logger, and a connection without settings.
macro_rules! without_settings {
    () => {
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
    };
}

/// Sends and receives, by the type of a length; from version 10 on with the profiler's handles. A
/// negative length is one that no registration holds.
macro_rules! transfers {
    ($length:ty $(, $profiler:ident, $profilers:ident)?) => {
        unsafe extern "C" fn isend(
            comm: Pointer,
            data: Pointer,
            bytes: $length,
            tag: c_int,
            handle: Pointer,
            $($profiler: Pointer,)?
            request: Out,
        ) -> NcclResult {
            // SAFETY: as NCCL calls it.
            unsafe { shared::isend_from(comm, (data, bytes as usize, tag), handle, request) }
        }

        unsafe extern "C" fn irecv(
            comm: Pointer,
            count: c_int,
            data: Out,
            bytes: *mut $length,
            tags: *mut c_int,
            handles: Out,
            $($profilers: Out,)?
            request: Out,
        ) -> NcclResult {
            // SAFETY: NCCL's array has `count` elements.
            let length = |at| (unsafe { *bytes.add(at) }) as usize;
            // SAFETY: as NCCL calls it.
            unsafe { shared::irecv_into(comm, count, (data, &length, tags), handles, request) }
        }
    };
}

mod guard;
mod shared;
mod v10;
mod v11;
mod v12;
mod v8;
mod v9;

pub use self::v10::NET as V10;
pub use self::v11::NET as V11;
pub use self::v12::NET as V12;
pub use self::v8::NET as V8;
pub use self::v9::NET as V9;

use crate::abi::{NetV10, NetV11, NetV12, NetV8, NetV9};

/// Version 8.
#[allow(non_upper_case_globals, reason = "the name that NCCL looks for")]
#[no_mangle]
pub static ncclNetPlugin_v8: NetV8 = V8;
/// Version 9.
#[allow(non_upper_case_globals, reason = "the name that NCCL looks for")]
#[no_mangle]
pub static ncclNetPlugin_v9: NetV9 = V9;
/// Version 10.
#[allow(non_upper_case_globals, reason = "the name that NCCL looks for")]
#[no_mangle]
pub static ncclNetPlugin_v10: NetV10 = V10;
/// Version 11.
#[allow(non_upper_case_globals, reason = "the name that NCCL looks for")]
#[no_mangle]
pub static ncclNetPlugin_v11: NetV11 = V11;
/// Version 12.
#[allow(non_upper_case_globals, reason = "the name that NCCL looks for")]
#[no_mangle]
pub static ncclNetPlugin_v12: NetV12 = V12;
