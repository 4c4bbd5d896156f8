//! Message payloads as bytes: structs of the kernel language packed and taken apart by name.
//!
//! Bit 0 of the first field is bit 0 of byte 0; fields follow each other without gaps.

use rust_hdl_core::prelude::{Synth, TypeDescriptor, TypeKind};

/// The bits of a value, least significant byte first.
pub fn bytes_of<T: Synth>(value: T) -> Vec<u8> {
    let text = format!("{:x}", value.verilog());
    let digits = text.rsplit("'h").next().unwrap_or_default().as_bytes();
    let mut bytes = vec![0; T::BITS.div_ceil(8)];
    for (index, digit) in digits.iter().rev().enumerate() {
        let nibble = char::from(*digit).to_digit(16).expect("the format is hexadecimal") as u8;
        bytes[index / 2] |= nibble << (4 * (index % 2));
    }
    bytes
}

/// Reads field `name` (up to 64 bits) of the packed struct `T`; nested fields as `outer.inner`.
///
/// # Panics
/// If there is no such field or it is wider than 64 bits.
pub fn field<T: Synth>(bytes: &[u8], name: &str) -> u64 {
    let descriptor = T::descriptor();
    let (offset, bits) = locate(&descriptor, name)
        .unwrap_or_else(|| panic!("`{}` has no field `{name}`", descriptor.name));
    assert_eq!(bits_of(&descriptor), T::BITS, "`{}` is packed another way", descriptor.name);
    assert!(bits <= 64, "field `{name}` is {bits} bits");
    (0..bits).fold(0, |value, bit| {
        let position = offset + bit;
        let is_set = bytes[position / 8] >> (position % 8) & 1;
        value | u64::from(is_set) << bit
    })
}

/// First bit and width of field `name` in the packed struct `T`.
///
/// # Panics
/// If there is no such field.
pub fn place<T: Synth>(name: &str) -> (usize, usize) {
    let descriptor = T::descriptor();
    locate(&descriptor, name)
        .unwrap_or_else(|| panic!("`{}` has no field `{name}`", descriptor.name))
}

fn locate(descriptor: &TypeDescriptor, name: &str) -> Option<(usize, usize)> {
    let TypeKind::Composite(fields) = &descriptor.kind else { return None };
    let (head, rest) = name.split_once('.').map_or((name, None), |(a, b)| (a, Some(b)));
    let mut offset = 0;
    for field in fields {
        let bits = bits_of(&field.kind);
        if field.fieldname == head {
            return match rest {
                None => Some((offset, bits)),
                Some(rest) => locate(&field.kind, rest).map(|(inner, bits)| (offset + inner, bits)),
            };
        }
        offset += bits;
    }
    None
}

fn bits_of(descriptor: &TypeDescriptor) -> usize {
    match &descriptor.kind {
        TypeKind::Bits(bits) | TypeKind::Signed(bits) => *bits,
        TypeKind::Enum(names) => names.len().next_power_of_two().trailing_zeros().max(1) as usize,
        TypeKind::Composite(fields) => fields.iter().map(|field| bits_of(&field.kind)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl_core::prelude::*;

    #[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
    struct Inner {
        low: Bits<5>,
        high: Bits<48>,
    }

    #[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
    struct Outer {
        flag: Bit,
        key: Bits<384>,
        inner: Inner,
    }

    #[test]
    fn fields_come_back_by_name() {
        let inner = Inner { low: 0x13.into(), high: 0xabcd_1234_5678.into() };
        let value = Outer { flag: true, key: 7.into(), inner };
        let bytes = bytes_of(value);
        assert_eq!(bytes.len(), (1_usize + 384 + 53).div_ceil(8));
        assert_eq!(field::<Outer>(&bytes, "flag"), 1);
        assert_eq!(field::<Outer>(&bytes, "inner.low"), 0x13);
        assert_eq!(field::<Outer>(&bytes, "inner.high"), 0xabcd_1234_5678);
        assert_eq!(bytes[0], 7 << 1 | 1);
    }

    #[test]
    #[should_panic(expected = "no field `nothing`")]
    fn unknown_field_is_named() {
        field::<Inner>(&[0; 8], "nothing");
    }
}
