//! The DMA engines.

use super::{Rule, NONE};

/// A packet's client stands with it, and no packet is offered a cycle after a reset.
const CLIENT_STANDS: &str = "\
  reg packet_waits = 1'b0;
  reg reset_before = 1'b0;
  reg [1:0] client_before;
  always @(posedge `CLOCK) begin
    packet_waits <= packet_valid & ~packet_ready & ~in_reset;
    client_before <= client;
    reset_before <= reset;
  end
  always @* begin
    if (packet_waits & ~in_reset) assert(client == client_before);
    assert(!reset_before | !packet_valid);
  end
";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "dma::read::realign::Realign",
        because: "`client` stands with the packet, and a cycle after `reset` none is offered",
        says: CLIENT_STANDS,
        ..NONE
    },
    Rule {
        block: "dma::write::dword_aligner::DwordAligner",
        because: "the packet of a client stands until it is taken, as in every stream",
        says: "\
  reg data_waits = 1'b0;
  reg [1:0] client_before;
  reg [511:0] data_before;
  always @(posedge `CLOCK) begin
    data_waits <= data_valid & ~data_ready & ~in_reset;
    client_before <= client;
    data_before <= data;
  end
  always @* if (data_waits & client == client_before & ~in_reset)
    assume(data_valid & data == data_before);
",
        ..NONE
    },
    Rule {
        block: "dma::packer::ready_write::ReadyWrite",
        because: "`flush` begins anew; `takes_second` comes in the handshake of `source` only",
        says: "\
  always @* assume(!takes_second | source_valid & source_ready & second_ready);
",
        resets: &["reset", "flush"],
        ..NONE
    },
    Rule {
        block: "dma::packer::request_choice::RequestChoice",
        because: "a choice is combinational: it may change until it is taken",
        says: "\
  always @* assert(!takes_second | write_tlp_valid & write_tlp_ready & second_ready);
",
        falls: &["tlp"],
        resets_of: &[("write_tlp", "flush")],
        ..NONE
    },
    Rule {
        block: "dma::read::read_select::ReadSelect",
        because: "the choice is combinational: a job that comes may go first until one is taken; \
                  write jobs are counted up, and fewer than 2^14 are open",
        trusts: "\
  reg [15:0] accepted_before = 16'd0;
  reg [15:0] issued_before = 16'd0;
  wire [15:0] open_jobs = writes_accepted - writes_issued;
  always @(posedge clock) begin
    accepted_before <= reset ? 16'd0 : writes_accepted;
    issued_before <= reset ? 16'd0 : writes_issued;
  end
  wire [15:0] missing = `SEE(gate.target, 16) - writes_issued;
  always @* begin
    assume(reset | writes_accepted - accepted_before <= 16'd1);
    assume(reset | writes_issued - issued_before <= 16'd2);
    assume(open_jobs < 16'd16384);
    assume(!`SEE(gate.armed, 1) | missing[15] == missing[14]);
  end
",
        lemma: "\
  always @* assert(reset | !`SEE(gate.passed, 1)
    | `SEE(gate.armed, 1) & (missing == 16'd0 | missing[15]));
",
        changes: &["cut", "client_3_job"],
        ..NONE
    },
    Rule {
        block: "dma::read::ClientDemux",
        because: "`client` stands with the packet",
        says: "\
  reg packet_waits = 1'b0;
  reg [1:0] client_before;
  always @(posedge `CLOCK) begin
    packet_waits <= packet_valid & ~packet_ready;
    client_before <= client;
  end
  always @* if (packet_waits & ~in_reset) assume(client == client_before);
",
        is_inside: true,
        ..NONE
    },
    Rule {
        block: "dma::read::read_issue::ReadIssue",
        because: "`order.ready` is ignored: the queue that takes it has space for all tags",
        falls: &["order"],
        ..NONE
    },
    Rule {
        block: "dma::cutter::Cutter",
        because: "a job may change until it is taken, as in `ReadSelect`",
        changes: &["job"],
        ..NONE
    },
    Rule {
        block: "dma::packer::request_planner::RequestPlanner",
        because: "writes that are held are forgotten with `flush`",
        resets_of: &[("write_tlp", "flush")],
        ..NONE
    },
    Rule {
        block: "dma::packer::Packer",
        because: "what waits is forgotten with `flush`",
        resets: &["link_reset", "flush"],
        ..NONE
    },
    Rule {
        block: "dma::requester::Requester",
        because: "a flush read may change until it is taken; `reset` follows `user_reset`, and \
                  lasts for \
                  more than a cycle: inside it begins a cycle later",
        says: "\
  reg [1:0] resets = 2'd0;
  reg user_before = 1'b0;
  always @(posedge `CLOCK) begin
    resets <= {resets[0], reset};
    user_before <= user_reset;
  end
  always @* begin
    assume(!resets[0] | reset | resets[1]);
    assume(!user_before | reset | user_reset);
  end
",
        joint: "\
  wire flushing = `SEE(dut.flushing, 1);
  always @* begin
    assert(!resets[0] | flushing);
    assert(!flushing | `SEE(dut.read.reset_before, 1) | resets == 2'd1 | user_before);
  end
",
        changes: &["flush_job"],
        ..NONE
    },
    Rule {
        block: "dma::read::ReadEngine",
        because: "a flush read may change until it is taken, as in `Flusher`; a cycle after \
                  `reset` no packet is offered",
        says: "\
  reg reset_before = 1'b0;
  wire offers = client_0_data_valid | client_1_data_valid | client_2_data_valid
    | client_3_data_valid;
  always @(posedge `CLOCK) reset_before <= reset;
  always @* assert(!reset_before | !offers);
",
        changes: &["client_3_job"],
        ..NONE
    },
    Rule {
        block: "dma::read::read_requests::ReadRequests",
        because: "a flush read may change until it is taken, as in `Flusher`",
        changes: &["client_3_job"],
        falls: &["order"],
        ..NONE
    },
    Rule {
        block: "dma::read::read_return::ReadReturn",
        because: "what comes as `order` goes to a queue with space for all tags; `client` stands \
                  with the packet, and a cycle after `reset` none is offered",
        says: CLIENT_STANDS,
        falls: &["order"],
        ..NONE
    },
];
