//! Goes through the owners in turn and decides which interrupt is written.
//!
//! ```text
//!  Look ──► Compare ──► Judge ──► quiet: next owner
//!                         ├─────► masked: pending, disarm, next owner
//!                         └─────► Offer ──taken──► Leave ──left──► next owner
//! ```
//! Timing: three cycles for an owner without an interrupt. A message ends its owner's turn when it
//! has left.
//!
//! Invariants: those of [`crate::interrupt`], and:
//! 1. One message is under way at a time. `sending` is high from the cycle after it was decided
//!    until it has left.

use crate::interrupt::interrupt_arm::InterruptArm;
use crate::interrupt::interrupt_pace::InterruptPace;
use crate::owner::owner_set::OwnerSet;
use crate::small_write::SmallWrite;
use abi::registers;
use stream::prelude::*;

/// What the scan does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum InterruptPhase {
    /// Reads the state of the owner.
    Look,
    /// Compares it with what the owner has seen, and with the time.
    Compare,
    /// Decides.
    Judge,
    /// Waits until the message is taken.
    Offer,
    /// Waits until the message has left.
    Leave,
}

/// The scan. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct InterruptScan<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disarms every owner and forgets what is pending.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Owner and producer index of a header queue that grew.
    pub header_produced: PulseSink<RingFetch>,
    /// Owner, and commands of it that are confirmed.
    pub confirmed: PulseSink<RingFetch>,
    /// Owner, and consumer index of its send ring.
    pub reported: PulseSink<RingFetch>,
    /// The host has enabled MSI-X.
    pub msix_enable: Signal<In, Bit>,
    /// The host has masked the function.
    pub msix_mask: Signal<In, Bit>,

    /// Vector of the owner that is looked at.
    pub vector: Signal<Out, Bits<OWNER_BITS>>,
    /// Message address of `vector`.
    pub address: Signal<In, Bits<64>>,
    /// Message data of `vector`.
    pub data: Signal<In, Bits<32>>,
    /// Vectors that are not masked.
    pub unmasked: Signal<In, Bits<OWNERS>>,

    /// Messages to write.
    pub write: MessageSource<SmallWrite>,
    /// A message that was taken has not left, once its write job was accepted.
    pub under_way: Signal<In, Bit>,
    /// A message that was decided on has not left.
    pub sending: Signal<Out, Bit>,
    /// Pending bits; bit n is owner n.
    pub pending: Signal<Out, Bits<OWNERS>>,

    arm: InterruptArm<OWNER_BITS, OWNERS>,
    arm_commands: InterruptArm<OWNER_BITS, OWNERS>,
    arm_sends: InterruptArm<OWNER_BITS, OWNERS>,
    pace: InterruptPace<OWNER_BITS, OWNERS>,
    held_back: OwnerSet<OWNER_BITS, OWNERS>,
    grows: DFF<Bit>,
    grown: DFF<RingFetch>,
    confirms: DFF<Bit>,
    confirmation: DFF<RingFetch>,
    reports: DFF<Bit>,
    report: DFF<RingFetch>,
    phase: DFF<InterruptPhase>,
    current: DFF<Bits<OWNER_BITS>>,
    raises: DFF<Bit>,
    raises_commands: DFF<Bit>,
    raises_sends: DFF<Bit>,
    is_pending: DFF<Bit>,
    message: DFF<SmallWrite>,

    waiting: Signal<Local, Bits<OWNERS>>,
    is_open: Signal<Local, Bit>,
    judges: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
    disarms: Signal<Local, Bit>,
    fires: Signal<Local, Bit>,
    next_owner: Signal<Local, Bits<OWNER_BITS>>,
    data_word: Signal<Local, Bits<32>>,
    #[value(1)]
    one: Constant<Bits<OWNER_BITS>>,
    #[value(u64::from(registers::DOORBELL_ARM))]
    headers_doorbell: Constant<Bits<12>>,
    #[value(u64::from(registers::DOORBELL_ARM_COMMANDS))]
    commands_doorbell: Constant<Bits<12>>,
    #[value(u64::from(registers::DOORBELL_ARM_SENDS))]
    sends_doorbell: Constant<Bits<12>>,
    #[value(4)]
    message_bytes: Constant<Bits<5>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for InterruptScan<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, grows, grown, confirms, confirmation, reports, report);
        dff_setup!(self, clock, phase, current, raises, raises_commands, raises_sends);
        dff_setup!(self, clock, is_pending, message);
        clock!(self, clock, arm, arm_commands, arm_sends, pace, held_back);
        self.arm.doorbell.next = self.headers_doorbell.val();
        self.arm_commands.doorbell.next = self.commands_doorbell.val();
        self.arm_sends.doorbell.next = self.sends_doorbell.val();
        self.arm.reset.next = self.reset.val();
        self.arm_commands.reset.next = self.reset.val();
        self.arm_sends.reset.next = self.reset.val();
        self.pace.reset.next = self.reset.val();
        self.held_back.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.arm.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.arm_commands.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.arm_sends.settings);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.pace.settings);
        self.grows.d.next = self.header_produced.valid.val() & !self.reset.val();
        self.grown.d.next = self.header_produced.payload.val();
        self.arm.grew.valid.next = self.grows.q.val();
        self.arm.grew.payload.next = self.grown.q.val();
        self.confirms.d.next = self.confirmed.valid.val() & !self.reset.val();
        self.confirmation.d.next = self.confirmed.payload.val();
        self.arm_commands.grew.valid.next = self.confirms.q.val();
        self.arm_commands.grew.payload.next = self.confirmation.q.val();
        self.reports.d.next = self.reported.valid.val() & !self.reset.val();
        self.report.d.next = self.reported.payload.val();
        self.arm_sends.grew.valid.next = self.reports.q.val();
        self.arm_sends.grew.payload.next = self.report.q.val();

        self.next_owner.next = self.current.q.val() + self.one.val();
        self.vector.next = self.current.q.val();
        self.arm.scan.next = self.current.q.val();
        self.arm_commands.scan.next = self.current.q.val();
        self.arm_sends.scan.next = self.current.q.val();
        self.pace.scan.next = self.current.q.val();
        self.pace.unseen[0].next = self.arm.unseen.val();
        self.pace.unseen[1].next = self.arm_commands.unseen.val();
        self.pace.unseen[2].next = self.arm_sends.unseen.val();
        self.waiting.next = self.held_back.members.val();
        self.pending.next = self.waiting.val();
        self.is_open.next =
            self.unmasked.val().get_bit(self.current.q.val().index()) & !self.msix_mask.val();

        // A ring has grown since it was armed, and the pace allows an interrupt.
        self.raises.d.next =
            self.arm.raises.val() & self.pace.due[0].val() & self.msix_enable.val();
        self.raises_commands.d.next =
            self.arm_commands.raises.val() & self.pace.due[1].val() & self.msix_enable.val();
        self.raises_sends.d.next =
            self.arm_sends.raises.val() & self.pace.due[2].val() & self.msix_enable.val();
        self.is_pending.d.next =
            self.waiting.val().get_bit(self.current.q.val().index()) & self.msix_enable.val();
        self.judges.next = (self.phase.q.val() == InterruptPhase::Judge) & self.arm.ready.val();
        // An owner that an enable word has disarmed meanwhile is not interrupted.
        self.due.next = (self.raises.q.val() & self.arm.armed.val())
            | (self.raises_commands.q.val() & self.arm_commands.armed.val())
            | (self.raises_sends.q.val() & self.arm_sends.armed.val());
        self.fires.next =
            self.judges.val() & self.is_open.val() & (self.due.val() | self.is_pending.q.val());
        // Whoever gets a message looks at everything, so it stands for all that was armed.
        self.disarms.next = self.judges.val() & self.due.val();
        self.arm.disarm.next = self.disarms.val();
        self.arm_commands.disarm.next = self.disarms.val();
        self.arm_sends.disarm.next = self.disarms.val();
        self.pace.fired.next = self.fires.val();
        self.held_back.add.next = self.judges.val() & self.due.val() & !self.is_open.val();
        self.held_back.add_owner.next = self.current.q.val();
        self.held_back.remove.next = self.fires.val();
        self.held_back.remove_owner.next = self.current.q.val();

        self.data_word.next = self.data.val();
        self.write.valid.next = self.phase.q.val() == InterruptPhase::Offer;
        self.write.payload.next = self.message.q.val();
        self.sending.next = (self.phase.q.val() == InterruptPhase::Offer)
            | (self.phase.q.val() == InterruptPhase::Leave)
            | self.under_way.val();
        match self.phase.q.val() {
            InterruptPhase::Look => self.phase.d.next = InterruptPhase::Compare,
            InterruptPhase::Compare => self.phase.d.next = InterruptPhase::Judge,
            InterruptPhase::Judge => {
                if self.fires.val() {
                    self.message.d.next.address = self.address.val();
                    self.message.d.next.bytes = self.message_bytes.val();
                    self.message.d.next.owner = bit_cast::<8, OWNER_BITS>(self.current.q.val());
                    self.message.d.next.data = bit_cast::<128, 32>(self.data_word.val());
                    self.phase.d.next = InterruptPhase::Offer;
                } else if self.judges.val() {
                    self.current.d.next = self.next_owner.val();
                    self.phase.d.next = InterruptPhase::Look;
                }
            }
            InterruptPhase::Offer => {
                if self.write.ready.val() {
                    self.phase.d.next = InterruptPhase::Leave;
                }
            }
            InterruptPhase::Leave => {
                // The writer is free again when the write engine has the message.
                if self.write.ready.val() & !self.under_way.val() {
                    self.current.d.next = self.next_owner.val();
                    self.phase.d.next = InterruptPhase::Look;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = InterruptPhase::Look;
        }
    }
}
