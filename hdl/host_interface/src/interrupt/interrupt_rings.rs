//! The rings that raise an owner's interrupt: header queue, confirmations, send status.
//!
//! ```text
//!  header_produced ─► register ─► [arm] ──────────┐ unseen
//!  confirmed ───────► register ─► [arm_commands] ─┼──► [pace] ─► register ─► due
//!  reported ────────► register ─► [arm_sends] ────┘
//! ```
//! Timing: `due` holds two cycles after `scan` came, while it stays, and is to be used while
//! `ready` is high. An entry counts two cycles after its pulse.
//!
//! Invariants:
//! 1. An owner is due if it is armed for a ring that was beyond what it was armed with, and the
//!    pace allowed an interrupt because of that ring.
//! 2. `disarm` disarms the owner of `scan` for all rings.
//!
//! Source: `docs/specification.md`, Interrupts.

use crate::interrupt::interrupt_arm::InterruptArm;
use crate::interrupt::interrupt_pace::InterruptPace;
use abi::registers;
use stream::prelude::*;

/// The rings. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct InterruptRings<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disarms every owner.
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

    /// Owner whose state is requested.
    pub scan: Signal<In, Bits<OWNER_BITS>>,
    /// The owner of `scan` is to be interrupted; valid while `ready` is high.
    pub due: Signal<Out, Bit>,
    /// Disarm the owner of `scan`; accepted while `ready` is high.
    pub disarm: Signal<In, Bit>,
    /// No owner is enabled in this cycle, and none was in the one before.
    pub ready: Signal<Out, Bit>,
    /// The owner of `scan` is interrupted in this cycle.
    pub fired: Signal<In, Bit>,

    arm: InterruptArm<OWNER_BITS, OWNERS>,
    arm_commands: InterruptArm<OWNER_BITS, OWNERS>,
    arm_sends: InterruptArm<OWNER_BITS, OWNERS>,
    pace: InterruptPace<OWNER_BITS, OWNERS>,
    grows: DFF<Bit>,
    grown: DFF<RingFetch>,
    confirms: DFF<Bit>,
    confirmation: DFF<RingFetch>,
    reports: DFF<Bit>,
    report: DFF<RingFetch>,
    is_due: DFF<Bit>,
    /// An owner was enabled, so what was found due may be disarmed.
    was_enabled: DFF<Bit>,

    raises: Signal<Local, Bit>,
    raises_commands: Signal<Local, Bit>,
    raises_sends: Signal<Local, Bit>,

    #[value(u64::from(registers::DOORBELL_ARM))]
    headers_doorbell: Constant<Bits<12>>,
    #[value(u64::from(registers::DOORBELL_ARM_COMMANDS))]
    commands_doorbell: Constant<Bits<12>>,
    #[value(u64::from(registers::DOORBELL_ARM_SENDS))]
    sends_doorbell: Constant<Bits<12>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for InterruptRings<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, grows, grown, confirms, confirmation, reports, report);
        dff_setup!(self, clock, is_due, was_enabled);
        clock!(self, clock, arm, arm_commands, arm_sends, pace);
        self.arm.doorbell.next = self.headers_doorbell.val();
        self.arm_commands.doorbell.next = self.commands_doorbell.val();
        self.arm_sends.doorbell.next = self.sends_doorbell.val();
        self.arm.reset.next = self.reset.val();
        self.arm_commands.reset.next = self.reset.val();
        self.arm_sends.reset.next = self.reset.val();
        self.pace.reset.next = self.reset.val();
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

        self.arm.scan.next = self.scan.val();
        self.arm_commands.scan.next = self.scan.val();
        self.arm_sends.scan.next = self.scan.val();
        self.pace.scan.next = self.scan.val();
        self.pace.unseen[0].next = self.arm.unseen.val();
        self.pace.unseen[1].next = self.arm_commands.unseen.val();
        self.pace.unseen[2].next = self.arm_sends.unseen.val();
        self.pace.fired.next = self.fired.val();
        // A ring has grown since it was armed, and the pace allows an interrupt.
        self.raises.next = self.arm.raises.val() & self.arm.armed.val() & self.pace.due[0].val();
        self.raises_commands.next =
            self.arm_commands.raises.val() & self.arm_commands.armed.val() & self.pace.due[1].val();
        self.raises_sends.next =
            self.arm_sends.raises.val() & self.arm_sends.armed.val() & self.pace.due[2].val();
        self.is_due.d.next = self.msix_enable.val()
            & (self.raises.val() | self.raises_commands.val() | self.raises_sends.val());
        self.due.next = self.is_due.q.val();
        // Whoever gets a message looks at everything, so it stands for all that was armed.
        self.arm.disarm.next = self.disarm.val();
        self.arm_commands.disarm.next = self.disarm.val();
        self.arm_sends.disarm.next = self.disarm.val();
        // An owner that an enable word has disarmed meanwhile is not interrupted.
        self.was_enabled.d.next = !self.arm.ready.val();
        self.ready.next = self.arm.ready.val() & !self.was_enabled.q.val();
    }
}
