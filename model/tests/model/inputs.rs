//! Wrong inputs are refused in one line.

use zeronic_model::cost::evaluate;
use zeronic_model::setup::Setup;
use zeronic_model::table::Table;

fn refusal(setup: &Setup) -> String {
    setup.check().unwrap_err().to_string()
}

#[test]
fn inputs_outside_ranges_are_refused() {
    let usual = Setup::default();
    for (setup, parts) in [
        (Setup { rate_gbps: 0.0, ..usual.clone() }, ["the rate is 0", "25 to 800 Gb/s"]),
        (Setup { rate_gbps: f64::NAN, ..usual.clone() }, ["the rate is NaN", "25 to 800 Gb/s"]),
        (Setup { loss: 1.0, ..usual.clone() }, ["the loss is 1", "0 to 0.1"]),
        (Setup { message_bytes: 1e9, ..usual.clone() }, ["the message is", "67108864 bytes"]),
        (Setup { mtu_bytes: 60.0, ..usual.clone() }, ["the MTU is 60", "576"]),
        (Setup { core_factor: 0.0, ..usual.clone() }, ["core's speed is 0", "0.2"]),
        (Setup { generation: 7, ..usual.clone() }, ["PCIe generation is 7", "3 to 6"]),
        (Setup { lanes: 3, ..usual.clone() }, ["no width \"3\"", "16"]),
    ] {
        let line = refusal(&setup);
        assert_eq!(line.lines().count(), 1);
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
}

#[test]
fn unknown_paths_name_known_ones() {
    let error = evaluate(&Table::read().unwrap(), "carrier-pigeon", &Setup::default());
    let line = error.unwrap_err().to_string();
    assert!(line.contains("carrier-pigeon") && line.contains("zcrx, devmem, roce"), "{line}");
}
