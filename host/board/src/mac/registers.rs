//! Registers of the MAC's core, as words of its block, and their bits.
//!
//! Source: PG203, AXI4-Lite register space. Places and bits, those of the RS-FEC too, were compared
//! with the register file that Vivado emits with the core (`cmac_usplus_0_axi4_lite_reg_map`), and
//! those of the RS-FEC's status with AMD's own driver (`xcmac_rsfec.h` in Xilinx/qep-drivers).

/// The word at an offset of bytes.
const fn word(offset: u32) -> u32 {
    offset / 4
}

/// Resets the transceivers; it clears itself.
pub const GT_RESET: u32 = word(0x0000);
/// Resets of the core, held as long as they are set: [`RESET_RX`], [`RESET_TX`].
pub const RESET: u32 = word(0x0004);
/// [`RESET`] bit: receive side.
pub const RESET_RX: u32 = 1 << 30;
/// [`RESET`] bit: send side.
pub const RESET_TX: u32 = 1 << 31;
/// Send side: [`TX_ENABLE`], [`TX_SEND_REMOTE_FAULT`].
pub const TX_CONFIGURATION: u32 = word(0x000c);
/// [`TX_CONFIGURATION`] bit: frames are sent.
pub const TX_ENABLE: u32 = 1 << 0;
/// [`TX_CONFIGURATION`] bit: the other end is told that nothing is heard here.
pub const TX_SEND_REMOTE_FAULT: u32 = 1 << 4;
/// Receive side: [`RX_ENABLE`].
pub const RX_CONFIGURATION: u32 = word(0x0014);
/// [`RX_CONFIGURATION`] bit: frames are received.
pub const RX_ENABLE: u32 = 1 << 0;
/// Version of the core: major in bits 15:8, minor in 7:0.
pub const CORE_VERSION: u32 = word(0x0024);
/// Which pauses are sent: bits 8:0, [`PAUSE_GLOBAL`].
pub const TX_FLOW_CONTROL: u32 = word(0x0030);
/// How often a global pause is repeated, in quanta, bits 15:0.
pub const TX_PAUSE_REFRESH: u32 = word(0x0044);
/// How long a global pause is, in quanta, bits 15:0.
pub const TX_PAUSE_QUANTA: u32 = word(0x0058);
/// Which pauses are heard: bits 8:0 [`PAUSE_GLOBAL`], and [`RX_GLOBAL_CONTROL`] and
/// [`RX_GLOBAL_PAUSE`].
pub const RX_FLOW_CONTROL: u32 = word(0x0084);
/// [`RX_FLOW_CONTROL`] bit: global control frames are processed.
pub const RX_GLOBAL_CONTROL: u32 = 1 << 10;
/// [`RX_FLOW_CONTROL`] bit: global pause frames are processed.
pub const RX_GLOBAL_PAUSE: u32 = 1 << 12;
/// What makes a frame a control frame: [`RX_FLOW_CHECKS_GLOBAL`].
pub const RX_FLOW_CHECKS: u32 = word(0x0088);
/// [`RX_FLOW_CHECKS`]: multicast address and opcode, of global control and of global pause frames.
pub const RX_FLOW_CHECKS_GLOBAL: u32 = 1 << 0 | 1 << 4 | 1 << 10 | 1 << 14;
/// Bit of the global pause among nine.
pub const PAUSE_GLOBAL: u32 = 1 << 8;
/// Loopback of the transceivers, near end: [`LOOPBACK_NEAR`].
pub const GT_LOOPBACK: u32 = word(0x0090);
/// [`GT_LOOPBACK`] bit: what is sent is received.
pub const LOOPBACK_NEAR: u32 = 1 << 0;
/// Status of the send side; bit 0: local fault. Bits stay set until they are read.
pub const TX_STATUS: u32 = word(0x0200);
/// [`TX_STATUS`] bit.
pub const TX_LOCAL_FAULT: u32 = 1 << 0;
/// Status of the receive side. Bits 1:0 stay clear, the others set, until they are read: the second
/// of two reads has the present.
pub const RX_STATUS: u32 = word(0x0204);
/// [`RX_STATUS`] bit: aligned, and no fault of the code.
pub const RX_STATUS_GOOD: u32 = 1 << 0;
/// [`RX_STATUS`] bit: all lanes are aligned.
pub const RX_ALIGNED: u32 = 1 << 1;
/// [`RX_STATUS`] bit: too many errors of the code.
pub const RX_HIGH_BER: u32 = 1 << 4;
/// [`RX_STATUS`] bit: the other end hears nothing.
pub const RX_REMOTE_FAULT: u32 = 1 << 5;
/// [`RX_STATUS`] bit: nothing is heard here, or the other end says that about itself.
pub const RX_LOCAL_FAULT: u32 = 1 << 6;
/// [`RX_STATUS`] bit: nothing is heard here.
pub const RX_INTERNAL_LOCAL_FAULT: u32 = 1 << 7;
/// Lanes that have found the blocks of the code, bits 19:0. Clear bits stay until they are read.
pub const RX_BLOCK_LOCK: u32 = word(0x020c);
/// All of [`RX_BLOCK_LOCK`].
pub const RX_LANES: u32 = (1 << 20) - 1;
/// Written: all statistics are copied to where they are read, and begin anew.
pub const TICK: u32 = word(0x02b0);
/// Frames received with a wrong check sequence; low word, the high one is next.
pub const RX_BAD_FCS: u32 = word(0x06c0);
/// What the RS-FEC does: [`FEC_CORRECTS`], [`FEC_INDICATES`], [`FEC_IEEE`].
pub const FEC_MODE: u32 = word(0x1000);
/// [`FEC_MODE`] bit: errors are corrected.
pub const FEC_CORRECTS: u32 = 1 << 0;
/// [`FEC_MODE`] bit: what cannot be corrected is marked.
pub const FEC_INDICATES: u32 = 1 << 1;
/// [`FEC_MODE`] bit: marked as IEEE 802.3 wants it.
pub const FEC_IEEE: u32 = 1 << 2;
/// Status of the RS-FEC: [`FEC_LANE_LOCKS`], [`FEC_ALIGNED`]. Bits as those of [`RX_STATUS`].
pub const FEC_STATUS: u32 = word(0x1004);
/// [`FEC_STATUS`] bits: each of the four lanes has found its markers.
pub const FEC_LANE_LOCKS: u32 = 0xf << 8;
/// [`FEC_STATUS`] bit: all four lanes are aligned.
pub const FEC_ALIGNED: u32 = 1 << 14;
/// Codewords that were corrected; low word, the high one is next.
pub const FEC_CORRECTED: u32 = word(0x1008);
/// Codewords that could not be corrected; low word, the high one is next.
pub const FEC_UNCORRECTED: u32 = word(0x1010);
/// Switches the RS-FEC on: [`FEC_RX`], [`FEC_TX`]. Taken at the end of the resets of the core.
pub const FEC_ENABLE: u32 = word(0x107c);
/// [`FEC_ENABLE`] bit: receive side.
pub const FEC_RX: u32 = 1 << 0;
/// [`FEC_ENABLE`] bit: send side.
pub const FEC_TX: u32 = 1 << 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that public programs write in the order of PG203.
    #[test]
    fn words_are_those_of_known_recipes() {
        assert_eq!((TX_CONFIGURATION, TX_SEND_REMOTE_FAULT), (0x0c / 4, 0x10));
        assert_eq!(RESET_RX | RESET_TX, 0xc000_0000);
        assert_eq!(FEC_CORRECTS | FEC_INDICATES | FEC_IEEE, 7);
        assert_eq!((FEC_ENABLE, FEC_RX | FEC_TX), (0x107c / 4, 3));
        // The recipe for all classes has ours within.
        let heard = PAUSE_GLOBAL | RX_GLOBAL_CONTROL | RX_GLOBAL_PAUSE;
        assert_eq!(heard & !0x3dff, 0);
        assert_eq!(RX_FLOW_CHECKS_GLOBAL & !0x1_c631, 0);
        // Bits that the register file of the core takes, and those that it has of the RS-FEC.
        assert_eq!((RESET_RX | RESET_TX) & !0xc000_03ff, 0);
        assert_eq!((TX_ENABLE | TX_SEND_REMOTE_FAULT) & !0x1_0039, 0);
        assert_eq!(heard & !0xff_bdff, 0);
        assert_eq!((FEC_LANE_LOCKS, FEC_ALIGNED), (0x0f00, 0x4000));
        // What boards report without a signal.
        assert_eq!(RX_LOCAL_FAULT | RX_INTERNAL_LOCAL_FAULT, 0xc0);
    }
}
