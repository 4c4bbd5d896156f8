//! Allocation of regions and of their page entries.

use crate::driver::bus::{page_bits, DmaMemory};
use crate::error::region::RegionError;
use crate::error::table::TableError;
use crate::error::{HostError, Result};
use crate::records::commands::{page_set, region_install, region_remove, Entry, RegionInstall};
use crate::records::size::SizeError;
use crate::records::ticket::Ticket;

use abi::config::{FLOW_REACH_BYTES, PAGE_BITS_MIN};

/// Longest region, bytes: limit of the length field of region_install.
const REGION_BYTES_MAX: u64 = (1 << 48) - 1;

/// Names a region while it is registered. Its index is used again later, with another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegionName {
    /// Index.
    pub index: u16,
    /// Key.
    pub key: u16,
}

/// A registered region.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Index.
    pub index: u16,
    /// Key: generation of the index.
    pub key: u16,
    /// Protection domain.
    pub domain: u16,
    /// Memory of the region.
    pub memory: DmaMemory,
    first_page: u16,
    pages: usize,
    known: Option<Ticket>,
}

impl Region {
    /// Name of the region.
    pub fn name(&self) -> RegionName {
        RegionName { index: self.index, key: self.key }
    }

    /// The last command that installs the region, once it is queued. The card knows the region when
    /// it is confirmed.
    pub fn install_ticket(&self) -> Option<Ticket> {
        self.known
    }

    /// Checks that a buffer is inside the region and no longer than a request may be.
    pub fn check(&self, offset: u64, bytes: u32) -> Result<()> {
        let region_bytes = self.memory.bytes as u64;
        let end = offset.checked_add(bytes.into());
        let fits = end.is_some_and(|end| end <= region_bytes);
        if bytes == 0 || bytes > FLOW_REACH_BYTES / 4 || !fits {
            return Err(HostError::Region(RegionError::BadBuffer {
                offset,
                bytes: bytes.into(),
                region_bytes,
            }));
        }
        Ok(())
    }
}

/// All regions and page entries of a card.
#[derive(Debug)]
pub struct Regions {
    regions: Vec<Option<Region>>,
    keys: Vec<u16>,
    page_used: Vec<bool>,
}

impl Regions {
    /// No region, with 2^`region_bits` region entries and 2^`page_bits` page entries.
    pub fn new(region_bits: u32, page_bits: u32) -> Self {
        Self {
            regions: vec![None; 1 << region_bits],
            keys: vec![0; 1 << region_bits],
            page_used: vec![false; 1 << page_bits],
        }
    }

    /// Checks the length of a region.
    pub fn check_length(bytes: u64) -> Result<()> {
        match (1..=REGION_BYTES_MAX).contains(&bytes) {
            true => Ok(()),
            false => Err(HostError::Size(SizeError {
                name: "region bytes",
                value: bytes,
                min: 1,
                max: REGION_BYTES_MAX,
            })),
        }
    }

    /// A region by index.
    pub fn get(&self, index: u16) -> Option<&Region> {
        self.regions.get(usize::from(index))?.as_ref()
    }

    /// All regions.
    pub fn all(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter().flatten()
    }

    /// The region that holds a bus address.
    pub fn at(&self, address: u64) -> Option<&Region> {
        self.all().find(|region| {
            let memory = region.memory;
            (memory.address..memory.address + memory.bytes as u64).contains(&address)
        })
    }

    /// Registers memory. Returns the region and the commands that install it.
    pub fn register(&mut self, memory: DmaMemory, domain: u16) -> Result<(Region, Vec<Entry>)> {
        Self::check_length(memory.bytes as u64)?;
        let limit = self.regions.len();
        let index = self
            .regions
            .iter()
            .position(Option::is_none)
            .ok_or(HostError::Table(TableError::Full { what: "regions", limit }))?;
        // The largest page that the address is aligned to; one page covers most regions.
        let wanted_bits = page_bits(memory.bytes as u64);
        let page_bits =
            wanted_bits.min(memory.address.trailing_zeros() as usize).max(PAGE_BITS_MIN);
        let pages = memory.bytes.div_ceil(1 << page_bits);
        let first_page = self.free_pages(pages).map_err(|free| {
            HostError::Table(TableError::PagesFull {
                region: index as u16,
                bytes: memory.bytes as u64,
                needed: pages,
                free,
                limit: self.page_used.len(),
                page_bytes: 1 << page_bits,
                align_bytes: 1 << wanted_bits,
            })
        })?;
        self.page_used[first_page..first_page + pages].fill(true);
        let key = self.keys[index].wrapping_add(1);
        self.keys[index] = key;
        let region = Region {
            index: index as u16,
            key,
            domain,
            memory,
            first_page: first_page as u16,
            pages,
            known: None,
        };
        self.regions[index] = Some(region);
        let mut commands: Vec<Entry> = (0..pages)
            .map(|page| {
                page_set((first_page + page) as u16, memory.address + ((page as u64) << page_bits))
            })
            .collect();
        commands.push(region_install(&RegionInstall {
            region: region.index,
            key,
            domain,
            memory: memory.kind.number(),
            page_bits: page_bits as u8,
            first_page: region.first_page,
            bytes: memory.bytes as u64,
        }));
        Ok((region, commands))
    }

    /// The first of so many free page entries in a row, or how many there are in a row at most.
    fn free_pages(&self, pages: usize) -> std::result::Result<usize, usize> {
        let (mut run, mut longest) = (0, 0);
        for (page, &used) in self.page_used.iter().enumerate() {
            run = if used { 0 } else { run + 1 };
            longest = longest.max(run);
            if run == pages {
                return Ok(page + 1 - pages);
            }
        }
        Err(longest)
    }

    /// Notes the ticket of the last command that installs a region.
    pub fn note_install(&mut self, index: u16, ticket: Ticket) {
        if let Some(Some(region)) = self.regions.get_mut(usize::from(index)) {
            region.known = Some(ticket);
        }
    }

    /// The command that removes a region.
    pub fn removal(&self, index: u16) -> Result<Entry> {
        let region = self.get(index).ok_or(HostError::Region(RegionError::UnknownRegion(index)))?;
        Ok(region_remove(index, region.key))
    }

    /// Forgets a region whose removal is confirmed.
    pub fn forget(&mut self, index: u16) -> Option<Region> {
        let region = self.regions.get_mut(usize::from(index))?.take()?;
        let first = usize::from(region.first_page);
        self.page_used[first..first + region.pages].fill(false);
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::bus::MemoryKind;
    use abi::command;

    fn memory(address: u64, bytes: usize) -> DmaMemory {
        DmaMemory { address, bytes, kind: MemoryKind::Application }
    }

    #[test]
    fn aligned_region_takes_one_page_entry() {
        for bytes in [1, 4096, 4097, 263_168, 600 << 10, 1 << 30] {
            let mut regions = Regions::new(6, 6);
            let registered = regions.register(memory(1 << 40, bytes), 0);
            let (region, commands) = registered.expect("one entry");
            let install = commands.last().expect("the region itself");
            assert_eq!((region.pages, commands.len()), (1, 2), "{bytes} bytes");
            let page = 1 << command::REGION_PAGE_BITS.get(install);
            assert!((bytes..2 * bytes.max(4096)).contains(&page), "{bytes} bytes");
        }
        let mut regions = Regions::new(6, 6);
        let (region, _) = regions.register(memory(1 << 40, (3 << 30) + 1), 0).expect("four");
        assert_eq!(region.pages, 4);
    }

    #[test]
    fn region_exceeding_page_entries_names_remedy() {
        let mut regions = Regions::new(6, 6);
        for number in 0..4 {
            let registered = regions.register(memory(number << 20, 4096), 0);
            registered.expect("one entry");
        }
        regions.forget(1);
        let error = regions.register(memory(4096, 600 << 10), 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "region 1 of 614400 bytes needs 150 page entries in a row, for pages of 4096 bytes; \
             60 of 64 are free in a row: align its memory to 1048576 bytes, or register fewer or \
             smaller regions"
        );
        let error = regions.register(memory(1 << 40, 64 << 30), 0).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("region 1 of 68719476736 bytes needs 64 "), "{text}");
        assert!(text.ends_with("in a row: register fewer or smaller regions"), "{text}");
        // What was refused has taken nothing.
        regions.register(memory(1 << 40, 60 << 30), 0).expect("60");
    }
}
