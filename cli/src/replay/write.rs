//! A plan as a flow file.

use std::fmt::Write;

use host::driver::bus::MemoryKind;

use super::plan::{Accept, Plan, Positions};

/// The text of the flow file of a plan, after comment lines.
pub fn flow_file(plan: &Plan, comments: &[String]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |line: std::fmt::Arguments| {
        let _ = writeln!(text, "{line}");
    };
    for comment in comments {
        line(format_args!("# {comment}"));
    }
    if !plan.cards.is_empty() {
        let cards = plan.cards.iter().map(|card| format!("\"{card}\""));
        let cards: Vec<_> = cards.collect();
        line(format_args!("card = [{}]", cards.join(", ")));
    }
    for region in &plan.regions {
        let memory = match region.memory {
            MemoryKind::Application => "dram",
            MemoryKind::Gpu => "gpu",
        };
        line(format_args!("\n[[region]]\nname = \"{}\"", region.name));
        line(format_args!(
            "bytes = {}\nmemory = \"{memory}\"",
            region.bytes
        ));
        line(format_args!("guard = {:#04x}", region.guard));
    }
    for flow in &plan.flows {
        line(format_args!("\n[[flow]]\nname = \"{}\"", flow.name));
        line(format_args!(
            "local = \"{}\"\nremote = \"{}\"",
            flow.local, flow.remote
        ));
        line(format_args!(
            "positions = \"{}\"\nfloor = {}\naccept = \"{}\"",
            match flow.positions {
                Positions::Relative => "relative",
                Positions::Absolute => "absolute",
            },
            flow.floor,
            match flow.accept {
                Accept::InOrder => "in_order",
                Accept::Nothing => "nothing",
            }
        ));
        if let Some((low, high)) = flow.acks {
            line(format_args!("ack_low = {low}\nack_high = {high}"));
        }
        if let Some(floor) = flow.timestamp_floor {
            line(format_args!("timestamp_floor = {floor}"));
        }
        if flow.join_bytes > 0 {
            line(format_args!("join_bytes = {}", flow.join_bytes));
        }
        if let Some(mss) = flow.mss_bytes {
            line(format_args!("mss_bytes = {mss}"));
        }
        for segment in &flow.segments {
            let region = &plan.regions[segment.region].name;
            line(format_args!("\n[[flow.segment]]\nregion = \"{region}\""));
            line(format_args!(
                "offset = {}\nbytes = {}\nposition = {}",
                segment.offset, segment.bytes, segment.position
            ));
        }
    }
    text
}
