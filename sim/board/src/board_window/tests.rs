//! The host's link against the model of the MAC's core.

use host_board::mac::{
    bring_down, bring_up, mac_state, registers as mac, LinkError, LinkPlan, MacState, Obstacle,
};
use host_board::window::{find, write};

use super::*;
use crate::mac_core::Breach;

fn board(wire: Wire) -> BoardWindow {
    BoardWindow::new("small", wire)
}

fn plan() -> LinkPlan {
    LinkPlan { limit: Duration::from_millis(50), ..LinkPlan::default() }
}

fn up(board: &mut BoardWindow, plan: &LinkPlan) -> MacState {
    bring_up(&mut OwnTime(board), plan).expect("a link")
}

fn obstacle(board: &mut BoardWindow, plan: &LinkPlan) -> Obstacle {
    match bring_up(&mut OwnTime(board), plan) {
        Err(LinkError::Down { obstacle, state }) => {
            assert!(!state.card_up, "{state:?}");
            assert!(!obstacle.to_string().is_empty() && !obstacle.remedy().is_empty());
            obstacle
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn link_comes_up_and_goes_down() {
    for fec in [true, false] {
        let mut board = board(Wire { fec, ..Wire::GOOD });
        assert!(!board.mac.is_up());
        let state = up(&mut board, &LinkPlan { fec, ..plan() });
        assert!(board.mac.is_up() && state.card_up && state.is_aligned);
        assert_eq!((state.has_fec, state.fec_aligned), (fec, fec));
        assert_eq!((state.core, state.locked_lanes, state.has_pause), ((3, 1), 20, true));
        let down = bring_down(&mut OwnTime(&mut board)).expect("a window");
        assert_eq!(down.obstacle(), Some(Obstacle::Off));
        assert!(!board.mac.is_up());
        up(&mut board, &LinkPlan { fec, pause: false, ..plan() });
        let state = mac_state(&mut OwnTime(&mut board)).expect("a window");
        assert!(!state.has_pause && state.obstacle().is_none());
        assert_eq!(board.mac.breaches(), [], "nothing against the order of PG203");
    }
}

#[test]
fn each_obstacle_is_told_apart() {
    for (wire, expected) in [
        (Wire { clock: false, ..Wire::GOOD }, Obstacle::Clock { khz: 0 }),
        (Wire { signal: false, ..Wire::GOOD }, Obstacle::NoSignal),
        (Wire { fec: false, ..Wire::GOOD }, Obstacle::FecMismatch { here: true }),
        (Wire { lanes: 15, ..Wire::GOOD }, Obstacle::NotAligned { lanes: 15 }),
        (Wire { is_heard: false, ..Wire::GOOD }, Obstacle::RemoteFault),
    ] {
        let mut board = board(wire);
        assert_eq!(obstacle(&mut board, &plan()), expected);
        assert_eq!(board.mac.breaches(), []);
        // It is ready for the wire to become good.
        board.mac.set_wire(Wire::GOOD);
        up(&mut board, &plan());
    }
    let none = LinkPlan { fec: false, ..plan() };
    let found = obstacle(&mut board(Wire::GOOD), &none);
    assert_eq!(found, Obstacle::FecMismatch { here: false });
    let wire = Wire { errors: true, fec: false, ..Wire::GOOD };
    assert_eq!(obstacle(&mut board(wire), &none), Obstacle::HighBer);
    let mut empty = board(Wire::GOOD);
    empty.set_module(false);
    assert_eq!(obstacle(&mut empty, &plan()), Obstacle::NoModule);
}

#[test]
fn loopback_needs_no_module_and_no_wire() {
    let mut board = board(Wire { signal: false, is_heard: false, ..Wire::GOOD });
    board.set_module(false);
    let state = up(&mut board, &LinkPlan { loops: true, ..plan() });
    assert!(state.loops && board.mac.loops() && board.mac.is_up());
    assert_eq!(board.mac.breaches(), []);
    // At the wire nothing is there.
    assert_eq!(obstacle(&mut board, &plan()), Obstacle::NoModule);
    assert!(!board.mac.is_up());
}

#[test]
fn corrected_codewords_are_counted_once() {
    let mut board = board(Wire { errors: true, ..Wire::GOOD });
    up(&mut board, &plan());
    mac_state(&mut OwnTime(&mut board)).expect("a window");
    board.pass(Duration::from_millis(10));
    let mut corrected = || mac_state(&mut OwnTime(&mut board)).expect("a window").corrected;
    assert_eq!((corrected(), corrected()), (30, 0));
}

#[test]
fn lost_signal_is_seen() {
    let mut board = board(Wire::GOOD);
    up(&mut board, &plan());
    board.mac.set_wire(Wire { signal: false, ..Wire::GOOD });
    let state = mac_state(&mut OwnTime(&mut board)).expect("a window");
    assert!(state.local_fault && !board.mac.is_up());
    assert_eq!(state.obstacle(), Some(Obstacle::NoSignal));
    board.mac.set_wire(Wire::GOOD);
    board.pass(Duration::from_millis(5));
    let state = mac_state(&mut OwnTime(&mut board)).expect("a window");
    assert_eq!(state.obstacle(), None, "it comes back by itself");
}

/// What PG203 does not allow has no effect, and is noted.
#[test]
fn core_refuses_what_its_guide_refuses() {
    let mut board = board(Wire { fec: false, ..Wire::GOOD });
    let place = find(&mut OwnTime(&mut board), BlockKind::Mac).expect("a MAC");
    let mut put = |word, value| {
        write(&mut OwnTime(&mut board), place, word, value).expect("a window");
    };
    put(mac::CORE_VERSION, 0);
    put(mac::RX_STATUS, 3);
    put(0x3fff, 1);
    put(mac::TX_CONFIGURATION, mac::TX_ENABLE);
    put(mac::RX_CONFIGURATION, mac::RX_ENABLE | 1 << 30);
    board.pass(Duration::from_millis(5));
    assert!(board.mac.is_aligned());
    let mut put = |word, value| {
        write(&mut OwnTime(&mut board), place, word, value).expect("a window");
    };
    // Neither is taken without a reset.
    put(mac::FEC_ENABLE, mac::FEC_RX | mac::FEC_TX);
    put(mac::GT_LOOPBACK, mac::LOOPBACK_NEAR);
    put(mac::RX_CONFIGURATION, mac::RX_ENABLE);
    assert!(board.mac.is_aligned() && !board.mac.loops());
    let expected = [
        Breach::Refused(mac::CORE_VERSION),
        Breach::Refused(mac::RX_STATUS),
        Breach::Refused(0x3fff),
        Breach::SendsUnaligned,
        Breach::ReservedBits(mac::RX_CONFIGURATION),
        Breach::FecWithoutReset,
        Breach::LoopbackWithoutReset,
    ];
    assert_eq!(board.mac.breaches(), expected);
    let state = mac_state(&mut OwnTime(&mut board)).expect("a window");
    assert_eq!(state.core, (3, 1));
}

#[test]
fn image_says_who_it_is() {
    let mut board = board(Wire::GOOD);
    let identity = host_board::identity::identity(&mut OwnTime(&mut board)).expect("words");
    assert_eq!((identity.board, identity.config.as_str()), (SIMULATED_BOARD, "small"));
    board.bring_up();
    assert!(board.mac.is_up());
}
