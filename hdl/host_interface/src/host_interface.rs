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
//! Invariants: those of the blocks. There is no logic here but wires.

use crate::completer::Completer;
use crate::config_space::ConfigSpaceReader;
use crate::credit_stalls::CreditStalls;
use crate::interrupt::Interrupt;
use abi::config::CardConfig;
use dma::activity::ActivitySource;
use dma::requester::{Requester, TIMEOUT_CYCLES};
use ip::board::CompletionBuffer;
use ip::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use stream::prelude::*;

use crate::csr::Csr;
use crate::ring_side::RingSide;

/// The host interface of 2^OWNER_BITS owners: OWNERS is that number, TABLE_BITS is OWNER_BITS + 2
/// (the interrupt table has four words an owner). See the module's head.
///
/// The host interface of a card with these sizes, for a hard block with this buffer.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig, buffer: CompletionBuffer)]
pub struct HostInterface<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> {
    /// User clock of the hard block.
    pub clock: Signal<In, Clock>,
    /// User reset of the hard block.
    pub user_reset: Signal<In, Bit>,
    /// The link is up.
    pub user_lnk_up: Signal<In, Bit>,
    /// Requests of the card.
    pub s_axis_rq: RequestPort,
    /// Completions for the card.
    pub m_axis_rc: CompletionPort,
    /// Requests for the card.
    pub m_axis_cq: HostRequestPort,
    /// Completions of the card.
    pub s_axis_cc: HostReplyPort,
    /// Requests that have left.
    pub pcie_rq_seq: SequencePort,
    /// What the host has configured, and credits.
    pub cfg: Configuration,
    /// Access to the configuration space.
    pub cfg_mgmt: ConfigurationSpace,
    /// Non-posted header credits, up to 15.
    pub pcie_tfc_nph_av: Signal<In, Bits<4>>,

    /// An epoch begins.
    pub reset: Signal<Out, Bit>,
    /// Epoch.
    pub epoch: Signal<Out, Bits<16>>,
    /// Register writes.
    pub settings: PulseSource<RegisterWrite>,

    /// Whose commands follow.
    pub command_fetch: MessageSource<RingFetch>,
    /// Commands.
    pub commands: PacketSource,
    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Send descriptors.
    pub descriptors: PacketSource,
    /// Commands whose fence has passed.
    pub confirmation: MessageSink<Confirmation>,
    /// Descriptors taken over.
    pub taken: PulseSink<RingFetch>,

    /// Writes of payload and header entries.
    pub write_job: MessageSink<WriteJob>,
    /// Their bytes.
    pub write_data: PacketSink,
    /// Flush reads.
    pub flush_job: MessageSink<ReadJob>,
    /// Their answers.
    pub flush_data: PacketSource,
    /// Reads of payload.
    pub payload_job: MessageSink<ReadJob>,
    /// Their answers.
    pub payload_data: PacketSource,

    /// Commands wait for the tables.
    pub tables_busy: Signal<In, Bit>,
    /// Producer index of an owner's header queue.
    pub header_produced: PulseSink<RingFetch>,
    /// DropReason of dropped frames.
    pub drop_count: PulseSink<DropCode>,
    /// Disposition of packets.
    pub disposition_count: PulseSink<DispositionCode>,
    /// SendError of failed sends.
    pub send_error_count: PulseSink<SendErrorCode>,
    /// The event of one found no room.
    pub send_event_lost: Signal<In, Bit>,
    /// The receive path took a frame from the MAC side.
    pub rx_frame: Signal<In, Bit>,
    /// A frame was handed to the MAC side.
    pub tx_frame: Signal<In, Bit>,
    /// A send descriptor ended.
    pub tx_descriptor: Signal<In, Bit>,
    /// A command took effect or was refused.
    pub command: Signal<In, Bit>,
    /// A verified packet was taken to be classified.
    pub rx_packet: Signal<In, Bit>,
    /// One waits to be classified.
    pub rx_packet_stall: Signal<In, Bit>,
    /// The send path handed over a beat.
    pub tx_beat: Signal<In, Bit>,
    /// A beat of it waits for the MAC side.
    pub tx_stall: Signal<In, Bit>,
    /// Beats in use in the packet store.
    pub rx_store_beats: Signal<In, Bits<16>>,
    /// The packet store fills: writes go before reads.
    pub rx_crowded: Signal<In, Bit>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,

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
}

impl<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> Logic
    for HostInterface<OWNER_BITS, OWNERS, TABLE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, requester, config_space, completer, csr);
        clock!(self, clock, ring_side, interrupt);
        self.requester.reset.next = self.csr.reset.val();
        self.requester.user_reset.next = self.user_reset.val();
        self.requester.bus_master.next = self.cfg.function_status.val().get_bit(2);
        RequestPort::link(&mut self.s_axis_rq, &mut self.requester.s_axis_rq);
        CompletionPort::link(&mut self.m_axis_rc, &mut self.requester.m_axis_rc);
        SequencePort::link(&mut self.pcie_rq_seq, &mut self.requester.pcie_rq_seq);
        self.requester.cfg_max_payload.next = self.cfg.max_payload.val();
        self.requester.cfg_max_read_req.next = self.cfg.max_read_req.val();
        self.requester.cfg_rcb_status.next = self.cfg.rcb_status.val().get_bit(0);
        self.config_space.reset.next = self.user_reset.val();
        ConfigurationSpace::link(&mut self.cfg_mgmt, &mut self.config_space.cfg_mgmt);
        self.requester.extended_tags.next = self.config_space.extended_tags.val();
        self.requester.rx_crowded.next = self.rx_crowded.val();
        self.cfg.fc_sel.next = bits::<3>(4);
        self.credit_stalls.requests.next = self.requester.activity.requests.val();
        self.credit_stalls.fc_ph.next = self.cfg.fc_ph.val();
        self.credit_stalls.fc_pd.next = self.cfg.fc_pd.val();
        self.credit_stalls.nph_av.next = self.pcie_tfc_nph_av.val();

        self.completer.reset.next = self.user_reset.val();
        HostRequestPort::link(&mut self.m_axis_cq, &mut self.completer.m_axis_cq);
        HostReplyPort::link(&mut self.s_axis_cc, &mut self.completer.s_axis_cc);
        self.settings.valid.next = self.completer.register_write.valid.val();
        self.settings.payload.next = self.completer.register_write.payload.val();

        self.csr.user_reset.next = self.user_reset.val();
        self.csr.link_up.next = self.user_lnk_up.val();
        self.csr.bus_master.next = self.cfg.function_status.val().get_bit(2);
        self.csr.flr_in_process.next = self.cfg.flr_in_process.val().get_bit(0);
        self.cfg.flr_done.next = bit_cast::<4, 1>(self.csr.flr_done.val().into());
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
        self.csr.rx_store_beats.next = self.rx_store_beats.val();
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
        PacketSource::join(
            &mut self.requester.command_data,
            &mut self.ring_side.command_data,
        );
        MessageSource::<ReadJob>::join(
            &mut self.ring_side.send_ring_job,
            &mut self.requester.send_ring_job,
        );
        PacketSource::join(
            &mut self.requester.send_ring_data,
            &mut self.ring_side.send_ring_data,
        );
        MessageSink::<ReadJob>::link(&mut self.payload_job, &mut self.requester.payload_job);
        PacketSource::link(&mut self.payload_data, &mut self.requester.payload_data);
        MessageSink::<ReadJob>::link(&mut self.flush_job, &mut self.requester.flush_job);
        PacketSource::link(&mut self.flush_data, &mut self.requester.flush_data);

        self.interrupt.reset.next = self.csr.reset.val();
        self.interrupt.settings.valid.next = self.completer.register_write.valid.val();
        self.interrupt.settings.payload.next = self.completer.register_write.payload.val();
        self.interrupt.msix_enable.next = self.cfg.interrupt_msix_enable.val().get_bit(0);
        self.interrupt.msix_mask.next = self.cfg.interrupt_msix_mask.val().get_bit(0);
        self.interrupt.msix_read_address.next = self.csr.msix_read_address.val();
        self.csr.msix_read_data.next = self.interrupt.msix_read_data.val();
        PulseSink::<RingFetch>::link(
            &mut self.header_produced,
            &mut self.interrupt.header_produced,
        );
        MessageSource::<WriteJob>::join(
            &mut self.interrupt.write_job,
            &mut self.requester.interrupt_job,
        );
        PacketSource::join(
            &mut self.interrupt.write_data,
            &mut self.requester.interrupt_data,
        );
    }
}
