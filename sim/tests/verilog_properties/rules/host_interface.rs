//! Registers, rings, interrupts.

use super::{Rule, NONE};

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
        trusts: "\
  reg slot_named = 1'b0;
  wire slot_names = slots_fetch_valid & slots_fetch_ready;
  wire slot_ends = slots_valid & slots_ready & slots_last;
  always @(posedge clock) slot_named <= (slot_named | slot_names) & ~slot_ends & ~reset;
  always @* begin
    assume(!slots_valid | slot_named | slot_names);
    assume(!slot_named | !slots_fetch_valid);
  end
",
        is_inside: true,
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_control::SlotControl",
        because: "the beat of `entry_valid` stands until it is taken",
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
        block: "host_interface::completer::window_gate::WindowGate",
        because: "an access that is not taken at once is refused",
        falls: &["access"],
        ..NONE
    },
    Rule {
        block: "host_interface::ring::pushed_slot::PushedSlot",
        because:
            "read data come for jobs in flight, and `ring_of` stands from the cycle before its \
                  job is offered",
        says: "\
  reg [4:0] reads = 5'd0;
  reg [63:0] ring_of_before;
  wire asks = read_job_valid & read_job_ready;
  wire ends = read_data_valid & read_data_ready & read_data_last;
  always @(posedge `CLOCK) begin
    reads <= in_reset ? 5'd0 : reads + {4'd0, asks} - {4'd0, ends};
    ring_of_before <= ring_of;
  end
  always @* begin
    assume(!read_data_valid | reads != 5'd0);
    assume(!asks | reads < 5'd16);
    assume(!ring_job_valid | ring_of == ring_of_before);
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
