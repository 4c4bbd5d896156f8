//! Send: fetch, gather, segment, merge, checksum.
