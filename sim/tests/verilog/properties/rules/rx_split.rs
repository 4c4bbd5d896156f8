//! The receive path.

use rust_hdl_core::prelude::*;
use rx_split::messages::{CopyJob, RxItem};

use super::{Rule, NONE};
use crate::properties::stated::Layout;

/// Fields of the jobs.
const COPY_JOB: &[Layout] = &[("jobs_payload", CopyJob::descriptor)];

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "rx_split::walks::Walks",
        because: "invariant 3: a slot is given out again when its packet has left",
        trusts: "\
  always @* assume(!(starts & offered & oldest.slotted) | slots_slot != oldest.slot);
",
        layouts: &[("oldest", RxItem::descriptor)],
        ..NONE
    },
    Rule {
        block: "rx_split::hold::flusher::Flusher",
        because: "software may write a memory's flush address while its flush read waits",
        changes: &["flush_job"],
        ..NONE
    },
    Rule {
        block: "rx_split::classify::flow_request::FlowRequest",
        because: "what is ready for `waiting` stays so until something comes: it is a queue",
        says: "\
  reg had_space = 1'b0;
  always @(posedge `CLOCK) had_space <= waiting_ready & ~waiting_valid & ~in_reset;
  always @* if (had_space & ~in_reset) assume(waiting_ready);
",
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_route::HoldRoute",
        because: "a job that waits and finds nothing held any more goes on as one that is not held",
        says: "\
  wire is_slot = jobs_valid & jobs_payload.kind == 2'd0 & jobs_payload.head & \
    jobs_payload.memories == 4'd0;
  always @* assert(!(is_slot & !owner_holds) | jobs_ready == routed_ready);
",
        layouts: COPY_JOB,
        falls: &["routed"],
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_release::HeldBeats",
        because:
            "the read data change only a cycle after `register_enable`; states First and Last \
                  stay until a beat is taken, and Last follows First",
        says: "\
  reg enabled = 1'b1;
  reg [511:0] read_before;
  reg [135:0] slot_before;
  reg [2:0] state_before;
  reg stays = 1'b0;
  reg goes_on = 1'b0;
  always @(posedge `CLOCK) begin
    enabled <= register_enable;
    read_before <= read_data;
    slot_before <= slot;
    state_before <= state;
    stays <= (state == 3'd2 | state == 3'd3) & ~taken & ~in_reset;
    goes_on <= state == 3'd2 & taken & ~in_reset;
  end
  always @* begin
    if (!enabled) assume(read_data == read_before);
    assert(!write_data_valid | state == 3'd2 | state == 3'd3);
    assert(taken == (write_data_valid & write_data_ready));
    assert(begins == 3'd2 | begins == 3'd3);
    assert(!ends | state == 3'd3 & taken);
    if (stays) assume(slot == slot_before & state == state_before);
    if (goes_on) assume(slot == slot_before & state == 3'd3);
  end
",
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_release::HoldRelease",
        because: "the read data change only a cycle after `register_enable`",
        says: "\
  reg enabled = 1'b1;
  reg [511:0] read_before;
  always @(posedge `CLOCK) begin
    enabled <= register_enable;
    read_before <= read_data;
  end
  always @* if (!enabled) assume(read_data == read_before);
",
        ..NONE
    },
    Rule {
        block: "rx_split::split::Split",
        because: "invariant 6: the piece of a slot and number stands; a slot that waits for no \
                  memory passes for certain when `slot_passes` says so",
        says: "\
  wire is_slot = jobs_valid & jobs_payload.kind == 2'd0 & jobs_payload.head & \
    jobs_payload.memories == 4'd0;
  always @* assume(!(slot_passes & is_slot) | jobs_ready);
",
        trusts: "\
  reg job_waits = 1'b0;
  reg [79:0] piece_before;
  always @(posedge clock) begin
    job_waits <= jobs_valid & ~jobs_ready & ~reset;
    piece_before <= piece;
  end
  always @* if (job_waits) assume(piece == piece_before);
",
        layouts: COPY_JOB,
        ..NONE
    },
    Rule {
        block: "rx_split::copy::write_join::WriteJoin",
        because: "`shared` and `metadata` stand with `direct_data`",
        says: "\
  reg direct_waits = 1'b0;
  reg [256:0] shared_before;
  always @(posedge `CLOCK) begin
    direct_waits <= direct_data_valid & ~direct_data_ready & ~in_reset;
    shared_before <= {shared, metadata};
  end
  always @* if (direct_waits & ~in_reset) assume({shared, metadata} == shared_before);
",
        ..NONE
    },
    Rule {
        block: "rx_split::hold::Hold",
        because: "as `HoldRoute` and `Flusher` in it",
        says: "\
  wire is_slot = jobs_valid & jobs_payload.kind == 2'd0 & jobs_payload.head & \
    jobs_payload.memories == 4'd0;
  always @* assert(!(is_slot & !owner_holds) | jobs_ready == routed_ready);
",
        layouts: COPY_JOB,
        falls: &["routed"],
        changes: &["flush_job"],
        ..NONE
    },
    Rule {
        block: "rx_split::copy::fences::Fences",
        because: "a confirmation is taken before 2^7 more writes have landed",
        trusts: "\
  reg direct_waits = 1'b0;
  always @(posedge clock) direct_waits <= direct & ~waiting_source_ready & ~reset;
  always @* if (direct_waits) assume(!ahead[7]);
",
        ..NONE
    },
    Rule {
        block: "rx_split::align::Align",
        because: "`shared` and `metadata` stand with `source`",
        says: "\
  reg source_waits = 1'b0;
  reg [256:0] shared_before;
  always @(posedge `CLOCK) begin
    source_waits <= source_valid & ~source_ready & ~in_reset;
    shared_before <= {shared, metadata};
  end
  always @* if (source_waits & ~in_reset) assert({shared, metadata} == shared_before);
",
        ..NONE
    },
    Rule {
        block: "rx_split::copy::Copy",
        because: "as `Flusher` in it; a slot that waits for no memory passes with `slot_passes`",
        says: "\
  wire is_slot = jobs_valid & jobs_payload.kind == 2'd0 & jobs_payload.head & \
    jobs_payload.memories == 4'd0;
  always @* assert(!(slot_passes & is_slot) | jobs_ready);
",
        layouts: COPY_JOB,
        changes: &["flush_job"],
        ..NONE
    },
    Rule {
        block: "rx_split::RxSplit",
        because: "a frame's beat is taken in the cycle in which it is offered, or dropped",
        changes: &["send_event", "flush_job"],
        falls: &["frames"],
        ..NONE
    },
    Rule {
        block: "rx_split::intake::Intake",
        because: "a frame's beat is taken in the cycle in which it is offered, or dropped",
        falls: &["frames"],
        ..NONE
    },
    Rule {
        block: "rx_split::ingress::Ingress",
        because: "a frame's beat is taken in the cycle in which it is offered, or dropped",
        falls: &["frames"],
        ..NONE
    },
    Rule {
        block: "rx_split::placement::Placement",
        because: "an event may change until it is taken",
        changes: &["send_event"],
        ..NONE
    },
    Rule {
        block: "rx_split::admit::Admit",
        because: "an event may change until it is taken",
        changes: &["send_event"],
        ..NONE
    },
    Rule {
        block: "rx_split::admit::admit_arbiter::AdmitArbiter",
        because: "an event, and a run to end, may change until it is taken",
        changes: &["send_event", "run_end"],
        falls: &["run_end"],
        ..NONE
    },
    Rule {
        block: "rx_split::runs::run_sweep::RunSweep",
        because: "a sweep goes before the timer, and a run may end while it waits to be ended",
        changes: &["run_end"],
        falls: &["run_end"],
        ..NONE
    },
    Rule {
        block: "rx_split::runs::Runs",
        because: "a sweep goes before the timer, and a run may end while it waits to be ended; \
                  plans pass while no owner has runs",
        says: "\
  always @* if (!active) assert(source_valid == decided_valid);
",
        changes: &["run_end"],
        falls: &["run_end"],
        ..NONE
    },
    Rule {
        block: "rx_split::delivery::Delivery",
        because: "as `Flusher` in it",
        changes: &["flush_job"],
        ..NONE
    },
    Rule {
        block: "rx_split::share_check::ShareCheck",
        because: "what leaves goes to a queue: it is not held while that has no space",
        falls: &["source"],
        ..NONE
    },
];
