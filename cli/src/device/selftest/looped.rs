//! Frames through the whole card and its MAC, without a wire: the transceivers send them back.
//!
//! ```text
//!   random frames ─► send ring ─► card ─► MAC ─┐
//!   compared ◄── header queue, slow buffers ◄──┘
//! ```
//! The link is left as it was found.

use std::time::{Duration, Instant};

use anyhow::Result;
use host::driver::bus::Bus;
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::HeaderEntry;
use host::records::descriptor::{raw, INLINE_BYTES_MAX};
use host::transport::peer::RandomBytes;
use host_board::mac::{bring_down, bring_up, mac_state, LinkError, LinkPlan, MacState};
use host_board::window::{Window, WindowError};
use vfio::CardBus;

use crate::device::card::BusWindow;
use crate::device::report::{Check, Verdict};
use crate::shared::bus::driver_refusal;

const WHAT: &str = "loopback";
const FRAMES: usize = 2_000;
/// Frames under way: far fewer than a ring has slots.
const UNDER_WAY: usize = 16;
/// Shortest frame without its check sequence.
const FRAME_BYTES_MIN: usize = 60;
const ETHERNET_BYTES: usize = 14;
/// For experiments in one's own network (IEEE 802, 9.2.3).
const EXPERIMENT: [u8; 2] = [0x88, 0xb5];
/// How long a frame may take: it takes microseconds.
const LIMIT: Duration = Duration::from_secs(1);
/// How long the transceivers may take.
const LINK_LIMIT: Duration = Duration::from_secs(3);

/// The check; of a card whose MAC is not in its window, that it has none.
pub fn looped(card: CardBus, seed: u64) -> Result<Check> {
    let mut card = card;
    let before = match mac_state(&mut BusWindow(&mut card)) {
        Ok(state) => state,
        Err(WindowError::NoDirectory { .. } | WindowError::NoBlock { .. }) => {
            let advice = "an image with a MAC in its window, or a peer at the wire";
            return Ok(Check::new(WHAT, Verdict::Unseen, "no MAC in the window", advice));
        }
        Err(error) => return Err(error.into()),
    };
    let plan = LinkPlan { fec: before.has_fec, loops: true, pause: false, limit: LINK_LIMIT };
    let brought = bring_up(&mut BusWindow(&mut card), &plan);
    let mut device = Device::open(card, DeviceConfig::default()).map_err(driver_refusal)?;
    let check = match brought {
        Ok(_) => exchange(&mut device, seed)?,
        Err(LinkError::Down { obstacle, .. }) => {
            let found = format!("the link does not come up: {obstacle}");
            Check::new(WHAT, Verdict::Bad, found, obstacle.remedy())
        }
        Err(LinkError::Window(error)) => return Err(error.into()),
    };
    restore(&mut BusWindow(device.bus()), &before)?;
    device.close().map_err(driver_refusal)?;
    Ok(check)
}

/// The link as it was; where its wire does not allow it any more, as far as it comes.
fn restore(window: &mut impl Window, before: &MacState) -> Result<(), WindowError> {
    if !before.rx_enabled {
        return bring_down(window).map(drop);
    }
    let plan = LinkPlan {
        fec: before.has_fec,
        loops: before.loops,
        pause: before.has_pause,
        limit: LINK_LIMIT,
    };
    match bring_up(window, &plan) {
        Ok(_) | Err(LinkError::Down { .. }) => Ok(()),
        Err(LinkError::Window(error)) => Err(error),
    }
}

/// A frame of a length that goes through all that fit, of random bytes.
fn frame(number: usize, random: &mut RandomBytes) -> Vec<u8> {
    let bytes = FRAME_BYTES_MIN + number % (INLINE_BYTES_MAX - FRAME_BYTES_MIN + 1);
    let mut frame = vec![0; bytes];
    random.fill(&mut frame);
    // To one station, from another.
    frame[0] = 0x02;
    frame[6] = 0x02;
    frame[ETHERNET_BYTES - EXPERIMENT.len()..ETHERNET_BYTES].copy_from_slice(&EXPERIMENT);
    frame
}

/// Sends frames, and compares what comes back in their order.
fn exchange<B: Bus>(device: &mut Device<B>, seed: u64) -> Result<Check> {
    let begun = Instant::now();
    let mut random = RandomBytes::new(seed);
    let mut expected = std::collections::VecDeque::new();
    let (mut sent, mut back, mut wrong, mut bytes) = (0, 0, 0, 0);
    let mut moved = Instant::now();
    let mut entry = HeaderEntry::default();
    while back < FRAMES && moved.elapsed() < LIMIT {
        while sent < FRAMES && expected.len() < UNDER_WAY {
            let frame = frame(sent, &mut random);
            device.send(raw(&frame));
            expected.push_back(frame);
            sent += 1;
        }
        device.poll().map_err(driver_refusal)?;
        while device.next_header(&mut entry).map_err(driver_refusal)? {
            let Some(frame) = expected.pop_front() else { continue };
            let mut arrived = entry.header.to_vec();
            arrived.extend(entry.deferred.iter().flatten());
            wrong += usize::from(arrived != frame);
            bytes += frame.len();
            back += 1;
            moved = Instant::now();
        }
        device.return_headers().map_err(driver_refusal)?;
    }
    let each = begun.elapsed().as_nanos() as f64 / 1e3 / FRAMES as f64;
    let found = format!(
        "{back} of {FRAMES} frames came back through the MAC, {bytes} bytes, {wrong} frames \
         wrong; {each:.1} us each"
    );
    let advice = "card or MAC lose or change frames: `device counters`";
    Ok(Check::new(WHAT, Verdict::Bad.unless(back == FRAMES && wrong == 0), found, advice))
}
