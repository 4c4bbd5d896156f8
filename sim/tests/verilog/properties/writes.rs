//! From the pieces of a packet to a write request: the second half of the chain that `grants.rs`
//! shows.

use rust_hdl_core::prelude::*;
use rx_split::admit::admit_arbiter::Candidate;
use rx_split::hold::messages::HeldItem;
use rx_split::messages::{CopyJob, Piece, Plan, RxItem};
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
        layouts: &[("candidate", Candidate::descriptor), ("plans_payload", Plan::descriptor)],
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
            ("plans_held_0", Plan::descriptor),
            ("plans_held_1", Plan::descriptor),
            ("queue_sink_payload", Plan::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: (".candidate(items_2)", ".candidate(items_1)"),
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

/// What came so many cycles ago, beside the steps that hold it. An event has no walk.
const ADMIT: &str = "\
  reg [4:0] came = 5'd0;
  reg [318:0] came_0;
  reg [318:0] came_1;
  reg [318:0] came_2;
  reg [318:0] came_3;
  reg [318:0] came_4;
  always @(posedge clock) begin
    came <= {came[3:0], packets_valid & packets_ready};
    came_0 <= {outcome, packets_payload};
    came_1 <= came_0;
    came_2 <= came_1;
    came_3 <= came_2;
    came_4 <= came_3;
  end
  always @* begin
    assume(packets_payload.kind != 2'd2);
    assume(!packets_payload.walk | packets_payload.kind == 2'd0);
    if (steps_held[0]) assert(came[0] & items_0 == came_0
      | items_0.packet.kind == 2'd2 & !items_0.packet.walk);
    if (steps_held[1]) assert(came[1] & items_1 == came_1
      | items_1.packet.kind == 2'd2 & !items_1.packet.walk);
    if (steps_held[2]) assert(came[2] & items_2 == came_2
      | items_2.packet.kind == 2'd2 & !items_2.packet.walk);
    if (steps_held[2] & came[2] & items_2 == came_2) assert(items_2.packet.kind != 2'd2
      & (!items_2.packet.walk | items_2.packet.kind == 2'd0));
    if (steps_held[1] & came[1] & items_1 == came_1) assert(items_1.packet.kind != 2'd2
      & (!items_1.packet.walk | items_1.packet.kind == 2'd0));
    if (steps_held[0] & came[0] & items_0 == came_0) assert(items_0.packet.kind != 2'd2
      & (!items_0.packet.walk | items_0.packet.kind == 2'd0));
    if (planned_held[0] & plans_held_0.packet.walk) assert(came[3] & came_3.packet.walk
      & !came_3.outcome.failed & plans_held_0.packet.slot == came_3.packet.slot
      & plans_held_0.packet.pieces == came_3.outcome.pieces);
    if (planned_held[1] & plans_held_1.packet.walk) assert(came[4] & came_4.packet.walk
      & !came_4.outcome.failed & plans_held_1.packet.slot == came_4.packet.slot
      & plans_held_1.packet.pieces == came_4.outcome.pieces);
    assert(queue_sink_payload.packet == plans_held_1.packet);
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
