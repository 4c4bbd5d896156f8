//! How long a card's memory takes to be mapped and unmapped, in pages of either size.
//!
//! ```text
//!   pages, touched ─► map: pinned, entries of the IOMMU ─► unmap
//! ```

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use host::driver::bus::Bus;
use host::driver::bus_memory::new_pages;
use host::memory::MemoryRange;
use vfio::{card_pages, CardBus};

use crate::device::report::{Check, Verdict};

/// Bytes of a small page.
const PAGE_BYTES: usize = 4096;

/// Times of one kind of page.
struct Times {
    map: Duration,
    unmap: Duration,
}

impl Times {
    fn text(&self) -> String {
        let ms = |time: Duration| time.as_nanos() as f64 / 1e6;
        format!("map {:.1} ms, unmap {:.1} ms", ms(self.map), ms(self.unmap))
    }
}

fn time(card: &mut CardBus, range: &MemoryRange) -> Result<Times> {
    // Pages that are there: what it takes to make them is not what is measured.
    let mut pages = range.map()?;
    for offset in (0..range.bytes()).step_by(PAGE_BYTES) {
        pages.write(offset, &[1]);
    }
    let begun = Instant::now();
    let memory = card.map(range).context("mapping memory for the card")?;
    let map = begun.elapsed();
    let begun = Instant::now();
    card.release(memory).context("taking memory from the card")?;
    Ok(Times { map, unmap: begun.elapsed() })
}

/// The check.
pub fn mapping(mut card: CardBus, bytes: usize) -> Result<Check> {
    let small = time(&mut card, &new_pages(bytes)?)?;
    let (pages, is_large) = card_pages(bytes)?;
    let large = if is_large { Some(time(&mut card, &pages)?) } else { None };
    let mib = bytes >> 20;
    let found = match &large {
        Some(large) => {
            format!("{mib} MiB: in large pages {}; in small ones {}", large.text(), small.text())
        }
        None => format!("{mib} MiB: in small pages {}; too few large ones", small.text()),
    };
    let advice = "set large pages aside: vm.nr_hugepages, 2 MiB each";
    Ok(Check::new("DMA map", Verdict::Look.unless(large.is_some()), found, advice))
}
