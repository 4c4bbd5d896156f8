//! Cuts the parts of a range at 4 KiB offsets and requests each cut.
//!
//! ```text
//!  part ──► register ──► min(rest, to the next 4 KiB) ──┬──► region_request
//!              ▲ rest ◄─────────────────────────────────┤
//!                                                       └──► requested
//! ```
//! Timing: one cut per cycle; a part without bytes takes one cycle. `part.ready` follows
//! `region_request.ready` and `requested.ready` in the same cycle.
//!
//! Invariants:
//! 1. One message of `requested` for each request, in order, and one for each part without bytes.
//! 2. An offered request stands until it is taken. That relies on `requested`, a queue: its `ready`
//!    does not fall before something comes.

use crate::messages::SendPart;
use abi::config::{PAGE_BITS_MIN, SEND_PIECE_BYTES_MAX};
use stream::prelude::*;

// The literals of the kernel.
const _: () = assert!(SEND_PIECE_BYTES_MAX == 4096 && PAGE_BITS_MIN == 12);

/// What a reply of the regions belongs to.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct GrantRequest {
    /// There will be a reply.
    pub wanted: Bit,
    /// The range ends with this request.
    pub last: Bit,
    /// Bytes requested, 1 to 4,096.
    pub bytes: Bits<13>,
}

/// Whether a part ends within the 4 KiB in which it starts: combinational, from single bits after
/// one sum.
#[derive(LogicBlock, Default)]
pub struct EndsInPage {
    /// Offset of the part in its page.
    pub offset: Signal<In, Bits<12>>,
    /// Bytes of the part.
    pub bytes: Signal<In, Bits<18>>,
    /// The part ends in the page.
    pub ends: Signal<Out, Bit>,

    end_offset: Signal<Local, Bits<14>>,
}

impl Logic for EndsInPage {
    #[hdl_gen]
    fn update(&mut self) {
        self.end_offset.next = bit_cast::<14, 13>(self.bytes.val().get_bits::<13>(0))
            + bit_cast::<14, 12>(self.offset.val());
        self.ends.next = !(self.bytes.val().get_bits::<5>(13).any()
            | self.end_offset.val().get_bit(13)
            | (self.end_offset.val().get_bit(12) & self.end_offset.val().get_bits::<12>(0).any()));
    }
}

/// The cutter. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GrantCut {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the part.
    pub reset: Signal<In, Bit>,

    /// Parts of ranges, in order.
    pub part: MessageSink<SendPart>,
    /// Request to read a range of a region.
    pub region_request: MessageSource<RegionRequest>,
    /// What is requested, for the reply.
    pub requested: MessageSource<GrantRequest>,

    held: DFF<SendPart>,
    held_valid: DFF<Bit>,
    ends: DFF<Bit>,
    new_part: EndsInPage,

    offset: Signal<Local, Bits<48>>,
    cut_bytes: Signal<Local, Bits<13>>,
    end_offset: Signal<Local, Bits<19>>,
    rest_ends: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
}

impl Logic for GrantCut {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, held_valid, ends);
        self.offset.next = self.held.q.val().offset;
        self.cut_bytes.next = 4096 - bit_cast::<13, 12>(self.offset.val().get_bits::<12>(0));
        if self.ends.q.val() {
            self.cut_bytes.next = bit_cast::<13, 18>(self.held.q.val().bytes);
        }

        self.step.next = self.held_valid.q.val()
            & self.requested.ready.val()
            & (self.region_request.ready.val() | !self.held.q.val().wanted);
        self.closes.next = self.ends.q.val() | !self.held.q.val().wanted;
        self.free.next = !self.held_valid.q.val() | (self.step.val() & self.closes.val());
        self.part.ready.next = self.free.val();
        // Whether what is held next ends in its page: of a new part, or of the rest of this one.
        self.new_part.offset.next = self.part.payload.val().offset.get_bits::<12>(0);
        self.new_part.bytes.next = self.part.payload.val().bytes;
        self.end_offset.next = bit_cast::<19, 18>(self.held.q.val().bytes)
            + bit_cast::<19, 12>(self.offset.val().get_bits::<12>(0));
        self.rest_ends.next = !(self.end_offset.val().get_bits::<5>(14).any()
            | (self.end_offset.val().get_bit(13) & self.end_offset.val().get_bits::<13>(0).any()));
        if self.free.val() {
            self.ends.d.next = self.new_part.ends.val();
            self.held.d.next = self.part.payload.val();
            self.held_valid.d.next = self.part.valid.val();
        } else if self.step.val() {
            self.held.d.next.offset =
                bit_cast::<48, 36>(self.offset.val().get_bits::<36>(12) + 1) << 12;
            self.held.d.next.bytes = bit_cast::<18, 19>(self.end_offset.val() - 4096);
            self.ends.d.next = self.rest_ends.val();
        }

        self.region_request.valid.next =
            self.held_valid.q.val() & self.held.q.val().wanted & self.requested.ready.val();
        self.region_request.payload.next.region = self.held.q.val().region;
        self.region_request.payload.next.region_key = self.held.q.val().region_key;
        self.region_request.payload.next.domain = self.held.q.val().domain;
        self.region_request.payload.next.write = false;
        self.region_request.payload.next.offset = self.held.q.val().offset;
        self.region_request.payload.next.bytes = bit_cast::<32, 13>(self.cut_bytes.val());
        self.requested.valid.next = self.step.val();
        self.requested.payload.next.wanted = self.held.q.val().wanted;
        self.requested.payload.next.last = self.held.q.val().last & self.closes.val();
        self.requested.payload.next.bytes = self.cut_bytes.val();
        if self.reset.val() {
            self.held_valid.d.next = false;
        }
    }
}
