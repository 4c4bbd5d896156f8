//! Accesses to regions: one, several writes in a message, and descriptors that stand for writes.
//!
//! ```text
//!   access   0 offset │ 8 region │ 12 count │ 16 data, of a write and of a read's reply
//!   many     0 count │ 8 ( 0 offset │ 8 region │ 12 count up to 8 │ 16 data, always 8 ) ...
//!   signals  0 argsz │ 4 0 │ 8 region │ 12 count │ ( ... 40 bytes ) ...
//! ```
//! Invariants
//! 1. Data are as long as they say; nothing follows them.
//!
//! Source: vfio-user protocol specification, VFIO_USER_REGION_READ, REGION_WRITE,
//! REGION_WRITE_MULTI and DEVICE_GET_REGION_IO_FDS.

use super::bytes::{Reader, Writer};
use super::error::CodecError;
use super::memory::{check_argsz, check_range};

/// Bytes of one of several writes.
pub const WRITE_BYTES_MAX: usize = 8;
const WRITE_FIELDS: usize = 24;
const SIGNALS_BYTES: u32 = 16;

/// An access to a region. Its data follow where there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionAccess {
    /// First byte.
    pub offset: u64,
    /// Which region.
    pub region: u32,
    /// Length.
    pub count: u32,
}

impl RegionAccess {
    /// Takes the payload of a read, or of a write's reply, apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let (access, rest) = Self::decode_fields(payload)?;
        rest.end()?;
        Ok(access)
    }

    /// Takes the payload of a write, or of a read's reply, apart.
    pub fn decode_data(payload: &[u8]) -> Result<(Self, &[u8]), CodecError> {
        let (access, mut rest) = Self::decode_fields(payload)?;
        let data = rest.take(access.count as usize)?;
        rest.end()?;
        Ok((access, data))
    }

    fn decode_fields(payload: &[u8]) -> Result<(Self, Reader<'_>), CodecError> {
        let mut fields = Reader::new(payload);
        let access = Self { offset: fields.u64()?, region: fields.u32()?, count: fields.u32()? };
        check_range(access.offset, access.count.into())?;
        Ok((access, fields))
    }

    /// The payload, with data or without.
    pub fn encode(&self, data: &[u8]) -> Vec<u8> {
        Writer::default().u64(self.offset).u32(self.region).u32(self.count).bytes(data).0
    }
}

/// One of several writes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallWrite {
    /// Where.
    pub access: RegionAccess,
    data: [u8; WRITE_BYTES_MAX],
}

impl SmallWrite {
    /// A write; `None` if it has more bytes than one of several can have.
    pub fn new(region: u32, offset: u64, bytes: &[u8]) -> Option<Self> {
        let mut data = [0; WRITE_BYTES_MAX];
        data.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let access = RegionAccess { offset, region, count: bytes.len() as u32 };
        Some(Self { access, data })
    }

    /// What is written.
    pub fn bytes(&self) -> &[u8] {
        let count = (self.access.count as usize).min(WRITE_BYTES_MAX);
        &self.data[..count]
    }

    /// Takes a message of several writes apart.
    pub fn decode_all(payload: &[u8]) -> Result<Vec<Self>, CodecError> {
        let mut fields = Reader::new(payload);
        let count = usize::try_from(fields.u64()?).unwrap_or(usize::MAX);
        let list = fields.take(count.saturating_mul(WRITE_FIELDS))?;
        fields.end()?;
        list.chunks_exact(WRITE_FIELDS).map(Self::decode_one).collect()
    }

    fn decode_one(fields: &[u8]) -> Result<Self, CodecError> {
        let (access, rest) = RegionAccess::decode_fields(fields)?;
        let write = rest.rest().get(..access.count as usize);
        let write = write.and_then(|bytes| Self::new(access.region, access.offset, bytes));
        let (count, limit) = (access.count.into(), WRITE_BYTES_MAX as u64);
        write.ok_or(CodecError::Count { count, limit })
    }

    /// The message of several writes.
    pub fn encode_all(writes: &[Self]) -> Vec<u8> {
        let mut fields = Writer::default().u64(writes.len() as u64);
        for write in writes {
            let access = &write.access;
            fields = fields.u64(access.offset).u32(access.region).u32(access.count);
            fields = fields.bytes(&write.data);
        }
        fields.0
    }

    /// How many of them were carried out, from the reply.
    pub fn decode_done(payload: &[u8]) -> Result<u64, CodecError> {
        let mut fields = Reader::new(payload);
        let count = fields.u64()?;
        fields.end()?;
        Ok(count)
    }

    /// The reply.
    pub fn encode_done(count: u64) -> Vec<u8> {
        Writer::default().u64(count).0
    }
}

/// The question which descriptors stand for writes to a region, and the answer that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSignals {
    /// Which region.
    pub region: u32,
    /// How many there are; 0 in a question.
    pub count: u32,
}

impl RegionSignals {
    /// Takes a question apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags) = (fields.u32()?, fields.u32()?);
        let (region, count) = (fields.u32()?, fields.u32()?);
        check_argsz(argsz, SIGNALS_BYTES)?;
        match (flags, count) {
            (0, 0) => Ok(Self { region, count }),
            (0, count) => Err(CodecError::Count { count: count.into(), limit: 0 }),
            (flags, _) => Err(CodecError::Flags(flags)),
        }
    }

    /// The question, or the answer that there is none.
    pub fn encode(&self) -> Vec<u8> {
        Writer::default().u32(SIGNALS_BYTES).u32(0).u32(self.region).u32(self.count).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_follows_specification_layout() {
        let access = RegionAccess { offset: 0x10_0004, region: 0, count: 4 };
        let bytes = access.encode(&[1, 2, 3, 4]);
        assert_eq!(bytes, [4, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(RegionAccess::decode_data(&bytes), Ok((access, &[1, 2, 3, 4][..])));
        assert_eq!(RegionAccess::decode(&bytes[..16]), Ok(access));
    }

    #[test]
    fn data_of_wrong_length_are_refused() {
        let access = RegionAccess { offset: 0, region: 0, count: 4 };
        for data in [&[1, 2, 3][..], &[1, 2, 3, 4, 5]] {
            assert!(RegionAccess::decode_data(&access.encode(data)).is_err());
        }
        assert!(RegionAccess::decode(&access.encode(&[1])).is_err());
        let beyond = RegionAccess { offset: u64::MAX, region: 0, count: 2 };
        assert!(matches!(RegionAccess::decode(&beyond.encode(&[])), Err(CodecError::Range { .. })));
    }

    #[test]
    fn several_writes_read_back_as_sent() {
        let writes = [
            SmallWrite::new(0, 0x18, &[1, 2, 3, 4]).unwrap(),
            SmallWrite::new(7, 4, &[6, 0]).unwrap(),
            SmallWrite::new(1, 8, &[9; 8]).unwrap(),
        ];
        let bytes = SmallWrite::encode_all(&writes);
        assert_eq!(bytes.len(), 8 + 3 * 24);
        assert_eq!(SmallWrite::decode_all(&bytes).unwrap(), writes);
        assert_eq!(writes[1].bytes(), [6, 0]);
        assert!(SmallWrite::new(0, 0, &[0; 9]).is_none());
    }

    #[test]
    fn several_writes_match_count_and_lengths() {
        let write = SmallWrite::new(0, 0x18, &[1, 2, 3, 4]).unwrap();
        let good = SmallWrite::encode_all(&[write; 2]);
        for count in [0, 1, 3, u64::MAX] {
            let mut bytes = good.clone();
            bytes[..8].copy_from_slice(&count.to_ne_bytes());
            assert!(SmallWrite::decode_all(&bytes).is_err(), "{count}");
        }
        let mut long = good;
        long[8 + 12] = 9;
        let expected = CodecError::Count { count: 9, limit: 8 };
        assert_eq!(SmallWrite::decode_all(&long), Err(expected));
    }

    #[test]
    fn question_for_signals_names_none() {
        let question = RegionSignals { region: 3, count: 0 };
        assert_eq!(RegionSignals::decode(&question.encode()), Ok(question));
        let wrong = RegionSignals { region: 3, count: 1 };
        let expected = CodecError::Count { count: 1, limit: 0 };
        assert_eq!(RegionSignals::decode(&wrong.encode()), Err(expected));
    }
}
