//! Memory of the client: what the device may reach, and accesses to it by messages.
//!
//! ```text
//!   map     0 argsz │ 4 flags │ 8 offset in the file │ 16 address │ 24 bytes      ► nothing
//!   unmap   0 argsz │ 4 flags │ 8 address │ 16 bytes                              ► the same
//!   access  0 address │ 8 count │ 16 data, of a write and of a read's reply
//! ```
//! Invariants
//! 1. A decoded range ends at 2^64 at the latest, and a range to be mapped is not empty.
//!
//! Source: vfio-user protocol specification, VFIO_USER_DMA_MAP, DMA_UNMAP, DMA_READ, DMA_WRITE.

use super::bytes::{Reader, Writer};
use super::error::CodecError;

const MAP_BYTES: u32 = 32;
const UNMAP_BYTES: u32 = 24;
const READABLE: u32 = 1 << 0;
const WRITABLE: u32 = 1 << 1;
/// Beyond the specification, libvfio-user's clients say how a descriptor is to be used.
const MAPPABLE: u32 = 1 << 2;
const BY_FILE: u32 = 1 << 3;
const UNMAP_ALL: u32 = 1 << 1;

/// What a device may do with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
}

impl Rights {
    /// Both.
    pub const BOTH: Self = Self { read: true, write: true };
}

/// A range that the device may reach from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaMap {
    /// What the device may do.
    pub rights: Rights,
    /// Where the range begins in the file that comes with the message.
    pub offset: u64,
    /// Bus address of the first byte.
    pub address: u64,
    /// Length.
    pub bytes: u64,
}

impl DmaMap {
    /// Takes a payload apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (offset, address, bytes) = (fields.u64()?, fields.u64()?, fields.u64()?);
        fields.end()?;
        check_argsz(argsz, MAP_BYTES)?;
        if flags & !(READABLE | WRITABLE | MAPPABLE | BY_FILE) != 0 {
            return Err(CodecError::Flags(flags));
        }
        check_range(address, bytes)?;
        if bytes == 0 || offset.checked_add(bytes).is_none() {
            return Err(CodecError::Range { address: offset, bytes });
        }
        let rights = Rights { read: flags & READABLE != 0, write: flags & WRITABLE != 0 };
        Ok(Self { rights, offset, address, bytes })
    }

    /// The payload.
    pub fn encode(&self) -> Vec<u8> {
        let read = if self.rights.read { READABLE } else { 0 };
        let write = if self.rights.write { WRITABLE } else { 0 };
        let fields = Writer::default().u32(MAP_BYTES).u32(read | write);
        fields.u64(self.offset).u64(self.address).u64(self.bytes).0
    }
}

/// What the device may no longer reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaUnmap {
    /// The ranges inside of this one.
    Range {
        /// Bus address of the first byte.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// Everything.
    All,
}

impl DmaUnmap {
    /// Takes the payload of a command or of its reply apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (address, bytes) = (fields.u64()?, fields.u64()?);
        fields.end()?;
        check_argsz(argsz, UNMAP_BYTES)?;
        match flags {
            0 => {
                check_range(address, bytes)?;
                Ok(Self::Range { address, bytes })
            }
            UNMAP_ALL if address == 0 && bytes == 0 => Ok(Self::All),
            UNMAP_ALL => Err(CodecError::Range { address, bytes }),
            other => Err(CodecError::Flags(other)),
        }
    }

    /// The payload.
    pub fn encode(&self) -> Vec<u8> {
        let (flags, address, bytes) = match *self {
            Self::Range { address, bytes } => (0, address, bytes),
            Self::All => (UNMAP_ALL, 0, 0),
        };
        Writer::default().u32(UNMAP_BYTES).u32(flags).u64(address).u64(bytes).0
    }
}

/// An access to memory of the client by messages. Its data follow where there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaAccess {
    /// Bus address of the first byte.
    pub address: u64,
    /// Length.
    pub count: u64,
}

impl DmaAccess {
    /// Takes the payload of a read apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let (access, data) = Self::decode_fields(payload)?;
        data.end()?;
        Ok(access)
    }

    /// Takes the reply to a write apart, whose count may be of 4 bytes, as in the specification, or
    /// of 8, as everybody sends it.
    pub fn decode_written(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        if payload.len() == 12 {
            return Ok(Self { address: fields.u64()?, count: fields.u32()?.into() });
        }
        Self::decode(payload)
    }

    /// Takes the payload of a write, or of a read's reply, apart: the data are as long as they say.
    pub fn decode_data(payload: &[u8]) -> Result<(Self, &[u8]), CodecError> {
        let (access, mut rest) = Self::decode_fields(payload)?;
        let count = usize::try_from(access.count).unwrap_or(usize::MAX);
        let data = rest.take(count)?;
        rest.end()?;
        Ok((access, data))
    }

    fn decode_fields(payload: &[u8]) -> Result<(Self, Reader<'_>), CodecError> {
        let mut fields = Reader::new(payload);
        let access = Self { address: fields.u64()?, count: fields.u64()? };
        check_range(access.address, access.count)?;
        Ok((access, fields))
    }

    /// The payload, with data or without.
    pub fn encode(&self, data: &[u8]) -> Vec<u8> {
        Writer::default().u64(self.address).u64(self.count).bytes(data).0
    }
}

/// Checks what a sender says of the room for a reply, or of the length of a structure.
pub(super) fn check_argsz(argsz: u32, needed: u32) -> Result<(), CodecError> {
    match argsz < needed {
        true => Err(CodecError::Argsz { argsz, needed }),
        false => Ok(()),
    }
}

/// Checks that a range ends at 2^64 at the latest.
pub(super) fn check_range(address: u64, bytes: u64) -> Result<(), CodecError> {
    let fits = bytes == 0 || address.checked_add(bytes - 1).is_some();
    fits.then_some(()).ok_or(CodecError::Range { address, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: DmaMap =
        DmaMap { rights: Rights::BOTH, offset: 0x1000, address: 0x1_0000_0000, bytes: 0x2000 };

    #[test]
    fn map_follows_specification_layout() {
        let expected: Vec<u8> = [32, 3]
            .into_iter()
            .flat_map(u32::to_ne_bytes)
            .chain([0x1000, 0x1_0000_0000, 0x2000].into_iter().flat_map(u64::to_ne_bytes))
            .collect();
        assert_eq!(MAP.encode(), expected);
        assert_eq!(DmaMap::decode(&expected), Ok(MAP));
    }

    #[test]
    fn one_right_alone_stays_alone() {
        for (read, write) in [(false, false), (true, false), (false, true)] {
            let map = DmaMap { rights: Rights { read, write }, ..MAP };
            assert_eq!(DmaMap::decode(&map.encode()), Ok(map));
        }
    }

    #[test]
    fn range_may_end_at_last_address() {
        let last = DmaMap { address: u64::MAX - 0xfff, bytes: 0x1000, ..MAP };
        assert_eq!(DmaMap::decode(&last.encode()), Ok(last));
        for wrong in [
            DmaMap { address: u64::MAX - 0xffe, ..last },
            DmaMap { bytes: 0, ..MAP },
            DmaMap { offset: u64::MAX, ..MAP },
        ] {
            let result = DmaMap::decode(&wrong.encode());
            assert!(matches!(result, Err(CodecError::Range { .. })), "{wrong:?}: {result:?}");
        }
    }

    #[test]
    fn map_of_wrong_size_is_refused() {
        let good = MAP.encode();
        let mut bytes = good.clone();
        bytes[0] = 31;
        assert_eq!(DmaMap::decode(&bytes), Err(CodecError::Argsz { argsz: 31, needed: 32 }));
        bytes = good.clone();
        bytes[5] = 1;
        assert_eq!(DmaMap::decode(&bytes), Err(CodecError::Flags(0x103)));
        for (flags, is_known) in [(0xf, true), (4, true), (8, true), (16, false), (1 << 31, false)]
        {
            bytes = good.clone();
            bytes[4..8].copy_from_slice(&u32::to_ne_bytes(flags));
            assert_eq!(DmaMap::decode(&bytes).is_ok(), is_known, "{flags:#x}");
        }
        bytes = good.clone();
        bytes.push(0);
        assert_eq!(DmaMap::decode(&bytes), Err(CodecError::TooLong { bytes: 33, needed: 32 }));
        assert_eq!(
            DmaMap::decode(&good[..31]),
            Err(CodecError::TooShort { bytes: 31, needed: 32 })
        );
    }

    #[test]
    fn unmap_reads_back_as_sent() {
        for unmap in [DmaUnmap::All, DmaUnmap::Range { address: 0x1000, bytes: 1 << 63 }] {
            assert_eq!(unmap.encode().len(), 24);
            assert_eq!(DmaUnmap::decode(&unmap.encode()), Ok(unmap));
        }
        let whole = DmaUnmap::Range { address: 1, bytes: u64::MAX };
        assert_eq!(DmaUnmap::decode(&whole.encode()), Ok(whole));
    }

    #[test]
    fn data_match_their_length() {
        let access = DmaAccess { address: 64, count: 3 };
        let bytes = access.encode(&[1, 2, 3]);
        assert_eq!(DmaAccess::decode_data(&bytes), Ok((access, &[1, 2, 3][..])));
        assert!(DmaAccess::decode(&bytes).is_err());
        for wrong in [&bytes[..18], &access.encode(&[1, 2, 3, 4])] {
            assert!(DmaAccess::decode_data(wrong).is_err());
        }
    }

    #[test]
    fn write_reply_may_have_short_count() {
        let bytes = Writer::default().u64(64).u32(3).0;
        let access = DmaAccess { address: 64, count: 3 };
        assert_eq!(DmaAccess::decode_written(&bytes), Ok(access));
        assert_eq!(DmaAccess::decode_written(&access.encode(&[])), Ok(access));
    }
}
