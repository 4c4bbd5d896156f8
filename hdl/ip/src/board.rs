//! The boards that the card is built for, and what differs between their hard blocks.

/// A board that the card is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Completions that its PCIe hard block stores.
    pub completion_buffer: CompletionBuffer,
}

/// The boards, best known first.
pub const BOARDS: &[Board] = &[Board {
    name: "vcu118",
    description: "AMD VCU118, Virtex UltraScale+ VU9P, PCIe 3.0 x16, one 100G port",
    completion_buffer: CompletionBuffer::PCIE4,
}];

/// Completions that a PCIe hard block stores. It discards what exceeds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionBuffer {
    /// Headers, 8 to 256.
    pub headers: u32,
    /// Data, in units of [`CompletionBuffer::UNIT_BYTES`], 32 to 1,984.
    pub data: u32,
}

impl Default for CompletionBuffer {
    fn default() -> Self {
        Self::PCIE4
    }
}

impl CompletionBuffer {
    /// Unit of `data`, in bytes.
    pub const UNIT_BYTES: u32 = 16;

    /// What the PCIE4 block of Virtex UltraScale+ was measured to hold: 256 headers, 28 KiB.
    pub const PCIE4: Self = Self {
        headers: 256,
        data: 1792,
    };

    /// Whether the read engine can keep account of it: the largest read must fit.
    pub fn is_supported(&self) -> bool {
        (8..=256).contains(&self.headers) && (32..=1984).contains(&self.data)
    }
}
