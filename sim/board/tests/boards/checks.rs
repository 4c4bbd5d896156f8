//! What must hold of the pins of a top, as a list of what is wrong.
//!
//! ```text
//!   ports of the top, lines of pins.xdc ──► every port has its pins or a reason, no pin twice,
//!                                           every pad's standard is that of its bank
//! ```

use std::collections::BTreeMap;

use hdl::ports::Port;

/// Ports without a line, and why.
const WITHOUT_PIN: [(&str, &str); 4] = [
    ("pcie_rx_n", "follows from pcie_rx_p"),
    ("pcie_tx_n", "follows from pcie_tx_p"),
    ("qsfp_rx_n", "follows from qsfp_rx_p"),
    ("qsfp_tx_n", "follows from qsfp_tx_p"),
];

/// Ports that have no IO standard: those of transceivers.
const SERIAL: [&str; 8] = [
    "pcie_rx_p",
    "pcie_tx_p",
    "qsfp_rx_p",
    "qsfp_tx_p",
    "pcie_refclk_p",
    "pcie_refclk_n",
    "qsfp_refclk_p",
    "qsfp_refclk_n",
];

/// A property of each bit: name of the bit and value.
fn properties(xdc: &str, name: &str) -> Vec<(String, String)> {
    let start = format!("set_property {name} ");
    let lines = xdc.lines().filter_map(|line| line.strip_prefix(&start));
    let pairs = lines.filter_map(|line| {
        let (value, rest) = line.split_once(" [get_ports { ")?;
        let bit = rest.strip_suffix(" }]")?;
        Some((bit.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

/// The bits of the ports, as constraints name them.
fn bits(ports: &[Port]) -> Vec<(&str, String)> {
    let of_port = |port: &Port| -> Vec<String> {
        match port.bits {
            1 => vec![port.name.clone()],
            bits => (0..bits).map(|bit| format!("{}[{bit}]", port.name)).collect(),
        }
    };
    let bits = ports.iter().flat_map(|port| {
        let bits = of_port(port).into_iter();
        bits.map(move |bit| (port.name.as_str(), bit))
    });
    bits.collect()
}

/// What is wrong with the pins of a top.
pub fn wrong_pins(ports: &[Port], xdc: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let places = properties(xdc, "PACKAGE_PIN");
    let standards = properties(xdc, "IOSTANDARD");
    let mut by_pin: BTreeMap<&str, &str> = BTreeMap::new();
    for (bit, pin) in &places {
        if let Some(other) = by_pin.insert(pin, bit) {
            wrong.push(format!("pin {pin} is at {other} and {bit}"));
        }
    }
    let bits = bits(ports);
    for (bit, _) in places.iter().chain(&standards) {
        if !bits.iter().any(|(_, known)| known == bit) {
            wrong.push(format!("no port has a bit {bit}"));
        }
    }
    for (port, bit) in &bits {
        let has_reason = WITHOUT_PIN.iter().any(|(name, _)| name == port);
        let count = places.iter().filter(|(placed, _)| placed == bit).count();
        if count != usize::from(!has_reason) {
            wrong.push(format!("{bit} has {count} pins"));
        }
        let is_serial = has_reason || SERIAL.contains(port);
        let count = standards.iter().filter(|(named, _)| named == bit).count();
        if count != usize::from(!is_serial) {
            wrong.push(format!("{bit} has {count} IO standards"));
        }
    }
    wrong
}

/// IO standards that the board's banks do not have: `banks` says which voltage each pin has.
pub fn wrong_voltages(xdc: &str, banks: &[(&str, &str)]) -> Vec<String> {
    let places: BTreeMap<String, String> = properties(xdc, "PACKAGE_PIN").into_iter().collect();
    let standards = properties(xdc, "IOSTANDARD");
    let wrong = standards.iter().filter_map(|(bit, standard)| {
        let pin = places.get(bit)?;
        let (_, wanted) = banks.iter().find(|(known, _)| known == pin)?;
        (standard != wanted).then(|| format!("{bit} at {pin} is {standard}, not {wanted}"))
    });
    wrong.collect()
}
