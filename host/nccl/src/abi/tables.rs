//! The tables of functions: `ncclNet_vN_t`.

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

use super::properties::{PropertiesV10, PropertiesV11, PropertiesV12, PropertiesV8};
use super::{Logger, NcclResult};

/// A name that lives as long as the program.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Name(pub *const c_char);

// SAFETY: it points to a constant, which nobody writes.
unsafe impl Sync for Name {}

type Handle = *mut c_void;
type Out = *mut *mut c_void;
type Lengths = *mut c_int;

/// `init` to version 9: the logger.
pub type Init = unsafe extern "C" fn(Option<Logger>) -> NcclResult;
/// `init` of version 10: the logger and the profiler's call.
pub type InitV10 = unsafe extern "C" fn(Option<Logger>, Handle) -> NcclResult;
/// `init` from version 11 on: context out, communicator's number, settings, logger, profiler.
pub type InitCtx = unsafe extern "C" fn(Out, u64, Handle, Option<Logger>, Handle) -> NcclResult;
/// `devices`.
pub type CountDevices = unsafe extern "C" fn(*mut c_int) -> NcclResult;
/// `getProperties`.
pub type GetProperties<P> = unsafe extern "C" fn(c_int, *mut P) -> NcclResult;
/// `listen` to version 10: device, handle out, listening communicator out.
pub type Listen = unsafe extern "C" fn(c_int, Handle, Out) -> NcclResult;
/// `listen` from version 11 on: context first.
pub type ListenCtx = unsafe extern "C" fn(Handle, c_int, Handle, Out) -> NcclResult;
/// `connect` of versions 8 and 9: device, handle, communicator out, device communicator.
pub type Connect = unsafe extern "C" fn(c_int, Handle, Out, Out) -> NcclResult;
/// `connect` of version 10 alone: settings second.
pub type ConnectV10 = unsafe extern "C" fn(c_int, Handle, Handle, Out, Out) -> NcclResult;
/// `connect` from version 11 on: context first.
pub type ConnectCtx = unsafe extern "C" fn(Handle, c_int, Handle, Out, Out) -> NcclResult;
/// `accept`: listening communicator, communicator out, device communicator.
pub type Accept = unsafe extern "C" fn(Handle, Out, Out) -> NcclResult;
/// `regMr`: communicator, address, bytes, kind of memory, registration out.
pub type RegMr = unsafe extern "C" fn(Handle, Handle, usize, c_int, Out) -> NcclResult;
/// `regMrDmaBuf`: the same, with offset and descriptor before the registration.
pub type RegMrDmaBuf =
    unsafe extern "C" fn(Handle, Handle, usize, c_int, u64, c_int, Out) -> NcclResult;
/// `deregMr`: communicator, registration.
pub type DeregMr = unsafe extern "C" fn(Handle, Handle) -> NcclResult;
/// `isend` of version 8: communicator, address, bytes, tag, registration, request out.
pub type IsendV8 = unsafe extern "C" fn(Handle, Handle, c_int, c_int, Handle, Out) -> NcclResult;
/// `isend` of version 9: a longer length.
pub type IsendV9 = unsafe extern "C" fn(Handle, Handle, usize, c_int, Handle, Out) -> NcclResult;
/// `isend` from version 10 on: the profiler's handle before the request.
pub type IsendV10 =
    unsafe extern "C" fn(Handle, Handle, usize, c_int, Handle, Handle, Out) -> NcclResult;
/// `irecv` of version 8: communicator, count, addresses, lengths, tags, registrations, request.
pub type IrecvV8 =
    unsafe extern "C" fn(Handle, c_int, Out, *mut c_int, *mut c_int, Out, Out) -> NcclResult;
/// `irecv` of version 9: longer lengths.
pub type IrecvV9 =
    unsafe extern "C" fn(Handle, c_int, Out, *mut usize, *mut c_int, Out, Out) -> NcclResult;
/// `irecv` from version 10 on: the profiler's handles before the request.
pub type IrecvV10 =
    unsafe extern "C" fn(Handle, c_int, Out, *mut usize, *mut c_int, Out, Out, Out) -> NcclResult;
/// `iflush`: communicator, count, addresses, lengths, registrations, request out.
pub type Iflush = unsafe extern "C" fn(Handle, c_int, Out, Lengths, Out, Out) -> NcclResult;
/// `test`: request, whether it is done, lengths.
pub type Test = unsafe extern "C" fn(Handle, *mut c_int, Lengths) -> NcclResult;
/// `closeSend`, `closeRecv`, `closeListen`.
pub type CloseComm = unsafe extern "C" fn(Handle) -> NcclResult;
/// `getDeviceMr`.
pub type GetDeviceMr = unsafe extern "C" fn(Handle, Handle, Out) -> NcclResult;
/// `irecvConsumed`.
pub type IrecvConsumed = unsafe extern "C" fn(Handle, c_int, Handle) -> NcclResult;
/// `makeVDevice`.
pub type MakeVDevice = unsafe extern "C" fn(*mut c_int, Handle) -> NcclResult;
/// `finalize`.
pub type Finalize = unsafe extern "C" fn(Handle) -> NcclResult;
/// `setNetAttr`.
pub type SetNetAttr = unsafe extern "C" fn(Handle, Handle) -> NcclResult;

/// A table: the fields that all versions have, and after them those of one.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $properties:ty, $init:ty, $listen:ty, $connect:ty, $isend:ty,
     $irecv:ty, { $($more:ident: $kind:ty,)* }, $functions:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(missing_docs, reason = "each field is the function of its type, which says it")]
        pub struct $name {
            pub name: Name,
            pub init: $init,
            pub devices: CountDevices,
            pub get_properties: GetProperties<$properties>,
            pub listen: $listen,
            pub connect: $connect,
            pub accept: Accept,
            pub reg_mr: RegMr,
            pub reg_mr_dma_buf: RegMrDmaBuf,
            pub dereg_mr: DeregMr,
            pub isend: $isend,
            pub irecv: $irecv,
            pub iflush: Iflush,
            pub test: Test,
            pub close_send: CloseComm,
            pub close_recv: CloseComm,
            pub close_listen: CloseComm,
            pub get_device_mr: GetDeviceMr,
            pub irecv_consumed: IrecvConsumed,
            $(pub $more: $kind,)*
        }

        const _: () = assert!(size_of::<$name>() == ($functions + 1) * size_of::<usize>());
        const _: () = assert!(offset_of!($name, irecv_consumed) == 18 * size_of::<usize>());
    };
}

table!(
    /// Version 8: NCCL 2.20 and later.
    NetV8, PropertiesV8, Init, Listen, Connect, IsendV8, IrecvV8, {}, 18
);
table!(
    /// Version 9: NCCL 2.24.
    NetV9, PropertiesV10, Init, Listen, Connect, IsendV9, IrecvV9,
    { make_v_device: MakeVDevice, }, 19
);
table!(
    /// Version 10: NCCL 2.26.
    NetV10, PropertiesV10, InitV10, Listen, ConnectV10, IsendV10, IrecvV10,
    { make_v_device: MakeVDevice, }, 19
);
table!(
    /// Version 11: NCCL 2.28.
    NetV11, PropertiesV11, InitCtx, ListenCtx, ConnectCtx, IsendV10, IrecvV10,
    { make_v_device: MakeVDevice, finalize: Finalize, set_net_attr: SetNetAttr, }, 21
);
table!(
    /// Version 12: NCCL 2.30.
    NetV12, PropertiesV12, InitCtx, ListenCtx, ConnectCtx, IsendV10, IrecvV10,
    { make_v_device: MakeVDevice, finalize: Finalize, set_net_attr: SetNetAttr, }, 21
);
