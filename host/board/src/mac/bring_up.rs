//! The order in which the link comes up, and goes down.
//!
//! ```text
//!   off ─► resets held: FEC, loopback, pause ─► transceivers ─► resets released
//!       ─► receive on, "I hear nothing" ─► aligned? ─► send on ─► no fault? ─► up
//!                                            └─ no: the other FEC, for a moment: is it heard?
//! ```
//! What the core takes only at the end of a reset (FEC) is written while that is held. The other
//! end is told that nothing is heard until something is: IEEE 802.3 wants both ends to know.

use std::time::Duration;

use abi::window::{BlockKind, GPIO_OUT, GPIO_OUT_LPMODE, GPIO_OUT_RESETL};
use thiserror::Error;

use super::registers as mac;
use super::state::{mac_state, read_present, MacState, Obstacle};
use crate::window::{find, read_word, write, Place, Wait, Window, WindowError};

/// How often the link is looked at.
const STEP: Duration = Duration::from_millis(1);
/// How long resets are held: far above the 10 cycles of the slowest clock.
const HELD: Duration = Duration::from_millis(1);
/// How long transceivers take after their reset, at most: they adapt to the signal.
const SETTLED: Duration = Duration::from_millis(100);
/// How long the other FEC is tried.
const TRIAL: Duration = Duration::from_millis(500);

/// How the link is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPlan {
    /// With RS-FEC (IEEE 802.3, clause 91).
    pub fec: bool,
    /// What is sent is received, in the transceivers: no wire.
    pub loops: bool,
    /// Pauses are sent and heard; the card decides when (`MAC_CONTROL`).
    pub pause: bool,
    /// How long it may take.
    pub limit: Duration,
}

impl Default for LinkPlan {
    fn default() -> Self {
        Self { fec: true, loops: false, pause: true, limit: Duration::from_secs(5) }
    }
}

/// Why the link is not up.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The window does not answer, or has no MAC.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Something stands in the way.
    #[error("{obstacle}")]
    Down {
        /// What.
        obstacle: Obstacle,
        /// All that is known.
        state: Box<MacState>,
    },
}

/// Switches the link off: nothing is sent or received, and the other end loses its signal's sense.
pub fn bring_down(window: &mut impl Window) -> Result<MacState, WindowError> {
    let place = find(window, BlockKind::Mac)?;
    switch_off(window, place)?;
    mac_state(window)
}

fn switch_off(window: &mut impl Window, place: Place) -> Result<(), WindowError> {
    write(window, place, mac::TX_CONFIGURATION, 0)?;
    write(window, place, mac::RX_CONFIGURATION, 0)
}

/// Brings the link up, and says what it is then.
pub fn bring_up(window: &mut impl Window, plan: &LinkPlan) -> Result<MacState, LinkError> {
    let place = find(window, BlockKind::Mac)?;
    switch_off(window, place)?;
    wake_module(window)?;
    let before = MacState { loops: plan.loops, ..mac_state(window)? };
    if let Some(obstacle @ (Obstacle::Clock { .. } | Obstacle::NoModule)) = before.obstacle() {
        return Err(LinkError::Down { obstacle, state: Box::new(before) });
    }
    prepare(window, place, plan, plan.fec)?;
    if !is_aligned_within(window, place, plan.limit)? {
        return Err(explained(window, place, plan)?);
    }
    write(window, place, mac::TX_CONFIGURATION, mac::TX_ENABLE)?;
    let wait = Wait { limit: plan.limit, step: STEP };
    let up = wait.until(
        window,
        |window, time| window.wait(time),
        |window| {
            let state = mac_state(window)?;
            Ok::<_, WindowError>(state.obstacle().is_none().then_some(state))
        },
    )?;
    if let Some(state) = up {
        return Ok(state);
    }
    let state = mac_state(window)?;
    match state.obstacle() {
        None => Ok(state),
        Some(obstacle) => Err(LinkError::Down { obstacle, state: Box::new(state) }),
    }
}

/// Takes the module out of reset and low power.
fn wake_module(window: &mut impl Window) -> Result<(), WindowError> {
    let pins = find(window, BlockKind::Gpio)?;
    let out = read_word(window, pins, GPIO_OUT)?;
    let resetl = 1 << GPIO_OUT_RESETL.offset;
    let awake = (out | resetl) & !(1 << GPIO_OUT_LPMODE.offset);
    if awake != out {
        write(window, pins, GPIO_OUT, awake)?;
        window.wait(SETTLED);
    }
    Ok(())
}

/// Writes all settings while the resets are held, and switches receive on.
fn prepare(
    window: &mut impl Window,
    place: Place,
    plan: &LinkPlan,
    fec: bool,
) -> Result<(), WindowError> {
    switch_off(window, place)?;
    write(window, place, mac::RESET, mac::RESET_RX | mac::RESET_TX)?;
    let fec_bits = if fec { mac::FEC_RX | mac::FEC_TX } else { 0 };
    write(window, place, mac::FEC_ENABLE, fec_bits)?;
    let mode = mac::FEC_CORRECTS | mac::FEC_INDICATES | mac::FEC_IEEE;
    write(window, place, mac::FEC_MODE, mode)?;
    write_pauses(window, place, plan.pause)?;
    let loops = if plan.loops { mac::LOOPBACK_NEAR } else { 0 };
    // The window's queue holds as many writes as have been made: a read lets them go.
    let looped = read_word(window, place, mac::GT_LOOPBACK)?;
    write(window, place, mac::GT_LOOPBACK, loops)?;
    window.wait(HELD);
    if looped != loops {
        // UG578: the receiver finds its clock anew after either change.
        write(window, place, mac::GT_RESET, 1)?;
        window.wait(SETTLED);
    }
    write(window, place, mac::RESET, 0)?;
    window.wait(HELD);
    write(window, place, mac::RX_CONFIGURATION, mac::RX_ENABLE)?;
    write(window, place, mac::TX_CONFIGURATION, mac::TX_SEND_REMOTE_FAULT)
}

/// Pauses of the whole wire, as long and as seldom repeated as can be: the card ends them.
fn write_pauses(window: &mut impl Window, place: Place, on: bool) -> Result<(), WindowError> {
    let heard = mac::PAUSE_GLOBAL | mac::RX_GLOBAL_CONTROL | mac::RX_GLOBAL_PAUSE;
    write(window, place, mac::RX_FLOW_CONTROL, if on { heard } else { 0 })?;
    write(window, place, mac::RX_FLOW_CHECKS, mac::RX_FLOW_CHECKS_GLOBAL)?;
    write(window, place, mac::TX_PAUSE_QUANTA, 0xffff)?;
    write(window, place, mac::TX_PAUSE_REFRESH, 0x7fff)?;
    write(window, place, mac::TX_FLOW_CONTROL, if on { mac::PAUSE_GLOBAL } else { 0 })
}

fn is_aligned_within(
    window: &mut impl Window,
    place: Place,
    limit: Duration,
) -> Result<bool, WindowError> {
    let wait = Wait { limit, step: STEP };
    let aligned = wait.until(
        window,
        |window, time| window.wait(time),
        |window| {
            let status = read_present(window, place, mac::RX_STATUS)?;
            Ok::<_, WindowError>((status & mac::RX_ALIGNED != 0).then_some(()))
        },
    )?;
    Ok(aligned.is_some())
}

/// Why it is not aligned: the registers alone do not tell a silent wire from one that speaks
/// another FEC, so that is tried, and the plan restored: a signal that comes later is found.
fn explained(
    window: &mut impl Window,
    place: Place,
    plan: &LinkPlan,
) -> Result<LinkError, WindowError> {
    let state = mac_state(window)?;
    prepare(window, place, plan, !plan.fec)?;
    let other = is_aligned_within(window, place, TRIAL.min(plan.limit))?;
    prepare(window, place, plan, plan.fec)?;
    let obstacle = match (other, state.obstacle()) {
        (true, _) => Obstacle::FecMismatch { here: plan.fec },
        (false, Some(obstacle)) => obstacle,
        (false, None) => Obstacle::NoSignal,
    };
    Ok(LinkError::Down { obstacle, state: Box::new(state) })
}
