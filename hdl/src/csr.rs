//! Register reads: identification, control, epoch, counters, interrupt table.
//!
//! ```text
//!  settings ────►┌─────┐──► epoch, reset
//!  read_request ►│ Csr │──► read_reply
//!  counts ──────►└─────┘◄─► msix_read (table of the interrupt block)
//! ```
//! Timing: a read is answered one cycle after its handshake.
//!
//! Invariants:
//! 1. No read is answered while `reset` is high: who has read EPOCH after CONTROL_RESET may write
//!    registers.
//! 2. A register that does not exist reads as 0.
//!
//! Source: `abi::registers`.

use abi::config::CardConfig;
use abi::registers as r;

use crate::card_counters::CardCounters;
use crate::epochs::Epochs;
use crate::identity::Identity;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock)]
pub struct Csr {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset or the link is down.
    pub user_reset: Signal<In, Bit>,
    /// A function level reset runs.
    pub flr_in_process: Signal<In, Bit>,
    /// It has had its epoch.
    pub flr_done: Signal<Out, Bit>,
    /// The host allows requests.
    pub bus_master: Signal<In, Bit>,
    /// The link is up.
    pub link_up: Signal<In, Bit>,
    /// A tag is quarantined.
    pub tag_quarantined: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Register reads: byte offsets.
    pub read_request: MessageSink<Bits<24>>,
    /// Their values.
    pub read_reply: MessageSource<Bits<32>>,
    /// Offset of the MSI-X table word that is asked for.
    pub msix_read_address: Signal<Out, Bits<24>>,
    /// That word, in the same cycle.
    pub msix_read_data: Signal<In, Bits<32>>,

    /// Epoch, never 0.
    pub epoch: Signal<Out, Bits<16>>,
    /// An epoch begins.
    pub reset: Signal<Out, Bit>,

    /// Frames that the MAC side dropped for want of room.
    pub mac_dropped: Signal<In, Bit>,
    /// DropReason of other dropped frames.
    pub drop_count: PulseSink<Bits<4>>,
    /// Disposition of packets.
    pub disposition_count: PulseSink<Bits<4>>,
    /// SendError of failed sends.
    pub send_error_count: PulseSink<Bits<3>>,
    /// Stage counters in the order of `STAGE_COUNTERS`.
    pub stage_events: Signal<In, Bits<8>>,

    counters: CardCounters,
    epochs: Epochs,
    identity: Identity,
    enables: DFF<Bits<2>>,
    reply: DFF<Bits<32>>,
    reply_valid: DFF<Bit>,

    control_written: Signal<Local, Bit>,
    control_value: Signal<Local, Bits<32>>,
    take: Signal<Local, Bit>,
    address: Signal<Local, Bits<24>>,
    status_word: Signal<Local, Bits<32>>,
    value: Signal<Local, Bits<32>>,

    control_address: Constant<Bits<24>>,
}

impl Csr {
    /// The registers of a card with these sizes.
    pub fn new(config: &CardConfig) -> Self {
        Self {
            clock: Default::default(),
            user_reset: Default::default(),
            flr_in_process: Default::default(),
            flr_done: Default::default(),
            bus_master: Default::default(),
            link_up: Default::default(),
            tag_quarantined: Default::default(),
            settings: Default::default(),
            read_request: Default::default(),
            read_reply: Default::default(),
            msix_read_address: Default::default(),
            msix_read_data: Default::default(),
            epoch: Default::default(),
            reset: Default::default(),
            mac_dropped: Default::default(),
            drop_count: Default::default(),
            disposition_count: Default::default(),
            send_error_count: Default::default(),
            stage_events: Default::default(),
            counters: Default::default(),
            epochs: Default::default(),
            identity: Identity::new(config),
            enables: Default::default(),
            reply: Default::default(),
            reply_valid: Default::default(),
            control_written: Default::default(),
            control_value: Default::default(),
            take: Default::default(),
            address: Default::default(),
            status_word: Default::default(),
            value: Default::default(),
            control_address: Constant::new(u64::from(r::CONTROL).to_bits()),
        }
    }
}

impl Logic for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, enables, reply, reply_valid);
        self.counters.clock.next = self.clock.val();
        self.counters.mac_dropped.next = self.mac_dropped.val();
        self.counters.stage_events.next = self.stage_events.val();
        PulseSink::<Bits<4>>::link(&mut self.drop_count, &mut self.counters.drop_count);
        PulseSink::<Bits<4>>::link(
            &mut self.disposition_count,
            &mut self.counters.disposition_count,
        );
        PulseSink::<Bits<3>>::link(
            &mut self.send_error_count,
            &mut self.counters.send_error_count,
        );

        self.control_value.next = self.settings.payload.val().data;
        self.control_written.next = self.settings.valid.val()
            & (self.settings.payload.val().address == self.control_address.val());
        self.epochs.clock.next = self.clock.val();
        self.epochs.user_reset.next = self.user_reset.val();
        self.epochs.flr_in_process.next = self.flr_in_process.val();
        self.epochs.bus_master.next = self.bus_master.val();
        self.epochs.command.next = self.control_written.val() & self.control_value.val().get_bit(2);
        self.flr_done.next = self.epochs.flr_done.val();
        self.epoch.next = self.epochs.epoch.val();
        self.reset.next = self.epochs.reset.val();
        if self.control_written.val() {
            self.enables.d.next = self.control_value.val().get_bits::<2>(0);
        }
        if self.epochs.reset.val() {
            self.enables.d.next = bits::<2>(0);
        }

        self.address.next = self.read_request.payload.val();
        self.msix_read_address.next = self.address.val();
        self.counters.address.next = self.address.val();
        self.take.next =
            self.read_request.valid.val() & !self.reply_valid.q.val() & !self.epochs.reset.val();
        self.counters.reading.next = self.take.val();
        self.status_word.next = (bit_cast::<32, 1>(self.tag_quarantined.val().into()))
            | (bit_cast::<32, 1>(self.bus_master.val().into()) << 1)
            | (bit_cast::<32, 1>(self.link_up.val().into()) << 2);
        self.identity.word.next = self.address.val().get_bits::<4>(2);
        self.identity.epoch.next = self.epochs.epoch.val();
        self.identity.enables.next = self.enables.q.val();
        self.identity.status.next = self.status_word.val();
        self.value.next = bits::<32>(0);
        if self.address.val().get_bits::<18>(6) == bits::<18>(0) {
            self.value.next = self.identity.value.val();
        } else if self.address.val().get_bits::<14>(10) == bits::<14>(0x20) {
            self.value.next = self.counters.value.val();
        } else if self.address.val().get_bits::<8>(16) == bits::<8>(1) {
            self.value.next = self.msix_read_data.val();
        }
        self.read_request.ready.next = !self.reply_valid.q.val() & !self.epochs.reset.val();
        if self.reply_valid.q.val() & self.read_reply.ready.val() {
            self.reply_valid.d.next = false;
        }
        if self.take.val() {
            self.reply.d.next = self.value.val();
            self.reply_valid.d.next = true;
        }
        self.read_reply.valid.next = self.reply_valid.q.val();
        self.read_reply.payload.next = self.reply.q.val();
    }
}
