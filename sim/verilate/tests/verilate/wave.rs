//! Waveforms and clocks, shown on a counter in each of two clock domains.

use std::path::{Path, PathBuf};

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;
use verilate::block::design_of;
use verilate::clocks::{Clocks, Edge};
use verilate::options::Options;
use verilate::wave::WaveError;

#[derive(LogicBlock, Default)]
struct Counters {
    fast_clock: Signal<In, Clock>,
    slow_clock: Signal<In, Clock>,
    enable: Signal<In, Bit>,
    fast: Signal<Out, Bits<32>>,
    slow: Signal<Out, Bits<100>>,
    fast_count: DFF<Bits<32>>,
    slow_count: DFF<Bits<100>>,
}

impl Logic for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, fast_clock, fast_count);
        dff_setup!(self, slow_clock, slow_count);
        self.fast.next = self.fast_count.q.val();
        self.slow.next = self.slow_count.q.val();
        if self.enable.val() {
            self.fast_count.d.next = self.fast_count.q.val() + 1;
            self.slow_count.d.next = self.slow_count.q.val() + 1;
        }
    }
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("zeronic-{}-{name}", std::process::id()))
}

#[test]
fn clock_ratio_holds_registers_see_earlier_inputs() {
    let design = design_of(&mut Counters::default(), "counters", Options::default());
    let design = design.expect("builds");
    let mut model = design.model();
    let mut clocks = Clocks::new();
    let fast = clocks.add(&mut model, "fast_clock", 3103, 100);
    let slow = clocks.add(&mut model, "slow_clock", 4000, 0);
    let (enable, fast_out, slow_out) =
        (model.port("enable"), model.port("fast"), model.port("slow"));
    let mut seen = Vec::new();
    clocks.run(&mut model, slow, 3104, &mut |model, tick| {
        if tick.clock == fast && tick.edge == Edge::Before {
            seen.push(model.get(fast_out));
        }
        if tick.edge == Edge::After {
            // Takes effect with the next edge of either clock, not with this one.
            model.set(enable, 1);
        }
    });
    assert_eq!(clocks.cycles(slow), 3104);
    assert_eq!(clocks.now_ps(), 3103 * 4000);
    assert_eq!(clocks.cycles(fast), 4000);
    assert!(seen.iter().enumerate().all(|(index, value)| *value == index as u64), "{seen:?}");
    assert_eq!(model.words(slow_out), [3103, 0, 0, 0]);
}

#[test]
fn models_of_design_share_no_state() {
    let design = design_of(&mut Counters::default(), "counters", Options::default());
    let design = design.expect("builds");
    let (mut one, mut two) = (design.model(), design.model());
    let (enable, out) = (one.port("enable"), one.port("fast"));
    one.set(enable, 1);
    let mut clocks = [Clocks::new(), Clocks::new()];
    let ids = [
        clocks[0].add(&mut one, "fast_clock", 4000, 0),
        clocks[1].add(&mut two, "fast_clock", 4000, 0),
    ];
    clocks[0].run(&mut one, ids[0], 5, &mut |_, _| {});
    clocks[1].run(&mut two, ids[1], 5, &mut |_, _| {});
    assert_eq!((one.get(out), two.get(out)), (5, 0));
}

#[test]
fn waveform_files_hold_the_recorded_edges() {
    let design = design_of(&mut Counters::default(), "counters", Options::TRACED).expect("builds");
    for (name, check) in [("w.vcd", check_vcd as fn(&[u8])), ("w.fst", check_fst)] {
        let path = temporary(name);
        let mut model = design.model();
        model.open_wave(&path).expect("opens");
        let enable = model.port("enable");
        model.set(enable, 1);
        let mut clocks = Clocks::new();
        let fast = clocks.add(&mut model, "fast_clock", 4000, 2000);
        clocks.run(&mut model, fast, 300, &mut |_, _| {});
        model.close_wave().expect("closes");
        let bytes = std::fs::read(&path).expect("the file is there");
        std::fs::remove_file(&path).expect("it can go");
        check(&bytes);
    }
}

fn check_vcd(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(text.contains("$timescale") && text.contains("fast_clock"), "{text}");
    let rises = text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(rises, 599, "300 rising edges and the falling ones between them");
    assert!(text.contains(&format!("b{:032b} ", 300)), "the last count is recorded");
}

/// Header block of an FST file: block type 0, length 329, start time, end time.
fn check_fst(bytes: &[u8]) {
    let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!((bytes[0], number(1)), (0, 329));
    assert_eq!((number(9), number(17)), (0, 2000 + 299 * 4000));
    let signals = number(49);
    assert!(signals >= 5, "{signals} signals");
}

#[test]
fn full_disk_ends_recording_not_run() {
    let design = design_of(&mut Counters::default(), "counters", Options::TRACED).expect("builds");
    // A link by this name makes VCD, whose text is written as it comes.
    let link = temporary("full.vcd");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("/dev/full", &link).expect("a link");
    for path in [&link, Path::new("/dev/full")] {
        let mut model = design.model();
        model.open_wave(path).expect("opens");
        let enable = model.port("enable");
        model.set(enable, 1);
        let mut clocks = Clocks::new();
        let fast = clocks.add(&mut model, "fast_clock", 4000, 2000);
        clocks.run(&mut model, fast, 20_000, &mut |_, _| {});
        let error = model.check_wave().and_then(|()| model.close_wave());
        let error = error.expect_err("nothing was written").to_string();
        let named = format!("waveform {} is incomplete", path.display());
        assert!(error.starts_with(&named), "{error}");
        assert!(error.contains("No space left"), "{error}");
        // It is said once, and the model goes on without it.
        clocks.run(&mut model, fast, 10, &mut |_, _| {});
        assert!(!model.has_wave() && model.close_wave().is_ok());
    }
    std::fs::remove_file(&link).expect("it can go");
}

/// An FST file is written with gaps that are filled later; VCD goes into a pipe as it comes.
#[test]
fn pipe_cannot_hold_fst() {
    let design = design_of(&mut Counters::default(), "counters", Options::TRACED);
    let mut model = design.expect("builds").model();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let fd = std::os::fd::AsRawFd::as_raw_fd(&writer);
    let path = PathBuf::from(format!("/proc/self/fd/{fd}"));
    let error = model.open_wave(&path).expect_err("no FST in a pipe");
    assert!(error.to_string().contains("Illegal seek"), "{error}");
    assert!(!model.has_wave());
    drop(reader);
}

#[test]
fn recording_needs_suitable_design() {
    let design = design_of(&mut Counters::default(), "counters", Options::default());
    let mut model = design.expect("builds").model();
    let error = model.open_wave(&temporary("none.fst")).expect_err("cannot record");
    assert!(matches!(error, WaveError::NotBuilt));
}
