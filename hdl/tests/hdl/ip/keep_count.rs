//! Tests of `ip::keep_count`.

use ip::keep_count::*;
use stream::prelude::*;

#[test]
fn every_contiguous_mask_is_counted() {
    let mut block = KeepCount::default();
    block.connect_all();
    for count in 0..=64_u32 {
        let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        block.keep.next = mask.into();
        assert!(simulate(&mut block, 10));
        assert_eq!(block.byte_count.val().index(), count as usize);
    }
}
