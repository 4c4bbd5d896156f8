//! The card's PCIe ports: moves values between a model and [`pcie_sim`], name by name.
//!
//! ```text
//!   ports s_axis_rq_*, m_axis_rc_*, m_axis_cq_*, s_axis_cc_*, cfg_* ◄──► CardOutputs, CardInputs
//! ```
//! Ports that the model does not have are left out: a block test may build a part of the card.

use pcie_sim::{Beat, CardInputs, CardOutputs};

use verilate::verilated::{Model, PortId};

struct Axis {
    data: PortId,
    keep: PortId,
    user: PortId,
    valid: PortId,
    last: PortId,
    ready: PortId,
}

impl Axis {
    fn find(model: &Model, prefix: &str) -> Option<Axis> {
        let port = |field: &str| model.find_port(&format!("{prefix}_{field}"));
        Some(Axis {
            data: port("tdata")?,
            keep: port("tkeep")?,
            user: port("tuser")?,
            valid: port("tvalid")?,
            last: port("tlast")?,
            ready: port("tready")?,
        })
    }

    /// Reads a beat that the card drives.
    fn read<const W: usize>(&self, model: &Model, beat: &mut Beat<W>) {
        beat.tvalid = model.is_high(self.valid);
        if !beat.tvalid {
            return;
        }
        beat.tdata.copy_from_slice(model.words(self.data));
        beat.tuser.copy_from_slice(model.words(self.user));
        beat.tkeep = model.get(self.keep) as u16;
        beat.tlast = model.is_high(self.last);
    }

    /// Drives a beat that the card sees.
    fn write<const W: usize>(&self, model: &mut Model, beat: &Beat<W>) {
        model.set(self.valid, u64::from(beat.tvalid));
        if !beat.tvalid {
            return;
        }
        model.words_mut(self.data).copy_from_slice(&beat.tdata);
        model.words_mut(self.user).copy_from_slice(&beat.tuser);
        model.set(self.keep, u64::from(beat.tkeep));
        model.set(self.last, u64::from(beat.tlast));
    }
}

type Reader = fn(&CardInputs) -> u64;

/// Every PCIe port of a model, found once.
pub struct PciePorts {
    rq: Option<Axis>,
    rc: Option<Axis>,
    cq: Option<Axis>,
    cc: Option<Axis>,
    inputs: Vec<(PortId, Reader)>,
    np_req: Option<PortId>,
    fc_sel: Option<PortId>,
    flr_done: Option<PortId>,
    space: Option<SpacePorts>,
}

/// Access to the configuration space.
struct SpacePorts {
    address: PortId,
    function: PortId,
    read: PortId,
    write: PortId,
}

impl SpacePorts {
    fn find(model: &Model) -> Option<SpacePorts> {
        let port = |field: &str| model.find_port(&format!("cfg_mgmt_{field}"));
        Some(SpacePorts {
            address: port("addr")?,
            function: port("function_number")?,
            read: port("read")?,
            write: port("write")?,
        })
    }
}

const INPUTS: &[(&str, Reader)] = &[
    ("pcie_rq_seq_num0", |i| i.pcie_rq_seq_num0.into()),
    ("pcie_rq_seq_num_vld0", |i| i.pcie_rq_seq_num_vld0.into()),
    ("pcie_rq_seq_num1", |i| i.pcie_rq_seq_num1.into()),
    ("pcie_rq_seq_num_vld1", |i| i.pcie_rq_seq_num_vld1.into()),
    ("cfg_max_payload", |i| i.cfg_max_payload.into()),
    ("cfg_max_read_req", |i| i.cfg_max_read_req.into()),
    ("cfg_rcb_status", |i| i.cfg_rcb_status.into()),
    ("cfg_function_status", |i| i.cfg_function_status.into()),
    ("cfg_phy_link_down", |i| i.cfg_phy_link_down.into()),
    ("user_reset", |i| i.user_reset.into()),
    ("user_lnk_up", |i| i.user_lnk_up.into()),
    ("cfg_flr_in_process", |i| i.cfg_flr_in_process.into()),
    ("cfg_fc_ph", |i| i.cfg_fc_ph.into()),
    ("cfg_fc_pd", |i| i.cfg_fc_pd.into()),
    ("pcie_tfc_nph_av", |i| i.pcie_tfc_nph_av.into()),
    ("cfg_mgmt_read_data", |i| i.cfg_mgmt_read_data.into()),
    ("cfg_mgmt_read_write_done", |i| i.cfg_mgmt_read_write_done.into()),
    ("cfg_interrupt_msix_enable", |i| i.cfg_interrupt_msix_enable.into()),
    ("cfg_interrupt_msix_mask", |i| i.cfg_interrupt_msix_mask.into()),
];

impl PciePorts {
    /// Finds the ports of a model.
    pub fn new(model: &Model) -> PciePorts {
        let found = |&(name, read): &(&str, Reader)| Some((model.find_port(name)?, read));
        PciePorts {
            rq: Axis::find(model, "s_axis_rq"),
            rc: Axis::find(model, "m_axis_rc"),
            cq: Axis::find(model, "m_axis_cq"),
            cc: Axis::find(model, "s_axis_cc"),
            inputs: INPUTS.iter().filter_map(found).collect(),
            np_req: model.find_port("pcie_cq_np_req"),
            fc_sel: model.find_port("cfg_fc_sel"),
            flr_done: model.find_port("cfg_flr_done"),
            space: SpacePorts::find(model),
        }
    }

    /// What the card drives now; call just before a rising edge of the user clock.
    pub fn sample(&self, model: &Model, outputs: &mut CardOutputs) {
        let ready = |axis: &Option<Axis>| axis.as_ref().is_some_and(|a| model.is_high(a.ready));
        if let Some(rq) = &self.rq {
            rq.read(model, &mut outputs.rq);
        }
        if let Some(cc) = &self.cc {
            cc.read(model, &mut outputs.cc);
        }
        outputs.rc_tready = ready(&self.rc);
        outputs.cq_tready = ready(&self.cq);
        outputs.pcie_cq_np_req = self.np_req.map_or(1, |port| model.get(port) as u8);
        outputs.cfg_fc_sel = self.fc_sel.map_or(0, |port| model.get(port) as u8);
        outputs.cfg_flr_done = self.flr_done.map_or(0, |port| model.get(port) as u8);
        if let Some(space) = &self.space {
            outputs.cfg_mgmt_addr = model.get(space.address) as u16;
            outputs.cfg_mgmt_function_number = model.get(space.function) as u8;
            outputs.cfg_mgmt_read = model.is_high(space.read);
            outputs.cfg_mgmt_write = model.is_high(space.write);
        }
    }

    /// Drives what the card sees; call just after a rising edge of the user clock.
    pub fn drive(&self, model: &mut Model, inputs: &CardInputs) {
        if let Some(rc) = &self.rc {
            rc.write(model, &inputs.rc);
        }
        if let Some(cq) = &self.cq {
            cq.write(model, &inputs.cq);
        }
        if let Some(rq) = &self.rq {
            model.set(rq.ready, ready_copies(inputs.rq_tready));
        }
        if let Some(cc) = &self.cc {
            model.set(cc.ready, ready_copies(inputs.cc_tready));
        }
        for &(port, read) in &self.inputs {
            model.set(port, read(inputs));
        }
    }
}

/// The vendor's `tready` of RQ and CC is four copies of one signal.
fn ready_copies(ready: bool) -> u64 {
    if ready {
        0xf
    } else {
        0
    }
}
