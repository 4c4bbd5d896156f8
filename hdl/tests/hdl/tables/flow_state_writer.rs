//! Tests of `tables::flow_table::flow_state_writer`.

use stream::prelude::*;
use tables::flow_table::flow_state_writer::*;
use tables::messages::FlowUpdate;

fn cursor(flow: u64, cursor: u64) -> CursorWrite {
    CursorWrite { flow: flow.into(), cursor: cursor.into() }
}

#[test]
fn pulse_precedes_and_forbids_catch_up() {
    let mut dut = FlowStateWriter::default();
    dut.connect_all();
    check_all(&dut).unwrap();
    let mut change = FlowUpdate {
        flow: 3.into(),
        write_floor: true,
        write_cursor: true,
        ..FlowUpdate::default()
    };
    change.floor.floor = 70.into();
    for moved in [false, true] {
        let mut step = |watch: bool, pulse: Option<CursorWrite>, change: Option<FlowUpdate>| {
            dut.clock.next = Clock { clk: false };
            dut.watch.next = watch;
            dut.watch_flow.next = 3.into();
            dut.cursor_write.valid.next = pulse.is_some();
            dut.cursor_write.payload.next = pulse.unwrap_or_default();
            dut.change.valid.next = change.is_some();
            dut.change.payload.next = change.unwrap_or_default();
            assert!(simulate(&mut dut, 20));
            let seen =
                (dut.change.ready.val(), dut.cursor_out.valid.val(), dut.cursor_out.payload.val());
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
            seen
        };
        step(true, None, None);
        let flow = if moved { 3 } else { 4 };
        let (ready, valid, written) = step(false, Some(cursor(flow, 90)), Some(change));
        assert!(!ready && valid && written == cursor(flow, 90));
        let (ready, valid, written) = step(false, None, Some(change));
        assert!(ready && valid != moved);
        assert!(moved || written == cursor(3, 70));
    }
}

#[test]
fn cursorless_change_is_taken_beside_pulse() {
    let mut dut = FlowStateWriter::default();
    dut.connect_all();
    for write_cursor in [false, true] {
        let change =
            FlowUpdate { flow: 3.into(), write_floor: true, write_cursor, ..FlowUpdate::default() };
        dut.cursor_write.valid.next = true;
        dut.cursor_write.payload.next = cursor(4, 90);
        dut.change.valid.next = true;
        dut.change.payload.next = change;
        assert!(simulate(&mut dut, 20));
        assert_eq!(dut.change.ready.val(), !write_cursor);
        assert_eq!(dut.change_out.valid.val(), !write_cursor);
        assert_eq!(dut.cursor_out.payload.val(), cursor(4, 90));
    }
}
