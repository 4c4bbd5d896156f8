//! How much a PCIe hard block stores of the completions that its reads bring.

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
    pub const PCIE4: Self = Self { headers: 256, data: 1792 };

    /// Whether the read engine can account for a buffer of this size: the largest read must fit.
    pub fn is_supported(&self) -> bool {
        (8..=256).contains(&self.headers) && (32..=1984).contains(&self.data)
    }
}
