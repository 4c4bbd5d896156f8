//! Register reads: identification, control, epoch, counters, interrupt table.
//!
//! ```text
//!  settings ────►┌─────┐──► epoch, reset
//!  read_request ►│ Csr │──► read_reply
//!  counts ──────►└─────┘◄─► msix_read (table of the interrupt block)
//! ```
//! Timing: a read is taken one cycle after it was offered and answered one cycle later.
//!
//! Invariants:
//! 1. No read is answered while `reset` is high: who has read EPOCH after CONTROL_RESET may write
//!    registers.
//! 2. A register that does not exist reads as 0; a write to one is counted.
//!
//! Source: `abi::registers`, `abi::counters`.

pub mod card_counters;
pub mod epochs;
pub mod event_counters;
pub mod identity;
pub mod peaks;
pub mod read_port;
pub mod register_map;

use abi::config::CardConfig;
use abi::registers as r;

use crate::csr::card_counters::CardCounters;
use crate::csr::epochs::Epochs;
use crate::csr::identity::Identity;
use crate::csr::read_port::ReadPort;
use crate::csr::register_map::RegisterMap;
use dma::activity::ActivitySink;
use stream::prelude::*;

/// The block. See the module's head.
///
/// The registers of a card with these sizes.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig)]
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
    /// Commands wait for the tables.
    pub tables_busy: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Lines pushed.
    pub pushed: PulseSink<PushedLine>,
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

    /// DropReason of dropped frames.
    pub drop_count: PulseSink<DropCode>,
    /// Disposition of packets.
    pub disposition_count: PulseSink<DispositionCode>,
    /// SendError of failed sends.
    pub send_error_count: PulseSink<SendErrorCode>,
    /// Work done.
    pub work: Signal<In, WorkEvents>,
    /// A register write of part of a dword, too long, or cut off.
    pub registers_malformed: Signal<In, Bit>,
    /// A request of the host was refused.
    pub registers_unsupported: Signal<In, Bit>,
    /// A command ring stopped.
    pub command_rings_stopped: Signal<In, Bit>,
    /// A send ring stopped.
    pub send_rings_stopped: Signal<In, Bit>,
    /// The requester port, credits included.
    pub requests: Signal<In, RequestEvents>,
    /// The ends of the data path.
    pub path_ends: Signal<In, PathEndEvents>,
    /// Beats in use in the packet store.
    pub rx_store_beats: Signal<In, Bits<16>>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,
    /// What the requester reports.
    pub activity: ActivitySink,
    /// Owner whose doorbell page is read.
    pub status_owner: Signal<Out, Bits<8>>,
    /// Its rings that have stopped, in the same cycle: commands, sends.
    pub status: Signal<In, Bits<2>>,

    counters: CardCounters,
    epochs: Epochs,
    #[value(Identity::new(config))]
    identity: Identity,
    #[value(RegisterMap::new(config))]
    map: RegisterMap,
    #[value(ReadPort::new(config))]
    port: ReadPort,
    enables: DFF<Bits<2>>,

    faults: Signal<Local, FaultEvents>,
    control_written: Signal<Local, Bit>,
    control_value: Signal<Local, Bits<32>>,
    address: Signal<Local, Bits<24>>,
    status_word: Signal<Local, Bits<32>>,

    #[value(u64::from(r::CONTROL))]
    control_address: Constant<Bits<24>>,
}

impl Logic for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, enables);
        clock!(self, clock, counters, map, epochs, port);
        self.counters.reset.next = self.epochs.reset.val();
        self.counters.work.next = self.work.val();
        self.counters.requests.next = self.requests.val();
        self.counters.path_ends.next = self.path_ends.val();
        self.counters.rx_store_beats.next = self.rx_store_beats.val();
        self.counters.tx_fifo_beats.next = self.tx_fifo_beats.val();
        self.map.settings.valid.next = self.settings.valid.val();
        self.map.settings.payload.next = self.settings.payload.val();
        PulseSink::<PushedLine>::link(&mut self.pushed, &mut self.map.pushed);
        self.faults.next.registers_malformed = self.registers_malformed.val();
        self.faults.next.registers_unsupported = self.registers_unsupported.val();
        self.faults.next.registers_unmapped = self.map.unmapped.val();
        self.faults.next.command_rings_stopped = self.command_rings_stopped.val();
        self.faults.next.send_rings_stopped = self.send_rings_stopped.val();
        self.faults.next.payload_reads_failed = self.activity.payload_failed.val();
        self.faults.next.flushes_failed = self.activity.flush_failed.val();
        self.faults.next.completions_unexpected = self.activity.unexpected.val();
        self.counters.faults.next = self.faults.val();
        ActivitySink::link(&mut self.activity, &mut self.counters.activity);
        PulseSink::<DropCode>::link(&mut self.drop_count, &mut self.counters.drop_count);
        PulseSink::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.counters.disposition_count,
        );
        PulseSink::<SendErrorCode>::link(
            &mut self.send_error_count,
            &mut self.counters.send_error_count,
        );

        self.control_value.next = self.settings.payload.val().data;
        self.control_written.next = self.settings.valid.val()
            & (self.settings.payload.val().address == self.control_address.val());
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

        MessageSink::<Bits<24>>::link(&mut self.read_request, &mut self.port.request);
        MessageSource::<Bits<32>>::link(&mut self.read_reply, &mut self.port.reply);
        self.port.hold.next = self.epochs.reset.val();
        self.address.next = self.port.address.val();
        self.msix_read_address.next = self.address.val();
        self.status_owner.next = self.address.val().get_bits::<8>(12);
        self.counters.address.next = self.address.val();
        self.counters.reading.next = self.port.reading.val();
        self.status_word.next = (bit_cast::<32, 1>(self.tag_quarantined.val().into()))
            | (bit_cast::<32, 1>(self.bus_master.val().into()) << 1)
            | (bit_cast::<32, 1>(self.link_up.val().into()) << 2)
            | (bit_cast::<32, 1>(self.tables_busy.val().into()) << 3);
        self.identity.word.next = self.address.val().get_bits::<4>(2);
        self.identity.epoch.next = self.epochs.epoch.val();
        self.identity.enables.next = self.enables.q.val();
        self.identity.status.next = self.status_word.val();
        self.port.identity.next = self.identity.value.val();
        self.port.counter.next = self.counters.value.val();
        self.port.interrupts.next = self.msix_read_data.val();
        self.port.status.next = self.status.val();
    }
}
