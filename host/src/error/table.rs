//! What finds no room in the tables of the card.

use thiserror::Error;

/// A table has no room.
#[derive(Debug, Error)]
pub enum TableError {
    /// A table of the card is full.
    #[error("all {limit} {what} are in use")]
    Full {
        /// Kind of table entry.
        what: &'static str,
        /// Number of entries.
        limit: usize,
    },
    /// No run of free page entries is long enough for a region.
    #[error(
        "region {region} of {bytes} bytes needs {needed} page entries in a row, for pages of \
         {page_bytes} bytes; {free} of {limit} are free in a row: {}",
        page_remedy(*.page_bytes, *.align_bytes)
    )]
    PagesFull {
        /// Region index.
        region: u16,
        /// Length of the region.
        bytes: u64,
        /// Page entries that it needs, in a row.
        needed: usize,
        /// Page entries that are free in a row.
        free: usize,
        /// Page entries of the card.
        limit: usize,
        /// Bytes of a page, as the region's address is aligned.
        page_bytes: u64,
        /// Alignment of its address that takes the fewest page entries.
        align_bytes: u64,
    },
    /// Cuckoo insertion found no free slot for a key: too many keys share its buckets.
    #[error("no free slot for the connection's key in the flow table of {slots} slots")]
    NoKeySlot {
        /// Slots of the flow table.
        slots: usize,
    },
}

/// What to do about a region that needs too many page entries.
fn page_remedy(page_bytes: u64, align_bytes: u64) -> String {
    let fewer = "register fewer or smaller regions";
    match page_bytes < align_bytes {
        true => format!("align its memory to {align_bytes} bytes, or {fewer}"),
        false => fewer.to_owned(),
    }
}
