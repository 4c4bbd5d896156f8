//! Transaction-layer model of the PCIe link, root complex, IOMMU and memories.
