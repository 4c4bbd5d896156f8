//! The two copies of the flows' state: one is read for packets, one for commands and sends.
//!
//! ```text
//!  change, cursor ──►┌────────┐
//!  flow ────────────►│ copy   │──► state
//!                    └────────┘
//! ```
//! Timing: one read per cycle; the state comes two cycles after the flow id. A write is seen by a
//! read of the next cycle.
//!
//! Invariants:
//! 1. Nothing is valid before an install of the current epoch.
//! 2. All parts that one `change` writes change in the same cycle.

use crate::epoch_ram::EpochRam;
use crate::messages::{FlowControl, FlowFloor, FlowInstalled, FlowUpdate};
use stream::prelude::*;

/// The copy that is read for packets. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlowLookupCopy<const FLOW_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Flow id to read.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Read the flow; without it the parts read last stay.
    pub read: Signal<In, Bit>,
    /// The flow is valid; two cycles after `read`.
    pub valid: Signal<Out, Bit>,
    /// Installed part of the flow, two cycles after `read`.
    pub installed: Signal<Out, FlowInstalled>,
    /// Floor part of the flow, two cycles after `read`.
    pub floor: Signal<Out, FlowFloor>,
    /// Flow id whose cursor is read.
    pub cursor_flow: Signal<In, Bits<16>>,
    /// Cursor of `cursor_flow` as last written, two cycles later.
    pub cursor: Signal<Out, Bits<32>>,

    /// Changes of a flow's state.
    pub change: PulseSink<FlowUpdate>,
    /// Cursors to write.
    pub cursor_write: PulseSink<CursorWrite>,

    installs: EpochRam<FlowInstalled, FLOW_BITS>,
    floors: BlockRam<FlowFloor, FLOW_BITS>,
    cursors: BlockRam<Bits<32>, FLOW_BITS>,

    was_read: DFF<Bit>,

    change_flow: Signal<Local, Bits<FLOW_BITS>>,
    written_flow: Signal<Local, Bits<FLOW_BITS>>,
}

impl<const FLOW_BITS: usize> Logic for FlowLookupCopy<FLOW_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_read);
        clock!(self, clock, installs, floors, cursors);

        self.was_read.d.next = self.read.val();
        self.installs.read_enable.next = self.read.val();
        self.installs.register_enable.next = self.was_read.q.val();
        self.floors.read_enable.next = self.read.val();
        self.floors.register_enable.next = self.was_read.q.val();
        self.cursors.read_enable.next = true;
        self.cursors.register_enable.next = true;
        self.installs.read_address.next = self.flow.val();
        self.floors.read_address.next = self.flow.val();
        self.cursors.read_address.next = bit_cast::<FLOW_BITS, 16>(self.cursor_flow.val());
        self.valid.next = self.installs.read_epoch.val() == self.epoch.val();
        self.installed.next = self.installs.read_data.val();
        self.floor.next = self.floors.read_data.val();
        self.cursor.next = self.cursors.read_data.val();

        self.change_flow.next = bit_cast::<FLOW_BITS, 16>(self.change.payload.val().flow);
        self.installs.write_epoch.next = self.change.payload.val().epoch;
        self.installs.write_address.next = self.change_flow.val();
        self.installs.write_data.next = self.change.payload.val().installed;
        self.installs.write_enable.next =
            self.change.valid.val() & self.change.payload.val().write_installed;
        self.floors.write_address.next = self.change_flow.val();
        self.floors.write_data.next = self.change.payload.val().floor;
        self.floors.write_enable.next =
            self.change.valid.val() & self.change.payload.val().write_floor;

        self.written_flow.next = bit_cast::<FLOW_BITS, 16>(self.cursor_write.payload.val().flow);
        self.cursors.write_address.next = self.written_flow.val();
        self.cursors.write_data.next = self.cursor_write.payload.val().cursor;
        self.cursors.write_enable.next = self.cursor_write.valid.val();
    }
}

/// The copy that is read for commands and sends. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlowQueryCopy<const FLOW_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Flow id to read.
    pub flow: Signal<In, Bits<FLOW_BITS>>,
    /// Read the flow; without it the state read last stays.
    pub read: Signal<In, Bit>,
    /// State of the flow, two cycles after `read`.
    pub state: Signal<Out, FlowControl>,

    /// Changes of a flow's state.
    pub change: PulseSink<FlowUpdate>,
    /// Cursors to write.
    pub cursor_write: PulseSink<CursorWrite>,

    installs: EpochRam<FlowInstalled, FLOW_BITS>,
    floors: BlockRam<Bits<32>, FLOW_BITS>,
    cursors: BlockRam<Bits<32>, FLOW_BITS>,
    send_floors: BlockRam<Bits<32>, FLOW_BITS>,

    was_read: DFF<Bit>,

    change_flow: Signal<Local, Bits<FLOW_BITS>>,
    change_floor: Signal<Local, FlowFloor>,
    cursor_flow: Signal<Local, Bits<FLOW_BITS>>,
}

impl<const FLOW_BITS: usize> Logic for FlowQueryCopy<FLOW_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_read);
        clock!(self, clock, installs, floors, cursors, send_floors);

        self.was_read.d.next = self.read.val();
        self.installs.read_enable.next = self.read.val();
        self.installs.register_enable.next = self.was_read.q.val();
        self.floors.read_enable.next = self.read.val();
        self.floors.register_enable.next = self.was_read.q.val();
        self.cursors.read_enable.next = self.read.val();
        self.cursors.register_enable.next = self.was_read.q.val();
        self.send_floors.read_enable.next = self.read.val();
        self.send_floors.register_enable.next = self.was_read.q.val();
        self.installs.read_address.next = self.flow.val();
        self.floors.read_address.next = self.flow.val();
        self.cursors.read_address.next = self.flow.val();
        self.send_floors.read_address.next = self.flow.val();
        self.state.next.hit = self.installs.read_epoch.val() == self.epoch.val();
        self.state.next.installed = self.installs.read_data.val();
        self.state.next.floor = self.floors.read_data.val();
        self.state.next.cursor = self.cursors.read_data.val();
        self.state.next.send_floor = self.send_floors.read_data.val();

        self.change_flow.next = bit_cast::<FLOW_BITS, 16>(self.change.payload.val().flow);
        self.installs.write_epoch.next = self.change.payload.val().epoch;
        self.installs.write_address.next = self.change_flow.val();
        self.installs.write_data.next = self.change.payload.val().installed;
        self.installs.write_enable.next =
            self.change.valid.val() & self.change.payload.val().write_installed;
        self.floors.write_address.next = self.change_flow.val();
        self.change_floor.next = self.change.payload.val().floor;
        self.floors.write_data.next = self.change_floor.val().floor;
        self.floors.write_enable.next =
            self.change.valid.val() & self.change.payload.val().write_floor;
        self.send_floors.write_address.next = self.change_flow.val();
        self.send_floors.write_data.next = self.change.payload.val().send_floor;
        self.send_floors.write_enable.next =
            self.change.valid.val() & self.change.payload.val().write_send_floor;

        self.cursor_flow.next = bit_cast::<FLOW_BITS, 16>(self.cursor_write.payload.val().flow);
        self.cursors.write_address.next = self.cursor_flow.val();
        self.cursors.write_data.next = self.cursor_write.payload.val().cursor;
        self.cursors.write_enable.next = self.cursor_write.valid.val();
    }
}
