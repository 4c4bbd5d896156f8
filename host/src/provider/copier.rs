//! The only function of the control stack that copies payload into or out of application buffers;
//! it counts the bytes.
//!
//! ```text
//!   slow buffer ── deferred payload ──► Copier ──► application buffer    (floor confirmed)
//!   application buffer ── bytes beyond an early end ────────► Copier     (buffer withdrawn)
//!   application buffer ── Copier ──► bounce region         (connection beyond the flow table)
//! ```
//! Every registered region is closed to the control stack ([`crate::memory`]). Only
//! [`Copier::visit`] opens a range, and every byte of that range counts as copied. Regions are
//! identified by index and key, as on the card: a stale name never reaches a later region with the
//! same index.

use std::collections::HashMap;

use crate::control::flow::buffer::SendPart;
use crate::control::regions::RegionName;
use crate::error::region::RegionError;
use crate::error::{HostError, Result};
use crate::memory::{GuardedMapping, MemoryError, MemoryRange, SharedBytes};

/// Guarded mappings of the registered regions, and the number of bytes copied.
#[derive(Debug, Default)]
pub(crate) struct Copier {
    regions: HashMap<RegionName, GuardedMapping>,
    copied_bytes: u64,
}

impl Copier {
    /// Maps a region, closed.
    pub(crate) fn add(&mut self, region: RegionName, range: &MemoryRange) -> Result<()> {
        let guarded = range.guard().map_err(not_mapped(region.index))?;
        self.regions.insert(region, guarded);
        Ok(())
    }

    /// Ends the mapping of a region.
    pub(crate) fn remove(&mut self, region: RegionName) {
        self.regions.remove(&region);
    }

    /// Bytes copied so far.
    pub(crate) fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// Copies deferred payload into a region.
    pub(crate) fn write(&mut self, region: RegionName, offset: u64, from: &[u8]) -> Result<()> {
        let mut copy = |target: SharedBytes<'_>| target.write(0, from);
        self.visit(region, offset, from.len(), &mut copy)
    }

    /// Copies payload out of a buffer that is returned before it is full.
    pub(crate) fn read(
        &mut self,
        region: RegionName,
        offset: u64,
        bytes: usize,
    ) -> Result<Vec<u8>> {
        let mut copied = Vec::new();
        let mut copy = |source: SharedBytes<'_>| copied = source.to_vec(0, bytes);
        self.visit(region, offset, bytes, &mut copy)?;
        Ok(copied)
    }

    /// Shows payload that is to be sent to `take`, which copies it.
    pub(crate) fn show(
        &mut self,
        part: &SendPart,
        take: &mut dyn FnMut(SharedBytes<'_>),
    ) -> Result<()> {
        self.visit(part.region, part.offset, part.bytes as usize, take)
    }

    fn visit(
        &mut self,
        region: RegionName,
        offset: u64,
        bytes: usize,
        visit: &mut dyn FnMut(SharedBytes<'_>),
    ) -> Result<()> {
        let mapping = self.regions.get_mut(&region);
        let mapping = mapping.ok_or(HostError::Region(RegionError::UnknownRegion(region.index)))?;
        mapping.open(offset as usize, bytes, visit).map_err(not_mapped(region.index))?;
        self.copied_bytes += bytes as u64;
        Ok(())
    }
}

fn not_mapped(region: u16) -> impl Fn(MemoryError) -> HostError {
    move |source| HostError::Region(RegionError::Mapping { region, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;

    #[test]
    fn copied_bytes_are_counted_and_land() {
        let range = MemoryFile::new(8192).unwrap().range(0, 8192).unwrap();
        let mut application = range.map().unwrap();
        let mut copier = Copier::default();
        let region = RegionName { index: 3, key: 1 };
        copier.add(region, &range).unwrap();
        // Over a page end, so that two pages are opened.
        copier.write(region, 4090, b"twelve bytes").unwrap();
        assert_eq!(copier.copied_bytes(), 12);
        let mut seen = [0; 12];
        application.read(4090, &mut seen);
        assert_eq!(&seen, b"twelve bytes");
        application.write(0, b"back");
        assert_eq!(copier.read(region, 0, 4).unwrap(), b"back");
        assert_eq!(copier.copied_bytes(), 16);
    }

    #[test]
    fn missing_region_is_error_with_number() {
        let range = MemoryFile::new(4096).unwrap().range(0, 4096).unwrap();
        let mut copier = Copier::default();
        let [gone, next] = [1, 2].map(|key| RegionName { index: 7, key });
        copier.add(gone, &range).unwrap();
        copier.remove(gone);
        copier.add(next, &range).unwrap();
        let refused = copier.write(gone, 0, b"x").unwrap_err();
        assert!(matches!(refused, HostError::Region(RegionError::UnknownRegion(7))));
        assert_eq!(copier.copied_bytes(), 0);
    }
}
