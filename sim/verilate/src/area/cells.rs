//! What the primitives of UltraScale+ are to a path: where it starts, passes and ends, and how much
//! of the device they take.
//!
//! | primitive | passes | counts |
//! |---|---|---|
//! | `LUT1` to `LUT6`, `INV` | inputs to output | 1 level |
//! | `MUXF7` to `MUXF9` | inputs to output | 0: in the slice of their LUTs, no routing between |
//! | `CARRY4`, `CARRY8` | inputs to sums and carries | 1 per 16 bits begun; and 1 to enter |
//! | distributed RAM, shift registers | read address to output | 1 level |
//! | flip-flops, BRAM, URAM, DSP | nothing | paths end at the inputs and start at the outputs |
//! | BRAM, URAM without their output register | nothing | 3 levels at the start |
//!
//! A LUT that feeds a carry chain is the chain's own, in its slice: it is the 1 to enter. A chain
//! that is entered from elsewhere counts that 1 by itself.
//!
//! The list is complete: the card has no black box, since the vendor's hard blocks are instantiated
//! beside it (`docs/hardware.md`). A design with a cell that is not on the list is not measured.

/// What a primitive does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Look-up table, or an inverter that becomes one.
    Lut,
    /// Wide multiplexer after the LUTs of a slice.
    WideMux,
    /// That many bits of a carry chain.
    Carry(u32),
    /// Flip-flop or latch.
    Register,
    /// Distributed RAM that is read without a clock, or a shift register.
    LutMemory,
    /// Block RAM, UltraRAM, DSP: registered inside.
    Block,
    /// Neither delays nor counts: buffers.
    Wire,
}

/// What a primitive takes of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// LUTs as logic, and as memory or shift register.
    pub luts: u64,
    /// Of these, those that are memory or shift register.
    pub memory_luts: u64,
    /// Flip-flops.
    pub registers: u64,
    /// Halves of a 36 Kb block RAM.
    pub half_brams: u64,
    /// UltraRAMs.
    pub urams: u64,
    /// DSP slices.
    pub dsps: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.luts += other.luts;
        self.memory_luts += other.memory_luts;
        self.registers += other.registers;
        self.half_brams += other.half_brams;
        self.urams += other.urams;
        self.dsps += other.dsps;
    }
}

/// LUTs of a memory primitive (UG974): a LUT6 holds 64 x 1, or 32 x 2 with a common address.
fn memory_luts(kind: &str) -> Option<u64> {
    Some(match kind {
        "RAM32X1S" | "RAM64X1S" | "SRL16E" | "SRLC32E" => 1,
        "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => 2,
        "RAM128X1D" | "RAM256X1S" | "RAM32M" | "RAM64M" => 4,
        "RAM256X1D" | "RAM32M16" | "RAM64M8" | "RAM512X1S" | "RAM32X16DR8" | "RAM64X8SW" => 8,
        _ => return None,
    })
}

/// True for shift registers that Yosys infers from flip-flops: not a memory of the design.
pub fn is_shift_register(kind: &str) -> bool {
    kind.starts_with("SRL")
}

/// Role of a primitive; `None` if it is unknown.
pub fn role(kind: &str) -> Option<Role> {
    Some(match kind {
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "LUT6_2" | "INV" => Role::Lut,
        "MUXF7" | "MUXF8" | "MUXF9" => Role::WideMux,
        "CARRY4" => Role::Carry(4),
        "CARRY8" => Role::Carry(8),
        "BUFG" | "IBUF" | "OBUF" | "BUF" => Role::Wire,
        "RAMB18E2" | "RAMB36E2" | "URAM288" | "URAM288_BASE" | "DSP48E2" => Role::Block,
        _ if is_register(kind) => Role::Register,
        _ if memory_luts(kind).is_some() => Role::LutMemory,
        _ => return None,
    })
}

fn is_register(kind: &str) -> bool {
    let bare = kind.trim_end_matches("_1");
    matches!(bare, "FDRE" | "FDSE" | "FDCE" | "FDPE" | "LDCE" | "LDPE")
}

/// Usage of a primitive of that role.
pub fn usage(role: Role, kind: &str) -> Usage {
    let none = Usage::default();
    match (role, kind) {
        (Role::Lut, _) => Usage { luts: 1, ..none },
        (Role::LutMemory, _) => {
            let luts = memory_luts(kind).unwrap_or_default();
            Usage { luts, memory_luts: luts, ..none }
        }
        (Role::Register, _) => Usage { registers: 1, ..none },
        (_, "RAMB18E2") => Usage { half_brams: 1, ..none },
        (_, "RAMB36E2") => Usage { half_brams: 2, ..none },
        (_, "URAM288" | "URAM288_BASE") => Usage { urams: 1, ..none },
        (_, "DSP48E2") => Usage { dsps: 1, ..none },
        _ => none,
    }
}

/// True for a pin that a clock drives.
pub fn is_clock(pin: &str) -> bool {
    matches!(pin, "C" | "CLK" | "WCLK" | "G" | "CLKARDCLK" | "CLKBWRCLK" | "CLKA" | "CLKB")
}

/// True if a change of input `input` reaches output `output` without a clock.
pub fn passes(role: Role, kind: &str, input: &str, output: &str) -> bool {
    match role {
        Role::Lut | Role::WideMux | Role::Wire | Role::Carry(_) => true,
        Role::LutMemory => memory_reads(kind, input, output),
        Role::Register | Role::Block => false,
    }
}

/// The read ports of distributed RAM: `ADDRA` to `DOA`, `A0..` to `SPO` or `O`, `DPRA0..` to `DPO`.
fn memory_reads(kind: &str, input: &str, output: &str) -> bool {
    if is_shift_register(kind) {
        return output == "Q" && input.starts_with('A');
    }
    match (input.strip_prefix("ADDR"), output.strip_prefix("DO")) {
        (Some(port), Some(of)) => return port == of,
        _ if output == "DPO" => return input.starts_with("DPRA"),
        _ => {}
    }
    matches!(output, "SPO" | "O") && input.starts_with('A')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_pass_their_read_address_only() {
        assert!(memory_reads("RAM32M", "ADDRB", "DOB"));
        assert!(!memory_reads("RAM32M", "ADDRD", "DOB"));
        assert!(!memory_reads("RAM32M", "DIB", "DOB"));
        assert!(memory_reads("RAM64X1D", "DPRA3", "DPO"));
        assert!(!memory_reads("RAM64X1D", "A3", "DPO"));
        assert!(memory_reads("SRLC32E", "A", "Q"));
        assert!(!memory_reads("SRLC32E", "A", "Q31"));
    }

    #[test]
    fn primitives_take_what_the_vendor_says() {
        let usage_of = |kind| usage(role(kind).expect("is known"), kind);
        assert_eq!(usage_of("RAM32M16").memory_luts, 8);
        assert_eq!(usage_of("RAMB18E2").half_brams, 1);
        assert_eq!(usage_of("FDSE_1").registers, 1);
        assert_eq!(usage_of("CARRY8"), Usage::default());
    }

    #[test]
    fn vendor_core_is_no_primitive() {
        assert_eq!(role("PCIE40E4"), None);
        assert_eq!(role("fifo"), None);
    }
}
