//! What single blocks may rely on beyond the rule of streams, and where a stream is not held.
//!
//! ```text
//!   rule of the head ─► assumed of the inputs ─┐
//!   streams that are not held ─────────────────┴─► what is stated of the block's other streams
//! ```
//! Each rule cites the block's head, or the description of its port.

use tables::messages::FlowUpdate;

use crate::properties::Layout;
use rust_hdl_core::prelude::*;

/// What is said of one block.
pub struct Rule {
    /// The block's name in the registry.
    pub block: &'static str,
    /// Why, in a sentence.
    pub because: &'static str,
    /// Verilog about the block's ports, with assumptions about its inputs.
    pub assumes: &'static str,
    /// Ports whose fields the text names as `PORT.FIELD`.
    pub layouts: &'static [Layout],
    /// Streams whose content may change until it is taken.
    pub changes: &'static [&'static str],
    /// Streams whose offers may also fall.
    pub falls: &'static [&'static str],
    /// Inputs beside those named `reset` that make the block forget.
    pub resets: &'static [&'static str],
}

/// No rule: what is not said.
const NONE: Rule = Rule {
    block: "",
    because: "",
    assumes: "",
    layouts: &[],
    changes: &[],
    falls: &[],
    resets: &[],
};

/// The rule of a block, if it has one.
pub fn rule_of(block: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.block == block)
}

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "dma::write::dword_aligner::DwordAligner",
        because: "the client's packet stands until it is taken, as in every stream",
        assumes: "\
  reg data_waits = 1'b0;
  reg [511:0] data_before;
  always @(posedge clock) begin
    data_waits <= data_valid & ~data_ready & ~in_reset;
    data_before <= data;
  end
  always @* if (data_waits & ~in_reset) assume(data_valid & data == data_before);
",
        ..NONE
    },
    Rule {
        block: "dma::packer::ready_write::ReadyWrite",
        because: "`flush` begins anew; `takes_second` comes in the handshake of `source` only",
        assumes: "\
  always @* assume(!takes_second | source_valid & source_ready & second_ready);
",
        resets: &["flush"],
        ..NONE
    },
    Rule {
        block: "dma::packer::request_choice::RequestChoice",
        because: "a choice is combinational: it may change until it is taken",
        falls: &["tlp"],
        ..NONE
    },
    Rule {
        block: "dma::read::read_select::ReadSelect",
        because: "the choice is combinational: a job that comes may go first until one is taken; \
                  write jobs are counted up, and no more are issued than were accepted",
        assumes: "\
  reg [15:0] accepted_before = 16'd0;
  reg [15:0] issued_before = 16'd0;
  wire [15:0] open_jobs = writes_accepted - writes_issued;
  always @(posedge clock) begin
    accepted_before <= writes_accepted;
    issued_before <= writes_issued;
  end
  always @* if (!in_reset & !was_reset) begin
    assume(writes_accepted - accepted_before <= 16'd1);
    assume(writes_issued - issued_before <= 16'd2);
  end
  always @* assume(open_jobs < 16'd16384);
",
        changes: &["cut", "client_3_job"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::send_guard::SendGuard",
        because:
            "invariants 1 and 2: a beat that waits is withdrawn when the link or an epoch ends",
        falls: &["beats"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::receive::MacReceive",
        because: "invariant 1: a beat is offered for one cycle, and taken in it",
        falls: &["frames"],
        ..NONE
    },
    Rule {
        block: "ip::cmac::link_control::LinkControl",
        because: "invariant 2: the event tells the state of the moment in which it is taken",
        changes: &["link_event"],
        ..NONE
    },
    Rule {
        block: "board::window::core_access::CoreAccess",
        because: "the sink of `reply` is ready: one access is outstanding",
        falls: &["reply"],
        ..NONE
    },
    Rule {
        block: "host_interface::completer::completer_execute::CompleterExecute",
        because: "an access of the board window that is not taken at once is refused",
        falls: &["access"],
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
        assumes: "\
  reg had_space = 1'b0;
  always @(posedge clock) had_space <= waiting_ready & ~waiting_valid & ~in_reset;
  always @* if (had_space & ~in_reset) assume(waiting_ready);
",
        ..NONE
    },
    Rule {
        block: "tx_merge::gather::grant_cut::GrantCut",
        because: "what is ready for `requested` stays so until something comes: it is a queue",
        assumes: "\
  reg had_space = 1'b0;
  always @(posedge clock) had_space <= requested_ready & ~requested_valid & ~in_reset;
  always @* if (had_space & ~in_reset) assume(requested_ready);
",
        ..NONE
    },
    Rule {
        block: "tx_merge::fence::Fence",
        because: "`started` and `finished` count, and fewer than 2^15 are in flight",
        assumes: "\
  reg [31:0] started_before = 32'd0;
  reg [31:0] finished_before = 32'd0;
  always @(posedge clock) begin
    started_before <= started;
    finished_before <= finished;
  end
  always @* begin
    assume(started - started_before <= 32'd1 & finished - finished_before <= 32'd1);
    assume(started - finished < 32'd32768);
  end
",
        ..NONE
    },
    Rule {
        block: "tables::segment_list::search_replies::SearchReplies",
        because: "a slot is taken while one is free, and gets one result",
        assumes: "\
  reg [7:0] waits = 8'd0;
  wire [7:0] takes = slot_take ? 8'd1 << slot : 8'd0;
  wire [2:0] result_slot = result_payload[2:0];
  always @(posedge clock) waits <= in_reset ? 8'd0
    : (waits | takes) & ~(result_valid ? 8'd1 << result_slot : 8'd0);
  always @* assume(!slot_take | slot_free);
  always @* assume(!result_valid | waits[result_slot]);
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::pushed_data_mux::PushedDataMux",
        because: "invariant 1; `first` and `second` are steady until the slot has left",
        assumes: "\
  reg [1023:0] slot_before;
  always @(posedge clock) slot_before <= {second, first};
  always @* begin
    assume(!serve | passes & !read_data_valid);
    assume(passes | !read_data_valid & {second, first} == slot_before);
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_failure::SlotFailure",
        because: "a descriptor's beats come once its message is taken, and before the next message",
        assumes: "\
  reg named = 1'b0;
  wire names = slots_fetch_valid & slots_fetch_ready;
  wire ends = slots_valid & slots_ready & slots_last;
  always @(posedge clock) named <= (named | names) & ~ends & ~in_reset;
  always @* begin
    assume(!slots_valid | named | names);
    assume(!named | !slots_fetch_valid);
  end
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::slot_control::SlotControl",
        because: "the beat of `entry_valid` stands until it is taken",
        assumes: "\
  reg entry_waits = 1'b0;
  reg [1:0] entry_before;
  always @(posedge clock) begin
    entry_waits <= entry_valid & ~entry_ready & ~in_reset;
    entry_before <= {entry_last, entry_two_slots};
  end
  always @* if (entry_waits & ~in_reset)
    assume(entry_valid & {entry_last, entry_two_slots} == entry_before);
",
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_route::HoldRoute",
        because: "a job that waits and finds nothing held any more goes on as one that is not held",
        falls: &["routed"],
        ..NONE
    },
    Rule {
        block: "host_interface::completer::window_gate::WindowGate",
        because: "an access that is not taken at once is refused",
        falls: &["access"],
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_release::HeldBeats",
        because:
            "the read data change only a cycle after `register_enable`; states First and Last \
                  stay until a beat is taken, and Last follows First",
        assumes: "\
  reg enabled = 1'b1;
  reg [511:0] read_before;
  reg [135:0] slot_before;
  reg [2:0] state_before;
  reg stays = 1'b0;
  reg goes_on = 1'b0;
  always @(posedge clock) begin
    enabled <= register_enable;
    read_before <= read_data;
    slot_before <= slot;
    state_before <= state;
    stays <= (state == 3'd2 | state == 3'd3) & ~taken & ~in_reset;
    goes_on <= state == 3'd2 & taken & ~in_reset;
  end
  always @* begin
    if (!enabled) assume(read_data == read_before);
    if (stays) assume(slot == slot_before & state == state_before);
    if (goes_on) assume(slot == slot_before & state == 3'd3);
  end
",
        ..NONE
    },
    Rule {
        block: "rx_split::hold::hold_release::HoldRelease",
        because: "the read data change only a cycle after `register_enable`",
        assumes: "\
  reg enabled = 1'b1;
  reg [511:0] read_before;
  always @(posedge clock) begin
    enabled <= register_enable;
    read_before <= read_data;
  end
  always @* if (!enabled) assume(read_data == read_before);
",
        ..NONE
    },
    Rule {
        block: "rx_split::split::Split",
        because: "the piece of a slot and number stands; a slot passes for certain when \
                  `slot_passes` says so",
        assumes: "\
  reg job_waits = 1'b0;
  reg [79:0] piece_before;
  always @(posedge clock) begin
    job_waits <= jobs_valid & ~jobs_ready & ~in_reset;
    piece_before <= piece;
  end
  always @* begin
    if (job_waits) assume(piece == piece_before);
    assume(!(slot_passes & jobs_valid & jobs_payload[18]) | jobs_ready);
  end
",
        ..NONE
    },
    Rule {
        block: "rx_split::copy::write_join::WriteJoin",
        because: "`shared` and `metadata` stand with `direct_data`",
        assumes: "\
  reg direct_waits = 1'b0;
  reg [256:0] shared_before;
  always @(posedge clock) begin
    direct_waits <= direct_data_valid & ~direct_data_ready & ~in_reset;
    shared_before <= {shared, metadata};
  end
  always @* if (direct_waits) assume({shared, metadata} == shared_before);
",
        ..NONE
    },
    Rule {
        block: "host_interface::ring::pushed_slot::PushedSlot",
        because:
            "read data come for jobs in flight, and `ring_of` stands from the cycle before its \
                  job is offered",
        assumes: "\
  reg [4:0] reads = 5'd0;
  reg [63:0] ring_of_before;
  wire asks = read_job_valid & read_job_ready;
  wire ends = read_data_valid & read_data_ready & read_data_last;
  always @(posedge clock) begin
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
        block: "dma::read::ClientDemux",
        because: "`client` stands with the packet",
        assumes: "\
  reg packet_waits = 1'b0;
  reg [1:0] client_before;
  always @(posedge beside) begin
    packet_waits <= packet_valid & ~packet_ready;
    client_before <= client;
  end
  always @* if (packet_waits) assume(client == client_before);
",
        ..NONE
    },
    Rule {
        block: "tables::scrubber::Scrubber",
        because: "a change that sets no cursor is taken at once, as `FlowStateWriter` shows",
        assumes: "\
  always @* assume(change_out_ready | change_out_payload.write_cursor);
",
        layouts: &[("change_out_payload", FlowUpdate::descriptor)],
        ..NONE
    },
    Rule {
        block: "dma::read::read_issue::ReadIssue",
        because: "`order.ready` is ignored: the queue that takes it has space for all tags",
        falls: &["order"],
        ..NONE
    },
    Rule {
        block: "host_interface::board_window::BoardWindow",
        because: "invariants 3 and 4: `forget` ends what waits; an access not taken is refused",
        falls: &["access"],
        resets: &["forget"],
        ..NONE
    },
    Rule {
        block: "tables::segment_list::list_updater::ListUpdater",
        because:
            "a change stands from four cycles before its `commit` until `busy` has fallen; an \
                  entry comes for each fetch",
        assumes: "\
  reg [15:0] fetches = 16'd0;
  wire asks = fetch_valid & fetch_ready;
  always @(posedge clock) fetches <= in_reset ? 16'd0
    : fetches + {15'd0, asks} - {15'd0, fetched_valid};
  always @* assume(!fetched_valid | fetches != 16'd0);
  reg [4:0] steady = 5'd0;
  reg [218:0] change_before;
  always @(posedge clock) begin
    steady <= {steady[3:0], control_change == change_before};
    change_before <= control_change;
  end
  always @* begin
    assume(!control_commit | !control_busy & steady[3:0] == 4'd15
      & control_change == change_before);
    assume(!control_busy | control_change == change_before);
  end
",
        ..NONE
    },
    Rule {
        block: "dma::cutter::Cutter",
        because: "a job may change until it is taken, as in `ReadSelect`",
        changes: &["job"],
        ..NONE
    },
    Rule {
        block: "tx_merge::event_merge::EventMerge",
        because: "a link event may change until it is taken, as in `LinkControl`",
        changes: &["link_event", "send_event"],
        ..NONE
    },
];
