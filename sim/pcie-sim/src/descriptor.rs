//! Bit positions of the hard block's descriptors and side bands: the only place that knows them.
//!
//! ```text
//!   descriptor (dwords 0..3 or 0..2 of a packet)      tuser (per beat)
//!   RQ, CQ: 128 bits   RC, CC: 96 bits                RQ 137  RC 161  CQ 183  CC 81 bits
//! ```
//!
//! A [`Field`] is a place in a little-endian array of 32-bit words. Dword-aligned mode: payload
//! follows the descriptor at once. Parity is disabled.
//!
//! Source: PG213, tables of the requester and completer interfaces at 512 bit.

/// A group of bits in an array of 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    low: usize,
    bits: usize,
}

impl Field {
    /// `bits` bits from bit `low` on; at most 64.
    pub const fn at(low: usize, bits: usize) -> Self {
        assert!(bits >= 1 && bits <= 64);
        Self { low, bits }
    }

    /// The value in `words`.
    pub fn get(self, words: &[u32]) -> u64 {
        let (word, shift) = (self.low / 32, self.low % 32);
        let mut value = 0u128;
        for (i, w) in words[word..].iter().take((shift + self.bits).div_ceil(32)).enumerate() {
            value |= u128::from(*w) << (32 * i);
        }
        (value >> shift) as u64 & (u64::MAX >> (64 - self.bits))
    }

    /// The single bit in `words`.
    pub fn is_set(self, words: &[u32]) -> bool {
        self.get(words) != 0
    }

    /// Writes the low bits of `value`; the others of `words` stay.
    pub fn set(self, words: &mut [u32], value: u64) {
        let (word, shift) = (self.low / 32, self.low % 32);
        let mask = u128::from(u64::MAX >> (64 - self.bits)) << shift;
        let value = (u128::from(value) << shift) & mask;
        for (i, w) in words[word..].iter_mut().take((shift + self.bits).div_ceil(32)).enumerate() {
            *w = (*w & !((mask >> (32 * i)) as u32)) | (value >> (32 * i)) as u32;
        }
    }
}

/// Request types of the RQ and CQ descriptors.
pub mod request_type {
    /// Memory read.
    pub const MEMORY_READ: u8 = 0;
    /// Memory write.
    pub const MEMORY_WRITE: u8 = 1;
}

/// Error codes of the RC descriptor.
pub mod error_code {
    /// Normal termination.
    pub const NONE: u8 = 0;
    /// The completion is poisoned.
    pub const POISONED: u8 = 1;
    /// Unsupported request, completer abort or configuration retry.
    pub const BAD_STATUS: u8 = 2;
    /// No data, or more bytes than expected.
    pub const BAD_LENGTH: u8 = 3;
    /// Requester id, traffic class or attributes differ from the request.
    pub const MISMATCH: u8 = 4;
    /// Lower address differs from the next expected byte.
    pub const BAD_ADDRESS: u8 = 5;
    /// No outstanding request with this tag.
    pub const BAD_TAG: u8 = 6;
    /// Ended by a function level reset.
    pub const FUNCTION_RESET: u8 = 8;
    /// Ended by the completion timeout.
    pub const TIMEOUT: u8 = 9;
}

/// Completion status of the RC and CC descriptors.
pub mod status {
    /// Successful completion.
    pub const SUCCESS: u8 = 0;
    /// Unsupported request.
    pub const UNSUPPORTED_REQUEST: u8 = 1;
    /// Completer abort.
    pub const COMPLETER_ABORT: u8 = 4;
}

/// Fields of the 128-bit descriptor of a requester request.
pub mod rq {
    use super::Field;
    /// Address type.
    pub const ADDRESS_TYPE: Field = Field::at(0, 2);
    /// Address without its two low bits.
    pub const ADDRESS: Field = Field::at(2, 62);
    /// Dwords, 1024 is 0x400.
    pub const DWORD_COUNT: Field = Field::at(64, 11);
    /// Request type.
    pub const TYPE: Field = Field::at(75, 4);
    /// Poisoned request.
    pub const POISONED: Field = Field::at(79, 1);
    /// Requester id.
    pub const REQUESTER_ID: Field = Field::at(80, 16);
    /// Tag.
    pub const TAG: Field = Field::at(96, 8);
    /// Completer id.
    pub const COMPLETER_ID: Field = Field::at(104, 16);
    /// The requester id of the descriptor is used.
    pub const REQUESTER_ID_ENABLE: Field = Field::at(120, 1);
    /// Traffic class.
    pub const TRAFFIC_CLASS: Field = Field::at(121, 3);
    /// No snoop, relaxed ordering, id-based ordering.
    pub const ATTRIBUTES: Field = Field::at(124, 3);
    /// Force ECRC.
    pub const FORCE_ECRC: Field = Field::at(127, 1);
}

/// Fields of the 128-bit descriptor of a completer request.
pub mod cq {
    use super::Field;
    /// Address type.
    pub const ADDRESS_TYPE: Field = Field::at(0, 2);
    /// Address without its two low bits.
    pub const ADDRESS: Field = Field::at(2, 62);
    /// Dwords.
    pub const DWORD_COUNT: Field = Field::at(64, 11);
    /// Request type.
    pub const TYPE: Field = Field::at(75, 4);
    /// Requester id.
    pub const REQUESTER_ID: Field = Field::at(80, 16);
    /// Tag.
    pub const TAG: Field = Field::at(96, 8);
    /// BAR that was hit.
    pub const BAR_ID: Field = Field::at(112, 3);
    /// Binary logarithm of the size of that BAR.
    pub const BAR_APERTURE: Field = Field::at(115, 6);
    /// Traffic class.
    pub const TRAFFIC_CLASS: Field = Field::at(121, 3);
    /// Attributes.
    pub const ATTRIBUTES: Field = Field::at(124, 3);
}

/// Fields of the 96-bit descriptor of a requester completion.
pub mod rc {
    use super::Field;
    /// Low 12 bits of the address of the first byte.
    pub const LOWER_ADDRESS: Field = Field::at(0, 12);
    /// Error code.
    pub const ERROR_CODE: Field = Field::at(12, 4);
    /// Bytes from here to the end of the request.
    pub const BYTE_COUNT: Field = Field::at(16, 13);
    /// Locked read.
    pub const LOCKED: Field = Field::at(29, 1);
    /// Last completion of the request.
    pub const REQUEST_COMPLETED: Field = Field::at(30, 1);
    /// Dwords of payload.
    pub const DWORD_COUNT: Field = Field::at(32, 11);
    /// Completion status.
    pub const STATUS: Field = Field::at(43, 3);
    /// Poisoned payload.
    pub const POISONED: Field = Field::at(46, 1);
    /// Requester id.
    pub const REQUESTER_ID: Field = Field::at(48, 16);
    /// Tag.
    pub const TAG: Field = Field::at(64, 8);
    /// Completer id.
    pub const COMPLETER_ID: Field = Field::at(72, 16);
    /// Traffic class.
    pub const TRAFFIC_CLASS: Field = Field::at(89, 3);
    /// Attributes.
    pub const ATTRIBUTES: Field = Field::at(92, 3);
}

/// Fields of the 96-bit descriptor of a completer completion.
pub mod cc {
    use super::Field;
    /// Low 7 bits of the address of the first byte.
    pub const LOWER_ADDRESS: Field = Field::at(0, 7);
    /// Address type.
    pub const ADDRESS_TYPE: Field = Field::at(8, 2);
    /// Bytes from here to the end of the request.
    pub const BYTE_COUNT: Field = Field::at(16, 13);
    /// Locked read.
    pub const LOCKED: Field = Field::at(29, 1);
    /// Dwords of payload.
    pub const DWORD_COUNT: Field = Field::at(32, 11);
    /// Completion status.
    pub const STATUS: Field = Field::at(43, 3);
    /// Poisoned payload.
    pub const POISONED: Field = Field::at(46, 1);
    /// Requester id, copied from the request.
    pub const REQUESTER_ID: Field = Field::at(48, 16);
    /// Tag, copied from the request.
    pub const TAG: Field = Field::at(64, 8);
    /// Completer id.
    pub const COMPLETER_ID: Field = Field::at(72, 16);
    /// The completer id of the descriptor is used.
    pub const COMPLETER_ID_ENABLE: Field = Field::at(88, 1);
    /// Traffic class, copied from the request.
    pub const TRAFFIC_CLASS: Field = Field::at(89, 3);
    /// Attributes, copied from the request.
    pub const ATTRIBUTES: Field = Field::at(92, 3);
    /// Force ECRC.
    pub const FORCE_ECRC: Field = Field::at(95, 1);
}

/// Side band of RQ; index 0 is the first TLP that starts (or ends) in the beat.
pub mod rq_user {
    use super::Field;
    /// Byte enables of the first dword.
    pub const FIRST_BE: [Field; 2] = [Field::at(0, 4), Field::at(4, 4)];
    /// Byte enables of the last dword.
    pub const LAST_BE: [Field; 2] = [Field::at(8, 4), Field::at(12, 4)];
    /// Byte offset of the first payload byte; unused in dword-aligned mode.
    pub const ADDRESS_OFFSET: Field = Field::at(16, 4);
    /// One bit per TLP that starts.
    pub const IS_SOP: Field = Field::at(20, 2);
    /// Start in units of four dwords.
    pub const SOP_POINTER: [Field; 2] = [Field::at(22, 2), Field::at(24, 2)];
    /// One bit per TLP that ends.
    pub const IS_EOP: Field = Field::at(26, 2);
    /// Last dword.
    pub const EOP_POINTER: [Field; 2] = [Field::at(28, 4), Field::at(32, 4)];
    /// The TLP is abandoned.
    pub const DISCONTINUE: Field = Field::at(36, 1);
    /// Processing hints present, one bit per TLP.
    pub const TPH_PRESENT: Field = Field::at(37, 2);
    /// Sequence numbers that come back on `pcie_rq_seq_num*`.
    pub const SEQUENCE_NUMBER: [Field; 2] = [Field::at(61, 6), Field::at(67, 6)];
    /// Odd parity per byte.
    pub const PARITY: Field = Field::at(73, 64);
}

/// Side band of RC; up to four TLPs start or end in a beat.
pub mod rc_user {
    use super::Field;
    /// Valid payload bytes.
    pub const BYTE_ENABLE: Field = Field::at(0, 64);
    /// One bit per TLP that starts.
    pub const IS_SOP: Field = Field::at(64, 4);
    /// Start in units of four dwords.
    pub const SOP_POINTER: [Field; 4] =
        [Field::at(68, 2), Field::at(70, 2), Field::at(72, 2), Field::at(74, 2)];
    /// One bit per TLP that ends.
    pub const IS_EOP: Field = Field::at(76, 4);
    /// Last dword.
    pub const EOP_POINTER: [Field; 4] =
        [Field::at(80, 4), Field::at(84, 4), Field::at(88, 4), Field::at(92, 4)];
    /// Uncorrectable error in the receive buffer.
    pub const DISCONTINUE: Field = Field::at(96, 1);
}

/// Side band of CQ with straddle off.
pub mod cq_user {
    use super::Field;
    /// Byte enables of the first dword.
    pub const FIRST_BE: Field = Field::at(0, 4);
    /// Byte enables of the last dword.
    pub const LAST_BE: Field = Field::at(8, 4);
    /// Valid payload bytes.
    pub const BYTE_ENABLE: Field = Field::at(16, 64);
    /// Bit 0: a TLP starts in this beat.
    pub const IS_SOP: Field = Field::at(80, 2);
    /// Bit 0: the TLP ends in this beat.
    pub const IS_EOP: Field = Field::at(86, 2);
    /// Last dword.
    pub const EOP_POINTER: Field = Field::at(88, 4);
    /// Uncorrectable error in the receive buffer.
    pub const DISCONTINUE: Field = Field::at(96, 1);
}

/// Side band of CC with straddle off.
pub mod cc_user {
    use super::Field;
    /// The TLP is abandoned.
    pub const DISCONTINUE: Field = Field::at(16, 1);
}

/// Bit 1 of the attributes: relaxed ordering.
pub const RELAXED_ORDERING: u8 = 0b010;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_crosses_words_and_leaves_neighbours() {
        let mut words = [u32::MAX; 4];
        let field = Field::at(30, 40);
        field.set(&mut words, 0x12_3456_789a);
        assert_eq!(field.get(&words), 0x12_3456_789a);
        assert_eq!(words[0] & 0x3fff_ffff, 0x3fff_ffff);
        assert_eq!(words[2] >> 6, u32::MAX >> 6);
        assert_eq!(words[3], u32::MAX);
    }

    #[test]
    fn widest_field_may_be_unaligned() {
        let mut words = [0; 5];
        rq_user::PARITY.set(&mut words, u64::MAX);
        assert_eq!(words, [0, 0, !0 << 9, !0, (1 << 9) - 1]);
        assert_eq!(rq_user::PARITY.get(&words), u64::MAX);
    }

    #[test]
    fn sequence_numbers_lie_as_in_guide() {
        let mut words = [0; 5];
        rq_user::SEQUENCE_NUMBER[0].set(&mut words, 0x3f);
        assert_eq!(words, [0, 0x3f << 29, 0x3f >> 3, 0, 0]);
        rq_user::EOP_POINTER[1].set(&mut words, 15);
        assert_eq!(words[1] & 0xf, 15);
    }

    /// PG213: bit 14 of the second dword, in both directions.
    #[test]
    fn poisoned_completions_are_marked_as_guided() {
        for field in [cc::POISONED, rc::POISONED] {
            let mut words = [0; 3];
            field.set(&mut words, 1);
            assert_eq!(words, [0, 1 << 14, 0]);
        }
    }

    #[test]
    fn request_fields_tile_the_descriptor() {
        let fields = [
            rq::ADDRESS_TYPE,
            rq::ADDRESS,
            rq::DWORD_COUNT,
            rq::TYPE,
            rq::POISONED,
            rq::REQUESTER_ID,
            rq::TAG,
            rq::COMPLETER_ID,
            rq::REQUESTER_ID_ENABLE,
            rq::TRAFFIC_CLASS,
            rq::ATTRIBUTES,
            rq::FORCE_ECRC,
        ];
        let mut next = 0;
        for field in fields {
            assert_eq!(field.low, next);
            next += field.bits;
        }
        assert_eq!(next, 128);
    }
}
