//! Transaction layer packets, and the arithmetic of byte enables and boundaries.
//!
//! ```text
//!   Request  (memory read or write)   --up-->   <--down--   (register read or write)
//!   Completion                        --up-->   <--down--
//! ```
//!
//! Invariants: payload is whole dwords; a request's address is that of its first dword.
//!
//! Source: PCI Express Base 3.0, 2.2.5 (byte enables), 2.3.1.1 (read completion boundary).

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Memory read.
    Read,
    /// Memory write.
    Write,
}

/// A memory request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub kind: RequestKind,
    /// Address of the first dword.
    pub address: u64,
    /// Dwords, 1 to 1024.
    pub dword_count: u16,
    /// Byte enables of the first dword.
    pub first_be: u8,
    /// Byte enables of the last dword; 0 when there is only one.
    pub last_be: u8,
    /// Tag; without meaning for a write.
    pub tag: u8,
    /// Requester id.
    pub requester_id: u16,
    /// Traffic class.
    pub traffic_class: u8,
    /// No snoop, relaxed ordering, id-based ordering.
    pub attributes: u8,
    /// Payload of a write.
    pub payload: Vec<u32>,
    /// Number of function level resets before it was issued.
    pub(crate) epoch: u32,
}

impl Request {
    /// A read of `bytes` bytes from byte address `address`; zero bytes make a flush.
    pub fn read(address: u64, bytes: usize, tag: u8) -> Self {
        let (dword_count, first_be, last_be) = enables(address, bytes);
        Self {
            kind: RequestKind::Read,
            address: address & !3,
            dword_count,
            first_be,
            last_be,
            tag,
            requester_id: 0,
            traffic_class: 0,
            attributes: 0,
            payload: Vec::new(),
            epoch: 0,
        }
    }

    /// A write of `bytes` to byte address `address`.
    pub fn write(address: u64, bytes: &[u8]) -> Self {
        let mut request = Self::read(address, bytes.len(), 0);
        request.kind = RequestKind::Write;
        request.payload = pack_bytes(address, bytes, request.dword_count);
        request
    }

    /// Whether the relaxed ordering attribute is set.
    pub fn is_relaxed(&self) -> bool {
        self.attributes & crate::descriptor::RELAXED_ORDERING != 0
    }

    /// Offset of the first enabled byte in the first dword; 0 when none is.
    pub fn first_offset(&self) -> u32 {
        match self.first_be & 0xf {
            0 => 0,
            be => be.trailing_zeros(),
        }
    }

    /// Address of the first enabled byte.
    pub fn first_byte(&self) -> u64 {
        self.address + u64::from(self.first_offset())
    }

    /// Bytes from the first to the last enabled one; 1 for a zero-length request (2.3.1.1).
    pub fn byte_count(&self) -> u32 {
        let last = match (self.dword_count, self.first_be & 0xf, self.last_be & 0xf) {
            (1, 0, _) => return 1,
            (1, first, _) => first,
            (_, _, last) => last,
        };
        let last_offset = 7 - last.leading_zeros().min(7);
        u32::from(self.dword_count) * 4 - 4 + last_offset + 1 - self.first_offset()
    }

    /// No byte is enabled: a read that only flushes, a write that writes nothing.
    pub fn is_zero_length(&self) -> bool {
        self.dword_count == 1 && self.first_be & 0xf == 0
    }

    /// Byte enables of dword `index`.
    pub fn enables_of(&self, index: usize) -> u8 {
        if index == 0 {
            self.first_be & 0xf
        } else if index + 1 == usize::from(self.dword_count) {
            self.last_be & 0xf
        } else {
            0xf
        }
    }
}

/// A completion of a memory request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Requester id.
    pub requester_id: u16,
    /// Completer id.
    pub completer_id: u16,
    /// Tag of the request.
    pub tag: u8,
    /// Completion status.
    pub status: u8,
    /// Low 7 bits of the address of the first byte.
    pub lower_address: u8,
    /// Bytes from here to the end of the request.
    pub byte_count: u16,
    /// The payload is known to be wrong.
    pub poisoned: bool,
    /// Traffic class.
    pub traffic_class: u8,
    /// Attributes.
    pub attributes: u8,
    /// Payload, whole dwords.
    pub payload: Vec<u32>,
    /// Epoch of the request.
    pub(crate) epoch: u32,
}

/// Dword count and byte enables of `bytes` bytes from byte address `address`.
pub fn enables(address: u64, bytes: usize) -> (u16, u8, u8) {
    let offset = (address & 3) as usize;
    if bytes == 0 {
        return (1, 0, 0);
    }
    let dword_count = (offset + bytes).div_ceil(4) as u16;
    let first = (0xf << offset) as u8 & 0xf;
    let last = 0xf >> (3 - (offset + bytes - 1) % 4);
    match dword_count {
        1 => (1, first & last, 0),
        _ => (dword_count, first, last),
    }
}

/// Places `bytes` at the byte offset of `address` in `dword_count` dwords.
pub fn pack_bytes(address: u64, bytes: &[u8], dword_count: u16) -> Vec<u32> {
    let mut dwords = vec![0u32; usize::from(dword_count)];
    for (i, byte) in bytes.iter().enumerate() {
        let at = (address & 3) as usize + i;
        dwords[at / 4] |= u32::from(*byte) << (8 * (at % 4));
    }
    dwords
}

/// Completion headers that `bytes` bytes from `address` can need at most when cut at `rcb`.
pub fn completion_headers_max(address: u64, bytes: u32, rcb: u32) -> u32 {
    ((address % u64::from(rcb)) as u32 + bytes).div_ceil(rcb)
}

/// Completion data credits (16 bytes) that `bytes` bytes from `address` occupy at most.
pub fn completion_data_max(address: u64, bytes: u32) -> u32 {
    ((address % 16) as u32 + bytes).div_ceil(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enables_cover_exactly_the_bytes() {
        for address in 0..8u64 {
            for bytes in 1..40usize {
                let request = Request::read(0x1000 + address, bytes, 0);
                let set: u32 = (0..usize::from(request.dword_count))
                    .map(|i| request.enables_of(i).count_ones())
                    .sum();
                assert_eq!(set as usize, bytes);
                assert_eq!(request.first_byte(), 0x1000 + address);
                assert_eq!(request.byte_count() as usize, bytes);
            }
        }
    }

    #[test]
    fn zero_length_read_counts_one_byte() {
        let flush = Request::read(0x1002, 0, 5);
        assert!(flush.is_zero_length());
        assert_eq!((flush.dword_count, flush.byte_count(), flush.first_byte()), (1, 1, 0x1000));
    }

    #[test]
    fn holes_count_between_enabled_bytes() {
        let mut request = Request::read(0x1000, 4, 0);
        request.first_be = 0b1010;
        assert_eq!((request.first_offset(), request.byte_count()), (1, 3));
    }

    #[test]
    fn boundaries_count_partial_ends() {
        assert_eq!(completion_headers_max(0x103f, 2, 64), 2);
        assert_eq!(completion_headers_max(0x1040, 64, 64), 1);
        assert_eq!(completion_headers_max(0x1040, 64, 128), 1);
        assert_eq!(completion_data_max(0x100f, 2), 2);
        assert_eq!(completion_data_max(0x1000, 16), 1);
    }

    #[test]
    fn packed_bytes_keep_their_lane() {
        assert_eq!(pack_bytes(3, &[0xaa, 0xbb], 2), vec![0xaa00_0000, 0xbb]);
    }
}
