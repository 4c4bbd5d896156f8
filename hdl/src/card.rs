//! The card: every part once, joined in packet order.
//!
//! ```text
//!  rx_axis ─► mac_receive ─► datapath ─► mac_send ─► tx_axis     mac_link ◄── stat_rx
//!                              ▲ ║ jobs, commands, descriptors
//!                              ║ ▼
//!                        host_interface ══ RQ RC CQ CC
//! ```
//! The block only connects: it drives one constant (`pcie_cq_np_req`) and has no other logic.
//!
//! The ports `user_*`, `s_axis_*`, `m_axis_*`, `pcie_*` and `cfg_*` are the user side of the PCIe
//! hard block; `gt_txusrclk2`, `rx_axis_*`, `tx_axis_*`, `usr_*` and `stat_rx_*` are the user side
//! of the 100G MAC. `m_axil_*` leads to what a board has beside them.
//!
//! Timing: see the blocks.
//!
//! Invariants:
//! 1. Port names and layouts are those of the vendor's product guides; no port name contains `$`.
//!
//! Source: PG213 (PCIe, 512 bit, 250 MHz), PG203 (CMAC, 322.265625 MHz).

use abi::config::{CardConfig, DEFAULT, LAB, SMALL};
use ip::axi_lite::AxiLiteMaster;
use ip::completion_buffer::CompletionBuffer;
use ip::pcie::{
    CompletionPort, Configuration, ConfigurationSpace, HostReplyPort, HostRequestPort, RequestPort,
    SequencePort,
};
use stream::prelude::*;

use crate::datapath::Datapath;
use host_interface::host_interface::HostInterface;
use ip::cmac::link::MacLink;
use ip::cmac::receive::MacReceive;
use ip::cmac::send::MacSend;

/// The card in the default sizes.
pub type DefaultCard = Card<
    { DEFAULT.flow_bits },
    { DEFAULT.bucket_bits },
    { DEFAULT.segment_bits },
    { DEFAULT.region_bits },
    { DEFAULT.page_bits },
    { DEFAULT.owner_bits },
    { 1 << DEFAULT.owner_bits },
    { DEFAULT.owner_bits + 2 },
>;

/// The card in the sizes of one die.
pub type LabCard = Card<
    { LAB.flow_bits },
    { LAB.bucket_bits },
    { LAB.segment_bits },
    { LAB.region_bits },
    { LAB.page_bits },
    { LAB.owner_bits },
    { 1 << LAB.owner_bits },
    { LAB.owner_bits + 2 },
>;

/// The card with small tables, for quick tests.
pub type SmallCard = Card<
    { SMALL.flow_bits },
    { SMALL.bucket_bits },
    { SMALL.segment_bits },
    { SMALL.region_bits },
    { SMALL.page_bits },
    { SMALL.owner_bits },
    { 1 << SMALL.owner_bits },
    { SMALL.owner_bits + 2 },
>;

/// The card, for a PCIe hard block with this completion `buffer`. See the module's head.
///
/// The build stops if no card of these sizes is possible.
#[derive(LogicBlock, BlockDefault)]
#[new(buffer: CompletionBuffer)]
pub struct Card<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
    const OWNERS: usize,
    const TABLE_BITS: usize,
> {
    /// PCIe user clock, 250 MHz.
    pub user_clk: Signal<In, Clock>,
    /// Reset of the PCIe hard block: it has lost every TLP.
    pub user_reset: Signal<In, Bit>,
    /// The PCIe link is up.
    pub user_lnk_up: Signal<In, Bit>,
    /// Requests of the card.
    pub s_axis_rq: RequestPort,
    /// Completions for the card.
    pub m_axis_rc: CompletionPort,
    /// Requests of the host.
    pub m_axis_cq: HostRequestPort,
    /// Completions of the card.
    pub s_axis_cc: HostReplyPort,
    /// Sequence numbers of the requests that have left the hard block.
    pub pcie_rq_seq: SequencePort,
    /// Settings of the host, and flow control credits.
    pub cfg: Configuration,
    /// Access to the configuration space of the card's own function.
    pub cfg_mgmt: ConfigurationSpace,
    /// Non-posted header credits available, at most 15.
    pub pcie_tfc_nph_av: Signal<In, Bits<4>>,
    /// Accepts non-posted requests of the host: always 1.
    pub pcie_cq_np_req: Signal<Out, Bits<2>>,

    /// The board window: what the board has beside PCIe and wire, in `user_clk`. The address is the
    /// byte offset in BAR 0.
    pub m_axil: AxiLiteMaster,

    /// MAC clock, 322 MHz, for both directions.
    pub gt_txusrclk2: Signal<In, Clock>,
    /// Bytes of a received frame, byte 0 in bits 7:0.
    pub rx_axis_tdata: Signal<In, Bits<512>>,
    /// Valid bytes of the received beat, contiguous from bit 0.
    pub rx_axis_tkeep: Signal<In, Bits<64>>,
    /// A received beat is present. There is no ready: the port cannot be stalled.
    pub rx_axis_tvalid: Signal<In, Bit>,
    /// Last beat of the received frame.
    pub rx_axis_tlast: Signal<In, Bit>,
    /// The received frame is bad. Valid on the last beat.
    pub rx_axis_tuser: Signal<In, Bit>,
    /// Bytes of the frame to send, byte 0 in bits 7:0.
    pub tx_axis_tdata: Signal<Out, Bits<512>>,
    /// Valid bytes of the beat to send, contiguous from bit 0.
    pub tx_axis_tkeep: Signal<Out, Bits<64>>,
    /// A beat to send is offered. It does not fall inside a frame.
    pub tx_axis_tvalid: Signal<Out, Bit>,
    /// Last beat of the frame to send.
    pub tx_axis_tlast: Signal<Out, Bit>,
    /// The frame to send is to be marked bad: an epoch has ended it. Valid on the last beat.
    pub tx_axis_tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tx_axis_tready: Signal<In, Bit>,
    /// The MAC's receive side is in reset.
    pub usr_rx_reset: Signal<In, Bit>,
    /// The MAC's send side is in reset.
    pub usr_tx_reset: Signal<In, Bit>,
    /// The MAC's receiver is aligned to the lanes of the wire.
    pub stat_rx_aligned: Signal<In, Bit>,
    /// The MAC's receiver sees no signal that it can decode.
    pub stat_rx_local_fault: Signal<In, Bit>,
    /// The other end of the wire reports that it receives nothing.
    pub stat_rx_remote_fault: Signal<In, Bit>,
    /// The MAC has lost bytes of a frame to send.
    pub tx_ovfout: Signal<In, Bit>,
    /// The MAC was given a gap inside a frame to send.
    pub tx_unfout: Signal<In, Bit>,
    /// The other end asks for a pause: bits 7:0 by priority, which are ignored, bit 8 for all.
    pub stat_rx_pause_req: Signal<In, Bits<9>>,
    /// The other end is to be asked for a pause: bits as above.
    pub ctl_tx_pause_req: Signal<Out, Bits<9>>,

    mac_receive: MacReceive,
    datapath:
        Datapath<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS, OWNERS>,
    mac_send: MacSend,
    mac_link: MacLink,
    wire_events: Signal<Local, WireEvents>,
    #[value(HostInterface::new(
        &const {
            let config = CardConfig {
                name: "",
                flow_bits: FLOW_BITS,
                bucket_bits: BUCKET_BITS,
                segment_bits: SEGMENT_BITS,
                region_bits: REGION_BITS,
                page_bits: PAGE_BITS,
                owner_bits: OWNER_BITS,
            };
            config.assert_possible();
            config
        },
        buffer,
    ))]
    host_interface: HostInterface<OWNER_BITS, OWNERS, TABLE_BITS>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
        const OWNERS: usize,
        const TABLE_BITS: usize,
    >
    Card<
        FLOW_BITS,
        BUCKET_BITS,
        SEGMENT_BITS,
        REGION_BITS,
        PAGE_BITS,
        OWNER_BITS,
        OWNERS,
        TABLE_BITS,
    >
{
    /// The card with its receive list in the neighbour die: registers on all ways to it.
    pub fn with_die_slices(mut self) -> Self {
        self.datapath.move_list_away();
        self
    }
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
        const OWNERS: usize,
        const TABLE_BITS: usize,
    > Logic
    for Card<
        FLOW_BITS,
        BUCKET_BITS,
        SEGMENT_BITS,
        REGION_BITS,
        PAGE_BITS,
        OWNER_BITS,
        OWNERS,
        TABLE_BITS,
    >
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, user_clk, mac_send, mac_link, host_interface, datapath);
        self.mac_receive.mac_clock.next = self.gt_txusrclk2.val();
        self.mac_receive.usr_rx_reset.next = self.usr_rx_reset.val();
        self.datapath.rx_frame_cut.next = self.mac_receive.cut.val();
        self.mac_receive.rx_axis_tdata.next = self.rx_axis_tdata.val();
        self.mac_receive.rx_axis_tkeep.next = self.rx_axis_tkeep.val();
        self.mac_receive.rx_axis_tvalid.next = self.rx_axis_tvalid.val();
        self.mac_receive.rx_axis_tlast.next = self.rx_axis_tlast.val();
        self.mac_receive.rx_axis_tuser.next = self.rx_axis_tuser.val();
        self.mac_send.mac_clock.next = self.gt_txusrclk2.val();
        self.mac_send.reset.next = self.host_interface.reset.val();
        self.tx_axis_tdata.next = self.mac_send.tx_axis_tdata.val();
        self.tx_axis_tkeep.next = self.mac_send.tx_axis_tkeep.val();
        self.tx_axis_tvalid.next = self.mac_send.tx_axis_tvalid.val();
        self.tx_axis_tlast.next = self.mac_send.tx_axis_tlast.val();
        self.tx_axis_tuser.next = self.mac_send.tx_axis_tuser.val();
        self.mac_send.tx_axis_tready.next = self.tx_axis_tready.val();
        self.mac_send.usr_tx_reset.next = self.usr_tx_reset.val();

        self.mac_link.mac_clock.next = self.gt_txusrclk2.val();
        self.mac_link.reset.next = self.host_interface.reset.val();
        self.mac_link.settings.valid.next = self.host_interface.settings.valid.val();
        self.mac_link.settings.payload.next = self.host_interface.settings.payload.val();
        self.mac_link.stat_rx_aligned.next = self.stat_rx_aligned.val();
        self.mac_link.stat_rx_local_fault.next = self.stat_rx_local_fault.val();
        self.mac_link.stat_rx_remote_fault.next = self.stat_rx_remote_fault.val();
        self.mac_link.tx_ovfout.next = self.tx_ovfout.val();
        self.mac_link.tx_unfout.next = self.tx_unfout.val();
        self.mac_link.stat_rx_pause_req.next = self.stat_rx_pause_req.val();
        self.ctl_tx_pause_req.next = self.mac_link.ctl_tx_pause_req.val();
        self.mac_link.flush_request.next = self.mac_send.flush_request.val();
        self.mac_send.flush_done.next = self.mac_link.flush_done.val();
        self.mac_send.flush.next = self.mac_link.flush.val();
        self.mac_link.flushed.next = self.mac_send.flushed.val();
        self.mac_send.hold.next = self.mac_link.hold.val();
        self.mac_link.rx_buffer_beats.next = self.datapath.buffer_beats_peak.val();
        self.mac_send.link_up.next = self.mac_link.link_up.val();
        self.datapath.sends_fail.next = self.mac_link.sends_fail.val();
        MessageSource::<SendEvent>::join(
            &mut self.mac_link.link_event,
            &mut self.datapath.link_event,
        );
        self.host_interface.wire_status.next = self.mac_link.status.val();
        self.wire_events.next = self.mac_link.events.val();
        self.wire_events.next.tx_frames_unsent = self.mac_send.unsent.val();
        self.wire_events.next.tx_frames_cut = self.mac_send.cut.val();
        self.host_interface.wire_events.next = self.wire_events.val();
        self.host_interface.run_events.next = self.datapath.run_events.val();

        self.host_interface.user_reset.next = self.user_reset.val();
        self.host_interface.user_lnk_up.next = self.user_lnk_up.val();
        RequestPort::link(&mut self.s_axis_rq, &mut self.host_interface.s_axis_rq);
        CompletionPort::link(&mut self.m_axis_rc, &mut self.host_interface.m_axis_rc);
        HostRequestPort::link(&mut self.m_axis_cq, &mut self.host_interface.m_axis_cq);
        HostReplyPort::link(&mut self.s_axis_cc, &mut self.host_interface.s_axis_cc);
        AxiLiteMaster::link(&mut self.m_axil, &mut self.host_interface.m_axil);
        SequencePort::link(&mut self.pcie_rq_seq, &mut self.host_interface.pcie_rq_seq);
        Configuration::link(&mut self.cfg, &mut self.host_interface.cfg);
        ConfigurationSpace::link(&mut self.cfg_mgmt, &mut self.host_interface.cfg_mgmt);
        self.host_interface.pcie_tfc_nph_av.next = self.pcie_tfc_nph_av.val();
        self.pcie_cq_np_req.next = bits::<2>(1);

        self.datapath.mac_clock.next = self.gt_txusrclk2.val();
        self.datapath.reset.next = self.host_interface.reset.val();
        self.datapath.epoch.next = self.host_interface.epoch.val();
        PulseSource::<RegisterWrite>::join(
            &mut self.host_interface.settings,
            &mut self.datapath.settings,
        );
        PacketSource::join(&mut self.mac_receive.frames, &mut self.datapath.rx_frames);
        PacketSource::join(&mut self.datapath.tx_frames, &mut self.mac_send.frames);
        MessageSource::<RingFetch>::join(
            &mut self.host_interface.command_fetch,
            &mut self.datapath.command_fetch,
        );
        PacketSource::join(&mut self.host_interface.commands, &mut self.datapath.commands);
        MessageSource::<RingFetch>::join(
            &mut self.host_interface.descriptor_fetch,
            &mut self.datapath.descriptor_fetch,
        );
        PacketSource::join(&mut self.host_interface.descriptors, &mut self.datapath.descriptors);
        MessageSource::<Confirmation>::join(
            &mut self.datapath.confirmation,
            &mut self.host_interface.confirmation,
        );
        PulseSource::<RingFetch>::join(&mut self.datapath.taken, &mut self.host_interface.taken);
        MessageSource::<WriteJob>::join(
            &mut self.datapath.write_job,
            &mut self.host_interface.write_job,
        );
        PacketSource::join(&mut self.datapath.write_data, &mut self.host_interface.write_data);
        MessageSource::<ReadJob>::join(
            &mut self.datapath.flush_job,
            &mut self.host_interface.flush_job,
        );
        PacketSource::join(&mut self.host_interface.flush_data, &mut self.datapath.flush_data);
        MessageSource::<ReadJob>::join(
            &mut self.datapath.payload_job,
            &mut self.host_interface.payload_job,
        );
        PacketSource::join(&mut self.host_interface.payload_data, &mut self.datapath.payload_data);

        PulseSource::<RingFetch>::join(
            &mut self.datapath.header_produced,
            &mut self.host_interface.header_produced,
        );
        PulseSource::<DropCode>::join(
            &mut self.datapath.drop_count,
            &mut self.host_interface.drop_count,
        );
        PulseSource::<DispositionCode>::join(
            &mut self.datapath.disposition_count,
            &mut self.host_interface.disposition_count,
        );
        PulseSource::<SendErrorCode>::join(
            &mut self.datapath.send_error_count,
            &mut self.host_interface.send_error_count,
        );
        self.host_interface.send_event_lost.next = self.datapath.send_event_lost.val();
        self.host_interface.tables_busy.next = self.datapath.tables_busy.val();
        self.host_interface.rx_buffer_beats.next = self.datapath.buffer_beats_peak.val();
        self.host_interface.rx_almost_full.next = self.datapath.buffer_almost_full.val();
        self.host_interface.tx_fifo_beats.next = self.mac_send.beats_peak.val();
        self.host_interface.rx_frame.next = self.datapath.frame_done.val();
        self.host_interface.tx_frame.next = self.mac_send.frame_done.val();
        self.host_interface.tx_descriptor.next = self.datapath.descriptor_done.val();
        self.host_interface.command.next = self.datapath.command_done.val();
        self.host_interface.rx_packet.next = self.datapath.packet_taken.val();
        self.host_interface.rx_packet_stall.next = self.datapath.packet_stalled.val();
        self.host_interface.tx_beat.next = self.mac_send.beat_taken.val();
        self.host_interface.tx_stall.next = self.mac_send.beat_stalled.val();
    }
}
