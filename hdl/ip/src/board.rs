//! The boards that the card is built for, and how their hard blocks differ.

/// A board that the card is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name on the command line.
    pub name: &'static str,
    /// One line on board, device, link and ports.
    pub description: &'static str,
    /// Size of the completion buffer of its PCIe hard block.
    pub completion_buffer: CompletionBuffer,
}

/// The boards, the best tested first.
pub const BOARDS: &[Board] = &[Board {
    name: "vcu118",
    description: "AMD VCU118, Virtex UltraScale+ VU9P, PCIe 3.0 x16, one 100G port",
    completion_buffer: CompletionBuffer::PCIE4,
}];

/// Size of the completion buffer of a PCIe hard block. The block discards completions beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionBuffer {
    /// Number of headers, 8 to 256.
    pub headers: u32,
    /// Amount of data in units of [`CompletionBuffer::UNIT_BYTES`], 32 to 1,984.
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

    /// The PCIE4 block of Virtex UltraScale+, as measured: 256 headers, 28 KiB.
    pub const PCIE4: Self = Self {
        headers: 256,
        data: 1792,
    };

    /// Whether the read engine can account for a buffer of this size: the largest read must fit.
    pub fn is_supported(&self) -> bool {
        (8..=256).contains(&self.headers) && (32..=1984).contains(&self.data)
    }
}
