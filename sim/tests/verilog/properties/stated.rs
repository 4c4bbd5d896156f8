//! What is stated of single blocks: FIFOs, crossings, credit, tags, fences.
//!
//! ```text
//!   Stated ─► text of the block, what is stated of it around or in it ─► holds
//!        └──► the same with a planted fault ──────────────────────────► fails
//! ```
//! `anyconst` is one number, the same in every cycle and any at all: what is proven of the message,
//! tag or confirmation that it names is proven of each.

use rust_hdl_core::prelude::*;
use tables::messages::FlowUpdate;

use crate::properties::solver::Verdict;

/// A port, and how its fields lie in it.
pub type Layout = (&'static str, fn() -> TypeDescriptor);

/// One property of one block. See the head of this file.
pub struct Stated {
    /// What holds, in words.
    pub words: &'static str,
    /// The block's name in the registry.
    pub block: &'static str,
    /// Whether `text` stands inside of the block; otherwise around it.
    pub inside: bool,
    /// Verilog.
    pub text: &'static str,
    /// True where it is put to the test, by the block's ports.
    pub reached: &'static str,
    /// Ports whose fields the text names as `PORT.FIELD`.
    pub layouts: &'static [Layout],
    /// How far it holds, at least.
    pub holds: Verdict,
    /// A text of the block, and the fault in its place.
    pub planted: (&'static str, &'static str),
}

/// Messages leave once, in order, as they came, and are offered soon.
const ORDER: &str = "\
  (* anyconst *) wire [3:0] watched;
  reg [3:0] came = 4'd0;
  reg [3:0] left = 4'd0;
  reg [3:0] dry = 4'd0;
  reg [11:0] kept;
  always @(posedge `CLOCK) begin
    if (sink_valid & sink_ready) begin
      came <= came + 4'd1;
      if (came == watched) kept <= sink_payload;
    end
    if (source_valid & source_ready) left <= left + 4'd1;
    dry <= (came != left && !source_valid) ? dry + 4'd1 : 4'd0;
  end
  wire comes = (came == left) & sink_valid & sink_ready;
  wire [11:0] expected = comes ? sink_payload : kept;
  always @* begin
    assume(!in_reset);
    assert(!source_valid | came != left | comes);
    if (source_valid & left == watched) assert(source_payload == expected);
    assert(dry < 4'd8);
  end
";

/// The order of one kind of FIFO, searched for so many cycles: more than its places and latency.
const fn order(block: &'static str, cycles: u32) -> Stated {
    Stated {
        words: "messages leave once, in order and unchanged, and are offered within 8 cycles",
        block,
        inside: false,
        text: ORDER,
        reached: "left == 4'd3 & source_valid",
        layouts: &[],
        holds: Verdict::Bounded(cycles),
        planted: (
            "memory[write_address] <= write_data;",
            "memory[write_address] <= write_data | 12'd1;",
        ),
    }
}

/// All of them.
pub const STATED: &[Stated] = &[
    order("stream::fifo::Fifo", 8),
    order("stream::block_fifo::BlockFifo", 11),
    order("stream::deep_fifo::DeepFifo", 11),
    order("stream::through_fifo::ThroughFifo", 8),
    order("stream::async_fifo::AsyncFifo", 11),
    Stated {
        words: "the pointers that cross are Gray: one bit changes in a cycle at most",
        block: "stream::async_fifo::AsyncFifo",
        inside: true,
        text: "\
  reg [3:0] write_before = 4'd0;
  reg [3:0] read_before = 4'd0;
  always @(posedge write_clock) write_before <= write_gray;
  always @(posedge read_clock) read_before <= read_gray;
  wire [3:0] write_change = write_gray ^ write_before;
  wire [3:0] read_change = read_gray ^ read_before;
  wire [3:0] ahead = write_pointer + 4'd1;
  reg started = 1'b0;
  always @(posedge write_clock) started <= 1'b1;
  always @* begin
    assert((write_change & (write_change - 4'd1)) == 4'd0);
    assert((read_change & (read_change - 4'd1)) == 4'd0);
    assert(write_gray == (write_pointer ^ (write_pointer >> 1)));
    assert(read_gray == (read_pointer ^ (read_pointer >> 1)));
    assert(!started | gray_ahead == (ahead ^ (ahead >> 1)));
    assert(started | !has_space);
  end
",
        reached: "source_valid",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("(write_next >> 1)", "(write_next >> 2)"),
    },
    Stated {
        words: "reads in flight never need more completion room than there is",
        block: "dma::read::completion_credit::CreditLeft",
        inside: false,
        text: "\
  reg [5:0] wanted_before;
  reg [5:0] following_before;
  reg took = 1'b0;
  reg wanted_one = 1'b0;
  always @(posedge clock) begin
    wanted_before <= wanted;
    following_before <= following;
    took <= take;
    wanted_one <= is_wanted;
  end
  always @* begin
    assume(!take | (is_wanted & fits));
    assume(wanted <= 6'd6 && following <= 6'd6);
    assume(give_back <= used);
    if (wanted_one & !took & !was_reset) assume(is_wanted && wanted == wanted_before);
    else if (!was_reset) assume(!is_wanted | wanted == following_before);
    assert(used <= 6'd20);
  end
",
        reached: "used == 6'd20",
        layouts: &[],
        holds: Verdict::Bounded(10),
        planted: ("left - (wanted + following)", "left - following"),
    },
    Stated {
        words: "a tag in flight or quarantined is never free for another read",
        block: "dma::read::tag_state::TagUse",
        inside: false,
        text: "\
  (* anyconst *) wire [7:0] watched;
  reg in_use = 1'b0;
  reg is_bad = 1'b0;
  wire issued = issue & (issue_tag == watched);
  wire retired = retire & (retire_tag == watched);
  wire spoilt = (quarantines_0 & event_tag_0 == watched)
    | (quarantines_1 & event_tag_1 == watched) | (quarantines_2 & event_tag_2 == watched);
  always @(posedge clock) begin
    if (issued) in_use <= 1'b1;
    else if (retired) in_use <= 1'b0;
    if (spoilt) is_bad <= 1'b1;
  end
  always @* begin
    assume(!clears);
    assume(!issue | (issue_tag == candidate & !busy));
    assume(!retired | in_use);
    assume(!(issued & retired));
    assert(!(candidate == watched & (in_use | is_bad)) | busy);
    assert(in_use == `SEE(dut.issued.memory[watched], 1) ^ `SEE(dut.retired.memory[watched], 1));
    assert(is_bad == (`SEE(dut.quarantined_by_0.memory[watched], 1)
      | `SEE(dut.quarantined_by_1.memory[watched], 1)
      | `SEE(dut.quarantined_by_2.memory[watched], 1)));
  end
",
        reached: "in_use & is_bad",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("is_used = issued_read_data_0", "is_used = 1'b0 & issued_read_data_0"),
    },
    Stated {
        words: "a confirmation leaves after every write that was fed before it has landed",
        block: "rx_split::copy::fences::Fences",
        inside: false,
        text: "\
  (* anyconst *) wire [2:0] watched;
  reg [2:0] came = 3'd0;
  reg [2:0] left = 3'd0;
  reg [3:0] feeds = 4'd0;
  reg [3:0] lands = 4'd0;
  reg [3:0] before;
  wire held = released_valid & released_ready;
  wire leaves = confirmation_valid & confirmation_ready & !held;
  always @(posedge clock) begin
    if (passes) begin
      came <= came + 3'd1;
      if (came == watched) before <= feeds;
    end
    if (leaves) left <= left + 3'd1;
    if (fed) feeds <= feeds + 4'd1;
    if (landed) lands <= lands + 4'd1;
  end
  always @* begin
    assume(!in_reset);
    assume(!passes | has_space);
    assume(!landed | lands != feeds);
    if (leaves & left == watched) assert(lands >= before);
    assert(!leaves | left != came);
  end
",
        reached: "leaves & left == watched & before == 4'd2",
        layouts: &[],
        holds: Verdict::Bounded(9),
        planted: ("waiting_source_valid & (~ahead[7])", "waiting_source_valid"),
    },
    Stated {
        words:
            "a change of a flow that sets no cursor is taken at once, and no cursor move is lost",
        block: "tables::flow_table::flow_state_writer::FlowStateWriter",
        inside: false,
        text: "\
  always @* begin
    assert(change_ready | change_payload.write_cursor);
    assert(change_out_valid == (change_valid & change_ready));
    assert(!change_out_valid | change_out_payload == change_payload);
    if (cursor_write_valid) assert(cursor_out_valid & cursor_out_payload == cursor_write_payload);
  end
",
        reached: "change_valid & !change_ready",
        layouts: &[("change_payload", FlowUpdate::descriptor)],
        holds: Verdict::Always(1),
        planted: ("& cursor_write_valid", "| cursor_write_valid"),
    },
];

/// A text with the fields of ports as ranges of their bits; the first field has the lowest ones.
pub fn with_ranges(layouts: &[Layout], text: &str) -> String {
    let mut text = text.to_owned();
    for (port, layout) in layouts {
        let mut ranges = Vec::new();
        ranges_of(port, 0, &layout().kind, &mut ranges);
        for (name, from, to) in ranges {
            text = whole_words(&text, &name, &format!("{port}[{}:{from}]", to - 1));
        }
    }
    text
}

/// The fields of a type and their fields, each with its first bit and the one after its last.
fn ranges_of(name: &str, at: usize, kind: &TypeKind, ranges: &mut Vec<(String, usize, usize)>) {
    let TypeKind::Composite(fields) = kind else {
        return;
    };
    let mut from = at;
    for field in fields {
        let name = format!("{name}.{}", field.fieldname);
        let to = from + bits_of(&field.kind);
        ranges_of(&name, from, &field.kind.kind, ranges);
        ranges.push((name, from, to));
        from = to;
    }
}

fn bits_of(descriptor: &TypeDescriptor) -> usize {
    match &descriptor.kind {
        TypeKind::Bits(bits) | TypeKind::Signed(bits) => *bits,
        TypeKind::Composite(fields) => fields.iter().map(|field| bits_of(&field.kind)).sum(),
        TypeKind::Enum(names) => names.len().next_power_of_two().ilog2() as usize,
    }
}

/// Replaces a name where it is no part of a longer one.
fn whole_words(text: &str, from: &str, to: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = text.split(from);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = out.ends_with(is_part) || part.starts_with(is_part);
        out += if is_longer { from } else { to };
        out += part;
    }
    out
}
