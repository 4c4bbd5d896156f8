//! From a region's bounds to a piece of memory for a payload: the first half of the way to a write
//! request. No request leaves without a grant of its region.
//!
//! ```text
//!   region check, locate ─► reply ─► region step ─► pieces of the walk ─► admit ─► split
//!                                                                                    │
//!   dma.write ◄─ write join ◄─ announce ◄─ hold route ◄──────────────── copy jobs ◄──┘
//! ```
//! Each link is stated of the block that makes it, with what comes in as the link before leaves it.
//! Together: a payload goes to the bytes that its region granted to the flow's domain, and a walk
//! that was refused makes no write; what else is written goes to the owner's own rings.

use rust_hdl_core::prelude::*;
use rx_split::messages::RxItem;
use rx_split::walks::messages::{PieceWrite, SegmentToken, WalkEnd, WalkToken};
use stream::messages::{RegionReply, RegionRequest};
use tables::messages::{RegionChecked, RegionEntry, RegionLocated};

use crate::properties::solver::Verdict;
use crate::properties::stated::Stated;

/// All of them.
pub const STATED: &[Stated] = &[
    Stated {
        words: "an access is granted only with its region's key, domain and right",
        block: "tables::region_table::region_check::RegionCheck",
        inside: false,
        text: "\
  always @* begin
    if (checked.granted) begin
      assert(request.region_key == region.key);
      assert(request.domain == region.domain);
      assert(request.write ? region.write : region.read);
    end
    assert(checked.end == {1'b0, request.offset} + {17'd0, request.bytes});
    assert(checked.length == region.bytes);
    assert(checked.bytes == request.bytes);
  end
",
        reached: "checked[0]",
        layouts: &[
            ("request", RegionRequest::descriptor),
            ("region", RegionEntry::descriptor),
            ("checked", RegionChecked::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("& (region[31:16] == request[47:32])", ""),
    },
    Stated {
        words: "bytes are granted only inside of the region, and never past the end of a page",
        block: "tables::region_table::region_check::RegionLocate",
        inside: false,
        text: "\
  always @* begin
    assume(checked.page_offset < checked.page_bytes);
    if (located.granted) begin
      assert(checked.granted);
      assert(checked.end <= {1'b0, checked.length});
    end
    assert(located.bytes <= checked.bytes);
    assert({1'b0, located.page_offset} + {1'b0, located.bytes} <= {2'd0, checked.page_bytes});
  end
",
        reached: "located[0]",
        layouts: &[("checked", RegionChecked::descriptor), ("located", RegionLocated::descriptor)],
        holds: Verdict::Always(1),
        planted: ("<=", "!="),
    },
    Stated {
        words:
            "a grant has the region's key, domain, right and bounds, and the address of its page",
        block: "tables::region_table::region_pipe::RegionPipe",
        inside: true,
        text: PIPE,
        reached: "reply_valid & reply_payload.granted",
        layouts: &[
            ("asked_3", RegionRequest::descriptor),
            ("asked_4", RegionRequest::descriptor),
            ("asked_5", RegionRequest::descriptor),
            ("asked_6", RegionRequest::descriptor),
            ("asked_7", RegionRequest::descriptor),
            ("entry_3", RegionEntry::descriptor),
            ("entry_4", RegionEntry::descriptor),
            ("entry_5", RegionEntry::descriptor),
            ("entry_6", RegionEntry::descriptor),
            ("entry_7", RegionEntry::descriptor),
            ("checked", RegionChecked::descriptor),
            ("located", RegionLocated::descriptor),
            ("located_5", RegionLocated::descriptor),
            ("located_6", RegionLocated::descriptor),
            ("located_7", RegionLocated::descriptor),
            ("reply_payload", RegionReply::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("registered <= read;", "registered <= access;"),
    },
    Stated {
        words: "a piece is what the region granted to its walk's domain, a refused walk gets none",
        block: "rx_split::walks::region_step::RegionStep",
        inside: true,
        text: STEP,
        reached: "piece_valid",
        layouts: &[
            ("requested", SegmentToken::descriptor),
            ("token", SegmentToken::descriptor),
            ("request_payload", RegionRequest::descriptor),
            ("reply", RegionReply::descriptor),
            ("piece_payload", PieceWrite::descriptor),
            ("ended_payload", WalkEnd::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("(~grant[0])", "1'b0"),
    },
    Stated {
        words: "a walk goes on, or ends, with one piece more than before, numbered from 0",
        block: "rx_split::walks::region_grant::RegionGrant",
        inside: false,
        text: "\
  wire goes = next_page | next_segment;
  always @* begin
    assert({1'b0, ends} + {1'b0, next_page} + {1'b0, next_segment} == 2'd1);
    if (refused) assert(ends & walk_end.outcome.failed);
    if (!refused) assert({1'b0, piece.number} == token.walk.count | token.walk.count > 5'd16);
    if (!refused & ends) assert(!walk_end.outcome.failed
      & walk_end.outcome.pieces == token.walk.count + 5'd1);
    if (next_page) assert(page.walk.count == token.walk.count + 5'd1);
    if (next_segment) assert(again.count == token.walk.count + 5'd1);
    assert(piece.slot == token.walk.slot & walk_end.slot == token.walk.slot);
    if (goes) assert(page.walk.slot == token.walk.slot & again.slot == token.walk.slot);
    if (goes) assert(page.walk.domain == token.walk.domain & again.domain == token.walk.domain);
    if (goes) assert(page.region == token.region & page.region_key == token.region_key);
  end
",
        reached: "next_page",
        layouts: &[
            ("token", SegmentToken::descriptor),
            ("piece", PieceWrite::descriptor),
            ("walk_end", WalkEnd::descriptor),
            ("page", SegmentToken::descriptor),
            ("again", WalkToken::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("+ 5'd1", "+ 5'd2"),
    },
    Stated {
        words: "a walk leaves the list with its slot, domain and pieces as it came",
        block: "rx_split::walks::segment_step::SegmentStep",
        inside: true,
        text: "\
  reg [123:0] token;
  wire meets = reply_valid & reply_ready;
  always @(posedge clock) if (meets) token <= replied;
  reg any = 1'b0;
  always @(posedge clock) any <= any | meets;
  always @* begin
    assert(waiting_sink_valid == (request_valid & request_ready));
    assert(meets == (waiting_source_valid & waiting_source_ready));
    assert(!valid | any & held == token);
    if (located_valid) assert(located_payload.walk.slot == token.slot
      & located_payload.walk.domain == token.domain & located_payload.walk.count == token.count);
    if (again_valid) assert(again_payload.slot == token.slot
      & again_payload.domain == token.domain & again_payload.count == token.count);
    if (ended_valid) assert(ended_payload.slot == token.slot & ended_payload.outcome.failed);
  end
",
        reached: "located_valid",
        layouts: &[
            ("token", WalkToken::descriptor),
            ("located_payload", SegmentToken::descriptor),
            ("again_payload", WalkToken::descriptor),
            ("ended_payload", WalkEnd::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("held <= replied;", "held <= requested;"),
    },
    Stated {
        words: "walks go from step to step unchanged, and begin without pieces in their domain",
        block: "rx_split::walks::Walks",
        inside: true,
        text: JOINS,
        reached: "region_request_valid",
        layouts: &[
            ("start", WalkToken::descriptor),
            ("packet", RxItem::descriptor),
            ("oldest", RxItem::descriptor),
            ("write", PieceWrite::descriptor),
        ],
        holds: Verdict::Always(1),
        planted: ("start[3:0] = slots_slot;", "start[3:0] = slots_slot + 4'd1;"),
    },
    Stated {
        words: "the outcome shown of a slot is the end of the last walk that began in it",
        block: "rx_split::walks::walk_slots::WalkSlots",
        inside: true,
        text: "\
  (* anyconst *) wire [3:0] watched;
  reg has_ended = 1'b0;
  reg [29:0] kept;
  wire ends = ends_valid & ends_payload.slot == watched;
  always @(posedge clock) begin
    if (start & slot == watched) has_ended <= 1'b0;
    else if (ends) has_ended <= 1'b1;
    if (ends) kept <= ends_payload.outcome;
  end
  reg any = 1'b0;
  always @(posedge clock) any <= any | ends;
  always @* begin
    assert(ended[watched] == has_ended);
    assert(!has_ended | any);
    if (is_ended & shown == watched) assert(has_ended);
  end
",
        reached: "is_ended",
        layouts: &[("ends_payload", WalkEnd::descriptor)],
        holds: Verdict::Always(1),
        planted: ("| ended_bit) & (~started_bit)", "| ended_bit)"),
    },
    Stated {
        words: "a place of a memory keeps what was written last",
        block: "stream::memory::LutRam",
        inside: true,
        text: "\
  (* anyconst *) wire [2:0] watched;
  reg any = 1'b0;
  reg [11:0] kept;
  always @(posedge clock) if (write_enable & write_address == watched) begin
    any <= 1'b1;
    kept <= write_data;
  end
  always @* if (any) begin
    assert(memory[watched] == kept);
    if (read_address == watched) assert(read_data == kept);
  end
",
        reached: "read_data != 12'd0",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("<= write_data;", "<= write_data | 12'd1;"),
    },
];

/// What came so many cycles ago, and the region that was read for it two cycles after it came.
const PIPE: &str = "\
  reg [128:0] asked_1;
  reg [128:0] asked_2;
  reg [128:0] asked_3;
  reg [128:0] asked_4;
  reg [128:0] asked_5;
  reg [128:0] asked_6;
  reg [128:0] asked_7;
  reg [104:0] entry_3;
  reg [104:0] entry_4;
  reg [104:0] entry_5;
  reg [104:0] entry_6;
  reg [104:0] entry_7;
  reg [81:0] located_5;
  reg [81:0] located_6;
  reg [81:0] located_7;
  (* hierconn, init = 7'd0 *) wire [6:0] \\stages.valid ;
  (* hierconn, init = 82'd0 *) wire [81:0] \\stages.paged ;
  reg [63:0] page;
  reg [7:1] came = 7'd0;
  reg [4:0] is_now = 5'd0;
  reg page_is_now = 1'b0;
  always @(posedge clock) begin
    came <= reset ? 7'd0 : {came[6:1], request_valid};
    is_now <= {is_now[3:0], current};
    page <= pages_read_data;
    page_is_now <= pages_read_epoch == epoch_kept;
    asked_1 <= access;
    asked_2 <= asked_1;
    asked_3 <= asked_2;
    asked_4 <= asked_3;
    asked_5 <= asked_4;
    asked_6 <= asked_5;
    asked_7 <= asked_6;
    entry_3 <= region;
    entry_4 <= entry_3;
    entry_5 <= entry_4;
    entry_6 <= entry_5;
    entry_7 <= entry_6;
    located_5 <= located;
    located_6 <= located_5;
    located_7 <= located_6;
  end
  wire [48:0] end_3 = {1'b0, asked_3.offset} + {17'd0, asked_3.bytes};
  wire [48:0] end_4 = {1'b0, asked_4.offset} + {17'd0, asked_4.bytes};
  always @* begin
    if (came[1]) assert(read == asked_1);
    if (came[2]) assert(registered == asked_2);
    if (came[3]) assert(checked.end == end_3 & checked.length == entry_3.bytes
      & checked.bytes == asked_3.bytes & checked.memory == entry_3.memory);
    if (came[3] & checked.granted) assert(is_now[0] & asked_3.region_key == entry_3.key
      & asked_3.domain == entry_3.domain & (asked_3.write ? entry_3.write : entry_3.read));
    if (came[4] & located.granted) assert(end_4 <= {1'b0, entry_4.bytes});
    if (came[4]) assert(located.bytes <= asked_4.bytes & located.memory == entry_4.memory);
    if (came[4] & located.granted) assert(is_now[1] & asked_4.region_key == entry_4.key
      & asked_4.domain == entry_4.domain & (asked_4.write ? entry_4.write : entry_4.read));
    if (came[5] & located_5.granted) assert({1'b0, entry_5.bytes}
      >= {1'b0, asked_5.offset} + {17'd0, asked_5.bytes});
    if (came[5]) assert(located_5.bytes <= asked_5.bytes
      & located_5.memory == entry_5.memory);
    if (came[5] & located_5.granted) assert(is_now[2] & asked_5.region_key == entry_5.key
      & asked_5.domain == entry_5.domain & (asked_5.write ? entry_5.write : entry_5.read));
    if (came[6] & located_6.granted) assert({1'b0, entry_6.bytes}
      >= {1'b0, asked_6.offset} + {17'd0, asked_6.bytes});
    if (came[6]) assert(located_6.bytes <= asked_6.bytes
      & located_6.memory == entry_6.memory);
    if (came[6] & located_6.granted) assert(is_now[3] & asked_6.region_key == entry_6.key
      & asked_6.domain == entry_6.domain & (asked_6.write ? entry_6.write : entry_6.read));
    if (came[7] & located_7.granted) assert({1'b0, entry_7.bytes}
      >= {1'b0, asked_7.offset} + {17'd0, asked_7.bytes});
    if (came[7]) assert(located_7.bytes <= asked_7.bytes
      & located_7.memory == entry_7.memory);
    if (came[7] & located_7.granted) assert(is_now[4] & asked_7.region_key == entry_7.key
      & asked_7.domain == entry_7.domain & (asked_7.write ? entry_7.write : entry_7.read));
    assert(\\stages.valid == came & reply_valid == came[7]);
    if (came[5]) assert(\\stages.paged == located_5);
    if (came[6]) assert(page_located == located_6);
    if (reply_valid & reply_payload.granted) begin
      assert(located_7.granted & page_is_now);
      assert(reply_payload.address == (page | {33'd0, located_7.page_offset}));
      assert(reply_payload.bytes == located_7.bytes & reply_payload.memory == entry_7.memory);
    end
  end
";

/// The token that meets a reply is the oldest one whose request was taken: both queues keep their
/// order, and none is ever full.
const STEP: &str = "\
  reg [231:0] token;
  reg [98:0] reply;
  wire [31:0] reply_bytes = reply.bytes;
  wire [4:0] count = token.walk.count;
  wire [3:0] token_number = count[3:0];
  reg is_now = 1'b0;
  wire asks = request_valid & request_ready;
  wire meets = reply_valid & reply_ready;
  always @(posedge clock) begin
    is_now <= meets & !reset;
    token <= replied;
    reply <= reply_payload;
  end
  always @* begin
    assert(waiting_sink_valid == asks);
    if (request_valid) begin
      assert(request_payload.region == requested.region);
      assert(request_payload.region_key == requested.region_key);
      assert(request_payload.domain == requested.walk.domain);
      assert(request_payload.write);
      assert(request_payload.offset == requested.offset);
      assert(request_payload.bytes <= requested.left);
      assert(request_payload.bytes <= {18'd0, requested.walk.rest});
    end
    assert(!piece_valid | is_now);
    if (is_now) begin
      assert(piece_valid == (reply.granted & token.walk.count != 5'd16));
      if (piece_valid) begin
        assert(piece_payload.slot == token.walk.slot);
        assert(piece_payload.number == token_number);
        assert(piece_payload.piece.address == reply.address);
        assert(piece_payload.piece.bytes == reply_bytes[13:0]);
        assert(piece_payload.piece.memory == reply.memory);
      end else begin
        assert(ended_valid & ended_payload.outcome.failed);
        assert(ended_payload.slot == token.walk.slot);
      end
    end
  end
";

/// The joins: what one step hands out is what another one takes, and none is lost.
const JOINS: &str = "\
  reg [123:0] goes;
  always @(posedge clock) goes <= regions_again_valid ? regions_again_payload
    : segments_again_payload;
  always @* begin
    assert(!(regions_again_valid & segments_again_valid));
    assert(!(regions_page_valid & segments_located_valid));
    assert(!(regions_ended_valid & segments_ended_valid));
    assert(!(starts & again_valid));
    assert(!again_valid | again_token == goes);
    if (starts) assert(start.count == 5'd0 & start.slot == slots_slot);
    if (starts) assert(start.domain == packet.domain & start.rest == packet.place_bytes);
    assert(tokens_source_valid == (starts | again_valid));
    if (again_valid) assert(tokens_source_payload == again_token);
    if (starts) assert(tokens_source_payload == start);
    assert(located_source_valid == (regions_page_valid | segments_located_valid));
    if (regions_page_valid) assert(located_source_payload == regions_page_payload);
    if (segments_located_valid) assert(located_source_payload == segments_located_payload);
    assert(ends_source_valid == (regions_ended_valid | segments_ended_valid));
    if (regions_ended_valid) assert(ends_source_payload == regions_ended_payload);
    if (segments_ended_valid) assert(ends_source_payload == segments_ended_payload);
    if (regions_piece_valid) assert(pieces_write_address == {write.slot, write.number});
    assert(pieces_read_address == {piece_slot, piece_number});
    if (source_valid) assert(!oldest.slotted | slots_is_ended);
    assert(source_payload == oldest);
  end
";
