//! Memory requests to PCIe packets: read and write engines, completer, rings, interrupts.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod align;
pub mod byte_enables;
pub mod completer;
pub mod completer_check;
pub mod completer_execute;
pub mod completer_fields;
pub mod completer_packet;
pub mod completer_read;
pub mod completer_reply;
pub mod completer_request;
pub mod completer_write;
pub mod completion;
pub mod completion_merge;
pub mod completion_ring;
pub mod cut;
pub mod deliver;
pub mod fetch_buffer;
pub mod interrupt;
pub mod interrupt_arm;
pub mod interrupt_pace;
pub mod interrupt_scan;
pub mod msix_table;
pub mod owner_index;
pub mod owner_registers;
pub mod owner_set;
pub mod pack;
pub mod payload_memory;
pub mod plan;
pub mod rc_check;
pub mod rc_split;
pub mod read;
pub mod read_answers;
pub mod read_issue;
pub mod read_requests;
pub mod read_select;
pub mod reorder;
pub mod request;
pub mod requester;
pub mod ring;
pub mod ring_indices;
pub mod ring_plan;
pub mod ring_return;
pub mod ring_span;
pub mod ring_state;
pub mod ring_turn;
pub mod rotate;
pub mod send_status;
pub mod slot_carry;
pub mod slot_control;
pub mod slot_failure;
pub mod slot_track;
pub mod slots;
pub mod small_write;
pub mod step;
pub mod tags;
pub mod write;
pub mod write_mux;
pub mod write_select;
