//! Sends the completion of a request on the CC interface.
//!
//! ```text
//!  reply ──► [packet] ──► beat register ──► CC
//! ```
//! Timing: the first beat is offered one cycle after `reply`; `tvalid` does not fall inside a
//! packet. All CC outputs are registers.
//!
//! Invariants:
//! 1. There is one completion for each reply, with all its data.
//! 2. Lower address and byte count follow the byte enables. A read of no byte gets one dword and
//!    byte count 1.
//! 3. A refusal carries the byte enables and the descriptor of the request as five dwords, which
//!    the hard block logs and does not send, and dword count 0.
//!
//! Source: PCI Express Base 3.0, 2.3.1.1; PG213, Completions with Error Status.

use crate::completer::completer_packet::CompleterPacket;
use crate::completer::completer_request::HostRequest;
use stream::prelude::*;

/// A completion to send.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HostReply {
    /// The request that the completion belongs to.
    pub request: HostRequest,
    /// Data that were read, dword 0 in bits 31:0.
    pub data: Bits<512>,
    /// Reply with status Unsupported Request.
    pub refused: Bit,
}

/// What the sender does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReplyPhase {
    /// Waits for a reply, then builds its first beat.
    First,
    /// Waits until the first beat is taken, then builds the second one.
    FirstSent,
    /// Waits until the second beat is taken.
    SecondSent,
}

/// The sender. See the module's head.
#[derive(LogicBlock, Default)]
pub struct CompleterReply {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the reply in work.
    pub reset: Signal<In, Bit>,

    /// Completions to send.
    pub reply: MessageSink<HostReply>,

    /// Data of CC.
    pub tdata: Signal<Out, Bits<512>>,
    /// Dwords used on CC.
    pub tkeep: Signal<Out, Bits<16>>,
    /// Side band of CC.
    pub tuser: Signal<Out, Bits<81>>,
    /// A beat is offered on CC.
    pub tvalid: Signal<Out, Bit>,
    /// The beat on CC is the last one of its packet.
    pub tlast: Signal<Out, Bit>,
    /// The hard block takes the beat on CC.
    pub tready: Signal<In, Bit>,

    packet: CompleterPacket,
    phase: DFF<ReplyPhase>,
    beat: DFF<Bits<512>>,
    keep: DFF<Bits<16>>,
    is_first: DFF<Bit>,
    is_last: DFF<Bit>,
    last_dword: DFF<Bits<4>>,

    done: Signal<Local, Bit>,
    end_flag: Signal<Local, Bits<81>>,
    end_place: Signal<Local, Bits<81>>,
}

impl Logic for CompleterReply {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, beat, keep, is_first, is_last, last_dword);
        self.packet.request.next = self.reply.payload.val().request;
        self.packet.data.next = self.reply.payload.val().data;
        self.packet.refused.next = self.reply.payload.val().refused;
        self.done.next = false;

        match self.phase.q.val() {
            ReplyPhase::First => {
                if self.reply.valid.val() {
                    self.beat.d.next = self.packet.first.val();
                    self.keep.d.next = self.packet.first_keep.val();
                    self.is_first.d.next = true;
                    self.is_last.d.next = !self.packet.two_beats.val();
                    self.last_dword.d.next = self.packet.last_dword.val();
                    self.phase.d.next = ReplyPhase::FirstSent;
                }
            }
            ReplyPhase::FirstSent => {
                if self.tready.val() & self.is_last.q.val() {
                    self.done.next = true;
                    self.phase.d.next = ReplyPhase::First;
                } else if self.tready.val() {
                    self.beat.d.next = self.packet.second.val();
                    self.keep.d.next = self.packet.second_keep.val();
                    self.is_first.d.next = false;
                    self.is_last.d.next = true;
                    self.phase.d.next = ReplyPhase::SecondSent;
                }
            }
            ReplyPhase::SecondSent => {
                if self.tready.val() {
                    self.done.next = true;
                    self.phase.d.next = ReplyPhase::First;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = ReplyPhase::First;
        }
        self.reply.ready.next = self.done.val();

        self.tvalid.next = (self.phase.q.val() == ReplyPhase::FirstSent)
            | (self.phase.q.val() == ReplyPhase::SecondSent);
        self.tdata.next = self.beat.q.val();
        self.tkeep.next = self.keep.q.val();
        self.tlast.next = self.is_last.q.val();
        // is_sop in bit 0, is_eop in bit 6, eop_ptr in bits 11:8.
        self.end_flag.next = bit_cast::<81, 1>(self.is_last.q.val().into()) << 6;
        self.end_place.next = bit_cast::<81, 4>(self.last_dword.q.val()) << 8;
        self.tuser.next = bit_cast::<81, 1>(self.is_first.q.val().into());
        if self.is_last.q.val() {
            self.tuser.next = bit_cast::<81, 1>(self.is_first.q.val().into())
                | self.end_flag.val()
                | self.end_place.val();
        }
    }
}
