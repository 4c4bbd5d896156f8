//! Gives the completion buffer's room of a read back when its last completion has been taken.
//!
//! ```text
//!   issue ──► room by tag ─┐
//!   event_0, event_1 ──────┴──► of those that finished: sum ──► headers, data
//! ```
//! Timing: a cycle after the event, that is seven cycles after the beat was taken from the hard
//! block.
//!
//! Invariants:
//! 1. The room of a read comes back once: when its last completion ends while its tag is
//!    outstanding. That of a read that timed out never does: its completions may still come.
//! 2. Nothing comes back for reads of before a reset: `draining` lasts until they have ended.
//!
//! Source: PG213, receive buffer: what the user side has taken is free.

use crate::read::completion_room::ReadRoom;
use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RoomReturn {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Reads are forgotten.
    pub reset: Signal<In, Bit>,
    /// Reads of before the reset have not ended.
    pub draining: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// What its completions can occupy.
    pub issue_room: Signal<In, ReadRoom>,
    /// A completion ends.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<In, Bit>; 2],

    /// Headers that come back in this cycle.
    pub headers: Signal<Out, Bits<5>>,
    /// Data that comes back, in units of 16 bytes.
    pub data: Signal<Out, Bits<7>>,

    rooms_0: LutRam<ReadRoom, TAG_BITS>,
    rooms_1: LutRam<ReadRoom, TAG_BITS>,
    room_0: DFF<ReadRoom>,
    room_1: DFF<ReadRoom>,
    is_due_0: DFF<Bit>,
    is_due_1: DFF<Bit>,

    tag_0: Signal<Local, Tag>,
    tag_1: Signal<Local, Tag>,
    due_0: Signal<Local, Bit>,
    due_1: Signal<Local, Bit>,
    headers_0: Signal<Local, Bits<5>>,
    headers_1: Signal<Local, Bits<5>>,
    data_0: Signal<Local, Bits<7>>,
    data_1: Signal<Local, Bits<7>>,
    counts: Signal<Local, Bit>,
}

impl Logic for RoomReturn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, room_0, room_1, is_due_0, is_due_1);
        clock!(self, clock, rooms_0, rooms_1);
        self.rooms_0.write_address.next = self.issue_tag.val();
        self.rooms_1.write_address.next = self.issue_tag.val();
        self.rooms_0.write_data.next = self.issue_room.val();
        self.rooms_1.write_data.next = self.issue_room.val();
        self.rooms_0.write_enable.next = self.issue.val();
        self.rooms_1.write_enable.next = self.issue.val();

        self.tag_0.next = self.event_0.payload.val().tag;
        self.tag_1.next = self.event_1.payload.val().tag;
        self.rooms_0.read_address.next = self.tag_0.val();
        self.rooms_1.read_address.next = self.tag_1.val();
        self.counts.next = !self.reset.val() & !self.draining.val();
        self.due_0.next = self.event_0.valid.val()
            & self.event_0.payload.val().finished
            & !self.event_0.payload.val().timed_out
            & self.event_known[0].val();
        // A second end of the same read in one cycle is no end of it.
        self.due_1.next = self.event_1.valid.val()
            & self.event_1.payload.val().finished
            & !self.event_1.payload.val().timed_out
            & self.event_known[1].val()
            & !(self.due_0.val() & (self.tag_0.val() == self.tag_1.val()));
        self.is_due_0.d.next = self.due_0.val() & self.counts.val();
        self.is_due_1.d.next = self.due_1.val() & self.counts.val();
        self.room_0.d.next = self.rooms_0.read_data.val();
        self.room_1.d.next = self.rooms_1.read_data.val();

        self.headers_0.next = 0.into();
        self.data_0.next = 0.into();
        if self.is_due_0.q.val() {
            self.headers_0.next = bit_cast::<5, 4>(self.room_0.q.val().headers);
            self.data_0.next = bit_cast::<7, 6>(self.room_0.q.val().data);
        }
        self.headers_1.next = 0.into();
        self.data_1.next = 0.into();
        if self.is_due_1.q.val() {
            self.headers_1.next = bit_cast::<5, 4>(self.room_1.q.val().headers);
            self.data_1.next = bit_cast::<7, 6>(self.room_1.q.val().data);
        }
        self.headers.next = self.headers_0.val() + self.headers_1.val();
        self.data.next = self.data_0.val() + self.data_1.val();
    }
}
