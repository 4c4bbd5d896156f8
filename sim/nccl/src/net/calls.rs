//! The calls of a plugin, whatever the version of NCCL's interface.

use std::ffi::c_int;

use nccl::abi::HANDLE_BYTES;

/// An address in C; 0 is null.
pub type Pointer = usize;

/// Result of a call: `ncclResult_t`, 0 for success.
pub type Code = c_int;

/// What a device says of itself, as far as the driver uses it.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// Kinds of memory: 1 host, 2 CUDA, 4 dma-buf.
    pub pointer_support: c_int,
    /// Most receives in a group.
    pub receives_max: c_int,
    /// Whether a registration serves every communicator.
    pub registers_globally: c_int,
}

/// A buffer of a group.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// First byte.
    pub data: Pointer,
    /// Most bytes.
    pub bytes: usize,
    /// Tag.
    pub tag: c_int,
    /// Registration.
    pub handle: Pointer,
}

/// The calls of a plugin. Pointers go through as they are: what the plugin does with a wrong one is
/// its affair, so the driver only makes those that NCCL makes.
pub trait Net: Sync {
    /// `init`.
    fn init(&self) -> Code;
    /// `devices`.
    fn devices(&self) -> (Code, c_int);
    /// `getProperties`.
    fn properties(&self, device: c_int) -> (Code, Properties);
    /// `listen`: the listening communicator, and the handle.
    fn listen(&self, device: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer);
    /// `connect`.
    fn connect(&self, device: c_int, handle: &mut [u8; HANDLE_BYTES]) -> (Code, Pointer);
    /// `accept`.
    fn accept(&self, listening: Pointer) -> (Code, Pointer);
    /// `regMr`.
    fn reg_mr(&self, comm: Pointer, data: Pointer, bytes: usize, kind: c_int) -> (Code, Pointer);
    /// `regMrDmaBuf`, of GPU memory.
    fn reg_mr_dma_buf(
        &self,
        comm: Pointer,
        data: Pointer,
        bytes: usize,
        offset: u64,
        descriptor: c_int,
    ) -> (Code, Pointer);
    /// `deregMr`.
    fn dereg_mr(&self, comm: Pointer, handle: Pointer) -> Code;
    /// `isend`.
    fn isend(&self, comm: Pointer, from: Buffer) -> (Code, Pointer);
    /// `irecv`; `request` is what the request held before.
    fn irecv(&self, comm: Pointer, into: &[Buffer], request: Pointer) -> (Code, Pointer);
    /// `iflush`.
    fn iflush(&self, comm: Pointer, of: &[Buffer]) -> (Code, Pointer);
    /// `test`: result, done, lengths.
    fn test(&self, request: Pointer, bytes: &mut [c_int]) -> (Code, c_int);
    /// `irecvConsumed`.
    fn consumed(&self, comm: Pointer, count: c_int, request: Pointer) -> Code;
    /// `closeSend`.
    fn close_send(&self, comm: Pointer) -> Code;
    /// `closeRecv`.
    fn close_recv(&self, comm: Pointer) -> Code;
    /// `closeListen`.
    fn close_listen(&self, listening: Pointer) -> Code;
    /// `finalize`, where the version has it.
    fn finalize(&self) -> Code;
}
