//! The figures of many connections.

use serde::Serialize;

use super::BYTES;

/// The figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte is right.
    pub ok: bool,
    /// Connections.
    pub connections: u32,
    /// Wall time to open all, seconds.
    pub opening_seconds: f64,
    /// Wall time until each has sent and received 1 KiB.
    pub using_seconds: f64,
    /// Wall time to close all.
    pub closing_seconds: f64,
    /// All three.
    pub seconds: f64,
    /// Heap of the host stack that came with each of them, null protocol included, bytes.
    pub bytes_per_connection: f64,
    /// Memory of the process that came with each of them: host stack, model of the card and far
    /// end, buffers apart, bytes. `None` where the system does not say, or memory that was freed
    /// before may have been used again.
    pub resident_bytes_per_connection: Option<f64>,
    /// Payload bytes that the host has copied.
    pub copied_bytes: u64,
}

impl Report {
    /// Names and figures.
    pub fn rows(&self) -> Vec<[String; 2]> {
        let row = |name: &str, figure: String| [name.to_owned(), figure];
        let seconds = |seconds: f64| format!("{seconds:.2} s");
        let mut rows = vec![
            row("opened in", seconds(self.opening_seconds)),
            row(&format!("each sent and received {BYTES} bytes in"), seconds(self.using_seconds)),
            row("closed in", seconds(self.closing_seconds)),
            row("together", seconds(self.seconds)),
            row(
                "heap of the host stack, a connection",
                format!("{:.0} bytes", self.bytes_per_connection),
            ),
            row("copied by the host", format!("{} bytes", self.copied_bytes)),
        ];
        rows.extend(self.resident_bytes_per_connection.map(|bytes| {
            let name = "resident, with card and far end, a connection";
            row(name, format!("{bytes:.0} bytes"))
        }));
        rows
    }
}
