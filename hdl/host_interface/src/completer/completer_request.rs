//! Turns packets of the CQ interface into requests, one message each.
//!
//! ```text
//!  CQ ──► first beat: descriptor, 12 dwords ─┐
//!         second beat: 4 dwords ─────────────┼──► request
//!         further beats: dropped ────────────┘
//! ```
//! Timing: a request is offered one cycle after its last beat and occupies the block until it is
//! taken. `tready` and `request.valid` are functions of registers.
//!
//! Invariants:
//! 1. There is one message for each packet, in order. `data` holds the payload's first 16 dwords.
//! 2. `discontinued` is set when the hard block took the packet back in any of its beats.
//! 3. The hard block must be set up with straddle off and dword-aligned payload.
//!
//! Source: PG213, completer request descriptor; `docs/hardware.md` for the settings.

use stream::prelude::*;

/// A request of the host.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HostRequest {
    /// Request descriptor as the hard block gave it.
    pub descriptor: Bits<128>,
    /// Byte enables of the first dword.
    pub first_be: Bits<4>,
    /// Byte enables of the last dword, when there are several.
    pub last_be: Bits<4>,
    /// The packet is invalid.
    pub discontinued: Bit,
    /// Payload, dword 0 in bits 31:0.
    pub data: Bits<512>,
}

/// The beat that comes next.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RequestPhase {
    /// Waits for a packet.
    First,
    /// Waits for the rest of 16 dwords.
    Second,
    /// Waits for the end of a longer packet.
    Drain,
    /// Waits until the request is taken.
    Full,
}

/// The unpacker. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompleterRequest {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the packet.
    pub reset: Signal<In, Bit>,

    /// Data of CQ.
    pub tdata: Signal<In, Bits<512>>,
    /// Side band of CQ.
    pub tuser: Signal<In, Bits<183>>,
    /// A beat is offered on CQ.
    pub tvalid: Signal<In, Bit>,
    /// The beat on CQ is the last one of its packet.
    pub tlast: Signal<In, Bit>,
    /// The beat on CQ is taken.
    pub tready: Signal<Out, Bit>,

    /// Requests of the host, one for each packet.
    pub request: MessageSource<HostRequest>,

    phase: DFF<RequestPhase>,
    held: DFF<HostRequest>,

    take: Signal<Local, Bit>,
    broken: Signal<Local, Bit>,
    low_dwords: Signal<Local, Bits<128>>,
    #[value(128)]
    descriptor_bits: Constant<Bits<8>>,
    #[value(384)]
    second_bits: Constant<Bits<9>>,
}

impl Logic for CompleterRequest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, held);
        self.take.next = self.tvalid.val() & (self.phase.q.val() != RequestPhase::Full);
        self.tready.next = self.phase.q.val() != RequestPhase::Full;
        self.request.valid.next = self.phase.q.val() == RequestPhase::Full;
        self.request.payload.next = self.held.q.val();

        self.broken.next = self.tuser.val().get_bit(96);
        self.low_dwords.next = self.tdata.val().get_bits::<128>(0);

        match self.phase.q.val() {
            RequestPhase::First => {
                if self.take.val() {
                    self.held.d.next.descriptor = self.low_dwords.val();
                    self.held.d.next.first_be = self.tuser.val().get_bits::<4>(0);
                    self.held.d.next.last_be = self.tuser.val().get_bits::<4>(8);
                    self.held.d.next.discontinued = self.broken.val();
                    self.held.d.next.data = self.tdata.val() >> self.descriptor_bits.val();
                    self.phase.d.next = RequestPhase::Second;
                }
            }
            RequestPhase::Second => {
                if self.take.val() {
                    self.held.d.next.data = self.held.q.val().data
                        | (bit_cast::<512, 128>(self.low_dwords.val()) << self.second_bits.val());
                    self.phase.d.next = RequestPhase::Drain;
                }
            }
            RequestPhase::Drain => {}
            RequestPhase::Full => {
                if self.request.ready.val() {
                    self.phase.d.next = RequestPhase::First;
                }
            }
        }
        if self.take.val() & self.broken.val() {
            self.held.d.next.discontinued = true;
        }
        if self.take.val() & self.tlast.val() {
            self.phase.d.next = RequestPhase::Full;
        }
        if self.reset.val() {
            self.phase.d.next = RequestPhase::First;
        }
    }
}
