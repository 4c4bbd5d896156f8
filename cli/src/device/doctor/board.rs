//! Checks of the board around a card: identity, clocks, FEC, alignment, by its window.

use abi::window::{BlockKind, CLOCK_BASE, CLOCK_FREE, CLOCK_MAC, CLOCK_STEP_KHZ, CLOCK_USER};
use anyhow::Result;
use host_board::identity::identity;
use host_board::mac::{mac_state, MacState, Obstacle};
use host_board::window::{find, read_word, Window, WindowError};

use crate::device::report::{Check, Verdict};

/// The PCIe user clock and the clock of the MAC's registers, kHz.
const USER_KHZ: u32 = 250_000;
const BASE_KHZ: u32 = 100_000;
/// How far a clock may be away: 300 parts in a million of two oscillators (PCI Express 3.0,
/// 4.3.8.1), and what the counter resolves.
const SLACK_MILLIONTHS: u64 = 600;

/// The checks; of a card without a window, that it has none.
pub fn checks(window: &mut impl Window) -> Result<Vec<Check>> {
    let none = |what: &str| {
        let found = format!("{what}: a simulated card, or an image without it");
        Check::new("board", Verdict::Unseen, found, "on a board it is in its window")
    };
    let mut checks = Vec::new();
    let absent = |error: &WindowError| {
        matches!(error, WindowError::NoDirectory { .. } | WindowError::NoBlock { .. })
    };
    match identity(window) {
        Ok(identity) => {
            let slot = if identity.slot == 0 { "golden" } else { "user" };
            let found = format!("board {}, {} image {}", identity.board, slot, identity.git);
            checks.push(Check::new("board", Verdict::Good, found, ""));
        }
        Err(error) if absent(&error) => return Ok(vec![none("no board window")]),
        Err(error) => return Err(error.into()),
    }
    match clocks(window) {
        Ok(clocks) => checks.push(clocks),
        Err(error) if absent(&error) => checks.push(none("no clock counters")),
        Err(error) => return Err(error.into()),
    }
    match mac_state(window) {
        Ok(state) => checks.extend(of_mac(&state)),
        Err(error) if absent(&error) => checks.push(none("no MAC")),
        Err(error) => return Err(error.into()),
    }
    Ok(checks)
}

fn clocks(window: &mut impl Window) -> Result<Check, WindowError> {
    let place = find(window, BlockKind::Clocks)?;
    let mut khz = |word| read_word(window, place, word);
    let (user, mac, base, free) =
        (khz(CLOCK_USER)?, khz(CLOCK_MAC)?, khz(CLOCK_BASE)?, khz(CLOCK_FREE)?);
    Ok(of_clocks(user, mac, base, free))
}

fn of_clocks(user: u32, mac: u32, base: u32, free: u32) -> Check {
    let is_near = |khz: u32, wanted: u32| {
        let slack = u64::from(wanted) * SLACK_MILLIONTHS / 1_000_000;
        u64::from(khz.abs_diff(wanted)) <= slack + u64::from(CLOCK_STEP_KHZ)
    };
    let clocks = [
        ("user", user, Some(USER_KHZ)),
        ("MAC", mac, Some(host_board::mac::state::MAC_CLOCK_KHZ)),
        ("registers of the MAC", base, Some(BASE_KHZ)),
        // Each board has another one.
        ("board", free, None),
    ];
    let is_wrong = |khz: u32, wanted: Option<u32>| match wanted {
        Some(wanted) => !is_near(khz, wanted),
        None => khz == 0,
    };
    let wrong: Vec<&str> =
        clocks.iter().filter(|(_, khz, wanted)| is_wrong(*khz, *wanted)).map(|it| it.0).collect();
    let texts: Vec<String> = clocks
        .iter()
        .map(|(name, khz, _)| format!("{name} {:.3} MHz", f64::from(*khz) / 1e3))
        .collect();
    let advice = format!(
        "wrong: {}; an oscillator is off or set to another frequency: power the board off and on, \
         see docs/boards",
        wrong.join(", ")
    );
    Check::new("clocks", Verdict::Bad.unless(wrong.is_empty()), texts.join(", "), advice)
}

fn of_mac(state: &MacState) -> Vec<Check> {
    let fec = match (state.has_fec, state.fec_aligned) {
        (true, true) => "RS-FEC on, aligned",
        (true, false) => "RS-FEC on, not aligned",
        (false, _) => "RS-FEC off",
    };
    let found = format!(
        "{fec}; since the last look {} codewords corrected, {} not",
        state.corrected, state.uncorrected
    );
    let is_fine = state.uncorrected == 0 && state.has_fec == state.fec_aligned;
    let advice = "`device link up --fec rs|none` as the other end has it; codewords that are not \
                  corrected are frames lost: clean or change cable and module";
    let fec = Check::new("FEC", Verdict::Look.unless(is_fine), found, advice);
    let obstacle = state.obstacle();
    let found = match obstacle {
        None => format!("{} of 20 lanes, aligned", state.locked_lanes),
        Some(obstacle) => obstacle.to_string(),
    };
    let advice = obstacle.map_or("", |obstacle| obstacle.remedy());
    let verdict = match obstacle {
        None => Verdict::Good,
        Some(Obstacle::Clock { .. } | Obstacle::Card) => Verdict::Bad,
        Some(_) => Verdict::Look,
    };
    vec![fec, Check::new("alignment", verdict, found, advice)]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sim_board::board_window::{BoardWindow, OwnTime};
    use sim_board::mac_core::Wire;

    use super::*;

    fn found(board: &mut BoardWindow) -> Vec<(&'static str, Verdict)> {
        let checks = checks(&mut OwnTime(board)).expect("checks");
        for check in &checks {
            assert_eq!(check.verdict == Verdict::Good, check.advice.is_empty(), "{check:?}");
        }
        checks.iter().map(|check| (check.what, check.verdict)).collect()
    }

    #[test]
    fn good_board_is_good_throughout() {
        let mut board = BoardWindow::new("small", Wire::GOOD);
        board.bring_up();
        let names = ["board", "clocks", "FEC", "alignment"];
        assert_eq!(found(&mut board), names.map(|name| (name, Verdict::Good)));
    }

    #[test]
    fn each_fault_has_its_verdict() {
        for (wire, what, verdict) in [
            (Wire { clock: false, ..Wire::GOOD }, "clocks", Verdict::Bad),
            (Wire { signal: false, ..Wire::GOOD }, "alignment", Verdict::Look),
            (Wire { fec: false, ..Wire::GOOD }, "FEC", Verdict::Look),
        ] {
            let mut board = BoardWindow::new("small", wire);
            board.bring_up();
            board.pass(Duration::from_millis(5));
            let found = found(&mut board);
            assert!(found.contains(&(what, verdict)), "{what}: {found:?}");
        }
        let wrong = of_clocks(USER_KHZ, 322_266, 125_000, 0);
        assert_eq!(wrong.verdict, Verdict::Bad);
        assert!(wrong.advice.contains("registers of the MAC, board"), "{}", wrong.advice);
        assert_eq!(of_clocks(250_100, 322_400, 100_000, 300_000).verdict, Verdict::Good);
    }
}
