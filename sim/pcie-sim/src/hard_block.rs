//! The hard block: the four streams, the transmit side and the configuration ports, cycle by cycle.
//!
//! ```text
//!   RQ --> Requester --> Transmitter --> lanes        CQ <-- CqSender <-- lanes
//!   RC <-- Requester <-- lanes                        CC --> CcReceiver --> Transmitter
//! ```
//!
//! Timing: every output is registered; `tready` of a cycle was decided in the cycle before.
//!
//! Invariant: with the link down no stream moves and `user_reset` is high; it stays high
//! [`RESET_CYCLES`] longer.
//!
//! Source: PG213.

use crate::config::{cycles, PcieConfig};
use crate::config_space::ConfigSpace;
use crate::descriptor::status;
use crate::function::{limits, Function};
use crate::mmio::Mmio;
use crate::ports::cc::CcReceiver;
use crate::ports::cq::{AcceptedRequest, CqPacket, CqSender};
use crate::ports::{CardInputs, CardOutputs};
use crate::random::Random;
use crate::requester::{IssuedRead, Requester};
use crate::tlp::{Completion, Request, RequestKind};
use crate::transmit::Transmitter;
use crate::violation::{Log, Violation};

/// Cycles of `user_reset` after the link has come up.
const RESET_CYCLES: u64 = 16;

/// The hard block.
#[derive(Clone, Debug)]
pub(crate) struct HardBlock {
    pub requester: Requester,
    pub transmitter: Transmitter,
    pub function: Function,
    cq: CqSender,
    cc: CcReceiver,
    config_space: ConfigSpace,
    link_up: bool,
    reset_until: u64,
    random: Random,
    issued: Vec<IssuedRead>,
    /// Requests that were dropped in this cycle because bus mastering is off.
    pub dropped: Vec<Request>,
    pub rq_stall_cycles: u64,
    /// Before this cycle RQ takes nothing.
    pub rq_from: u64,
}

impl HardBlock {
    /// Power on: the link is up, the user side in reset.
    pub fn new(config: &PcieConfig) -> Self {
        Self {
            requester: Requester::new(config),
            transmitter: Transmitter::new(config),
            function: Function::default(),
            cq: CqSender::default(),
            cc: CcReceiver::default(),
            config_space: ConfigSpace::default(),
            link_up: true,
            reset_until: RESET_CYCLES,
            random: Random::new(config.seed ^ 0x6361_7264),
            issued: Vec::new(),
            dropped: Vec::new(),
            rq_stall_cycles: 0,
            rq_from: 0,
        }
    }

    /// Whether the streams move in cycle `now`.
    pub fn is_running(&self, now: u64) -> bool {
        self.link_up && now >= self.reset_until
    }

    /// Whether the link is up.
    pub fn is_up(&self) -> bool {
        self.link_up
    }

    /// Samples what the card drives in this cycle.
    pub fn sample(
        &mut self,
        now: u64,
        card: &CardOutputs,
        inputs: &mut CardInputs,
        config: &PcieConfig,
        mmio: &mut Mmio,
        log: &mut Log,
    ) {
        let idle = self.random.chance(config.idle_permille);
        self.requester.step_rc(&mut inputs.rc, card.rc_tready, idle);
        let mut issued = std::mem::take(&mut self.issued);
        let (tready, limits) = (inputs.rq_tready, limits(config));
        self.rq_stall_cycles += u64::from(card.rq.tvalid && !tready);
        self.requester.sample_rq(now, card, tready, limits, log, |request| issued.push(request));
        for one in issued.drain(..) {
            if self.function.is_bus_master() {
                self.check_interrupt(now, &one.request, config, log);
                self.transmitter.push_request(one);
            } else {
                self.drop_request(now, &one.request, config, log);
                self.dropped.push(one.request);
            }
        }
        self.issued = issued;
        if let Some(words) = self.cc.sample(&card.cc, inputs.cc_tready, log) {
            if let Some(done) = mmio.check(&words, config, log) {
                self.transmitter.push_completion(words.len() as u32 - 3, done);
            }
        }
        let idle = self.random.chance(config.idle_permille);
        let taken = self.cq.step(&mut inputs.cq, card.cq_tready, card.pcie_cq_np_req, idle);
        if let Some(taken) = taken {
            mmio.note_taken(taken);
        }
        if card.cfg_flr_done & 1 != 0 {
            self.function.reset_running = false;
        }
        self.config_space.step(card, inputs, config, log);
    }

    /// A write into the interrupt window with MSI-X off is a violation, but still carried.
    fn check_interrupt(&self, now: u64, request: &Request, config: &PcieConfig, log: &mut Log) {
        let inside = request.address.wrapping_sub(config.interrupt_base);
        let off = self.function.cycles_without_interrupts(now);
        let late = !self.function.may_interrupt() && off > cycles(config.quiesce_ns);
        if late && inside < config.interrupt_bytes && request.kind == RequestKind::Write {
            log.push(Violation::InterruptsOff { address: request.address, cycles: off });
        }
    }

    /// With bus mastering off a write is dropped and a read ends as unsupported.
    fn drop_request(&mut self, now: u64, request: &Request, config: &PcieConfig, log: &mut Log) {
        let cycles_off = self.function.cycles_without_mastering(now);
        if cycles_off > cycles(config.quiesce_ns) {
            let address = request.address;
            log.push(Violation::NotBusMaster { address, cycles: cycles_off });
        }
        if request.kind == RequestKind::Read {
            let completion = Completion {
                requester_id: request.requester_id,
                completer_id: request.requester_id,
                tag: request.tag,
                status: status::UNSUPPORTED_REQUEST,
                lower_address: 0,
                byte_count: 4,
                poisoned: false,
                traffic_class: request.traffic_class,
                attributes: request.attributes,
                payload: Vec::new(),
                epoch: request.epoch,
            };
            self.requester.receive(completion, log);
        }
    }

    /// A register access has arrived over the link.
    pub fn receive_request(&mut self, packet: CqPacket, mmio: &mut Mmio) {
        if self.function.memory_enable {
            self.cq.push(packet);
            return;
        }
        let dwords = packet.words.len() - crate::ports::cq::DESCRIPTOR_DWORDS;
        let taken =
            packet.nonposted.map_or(AcceptedRequest::Write { dwords }, AcceptedRequest::Read);
        if let Some(done) = mmio.refuse(taken) {
            self.transmitter.push_completion(0, Some(done));
        }
    }

    /// Sets every output but the beats of RC and CQ for the next cycle.
    pub fn drive(
        &mut self,
        now: u64,
        card: &CardOutputs,
        inputs: &mut CardInputs,
        config: &PcieConfig,
    ) {
        let running = self.is_running(now + 1);
        let stall = self.random.chance(config.rq_stall_permille);
        let takes = now + 1 >= self.rq_from && self.transmitter.takes_requests();
        inputs.rq_tready = running && !stall && takes;
        let stall = self.random.chance(config.cc_stall_permille);
        inputs.cc_tready = running && !stall && self.transmitter.takes_completions();
        let (first, second) =
            (self.transmitter.sequence_number(), self.transmitter.sequence_number());
        inputs.pcie_rq_seq_num_vld0 = first.is_some();
        inputs.pcie_rq_seq_num0 = first.unwrap_or(0);
        inputs.pcie_rq_seq_num_vld1 = second.is_some();
        inputs.pcie_rq_seq_num1 = second.unwrap_or(0);
        inputs.pcie_cq_np_req_count = self.cq.admitted_count();
        self.drive_credits(card.cfg_fc_sel, inputs);
        self.function.drive(config, inputs);
        inputs.user_reset = !running;
        inputs.user_lnk_up = self.link_up;
        inputs.cfg_phy_link_down = !self.link_up;
        inputs.cfg_phy_link_status = if self.link_up { 3 } else { 0 };
        inputs.cfg_negotiated_width = config.link.lanes.ilog2() as u8;
        inputs.cfg_current_speed = match config.link.lane_mega_transfers {
            2500 => 0,
            5000 => 1,
            8000 => 2,
            _ => 3,
        };
    }

    fn drive_credits(&self, select: u8, inputs: &mut CardInputs) {
        let available = self.transmitter.credits(4).nonposted_headers;
        inputs.pcie_tfc_nph_av = available.min(15) as u8;
        inputs.pcie_tfc_npd_av = available.min(15) as u8;
        let shown = self.transmitter.credits(select);
        // "Available" saturates; the running counters wrap as they do on the link.
        let clip = |value: u32, bits: u32| match select {
            4 => value.min((1 << bits) - 1),
            _ => value & ((1 << bits) - 1),
        };
        inputs.cfg_fc_ph = clip(shown.posted_headers, 8) as u8;
        inputs.cfg_fc_pd = clip(shown.posted_data, 12) as u16;
        inputs.cfg_fc_nph = clip(shown.nonposted_headers, 8) as u8;
        inputs.cfg_fc_npd = 0;
        inputs.cfg_fc_cplh = 0;
        inputs.cfg_fc_cpld = 0;
    }

    /// A function level reset begins: registers are cleared, reads end with their error code.
    pub fn start_function_reset(&mut self, now: u64) {
        self.function.reset(now);
        self.function.reset_running = true;
        self.requester.function_reset();
    }

    /// The link goes down: everything in flight is lost.
    pub fn link_down(&mut self, now: u64, inputs: &mut CardInputs, config: &PcieConfig) {
        self.requester.reset(config);
        self.transmitter.reset(config);
        self.cq.reset();
        self.cc.reset();
        self.function.reset(now);
        self.link_up = false;
        inputs.rc.tvalid = false;
        inputs.cq.tvalid = false;
    }

    /// The link comes up again; the user side stays in reset for a while.
    pub fn link_up(&mut self, now: u64) {
        if !self.link_up {
            self.link_up = true;
            self.reset_until = now + RESET_CYCLES;
        }
    }
}
