//! The status of every command under every bad operand: RTL, golden model and the table below
//! agree.
//!
//! ```text
//!  CASES: opcode, field, value ──► one command each ──► RTL status ═══ golden status ═══ expected
//! ```

use super::model::bench::*;
use super::model::{Command, Model};
use abi::command::*;
use abi::config::SMALL;
use abi::field::Field;
use abi::reason::CommandStatus::{self, *};
use sim::harness::stall::Stall;

/// Flow, its owner and generation, receive floor and send floor of all cases.
const FLOW_ID: u64 = 5;
const FLOW_OWNER: u64 = 1;
const FLOW_GENERATION: u64 = 9;
const LOW: u64 = 1_000;
const SEND_LOW: u64 = 2_000;
const REACH: u64 = 1 << 30;

/// A good command of each opcode, with the operands that the cases vary.
fn good(opcode: u8) -> Command {
    let flow = [(FLOW, FLOW_ID), (GENERATION, FLOW_GENERATION)];
    let segment = [(SEGMENT_INDEX, 2), (SEGMENT_BYTES, 100)];
    let own: &[(Field, u64)] = match opcode {
        FLOOR_SET => &[(FLOOR, LOW), (HEAD, 1)],
        SEND_FLOOR_SET => &[(FLOOR, SEND_LOW)],
        SEGMENT_POST => &[segment[0], segment[1], (SEGMENT_POSITION, LOW + 500)],
        SEGMENT_TRUNCATE => &[(SEGMENT_INDEX, 1), (SEGMENT_BYTES, 100)],
        FLOW_ADVANCE => &[
            (FLOOR, LOW),
            (HEAD, 1),
            (SEND_FLOOR, SEND_LOW),
            (APPENDS, 1),
            (APPEND_INDEX, 2),
            (APPEND_BYTES, 100),
            (APPEND_POSITION, LOW + 500),
        ],
        LIST_MOVE => &[(LIST_BASE, 1_024), (LIST_BITS, 5)],
        FLOW_INSTALL => &[
            (OWNER, 3),
            (RX_LIST_BASE, 64),
            (RX_LIST_BITS, 3),
            (TX_LIST_BASE, 72),
            (TX_LIST_BITS, 3),
        ],
        REGION_INSTALL => &[
            (REGION, 4),
            (REGION_PAGE_BITS, 12),
            (REGION_FIRST_PAGE, 60),
            (REGION_BYTES, 4 * 4_096),
        ],
        PAGE_SET => &[(PAGE_ADDRESS, 0x7000)],
        _ => &[],
    };
    let flow: &[(Field, u64)] = match opcode {
        REGION_INSTALL..=PAGE_SET => &[],
        KEY_SET | KEY_CLEAR => &flow[..1],
        _ => &flow,
    };
    command(opcode, &[flow, own].concat())
}

/// One operand of a good command changed, from owner 0 unless `owner` says another, and its status.
struct Case {
    opcode: u8,
    owner: u8,
    field: Field,
    value: u64,
    status: CommandStatus,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |opcode, field, value, status| {
        cases.push(Case { opcode, owner: 0, field, value, status });
    };
    for opcode in (0..=255).filter(|o| !matches!(o, NOP..=FLOW_ADVANCE | KEY_SET..=PAGE_SET)) {
        add(opcode, FLOW, 0, BadOpcode);
    }
    for opcode in [
        FLOOR_SET,
        SEGMENT_POST,
        SEGMENT_TRUNCATE,
        SEND_FLOOR_SET,
        FLOW_ADVANCE,
        LIST_MOVE,
        FLOW_REMOVE,
    ] {
        add(opcode, FLOW, 64, BadIndex);
        add(opcode, FLOW, 0xffff, BadIndex);
        add(opcode, FLOW, 6, BadFlow);
        add(opcode, GENERATION, 8, BadFlow);
    }
    for opcode in [KEY_SET, FLOW_INSTALL] {
        add(opcode, FLOW, 64, BadIndex);
        add(opcode, FLOW, 63, Ok);
    }
    for opcode in [NOP, KEY_CLEAR, REGION_INSTALL, REGION_REMOVE, PAGE_SET] {
        // They name no flow.
        add(opcode, FLOW, 0xffff, Ok);
    }
    for opcode in [KEY_SET, KEY_CLEAR] {
        add(opcode, KEY_BUCKET, 32, BadIndex);
        add(opcode, KEY_BUCKET, 31, Ok);
    }
    for (field, value, status) in [
        (OWNER, 4, BadIndex),
        (OWNER, 255, BadIndex),
        (RX_LIST_BASE, 4_089, BadRange),
        (RX_LIST_BASE, 4_088, Ok),
        (RX_LIST_BITS, 13, BadRange),
        (TX_LIST_BASE, 4_089, BadRange),
        (TX_LIST_BITS, 15, BadRange),
    ] {
        add(FLOW_INSTALL, field, value, status);
    }
    for opcode in [FLOOR_SET, SEND_FLOOR_SET] {
        let low = if opcode == FLOOR_SET { LOW } else { SEND_LOW };
        add(opcode, FLOOR, low - 1, BadRange);
        add(opcode, FLOOR, low + REACH, BadRange);
        add(opcode, FLOOR, low + REACH - 1, Ok);
        add(opcode, HEAD, 3, BadRange);
        add(opcode, HEAD, 0xffff, BadRange);
        add(opcode, HEAD, 2, Ok);
    }
    advance_cases(&mut add);
    segment_cases(&mut add);
    region_cases(&mut add);
    owner_cases(&mut cases);
    cases
}

/// Each good command from a stranger, from the owner of its flow, from owner 0.
fn owner_cases(cases: &mut Vec<Case>) {
    for opcode in NOP..=PAGE_SET {
        if opcode > FLOW_ADVANCE && opcode < KEY_SET {
            continue;
        }
        let names_flow = matches!(opcode, FLOOR_SET..=FLOW_ADVANCE);
        let privileged = opcode >= PRIVILEGED_FIRST;
        let stranger = if names_flow || privileged { NotOwner } else { Ok };
        let owner = if privileged { NotOwner } else { Ok };
        for (from, status) in [(2, stranger), (FLOW_OWNER as u8, owner), (0, Ok)] {
            cases.push(Case {
                opcode,
                owner: from,
                field: DIRECTION,
                value: DIRECTION.get(&good(opcode)),
                status,
            });
        }
    }
}

/// Each part of `flow_advance` is refused as its command is, and what it does not append is not
/// looked at.
fn advance_cases(add: &mut impl FnMut(u8, Field, u64, CommandStatus)) {
    for (field, value, status) in [
        (FLOOR, LOW - 1, BadRange),
        (FLOOR, LOW + REACH - 1, Ok),
        (FLOOR, LOW + REACH, BadRange),
        (HEAD, 2, Ok),
        (HEAD, 3, BadRange),
        (HEAD, 0xffff, BadRange),
        (SEND_FLOOR, SEND_LOW - 1, BadRange),
        (SEND_FLOOR, SEND_LOW + REACH - 1, Ok),
        (SEND_FLOOR, SEND_LOW + REACH, BadRange),
        (SEND_HEAD, 2, Ok),
        (SEND_HEAD, 3, BadRange),
        (APPENDS, 0, Ok),
        (APPEND_REGION, 64, BadIndex),
        (APPEND_REGION, 63, Ok),
        (APPEND_INDEX, 1, ListFull),
        (APPEND_INDEX, 3, ListFull),
        (APPEND_BYTES, 0, BadRange),
        (APPEND_BYTES, REACH + 1, BadRange),
        (APPEND_BYTES, REACH - 500, Ok),
        (APPEND_BYTES, REACH - 499, BadRange),
        (APPEND_POSITION, LOW + REACH - 100, Ok),
        (APPEND_POSITION, LOW + REACH - 99, BadRange),
        (APPEND_POSITION, LOW.wrapping_sub(REACH) & 0xffff_ffff, Ok),
        (APPEND_POSITION, LOW.wrapping_sub(REACH + 1) & 0xffff_ffff, BadRange),
        (APPEND_OFFSET, (1 << 48) - 100, Ok),
        (APPEND_OFFSET, (1 << 48) - 99, BadRange),
        (APPEND_DIRECTION, 1, Ok),
    ] {
        add(FLOW_ADVANCE, field, value, status);
    }
}

fn segment_cases(add: &mut impl FnMut(u8, Field, u64, CommandStatus)) {
    for (field, value, status) in [
        (SEGMENT_REGION, 64, BadIndex),
        (SEGMENT_REGION, 63, Ok),
        (SEGMENT_INDEX, 1, ListFull),
        (SEGMENT_INDEX, 3, ListFull),
        (SEGMENT_BYTES, 0, BadRange),
        (SEGMENT_BYTES, REACH + 1, BadRange),
        (SEGMENT_BYTES, REACH - 500, Ok),
        (SEGMENT_BYTES, REACH - 499, BadRange),
        (SEGMENT_POSITION, LOW + REACH - 100, Ok),
        (SEGMENT_POSITION, LOW + REACH - 99, BadRange),
        (SEGMENT_POSITION, LOW.wrapping_sub(REACH) & 0xffff_ffff, Ok),
        (SEGMENT_POSITION, LOW.wrapping_sub(REACH + 1) & 0xffff_ffff, BadRange),
        (SEGMENT_OFFSET, (1 << 48) - 100, Ok),
        (SEGMENT_OFFSET, (1 << 48) - 99, BadRange),
        (DIRECTION, 1, Ok),
    ] {
        add(SEGMENT_POST, field, value, status);
    }
    for (field, value, status) in [
        (SEGMENT_INDEX, 2, BadRange),
        (SEGMENT_INDEX, 0xffff, BadRange),
        (SEGMENT_BYTES, 251, BadRange),
        (SEGMENT_BYTES, 250, Ok),
        (SEGMENT_BYTES, 0, Ok),
    ] {
        add(SEGMENT_TRUNCATE, field, value, status);
    }
    for (field, value, status) in [
        (LIST_BITS, 0, ListFull),
        (LIST_BITS, 1, Ok),
        (LIST_BITS, 13, BadRange),
        (LIST_BASE, 4_080, BadRange),
        (LIST_BASE, 40, BadRange),
        (LIST_BASE, 32, BadRange),
        (LIST_BASE, 48, Ok),
        (LIST_BASE, 8, Ok),
        (LIST_BASE, 9, BadRange),
    ] {
        add(LIST_MOVE, field, value, status);
    }
}

fn region_cases(add: &mut impl FnMut(u8, Field, u64, CommandStatus)) {
    for (field, value, status) in [
        (REGION, 64, BadIndex),
        (REGION, 63, Ok),
        (REGION_FIRST_PAGE, 61, BadIndex),
        (REGION_FIRST_PAGE, 0xffff, BadIndex),
        (REGION_BYTES, 4 * 4_096 + 1, BadIndex),
        (REGION_BYTES, (1 << 48) - 1, BadIndex),
        (REGION_BYTES, 0, Ok),
        (REGION_PAGE_BITS, 11, BadIndex),
        (REGION_PAGE_BITS, 30, Ok),
        (REGION_PAGE_BITS, 31, BadRange),
    ] {
        add(REGION_INSTALL, field, value, status);
    }
    add(REGION_REMOVE, REGION, 64, BadIndex);
    add(REGION_REMOVE, REGION_KEY, 77, Ok);
    add(PAGE_SET, PAGE, 64, BadIndex);
    add(PAGE_SET, PAGE, 63, Ok);
    for bit in 0..12 {
        add(PAGE_SET, PAGE_ADDRESS, 0x7000 | 1 << bit, BadRange);
    }
}

/// Flow 5 of owner 1 with two segments of 250 bytes in each list.
fn set_up() -> Vec<Command> {
    let fields = [
        (FLOW, FLOW_ID),
        (GENERATION, FLOW_GENERATION),
        (OWNER, FLOW_OWNER),
        (INSTALL_FLOOR, LOW),
        (INSTALL_SEND_FLOOR, SEND_LOW),
        (RX_LIST_BASE, 40),
        (RX_LIST_BITS, 3),
        (TX_LIST_BASE, 512),
        (TX_LIST_BITS, 3),
    ];
    let mut commands = vec![command(FLOW_INSTALL, &fields)];
    for (direction, low) in [LOW, SEND_LOW].into_iter().enumerate() {
        for index in 0..2 {
            let fields = [
                (FLOW, FLOW_ID),
                (GENERATION, FLOW_GENERATION),
                (DIRECTION, direction as u64),
                (SEGMENT_INDEX, index),
                (SEGMENT_POSITION, low + 250 * index),
                (SEGMENT_BYTES, 250),
            ];
            commands.push(command(SEGMENT_POST, &fields));
        }
    }
    commands
}

#[test]
fn bad_operands_have_status_like_golden() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    let cases = cases();
    for (number, case) in cases.iter().enumerate() {
        let mut entry = good(case.opcode);
        case.field.set(&mut entry, case.value);
        let mut model = Model::new(SMALL);
        for command in set_up() {
            tables.execute(command);
            assert_eq!(model.apply(0, &command), Ok);
        }
        tables.send_commands(case.owner, 3, &[entry], false);
        let status = tables.wait_for_statuses(case.owner, 3, 1)[0];
        let what = format!(
            "case {number}: opcode {}, {} = {:#x}, owner {}",
            case.opcode, case.field.name, case.value, case.owner
        );
        assert_eq!(status, case.status, "RTL, {what}");
        assert_eq!(model.apply(case.owner, &entry), case.status, "golden, {what}");
    }
    for status in CommandStatus::ALL {
        assert!(cases.iter().any(|case| case.status == *status), "{status:?}");
    }
    tables.assert_clean();
}
