//! The emitted card.

use hdl::emit::*;

#[test]
fn card_is_connected_verilog_unambiguous() {
    let card = emit_card("small").expect("a configuration");
    let error = card.as_ref().err().map_or(String::new(), |error| error.to_string());
    assert!(card.is_ok(), "{error}");
    let names = card.map(|card| card.ports).unwrap_or_default();
    assert!(names.iter().all(|port| !port.name.contains('$')), "a bundle at the top");
}
