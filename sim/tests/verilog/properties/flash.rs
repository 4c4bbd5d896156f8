//! What is stated of the blocks that change a device's flash, and of those that load an image.
//!
//! ```text
//!   command ─► guard: only what may be ─► flash: nothing else is sent ─► serial: pins carry it
//! ```
//! Together: no register of the window makes a chip erase or program what is below the slot, or
//! gives it an opcode that is not on the list.

use board::window::flash_sequence::SerialCommand;
use rust_hdl_core::prelude::*;

use crate::properties::solver::Verdict;
use crate::properties::stated::Stated;

/// The opcodes, and where they change a chip. The slot is that of the registry: from 0x01002000 in
/// a chip of 0x08000000 bytes.
const ALLOWED: &str = "\
  wire [39:0] head = command.head;
  wire [7:0] opcode = head[39:32];
  wire [31:0] first = head[31:0];
  wire writes_page = opcode == 8'h12;
  wire erases_block = opcode == 8'h21;
  wire erases_sector = opcode == 8'hdc;
  wire changes = writes_page | erases_block | erases_sector;
  wire reads = opcode == 8'h9f | opcode == 8'h05 | opcode == 8'h13;
  wire [32:0] unit = writes_page ? 33'h100 : erases_block ? 33'h1000 : 33'h10000;
  wire [32:0] last = {1'b0, first} + unit - 33'h1;
  always @* if (allowed) begin
    assert(changes | reads);
    assert(command.enables == changes);
    assert(command.writes == writes_page);
    assert(command.has_address == (changes | opcode == 8'h13));
    if (changes) assert(first >= 32'h01002000 & last < 33'h08000000);
    if (changes) assert((first & (unit[31:0] - 32'h1)) == 32'h0);
    if (erases_block | erases_sector) assert(command.words == 7'd0);
    if (writes_page) assert(command.words == 7'd64);
  end
";

/// All of them.
pub const STATED: &[Stated] = &[
    Stated {
        words: "no program or erase leaves the slot, and no opcode is sent but six",
        block: "board::window::flash_guard::FlashGuard",
        inside: false,
        text: ALLOWED,
        reached: "allowed & changes",
        layouts: &[("command", SerialCommand::descriptor)],
        holds: Verdict::Always(1),
        planted: ("place >= slot", "place >= (slot - 32'h2000)"),
    },
    Stated {
        words: "what is sent to a chip is what the guard allows, and no change while it is held",
        block: "board::window::flash_command::FlashCommand",
        inside: true,
        text: "\
  always @* begin
    assert(!command_valid | guard_allowed);
    assert(!command_valid | asks);
    // Bit 1 of a command: it changes the chip.
    assert(!command_valid | !is_held | !command_payload[1]);
  end
",
        reached: "command_valid",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("asks & is_allowed", "asks"),
    },
    Stated {
        words: "a chip that was told to change counts until its own status says that it has ended",
        block: "board::window::flash_changes::FlashChanges",
        inside: true,
        text: CHANGES,
        reached: "any",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("first | second", "first"),
    },
    Stated {
        words: "a chip gets the enable opcode alone, or the opcode and address of the command",
        block: "board::window::flash_serial::FlashSerial",
        inside: true,
        text: PINS,
        reached: "lines_select != 2'd0",
        layouts: &[],
        holds: Verdict::Always(2),
        planted: ("head_first - place", "head_first - (place ^ 6'd32)"),
    },
    Stated {
        words: "the device's port gets a load of two images or a read of BOOTSTS, nothing else",
        block: "board::window::port_program::PortProgram",
        inside: true,
        text: PORT,
        reached: "lines_select",
        layouts: &[],
        holds: Verdict::Always(1),
        planted: ("selected <= part_1[step]", "selected <= part_1[step | 6'd1]"),
    },
];

/// Chips by bits 0 (the chip) and 1 (it changes the chip) of a command.
const CHANGES: &str = "\
  reg [1:0] told = 2'd0;
  wire [1:0] begun = begins & command[1] ? (command[0] ? 2'b10 : 2'b01) : 2'b00;
  wire [1:0] ended = has_status & !is_chip_busy ? (asked[3] ? 2'b10 : 2'b01) : 2'b00;
  always @(posedge clock) told <= told & ~ended | begun;
  always @* begin
    assert(told == {second, first});
    assert(any == (told != 2'd0));
  end
";

/// The bits that a chip has taken since it was selected, beside where the block is.
const PINS: &str = "\
  reg [39:0] seen = 40'd0;
  reg [5:0] count = 6'd0;
  reg was = 1'b0;
  always @(posedge clock) begin
    was <= lines_serial_clock;
    if (lines_select == 2'd0) count <= 6'd0;
    else if (lines_serial_clock & ~was & count < 6'd40) begin
      count <= count + 6'd1;
      seen <= {seen[38:0], lines_mosi};
    end
  end
  wire [5:0] head_bits = taken[42] ? 6'd40 : 6'd8;
  wire in_enable = phase == SerialPhase_Enable;
  wire in_head = phase == SerialPhase_Head;
  wire in_data = phase == SerialPhase_Data;
  wire [5:0] here = place + (tick > 4'd9 ? 6'd1 : 6'd0);
  wire [7:0] enable_part = enable >> (6'd8 - count);
  wire [39:0] head_part = head >> (6'd40 - count);
  wire [39:0] seen_part = seen & ~(40'hffffffffff << count);
  wire [39:0] opcode_seen = seen_part >> (count - 6'd8);
  always @* begin
    assert(phase <= 3'd5);
    assert(lines_select == 2'd0 | lines_select == chip);
    assert(place <= (in_data ? 6'd31 : in_head & taken[42] ? 6'd39 : in_head | in_enable ? 6'd7
      : 6'd3));
    assert(phase != SerialPhase_Idle | (tick == 4'd0 & place == 6'd0));
    // The pins are one cycle behind.
    assert(tick == 4'd0 | (lines_select != 2'd0) == is_selected);
    assert(lines_select != 2'd0 | !lines_serial_clock);
    assert(was | !(lines_serial_clock & tick > 4'd9));
    assert(tick == 4'd0 | lines_serial_clock == (is_selected & tick > 4'd8));
    assert(!was | tick > 4'd9 | tick < 4'd2);
    assert(is_selected | tick == 4'd0 | lines_select == 2'd0);
    if (in_enable) assert(lines_select == 2'd0 ? count == 6'd0 & place == 6'd0 : count == here);
    if (in_enable) assert(seen_part == enable_part);
    if (in_head) assert(lines_select == 2'd0 ? count == 6'd0 & place == 6'd0 : count == here);
    if (in_head) assert(seen_part == head_part);
    if (in_data) assert(count >= head_bits & lines_select != 2'd0);
    if (in_data & taken[42]) assert(count == 6'd40 & seen == head);
    if (in_data & !taken[42]) assert(opcode_seen == head[39:32]);
    if (in_enable & tick != 4'd0) assert(lines_mosi == enable[3'd7 - place[2:0]]);
    if (in_head & tick != 4'd0) assert(lines_mosi == head[6'd39 - place]);
  end
";

/// What the port is given, and when.
const PORT: &str = "\
  reg was_read = 1'b0;
  reg was_selected = 1'b0;
  always @(posedge clock) begin
    was_read <= lines_reads;
    was_selected <= lines_select;
  end
  wire is_image = lines_word == golden | lines_word == user;
  reg [5:0] step_before = 6'd0;
  always @(posedge clock) step_before <= step;
  always @* begin
    if (lines_select & !lines_reads) begin
      assert(lines_word == 32'hffffffff | lines_word == 32'haa995566 | lines_word == 32'h20000000
        | lines_word == 32'h30020001 | is_image | lines_word == 32'h30008001
        | lines_word == 32'h0000000f | lines_word == 32'h2802c001 | lines_word == 32'h0000000d);
      if (step_before == 6'd5) assert(is_image);
      if (is_image) assert(step_before == 6'd5);
    end
    assert(!waits | step == 6'd0);
    assert(step <= 6'd33 & step_before <= 6'd33);
    assert(step == 6'd0 & step_before == 6'd0 | step_before == 6'd0 & (step == 6'd1 | step == 6'd9)
      | step == 6'd0 & (step_before == 6'd8 | step_before == 6'd33)
      | step == step_before + 6'd1 & step_before != 6'd0 & step_before != 6'd8);
    if (was_read != lines_reads) assert(!was_selected & !lines_select);
    assert(lines_select == (step_before != 6'd0 & step_before != 6'd16 & step_before != 6'd17
      & step_before != 6'd27 & step_before != 6'd28));
    assert(lines_reads == (step_before > 6'd16 & step_before < 6'd28));
  end
";
