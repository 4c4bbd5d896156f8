//! Register reads: identification, control, epoch, counters, interrupt table.
//!
//! ```text
//!  settings ────►┌─────┐──► epoch, reset
//!  read_request ►│ Csr │──► read_reply
//!  counts ──────►└─────┘◄─► msix_read (table of the interrupt block)
//! ```
//! Timing: a read is taken one cycle after it was offered; its value is offered one cycle later.
//!
//! Invariants:
//! 1. No read is taken while `reset` is high: software that has read EPOCH after CONTROL_RESET may
//!    write registers.
//! 2. A register that does not exist reads as 0. A write to one is counted.
//!
//! Source: `abi::registers`, `abi::counters`; `docs/specification.md`, Settings and Reset.

pub mod card_counters;
pub mod control_word;
pub mod epochs;
pub mod event_counters;
pub mod identity;
pub mod peaks;
pub mod read_port;
pub mod register_map;
pub mod status_word;

use abi::config::CardConfig;

use crate::csr::card_counters::CardCounters;
use crate::csr::control_word::ControlWord;
use crate::csr::epochs::Epochs;
use crate::csr::identity::Identity;
use crate::csr::read_port::ReadPort;
use crate::csr::register_map::RegisterMap;
use crate::csr::status_word::StatusWord;
use dma::activity::ActivitySink;
use stream::prelude::*;

/// The registers. See the module's head.
///
/// The registers of a card with these sizes.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig)]
pub struct Csr {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset or the link is down: holds `reset`. Counters keep their values.
    pub user_reset: Signal<In, Bit>,
    /// The link partner begins a hot reset.
    pub hot_reset: Signal<In, Bit>,
    /// Power state of the function: 1 D0, 4 D3hot.
    pub power_state: Signal<In, Bits<3>>,
    /// State of link training of the hard block.
    pub ltssm_state: Signal<In, Bits<6>>,
    /// A function level reset runs.
    pub flr_in_process: Signal<In, Bit>,
    /// The function level reset has had its epoch.
    pub flr_done: Signal<Out, Bit>,
    /// The host allows the card to send requests.
    pub bus_master: Signal<In, Bit>,
    /// The PCIe link is up.
    pub link_up: Signal<In, Bit>,
    /// A tag is in quarantine.
    pub tag_quarantined: Signal<In, Bit>,
    /// Commands wait for the tables.
    pub tables_busy: Signal<In, Bit>,
    /// Requests of an earlier epoch have not ended.
    pub requests_pending: Signal<In, Bit>,
    /// Bits of STATUS from `STATUS_WIRE_BIT` on.
    pub wire_status: Signal<In, Bits<7>>,

    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Lines pushed by software, checked for an owner that exists.
    pub pushed: PulseSink<PushedLine>,
    /// Byte offsets in BAR 0 of the registers to read.
    pub read_request: MessageSink<Bits<24>>,
    /// Values of the registers read, in request order.
    pub read_reply: MessageSource<Bits<32>>,
    /// Byte offset in BAR 0 of the MSI-X table word that is read.
    pub msix_read_address: Signal<Out, Bits<24>>,
    /// MSI-X table word at `msix_read_address`, in the same cycle.
    pub msix_read_data: Signal<In, Bits<32>>,
    /// Reads of the MSI-X table wait: a message is under way that was decided on before.
    pub msix_busy: Signal<In, Bit>,

    /// Current epoch, never 0.
    pub epoch: Signal<Out, Bits<16>>,
    /// High for 16 cycles at least at the start of an epoch.
    pub reset: Signal<Out, Bit>,

    /// Reason of each dropped frame.
    pub drop_count: PulseSink<DropCode>,
    /// Disposition of each delivered packet.
    pub disposition_count: PulseSink<DispositionCode>,
    /// Error of each failed send.
    pub send_error_count: PulseSink<SendErrorCode>,
    /// Events of the counter group "work".
    pub work: Signal<In, WorkEvents>,
    /// A register write covers a part of a dword, is too long, or was cut off (one cycle).
    pub registers_malformed: Signal<In, Bit>,
    /// A request of the host was refused (one cycle).
    pub registers_unsupported: Signal<In, Bit>,
    /// A command ring stopped (one cycle).
    pub command_rings_stopped: Signal<In, Bit>,
    /// A send ring stopped (one cycle).
    pub send_rings_stopped: Signal<In, Bit>,
    /// Events of the requester port, credit stalls included.
    pub requests: Signal<In, RequestEvents>,
    /// Events at the ends of the data path.
    pub path_ends: Signal<In, PathEndEvents>,
    /// Events of the wire and the MAC.
    pub wire_events: Signal<In, WireEvents>,
    /// Events of the board window and the PCIe hard block.
    pub board_events: Signal<In, BoardEvents>,
    /// Events of runs of received packets.
    pub run_events: Signal<In, RunEvents>,
    /// Beats in use in the packet buffer of the receive side.
    pub rx_buffer_beats: Signal<In, Bits<16>>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,
    /// Events and levels of the requester.
    pub activity: ActivitySink,
    /// Owner whose doorbell page is read.
    pub status_owner: Signal<Out, Bits<8>>,
    /// Rings of `status_owner` that have stopped, in the same cycle: bit 0 commands, bit 1 sends.
    pub status: Signal<In, Bits<2>>,

    counters: CardCounters,
    epochs: Epochs,
    #[value(Identity::new(config))]
    identity: Identity,
    #[value(RegisterMap::new(config))]
    map: RegisterMap,
    words: StatusWord,
    control: ControlWord,
    #[value(ReadPort::new(config))]
    port: ReadPort,

    faults: Signal<Local, FaultEvents>,
    address: Signal<Local, Bits<24>>,
}

impl Logic for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, counters, map, epochs, control, port);
        self.counters.reset.next = self.epochs.reset.val();
        self.counters.work.next = self.work.val();
        self.counters.requests.next = self.requests.val();
        self.counters.path_ends.next = self.path_ends.val();
        self.counters.wire_events.next = self.wire_events.val();
        self.counters.board_events.next = self.board_events.val();
        self.counters.run_events.next = self.run_events.val();
        self.counters.rx_buffer_beats.next = self.rx_buffer_beats.val();
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

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.control.settings);
        self.control.reset.next = self.epochs.reset.val();
        self.epochs.user_reset.next = self.user_reset.val();
        self.epochs.hot_reset.next = self.hot_reset.val();
        self.epochs.powered_down.next = self.power_state.val().get_bit(2);
        self.epochs.flr_in_process.next = self.flr_in_process.val();
        self.epochs.bus_master.next = self.bus_master.val();
        self.epochs.command.next = self.control.starts_epoch.val();
        self.flr_done.next = self.epochs.flr_done.val();
        self.epoch.next = self.epochs.epoch.val();
        self.reset.next = self.epochs.reset.val();

        MessageSink::<Bits<24>>::link(&mut self.read_request, &mut self.port.request);
        MessageSource::<Bits<32>>::link(&mut self.read_reply, &mut self.port.reply);
        self.port.hold.next = self.epochs.reset.val();
        self.address.next = self.port.address.val();
        self.msix_read_address.next = self.address.val();
        self.status_owner.next = self.address.val().get_bits::<8>(12);
        self.counters.address.next = self.address.val();
        self.counters.reading.next = self.port.reading.val();
        self.words.tag_quarantined.next = self.tag_quarantined.val();
        self.words.bus_master.next = self.bus_master.val();
        self.words.link_up.next = self.link_up.val();
        self.words.tables_busy.next = self.tables_busy.val();
        self.words.requests_pending.next = self.requests_pending.val();
        self.words.wire_status.next = self.wire_status.val();
        self.words.ltssm_state.next = self.ltssm_state.val();
        self.words.power_state.next = self.power_state.val();
        self.identity.word.next = self.address.val().get_bits::<4>(2);
        self.identity.epoch.next = self.epochs.epoch.val();
        self.identity.enables.next = self.control.enables.val();
        self.identity.status.next = self.words.status.val();
        self.identity.pcie_state.next = self.words.pcie_state.val();
        self.port.identity.next = self.identity.value.val();
        self.port.counter.next = self.counters.value.val();
        self.port.interrupts.next = self.msix_read_data.val();
        self.port.interrupts_busy.next = self.msix_busy.val();
        self.port.status.next = self.status.val();
    }
}
