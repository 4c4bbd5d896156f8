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
    /// CPU seconds for a GB of both hosts, where both have been measured.
    pub both_seconds_per_gb: Option<f64>,
    /// The kernel's TCP over both hosts, its bytes not read either.
    pub kernel_ratio: Option<f64>,
}

/// Head of the table.
pub const HEAD: [&str; 9] = [
    "receiving host",
    "MTU",
    "runs",
    "packets an entry",
    "CPU s/GB",
    "spread",
    "times less",
    "both hosts, s/GB",
    "kernel / both",
];

impl Row {
    /// The row of the table.
    pub fn cells(&self) -> [String; 9] {
        let cell = |value: Option<f64>, places| {
            value.map_or_else(String::new, |value| format!("{value:.places$}"))
        };
        [
            self.transport.to_owned(),
            self.mtu.to_string(),
            if self.coalesce { "on" } else { "off" }.to_owned(),
            format!("{:.1}", self.packets_per_entry),
            format!("{:.4}", self.seconds_per_gb),
            format!("{:.1} %", 100.0 * self.spread),
            cell(self.times_less, 1),
            cell(self.both_seconds_per_gb, 4),
            cell(self.kernel_ratio, 1),
        ]
    }
}
