//! The card: every part once, joined in packet order; nothing else.
//!
//! ```text
//!  rx_axis ─► mac_receive ─► datapath ─► mac_send ─► tx_axis
//!                              ▲ ║ jobs, commands, descriptors
//!                              ║ ▼
//!                        host_interface ══ RQ RC CQ CC
//! ```
//! | port | what |
//! |---|---|
//! | `user_*`, `s_axis_*`, `m_axis_*`, `pcie_*`, `cfg_*` | user side of the PCIe hard block |
//! | `gt_txusrclk2`, `rx_axis_*`, `tx_axis_*` | user side of the 100G MAC |
//!
//! Invariants:
//! 1. Port names and layouts are those of the vendor's product guides; no port name contains `$`.
//! 2. There is no logic here but wires: what a stage decides is in the stage's file.
//!
//! Source: PG213 (PCIe, 512 bit, 250 MHz), PG203 (CMAC, 322.265625 MHz).

use abi::config::{CardConfig, DEFAULT, SMALL};
use stream::prelude::*;

use crate::datapath::Datapath;
use crate::host_interface::HostInterface;
use crate::ip::cmac::{MacReceive, MacSend};
use crate::ports::{design, ports_of, EmitError, Port};

/// The card as a Rust value is large: it is made and walked on a stack of its own.
const STACK_BYTES: usize = 1 << 30;

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

/// A configuration of the card, emitted.
#[derive(Clone, Debug)]
pub struct EmittedCard {
    /// Name of the top module.
    pub top: &'static str,
    /// Verilog of the whole card.
    pub design: verilog::Design,
    /// Ports of the top module.
    pub ports: Vec<Port>,
}

/// Emits the card in a named configuration; `None` for a name that is not one.
pub fn emit_card(config: &str) -> Option<Result<EmittedCard, EmitError>> {
    match config {
        "default" => Some(on_large_stack(|| {
            emitted(&mut DefaultCard::default(), "zeronic")
        })),
        "small" => Some(on_large_stack(|| {
            emitted(&mut SmallCard::default(), "zeronic_small")
        })),
        _ => None,
    }
}

fn emitted<B: Block>(card: &mut B, top: &'static str) -> Result<EmittedCard, EmitError> {
    Ok(EmittedCard {
        top,
        design: design(card, top)?,
        ports: ports_of(card),
    })
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        let thread = thread.expect("the system gives a thread a gigabyte of address space");
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The card. See the module's head.
#[derive(LogicBlock)]
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
    /// User clock of the hard block, 250 MHz.
    pub user_clk: Signal<In, Clock>,
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
    /// Always 1: non-posted requests are welcome.
    pub pcie_cq_np_req: Signal<Out, Bits<2>>,
    /// Which credits the hard block shows; always 0.
    pub cfg_fc_sel: Signal<Out, Bits<3>>,

    /// User clock of the MAC, both directions.
    pub gt_txusrclk2: Signal<In, Clock>,
    /// Received bytes.
    pub rx_axis_tdata: Signal<In, Bits<512>>,
    /// Bytes valid.
    pub rx_axis_tkeep: Signal<In, Bits<64>>,
    /// A beat is there.
    pub rx_axis_tvalid: Signal<In, Bit>,
    /// Last beat of a frame.
    pub rx_axis_tlast: Signal<In, Bit>,
    /// The frame is bad.
    pub rx_axis_tuser: Signal<In, Bit>,
    /// Bytes to send.
    pub tx_axis_tdata: Signal<Out, Bits<512>>,
    /// Bytes valid.
    pub tx_axis_tkeep: Signal<Out, Bits<64>>,
    /// A beat is offered.
    pub tx_axis_tvalid: Signal<Out, Bit>,
    /// Last beat of a frame.
    pub tx_axis_tlast: Signal<Out, Bit>,
    /// The frame is to be sent bad; never.
    pub tx_axis_tuser: Signal<Out, Bit>,
    /// The MAC takes the beat.
    pub tx_axis_tready: Signal<In, Bit>,

    mac_receive: MacReceive,
    datapath:
        Datapath<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS, OWNERS>,
    mac_send: MacSend,
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
    > Default
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
    fn default() -> Self {
        let config = CardConfig {
            name: "",
            flow_bits: FLOW_BITS,
            bucket_bits: BUCKET_BITS,
            segment_bits: SEGMENT_BITS,
            region_bits: REGION_BITS,
            page_bits: PAGE_BITS,
            owner_bits: OWNER_BITS,
        };
        Self {
            user_clk: Default::default(),
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
            pcie_cq_np_req: Default::default(),
            cfg_fc_sel: Default::default(),
            gt_txusrclk2: Default::default(),
            rx_axis_tdata: Default::default(),
            rx_axis_tkeep: Default::default(),
            rx_axis_tvalid: Default::default(),
            rx_axis_tlast: Default::default(),
            rx_axis_tuser: Default::default(),
            tx_axis_tdata: Default::default(),
            tx_axis_tkeep: Default::default(),
            tx_axis_tvalid: Default::default(),
            tx_axis_tlast: Default::default(),
            tx_axis_tuser: Default::default(),
            tx_axis_tready: Default::default(),
            mac_receive: Default::default(),
            datapath: Default::default(),
            mac_send: Default::default(),
            host_interface: HostInterface::new(&config),
        }
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
        self.mac_receive.clock.next = self.user_clk.val();
        self.mac_receive.mac_clock.next = self.gt_txusrclk2.val();
        self.mac_receive.rx_axis_tdata.next = self.rx_axis_tdata.val();
        self.mac_receive.rx_axis_tkeep.next = self.rx_axis_tkeep.val();
        self.mac_receive.rx_axis_tvalid.next = self.rx_axis_tvalid.val();
        self.mac_receive.rx_axis_tlast.next = self.rx_axis_tlast.val();
        self.mac_receive.rx_axis_tuser.next = self.rx_axis_tuser.val();
        self.mac_send.clock.next = self.user_clk.val();
        self.mac_send.mac_clock.next = self.gt_txusrclk2.val();
        self.mac_send.reset.next = self.host_interface.reset.val();
        self.tx_axis_tdata.next = self.mac_send.tx_axis_tdata.val();
        self.tx_axis_tkeep.next = self.mac_send.tx_axis_tkeep.val();
        self.tx_axis_tvalid.next = self.mac_send.tx_axis_tvalid.val();
        self.tx_axis_tlast.next = self.mac_send.tx_axis_tlast.val();
        self.tx_axis_tuser.next = self.mac_send.tx_axis_tuser.val();
        self.mac_send.tx_axis_tready.next = self.tx_axis_tready.val();

        self.host_interface.clock.next = self.user_clk.val();
        self.host_interface.user_reset.next = self.user_reset.val();
        self.host_interface.user_lnk_up.next = self.user_lnk_up.val();
        self.s_axis_rq_tdata.next = self.host_interface.s_axis_rq_tdata.val();
        self.s_axis_rq_tkeep.next = self.host_interface.s_axis_rq_tkeep.val();
        self.s_axis_rq_tuser.next = self.host_interface.s_axis_rq_tuser.val();
        self.s_axis_rq_tvalid.next = self.host_interface.s_axis_rq_tvalid.val();
        self.s_axis_rq_tlast.next = self.host_interface.s_axis_rq_tlast.val();
        self.host_interface.s_axis_rq_tready.next = self.s_axis_rq_tready.val();
        self.host_interface.m_axis_rc_tdata.next = self.m_axis_rc_tdata.val();
        self.host_interface.m_axis_rc_tkeep.next = self.m_axis_rc_tkeep.val();
        self.host_interface.m_axis_rc_tuser.next = self.m_axis_rc_tuser.val();
        self.host_interface.m_axis_rc_tvalid.next = self.m_axis_rc_tvalid.val();
        self.host_interface.m_axis_rc_tlast.next = self.m_axis_rc_tlast.val();
        self.m_axis_rc_tready.next = self.host_interface.m_axis_rc_tready.val();
        self.host_interface.m_axis_cq_tdata.next = self.m_axis_cq_tdata.val();
        self.host_interface.m_axis_cq_tkeep.next = self.m_axis_cq_tkeep.val();
        self.host_interface.m_axis_cq_tuser.next = self.m_axis_cq_tuser.val();
        self.host_interface.m_axis_cq_tvalid.next = self.m_axis_cq_tvalid.val();
        self.host_interface.m_axis_cq_tlast.next = self.m_axis_cq_tlast.val();
        self.m_axis_cq_tready.next = self.host_interface.m_axis_cq_tready.val();
        self.s_axis_cc_tdata.next = self.host_interface.s_axis_cc_tdata.val();
        self.s_axis_cc_tkeep.next = self.host_interface.s_axis_cc_tkeep.val();
        self.s_axis_cc_tuser.next = self.host_interface.s_axis_cc_tuser.val();
        self.s_axis_cc_tvalid.next = self.host_interface.s_axis_cc_tvalid.val();
        self.s_axis_cc_tlast.next = self.host_interface.s_axis_cc_tlast.val();
        self.host_interface.s_axis_cc_tready.next = self.s_axis_cc_tready.val();
        self.host_interface.pcie_rq_seq_num0.next = self.pcie_rq_seq_num0.val();
        self.host_interface.pcie_rq_seq_num_vld0.next = self.pcie_rq_seq_num_vld0.val();
        self.host_interface.pcie_rq_seq_num1.next = self.pcie_rq_seq_num1.val();
        self.host_interface.pcie_rq_seq_num_vld1.next = self.pcie_rq_seq_num_vld1.val();
        self.host_interface.cfg_max_payload.next = self.cfg_max_payload.val();
        self.host_interface.cfg_max_read_req.next = self.cfg_max_read_req.val();
        self.host_interface.cfg_rcb_status.next = self.cfg_rcb_status.val();
        self.host_interface.cfg_function_status.next = self.cfg_function_status.val();
        self.host_interface.cfg_flr_in_process.next = self.cfg_flr_in_process.val();
        self.cfg_flr_done.next = self.host_interface.cfg_flr_done.val();
        self.host_interface.cfg_interrupt_msix_enable.next = self.cfg_interrupt_msix_enable.val();
        self.host_interface.cfg_interrupt_msix_mask.next = self.cfg_interrupt_msix_mask.val();
        self.pcie_cq_np_req.next = bits::<2>(1);
        self.cfg_fc_sel.next = bits::<3>(0);

        self.datapath.clock.next = self.user_clk.val();
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
        PacketSource::join(
            &mut self.host_interface.commands,
            &mut self.datapath.commands,
        );
        MessageSource::<RingFetch>::join(
            &mut self.host_interface.descriptor_fetch,
            &mut self.datapath.descriptor_fetch,
        );
        PacketSource::join(
            &mut self.host_interface.descriptors,
            &mut self.datapath.descriptors,
        );
        MessageSource::<Confirmation>::join(
            &mut self.datapath.confirmation,
            &mut self.host_interface.confirmation,
        );
        PulseSource::<RingFetch>::join(&mut self.datapath.taken, &mut self.host_interface.taken);
        MessageSource::<WriteJob>::join(
            &mut self.datapath.write_job,
            &mut self.host_interface.write_job,
        );
        PacketSource::join(
            &mut self.datapath.write_data,
            &mut self.host_interface.write_data,
        );
        MessageSource::<ReadJob>::join(
            &mut self.datapath.flush_job,
            &mut self.host_interface.flush_job,
        );
        PacketSource::join(
            &mut self.host_interface.flush_data,
            &mut self.datapath.flush_data,
        );
        MessageSource::<ReadJob>::join(
            &mut self.datapath.payload_job,
            &mut self.host_interface.payload_job,
        );
        PacketSource::join(
            &mut self.host_interface.payload_data,
            &mut self.datapath.payload_data,
        );

        PulseSource::<RingFetch>::join(
            &mut self.datapath.header_produced,
            &mut self.host_interface.header_produced,
        );
        PulseSource::<Bits<4>>::join(
            &mut self.datapath.drop_count,
            &mut self.host_interface.drop_count,
        );
        PulseSource::<Bits<4>>::join(
            &mut self.datapath.disposition_count,
            &mut self.host_interface.disposition_count,
        );
        PulseSource::<Bits<3>>::join(
            &mut self.datapath.send_error_count,
            &mut self.host_interface.send_error_count,
        );
        self.host_interface.mac_dropped.next = self.mac_receive.dropped.val();
        self.host_interface.stage_events.next =
            bit_cast::<4, 1>(self.datapath.frame_done.val().into())
                | (bit_cast::<4, 1>(self.mac_send.frame_done.val().into()) << 1)
                | (bit_cast::<4, 1>(self.datapath.descriptor_done.val().into()) << 2)
                | (bit_cast::<4, 1>(self.datapath.command_done.val().into()) << 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_is_connected_and_its_verilog_unambiguous() {
        let card = emit_card("small").expect("a configuration");
        let error = card
            .as_ref()
            .err()
            .map_or(String::new(), |error| error.to_string());
        assert!(card.is_ok(), "{error}");
        let names = card.map(|card| card.ports).unwrap_or_default();
        assert!(
            names.iter().all(|port| !port.name.contains('$')),
            "a bundle at the top"
        );
    }
}
