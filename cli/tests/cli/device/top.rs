//! `zeronic device top`, in a terminal that tmux makes, and without one.

use std::process::Command;
use std::time::{Duration, Instant};

use skip::{skip, Need};

use super::json_of;
use crate::run::expect_refusal;
use crate::sim_card::Card;

/// A terminal of its own, gone at the end.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a command in one of so many columns and lines; `None`: there is no tmux.
    fn start(name: &str, line: &str) -> Option<Self> {
        let terminal = Self { socket: format!("zeronic-{name}-{}", std::process::id()) };
        let size = ["new-session", "-d", "-x", "120", "-y", "40", line];
        let started = terminal.tmux(&size).ok()?;
        assert!(started.status.success(), "{started:?}");
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> std::io::Result<std::process::Output> {
        Command::new("tmux").args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).output()
    }

    fn keys(&self, keys: &str) {
        self.tmux(&["send-keys", keys]).expect("tmux");
    }

    fn text(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]).expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until the screen shows something.
    fn wait_for(&self, holds: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if holds(&text) || begun.elapsed() > Duration::from_secs(30) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

#[test]
fn full_screen_shows_flows_until_q() {
    let card = Card::with("top", &["--peer", "smoltcp"]);
    let line = format!(
        "{} device top --bus {}; echo status $?; cat",
        env!("CARGO_BIN_EXE_zeronic"),
        card.bus()
    );
    let Some(terminal) = Terminal::start("top", &line) else {
        return skip(Need::Terminal, "no tmux");
    };
    let shown = terminal.wait_for(|text| text.contains("q: quit") && text.contains(" 3 s"));
    for wanted in ["wire up", "OWNER", "10.77.0.2:5001", "DROPS, by reason", "STALLS"] {
        assert!(shown.contains(wanted), "no `{wanted}` on the screen:\n{shown}");
    }
    assert_eq!(shown.matches("> 10.77.0.2:5001").count(), 4, "{shown}");
    terminal.keys("q");
    let left = terminal.wait_for(|text| text.contains("status"));
    assert!(left.contains("each as sent") && left.contains("status 0"), "{left}");
    assert!(!left.contains("q: quit"), "the screen before is back:\n{left}");
}

#[test]
fn without_a_terminal_pages_follow_each_other() {
    let card = Card::with("pages", &["--peer", "smoltcp"]);
    let bus = card.bus();
    let top = ["device", "top", "--bus", &bus, "--seconds", "2", "--flows", "3", "--owners", "3"];
    let (text, report) = json_of(&top, "device_top");
    assert!(text.matches("OWNER FLOW").count() >= 2, "{text}");
    assert!(!text.contains('\x1b'), "no escape sequence without a terminal");
    assert_eq!(report["ok"], true);
    let flows = report["sample"]["flows"].as_array().expect("a list");
    assert!(flows.iter().all(|flow| flow["failed"].is_null()), "{report}");
    let back: u64 = flows.iter().filter_map(|flow| flow["received"].as_u64()).sum();
    assert!(back > 0 && text.contains(&format!("{back} bytes out and back")), "{text}");
    assert_eq!((flows.len(), report["sample"]["owners"].as_array().map(Vec::len)), (3, Some(3)));
}

#[test]
fn silent_peer_and_missing_owner_are_refused() {
    let card = Card::with("alone", &[]);
    let bus = card.bus();
    expect_refusal(&["device", "top", "--bus", &bus], &["does not answer", "--peer smoltcp"]);
    expect_refusal(&["device", "top", "--bus", &bus, "--owners", "9"], &["owner 4 of 9"]);
}
