//! The versions' tables behind [`Net`].

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use nccl::abi::{NetV10, NetV11, NetV12, NetV8, NetV9, GROUP_MAX, HANDLE_BYTES, POINTER_CUDA};

use super::calls::{Buffer, Code, Net, Pointer, Properties};
use super::log::logger;

/// A table of a version, and the context of its `init`.
pub struct Table<T: 'static>(&'static T, AtomicPtr<c_void>);

impl<T> Table<T> {
    /// A table whose plugin was not called yet.
    pub fn of(table: &'static T) -> Self {
        Self(table, AtomicPtr::default())
    }

    fn context(&self) -> *mut c_void {
        self.1.load(Ordering::Acquire)
    }
}

fn pointer(address: Pointer) -> *mut c_void {
    with_exposed_provenance_mut(address)
}

/// A call that gives a pointer back.
fn out(call: impl FnOnce(*mut *mut c_void) -> Code) -> (Code, Pointer) {
    let mut given = null_mut();
    let code = call(&mut given);
    (code, given.expose_provenance())
}

/// A group as C has it.
struct Group {
    data: [*mut c_void; GROUP_MAX],
    tags: [c_int; GROUP_MAX],
    handles: [*mut c_void; GROUP_MAX],
    unused: [*mut c_void; GROUP_MAX],
}

impl Group {
    fn of(buffers: &[Buffer]) -> Self {
        let mut group = Self {
            data: [null_mut(); GROUP_MAX],
            tags: [0; GROUP_MAX],
            handles: [null_mut(); GROUP_MAX],
            unused: [null_mut(); GROUP_MAX],
        };
        for (at, buffer) in buffers.iter().enumerate() {
            group.data[at] = pointer(buffer.data);
            group.tags[at] = buffer.tag;
            group.handles[at] = pointer(buffer.handle);
        }
        group
    }
}

/// The lengths of a group, as a version has them.
fn lengths<T: Default + Copy + TryFrom<usize>>(buffers: &[Buffer]) -> [T; GROUP_MAX] {
    let mut lengths = [T::default(); GROUP_MAX];
    for (length, buffer) in lengths.iter_mut().zip(buffers) {
        *length = T::try_from(buffer.bytes).unwrap_or_default();
    }
    lengths
}

/// [`Net`] of a version: what differs is given, the rest is equal.
macro_rules! net {
    ($table:ty, $length:ty, |$t:ident| $init:expr,
     |$l:ident, $dev:ident, $handle:ident, $comm:ident| $listen:expr,
     |$c:ident, $cdev:ident, $chandle:ident, $ccomm:ident| $connect:expr,
     profiled: $profiled:tt, finalize: |$f:ident| $finalize:expr) => {
        impl Net for Table<$table> {
            fn init(&self) -> Code {
                let $t = self;
                // SAFETY: as NCCL calls it.
                unsafe { $init.0 }
            }

            fn devices(&self) -> (Code, c_int) {
                let mut count = 0;
                // SAFETY: as NCCL calls it.
                let code = unsafe { (self.0.devices)(&mut count) };
                (code.0, count)
            }

            fn properties(&self, device: c_int) -> (Code, Properties) {
                let mut all = MaybeUninit::zeroed();
                // SAFETY: as NCCL calls it.
                let code = unsafe { (self.0.get_properties)(device, all.as_mut_ptr()) };
                // SAFETY: numbers and pointers, of which each pattern is a value.
                let all = unsafe { all.assume_init() };
                let all = HasCommon::common(&all);
                (code.0, all)
            }

            fn listen(&self, $dev: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer) {
                let ($l, $handle) = (self, handle.as_mut_ptr().cast());
                // SAFETY: as NCCL calls it.
                out(|$comm| unsafe { $listen.0 })
            }

            fn connect(&self, $cdev: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer) {
                let ($c, $chandle) = (self, handle.as_mut_ptr().cast());
                // SAFETY: as NCCL calls it.
                out(|$ccomm| unsafe { $connect.0 })
            }

            fn accept(&self, listening: Pointer) -> (Code, Pointer) {
                // SAFETY: as NCCL calls it.
                out(|comm| unsafe { (self.0.accept)(pointer(listening), comm, null_mut()).0 })
            }

            fn reg_mr(
                &self,
                comm: Pointer,
                data: Pointer,
                bytes: usize,
                kind: c_int,
            ) -> (Code, Pointer) {
                let (comm, data) = (pointer(comm), pointer(data));
                // SAFETY: as NCCL calls it.
                out(|handle| unsafe { (self.0.reg_mr)(comm, data, bytes, kind, handle).0 })
            }

            fn reg_mr_dma_buf(
                &self,
                comm: Pointer,
                data: Pointer,
                bytes: usize,
                offset: u64,
                descriptor: c_int,
            ) -> (Code, Pointer) {
                let (comm, data) = (pointer(comm), pointer(data));
                let call = self.0.reg_mr_dma_buf;
                // SAFETY: as NCCL calls it.
                out(|handle| unsafe {
                    call(comm, data, bytes, POINTER_CUDA, offset, descriptor, handle).0
                })
            }

            fn dereg_mr(&self, comm: Pointer, handle: Pointer) -> Code {
                // SAFETY: as NCCL calls it.
                unsafe { (self.0.dereg_mr)(pointer(comm), pointer(handle)).0 }
            }

            fn isend(&self, comm: Pointer, from: Buffer) -> (Code, Pointer) {
                let (comm, data) = (pointer(comm), pointer(from.data));
                let (tag, handle) = (from.tag, pointer(from.handle));
                let bytes = <$length>::try_from(from.bytes).unwrap_or_default();
                // SAFETY: as NCCL calls it.
                out(|request| unsafe {
                    send!($profiled, self.0.isend, (comm, data, bytes, tag, handle), request).0
                })
            }

            fn irecv(&self, comm: Pointer, into: &[Buffer], request: Pointer) -> (Code, Pointer) {
                let mut group = Group::of(into);
                let mut bytes = lengths::<$length>(into);
                let mut given = pointer(request);
                let (comm, count) = (pointer(comm), into.len() as c_int);
                let (data, tags) = (group.data.as_mut_ptr(), group.tags.as_mut_ptr());
                let (handles, unused) = (group.handles.as_mut_ptr(), group.unused.as_mut_ptr());
                // SAFETY: as NCCL calls it.
                let code = unsafe {
                    receive!(
                        $profiled,
                        self.0.irecv,
                        (comm, count, data, bytes.as_mut_ptr(), tags, handles),
                        unused,
                        &mut given
                    )
                };
                (code.0, given.expose_provenance())
            }

            fn iflush(&self, comm: Pointer, of: &[Buffer]) -> (Code, Pointer) {
                let mut group = Group::of(of);
                let mut bytes = lengths::<c_int>(of);
                let (comm, count) = (pointer(comm), of.len() as c_int);
                let (data, handles) = (group.data.as_mut_ptr(), group.handles.as_mut_ptr());
                let lengths = bytes.as_mut_ptr();
                // SAFETY: as NCCL calls it.
                out(|request| unsafe {
                    (self.0.iflush)(comm, count, data, lengths, handles, request).0
                })
            }

            fn test(&self, request: Pointer, bytes: &mut [c_int]) -> (Code, c_int) {
                let mut done = -1;
                // SAFETY: as NCCL calls it.
                let code =
                    unsafe { (self.0.test)(pointer(request), &mut done, bytes.as_mut_ptr()) };
                (code.0, done)
            }

            fn consumed(&self, comm: Pointer, count: c_int, request: Pointer) -> Code {
                // SAFETY: as NCCL calls it.
                unsafe { (self.0.irecv_consumed)(pointer(comm), count, pointer(request)).0 }
            }

            fn close_send(&self, comm: Pointer) -> Code {
                // SAFETY: as NCCL calls it.
                unsafe { (self.0.close_send)(pointer(comm)).0 }
            }

            fn close_recv(&self, comm: Pointer) -> Code {
                // SAFETY: as NCCL calls it.
                unsafe { (self.0.close_recv)(pointer(comm)).0 }
            }

            fn close_listen(&self, listening: Pointer) -> Code {
                // SAFETY: as NCCL calls it.
                unsafe { (self.0.close_listen)(pointer(listening)).0 }
            }

            fn finalize(&self) -> Code {
                let $f = self;
                // SAFETY: as NCCL calls it, where the version has it.
                #[allow(unused_unsafe)]
                unsafe {
                    $finalize
                }
            }
        }
    };
}

macro_rules! send {
    (true, $call:expr, ($($argument:expr),*), $request:expr) => {
        ($call)($($argument),*, null_mut(), $request)
    };
    (false, $call:expr, ($($argument:expr),*), $request:expr) => {
        ($call)($($argument),*, $request)
    };
}

macro_rules! receive {
    (true, $call:expr, ($($argument:expr),*), $unused:expr, $request:expr) => {
        ($call)($($argument),*, $unused, $request)
    };
    (false, $call:expr, ($($argument:expr),*), $unused:expr, $request:expr) => {{
        let _ = $unused;
        ($call)($($argument),*, $request)
    }};
}

/// What the properties of all versions have.
trait HasCommon {
    fn common(&self) -> Properties;
}

macro_rules! common {
    ($properties:ty, |$of:ident| $fields:expr) => {
        impl HasCommon for $properties {
            fn common(&self) -> Properties {
                let $of = self;
                let fields = $fields;
                Properties {
                    pointer_support: fields.pointer_support,
                    receives_max: fields.receives_max,
                    registers_globally: fields.registers_globally,
                }
            }
        }
    };
}

common!(nccl::abi::PropertiesV8, |of| of);
common!(nccl::abi::PropertiesV10, |of| of);
common!(nccl::abi::PropertiesV11, |of| &of.base);
common!(nccl::abi::PropertiesV12, |of| of);

net!(NetV8, c_int, |t| (t.0.init)(Some(logger())),
    |t, device, handle, comm| (t.0.listen)(device, handle, comm),
    |t, device, handle, comm| (t.0.connect)(device, handle, comm, null_mut()),
    profiled: false, finalize: |_t| 0);
net!(NetV9, usize, |t| (t.0.init)(Some(logger())),
    |t, device, handle, comm| (t.0.listen)(device, handle, comm),
    |t, device, handle, comm| (t.0.connect)(device, handle, comm, null_mut()),
    profiled: false, finalize: |_t| 0);
net!(NetV10, usize, |t| (t.0.init)(Some(logger()), null_mut()),
    |t, device, handle, comm| (t.0.listen)(device, handle, comm),
    |t, device, handle, comm| (t.0.connect)(device, null_mut(), handle, comm, null_mut()),
    profiled: true, finalize: |_t| 0);
net!(NetV11, usize, |t| (t.0.init)(t.1.as_ptr(), 1, null_mut(), Some(logger()), null_mut()),
    |t, device, handle, comm| (t.0.listen)(t.context(), device, handle, comm),
    |t, device, handle, comm| (t.0.connect)(t.context(), device, handle, comm, null_mut()),
    profiled: true, finalize: |t| (t.0.finalize)(t.context()).0);
net!(NetV12, usize, |t| (t.0.init)(t.1.as_ptr(), 1, null_mut(), Some(logger()), null_mut()),
    |t, device, handle, comm| (t.0.listen)(t.context(), device, handle, comm),
    |t, device, handle, comm| (t.0.connect)(t.context(), device, handle, comm, null_mut()),
    profiled: true, finalize: |t| (t.0.finalize)(t.context()).0);
