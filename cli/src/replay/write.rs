//! A setup as a flow file.

use std::fmt::Write;

use host::driver::bus::MemoryKind;

use super::setup::{Accept, Positions, ReplaySetup};

/// The text of the flow file of a setup, after comment lines.
pub fn flow_file(setup: &ReplaySetup, comments: &[String]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |line: std::fmt::Arguments| {
        let _ = writeln!(text, "{line}");
    };
    for comment in comments {
        line(format_args!("# {comment}"));
    }
    if !setup.cards.is_empty() {
        let cards = setup.cards.iter().map(|card| format!("\"{card}\""));
        let cards: Vec<_> = cards.collect();
        line(format_args!("card = [{}]", cards.join(", ")));
    }
    for region in &setup.regions {
        let memory = match region.memory {
            MemoryKind::Application => "dram",
            MemoryKind::Gpu => "gpu",
        };
        line(format_args!("\n[[region]]\nname = \"{}\"", region.name));
        line(format_args!("bytes = {}\nmemory = \"{memory}\"", region.bytes));
        line(format_args!("guard = {:#04x}", region.guard));
    }
    for flow in &setup.flows {
        line(format_args!("\n[[flow]]\nname = \"{}\"", flow.name));
        line(format_args!("local = \"{}\"\nremote = \"{}\"", flow.local, flow.remote));
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
            let region = &setup.regions[segment.region].name;
            line(format_args!("\n[[flow.segment]]\nregion = \"{region}\""));
            line(format_args!(
                "offset = {}\nbytes = {}\nposition = {}",
                segment.offset, segment.bytes, segment.position
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::setup::FlowSetup;
    use super::*;

    fn flow() -> FlowSetup {
        FlowSetup {
            name: "f".to_owned(),
            local: ([10, 0, 0, 1], 80).into(),
            remote: ([10, 0, 0, 2], 9).into(),
            positions: Positions::Relative,
            floor: 7,
            accept: Accept::InOrder,
            acks: None,
            timestamp_floor: None,
            join_bytes: 0,
            mss_bytes: None,
            segments: Vec::new(),
        }
    }

    #[test]
    fn only_existing_flow_parts_are_written() {
        let text = |flow| {
            let setup = ReplaySetup { cards: Vec::new(), regions: Vec::new(), flows: vec![flow] };
            flow_file(&setup, &["learned".to_owned()])
        };
        let usual = "# learned\n\n[[flow]]\nname = \"f\"\nlocal = \"10.0.0.1:80\"\n\
                     remote = \"10.0.0.2:9\"\npositions = \"relative\"\nfloor = 7\n\
                     accept = \"in_order\"\n";
        assert_eq!(text(flow()), usual);
        let all = FlowSetup {
            acks: Some((1, 2)),
            timestamp_floor: Some(3),
            join_bytes: 1,
            mss_bytes: Some(5),
            ..flow()
        };
        let more = "ack_low = 1\nack_high = 2\ntimestamp_floor = 3\njoin_bytes = 1\n\
                    mss_bytes = 5\n";
        assert_eq!(text(all), format!("{usual}{more}"));
    }
}
