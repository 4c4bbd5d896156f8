//! Why each port of the PCIe core that the card has no part in is tied or open.
//!
//! ```text
//!   port ──► longest prefix below ──► reason ──► table of docs/hardware.md
//! ```
//! Source: PG213; what happens at 0 of the ports that must be 1 is judgement, not measured.

/// Beginning of a port's name, and the reason for what the tops do with it.
const REASONS: &[(&str, &str)] = &[
    ("pcie_rq_tag", "tags are the card's own: client tags are on"),
    ("pcie_tfc_npd_av", "reads carry no data"),
    ("pcie_cq_np_req_count", "the card always takes requests"),
    ("cfg_phy_link_", "`user_lnk_up` and `cfg_ltssm_state` say it"),
    ("cfg_negotiated_width", "the host reads it from the configuration space"),
    ("cfg_current_speed", "the host reads it from the configuration space"),
    ("cfg_vf_", "no virtual functions"),
    ("cfg_link_power_state", "the card does not manage the link"),
    ("cfg_err_cor_out", "the host's error registers have it"),
    ("cfg_err_nonfatal_out", "the host's error registers have it"),
    ("cfg_err_fatal_out", "the host's error registers have it"),
    ("cfg_err_cor_in", "the card reports its errors in its own registers"),
    ("cfg_err_uncor_in", "the card reports its errors in its own registers"),
    ("cfg_rx_pm_state", "the card does not manage the link"),
    ("cfg_tx_pm_state", "the card does not manage the link"),
    ("cfg_obff_enable", "not used"),
    ("cfg_pl_status_change", "`cfg_ltssm_state` says it"),
    ("cfg_tph_", "processing hints are off"),
    ("cfg_msg_received", "no message concerns the card"),
    ("cfg_msg_transmit", "the card sends no messages"),
    ("cfg_fc_nph", "`pcie_tfc_nph_av` is read instead"),
    ("cfg_fc_npd", "reads carry no data"),
    ("cfg_fc_cpl", "completions of register reads are too few to count"),
    ("cfg_dsn", "no serial number: legal"),
    ("cfg_power_state_change_ack", "at 0 a change to D3 never ends"),
    ("cfg_power_state_change_interrupt", "changes are always acknowledged"),
    ("cfg_link_training_enable", "at 0 there is no link"),
    ("cfg_config_space_enable", "at 0 the host gets retries for ever and does not find the card"),
    ("cfg_interrupt_int", "no legacy interrupts"),
    ("cfg_interrupt_pending", "no legacy interrupts"),
    ("cfg_interrupt_sent", "no legacy interrupts"),
    ("cfg_interrupt_msix_address", "the card writes its messages itself"),
    ("cfg_interrupt_msix_data", "the card writes its messages itself"),
    ("cfg_interrupt_msix_int", "the card writes its messages itself"),
    ("cfg_interrupt_msix_vec_pending", "the card writes its messages itself"),
    ("cfg_interrupt_msix_vf_", "no virtual functions"),
    ("cfg_interrupt_msi_", "the card writes its messages itself"),
    ("cfg_pm_aspm_", "power states of the link are the core's matter"),
    ("cfg_req_pm_transition_l23_ready", "the card needs no time before the power goes"),
    ("cfg_hot_reset_in", "of a root port alone"),
    ("cfg_ds_", "of a root port alone"),
    ("phy_rdy_out", "`user_reset` covers it"),
    ("sys_clk_gt", "reference clock, IBUFDS_GTE4 output O"),
    (
        "sys_clk",
        "reference clock, IBUFDS_GTE4 output ODIV2, and nothing else at it: the core has its own \
         BUFG_GT",
    ),
    ("sys_reset", "PERST#; at 0 the core stays in reset"),
    ("pci_exp_", "lanes of the slot"),
];

/// The reason of a port; `None`: it is joined with the card.
pub fn reason(port: &str) -> Option<&'static str> {
    let fitting = REASONS.iter().filter(|(start, _)| port.starts_with(start));
    let best = fitting.max_by_key(|(start, _)| start.len());
    best.map(|(_, reason)| *reason)
}
