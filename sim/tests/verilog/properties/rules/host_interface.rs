//! Registers, rings, interrupts.

use super::{Rule, NONE};

/// The beats of a descriptor come once its message is taken, and before the next message: said by
/// who sends them, assumed by who takes them.
#[rustfmt::skip]
macro_rules! beats_follow_message {
    ($verb:literal, $fetch:literal, $data:literal) => {
        concat!(
            "reg named = 1'b0;\n",
            "  wire names = ", $fetch, "_valid & ", $fetch, "_ready;\n",
            "  wire ends = ", $data, "_valid & ", $data, "_ready & ", $data, "_last;\n",
            "  always @(posedge `CLOCK) named <= (named | names) & ~ends & ~in_reset;\n",
            "  always @* begin\n",
            "    ", $verb, "(in_reset | !", $data, "_valid | named | names);\n",
            "    ", $verb, "(in_reset | !named | !", $fetch, "_valid);\n",
            "  end\n",
        )
    };
}

/// At most 16 reads of a ring are open, and `of` stands from the cycle before its job is offered:
/// said by the ring, assumed by who serves it.
#[rustfmt::skip]
macro_rules! open_reads {
    ($verb:literal, $job:literal, $data:literal, $of:literal, $before:literal) => {
        concat!(
            "reg [4:0] open = 5'd0;\n",
            "  reg [63:0] ", $before, " = 64'd0;\n",
            "  wire asks = ", $job, "_valid & ", $job, "_ready;\n",
            "  wire ends = ", $data, "_valid & ", $data, "_ready & ", $data, "_last",
            " & open != 5'd0;\n",
            "  always @(posedge `CLOCK) begin\n",
            "    open <= in_reset ? 5'd0 : open + {4'd0, asks} - {4'd0, ends};\n",
            "    ", $before, " <= ", $of, ";\n",
            "  end\n",
            "  always @* begin\n",
            "    ", $verb, "(!asks | open < 5'd16);\n",
            "    ", $verb, "(!", $job, "_valid | ", $of, " == ", $before, ");\n",
            "  end\n",
        )
    };
}

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "host_interface::host_interface::HostInterface",
        because:
            "what comes from the link takes effect as its own `reset`; a flush read may change",
        changes: &["flush_job"],
        resets: &["reset", "user_reset"],
        ..NONE
    },
    Rule {
        block: "host_interface::completer::completer_execute::CompleterExecute",
        because: "an access of the board window that is not taken at once is refused",
        lemma: "\
  wire [1:0] phase = `SEE(step.phase, 2);
  always @* begin
    assert(`SEE(read.phase, 2) == 2'd0 | phase == 2'd2);
    assert(phase == 2'd0 | request_valid | reset);
  end
",
        falls: &["access"],
        ..NONE
    },
    Rule {
        block: "host_interface::ring::pushed_data_mux::PushedDataMux",
        because: "invariant 1; `first` and `second` are steady until the slot has left",
        trusts: "\
  reg [1023:0] slot_before;
  always @(posedge clock) slot_before <= {second, first};
  always @* begin
    assume(!serve | passes & !read_data_valid);
    assume(passes | !read_data_valid & {second, first} == slot_before);
  end
",
        is_inside: true,
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_failure::SlotFailure",
        because: "a descriptor's beats come once its message is taken, and before the next message",
        says: beats_follow_message!("assume", "slots_fetch", "slots"),
        lemma: "  always @* assert(phase == 2'd0 | owners_source_valid | reset);\n",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_control::SlotControl",
        because: "the beat of `entry_valid` stands until it is taken",
        lemma: "  always @* assert(!(kept_first | kept_second) | !free);\n",
        says: "\
  reg entry_waits = 1'b0;
  reg [1:0] entry_before;
  always @(posedge `CLOCK) begin
    entry_waits <= entry_valid & ~entry_ready & ~in_reset;
    entry_before <= {entry_last, entry_two_slots};
  end
  always @* if (entry_waits & ~in_reset)
    assume(entry_valid & {entry_last, entry_two_slots} == entry_before);
",
        is_inside: true,
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_splitter::SlotSplitter",
        because: "invariant 4: a fetch has two beats for each slot; a descriptor's beats come \
                  once its message is taken, and before the next message",
        says: beats_follow_message!("assert", "descriptor_fetch", "descriptor"),
        trusts: "\
  reg in_slot = 1'b0;
  always @(posedge clock) in_slot <= ~reset & (in_slot ^ (entries_valid & entries_ready));
  always @* assume(!entries_valid | !entries_last | in_slot);
",
        lemma: "\
  always @* assert(!(`SEE(control.kept_first, 1) | `SEE(control.kept_second, 1))
    | !`SEE(control.free, 1));
",
        joint: "\
  wire [46:0] slot = `SEE(dut.control.held.held, 47);
  wire half = `SEE(dut.control.held.half, 1);
  wire announced = `SEE(dut.control.announced, 1);
  wire in_slot = `SEE(dut.in_slot, 1);
  wire holds = slot[0];
  wire in_fetch = slot[1];
  wire kept = slot[2] | slot[3];
  wire first = slot[4];
  wire long = slot[5] & slot[6];
  wire next_opens = !in_fetch | !half & !long;
  always @* begin
    assert(in_fetch ? half == in_slot : !in_slot);
    assert(!holds | first == half & (!first | in_fetch));
    assert(!kept | holds & first & !slot[5] & slot[2] != slot[3]);
    assert(!holds | first | !long | in_fetch);
    assert(holds | !in_fetch | !half | !long);
    assert(in_reset | !(holds & first & long & announced) | entries_valid & !entries_last);
    if (slot[2] | holds & !kept & first & slot[5]) assert(named == announced);
    else if (holds) assert(named & !announced);
    else assert(named == !next_opens & !announced);
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::small_write::SmallWriteArbiter",
        because: "who is offered stays so until its write is taken",
        lemma:
            "  always @* assert(reset | !is_held | (holds_second ? second_valid : first_valid));\n",
        ..NONE
    },
    Rule {
        block: "host_interface::completer::window_gate::WindowGate",
        because: "an access that is not taken at once is refused",
        falls: &["access"],
        ..NONE
    },
    Rule {
        block: "host_interface::ring::pushed_slot::PushedSlot",
        because: "at most 16 jobs are open, and `ring_of` stands from the cycle before its job is \
                  offered; read data come for jobs in flight",
        says: open_reads!("assume", "ring_job", "ring_data", "ring_of", "ring_of_before"),
        trusts: "  always @* assume(!read_data_valid | in_flight != 5'd0);\n",
        lemma: "  always @* assert(`SEE(data_mux.phase, 2) == 2'd0 | in_flight == 5'd0);\n",
        joint: "\
  always @* assert(open == `SEE(dut.in_flight, 5) + {4'd0, `SEE(dut.data_mux.phase, 2) != 2'd0});
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::ring_plan::RingPlan",
        because: "a read is offered when there is space for its entries, and `issued` names it \
                  from the cycle before",
        says: "\
  reg has_room = 1'b0;
  reg [63:0] issued_before = 64'd0;
  always @(posedge `CLOCK) begin
    has_room <= (has_room | has_space) & ~issued_valid & ~in_reset;
    issued_before <= issued_payload;
  end
  always @* begin
    assert(issued_valid == (read_job_valid & read_job_ready));
    assert(!issued_valid | has_room & !was_reset);
    assert(!read_job_valid | issued_payload == issued_before);
  end
",
        joint: "\
  wire [2:0] phase = `SEE(dut.phase, 3);
  always @* begin
    assert(!was_reset | phase == 3'd0);
    assert(phase == 3'd0 | phase > 3'd3 | has_room);
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::fetch_buffer::FetchBuffer",
        because: "`finished` follows a packet's last beat by a cycle",
        says: "\
  reg ended = 1'b0;
  always @(posedge `CLOCK) ended <= sink_valid & sink_ready & sink_last & ~in_reset;
  always @* assert(finished == ended);
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::ring_return::RingReturn",
        because: "a fetch is held until the cycle after its last beat; there is space while at \
                  most 14 are; read data come for jobs in flight",
        says: "\
  reg [4:0] held = 5'd0;
  reg [4:0] held_before = 5'd0;
  reg ended = 1'b0;
  wire ends = read_data_valid & read_data_ready & read_data_last & held > {4'd0, ended};
  always @(posedge `CLOCK) begin
    held <= in_reset ? 5'd0 : held + {4'd0, issued_valid} - {4'd0, ended};
    held_before <= in_reset ? 5'd0 : held;
    ended <= ends & ~in_reset;
  end
  always @* begin
    assume(!issued_valid | held < 5'd16 & !was_reset);
    assert(!has_space | held_before < 5'd15);
  end
",
        trusts: "\
  always @* assume(!read_data_valid | in_flight_level > {4'd0, fetch_buffer_finished});
",
        joint: "\
  always @* begin
    assert(held == `SEE(dut.in_flight_level, 5) & held >= {4'd0, ended});
    assert(ended == `SEE(dut.fetch_buffer_finished, 1));
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::Ring",
        because: "at most 16 reads are open, and `read_of` stands from the cycle before its job \
                  is offered",
        says: open_reads!("assert", "read_job", "read_data", "read_of", "of_before"),
        lemma: "\
  wire [4:0] held = `SEE(returns.held, 5);
  always @* begin
    assert(held <= 5'd16 & held <= `SEE(returns.held_before, 5) + 5'd1);
    assert(held >= {4'd0, `SEE(returns.ended, 1)});
    assert(!`SEE(plan.has_room, 1) | held < 5'd16);
  end
",
        joint: "\
  always @* begin
    assert(open == `SEE(dut.returns.held, 5) - {4'd0, `SEE(dut.returns.ended, 1)});
    assert(of_before == `SEE(dut.plan.issued_before, 64));
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring_side::RingSide",
        because: "read data come for jobs in flight, as in `PushedSlot` and `RingReturn` in it",
        lemma: "\
  always @* begin
    assert(`SEE(pushed_slot.open, 5) == `SEE(send_ring.open, 5));
    assert(`SEE(pushed_slot.ring_of_before, 64) == `SEE(send_ring.of_before, 64));
    assert(`SEE(failures.named, 1) == `SEE(splitter.named, 1));
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::board_window::BoardWindow",
        because: "invariants 3 and 4: `forget` ends what waits; an access not taken is refused",
        falls: &["access"],
        resets: &["reset", "forget"],
        ..NONE
    },
    Rule {
        block: "host_interface::interrupt::Interrupt",
        because: "a reset of the function does not withdraw a message",
        resets: &["reset"],
        ..NONE
    },
    Rule {
        block: "host_interface::csr::Csr",
        because:
            "a hot reset begins an epoch and withdraws no reply; `reset` follows `user_reset`, and \
                  lasts for more than a cycle",
        says: "\
  reg [1:0] resets = 2'd0;
  reg user_before = 1'b0;
  always @(posedge `CLOCK) begin
    resets <= {resets[0], reset};
    user_before <= user_reset;
  end
  always @* begin
    assert(!resets[0] | reset | resets[1]);
    assert(!user_before | reset | user_reset);
  end
",
        lemma: "\
  reg resets = 1'b0;
  always @(posedge clock) resets <= reset;
  always @* begin
    assert(!reset | resets | `SEE(epochs.left, 4) == 4'd15);
    assert(!`SEE(epochs.was_held, 1) | reset);
  end
",
        resets: &["user_reset"],
        ..NONE
    },
    Rule {
        block: "host_interface::completer::completer_read::CompleterRead",
        because: "the data that it read stand beside the reply of the block around it",
        is_inside: true,
        ..NONE
    },
];
