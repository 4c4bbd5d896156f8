//! Memory requests to PCIe packets: read and write engines, completer, rings, interrupts.
