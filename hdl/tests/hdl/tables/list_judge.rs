//! Tests of `tables::segment_list::list_judge`.

use stream::prelude::*;
use tables::messages::{ListOperation, ListState, ListUpdate};
use tables::segment_list::list_judge::*;

/// `full` and `range_bad` of a change of the list (base, mask, head, tail).
fn judged(list: [u64; 4], change: ListUpdate) -> (bool, bool) {
    let mut dut = ListJudge::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    dut.list.next = ListState {
        base: list[0].into(),
        mask: list[1].into(),
        head: list[2].into(),
        tail: list[3].into(),
    };
    dut.change.next = change;
    assert!(simulate(&mut dut, 20));
    (dut.full.val(), dut.range_bad.val())
}

const FINE: (bool, bool) = (false, false);
const FULL: (bool, bool) = (true, false);
const RANGE: (bool, bool) = (false, true);

fn post(index: u64, bytes: u64) -> ListUpdate {
    let mut change =
        ListUpdate { operation: ListOperation::Post, index: index.into(), ..ListUpdate::default() };
    change.entry.bytes = bytes.into();
    change
}

#[test]
fn tail_posts_succeed_until_list_full() {
    let wrapped = [64, 7, 0xfffc, 3];
    assert_eq!(judged(wrapped, post(3, 1)), FINE);
    assert_eq!(judged(wrapped, post(4, 1)), FULL);
    assert_eq!(judged([64, 7, 0xfffc, 4], post(4, 1)), FULL);
    assert_eq!(judged(wrapped, post(3, 0)), RANGE);
    assert_eq!(judged(wrapped, post(3, 1 << 30)), FINE);
    assert_eq!(judged(wrapped, post(3, (1 << 30) + 1)), RANGE);
    assert_eq!(judged(wrapped, post(9, 0)), (true, true));
}

#[test]
fn list_moves_only_without_overlap() {
    let to = |base: u64, mask: u64| ListUpdate {
        operation: ListOperation::Move,
        base: base.into(),
        mask: mask.into(),
        ..ListUpdate::default()
    };
    let list = [64, 7, 0, 5];
    assert_eq!(judged(list, to(72, 7)), FINE);
    assert_eq!(judged(list, to(71, 7)), RANGE);
    assert_eq!(judged(list, to(56, 7)), FINE);
    assert_eq!(judged(list, to(57, 7)), RANGE);
    assert_eq!(judged(list, to(72, 3)), FULL);
    assert_eq!(judged([64, 7, 5, 5], to(64, 3)), FINE);
}
