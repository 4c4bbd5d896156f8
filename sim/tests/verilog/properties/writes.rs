//! From the pieces of a packet to a write request: the second half of the chain that `grants.rs`
//! shows.

use rust_hdl_core::prelude::*;
use rx_split::admit::admit_arbiter::Candidate;
use rx_split::hold::messages::HeldItem;
use rx_split::messages::{CopyJob, Decided, Piece, Plan, PlanItem, RxItem};
use rx_split::runs::messages::{RunEnd, RunMatch};
use stream::messages::WriteJob;

use crate::properties::solver::Verdict;
use crate::properties::stated::Stated;

/// All of them.
pub const STATED: &[Stated] = &[
    Stated {
        words: "a packet whose walk failed is not placed, another has the pieces of its walk",
        block: "rx_split::admit::decision::Decision",
        inside: false,
        text: "\
  always @* begin
    assume(!candidate.packet.walk | candidate.packet.kind == 2'd0);
    if (plans_valid & plans_payload.packet.walk) begin
      assert(candidate.packet.walk & !candidate.outcome.failed);
      assert(plans_payload.packet.slot == candidate.packet.slot);
      assert(plans_payload.packet.pieces == candidate.outcome.pieces);
      assert(plans_payload.packet.kind == 2'd0 & !plans_payload.needs_slow);
    end
  end
",
        reached: "plans_valid & plans_payload.packet.walk",
        layouts: &[("candidate", Candidate::descriptor), ("plans_payload", Decided::descriptor)],
        holds: Verdict::Always(1),
        planted: ("(~outcome[0])", "1'b1"),
    },
    Stated {
        words: "a packet keeps its outcome on the way to its decision, and its pieces to its plan",
        block: "rx_split::admit::Admit",
        inside: true,
        text: ADMIT,
        reached: "packets_valid & packets_ready",
        layouts: &[
            ("packets_payload", RxItem::descriptor),
            ("items_0", Candidate::descriptor),
            ("items_1", Candidate::descriptor),
            ("items_2", Candidate::descriptor),
            ("came_3", Candidate::descriptor),
            ("came_4", Candidate::descriptor),
            ("came_5", Candidate::descriptor),
            ("came_6", Candidate::descriptor),
            ("came_7", Candidate::descriptor),
            ("judged", Decided::descriptor),
            ("behind", Decided::descriptor),
            ("plans_held_0", Decided::descriptor),
            ("plans_held_1", Decided::descriptor),
            ("plan", Plan::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("items_1 <= items_0;", "items_1 <= {outcome, packets_payload};"),
    },
    Stated {
        words: "no packet of a flow, and no command's confirmation, leaves its run as it was",
        block: "rx_split::runs::run_judge::RunJudge",
        inside: false,
        text: "\
  wire own_run = compared.open & compared.flow;
  always @* if (valid) begin
    if (item.kind == 3'd0 & compared.hit & own_run) assert(joins ^ ends_before);
    if (item.kind == 3'd3 & compared.ends_run & own_run) assert(ends_before);
    if (item.kind == 3'd4 & compared.sweeps & compared.open & compared.owner) assert(ends_before);
    if (opens) assert(!joins & (!compared.open | ends_before));
    assert(own == (item.kind != 3'd4));
  end
",
        reached: "valid & ends_before",
        layouts: &[("item", PlanItem::descriptor), ("compared", RunMatch::descriptor)],
        holds: Verdict::Always(1),
        planted: ("& compared[12]) & own_run);", "& compared[12]) & 1'd0);"),
    },
    Stated {
        words: "the run that ends before an item leaves before it",
        block: "rx_split::runs::run_plans::RunPlans",
        inside: true,
        text: PLANS,
        reached: "active & source_valid & source_payload.run.ends",
        layouts: &[
            ("judged", Decided::descriptor),
            ("behind", Decided::descriptor),
            ("source_payload", Decided::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("behind_valid <= waits", "behind_valid <= ends_before"),
    },
    Stated {
        words:
            "a confirmation that ends an owner's runs waits until each open one was asked to end",
        block: "rx_split::runs::run_sweep::RunSweep",
        inside: true,
        text: SWEEP,
        reached: "swept & active",
        layouts: &[("run_end_payload", RunEnd::descriptor)],
        holds: Verdict::Always(1),
        planted: ("(~asks) | run_end_ready", "1'd1"),
    },
    Stated {
        words: "a copy job writes a piece of its packet, or to the places reserved for it",
        block: "rx_split::split::Split",
        inside: true,
        text: SPLIT,
        reached: "jobs_valid & !jobs_payload.head & piece_number == 4'd1",
        layouts: &[
            ("plans_payload", Plan::descriptor),
            ("plan", Plan::descriptor),
            ("jobs_payload", CopyJob::descriptor),
            ("piece", Piece::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("piece[63:0];", "piece[63:0] + 64'd1;"),
    },
    Stated {
        words: "a job goes on, or is held, as it came; only a write that is not held writes",
        block: "rx_split::hold::hold_route::HoldRoute",
        inside: false,
        text: "\
  wire [13:0] job_bytes = jobs_payload.bytes;
  always @* begin
    if (routed_valid) begin
      assert(jobs_valid & routed_payload.kind == jobs_payload.kind);
      assert(routed_payload.address == jobs_payload.address);
      assert(routed_payload.bytes == jobs_payload.bytes);
      assert(!routed_payload.writes | routed_payload.kind == 2'd0 & !routed_payload.held);
    end
    if (push != 4'd0) begin
      assert(jobs_valid & jobs_ready & item.address == jobs_payload.address);
      assert(item.bytes == job_bytes[7:0]);
      assert(item.confirms | jobs_payload.kind == 2'd0 & jobs_payload.head);
    end
  end
",
        reached: "routed_valid & routed_payload.held",
        layouts: &[
            ("jobs_payload", CopyJob::descriptor),
            ("routed_payload", CopyJob::descriptor),
            ("item", HeldItem::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("& (~queues)", ""),
    },
    Stated {
        words: "only a job that writes makes a write request, of its address and length",
        block: "rx_split::copy::announce::Announce",
        inside: false,
        text: "\
  always @* assume(!jobs_payload.writes | jobs_payload.kind == 2'd0);
  always @* if (write_job_valid) begin
    assert(jobs_valid & jobs_payload.writes);
    assert(write_job_payload.address == jobs_payload.address);
    assert(write_job_payload.bytes == {2'd0, jobs_payload.bytes});
    assert(write_job_payload.relaxed == !jobs_payload.head);
    assert(!write_job_ready | jobs_ready);
  end
",
        reached: "write_job_valid",
        layouts: &[
            ("jobs_payload", CopyJob::descriptor),
            ("write_job_payload", WriteJob::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("job[88:25]}", "job[88:25] + 64'd1}"),
    },
    Stated {
        words: "a write request is that of a job offered, and takes it with it",
        block: "rx_split::copy::write_join::WriteJoin",
        inside: false,
        text: "\
  wire takes_direct = direct_job_valid & direct_job_ready;
  wire takes_released = released_job_valid & released_job_ready;
  wire taken = write_job_valid & write_job_ready;
  always @* begin
    assert(taken == (takes_direct ^ takes_released));
    assert(!(takes_direct & takes_released));
    if (takes_direct) assert(write_job_payload == direct_job_payload);
    if (takes_released) assert(write_job_payload == released_job_payload);
  end
",
        reached: "takes_released",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: (
            "write_job_payload = direct_job_payload;",
            "write_job_payload = released_job_payload;",
        ),
    },
];

/// What came so many cycles ago, beside the steps that hold it: a plan comes as its packet is
/// decided while no owner has runs, else two cycles later, or three behind the run that it ends.
/// An event and the end of a run have no walk.
const ADMIT: &str = "\
  reg [7:0] came = 8'd0;
  reg [329:0] came_0;
  reg [329:0] came_1;
  reg [329:0] came_2;
  reg [329:0] came_3;
  reg [329:0] came_4;
  reg [329:0] came_5;
  reg [329:0] came_6;
  reg [329:0] came_7;
  (* hierconn, init = 1'd0 *) wire \\arbiter.pause ;
  (* hierconn, init = 1'd0 *) wire \\arbiter.event_next ;
  (* hierconn, init = 1'd0 *) wire \\arbiter.run_next ;
  (* hierconn, init = 1'd0 *) wire \\runs.is_judged ;
  (* hierconn, init = 257'd0 *) wire [256:0] \\runs.judged_plan ;
  (* hierconn, init = 1'd0 *) wire \\runs.plans.own_valid ;
  (* hierconn, init = 1'd0 *) wire \\runs.plans.waits ;
  (* hierconn, init = 1'd0 *) wire \\runs.plans.behind_valid ;
  (* hierconn, init = 257'd0 *) wire [256:0] \\runs.plans.behind ;
  wire [256:0] judged = \\runs.judged_plan ;
  wire [256:0] behind = \\runs.plans.behind ;
  always @(posedge clock) begin
    came <= {came[6:0], packets_valid & packets_ready};
    came_0 <= {outcome, packets_payload};
    came_1 <= came_0;
    came_2 <= came_1;
    came_3 <= came_2;
    came_4 <= came_3;
    came_5 <= came_4;
    came_6 <= came_5;
    came_7 <= came_6;
  end
  wire judged_3 = came[3] & came_3.packet.walk & !came_3.outcome.failed
    & judged.packet.slot == came_3.packet.slot & judged.packet.pieces == came_3.outcome.pieces;
  wire judged_4 = came[4] & came_4.packet.walk & !came_4.outcome.failed
    & judged.packet.slot == came_4.packet.slot & judged.packet.pieces == came_4.outcome.pieces;
  wire behind_5 = came[5] & came_5.packet.walk & !came_5.outcome.failed
    & behind.packet.slot == came_5.packet.slot & behind.packet.pieces == came_5.outcome.pieces;
  wire first_3 = came[3] & came_3.packet.walk & !came_3.outcome.failed
    & plans_held_0.packet.slot == came_3.packet.slot
    & plans_held_0.packet.pieces == came_3.outcome.pieces;
  wire first_5 = came[5] & came_5.packet.walk & !came_5.outcome.failed
    & plans_held_0.packet.slot == came_5.packet.slot
    & plans_held_0.packet.pieces == came_5.outcome.pieces;
  wire first_6 = came[6] & came_6.packet.walk & !came_6.outcome.failed
    & plans_held_0.packet.slot == came_6.packet.slot
    & plans_held_0.packet.pieces == came_6.outcome.pieces;
  wire second_4 = came[4] & came_4.packet.walk & !came_4.outcome.failed
    & plans_held_1.packet.slot == came_4.packet.slot
    & plans_held_1.packet.pieces == came_4.outcome.pieces;
  wire second_6 = came[6] & came_6.packet.walk & !came_6.outcome.failed
    & plans_held_1.packet.slot == came_6.packet.slot
    & plans_held_1.packet.pieces == came_6.outcome.pieces;
  wire second_7 = came[7] & came_7.packet.walk & !came_7.outcome.failed
    & plans_held_1.packet.slot == came_7.packet.slot
    & plans_held_1.packet.pieces == came_7.outcome.pieces;
  always @* begin
    assume(packets_payload.kind != 3'd2 & packets_payload.kind != 3'd4);
    assume(!packets_payload.walk | packets_payload.kind == 3'd0);
    assert(steps_held[0] == \\arbiter.pause );
    assert(!(\\arbiter.pause & (\\arbiter.event_next | \\arbiter.run_next )));
    assert(!(steps_held[0] & steps_held[1]) & !(steps_held[1] & steps_held[2]));
    assert(!(\\runs.is_judged & steps_held[2]));
    if (steps_held[0]) assert(came[0] & items_0 == came_0
      | (items_0.packet.kind == 3'd2 | items_0.packet.kind == 3'd4) & !items_0.packet.walk);
    if (steps_held[1]) assert(came[1] & items_1 == came_1
      | (items_1.packet.kind == 3'd2 | items_1.packet.kind == 3'd4) & !items_1.packet.walk);
    if (steps_held[2]) assert(came[2] & items_2 == came_2
      | (items_2.packet.kind == 3'd2 | items_2.packet.kind == 3'd4) & !items_2.packet.walk);
    if (steps_held[2] & came[2] & items_2 == came_2) assert(items_2.packet.kind != 3'd2
      & items_2.packet.kind != 3'd4
      & (!items_2.packet.walk | items_2.packet.kind == 3'd0));
    if (steps_held[1] & came[1] & items_1 == came_1) assert(items_1.packet.kind != 3'd2
      & items_1.packet.kind != 3'd4
      & (!items_1.packet.walk | items_1.packet.kind == 3'd0));
    if (steps_held[0] & came[0] & items_0 == came_0) assert(items_0.packet.kind != 3'd2
      & items_0.packet.kind != 3'd4
      & (!items_0.packet.walk | items_0.packet.kind == 3'd0));
    if (\\runs.is_judged & judged.packet.walk) assert(judged_3);
    if ((\\runs.plans.own_valid | \\runs.plans.waits ) & judged.packet.walk) assert(judged_4);
    if (\\runs.plans.behind_valid & behind.packet.walk) assert(behind_5);
    if (planned_held[0] & plans_held_0.packet.walk) assert(first_3 | first_5 | first_6);
    if (planned_held[1] & plans_held_1.packet.walk) assert(second_4 | second_6 | second_7);
    assert(plan.packet == plans_held_1.packet);
  end
";

/// Items come two cycles apart at the least.
const PLANS: &str = "\
  reg came = 1'b0;
  reg ended_1 = 1'b0;
  reg waits_1 = 1'b0;
  reg waits_2 = 1'b0;
  reg [202:0] packet_1;
  wire comes = own | ends_before;
  always @(posedge clock) begin
    came <= comes;
    ended_1 <= ends_before & ~reset;
    waits_1 <= ends_before & own & ~reset;
    waits_2 <= waits_1 & ~reset;
    packet_1 <= judged.packet;
  end
  always @* begin
    assume(!(comes & came));
    assert(ends_run == ended_1 & waits == waits_1 & behind_valid == waits_2);
    assert(!(ended_1 | waits_1) | came);
    assert(!(came & waits_2));
    if (waits_2) assert(behind.packet == packet_1);
    if (active & ended_1) assert(source_valid & source_payload.packet.kind == 3'd4
      & source_payload.run.ends & !source_payload.run.keeps);
    if (active & waits_2) assert(source_valid & source_payload.packet == packet_1
      & !source_payload.run.ends);
  end
";

/// Of any place: whether it was asked, or not open, as the sweep came by.
const SWEEP: &str = "\
  (* anyconst *) wire [4:0] watched;
  reg passed = 1'b0;
  wire here = sweeps & place == {1'b0, watched};
  wire asks_here = here & open_places[watched];
  always @(posedge clock) begin
    if (done | reset) passed <= 1'b0;
    else if (here & (!open_places[watched] | run_end_ready)) passed <= 1'b1;
  end
  reg was_active = 1'b0;
  always @(posedge clock) was_active <= active & ~reset;
  always @* begin
    if (place > {1'b0, watched}) assert(passed);
    if (asks_here) assert(run_end_valid & run_end_payload.place == watched
      & run_end_payload.sweeps & run_end_payload.owner == owner);
    if (swept & was_active) assert(passed);
  end
";

/// Beside where the block is: how many pieces of the plan at hand were taken.
const SPLIT: &str = "  (* hierconn, init = 5'd0 *) wire [4:0] \\progress.pieces_left ;
  reg [4:0] number = 5'd0;
  wire is_piece = state == SplitState_Pieces;
  wire is_slow = state == 3'd2;
  wire writes = jobs_valid & jobs_payload.kind == 2'd0;
  always @(posedge clock) begin
    if (loads) number <= 5'd0;
    else if (is_piece & jobs_ready) number <= number + 5'd1;
  end
  always @* begin
    assume(!plans_payload.packet.walk | plans_payload.packet.kind == 2'd0
      & plans_payload.packet.pieces != 5'd0 & plans_payload.packet.pieces <= 5'd16);
    if (is_piece) assert(plan.packet.walk & number < plan.packet.pieces);
    if (is_piece) assert(\\progress.pieces_left == plan.packet.pieces - number);
    if (is_piece) assert(piece_slot == plan.packet.slot & piece_number == number[3:0]);
    if (is_slow) assert(plan.needs_slow & !plan.packet.walk);
    if (state == 3'd3) assert(plan.two_slots);
    if (writes) begin
      if (is_piece) assert(jobs_payload.address == piece.address
        & jobs_payload.bytes == piece.bytes);
      else if (is_slow) assert(jobs_payload.address == plan.place.slow_address
        & jobs_payload.bytes == plan.packet.payload_bytes);
      else if (state == 3'd3) assert(jobs_payload.address == plan.place.second_address);
      else assert(jobs_payload.address == plan.place.slot_address);
    end
  end
";
