//! The judges catch faults planted in the Verilog; every scenario here passes without its fault.

use super::model::bench::*;
use super::model::{Access, Command, SegmentAnswer};
use abi::command::*;
use abi::config::EPOCH_MAX;
use abi::flow_key::KEY_BYTES;
use abi::reason::CommandStatus;
use sim::caught::caught_by;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

/// All of this file: one model holds them.
const FAULTS: [TextFault; 12] = [
    GENERATION_THAT_IS_NOT_COMPARED,
    OWNER_THAT_IS_NOT_COMPARED,
    DOMAIN_THAT_IS_NOT_COMPARED,
    REGION_KEY_THAT_IS_NOT_COMPARED,
    RIGHT_THAT_IS_NOT_COMPARED,
    EPOCH_THAT_IS_NOT_COMPARED,
    EPOCH_THAT_COMES_AGAIN_UNSCRUBBED,
    BOUNDS_OFF_BY_ONE,
    FLOOR_THAT_DOES_NOT_TRIM_THE_LIST,
    LIST_THAT_IS_NEVER_FULL,
    UPDATE_THAT_IS_VISIBLE_AFTER_ITS_CONFIRMATION,
    MOVE_THAT_FORGETS_ITS_ENTRIES,
];

const FLOW_ID: u64 = 5;
/// Not zero, as memories power up in the simulator.
const KEY: [u8; KEY_BYTES] = [7; KEY_BYTES];

const ACCESS: Access = Access { region: 4, key: 7, domain: 3, write: true, offset: 0, bytes: 64 };

/// Flow 5 with eight segments of 100 bytes from 1,000 on, its key, and a region of 4,096 bytes.
fn set_up(mut tables: Tables) -> Tables {
    tables.execute(install(FLOW_ID, (40, 3)));
    let mut key = command(KEY_SET, &[(FLOW, FLOW_ID)]);
    key[KEY_AT_BYTES..].copy_from_slice(&KEY);
    tables.execute(key);
    for n in 0..8u16 {
        tables.execute(post(FLOW_ID, n, 1_000 + 100 * u32::from(n), 100));
    }
    let fields = [
        (REGION, 4),
        (REGION_KEY, 7),
        (REGION_DOMAIN, 3),
        (REGION_WRITE, 1),
        (REGION_PAGE_BITS, 12),
        (REGION_BYTES, 4_096),
    ];
    tables.execute(command(REGION_INSTALL, &fields));
    tables.execute(command(PAGE_SET, &[(PAGE_ADDRESS, 0x7000)]));
    tables
}

/// Runs a scenario with a fault, expects `checker` to end it, and without it, expects it to pass.
fn catches(checker: &str, fault: TextFault, scenario: impl Fn(&mut Tables)) {
    let faulty = Tables::with_fault(&FAULTS, fault);
    caught_by(checker, fault.1, || scenario(&mut set_up(faulty)));
    scenario(&mut set_up(Tables::new(Stall::None, Stall::None, 1)));
}

#[test]
fn model_without_faults_passes() {
    let mut tables = set_up(Tables::with_fault(&FAULTS, NO_FAULT));
    assert!(is_granted(&mut tables, ACCESS) && flow_is_found(&mut tables));
    tables.execute(floor(FLOW_ID, 1_200, 2));
    assert_eq!(segment(&mut tables, 1_050), SegmentAnswer::Missing);
    assert!(matches!(segment(&mut tables, 1_250), SegmentAnswer::Found(2, _)));
}

fn status_of(tables: &mut Tables, owner: u8, command: Command) -> CommandStatus {
    tables.send_commands(owner, 7, &[command], false);
    tables.wait_for_statuses(owner, 7, 1)[0]
}

fn is_granted(tables: &mut Tables, access: Access) -> bool {
    let reply = tables.ask(Port::RxRegion, &[region_request(&access)]).remove(0);
    region_answer(&reply).is_some()
}

fn segment(tables: &mut Tables, position: u32) -> SegmentAnswer {
    let request = segment_request(FLOW_ID as u16, false, 0, position);
    segment_answer(&tables.ask(Port::RxSegment, &[request]).remove(0))
}

fn flow_is_found(tables: &mut Tables) -> bool {
    let reply = tables.ask(Port::Flow, &[flow_request(&KEY)]).remove(0);
    flow_answer(&reply).is_some()
}

const GENERATION_THAT_IS_NOT_COMPARED: TextFault =
    ("(~flow[0]) | (installed[7:0] != generation)", "~flow[0]");

#[test]
fn uncompared_generation_is_caught() {
    catches("the generation is stale", GENERATION_THAT_IS_NOT_COMPARED, |tables| {
        let mut stale = floor(FLOW_ID, 1_100, 1);
        GENERATION.set(&mut stale, 8);
        let status = status_of(tables, 0, stale);
        assert_eq!(status, CommandStatus::BadFlow, "the generation is stale");
    });
}

const OWNER_THAT_IS_NOT_COMPARED: TextFault =
    ("(of_flow & stranger) & (installed[15:8] != owner)", "1'd0");

#[test]
fn uncompared_owner_is_caught() {
    catches("the owner is another", OWNER_THAT_IS_NOT_COMPARED, |tables| {
        let status = status_of(tables, 2, floor(FLOW_ID, 1_100, 1));
        assert_eq!(status, CommandStatus::NotOwner, "the owner is another");
    });
}

const DOMAIN_THAT_IS_NOT_COMPARED: TextFault = (" & (region[31:16] == request[47:32])}", "}");

#[test]
fn uncompared_domain_is_caught() {
    catches("granted to another domain", DOMAIN_THAT_IS_NOT_COMPARED, |tables| {
        let domain = ACCESS.domain + 1;
        assert!(is_granted(tables, ACCESS));
        let granted = is_granted(tables, Access { domain, ..ACCESS });
        assert!(!granted, "granted to another domain");
    });
}

const REGION_KEY_THAT_IS_NOT_COMPARED: TextFault = (" & (region[15:0] == request[31:16])", "");

#[test]
fn uncompared_region_key_is_caught() {
    catches("granted with another key", REGION_KEY_THAT_IS_NOT_COMPARED, |tables| {
        let key = ACCESS.key + 1;
        let granted = is_granted(tables, Access { key, ..ACCESS });
        assert!(!granted, "granted with another key");
    });
}

const RIGHT_THAT_IS_NOT_COMPARED: TextFault = ("right = region[33];", "right = 1'd1;");

#[test]
fn uncompared_right_is_caught() {
    catches("granted without the right", RIGHT_THAT_IS_NOT_COMPARED, |tables| {
        let write = false;
        let granted = is_granted(tables, Access { write, ..ACCESS });
        assert!(!granted, "granted without the right");
    });
}

const EPOCH_THAT_IS_NOT_COMPARED: TextFault = ("{384'd0, slots_read_epoch}", "{384'd0, epoch}");

#[test]
fn uncompared_epoch_is_caught() {
    catches("its key is of the epoch before", EPOCH_THAT_IS_NOT_COMPARED, |tables| {
        tables.start_epoch(2);
        tables.execute(install(FLOW_ID, (40, 3)));
        assert!(!flow_is_found(tables), "its key is of the epoch before");
    });
}

const EPOCH_THAT_COMES_AGAIN_UNSCRUBBED: TextFault = ("scrubbing <= 1'd1;", "scrubbing <= 1'd0;");

#[test]
fn unscrubbed_epoch_is_caught() {
    catches("its key is of an epoch long past", EPOCH_THAT_COMES_AGAIN_UNSCRUBBED, |tables| {
        tables.start_epoch(EPOCH_MAX);
        tables.start_epoch(1);
        assert!(!flow_is_found(tables), "its key is of an epoch long past");
    });
}

const BOUNDS_OFF_BY_ONE: TextFault = (
    "checked[0] & (checked[49:1] <= {1'd0, checked[97:50]})",
    "checked[0] & (checked[49:1] <= ({1'd0, checked[97:50]} + 49'd1))",
);

#[test]
fn bounds_off_by_one_are_caught() {
    catches("granted beyond the bounds", BOUNDS_OFF_BY_ONE, |tables| {
        let at = |offset| Access { offset, ..ACCESS };
        assert!(is_granted(tables, at(4_096 - 64)));
        let granted = is_granted(tables, at(4_096 - 63));
        assert!(!granted, "granted beyond the bounds");
    });
}

const FLOOR_THAT_DOES_NOT_TRIM_THE_LIST: TextFault = ("after[55:40] = change[34:19];", "");

#[test]
fn floor_without_list_trim_is_caught() {
    catches("below the floor", FLOOR_THAT_DOES_NOT_TRIM_THE_LIST, |tables| {
        assert!(matches!(segment(tables, 1_050), SegmentAnswer::Found(0, _)));
        tables.execute(floor(FLOW_ID, 1_200, 2));
        let found = segment(tables, 1_050);
        assert_eq!(found, SegmentAnswer::Missing, "below the floor");
        tables.execute(post(FLOW_ID, 8, 1_800, 100));
    });
}

const LIST_THAT_IS_NEVER_FULL: TextFault = (
    concat!(
        "full = (change[34:19] != list[71:56]) | (extent > list[39:24]);\n",
        "                range_bad = bytes_bad;"
    ),
    concat!("full = change[34:19] != list[71:56];\n", "                range_bad = bytes_bad;"),
);

#[test]
fn never_full_list_is_caught() {
    catches("the list is full", LIST_THAT_IS_NEVER_FULL, |tables| {
        let ninth = post(FLOW_ID, 8, 1_800, 100);
        let status = status_of(tables, 0, ninth);
        assert_eq!(status, CommandStatus::ListFull, "the list is full");
    });
}

const UPDATE_THAT_IS_VISIBLE_AFTER_ITS_CONFIRMATION: TextFault = (
    "assign state_write_valid = state_pending_valid;",
    "reg [15:0] late = 16'd0;
    always @(posedge clock) late <= {late[14:0], state_pending_valid};
    assign state_write_valid = late[15];",
);

#[test]
fn update_visible_after_confirmation_is_caught() {
    catches("below the new floor", UPDATE_THAT_IS_VISIBLE_AFTER_ITS_CONFIRMATION, |tables| {
        // The request goes out in the cycle after the confirmation.
        tables.execute(floor(FLOW_ID, 1_200, 2));
        let found = segment(tables, 1_050);
        assert_eq!(found, SegmentAnswer::Missing, "below the new floor");
    });
}

const MOVE_THAT_FORGETS_ITS_ENTRIES: TextFault = ("write_entry = ~grows;", "write_entry = 1'd0;");

#[test]
fn move_forgetting_entries_is_caught() {
    catches("segment 0 is gone", MOVE_THAT_FORGETS_ITS_ENTRIES, |tables| {
        tables.execute(list_move(FLOW_ID, 1_024, 5));
        for n in 0..8 {
            let SegmentAnswer::Found(index, found) = segment(tables, 1_000 + 100 * n) else {
                panic!("segment {n} is gone");
            };
            assert_eq!((u32::from(index), found.position), (n, 1_000 + 100 * n));
        }
    });
}
