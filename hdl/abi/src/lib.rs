//! The contract of the card: registers, descriptors, table entries, reasons and sizes.
