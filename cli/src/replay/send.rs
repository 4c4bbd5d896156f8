//! `zeronic sim --tx`: the outgoing packets of a capture through the card's send side.
//!
//! ```text
//!   capture ─ payload ──► application memory, by stream position ─┐
//!           └ headers ──► send descriptors ──► card ◄─────────────┘
//!                                                └─► sent.pcapng, compared with the capture
//! ```
//! Descriptors carry no checksums: the card has to compute them. With `join_bytes`,
//! consecutive packets of a flow that differ only as segmentation makes them differ become one
//! descriptor, and the card has to cut them apart again.

mod outgoing;
mod prepare;
mod train;

use std::collections::BTreeMap;

use abi::reason::SendError;
use anyhow::Result;
use host::driver::bus::Bus;
use host::records::commands::Direction;
use host::records::descriptor::Descriptor;
use lab::frame::Frame;
use lab::machine::CardModel;
use serde::Serialize;
use sim::harness::pcapng::CaptureWriter;

use self::prepare::{prepare, PreparedSends};
use super::entries::line;
use super::results::Results;
use super::rig::Rig;
use super::setup::ReplaySetup;
use super::traffic::{Numbered, Skipped, Traffic, Way};
use crate::shared::progress::{Progress, Unit};

/// Rounds without a frame after which the card is done.
const IDLE_ROUNDS_MAX: u32 = 200;

/// Where the sent frames first differ from the capture.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct Difference {
    /// Number of the frame in the capture; none when the card sent more than was expected.
    frame: Option<usize>,
    /// First byte that differs, or the shorter length.
    byte: usize,
}

/// The result of the run.
#[derive(Debug, Serialize)]
pub struct SendReport {
    /// The frames are those that the card had to make of the capture, what had to be refused was,
    /// and no rule was broken.
    pub ok: bool,
    model: &'static str,
    frames_expected: usize,
    frames_sent: usize,
    frames_incoming: usize,
    descriptors: usize,
    descriptors_joined: usize,
    packets_cut: usize,
    /// Packets of which only what lies above the floor is sent.
    packets_trimmed: usize,
    payload_bytes: u64,
    checksums_completed: usize,
    send_errors: BTreeMap<&'static str, u64>,
    /// What was sent is what the capture has, byte for byte.
    identical: bool,
    first_difference: Option<Difference>,
    violations: Vec<String>,
    sim_time_ns: Option<u64>,
    /// The frame of the first packet that was trimmed.
    #[serde(skip)]
    first_trimmed: Option<usize>,
}

impl SendReport {
    /// Whether the card was given nothing.
    pub fn is_empty(&self) -> bool {
        self.descriptors == 0
    }

    /// What a run that is right has nevertheless not sent, in whole sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = self.first_trimmed {
            notes.push(format!(
                "Packets that begin below the floor of their flow: {}, the first one is frame \
                 {first}. The card sends what lies above it, so that they differ from the capture.",
                self.packets_trimmed
            ));
        }
        if self.frames_sent == 0 {
            let errors = self.send_errors.iter().map(|(error, count)| format!("{error}: {count}"));
            let errors = errors.collect::<Vec<_>>().join(", ");
            notes.push(format!("The card has refused every packet: {errors}."));
        }
        notes
    }
}

/// Sends the outgoing packets and writes the results. Also returns the frames that were not sent.
pub fn replay<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    traffic: &Traffic,
    results: &Results,
    model: &'static str,
) -> Result<(SendReport, Vec<Skipped>)> {
    for flow in &setup.flows {
        let base = traffic.base(flow, Way::Out)?;
        rig.install(flow, Direction::Send, base, None)?;
    }
    let mut sends = prepare(rig, setup, traffic)?;
    for descriptor in &sends.descriptors {
        rig.machine.host.device.send(Descriptor::of(descriptor));
    }
    let mut sent: Vec<Frame> = Vec::new();
    let mut lines = String::new();
    let mut events = 0;
    let mut idle = 0;
    let mut progress = Progress::new(sends.expected.len() as u64, Unit::Count("frames"));
    while idle < IDLE_ROUNDS_MAX && (sent.len() < sends.expected.len() || idle < 4) {
        let before = (sent.len(), events, rig.machine.host.device.sends_waiting());
        for entry in rig.advance()? {
            events += 1;
            lines += &line(events, None, &entry, setup, &rig.flows);
            lines.push('\n');
        }
        sent.extend(rig.machine.take_sent());
        progress.set(sent.len() as u64, "");
        let moved = before != (sent.len(), events, rig.machine.host.device.sends_waiting());
        idle = if moved { 0 } else { idle + 1 };
    }
    results.entries.write(lines.as_bytes())?;
    if let Some(file) = &results.sent {
        file.write(&capture_of(&sent)?)?;
    }
    let skipped = std::mem::take(&mut sends.skipped);
    Ok((report(rig, traffic, &sends, &sent, model)?, skipped))
}

fn capture_of(sent: &[Frame]) -> std::io::Result<Vec<u8>> {
    let mut writer = CaptureWriter::new(Vec::new(), &["from card"])?;
    for frame in sent {
        writer.frame(0, frame.time_ps, &frame.bytes)?;
    }
    writer.finish()
}

fn report<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    traffic: &Traffic,
    sends: &PreparedSends,
    sent: &[Frame],
    model: &'static str,
) -> Result<SendReport> {
    let counters = rig.machine.host.device.counters()?;
    let names: Vec<_> = SendError::ALL.iter().map(|code| code.name()).collect();
    let errors = counters.into_iter().filter(|(name, count)| *count > 0 && names.contains(name));
    let errors: BTreeMap<_, _> = errors.collect();
    let first_difference = first_difference(&sends.expected, sent);
    let violations = rig.machine.card.violations();
    Ok(SendReport {
        ok: first_difference.is_none() && errors == sends.refused && violations.is_empty(),
        model,
        frames_expected: sends.expected.len(),
        frames_sent: sent.len(),
        frames_incoming: traffic.incoming.len(),
        descriptors: sends.descriptors.len(),
        descriptors_joined: sends.joined,
        packets_cut: sends.cut,
        packets_trimmed: sends.trimmed.len(),
        payload_bytes: sends.payload_bytes,
        checksums_completed: sends.checksums_completed,
        send_errors: errors,
        identical: first_difference.is_none() && sends.trimmed.is_empty(),
        first_difference,
        violations,
        sim_time_ns: rig.machine.card.time_ns(),
        first_trimmed: sends.trimmed.first().copied(),
    })
}

fn first_difference(expected: &[Numbered], sent: &[Frame]) -> Option<Difference> {
    for (want, have) in expected.iter().zip(sent) {
        let pairs = want.bytes.iter().zip(&have.bytes);
        let same = pairs.take_while(|(want, have)| want == have).count();
        if same < want.bytes.len() || same < have.bytes.len() {
            return Some(Difference { frame: Some(want.number), byte: same });
        }
    }
    let frame = expected.get(sent.len()).map(|frame| frame.number);
    (expected.len() != sent.len()).then_some(Difference { frame, byte: 0 })
}
