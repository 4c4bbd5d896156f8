//! Checks of the bus to a card: its answers, its link, how PCI Express is set up.

use std::time::{Duration, Instant};

use abi::registers as r;
use anyhow::Result;
use host::driver::bus::Bus;
use vfio::CardBus;

use crate::device::express::Express;
use crate::device::report::{Check, Verdict};

/// Reads of which the median is taken.
const READS: usize = 101;
/// A register read that takes longer makes a driver slow.
const READ_MAX: Duration = Duration::from_micros(500);
/// Doorbells that are rung to take their time.
const DOORBELLS: u32 = 10_000;
/// The command word: memory is answered, bus mastering is on.
const COMMAND: u64 = 4;
const COMMAND_ON: u8 = 0b110;

/// The checks.
pub fn checks(card: &mut CardBus) -> Result<Vec<Check>> {
    let mut checks = vec![reads(card)?, doorbells(card)?, command(card)?, interrupts(card)?];
    match Express::read(card)? {
        Some(express) => checks.extend(of_express(&express)),
        None => checks.push(Check::new(
            "PCIe",
            Verdict::Bad,
            "the configuration space has no capability of PCI Express",
            "it is not that of a card: use a card and a program of one release",
        )),
    }
    Ok(checks)
}

fn reads(card: &mut CardBus) -> Result<Check> {
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let begun = Instant::now();
        card.read_register(r::ID)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let median = times[READS / 2];
    let found = format!("{:.1} us, median of {READS}", median.as_nanos() as f64 / 1e3);
    let advice = "the process that serves the card does not get its share of a core";
    Ok(Check::new("register read", Verdict::Look.unless(median <= READ_MAX), found, advice))
}

/// The first owner is not enabled: its doorbell has no effect.
fn doorbells(card: &mut CardBus) -> Result<Check> {
    let begun = Instant::now();
    for _ in 0..DOORBELLS {
        card.write_register(r::DOORBELLS + r::DOORBELL_HEADER, 0)?;
    }
    let each = begun.elapsed().as_nanos() as f64 / f64::from(DOORBELLS);
    // What was posted has been taken when a read returns.
    card.read_register(r::ID)?;
    let is_mapped = card.has_mapped_doorbells();
    let how = if is_mapped { "a store to a mapped page" } else { "a posted message" };
    let found = format!("{each:.1} ns, {how}");
    let advice = "`zeronic sim-card --doorbells mapped` serves pages of them";
    Ok(Check::new("doorbell", Verdict::Look.unless(is_mapped), found, advice))
}

fn command(card: &mut CardBus) -> Result<Check> {
    let mut word = [0];
    card.read_config(COMMAND, &mut word)?;
    let is_on = word[0] & COMMAND_ON == COMMAND_ON;
    let found = format!("command word {:#04x}", word[0]);
    let advice = "the function does not keep what is written there: it is broken";
    Ok(Check::new("bus mastering", Verdict::Bad.unless(is_on), found, advice))
}

fn interrupts(card: &mut CardBus) -> Result<Check> {
    let owners = 1 << (card.read_register(r::SIZES_1)? >> 8 & 0xff);
    let vectors = card.vectors();
    let found = format!("{vectors} MSI-X vectors for {owners} owners");
    let advice = "owners without a vector must be polled";
    Ok(Check::new("interrupts", Verdict::Bad.unless(vectors >= owners), found, advice))
}

fn of_express(express: &Express) -> Vec<Check> {
    let Express { link, link_max, payload_bytes, payload_bytes_max, read_bytes, .. } = *express;
    let on = |is_on: bool| if is_on { "on" } else { "off" };
    vec![
        Check::new(
            "link",
            Verdict::Look.unless(link == link_max),
            format!(
                "generation {} x{} of generation {} x{}",
                link.0, link.1, link_max.0, link_max.1
            ),
            "another slot; a riser; clean contacts: the link carries less than the wire",
        ),
        Check::new(
            "payload of a write",
            Verdict::Look.unless(payload_bytes == payload_bytes_max),
            format!("{payload_bytes} of {payload_bytes_max} bytes"),
            "the system sets it: boot with pci=pcie_bus_perf, or look into the firmware's setup",
        ),
        Check::new(
            "read request",
            Verdict::Look.unless(read_bytes >= 512),
            format!("{read_bytes} bytes"),
            "setpci sets it in device control, bits 14:12; 512 bytes and more are enough",
        ),
        Check::new(
            "extended tags",
            Verdict::Look.unless(express.extended_tags),
            on(express.extended_tags),
            "with 32 reads in flight sending is slower where memory is far; the system sets it",
        ),
        Check::new(
            "relaxed ordering",
            Verdict::Look.unless(express.relaxed_ordering),
            on(express.relaxed_ordering),
            "payload then waits behind older writes; the system sets it",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_link_and_small_writes_are_reported() {
        let good = Express {
            link: (3, 16),
            link_max: (3, 16),
            payload_bytes: 256,
            payload_bytes_max: 256,
            read_bytes: 512,
            extended_tags: true,
            relaxed_ordering: true,
        };
        assert!(of_express(&good).iter().all(|it| it.verdict == Verdict::Good));
        for (worse, what) in [
            (Express { link: (3, 8), ..good }, "link"),
            (Express { link: (1, 16), ..good }, "link"),
            (Express { payload_bytes: 128, ..good }, "payload of a write"),
            (Express { read_bytes: 128, ..good }, "read request"),
            (Express { extended_tags: false, ..good }, "extended tags"),
            (Express { relaxed_ordering: false, ..good }, "relaxed ordering"),
        ] {
            let checks = of_express(&worse);
            let found: Vec<_> = checks.iter().filter(|it| it.verdict != Verdict::Good).collect();
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!((found[0].what, found[0].verdict), (what, Verdict::Look));
            assert!(!found[0].advice.is_empty());
        }
    }
}
