//! Everything between the PCIe hard block and the data path: memory requests, registers, rings,
//! interrupts.
//!
//! ```text
//!  RQ RC ══ requester ◄─► write, flush, payload          (data path)
//!               ▲ ◄────── ring_side ◄─► commands, descriptors, confirmations, taken
//!               └──────── interrupt ◄── header_produced
//!  CQ CC ══ completer ──► settings (pulse) to all
//!               └ reads ─► csr ──► epoch, reset
//! ```
//! Invariants: those of the blocks. There is no logic here but wires.

use abi::config::CardConfig;
use dma::completer::Completer;
use dma::interrupt::Interrupt;
use dma::requester::Requester;
use stream::prelude::*;

use crate::csr::Csr;
use crate::ring_side::RingSide;

/// The host interface of 2^OWNER_BITS owners: OWNERS is that number, TABLE_BITS is OWNER_BITS + 2
/// (the interrupt table has four words an owner). See the module's head.
#[derive(LogicBlock)]
pub struct HostInterface<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> {
    /// User clock of the hard block.
    pub clock: Signal<In, Clock>,
    /// User reset of the hard block.
    pub user_reset: Signal<In, Bit>,
    /// The link is up.
    pub user_lnk_up: Signal<In, Bit>,
    /// Requests of the card, straddle on.
    pub s_axis_rq_tdata: Signal<Out, Bits<512>>,
    /// Dwords valid.
    pub s_axis_rq_tkeep: Signal<Out, Bits<16>>,
    /// Side band.
    pub s_axis_rq_tuser: Signal<Out, Bits<137>>,
    /// A beat is offered.
    pub s_axis_rq_tvalid: Signal<Out, Bit>,
    /// Without meaning: straddle is on.
    pub s_axis_rq_tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub s_axis_rq_tready: Signal<In, Bits<4>>,
    /// Completions for the card, straddle on.
    pub m_axis_rc_tdata: Signal<In, Bits<512>>,
    /// Dwords valid.
    pub m_axis_rc_tkeep: Signal<In, Bits<16>>,
    /// Side band.
    pub m_axis_rc_tuser: Signal<In, Bits<161>>,
    /// A beat is offered.
    pub m_axis_rc_tvalid: Signal<In, Bit>,
    /// Without meaning: straddle is on.
    pub m_axis_rc_tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub m_axis_rc_tready: Signal<Out, Bit>,
    /// Requests for the card, straddle off.
    pub m_axis_cq_tdata: Signal<In, Bits<512>>,
    /// Dwords valid.
    pub m_axis_cq_tkeep: Signal<In, Bits<16>>,
    /// Side band.
    pub m_axis_cq_tuser: Signal<In, Bits<183>>,
    /// A beat is offered.
    pub m_axis_cq_tvalid: Signal<In, Bit>,
    /// Last beat of a packet.
    pub m_axis_cq_tlast: Signal<In, Bit>,
    /// The card takes the beat.
    pub m_axis_cq_tready: Signal<Out, Bit>,
    /// Completions of the card, straddle off.
    pub s_axis_cc_tdata: Signal<Out, Bits<512>>,
    /// Dwords valid.
    pub s_axis_cc_tkeep: Signal<Out, Bits<16>>,
    /// Side band.
    pub s_axis_cc_tuser: Signal<Out, Bits<81>>,
    /// A beat is offered.
    pub s_axis_cc_tvalid: Signal<Out, Bit>,
    /// Last beat of a packet.
    pub s_axis_cc_tlast: Signal<Out, Bit>,
    /// The hard block takes the beat; four copies of one signal.
    pub s_axis_cc_tready: Signal<In, Bits<4>>,
    /// First sequence number of requests that have left.
    pub pcie_rq_seq_num0: Signal<In, Bits<6>>,
    /// It is valid.
    pub pcie_rq_seq_num_vld0: Signal<In, Bit>,
    /// Second sequence number.
    pub pcie_rq_seq_num1: Signal<In, Bits<6>>,
    /// It is valid.
    pub pcie_rq_seq_num_vld1: Signal<In, Bit>,
    /// Maximum payload size: 128 bytes shifted by this.
    pub cfg_max_payload: Signal<In, Bits<2>>,
    /// Maximum read request size: 128 bytes shifted by this.
    pub cfg_max_read_req: Signal<In, Bits<3>>,
    /// Read completion boundary of each function: 0 is 64 bytes.
    pub cfg_rcb_status: Signal<In, Bits<4>>,
    /// Four bits a function: I/O, memory, bus master, interrupt disable.
    pub cfg_function_status: Signal<In, Bits<16>>,
    /// Function level reset of each function.
    pub cfg_flr_in_process: Signal<In, Bits<4>>,
    /// Its end.
    pub cfg_flr_done: Signal<Out, Bits<4>>,
    /// MSI-X enable of each function.
    pub cfg_interrupt_msix_enable: Signal<In, Bits<4>>,
    /// MSI-X mask of each function.
    pub cfg_interrupt_msix_mask: Signal<In, Bits<4>>,

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

    /// Producer index of an owner's header queue.
    pub header_produced: PulseSink<RingFetch>,
    /// Frames that the MAC side dropped for want of room.
    pub mac_dropped: Signal<In, Bit>,
    /// DropReason of dropped frames.
    pub drop_count: PulseSink<Bits<4>>,
    /// Disposition of packets.
    pub disposition_count: PulseSink<Bits<4>>,
    /// SendError of failed sends.
    pub send_error_count: PulseSink<Bits<3>>,
    /// Frames received, frames sent, descriptors, commands: a pulse each.
    pub stage_events: Signal<In, Bits<4>>,

    requester: Requester,
    completer: Completer,
    interrupt: Interrupt<OWNER_BITS, TABLE_BITS, OWNERS>,
    ring_side: RingSide<OWNER_BITS, OWNERS>,
    csr: Csr,
}

impl<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize>
    HostInterface<OWNER_BITS, OWNERS, TABLE_BITS>
{
    /// The host interface of a card with these sizes.
    pub fn new(config: &CardConfig) -> Self {
        Self {
            clock: Default::default(),
            user_reset: Default::default(),
            user_lnk_up: Default::default(),
            s_axis_rq_tdata: Default::default(),
            s_axis_rq_tkeep: Default::default(),
            s_axis_rq_tuser: Default::default(),
            s_axis_rq_tvalid: Default::default(),
            s_axis_rq_tlast: Default::default(),
            s_axis_rq_tready: Default::default(),
            m_axis_rc_tdata: Default::default(),
            m_axis_rc_tkeep: Default::default(),
            m_axis_rc_tuser: Default::default(),
            m_axis_rc_tvalid: Default::default(),
            m_axis_rc_tlast: Default::default(),
            m_axis_rc_tready: Default::default(),
            m_axis_cq_tdata: Default::default(),
            m_axis_cq_tkeep: Default::default(),
            m_axis_cq_tuser: Default::default(),
            m_axis_cq_tvalid: Default::default(),
            m_axis_cq_tlast: Default::default(),
            m_axis_cq_tready: Default::default(),
            s_axis_cc_tdata: Default::default(),
            s_axis_cc_tkeep: Default::default(),
            s_axis_cc_tuser: Default::default(),
            s_axis_cc_tvalid: Default::default(),
            s_axis_cc_tlast: Default::default(),
            s_axis_cc_tready: Default::default(),
            pcie_rq_seq_num0: Default::default(),
            pcie_rq_seq_num_vld0: Default::default(),
            pcie_rq_seq_num1: Default::default(),
            pcie_rq_seq_num_vld1: Default::default(),
            cfg_max_payload: Default::default(),
            cfg_max_read_req: Default::default(),
            cfg_rcb_status: Default::default(),
            cfg_function_status: Default::default(),
            cfg_flr_in_process: Default::default(),
            cfg_flr_done: Default::default(),
            cfg_interrupt_msix_enable: Default::default(),
            cfg_interrupt_msix_mask: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            settings: Default::default(),
            command_fetch: Default::default(),
            commands: Default::default(),
            descriptor_fetch: Default::default(),
            descriptors: Default::default(),
            confirmation: Default::default(),
            taken: Default::default(),
            write_job: Default::default(),
            write_data: Default::default(),
            flush_job: Default::default(),
            flush_data: Default::default(),
            payload_job: Default::default(),
            payload_data: Default::default(),
            header_produced: Default::default(),
            mac_dropped: Default::default(),
            drop_count: Default::default(),
            disposition_count: Default::default(),
            send_error_count: Default::default(),
            stage_events: Default::default(),
            requester: Default::default(),
            completer: Default::default(),
            interrupt: Default::default(),
            ring_side: Default::default(),
            csr: Csr::new(config),
        }
    }
}

impl<const OWNER_BITS: usize, const OWNERS: usize, const TABLE_BITS: usize> Logic
    for HostInterface<OWNER_BITS, OWNERS, TABLE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.requester.clock.next = self.clock.val();
        self.requester.reset.next = self.csr.reset.val();
        self.requester.user_reset.next = self.user_reset.val();
        self.requester.bus_master.next = self.cfg_function_status.val().get_bit(2);
        self.s_axis_rq_tdata.next = self.requester.s_axis_rq_tdata.val();
        self.s_axis_rq_tkeep.next = self.requester.s_axis_rq_tkeep.val();
        self.s_axis_rq_tuser.next = self.requester.s_axis_rq_tuser.val();
        self.s_axis_rq_tvalid.next = self.requester.s_axis_rq_tvalid.val();
        self.s_axis_rq_tlast.next = self.requester.s_axis_rq_tlast.val();
        self.requester.s_axis_rq_tready.next = self.s_axis_rq_tready.val().get_bit(0);
        self.requester.m_axis_rc_tdata.next = self.m_axis_rc_tdata.val();
        self.requester.m_axis_rc_tkeep.next = self.m_axis_rc_tkeep.val();
        self.requester.m_axis_rc_tuser.next = self.m_axis_rc_tuser.val();
        self.requester.m_axis_rc_tvalid.next = self.m_axis_rc_tvalid.val();
        self.requester.m_axis_rc_tlast.next = self.m_axis_rc_tlast.val();
        self.m_axis_rc_tready.next = self.requester.m_axis_rc_tready.val();
        self.requester.pcie_rq_seq_num0.next = self.pcie_rq_seq_num0.val();
        self.requester.pcie_rq_seq_num_vld0.next = self.pcie_rq_seq_num_vld0.val();
        self.requester.pcie_rq_seq_num1.next = self.pcie_rq_seq_num1.val();
        self.requester.pcie_rq_seq_num_vld1.next = self.pcie_rq_seq_num_vld1.val();
        self.requester.cfg_max_payload.next = self.cfg_max_payload.val();
        self.requester.cfg_max_read_req.next = self.cfg_max_read_req.val();
        self.requester.cfg_rcb_status.next = self.cfg_rcb_status.val().get_bit(0);
        // The hard block does not say; 32 tags of 512 bytes fill its completion buffer as it is.
        self.requester.extended_tags.next = false;

        self.completer.clock.next = self.clock.val();
        self.completer.reset.next = self.user_reset.val();
        self.completer.m_axis_cq_tdata.next = self.m_axis_cq_tdata.val();
        self.completer.m_axis_cq_tkeep.next = self.m_axis_cq_tkeep.val();
        self.completer.m_axis_cq_tuser.next = self.m_axis_cq_tuser.val();
        self.completer.m_axis_cq_tvalid.next = self.m_axis_cq_tvalid.val();
        self.completer.m_axis_cq_tlast.next = self.m_axis_cq_tlast.val();
        self.m_axis_cq_tready.next = self.completer.m_axis_cq_tready.val();
        self.s_axis_cc_tdata.next = self.completer.s_axis_cc_tdata.val();
        self.s_axis_cc_tkeep.next = self.completer.s_axis_cc_tkeep.val();
        self.s_axis_cc_tuser.next = self.completer.s_axis_cc_tuser.val();
        self.s_axis_cc_tvalid.next = self.completer.s_axis_cc_tvalid.val();
        self.s_axis_cc_tlast.next = self.completer.s_axis_cc_tlast.val();
        self.completer.s_axis_cc_tready.next = self.s_axis_cc_tready.val().get_bit(0);
        self.settings.valid.next = self.completer.register_write.valid.val();
        self.settings.payload.next = self.completer.register_write.payload.val();

        self.csr.clock.next = self.clock.val();
        self.csr.user_reset.next = self.user_reset.val();
        self.csr.link_up.next = self.user_lnk_up.val();
        self.csr.bus_master.next = self.cfg_function_status.val().get_bit(2);
        self.csr.flr_in_process.next = self.cfg_flr_in_process.val().get_bit(0);
        self.cfg_flr_done.next = bit_cast::<4, 1>(self.csr.flr_done.val().into());
        self.csr.tag_quarantined.next = self.requester.tag_quarantined.val();
        self.csr.mac_dropped.next = self.mac_dropped.val();
        self.csr.stage_events.next = bit_cast::<8, 4>(self.stage_events.val())
            | (bit_cast::<8, 1>(self.requester.write_tlp.val().into()) << 4)
            | (bit_cast::<8, 1>(self.requester.read_tlp.val().into()) << 5)
            | (bit_cast::<8, 1>(self.requester.read_timeout.val().into()) << 6)
            | (bit_cast::<8, 1>(self.requester.read_error.val().into()) << 7);
        self.reset.next = self.csr.reset.val();
        self.epoch.next = self.csr.epoch.val();
        self.csr.settings.valid.next = self.completer.register_write.valid.val();
        self.csr.settings.payload.next = self.completer.register_write.payload.val();
        MessageSource::<Bits<24>>::join(
            &mut self.completer.read_request,
            &mut self.csr.read_request,
        );
        MessageSource::<Bits<32>>::join(&mut self.csr.read_reply, &mut self.completer.read_reply);
        PulseSink::<Bits<4>>::link(&mut self.drop_count, &mut self.csr.drop_count);
        PulseSink::<Bits<4>>::link(&mut self.disposition_count, &mut self.csr.disposition_count);
        PulseSink::<Bits<3>>::link(&mut self.send_error_count, &mut self.csr.send_error_count);

        self.ring_side.clock.next = self.clock.val();
        self.ring_side.reset.next = self.csr.reset.val();
        self.ring_side.epoch.next = self.csr.epoch.val();
        self.ring_side.settings.valid.next = self.completer.register_write.valid.val();
        self.ring_side.settings.payload.next = self.completer.register_write.payload.val();
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

        self.interrupt.clock.next = self.clock.val();
        self.interrupt.reset.next = self.csr.reset.val();
        self.interrupt.settings.valid.next = self.completer.register_write.valid.val();
        self.interrupt.settings.payload.next = self.completer.register_write.payload.val();
        self.interrupt.msix_enable.next = self.cfg_interrupt_msix_enable.val().get_bit(0);
        self.interrupt.msix_mask.next = self.cfg_interrupt_msix_mask.val().get_bit(0);
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
