//! What a doorbell costs over a vfio-user socket: as a store to a mapped page, as a message.
//!
//! `cargo run --release -p vfio --example doorbells`
//!
//! ```text
//!   this thread: write_register ─────────────► another thread: the golden card
//!                command, doorbell, look ◄──── confirmation in memory
//! ```
//! Times are medians. Both threads poll, so it takes two cores that do nothing else.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use abi::config::{COMMAND_BYTES, SMALL};
use abi::registers as r;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use served::ServedCard;
use vfio::SocketBus;

/// Doorbells of a pass, and passes.
const DOORBELLS: u32 = 1000;
const PASSES: usize = 101;
/// Commands whose confirmation is awaited.
const COMMANDS: usize = 2001;

type Error = Box<dyn std::error::Error>;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64
}

/// The card of another thread, until that is told to end.
fn serve(mut card: ServedCard, until: &AtomicBool) {
    while !until.load(Ordering::Relaxed) {
        if let Err(error) = card.serve() {
            eprintln!("{error}");
            return;
        }
        for _ in 0..16 {
            card.look();
        }
    }
}

/// A pass of doorbells, and what follows from the last: ns of one.
fn ring(bus: &mut SocketBus) -> Result<Duration, Error> {
    // The owner is not enabled: the doorbell has no effect, and nothing else is measured.
    let begun = Instant::now();
    for _ in 0..DOORBELLS {
        bus.write_register(r::DOORBELLS + r::DOORBELL_HEADER, 0)?;
    }
    let time = begun.elapsed() / DOORBELLS;
    bus.read_register(r::ID)?;
    Ok(time)
}

/// From the doorbell of a command to its confirmation in memory.
fn confirm(device: &mut Device<SocketBus>) -> Result<Duration, Error> {
    let ticket = device.command([0; COMMAND_BYTES]);
    let begun = Instant::now();
    while !device.is_confirmed(ticket) {
        device.poll()?;
    }
    Ok(begun.elapsed())
}

fn measure(is_mapped: bool) -> Result<(), Error> {
    let file = format!("zeronic-doorbells-{}-{is_mapped}.sock", std::process::id());
    let socket: PathBuf = std::env::temp_dir().join(file);
    let card = match is_mapped {
        true => ServedCard::bind_mapped(&socket, SMALL)?,
        false => ServedCard::bind(&socket, SMALL)?,
    };
    let ends = Arc::new(AtomicBool::new(false));
    let until = ends.clone();
    let thread = std::thread::spawn(move || serve(card, &until));
    let mut bus = SocketBus::open(&socket)?;
    let reads = (0..PASSES).map(|_| {
        let begun = Instant::now();
        bus.read_register(r::ID).map(|_| begun.elapsed())
    });
    let read = median(reads.collect::<Result<_, _>>()?);
    let rung = median((0..PASSES).map(|_| ring(&mut bus)).collect::<Result<_, _>>()?);
    let mut device = Device::open(bus, DeviceConfig::with_seed(1))?;
    let confirmed = (0..COMMANDS).map(|_| confirm(&mut device));
    let confirmed = median(confirmed.collect::<Result<_, _>>()?);
    device.close()?;
    ends.store(true, Ordering::Relaxed);
    let _ = thread.join();
    let how = if is_mapped { "a store to a mapped page" } else { "a posted message" };
    println!(
        "doorbell, {how}: {rung:.1} ns; to the confirmation of a command: {:.2} us; register \
         read: {:.1} us",
        confirmed / 1e3,
        read / 1e3
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    measure(true)?;
    measure(false)
}
