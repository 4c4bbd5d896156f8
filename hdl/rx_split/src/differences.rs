//! The distances between a packet and its flow's state that the rules look at.
//!
//! ```text
//!  packet, flow ──► differences ──► trim below the floor ──► reach ──► distances
//! ```
//! Timing: three register steps; the inputs are held meanwhile. Sums are modulo 2^32.

use crate::messages::PacketInfo;
use stream::prelude::*;

/// Distances between a packet and its flow's state.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Distances {
    /// Acknowledgement number above the lowest accepted.
    pub ack_offset: Bits<32>,
    /// Size of the accepted range.
    pub ack_span: Bits<32>,
    /// End of the payload above the floor.
    pub stop_minus_floor: Bits<32>,
    /// Timestamp above its floor.
    pub timestamp_age: Bits<32>,
    /// First position to place.
    pub start: Bits<32>,
    /// Bytes to place.
    pub bytes: Bits<14>,
    /// Bytes below the floor.
    pub trimmed: Bits<14>,
    /// End of the placed bytes above the floor.
    pub reach: Bits<33>,
    /// First position to place above the cursor.
    pub start_minus_cursor: Bits<32>,
}

/// The arithmetic. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Differences {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The packet.
    pub packet: Signal<In, PacketInfo>,
    /// Its flow.
    pub flow: Signal<In, FlowReply>,
    /// Its timestamp.
    pub timestamp: Signal<In, Bits<32>>,
    /// The distances.
    pub distances: Signal<Out, Distances>,

    ack_offset: DFF<Bits<32>>,
    ack_span: DFF<Bits<32>>,
    stop_minus_floor: DFF<Bits<32>>,
    position_minus_floor: DFF<Bits<32>>,
    timestamp_age: DFF<Bits<32>>,
    start: DFF<Bits<32>>,
    bytes: DFF<Bits<14>>,
    trimmed: DFF<Bits<14>>,
    reach: DFF<Bits<33>>,
    start_minus_cursor: DFF<Bits<32>>,

    payload: Signal<Local, Bits<32>>,
    below: Signal<Local, Bits<32>>,
    start_minus_floor: Signal<Local, Bits<32>>,
}

impl Logic for Differences {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ack_offset, ack_span, stop_minus_floor);
        dff_setup!(
            self,
            clock,
            position_minus_floor,
            timestamp_age,
            start,
            bytes
        );
        dff_setup!(self, clock, trimmed, reach, start_minus_cursor);
        self.distances.next.ack_offset = self.ack_offset.q.val();
        self.distances.next.ack_span = self.ack_span.q.val();
        self.distances.next.stop_minus_floor = self.stop_minus_floor.q.val();
        self.distances.next.timestamp_age = self.timestamp_age.q.val();
        self.distances.next.start = self.start.q.val();
        self.distances.next.bytes = self.bytes.q.val();
        self.distances.next.trimmed = self.trimmed.q.val();
        self.distances.next.reach = self.reach.q.val();
        self.distances.next.start_minus_cursor = self.start_minus_cursor.q.val();

        // Step 1: differences.
        self.payload.next = bit_cast::<32, 14>(self.packet.val().payload_bytes);
        self.ack_offset.d.next = self.packet.val().ack - self.flow.val().ack_low;
        self.ack_span.d.next = self.flow.val().ack_high - self.flow.val().ack_low;
        self.position_minus_floor.d.next = self.packet.val().position - self.flow.val().floor;
        self.stop_minus_floor.d.next =
            (self.packet.val().position - self.flow.val().floor) + self.payload.val();
        self.timestamp_age.d.next = self.timestamp.val() - self.flow.val().timestamp_floor;

        // Step 2: cut off what lies below the floor.
        self.below.next = self.flow.val().floor - self.packet.val().position;
        self.start.d.next = self.packet.val().position;
        self.bytes.d.next = self.packet.val().payload_bytes;
        self.trimmed.d.next = bits::<14>(0);
        if self.position_minus_floor.q.val().get_bit(31) {
            self.start.d.next = self.flow.val().floor;
            self.bytes.d.next = bit_cast::<14, 32>(self.stop_minus_floor.q.val());
            self.trimmed.d.next = bit_cast::<14, 32>(self.below.val());
        }

        // Step 3: how far beyond floor and cursor.
        self.start_minus_floor.next = self.start.q.val() - self.flow.val().floor;
        self.reach.d.next = bit_cast::<33, 32>(self.start_minus_floor.val())
            + bit_cast::<33, 14>(self.bytes.q.val());
        self.start_minus_cursor.d.next = self.start.q.val() - self.flow.val().cursor;
    }
}
