//! Merges the writes of the flows' state, of commands and of cursor moves, for both copies.
//!
//! ```text
//!  change ───────┐ floor, installed, send floor ──► change_out
//!  cursor_write ─┴─► cursor ──────────────────────► cursor_out
//! ```
//! Timing: combinational. A cursor pulse passes in its own cycle. A `change` that sets the cursor
//! too is taken in a cycle without a pulse, so `change.ready` depends on `cursor_write.valid`.
//!
//! Invariants:
//! 1. No cursor pulse is dropped.
//! 2. A cursor never goes back: a change without `write_installed` sets it only when no pulse of
//!    the watched flow came since the command queried it.
//!
//! Source: `docs/specification.md`, Order.

use crate::messages::{FlowFloor, FlowUpdate};
use stream::prelude::*;

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlowStateWriter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Moves of a flow's cursor.
    pub cursor_write: PulseSink<CursorWrite>,
    /// Changes of a flow's state by commands.
    pub change: MessageSink<FlowUpdate>,
    /// A command queries `watch_flow` in this cycle.
    pub watch: Signal<In, Bit>,
    /// Flow whose cursor pulses count from now on.
    pub watch_flow: Signal<In, Bits<16>>,

    /// Changes for the memories of the parts.
    pub change_out: PulseSource<FlowUpdate>,
    /// Writes for the memories of the cursor.
    pub cursor_out: PulseSource<CursorWrite>,

    watched: DFF<Bits<16>>,
    moved: DFF<Bit>,

    free: Signal<Local, Bit>,
    watched_now: Signal<Local, Bits<16>>,
    catch_up: Signal<Local, Bit>,
    change_floor: Signal<Local, FlowFloor>,
}

impl Logic for FlowStateWriter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, watched, moved);

        self.watched_now.next = self.watched.q.val();
        if self.watch.val() {
            self.watched_now.next = self.watch_flow.val();
            self.moved.d.next = false;
        }
        self.watched.d.next = self.watched_now.val();
        if self.cursor_write.valid.val()
            & (self.cursor_write.payload.val().flow == self.watched_now.val())
        {
            self.moved.d.next = true;
        }

        self.free.next = !(self.change.payload.val().write_cursor & self.cursor_write.valid.val());
        self.change.ready.next = self.free.val();
        self.change_out.valid.next = self.change.valid.val() & self.free.val();
        self.change_out.payload.next = self.change.payload.val();

        self.catch_up.next = self.change.payload.val().write_cursor
            & (self.change.payload.val().write_installed | !self.moved.q.val());
        self.cursor_out.valid.next =
            self.cursor_write.valid.val() | (self.change.valid.val() & self.catch_up.val());
        self.cursor_out.payload.next.flow = self.change.payload.val().flow;
        self.change_floor.next = self.change.payload.val().floor;
        self.cursor_out.payload.next.cursor = self.change_floor.val().floor;
        if self.cursor_write.valid.val() {
            self.cursor_out.payload.next.flow = self.cursor_write.payload.val().flow;
            self.cursor_out.payload.next.cursor = self.cursor_write.payload.val().cursor;
        }
    }
}
