//! Flow, segment and region tables, commands.

use rust_hdl_core::prelude::*;
use tables::messages::FlowUpdate;

use super::{Rule, NONE};

/// A change that sets no cursor is taken at once.
const CHANGE_TAKEN: &str = "\
  always @* assert(change_ready | change_payload.write_cursor);
";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "tables::segment_list::search_replies::SearchReplies",
        because: "a slot is taken while one is free, and gets one result",
        says: "  always @* assume(!slot_take | slot_free);\n",
        trusts: "\
  reg [7:0] waits = 8'd0;
  wire [7:0] takes = slot_take ? 8'd1 << slot : 8'd0;
  wire [2:0] result_slot = result_payload[2:0];
  always @(posedge clock) waits <= reset ? 8'd0
    : (waits | takes) & ~(result_valid ? 8'd1 << result_slot : 8'd0);
  always @* assume(!result_valid | waits[result_slot]);
",
        lemma: "\
  wire [7:0] in_use = waits | has_result;
  wire [4:0] count = `SEE(pending.count, 5);
  wire [15:0] from_oldest = {in_use, in_use} >> oldest;
  wire [8:0] first_ones = (9'd1 << count) - 9'd1;
  always @* begin
    assert((waits & has_result) == 8'd0);
    assert(count <= 5'd8 & from_oldest[7:0] == first_ones[7:0]);
    assert(next_slot == oldest + count[2:0]);
    assert(!`SEE(pending.may_accept, 1) | count < 5'd8);
  end
",
        ..NONE
    },
    Rule {
        block: "tables::command::command_batch::CommandBatch",
        because: "commands are given out while the batch drains",
        lemma: "  always @* assert(!gives | at == 2'd2);\n",
        ..NONE
    },
    Rule {
        block: "tables::scrubber::Scrubber",
        because: "a change that sets no cursor is taken at once, as `FlowStateWriter` shows",
        says: "\
  always @* assume(change_out_ready | change_out_payload.write_cursor);
",
        layouts: &[("change_out_payload", FlowUpdate::descriptor)],
        ..NONE
    },
    Rule {
        block: "tables::segment_list::list_updater::ListUpdater",
        because:
            "a change stands from three cycles before its `commit` until `busy` has fallen, and \
                  comes five cycles after the last; an entry comes for each fetch",
        trusts: "\
  reg [15:0] fetches = 16'd0;
  wire asks = fetch_valid & fetch_ready;
  always @(posedge clock) fetches <= reset ? 16'd0
    : fetches + {15'd0, asks} - {15'd0, fetched_valid};
  always @* assume(!fetched_valid | fetches != 16'd0);
  reg [3:0] steady = 4'd0;
  reg [218:0] change_before;
  always @(posedge clock) begin
    steady <= {steady[2:0], control_change == change_before};
    change_before <= control_change;
  end
  reg [4:0] rests = 5'd0;
  always @(posedge clock) rests <= {rests[3:0], ~control_commit & ~control_busy};
  always @* begin
    assume(!control_commit | !control_busy & steady[2:0] == 3'd7 & rests == 5'd31
      & control_change == change_before);
    assume(!control_busy | control_change == change_before);
  end
",
        lemma: "\
  wire [15:0] to_store = stop - `SEE(copy.store_index, 16);
  wire [15:0] on_the_way = `SEE(copy.read_index, 16) - `SEE(copy.store_index, 16);
  reg [15:0] stop_before;
  reg commit_before = 1'b0;
  always @(posedge clock) begin
    stop_before <= stop;
    commit_before <= control_commit;
  end
  always @* begin
    assert(!state_pending_valid | !rests[0]);
    assert(`SEE(copy.at, 2) != 2'd1 | !state_pending_valid);
    assert(!commit_before | !rests[0]);
    if (`SEE(copy.at, 2) == 2'd1) begin
      assert(`SEE(states.latch, 72) == list & `SEE(states.read_data, 72) == list);
      assert(stop == stop_before & stop == ports_stop);
      assert({1'b0, on_the_way} == {1'b0, fetches} + {16'd0, entry_valid});
      assert(on_the_way <= to_store & to_store != 16'd0);
      assert(`SEE(copy.more, 1) == (on_the_way != to_store));
    end
    else assert(fetches == 16'd0 & !entry_valid);
  end
",
        ..NONE
    },
    Rule {
        block: "tables::flow_table::flow_query_port::FlowQueryPort",
        because: "a query has its answer two cycles later",
        says: "\
  reg [1:0] asked = 2'd0;
  always @(posedge `CLOCK) asked <= {asked[0], query_valid};
  always @* assert(!queried_valid | asked[1]);
",
        ..NONE
    },
    Rule {
        block: "tables::flow_table::FlowTable",
        because: "a query has its answer two cycles later; changes as `FlowStateWriter` in it",
        says: "\
  reg [1:0] asked = 2'd0;
  always @(posedge `CLOCK) asked <= {asked[0], query_valid};
  always @* assert(!queried_valid | asked[1]);
  always @* assert(change_ready | change_payload.write_cursor);
",
        layouts: &[("change_payload", FlowUpdate::descriptor)],
        ..NONE
    },
    Rule {
        block: "tables::command::CommandProcessor",
        because: "a query has its answer two cycles later; no command acts while the epoch changes",
        says: "\
  reg [1:0] asked = 2'd0;
  always @(posedge `CLOCK) asked <= {asked[0], query_valid};
  always @* assume(!queried_valid | asked[1]);
",
        trusts: "\
  reg acted = 1'b0;
  reg [15:0] epoch_before;
  always @(posedge clock) begin
    acted <= acts & ~reset;
    epoch_before <= epoch;
  end
  always @* if (acted & !reset) assume(epoch == epoch_before);
",
        ..NONE
    },
    Rule {
        block: "tables::flow_table::flow_state_writer::FlowStateWriter",
        because: "as is stated of it above",
        says: CHANGE_TAKEN,
        layouts: &[("change_payload", FlowUpdate::descriptor)],
        ..NONE
    },
    Rule {
        block: "tables::segment_list::list_reach::ListReach",
        because: "what it asks the list is forgotten with `list_reset`, two cycles after `reset`",
        says: "\
  reg [1:0] were_reset = 2'd3;
  always @(posedge `CLOCK) were_reset <= {were_reset[0], reset};
  always @* assert(!list_reset | reset | were_reset != 2'd0);
",
        resets_of: &[("list_request", "list_reset"), ("list_reply", "list_reset")],
        ..NONE
    },
    Rule {
        block: "tables::segment_list::search_front::SearchFront",
        because: "a slot is taken while one is free",
        says: "  always @* assert(!slot_take | slot_free);\n",
        ..NONE
    },
];
