//! A netlist as Yosys's `write_json` leaves it: modules with ports, cells and net names.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A bit of a net: its number in the module, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bit {
    /// Number of the net in its module.
    Net(u32),
    /// 0, 1, x or z.
    Constant,
}

impl Bit {
    /// The number of the net; none for a constant.
    pub fn net(self) -> Option<u32> {
        match self {
            Bit::Net(number) => Some(number),
            Bit::Constant => None,
        }
    }
}

impl<'de> Deserialize<'de> for Bit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Bit, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bit;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the number of a net, or a constant")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Bit, E> {
                u32::try_from(number).map(Bit::Net).map_err(E::custom)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Bit, E> {
                match text {
                    "0" | "1" | "x" | "z" => Ok(Bit::Constant),
                    other => Err(E::custom(format!("'{other}' is no constant"))),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A port of a module.
#[derive(Debug, Deserialize)]
pub struct Port {
    /// `input`, `output` or `inout`.
    pub direction: String,
    /// Bits, least significant first.
    pub bits: Vec<Bit>,
}

/// A primitive, or an instance of a module.
#[derive(Debug, Deserialize)]
pub struct Cell {
    /// Name of the primitive or module.
    #[serde(rename = "type")]
    pub kind: String,
    /// Settings of a primitive.
    #[serde(default)]
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Direction of each port.
    #[serde(default)]
    pub port_directions: BTreeMap<String, String>,
    /// What each port is connected to.
    pub connections: BTreeMap<String, Vec<Bit>>,
}

impl Cell {
    /// Whether an output of a BRAM or URAM has its register inside.
    pub fn has_output_register(&self, port: &str) -> bool {
        let set = |name: &str| {
            let value = self.parameters.get(name).and_then(|v| v.as_str());
            value.is_some_and(|value| value == "TRUE" || value.ends_with('1'))
        };
        match port.contains('B') {
            true => set("DOB_REG") || set("OREG_B"),
            false => set("DOA_REG") || set("OREG_A"),
        }
    }

    /// True if a port of the cell is an output.
    pub fn is_output(&self, port: &str) -> bool {
        self.port_directions.get(port).is_some_and(|d| d == "output")
    }
}

/// A name that a designer, or Yosys, gave to bits.
#[derive(Debug, Deserialize)]
pub struct NetName {
    /// 1 for names that Yosys made.
    pub hide_name: u8,
    /// Bits, least significant first.
    pub bits: Vec<Bit>,
}

/// A module.
#[derive(Debug, Deserialize)]
pub struct Module {
    /// Attributes; only their presence counts here.
    #[serde(default)]
    pub attributes: BTreeMap<String, serde_json::Value>,
    /// Ports by name.
    pub ports: BTreeMap<String, Port>,
    /// Cells by name.
    pub cells: BTreeMap<String, Cell>,
    /// Nets by name.
    pub netnames: BTreeMap<String, NetName>,
}

impl Module {
    /// True for the vendor's primitives and cores, of which only the ports are known.
    pub fn is_box(&self) -> bool {
        let has = |name| self.attributes.contains_key(name);
        has("blackbox") || has("whitebox")
    }
}

impl Module {
    /// Bits of a net by its name; 0 if there is no such net.
    pub fn bits_of(&self, net: &str) -> usize {
        self.netnames.get(net).map_or(0, |net| net.bits.len())
    }

    /// The name that a designer gave to each net: of several the shortest, then the first.
    pub fn names(&self) -> BTreeMap<u32, (&str, usize)> {
        let mut names: BTreeMap<u32, (&str, usize)> = BTreeMap::new();
        for (name, net) in self.netnames.iter().filter(|(_, net)| net.hide_name == 0) {
            for (index, bit) in net.bits.iter().enumerate() {
                let Bit::Net(number) = bit else { continue };
                let known = names.entry(*number).or_insert((name, index));
                if name.len() < known.0.len() {
                    *known = (name, index);
                }
            }
        }
        names
    }
}

/// All modules.
#[derive(Debug, Default, Deserialize)]
pub struct Netlist {
    /// Modules by name.
    pub modules: BTreeMap<String, Module>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbers_or_constants() {
        let bits: Vec<Bit> = serde_json::from_str(r#"[2, "0", "x", 17]"#).expect("reads");
        let expected = [Bit::Net(2), Bit::Constant, Bit::Constant, Bit::Net(17)];
        assert_eq!(bits, expected);
        assert!(serde_json::from_str::<Vec<Bit>>(r#"["y"]"#).is_err());
    }
}
