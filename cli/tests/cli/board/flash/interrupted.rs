//! A cable that is pulled: whenever, the error is clear, and nothing below the slot has changed.

use crate::board::flash::rig::{assert_failed, image, write_image, Rig, VU9P};

/// Points at which the cable is pulled.
const POINTS: u64 = 24;

#[test]
fn a_cable_pulled_at_any_point() {
    let Some(rig) = Rig::with_loader("pulled_never", VU9P) else { return };
    let image = image("vcu118", 9000);
    let (status, _, error) = rig.flash(&write_image(rig.folder(), &image));
    assert_eq!(status, Some(0), "{error}");
    let shifts = rig.server.shifts();
    let mut statuses = Vec::new();
    for point in 0..POINTS {
        let after = point * shifts / POINTS;
        println!("pulled after {after} of {shifts} shifts");
        let Some(rig) = Rig::with_loader(&format!("pulled_{point}"), VU9P) else { return };
        rig.server.cut_after(after);
        let outcome = rig.flash(&write_image(rig.folder(), &image));
        let status = outcome.0.unwrap_or(0);
        match status {
            6 => assert_failed(&outcome, 6, &["no device found", "Nothing was erased"]),
            // Pulled while it reads back, openFPGALoader finds other bytes than it has written.
            7 => assert_failed(&outcome, 7, &["verify failed", "half an image"]),
            _ => assert_failed(&outcome, 10, &["ended before it was done", "half an image"]),
        }
        // What is said of the flash is so.
        assert!(status != 6 || rig.changes().is_empty());
        rig.assert_untouched_below();
        statuses.push((status, rig.changes().is_empty()));
    }
    // Some came before the first erase, most in the middle.
    assert!(statuses.contains(&(6, true)), "{statuses:?}");
    assert!(statuses.iter().filter(|it| **it == (10, false)).count() > 8, "{statuses:?}");
}
