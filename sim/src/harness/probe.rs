//! Observes the card's ports and records when a beat passes: the start and the end of a latency.
//!
//! ```text
//!   rx_axis: last beat of a frame     RQ: first beat of a write     RC, CC: not observed
//!   tx_axis: first beat of a frame    CQ: a register access
//! ```
//! Timing: a passage is the rising edge at which the beat is taken.

use pcie_sim::descriptor::{cq, request_type, rq, rq_user};
use pcie_sim::{CardInputs, CardOutputs};

use verilate::verilated::{Model, PortId};

/// What passed a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The last beat of a frame into the card.
    ReceiveLast,
    /// The first beat of a frame out of the card.
    SendFirst,
    /// The first beat of a memory write out of the card.
    Write {
        /// Bus address of its first dword.
        address: u64,
        /// Dwords of payload.
        dwords: u32,
    },
    /// A register access into the card.
    Register {
        /// Bus address.
        address: u64,
    },
}

/// The probe of one card.
pub struct Probe {
    /// What has passed and when, in ps, oldest first.
    pub passages: Vec<(u64, Passage)>,
    rx_valid: PortId,
    rx_last: PortId,
    tx_valid: PortId,
    tx_ready: PortId,
    tx_last: PortId,
    in_sent_frame: bool,
    in_register_access: bool,
}

impl Probe {
    /// A probe at the ports of the card's model.
    pub fn new(model: &Model) -> Self {
        Self {
            passages: Vec::new(),
            rx_valid: model.port("rx_axis_tvalid"),
            rx_last: model.port("rx_axis_tlast"),
            tx_valid: model.port("tx_axis_tvalid"),
            tx_ready: model.port("tx_axis_tready"),
            tx_last: model.port("tx_axis_tlast"),
            in_sent_frame: false,
            in_register_access: false,
        }
    }

    /// Before a rising edge of the MAC's clock.
    pub fn wire(&mut self, model: &Model, now_ps: u64) {
        if model.is_high(self.rx_valid) && model.is_high(self.rx_last) {
            self.passages.push((now_ps, Passage::ReceiveLast));
        }
        if model.is_high(self.tx_valid) && model.is_high(self.tx_ready) {
            if !self.in_sent_frame {
                self.passages.push((now_ps, Passage::SendFirst));
            }
            self.in_sent_frame = !model.is_high(self.tx_last);
        }
    }

    /// Before a rising edge of the user clock: what the card drives and what it sees.
    pub fn link(&mut self, outputs: &CardOutputs, inputs: &CardInputs, now_ps: u64) {
        if outputs.rq.tvalid && inputs.rq_tready {
            self.requests(outputs, now_ps);
        }
        if inputs.cq.tvalid && outputs.cq_tready {
            if !self.in_register_access {
                let address = cq::ADDRESS.get(&inputs.cq.tdata) << 2;
                self.passages.push((now_ps, Passage::Register { address }));
            }
            self.in_register_access = !inputs.cq.tlast;
        }
    }

    fn requests(&mut self, outputs: &CardOutputs, now_ps: u64) {
        let starts = rq_user::IS_SOP.get(&outputs.rq.tuser);
        for slot in (0..2).filter(|slot| starts & (1 << slot) != 0) {
            let at = rq_user::SOP_POINTER[slot].get(&outputs.rq.tuser) as usize * 4;
            let Some(descriptor) = outputs.rq.tdata.get(at..at + 4) else { continue };
            if rq::TYPE.get(descriptor) == u64::from(request_type::MEMORY_WRITE) {
                let passage = Passage::Write {
                    address: rq::ADDRESS.get(descriptor) << 2,
                    dwords: rq::DWORD_COUNT.get(descriptor) as u32,
                };
                self.passages.push((now_ps, passage));
            }
        }
    }
}
