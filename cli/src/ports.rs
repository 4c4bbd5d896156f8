//! The table of the card's ports, with what each is for.
//!
//! Meanings of the hard blocks' ports follow the vendor's guides: PG213 (PCIe), PG203 (100G MAC).

use std::fmt::Write;

use hdl::ports::{Port, PortDirection};

/// AXI4-Stream interfaces: prefix and what flows there.
const STREAMS: &[(&str, &str)] = &[
    (
        "s_axis_rq",
        "requests of the card to host memory (RQ, straddle on)",
    ),
    (
        "m_axis_rc",
        "completions of the card's reads (RC, straddle on)",
    ),
    ("m_axis_cq", "register accesses of the host (CQ)"),
    ("s_axis_cc", "answers to register reads (CC)"),
    ("rx_axis", "frames from the wire; cannot be stalled"),
    ("tx_axis", "frames to the wire; no gap inside a frame"),
];

/// Fields of an AXI4-Stream interface.
const FIELDS: &[(&str, &str)] = &[
    ("_tdata", "data"),
    ("_tkeep", "valid parts of the beat"),
    ("_tuser", "side band"),
    ("_tvalid", "a beat is offered"),
    ("_tready", "the beat is taken"),
    ("_tlast", "last beat"),
];

/// All other ports, by exact name.
const OTHERS: &[(&str, &str)] = &[
    (
        "user_clk",
        "clock of the PCIe block's user side and of the card, 250 MHz",
    ),
    ("user_reset", "reset of the PCIe block's user side"),
    ("user_lnk_up", "the link is up"),
    ("gt_txusrclk2", "clock of the MAC, 322.27 MHz"),
    ("usr_rx_reset", "reset of the MAC's receive side"),
    ("usr_tx_reset", "reset of the MAC's send side"),
    (
        "stat_rx_aligned",
        "the MAC's receiver is aligned: the link is up",
    ),
    (
        "pcie_rq_seq_num0",
        "sequence number of a request that left, first of the cycle",
    ),
    ("pcie_rq_seq_num_vld0", "pcie_rq_seq_num0 is valid"),
    (
        "pcie_rq_seq_num1",
        "sequence number of a request that left, second of the cycle",
    ),
    ("pcie_rq_seq_num_vld1", "pcie_rq_seq_num1 is valid"),
    (
        "pcie_rq_tag0",
        "tag that the hard block gave; unused, the card gives its own",
    ),
    (
        "pcie_rq_tag1",
        "tag that the hard block gave; unused, the card gives its own",
    ),
    ("pcie_rq_tag_vld0", "pcie_rq_tag0 is valid"),
    ("pcie_rq_tag_vld1", "pcie_rq_tag1 is valid"),
    (
        "pcie_cq_np_req",
        "credit for non-posted requests of the host",
    ),
    ("pcie_cq_np_req_count", "non-posted credits left"),
    (
        "cfg_max_payload",
        "largest payload of a write: 128 << value bytes",
    ),
    (
        "cfg_max_read_req",
        "largest read request: 128 << value bytes",
    ),
    (
        "cfg_rcb_status",
        "read completion boundary: 0 is 64 bytes, 1 is 128",
    ),
    (
        "cfg_function_status",
        "command register bits; bit 2 is bus mastering",
    ),
    ("cfg_phy_link_down", "the link is down"),
    ("cfg_flr_in_process", "a function level reset is under way"),
    ("cfg_flr_done", "the function level reset is done"),
    (
        "cfg_fc_sel",
        "which flow control credits are shown: always 4, available for sending",
    ),
    ("cfg_fc_ph", "posted header credits, for counters"),
    ("cfg_fc_pd", "posted data credits, for counters"),
    (
        "pcie_tfc_nph_av",
        "non-posted header credits up to 15, for counters",
    ),
    (
        "cfg_mgmt_addr",
        "dword of the configuration space: Device Control, for its extended tag bit",
    ),
    ("cfg_mgmt_function_number", "function, always 0"),
    ("cfg_mgmt_read", "read; held until done"),
    ("cfg_mgmt_read_data", "what was read"),
    ("cfg_mgmt_read_write_done", "the access is done"),
    ("cfg_mgmt_write", "never"),
    ("cfg_mgmt_write_data", "always 0"),
    ("cfg_mgmt_byte_enable", "always 0"),
    ("cfg_mgmt_debug_access", "never"),
    ("cfg_interrupt_msix_enable", "MSI-X is on"),
    ("cfg_interrupt_msix_mask", "all MSI-X vectors are masked"),
];

/// What a port is for; `None` for a name that no table knows.
fn meaning(name: &str) -> Option<String> {
    if let Some((_, text)) = OTHERS.iter().find(|(known, _)| *known == name) {
        return Some((*text).to_owned());
    }
    let (prefix, stream) = STREAMS
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))?;
    let (_, field) = FIELDS
        .iter()
        .find(|(field, _)| *field == &name[prefix.len()..])?;
    Some(format!("{stream}: {field}"))
}

/// The table as Markdown.
pub fn port_table(title: &str, ports: &[Port]) -> String {
    let mut text =
        format!("# Ports of the card\n\n{title}. Directions are seen from the card.\n\n");
    text.push_str("| name | direction | bits | meaning |\n|---|---|---|---|\n");
    for port in ports {
        let direction = match port.direction {
            PortDirection::Input => "in",
            PortDirection::Output => "out",
            PortDirection::InOut => "inout",
        };
        let meaning = meaning(&port.name).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {direction} | {} | {meaning} |",
            port.name, port.bits
        );
    }
    text
}
