//! Queues, crossings and rotations.

use super::{Rule, NONE};

/// What a buffer says of its level, and of a message that enters it while it is empty.
const FIFO: &str = "\
  reg put = 1'b0;
  reg got = 1'b0;
  reg was_empty = 1'b1;
  reg [`BITS(level) - 1:0] level_before = 0;
  reg [`BITS(sink_payload) - 1:0] put_before;
  always @(posedge `CLOCK) begin
    put <= sink_valid & sink_ready & ~in_reset;
    got <= source_valid & source_ready & ~in_reset;
    level_before <= in_reset ? 0 : level;
    was_empty <= in_reset | level == 0;
    put_before <= sink_payload;
  end
  always @* begin
    assert(level == level_before + put - got);
    assert(!level[`BITS(level) - 1] | level[`BITS(level) - 2:0] == 0);
    assert(source_valid == (level != 0));
    assert(sink_ready == (!was_reset & !level[`BITS(level) - 1]));
    if (put & was_empty) assert(source_payload == put_before);
  end
";

/// The same of one that is bypassed while it is empty.
const THROUGH: &str = "\
  reg put = 1'b0;
  reg got = 1'b0;
  reg was_empty = 1'b1;
  reg [`BITS(level) - 1:0] level_before = 0;
  reg [`BITS(sink_payload) - 1:0] put_before;
  wire passes = level == 0 & sink_valid & sink_ready;
  always @(posedge `CLOCK) begin
    put <= sink_valid & sink_ready & ~in_reset;
    got <= source_valid & source_ready & ~in_reset;
    level_before <= in_reset ? 0 : level;
    was_empty <= in_reset | level == 0;
    put_before <= sink_payload;
  end
  always @* begin
    assert(level == level_before + put - got);
    assert(!level[`BITS(level) - 1] | level[`BITS(level) - 2:0] == 0);
    assert(source_valid == (!in_reset & (level != 0 | passes)));
    assert(sink_ready == (!was_reset & !level[`BITS(level) - 1]));
    if (passes) assert(source_payload == sink_payload);
    if (put & !got & was_empty) assert(source_payload == put_before);
  end
";

/// A queue with space keeps it until something comes.
const STAYS_READY: &str = "\
  reg had_space = 1'b0;
  always @(posedge `CLOCK) had_space <= sink_ready & ~sink_valid & ~in_reset;
  always @* assert(!had_space | in_reset | sink_ready);
";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        block: "stream::fifo_pointers::FifoPointers",
        because:
            "invariants 1 and 2; a message comes while there is space, and leaves while there \
                  is one",
        says: "\
  wire [`BITS(write_pointer) - 1:0] held = write_pointer - read_pointer;
  wire is_full = held[`BITS(write_pointer) - 1];
  reg wrote = 1'b0;
  reg took = 1'b0;
  reg [`BITS(write_pointer) - 1:0] write_before = 0;
  reg [`BITS(write_pointer) - 1:0] read_before = 0;
  always @(posedge `CLOCK) begin
    wrote <= write & ~in_reset;
    took <= read & ~in_reset;
    write_before <= in_reset ? 0 : write_pointer;
    read_before <= in_reset ? 0 : read_pointer;
  end
  always @* begin
    assume(!write | has_space);
    assume(!read | has_message);
    assert(write_pointer == write_before + wrote);
    assert(read_pointer == read_before + took);
    assert(!is_full | held[`BITS(write_pointer) - 2:0] == 0);
    assert(has_message == (held != 0));
    assert(has_space == (!was_reset & !is_full));
  end
",
        ..NONE
    },
    Rule {
        block: "stream::fifo::Fifo",
        because: "invariants 1 to 3: what enters the empty buffer is offered in the next cycle",
        says: FIFO,
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::through_fifo::ThroughFifo",
        because: "as the buffer in it, and invariant 2",
        says: THROUGH,
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::deep_fifo::DeepFifo",
        because: "what is on the way to the head has a place there",
        lemma: "  always @* assert(on_the_way <= 3'd4);\n",
        says: STAYS_READY,
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::block_fifo::BlockFifo",
        because: "a buffer takes what is offered in the cycle in which it is ready",
        says: STAYS_READY,
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::frame_fifo::FrameFifo",
        because: "a buffer takes what is offered in the cycle in which it is ready",
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::register_slice::RegisterSlice",
        because: "a buffer takes what is offered in the cycle in which it is ready",
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::async_fifo::Synchronizer",
        because: "what crosses comes at any time: nothing is relied on",
        ..NONE
    },
    Rule {
        block: "stream::async_fifo::AsyncFifo",
        because: "whatever the other clock does",
        falls: &["sink"],
        ..NONE
    },
    Rule {
        block: "stream::rotate::Rotate",
        because: "a function of its inputs",
        is_function: true,
        ..NONE
    },
    Rule {
        block: "stream::rotate::RotateDwords",
        because: "a function of its inputs",
        is_function: true,
        ..NONE
    },
    Rule {
        block: "stream::rotate::RotateBlock",
        because: "a function of its inputs",
        is_function: true,
        ..NONE
    },
    Rule {
        block: "stream::rotate::RotateStage",
        because: "a function of its inputs",
        is_function: true,
        ..NONE
    },
];
