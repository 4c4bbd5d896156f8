//! Carries out one host request after the other.
//!
//! ```text
//!          ┌─ memory write ──► Write, dword by dword ─────────────────────────┐
//!  Idle ───┼─ memory read ───► Read ⇄ Wait, dword by dword ──► Reply ─────────┼──► Idle
//!          ├─ refused ─────────────────────────────────────────► Reply ───────┤
//!          └─ ignored ────────────────────────────────────────────────────────┘
//! ```
//! Timing: one dword a cycle while writing. The request is held by its source until it is done.
//!
//! Invariants: those of [`crate::completer`].

use crate::completer_check::CompleterCheck;
use crate::completer_reply::HostReply;
use crate::completer_request::HostRequest;
use stream::prelude::*;

/// What is done with the request.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ExecutePhase {
    /// Waits for a request.
    Idle,
    /// Writes a dword a cycle.
    Write,
    /// Asks for a dword.
    Read,
    /// Waits for the dword.
    Wait,
    /// Waits until the reply is taken.
    Reply,
}

/// The executor. See the module's head.
#[derive(LogicBlock)]
pub struct CompleterExecute {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the request.
    pub reset: Signal<In, Bit>,

    /// Requests.
    pub request: MessageSink<HostRequest>,

    /// Registers written.
    pub register_write: PulseSource<RegisterWrite>,
    /// Registers read.
    pub read_request: MessageSource<Bits<24>>,
    /// Their values.
    pub read_reply: MessageSink<Bits<32>>,
    /// Answers.
    pub reply: MessageSource<HostReply>,
    /// Something was ignored.
    pub malformed: Signal<Out, Bit>,
    /// A request was refused.
    pub unsupported: Signal<Out, Bit>,

    phase: DFF<ExecutePhase>,
    index: DFF<Bits<5>>,
    address: DFF<Bits<24>>,
    data: DFF<Bits<512>>,
    refused: DFF<Bit>,

    check: CompleterCheck,
    held: Signal<Local, HostRequest>,
    held_data: Signal<Local, Bits<512>>,
    index_next: Signal<Local, Bits<5>>,
    is_last: Signal<Local, Bit>,
    enables: Signal<Local, Bits<4>>,
    place: Signal<Local, Bits<9>>,
    word: Signal<Local, Bits<512>>,
    finished: Signal<Local, Bit>,

    one: Constant<Bits<5>>,
    zero: Constant<Bits<5>>,
    empty: Constant<Bits<512>>,
    dword_bytes: Constant<Bits<24>>,
    none_enabled: Constant<Bits<4>>,
    all_enabled: Constant<Bits<4>>,
}

impl Default for CompleterExecute {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            request: Default::default(),
            register_write: Default::default(),
            read_request: Default::default(),
            read_reply: Default::default(),
            reply: Default::default(),
            malformed: Default::default(),
            unsupported: Default::default(),
            phase: Default::default(),
            index: Default::default(),
            address: Default::default(),
            data: Default::default(),
            refused: Default::default(),
            check: Default::default(),
            held: Default::default(),
            held_data: Default::default(),
            index_next: Default::default(),
            is_last: Default::default(),
            enables: Default::default(),
            place: Default::default(),
            word: Default::default(),
            finished: Default::default(),
            one: Constant::new(1u32.to_bits()),
            zero: Constant::new(0u32.to_bits()),
            empty: Constant::new(0u32.to_bits()),
            dword_bytes: Constant::new(4u32.to_bits()),
            none_enabled: Constant::new(0u32.to_bits()),
            all_enabled: Constant::new(0xfu32.to_bits()),
        }
    }
}

impl Logic for CompleterExecute {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, index, address, data, refused);
        self.held.next = self.request.payload.val();
        self.held_data.next = self.held.val().data;
        self.check.request.next = self.held.val();
        self.index_next.next = self.index.q.val() + self.one.val();
        self.is_last.next = self.index_next.val() == self.check.dwords.val();
        self.place.next = bit_cast::<9, 5>(self.index.q.val()) << 5;
        self.word.next = bit_cast::<512, 32>(self.read_reply.payload.val()) << self.place.val();
        self.enables.next = self.all_enabled.val();
        if self.index.q.val() == self.zero.val() {
            self.enables.next = self.held.val().first_be;
        } else if self.is_last.val() {
            self.enables.next = self.held.val().last_be;
        }

        self.register_write.valid.next = false;
        self.register_write.payload.next.address = self.address.q.val();
        self.register_write.payload.next.data = self
            .held_data
            .val()
            .get_bits::<32>(self.place.val().index());
        self.read_request.valid.next = self.phase.q.val() == ExecutePhase::Read;
        self.read_request.payload.next = self.address.q.val();
        self.read_reply.ready.next = self.phase.q.val() == ExecutePhase::Wait;
        self.reply.valid.next = self.phase.q.val() == ExecutePhase::Reply;
        self.reply.payload.next.refused = self.refused.q.val();
        self.reply.payload.next.request = self.held.val();
        self.reply.payload.next.data = self.data.q.val();
        self.malformed.next = false;
        self.unsupported.next = false;
        self.finished.next = false;

        match self.phase.q.val() {
            ExecutePhase::Idle => {
                self.index.d.next = self.zero.val();
                self.address.d.next = self.check.address.val();
                self.data.d.next = self.empty.val();
                self.refused.d.next = self.check.refuse.val();
                if self.request.valid.val() {
                    if self.check.write.val() {
                        self.phase.d.next = ExecutePhase::Write;
                    } else if self.check.read.val() & !self.check.flush.val() {
                        self.phase.d.next = ExecutePhase::Read;
                    } else if self.check.ignore.val() {
                        self.malformed.next = true;
                        self.finished.next = true;
                    } else {
                        self.unsupported.next = self.check.refuse.val();
                        self.phase.d.next = ExecutePhase::Reply;
                    }
                }
            }
            ExecutePhase::Write => {
                self.register_write.valid.next = self.enables.val() == self.all_enabled.val();
                self.malformed.next = (self.enables.val() != self.all_enabled.val())
                    & (self.enables.val() != self.none_enabled.val());
                self.index.d.next = self.index_next.val();
                self.address.d.next = self.address.q.val() + self.dword_bytes.val();
                if self.is_last.val() {
                    self.finished.next = true;
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
            ExecutePhase::Read => {
                if self.read_request.ready.val() {
                    self.phase.d.next = ExecutePhase::Wait;
                }
            }
            ExecutePhase::Wait => {
                if self.read_reply.valid.val() {
                    self.data.d.next = self.data.q.val() | self.word.val();
                    self.index.d.next = self.index_next.val();
                    self.address.d.next = self.address.q.val() + self.dword_bytes.val();
                    self.phase.d.next = ExecutePhase::Read;
                    if self.is_last.val() {
                        self.phase.d.next = ExecutePhase::Reply;
                    }
                }
            }
            ExecutePhase::Reply => {
                if self.reply.ready.val() {
                    self.finished.next = true;
                    self.phase.d.next = ExecutePhase::Idle;
                }
            }
        }
        self.request.ready.next = self.finished.val();
        if self.reset.val() {
            self.phase.d.next = ExecutePhase::Idle;
        }
    }
}
