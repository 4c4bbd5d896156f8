//! Ranges against a list of booleans.

use rand::Rng;
use tcp::ranges::{Range, Ranges};

const SIZE: u64 = 200;
const RANGES_MAX: usize = 12;

/// The runs of `true`.
fn runs(model: &[bool]) -> Vec<Range> {
    let mut found: Vec<Range> = Vec::new();
    for (at, is_in) in (0..).zip(model) {
        match found.last_mut().filter(|last| last.end == at) {
            Some(last) if *is_in => last.end = at + 1,
            _ if *is_in => found.push(Range { start: at, end: at + 1 }),
            _ => {}
        }
    }
    found
}

#[test]
fn ranges_agree_with_boolean_list() {
    let mut random = super::random();
    let (mut refused, mut merged, mut cut) = (0, 0, 0);
    for _ in 0..600 {
        let mut ranges = Ranges::new(RANGES_MAX);
        let mut model = vec![false; SIZE as usize];
        for _ in 0..120 {
            let start = random.random_range(0..SIZE);
            let end = (start + random.random_range(0..12)).min(SIZE);
            let span = start as usize..end as usize;
            let before = runs(&model);
            let mut after = model.clone();
            match random.random_range(0..10) {
                0..=6 => {
                    after[span.clone()].fill(true);
                    let new = model[span].iter().filter(|it| !**it).count() as u64;
                    let is_one_more = runs(&after).len() > RANGES_MAX;
                    let inserted = ranges.insert(start, end);
                    assert_eq!(inserted.is_err(), is_one_more);
                    match inserted {
                        Ok(added) => {
                            let covers = |it: &&Range| start <= it.end && it.start <= end;
                            let grown = before.iter().filter(covers).map(Range::bytes).sum::<u64>();
                            merged += u64::from(grown > 0 && added > 0);
                            assert_eq!(added, new);
                            model = after;
                        }
                        Err(_) => refused += 1,
                    }
                }
                7 => {
                    ranges.remove_below(start);
                    model[..start as usize].fill(false);
                }
                _ => {
                    after[span].fill(false);
                    // Only a removal that cuts a range in a full set loses more than it was asked.
                    if runs(&after).len() <= RANGES_MAX {
                        ranges.remove(start, end);
                        cut += u64::from(runs(&after).len() > before.len());
                        model = after;
                    }
                }
            }
            let expected = runs(&model);
            assert_eq!(ranges.iter().collect::<Vec<_>>(), expected);
            assert_eq!(ranges.bytes(), expected.iter().map(Range::bytes).sum::<u64>());
            assert_eq!(ranges.first(), expected.first().copied());
            let around = expected.iter().find(|it| (it.start..it.end).contains(&start)).copied();
            assert_eq!(ranges.around(start), around);
            let next = expected.iter().find(|it| it.end > start).copied();
            assert_eq!(ranges.next(start), next);
        }
    }
    seed::enough("refused insertions", refused, 100);
    seed::enough("merged ranges", merged, 1_000);
    seed::enough("cut ranges", cut, 500);
}
