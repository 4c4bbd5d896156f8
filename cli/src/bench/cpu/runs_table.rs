//! The table of the receiving host with and without runs.

use serde::Serialize;

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The protocol, and how packets come.
    pub transport: &'static str,
    /// Size of an IP packet, bytes.
    pub mtu: u16,
    /// Whether received packets are summed up.
    pub coalesce: bool,
    /// CPU seconds for a GB of the receiving host alone.
    pub seconds_per_gb: f64,
    /// The middle half of the repetitions over their median.
    pub spread: f64,
    /// Packets for each header entry.
    pub packets_per_entry: f64,
    /// How many times less it is than without.
    pub times_less: Option<f64>,
}

/// Head of the table.
pub const HEAD: [&str; 7] =
    ["receiving host", "MTU", "runs", "packets an entry", "CPU s/GB", "spread", "times less"];

impl Row {
    /// The row of the table.
    pub fn cells(&self) -> [String; 7] {
        [
            self.transport.to_owned(),
            self.mtu.to_string(),
            if self.coalesce { "on" } else { "off" }.to_owned(),
            format!("{:.1}", self.packets_per_entry),
            format!("{:.4}", self.seconds_per_gb),
            format!("{:.1} %", 100.0 * self.spread),
            self.times_less.map_or(String::new(), |times| format!("{times:.1}")),
        ]
    }
}
