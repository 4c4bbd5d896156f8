//! Tests of `host_interface::csr::epochs`.

use host_interface::csr::epochs::*;
use stream::prelude::*;

fn cycle(dut: &mut Epochs) {
    dut.clock.next = Clock { clk: false };
    assert!(simulate(dut, 20));
    dut.clock.next = Clock { clk: true };
    assert!(simulate(dut, 20));
}

fn started() -> Epochs {
    let mut dut = Epochs::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    dut.bus_master.next = true;
    cycle(&mut dut);
    dut
}

fn reset_cycles(dut: &mut Epochs) -> u32 {
    let mut cycles = 0;
    while dut.reset.val() {
        cycles += 1;
        assert!(cycles < 100, "reset does not end");
        cycle(dut);
    }
    cycles
}

#[test]
fn command_begins_one_16_cycle_epoch() {
    let mut dut = started();
    assert_eq!(dut.epoch.val().to_u32(), 1);
    dut.command.next = true;
    cycle(&mut dut);
    dut.command.next = false;
    assert_eq!(dut.epoch.val().to_u32(), 2);
    assert_eq!(reset_cycles(&mut dut), 16);
    assert_eq!(dut.epoch.val().to_u32(), 2);
}

#[test]
fn bus_mastering_loss_begins_epoch_return_none() {
    let mut dut = started();
    dut.bus_master.next = false;
    cycle(&mut dut);
    assert!(dut.reset.val());
    reset_cycles(&mut dut);
    dut.bus_master.next = true;
    cycle(&mut dut);
    assert!(!dut.reset.val());
    assert_eq!(dut.epoch.val().to_u32(), 2);
}

#[test]
fn user_reset_is_held_and_counted() {
    let mut dut = started();
    dut.user_reset.next = true;
    for _ in 0..50 {
        cycle(&mut dut);
    }
    assert!(dut.reset.val());
    assert_eq!(dut.epoch.val().to_u32(), 2);
    dut.user_reset.next = false;
    assert!(reset_cycles(&mut dut) >= 16);
    assert_eq!(dut.epoch.val().to_u32(), 2);
}

#[test]
fn flr_is_done_after_its_epoch() {
    let mut dut = started();
    dut.flr_in_process.next = true;
    cycle(&mut dut);
    assert!(!dut.flr_done.val());
    for _ in 0..40 {
        cycle(&mut dut);
    }
    assert!(dut.flr_done.val());
    assert_eq!(dut.epoch.val().to_u32(), 2);
    dut.flr_in_process.next = false;
    cycle(&mut dut);
    assert!(!dut.flr_done.val());
}
