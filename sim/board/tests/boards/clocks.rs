//! Clocks of the tops: nothing but the core hangs at the slot's reference clock, and the 100 MHz
//! come of the board's free clock.

use board::boards::BOARDS;
use board::start_reset::StartReset;
use board::tops::emit_golden;
use ip::board_clock::ClockFactors;
use stream::prelude::*;

use crate::boards::top;

/// The text of every top: each board's, and the golden images.
fn tops() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for board in BOARDS {
        texts.push((board.top(), top(board).design.single_file()));
        if let Some(golden) = emit_golden(board, "golden_") {
            texts.push((board.golden_top(), golden.expect("emits").design.single_file()));
        }
    }
    texts
}

/// The modules of a text: name, lines.
fn modules(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut modules: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("module ") {
            modules.push((rest.split([' ', '(', '#']).next().unwrap_or(""), Vec::new()));
        }
        if let Some((_, lines)) = modules.last_mut() {
            lines.push(line.trim());
        }
    }
    modules
}

/// Lines of a module that name a net, but for its declaration.
fn uses<'a>(lines: &[&'a str], net: &str) -> Vec<&'a str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let names = |line: &&str| line.split(|c| !is_word(c)).any(|word| word == net);
    let declares =
        |line: &&&str| ["wire", "output", "input"].iter().any(|kind| line.starts_with(kind));
    lines.iter().filter(|line| names(line) && !declares(line)).copied().collect()
}

/// The net at a pin, in a line `.pin(net),`.
fn net_at<'a>(line: &'a str, pin: &str) -> Option<&'a str> {
    line.strip_prefix(&format!(".{pin}("))?.split(')').next()
}

/// What is wrong with the slot's reference clock in a text; AMD's rules for BUFG_GT (UG572), and
/// the core's own one.
fn wrong_reference(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.contains("BUFG_GT ") {
        wrong.push("a BUFG_GT outside the vendor's cores".to_owned());
    }
    let mut pads = 0;
    let mut cores = 0;
    for (module, lines) in modules(text) {
        for line in &lines {
            if let Some(net) = net_at(line, "ODIV2") {
                pads += 1;
                if net != "divided" {
                    wrong.push(format!("{module}: ODIV2 leads to {net}"));
                }
                for used in uses(&lines, net) {
                    let is_output = used.starts_with(".ODIV2(");
                    if !is_output {
                        wrong.push(format!("{module}: {used} hangs at ODIV2"));
                    }
                }
            }
            let Some(net) = net_at(line, "sys_clk") else { continue };
            cores += 1;
            // Followed back through names that the emitter gives joined nets.
            let used = uses(&lines, net);
            let drivers = used.iter().filter(|line| line.starts_with(".divided("));
            let others = used
                .iter()
                .filter(|line| !line.starts_with(".divided(") && !line.starts_with(".sys_clk("));
            if drivers.count() != 1 {
                wrong.push(format!("{module}: sys_clk is {net}, which no ODIV2 drives"));
            }
            wrong.extend(others.map(|line| format!("{module}: {line} hangs at ODIV2")));
        }
    }
    if (pads, cores) != (1, 1) {
        wrong.push(format!("{pads} pads, {cores} cores"));
    }
    wrong
}

#[test]
fn only_core_loads_the_slot_clock() {
    for (name, text) in tops() {
        assert_eq!(wrong_reference(&text), [""; 0], "{name}");
    }
}

#[test]
fn second_load_on_slot_clock_is_found() {
    let (_, good) = tops().swap_remove(0);
    for (from, to, found) in [
        (".sys_clk(", ".sys_clk_gt(clocks_divided),\n.sys_clk(", "hangs at ODIV2"),
        (".ODIV2(divided)", ".ODIV2(half)", "ODIV2 leads to half"),
        (
            ".ODIV2(divided)",
            ".ODIV2(half)\n);\nBUFG_GT buffer (\n.I(half),\n.O(divided)",
            "BUFG_GT",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let wrong = wrong_reference(&good.replacen(from, to, 1));
        assert!(wrong.iter().any(|line| line.contains(found)), "{found}: {wrong:?}");
    }
}

/// The factors of every board give 100 MHz, within what the MMCM may do (DS923): its oscillator 800
/// to 1,600 MHz, its phase detector 10 to 500 MHz.
#[test]
fn every_free_clock_makes_100_mhz() {
    for board in BOARDS {
        let ClockFactors { period_ps, divide, multiply } = ClockFactors::of(board.free_clock_ps());
        let pins = 1e6 / f64::from(period_ps);
        let detector = pins / f64::from(divide);
        let oscillator = detector * f64::from(multiply);
        assert!((10.0..=500.0).contains(&detector), "{}: {detector}", board.name);
        assert!((800.0..=1600.0).contains(&oscillator), "{}: {oscillator}", board.name);
        // The period of 300 MHz is rounded in the description.
        assert!((oscillator / 10.0 - 100.0).abs() < 0.02, "{}: {oscillator}", board.name);
        let text = top(board).design.single_file();
        let period = format!(".CLKIN1_PERIOD({:.3})", f64::from(period_ps) / 1e3);
        let parameters = [
            period,
            format!(".DIVCLK_DIVIDE({divide})"),
            format!(".CLKFBOUT_MULT_F({multiply}.000)"),
            ".CLKOUT0_DIVIDE_F(10.000)".to_owned(),
        ];
        for parameter in parameters {
            assert_eq!(text.matches(&parameter).count(), 1, "{}: {parameter}", board.name);
        }
    }
    assert!(!ClockFactors::of(7_000).are_exact(), "143 MHz");
}

/// In rust-hdl: the reset of the MAC's registers lasts 4,096 cycles from the lock on, and begins
/// again whenever the lock is lost.
#[test]
fn start_reset_lasts_from_lock() {
    let mut dut = StartReset::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    let mut cycle = |locked: bool| {
        dut.clock.next = Clock { clk: false };
        dut.locked.next = locked;
        assert!(simulate(&mut dut, 20));
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
        dut.reset.val()
    };
    assert!((0..5_000).all(|_| cycle(false)), "without a lock");
    for round in 0..2 {
        let length = (0..5_000).take_while(|_| cycle(true)).count();
        assert!((4_096..4_100).contains(&length), "round {round}: {length} cycles");
        assert!((0..5_000).all(|_| !cycle(true)), "low as long as the lock is there");
        cycle(false);
        cycle(false);
        assert!(cycle(false) || cycle(false), "the lock is lost");
    }
}
