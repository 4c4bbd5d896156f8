//! `bench host --bus`: the same work on a card that another process serves.

use std::path::Path;

use anyhow::Result;
use measure::doorbell::Ring;
use measure::host::error::RigError;
use measure::host::far::{FarReport, GOAL};
use measure::host::{measure_far, Plan};
use measure::null_card::order::{Order, Outcome, OUTCOME_BYTES};
use measure::null_card::rig::CardSide;
use served::REGION_CONTROL;
use vfio::{CardBus, SocketBus};

use crate::bench::doorbell::{describe, open_by_messages};
use crate::shared::bus::{self, CardName};
use crate::shared::options::UsageError;
use crate::shared::table::table;

/// A null card behind a socket.
struct FarCard;

impl CardSide for FarCard {
    type Bus = SocketBus;

    fn carry_out(&mut self, bus: &mut SocketBus, order: Order) -> Result<Outcome, RigError> {
        let mut said = [0; OUTCOME_BYTES];
        bus.write_region(REGION_CONTROL, 0, &order.encode())?;
        bus.read_region(REGION_CONTROL, 0, &mut said)?;
        let outcome = Outcome::decode(&said);
        match outcome.wrong.is_empty() || order != Order::Step {
            true => Ok(outcome),
            false => Err(RigError::FarWrong(outcome.wrong)),
        }
    }
}

/// Opens a card that takes orders, and whose doorbells are rung in that way.
fn open(name: &CardName, ring: Ring) -> Result<SocketBus> {
    let socket: &Path = match name {
        CardName::Socket(socket) => socket,
        CardName::Slot(slot) => {
            let reason = format!(
                "vfio:{slot}: a card in a slot takes no orders; start `zeronic sim-card --model \
                 null`, or use `zeronic bench doorbell`"
            );
            return Err(UsageError(reason).into());
        }
    };
    let opened = bus::open(name)?;
    let CardBus::Socket(opened) = opened else { unreachable!("a socket is opened as one") };
    // A model with a clock has a shorter one.
    if opened.region_bytes(REGION_CONTROL) < OUTCOME_BYTES as u64 {
        let reason = format!("{name}: no null card; start `zeronic sim-card --model null`");
        return Err(UsageError(reason).into());
    }
    match ring {
        Ring::Store if !opened.has_mapped_doorbells() => {
            let reason = format!("{name}: its doorbells are messages; leave --doorbells out there");
            Err(UsageError(reason).into())
        }
        Ring::Store => Ok(*opened),
        Ring::Message | Ring::Bar => {
            drop(opened);
            Ok(open_by_messages(socket)?)
        }
    }
}

/// Measures everything over the socket.
pub fn measure(plan: &Plan, name: &CardName) -> Result<FarReport> {
    measure_far(plan, &mut |ring| Ok((FarCard, open(name, ring)?)))
}

/// The table, and what is said below it.
pub fn text(report: &FarReport) -> String {
    let mut rows = table(&[
        "cost",
        "in process ns",
        "told by messages ns",
        "over the socket ns",
        "ratio",
        "spread",
    ]);
    for row in &report.rows {
        let verdict = match (row.is_mapped, row.ratio <= GOAL) {
            (false, _) => String::new(),
            (true, true) => format!(" ({GOAL}: yes)"),
            (true, false) => format!(" ({GOAL}: no)"),
        };
        rows.add_row([
            row.name.clone(),
            format!("{:.0}", row.near_ns),
            format!("{:.0}", row.told_ns),
            format!("{:.0}", row.far_ns),
            format!("{:.2}{verdict}", row.ratio),
            format!("{:.1} %", 100.0 * row.spread),
        ]);
    }
    let doorbells: Vec<String> = report.doorbells.iter().map(describe).collect();
    format!(
        "{rows}\n{}\nin a guest: zeronic bench doorbell --bus vfio:SLOT\nevery descriptor is \
         right; times are the machine's, and runs do not repeat from a seed\n",
        doorbells.join("\n")
    )
}
