//! The table of layouts: a line for each structure of each release.
//!
//! ```text
//!   22403 ncclConnFifo 24 mode=0:32 offset=32:32 size=64:64
//!   release, structure, bytes, and of each field first bit and bits
//! ```

use std::collections::HashMap;
use std::ffi::c_int;

use anyhow::{ensure, Context, Result};

const TEXT: &str = include_str!("../layouts.txt");

/// First bit and bits.
pub type Bits = (usize, usize);

struct Structure {
    bytes: usize,
    fields: HashMap<&'static str, Bits>,
}

/// The structures of one release.
pub struct Table(HashMap<&'static str, Structure>);

fn line_of(line: &'static str) -> Option<(c_int, &'static str, Structure)> {
    let mut words = line.split_whitespace();
    let (version, name) = (words.next()?.parse().ok()?, words.next()?);
    let bytes = words.next()?.parse().ok()?;
    let fields = words.map(|word| {
        let (name, place) = word.split_once('=')?;
        let (first, bits) = place.split_once(':')?;
        Some((name, (first.parse().ok()?, bits.parse().ok()?)))
    });
    Some((version, name, Structure { bytes, fields: fields.collect::<Option<_>>()? }))
}

/// The releases that the table has, the oldest first.
pub fn versions() -> Option<Vec<c_int>> {
    let all: Option<Vec<_>> = TEXT.lines().map(|line| line_of(line).map(|l| l.0)).collect();
    let mut all = all?;
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

impl Table {
    /// The table of a release; one that is not known is refused.
    pub fn of(version: c_int) -> Result<Self> {
        let lines = TEXT.lines().filter_map(line_of).filter(|line| line.0 == version);
        let found: HashMap<_, _> = lines.map(|(_, name, structure)| (name, structure)).collect();
        ensure!(
            !found.is_empty(),
            "NCCL {version} has structures that are not known; known are {:?}",
            versions().unwrap_or_default()
        );
        Ok(Self(found))
    }

    /// Whether the release has a structure.
    pub fn has(&self, structure: &str) -> bool {
        self.0.contains_key(structure)
    }

    fn get(&self, structure: &str) -> Result<&Structure> {
        self.0.get(structure).with_context(|| format!("the table has no {structure}"))
    }

    /// Bytes of a structure.
    pub fn length(&self, structure: &str) -> Result<usize> {
        Ok(self.get(structure)?.bytes)
    }

    /// Where a field of a structure lies.
    pub fn bits(&self, structure: &str, field: &str) -> Result<Bits> {
        let found = self.get(structure)?.fields.get(field).copied();
        found.with_context(|| format!("the table has no {field} in {structure}"))
    }

    /// The first byte of a field.
    pub fn byte(&self, structure: &str, field: &str) -> Result<usize> {
        Ok(self.bits(structure, field)?.0 / 8)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::super::{Arguments, Batch, ChannelStart, CommStart, Connection, Layout, Message};
    use super::super::{Peer, CHANNEL_BYTES};
    use super::*;

    /// Structures and fields, with the byte where the types here have them.
    fn common() -> Vec<(&'static str, &'static str, usize)> {
        vec![
            ("ncclConnInfo", "buffs", offset_of!(Connection, buffers)),
            ("ncclConnInfo", "tail", offset_of!(Connection, tail)),
            ("ncclConnInfo", "head", offset_of!(Connection, head)),
            ("ncclConnInfo", "stepSize", offset_of!(Connection, step_bytes)),
            ("ncclConnInfo", "connFifo", offset_of!(Connection, fifo)),
            ("ncclConnInfo", "step", offset_of!(Connection, step)),
            ("ncclDevChannelPeer", "send", offset_of!(Peer, send)),
            ("ncclDevChannelPeer", "recv", offset_of!(Peer, receive)),
            ("ncclDevChannel", "peers", offset_of!(ChannelStart, peers)),
            ("ncclRing", "prev", offset_of!(ChannelStart, previous) - 8),
            ("ncclRing", "next", offset_of!(ChannelStart, next) - 8),
            ("ncclRing", "userRanks", offset_of!(ChannelStart, ring_ranks) - 8),
            ("ncclDevWorkP2p", "sendAddr", offset_of!(Message, send)),
            ("ncclDevWorkP2p", "recvAddr", offset_of!(Message, receive)),
            ("ncclDevWorkP2p", "sendBytes", offset_of!(Message, send_bytes)),
            ("ncclDevWorkP2p", "recvBytes", offset_of!(Message, receive_bytes)),
            ("ncclDevWorkP2p", "sendRank", offset_of!(Message, send_rank)),
            ("ncclDevWorkP2p", "recvRank", offset_of!(Message, receive_rank)),
            ("ncclDevWorkP2p", "nP2pChannels", offset_of!(Message, channels)),
            ("ncclDevWorkP2p", "channelBase", offset_of!(Message, channel_base)),
            ("ncclDevWorkP2p", "nSendChannels", offset_of!(Message, send_channels)),
            ("ncclDevWorkP2p", "nRecvChannels", offset_of!(Message, receive_channels)),
            ("ncclDevWorkP2p", "sendChunkSize_u32fp8", offset_of!(Message, send_chunk)),
            ("ncclDevWorkP2p", "recvChunkSize_u32fp8", offset_of!(Message, receive_chunk)),
            ("ncclDevWorkP2p", "sendProtoLL", offset_of!(Message, flags)),
            ("ncclDevWorkBatch", "offsetBase", offset_of!(Batch, offset_base)),
            ("ncclDevWorkBatch", "offsetBitset", offset_of!(Batch, offset_bits)),
            ("ncclDevKernelArgs", "comm", offset_of!(Arguments, comm)),
            ("ncclDevKernelArgs", "channelMask", offset_of!(Arguments, channel_mask)),
            ("ncclDevKernelArgs", "workStorageType", offset_of!(Arguments, storage)),
            ("ncclDevKernelArgs", "workMask", offset_of!(Arguments, work_mask)),
            ("ncclDevKernelArgs", "workBuf", offset_of!(Arguments, work)),
        ]
    }

    #[test]
    fn types_are_those_of_every_release() {
        for version in versions().unwrap() {
            let table = Table::of(version).unwrap();
            for (structure, field, byte) in common() {
                assert_eq!(table.byte(structure, field).unwrap(), byte, "{version}: {field}");
            }
            for (structure, bytes) in [
                ("ncclConnInfo", size_of::<Connection>()),
                ("ncclDevChannelPeer", size_of::<Peer>()),
                ("ncclDevChannel", CHANNEL_BYTES),
                ("ncclDevWorkP2p", size_of::<Message>()),
                ("ncclDevWorkBatch", size_of::<Batch>()),
                ("ncclDevKernelArgs", size_of::<Arguments>()),
            ] {
                assert_eq!(table.length(structure).unwrap(), bytes, "{version}: {structure}");
            }
            let comm = if table.has("ncclKernelComm") { "ncclKernelComm" } else { "ncclDevComm" };
            let at = |field| table.byte(comm, field).unwrap();
            assert_eq!((at("rank"), at("nRanks")), (0, offset_of!(CommStart, ranks)));
            assert_eq!(at("buffSizes"), offset_of!(CommStart, buffer_bytes));
            for (field, first) in [("sendProtoLL", 0), ("recvProtoLL", 1), ("sendNetReg", 2)] {
                assert_eq!(table.bits("ncclDevWorkP2p", field).unwrap(), (46 * 8 + first, 1));
            }
            assert_eq!(table.byte("ncclDevChannel", "ring").unwrap(), 8, "{version}");
        }
    }

    #[test]
    fn parts_of_a_collective_follow_each_other() {
        for version in versions().unwrap() {
            let table = Table::of(version).unwrap();
            let bits = |field| table.bits("ncclDevWorkColl", field).unwrap();
            let (buffers, counts) = (bits("recvbuff").0, bits("countLo").0);
            assert_eq!((bits("channelLo"), bits("channelHi")), ((0, 8), (8, 8)), "{version}");
            assert_eq!(bits("sendbuff"), (buffers + 64, 64), "{version}");
            assert_eq!(bits("countMid"), (counts + 64, 64), "{version}");
            assert_eq!(bits("countHi"), (counts + 128, 64), "{version}");
            for (at, field) in
                ["chunkGrainsLo", "chunkGrainsMid", "chunkGrainsHi"].iter().enumerate()
            {
                assert_eq!(bits(field), (counts + 192 + 21 * at, 21), "{version}");
            }
            let function = table.bits("ncclDevWorkBatch", "func");
            assert!(function.is_err() || function.unwrap() == (28, 4), "{version}");
        }
    }

    #[test]
    fn unknown_release_is_refused() {
        for version in [22_105, 23_204, 0] {
            let refused = Layout::of(version).unwrap_err().to_string();
            assert!(refused.contains("known are [22403, "), "{refused}");
        }
    }
}
