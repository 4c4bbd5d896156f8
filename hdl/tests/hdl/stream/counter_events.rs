//! Tests of `stream::counter_events`.

use abi::counters::COUNTER_GROUPS;
use stream::counter_events::*;
use stream::prelude::*;

fn fields<T: Synth>() -> Vec<String> {
    match T::descriptor().kind {
        TypeKind::Composite(fields) => fields.iter().map(|it| it.fieldname.clone()).collect(),
        kind => panic!("no struct: {kind:?}"),
    }
}

#[test]
fn fields_are_the_contracts_counters() {
    let structs = [
        fields::<WorkEvents>(),
        fields::<FaultEvents>(),
        fields::<RequestEvents>(),
        fields::<ReadEvents>(),
        fields::<LatencyEvents>(),
        fields::<PathEndEvents>(),
        fields::<WireEvents>(),
        fields::<BoardEvents>(),
        fields::<RunEvents>(),
    ];
    let named = |counters: &[abi::counters::Counter]| -> Vec<String> {
        counters.iter().map(|counter| counter.name.to_owned()).collect()
    };
    let groups: Vec<_> = COUNTER_GROUPS.iter().map(|it| named(it.counters)).collect();
    assert_eq!(groups, structs);
}

#[test]
fn first_counter_is_bit_0() {
    let events = WorkEvents { tx_frames: true, ..Default::default() };
    assert_eq!(Bits::<8>::from(events), bits::<8>(2));
}
