//! The tables against their model.

use sim::bench::Bench;

#[test]
fn tables_become_a_model() {
    let bench = Bench::of(&mut tables::SmallTables::default(), "tables").expect("builds");
    assert_eq!(bench.get("confirmation$valid"), 0);
}
