//! The golden image: PCIe, a board window with flash and configuration port, nothing else.
//!
//! ```text
//!   slot ══ pcie ══ completer ══ window ── flash, configuration port, system monitor
//!                      └── words: what it is          └── 100 MHz ◄── free clock
//! ```
//! It is what a board runs when the user's image cannot be loaded, and what replaces that image.
//! The block only connects.
//!
//! Timing: that of the blocks.
//!
//! Invariants:
//! 1. It sends no request of its own: it cannot touch the host's memory.
//! 2. Its device, BAR 0 and window are those of the card; the first word tells them apart.

pub mod golden_window;
pub mod golden_words;

use crate::description::FlashPlan;
use crate::device_side::DeviceSide;
use crate::pads::{ClockPads, FlashPads, SlotPads};
use crate::pcie_side::PcieSide;
use crate::window::flash_serial::FlashLines;
use crate::window::port_program::PortLines;
use golden_window::GoldenWindow;
use golden_words::GoldenWords;
use host_interface::completer::Completer;
use ip::axi_lite::AxiLiteMaster;
use ip::board_clock::BoardClock;
use ip::pcie_sides::{HostReplySide, HostRequestSide};
use stream::prelude::*;

/// The golden image of a board with this number, flash and period of its free clock, around the
/// vendor's PCIe core of this name.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(pcie_core: &'static str, board: u32, plan: FlashPlan, free_clock_ps: u32)]
pub struct Golden {
    /// Pads at the slot.
    pub pcie: SlotPads,
    /// Pads of the free-running clock.
    pub free_clock: ClockPads,
    /// Pads of the second flash chip.
    pub flash: FlashPads,

    #[value(PcieSide::new(pcie_core))]
    pcie_side: PcieSide,
    completer: Completer,
    words: GoldenWords,
    #[value(GoldenWindow::new(board, plan))]
    window: GoldenWindow,
    device_side: DeviceSide,
    #[value(BoardClock::new(free_clock_ps))]
    free: BoardClock,
    flr: DFF<Bits<4>>,

    clock: Signal<Local, Clock>,
}

impl Logic for Golden {
    #[hdl_gen]
    fn update(&mut self) {
        self.pcie_side.refclk_p.next = self.pcie.refclk_p.val();
        self.pcie_side.refclk_n.next = self.pcie.refclk_n.val();
        self.pcie_side.reset_n.next = self.pcie.reset_n.val();
        self.pcie_side.pci_exp.rxp.next = self.pcie.rx_p.val();
        self.pcie_side.pci_exp.rxn.next = self.pcie.rx_n.val();
        self.pcie.tx_p.next = self.pcie_side.pci_exp.txp.val();
        self.pcie.tx_n.next = self.pcie_side.pci_exp.txn.val();
        self.clock.next = self.pcie_side.user_clk.val();
        dff_setup!(self, clock, flr);
        clock!(self, clock, completer, words, window);
        self.free.p.next = self.free_clock.p.val();
        self.free.n.next = self.free_clock.n.val();
        self.window.base_clock.next = self.free.base.val();
        self.window.reset.next = self.pcie_side.user_reset.val();
        self.device_side.clock.next = self.free.base.val();

        self.completer.reset.next = self.pcie_side.user_reset.val();
        HostRequestSide::join(&mut self.pcie_side.m_axis_cq, &mut self.completer.m_axis_cq);
        HostReplySide::join(&mut self.pcie_side.s_axis_cc, &mut self.completer.s_axis_cc);
        MessageSource::<Bits<24>>::join(
            &mut self.completer.read_request,
            &mut self.words.read_request,
        );
        MessageSource::<Bits<32>>::join(&mut self.words.read_reply, &mut self.completer.read_reply);
        AxiLiteMaster::join(&mut self.completer.m_axil, &mut self.window.bus);

        // A function level reset has nothing to reset.
        self.flr.d.next = self.pcie_side.cfg.flr_in_process.val();
        self.pcie_side.cfg.flr_done.next = self.flr.q.val();
        self.pcie_side.cfg.fc_sel.next = bits::<3>(0);
        self.pcie_side.pcie_cq_np_req.next = bits::<2>(1);
        self.pcie_side.s_axis_rq.tdata.next = 0.into();
        self.pcie_side.s_axis_rq.tkeep.next = bits::<16>(0);
        self.pcie_side.s_axis_rq.tuser.next = 0.into();
        self.pcie_side.s_axis_rq.tvalid.next = false;
        self.pcie_side.s_axis_rq.tlast.next = false;
        self.pcie_side.m_axis_rc.tready.next = true;
        self.pcie_side.cfg_mgmt.addr.next = bits::<10>(0);
        self.pcie_side.cfg_mgmt.function_number.next = bits::<8>(0);
        self.pcie_side.cfg_mgmt.read.next = false;
        self.pcie_side.cfg_mgmt.write.next = false;
        self.pcie_side.cfg_mgmt.write_data.next = bits::<32>(0);
        self.pcie_side.cfg_mgmt.byte_enable.next = bits::<4>(0);
        self.pcie_side.cfg_mgmt.debug_access.next = false;

        FlashLines::join(&mut self.window.flash, &mut self.device_side.flash);
        PortLines::join(&mut self.window.device, &mut self.device_side.port);
        FlashPads::link(&mut self.flash, &mut self.device_side.pads);
    }
}
