//! Everything between the PCIe hard block and the data path: memory requests, registers, rings,
//! interrupts.
//!
//! ```text
//!  RQ RC ══ requester ◄─► write, flush, payload          (data path)
//!               ▲ ◄────── ring_side ◄─► commands, descriptors, confirmations, taken
//!               └──────── interrupt ◄── header_produced
//!  CQ CC ══ completer ──► settings (pulse) to all, pushed (pulse) to ring_side
//!               └ reads ─► csr ──► epoch, reset
//! ```
//! Only instances and joins: the counter events of other stages are assembled into the structs of
//! their groups, and fields of the hard block's state are picked.
//!
//! Timing: that of the blocks; nothing is registered here. What the hard block says of itself comes
//! through [`crate::pcie_status`], one cycle late; `user_reset` and `user_lnk_up` do not.
//!
//! Invariants: those of the blocks.
//!
//! On error: failed reads, refused requests and stopped rings are counted by [`crate::csr`].
//!
//! Source: PG213 for the ports; `docs/specification.md`, Stages and Settings.

use crate::completer::Completer;
use crate::config_space_reader::ConfigSpaceReader;
use crate::credit_stalls::CreditStalls;
use crate::interrupt::Interrupt;
use crate::pcie_status::{PcieState, PcieStatus};
use abi::config::CardConfig;
use dma::activity::ActivitySource;
use dma::requester::{Requester, TIMEOUT_CYCLES};
use ip::axi_lite::AxiLiteMaster;
use ip::completion_buffer::CompletionBuffer;
use ip::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use stream::prelude::*;

use crate::csr::Csr;
use crate::ring_side::RingSide;

/// The host interface of `OWNERS` = 2^`OWNER_BITS` owners. `TABLE_BITS` is `OWNER_BITS` + 2: the
/// MSI-X table has four words for each owner. See the module's head.
///
/// The host interface of a card with these sizes, for a hard block with this completion buffer.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig, buffer: CompletionBuffer)]
pub struct HostInterface<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> {
    /// User clock of the PCIe hard block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// User reset of the hard block: an epoch begins, and requests of the host are forgotten.
    /// Counters keep their values.
    pub user_reset: Signal<In, Bit>,
    /// The PCIe link is up; read in STATUS.
    pub user_lnk_up: Signal<In, Bit>,
    /// Requester requests: memory writes and reads of the card.
    pub s_axis_rq: RequestPort,
    /// Requester completions: read data for the card.
    pub m_axis_rc: CompletionPort,
    /// Completer requests: register accesses of the host.
    pub m_axis_cq: HostRequestPort,
    /// Completer completions: values of the registers that the host reads.
    pub s_axis_cc: HostReplyPort,
    /// The port to what the board has beside PCIe and wire.
    pub m_axil: AxiLiteMaster,
    /// Sequence numbers of the requests that have left the hard block.
    pub pcie_rq_seq: SequencePort,
    /// Configuration and status of the hard block: sizes, bus mastering, function level reset,
    /// MSI-X, flow control credits.
    pub cfg: Configuration,
    /// Access port to the configuration space.
    pub cfg_mgmt: ConfigurationSpace,
    /// Non-posted header credits that the link partner offers, up to 15.
    pub pcie_tfc_nph_av: Signal<In, Bits<4>>,

    /// High for one or more cycles at the start of an epoch.
    pub reset: Signal<Out, Bit>,
    /// Current epoch, never 0. It changes in the first cycle of `reset`.
    pub epoch: Signal<Out, Bits<16>>,
    /// Register writes of the host, to every block that keeps settings.
    pub settings: PulseSource<RegisterWrite>,

    /// Owner and first index of the commands that follow on `commands`, one message for each
    /// packet.
    pub command_fetch: MessageSource<RingFetch>,
    /// Entries of command rings, one beat each.
    pub commands: PacketSource,
    /// Owner and first slot index of the descriptor that follows on `descriptors`.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Send descriptors: 2 beats, or 4 for two slots; aborted when its ring stopped.
    pub descriptors: PacketSource,
    /// Confirmations whose fence has passed in both directions.
    pub confirmation: MessageSink<Confirmation>,
    /// Owner, and the slot index after a send descriptor that was taken over.
    pub taken: PulseSink<RingFetch>,

    /// Writes of payload and header entries.
    pub write_job: MessageSink<WriteJob>,
    /// Bytes of those writes, one packet for each job.
    pub write_data: PacketSink,
    /// Flush reads.
    pub flush_job: MessageSink<ReadJob>,
    /// Read data of flush reads, one packet for each job.
    pub flush_data: PacketSource,
    /// Reads of send payload.
    pub payload_job: MessageSink<ReadJob>,
    /// Read data of payload reads, one packet for each job.
    pub payload_data: PacketSource,

    /// Commands wait for the tables; read in STATUS.
    pub tables_busy: Signal<In, Bit>,
    /// Owner and producer index of a header queue that grew, after the entry's write job was
    /// accepted.
    pub header_produced: PulseSink<RingFetch>,
    /// Reason of each dropped frame.
    pub drop_count: PulseSink<DropCode>,
    /// Disposition of each delivered packet.
    pub disposition_count: PulseSink<DispositionCode>,
    /// Error of each failed send.
    pub send_error_count: PulseSink<SendErrorCode>,
    /// The event of a failed send found no free space in its header queue and was dropped.
    pub send_event_lost: Signal<In, Bit>,
    /// The receive path took a frame from the MAC side.
    pub rx_frame: Signal<In, Bit>,
    /// The send path handed a frame to the MAC side.
    pub tx_frame: Signal<In, Bit>,
    /// A send descriptor ended.
    pub tx_descriptor: Signal<In, Bit>,
    /// A command took effect or was refused.
    pub command: Signal<In, Bit>,
    /// A verified packet was taken to be classified.
    pub rx_packet: Signal<In, Bit>,
    /// A verified packet waits to be classified.
    pub rx_packet_stall: Signal<In, Bit>,
    /// The send path handed a beat to the MAC side.
    pub tx_beat: Signal<In, Bit>,
    /// A beat of the send path waits for the MAC side.
    pub tx_stall: Signal<In, Bit>,
    /// Beats in use in the packet buffer of the receive side.
    pub rx_buffer_beats: Signal<In, Bits<16>>,
    /// The packet buffer is almost full: writes go before reads.
    pub rx_almost_full: Signal<In, Bit>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,
    /// Bits of STATUS from `STATUS_WIRE_BIT` on.
    pub wire_status: Signal<In, Bits<7>>,
    /// Events of the wire and the MAC.
    pub wire_events: Signal<In, WireEvents>,
    /// Events of runs of received packets.
    pub run_events: Signal<In, RunEvents>,

    pcie_status: PcieStatus,
    config_space: ConfigSpaceReader,
    #[value(Requester::new(TIMEOUT_CYCLES, buffer))]
    requester: Requester,
    credit_stalls: CreditStalls,
    completer: Completer,
    interrupt: Interrupt<OWNER_BITS, TABLE_BITS, OWNERS>,
    ring_side: RingSide<OWNER_BITS, OWNERS>,
    #[value(Csr::new(config))]
    csr: Csr,

    work: Signal<Local, WorkEvents>,
    path_ends: Signal<Local, PathEndEvents>,
    board_events: Signal<Local, BoardEvents>,
    pcie: Signal<Local, PcieState>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> Logic
    for HostInterface<OWNER_BITS, OWNERS, TABLE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, pcie_status, requester, config_space, completer, csr);
        clock!(self, clock, ring_side, interrupt);
        Configuration::link(&mut self.cfg, &mut self.pcie_status.cfg);
        self.pcie_status.nph_av.next = self.pcie_tfc_nph_av.val();
        self.pcie_status.flr_done.next = self.csr.flr_done.val();
        self.pcie.next = self.pcie_status.state.val();

        self.requester.reset.next = self.csr.reset.val();
        self.requester.user_reset.next = self.user_reset.val();
        self.requester.bus_master.next = self.pcie.val().bus_master;
        RequestPort::link(&mut self.s_axis_rq, &mut self.requester.s_axis_rq);
        CompletionPort::link(&mut self.m_axis_rc, &mut self.requester.m_axis_rc);
        SequencePort::link(&mut self.pcie_rq_seq, &mut self.requester.pcie_rq_seq);
        self.requester.cfg_max_payload.next = self.pcie.val().max_payload;
        self.requester.cfg_max_read_req.next = self.pcie.val().max_read_req;
        self.requester.cfg_rcb_status.next = self.pcie.val().rcb;
        self.config_space.reset.next = self.user_reset.val();
        ConfigurationSpace::link(&mut self.cfg_mgmt, &mut self.config_space.cfg_mgmt);
        self.requester.extended_tags.next = self.config_space.extended_tags.val();
        self.requester.rx_almost_full.next = self.rx_almost_full.val();
        self.credit_stalls.requests.next = self.requester.activity.requests.val();
        self.credit_stalls.fc_ph.next = self.pcie.val().fc_ph;
        self.credit_stalls.fc_pd.next = self.pcie.val().fc_pd;
        self.credit_stalls.nph_av.next = self.pcie.val().nph_av;

        self.completer.reset.next = self.user_reset.val();
        HostRequestPort::link(&mut self.m_axis_cq, &mut self.completer.m_axis_cq);
        HostReplyPort::link(&mut self.s_axis_cc, &mut self.completer.s_axis_cc);
        AxiLiteMaster::link(&mut self.m_axil, &mut self.completer.m_axil);
        self.settings.valid.next = self.completer.register_write.valid.val();
        self.settings.payload.next = self.completer.register_write.payload.val();

        self.csr.user_reset.next = self.user_reset.val();
        self.csr.link_up.next = self.user_lnk_up.val();
        self.csr.bus_master.next = self.pcie.val().bus_master;
        self.csr.hot_reset.next = self.pcie.val().hot_reset;
        self.csr.power_state.next = self.pcie.val().power_state;
        self.csr.ltssm_state.next = self.pcie.val().ltssm_state;
        self.csr.requests_pending.next = self.requester.requests_pending.val();
        self.csr.wire_status.next = self.wire_status.val();
        self.csr.wire_events.next = self.wire_events.val();
        self.csr.run_events.next = self.run_events.val();
        self.board_events.next.window_errors = self.completer.window_failed.val();
        self.board_events.next.window_timeouts = self.completer.window_timed_out.val();
        self.board_events.next.window_refused = self.completer.window_refused.val();
        self.board_events.next.pcie_local_errors = self.pcie.val().local_error;
        self.csr.board_events.next = self.board_events.val();
        self.csr.flr_in_process.next = self.pcie.val().flr_in_process;
        self.csr.tag_quarantined.next = self.requester.tag_quarantined.val();
        self.csr.tables_busy.next = self.tables_busy.val();
        self.work.next.rx_frames = self.rx_frame.val();
        self.work.next.tx_frames = self.tx_frame.val();
        self.work.next.tx_descriptors = self.tx_descriptor.val();
        self.work.next.commands = self.command.val();
        self.work.next.write_tlps = self.requester.write_tlp.val();
        self.work.next.read_tlps = self.requester.read_tlp.val();
        self.work.next.read_timeouts = self.requester.read_timeout.val();
        self.work.next.read_errors = self.requester.read_error.val();
        self.csr.work.next = self.work.val();
        self.csr.registers_malformed.next = self.completer.malformed.val();
        self.csr.registers_unsupported.next = self.completer.unsupported.val();
        self.csr.command_rings_stopped.next = self.ring_side.command_failed.val();
        self.csr.send_rings_stopped.next = self.ring_side.send_failed.val();
        self.csr.requests.next = self.credit_stalls.events.val();
        self.path_ends.next.rx_packets = self.rx_packet.val();
        self.path_ends.next.rx_packet_stall_cycles = self.rx_packet_stall.val();
        self.path_ends.next.tx_beats = self.tx_beat.val();
        self.path_ends.next.tx_stall_cycles = self.tx_stall.val();
        self.path_ends.next.send_slots_pushed = self.ring_side.slot_served.val();
        self.path_ends.next.send_events_lost = self.send_event_lost.val();
        self.csr.path_ends.next = self.path_ends.val();
        self.csr.rx_buffer_beats.next = self.rx_buffer_beats.val();
        self.csr.tx_fifo_beats.next = self.tx_fifo_beats.val();
        ActivitySource::join(&mut self.requester.activity, &mut self.csr.activity);
        self.ring_side.status_owner.next = self.csr.status_owner.val();
        self.csr.status.next = self.ring_side.status.val();
        self.reset.next = self.csr.reset.val();
        self.epoch.next = self.csr.epoch.val();
        self.csr.settings.valid.next = self.completer.register_write.valid.val();
        self.csr.settings.payload.next = self.completer.register_write.payload.val();
        MessageSource::<Bits<24>>::join(
            &mut self.completer.read_request,
            &mut self.csr.read_request,
        );
        MessageSource::<Bits<32>>::join(&mut self.csr.read_reply, &mut self.completer.read_reply);
        PulseSink::<DropCode>::link(&mut self.drop_count, &mut self.csr.drop_count);
        PulseSink::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.csr.disposition_count,
        );
        PulseSink::<SendErrorCode>::link(
            &mut self.send_error_count,
            &mut self.csr.send_error_count,
        );

        self.ring_side.reset.next = self.csr.reset.val();
        self.ring_side.epoch.next = self.csr.epoch.val();
        self.ring_side.settings.valid.next = self.completer.register_write.valid.val();
        self.ring_side.settings.payload.next = self.completer.register_write.payload.val();
        self.ring_side.pushed.valid.next = self.completer.pushed.valid.val();
        self.ring_side.pushed.payload.next = self.completer.pushed.payload.val();
        self.csr.pushed.valid.next = self.completer.pushed.valid.val();
        self.csr.pushed.payload.next = self.completer.pushed.payload.val();
        MessageSource::<RingFetch>::link(
            &mut self.command_fetch,
            &mut self.ring_side.command_fetch,
        );
        PacketSource::link(&mut self.commands, &mut self.ring_side.commands);
        MessageSource::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.ring_side.descriptor_fetch,
        );
        PacketSource::link(&mut self.descriptors, &mut self.ring_side.descriptors);
        MessageSink::<Confirmation>::link(&mut self.confirmation, &mut self.ring_side.confirmation);
        PulseSink::<RingFetch>::link(&mut self.taken, &mut self.ring_side.taken);

        MessageSink::<WriteJob>::link(&mut self.write_job, &mut self.requester.receive_job);
        PacketSink::link(&mut self.write_data, &mut self.requester.receive_data);
        MessageSource::<WriteJob>::join(
            &mut self.ring_side.completion_job,
            &mut self.requester.completion_job,
        );
        PacketSource::join(
            &mut self.ring_side.completion_data,
            &mut self.requester.completion_data,
        );
        MessageSource::<ReadJob>::join(
            &mut self.ring_side.command_job,
            &mut self.requester.command_job,
        );
        PacketSource::join(&mut self.requester.command_data, &mut self.ring_side.command_data);
        MessageSource::<ReadJob>::join(
            &mut self.ring_side.send_ring_job,
            &mut self.requester.send_ring_job,
        );
        PacketSource::join(&mut self.requester.send_ring_data, &mut self.ring_side.send_ring_data);
        MessageSink::<ReadJob>::link(&mut self.payload_job, &mut self.requester.payload_job);
        PacketSource::link(&mut self.payload_data, &mut self.requester.payload_data);
        MessageSink::<ReadJob>::link(&mut self.flush_job, &mut self.requester.flush_job);
        PacketSource::link(&mut self.flush_data, &mut self.requester.flush_data);

        self.interrupt.reset.next = self.csr.reset.val();
        self.interrupt.function_reset.next =
            self.user_reset.val() | self.pcie.val().hot_reset | self.pcie.val().flr_in_process;
        self.interrupt.settings.valid.next = self.completer.register_write.valid.val();
        self.interrupt.settings.payload.next = self.completer.register_write.payload.val();
        // Without bus mastering no message can leave, so none is decided on.
        self.interrupt.msix_enable.next = self.pcie.val().msix_enable & self.pcie.val().bus_master;
        self.interrupt.msix_mask.next = self.pcie.val().msix_mask;
        self.interrupt.msix_read_address.next = self.csr.msix_read_address.val();
        self.csr.msix_read_data.next = self.interrupt.msix_read_data.val();
        self.csr.msix_busy.next = self.interrupt.msix_busy.val();
        self.interrupt.under_way.next = self.requester.interrupt_under_way.val();
        PulseSource::<RingFetch>::join(
            &mut self.ring_side.confirmed,
            &mut self.interrupt.confirmed,
        );
        PulseSource::<RingFetch>::join(&mut self.ring_side.reported, &mut self.interrupt.reported);
        PulseSink::<RingFetch>::link(
            &mut self.header_produced,
            &mut self.interrupt.header_produced,
        );
        MessageSource::<WriteJob>::join(
            &mut self.interrupt.write_job,
            &mut self.requester.interrupt_job,
        );
        PacketSource::join(&mut self.interrupt.write_data, &mut self.requester.interrupt_data);
    }
}
