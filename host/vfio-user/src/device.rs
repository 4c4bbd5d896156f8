//! What a server serves: what a device does with the accesses of its client.
//!
//! Invariants
//! 1. A device sees no access outside its regions or against their rights: the server refuses them.

use rustix::io::Errno;

use crate::codec::DmaMap;
use crate::session::Session;

/// A device. Its client is there during the calls: for DMA, and to be interrupted.
pub trait Device {
    /// Reads a region.
    fn read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
        client: &mut Session,
    ) -> Result<(), Errno>;

    /// Writes a region. Sixty-four bytes of one message are one write.
    fn write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
        client: &mut Session,
    ) -> Result<(), Errno>;

    /// Resets the device.
    fn reset(&mut self, client: &mut Session) -> Result<(), Errno>;

    /// A range of memory can be reached from now on.
    fn memory_mapped(&mut self, _map: &DmaMap, _client: &mut Session) {}

    /// A range of memory cannot be reached any more.
    fn memory_unmapped(&mut self, _address: u64, _bytes: u64) {}

    /// The client has gone: its memory and its interrupts are, too. The device stays as it is.
    fn client_left(&mut self) {}
}
