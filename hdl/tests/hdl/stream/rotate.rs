//! Tests of `stream::rotate`.

use stream::prelude::*;

/// Bytes 1, 2, 3, ... as one value.
fn counted<const BITS: usize>() -> Bits<BITS> {
    (0..BITS / 8).rev().fold(Bits::default(), |all, byte| {
        (all << 8) | bit_cast::<BITS, 8>((byte as u64 + 1).to_bits())
    })
}

fn check<const BITS: usize>(result: Bits<BITS>, bytes: usize) {
    for byte in 0..BITS / 8 {
        let expected = (byte + bytes) % (BITS / 8) + 1;
        assert_eq!(result.get_bits::<8>(8 * byte).index(), expected);
    }
}

#[test]
fn every_byte_is_rotated_right() {
    let (mut whole, mut dwords) = (Rotate::default(), RotateDwords::default());
    let mut block = RotateBlock::default();
    whole.connect_all();
    dwords.connect_all();
    block.connect_all();
    whole.data.next = counted();
    dwords.data.next = counted();
    block.data.next = counted();
    for bytes in 0..64u64 {
        whole.bytes.next = bytes.to_bits();
        assert!(simulate(&mut whole, 20));
        check(whole.result.val(), bytes as usize);
    }
    for count in 0..16u64 {
        dwords.dwords.next = count.to_bits();
        assert!(simulate(&mut dwords, 20));
        check(dwords.result.val(), 4 * count as usize);
        block.bytes.next = count.to_bits();
        assert!(simulate(&mut block, 20));
        check(block.result.val(), count as usize);
    }
}
