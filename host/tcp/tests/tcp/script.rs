//! Runs every script of `tests/scripts`: packets in, packets out, calls and simulated time; and
//! those of `tests/scripts_of_kernel`, which `host/tests/transport` plays against a kernel as well.
//!
//! The language is described in `language.rs`. A script is a file; its first comment says what it
//! shows and by which clause. A line that does not hold fails with its number.
//!
//! `cargo xtask mutants --crate zeronic-tcp --each-test script::scripts` finds for each script a
//! fault of the engine that it fails for.

mod language;
mod player;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A test for each script, and the list of them.
macro_rules! scripts {
    ($($folder:ident { $($name:ident)* })*) => {
        $(
            mod $folder {
                $(
                    #[test]
                    fn $name() {
                        super::play(stringify!($folder), stringify!($name));
                    }
                )*
            }
        )*

        /// Folder and name of each script that has a test.
        const SCRIPTS: &[(&str, &str)] = &[$($((stringify!($folder), stringify!($name)),)*)*];
    };
}

scripts! {
    scripts {
        abort ack_of_unsent beyond_window blind_data blind_reset blind_syn blocks_before_data
        challenge_limit close_both connect_active cookie_expiry cookie_options delayed_ack dsack
        ecn_classic ecn_exact ecn_refused fast_recovery fin_out_of_order frto icmp idle
        initial_window limited_transmit listen lost_repetition no_room no_sack_fast_recovery
        no_sack_round_trip one_byte_probes open_both optimistic_ack overlap overlap_inside
        path_mtu path_mtu_lost paws paws_wrap refused released released_silence run
        run_acknowledges sack_example sack_renege sack_three_times sequence_wrap shrinking_window
        silly_window silly_window_sender syn_flood syn_timeout tail_probe time_wait
        time_wait_bound timeout timeout_1ms tiny_mss tuple_reuse urgent window_scale zero_window
    }
    scripts_of_kernel {
        ack_of_unsent_closed blind_reset_closed blind_syn_closed holes_closed listen_wrong_ack
        nobody refused_late
    }
}

/// Where the scripts of a folder are.
fn path_of(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)
}

/// Plays a script; the line that does not hold is named.
fn play(folder: &str, name: &str) {
    let path = path_of(folder).join(name).with_extension("txt");
    let text = fs::read_to_string(path).expect("the script is readable");
    assert!(text.starts_with("# "), "{name}: no comment that says what it shows");
    if let Err(failure) = player::play(&text) {
        panic!("{name}:{failure}");
    }
}

#[test]
fn every_script_has_a_test() {
    for folder in ["scripts", "scripts_of_kernel"] {
        let files = fs::read_dir(path_of(folder)).expect("the folder is there");
        let files = files.map(|file| file.expect("a file").path());
        let names: BTreeSet<String> = files
            .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        let of_folder = SCRIPTS.iter().filter(|(of, _)| *of == folder);
        assert_eq!(names, of_folder.map(|(_, name)| (*name).to_owned()).collect(), "{folder}");
    }
}

/// A script that says something wrong fails: the player judges.
#[test]
fn a_wrong_script_fails() {
    let begin = "# x\nconnect\n> S 0:0 ack 0\n< SA 0:0 ack 1 win 1000 mss 1460\n> A 1:1 ack 1\n";
    assert_eq!(player::play(begin), Ok(()));
    for (wrong, expected) in [
        ("> A 1:1 ack 1\n", "6: nothing is sent"),
        ("event end-of-stream\n", "6: event Some(\"opened\")"),
        ("state CLOSED\n", "6: state Established"),
        ("offer 10\n", "6: not looked at: AP 1:11 ack 1"),
        ("offer 10\n> AP 1:12 ack 1\n", "7: AP 1:11 ack 1"),
        ("offer 10\n> AP 1:11 ack 2\n", "7: AP 1:11 ack 1"),
        ("jump\n", "6: no such line"),
    ] {
        let failure = player::play(&format!("{begin}{wrong}")).expect_err(wrong);
        assert!(failure.starts_with(expected), "{wrong:?}: {failure}");
    }
}
