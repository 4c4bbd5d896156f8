//! The keyed hashes of both banks, read from tables: one for each byte of the key.
//!
//! ```text
//!  settings ──► fill ──► 48 tables of 256 entries ◄── key (384), byte by byte
//!                           │ what that byte adds to both hashes
//!                           └──► exclusive or of all ──► hash_low, hash_high
//! ```
//! The hash is linear: that of a key is the exclusive or of the hashes of its bytes, each with
//! zeros around it. A table of 256 entries holds them for one byte, so a secret change costs a
//! rewrite of all tables (see [`crate::flow_table::toeplitz_fill`]), and a look-up one read of
//! each.
//!
//! Timing: the hashes belong to the `key` of two cycles before, one key per cycle.
//!
//! Invariants:
//! 1. While `busy` is low the hashes are those of the secrets. While it is high they belong to
//!    neither the old nor the new secret.
//!
//! Source: `abi::flow_key::hash`; `docs/specification.md`, Hash secrets.

use crate::flow_table::toeplitz_fill::{ToeplitzEntry, ToeplitzFill};
use abi::flow_key::KEY_BYTES;
use stream::prelude::*;

const _: () = assert!(KEY_BYTES == 48);

/// The hashes. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ToeplitzHash {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Register writes of the host; the secrets are taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// Key to hash, byte 0 in bits 7:0.
    pub key: Signal<In, Bits<384>>,
    /// Hash `key`; without it the hashes stay.
    pub key_valid: Signal<In, Bit>,
    /// Hash of bank 0, two cycles after `key`.
    pub hash_low: Signal<Out, Bits<16>>,
    /// Hash of bank 1, two cycles after `key`.
    pub hash_high: Signal<Out, Bits<16>>,
    /// The tables are being rewritten.
    pub busy: Signal<Out, Bit>,

    read: DFF<Bit>,

    fill: ToeplitzFill,
    tables: [BlockRam<Bits<32>, 8>; KEY_BYTES],

    entry: Signal<Local, ToeplitzEntry>,
    parts: [Signal<Local, Bits<32>>; 8],
    sum: Signal<Local, Bits<32>>,
    #[value(|byte| 8 * byte as u64)]
    offsets: [Constant<Bits<9>>; KEY_BYTES],
    #[value(|byte| byte as u64)]
    numbers: [Constant<Bits<6>>; KEY_BYTES],
}

impl Logic for ToeplitzHash {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read);
        clock!(self, clock, fill);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.fill.settings);
        self.busy.next = self.fill.busy.val();
        self.entry.next = self.fill.write.payload.val();

        for i in 0..48 {
            self.tables[i].clock.next = self.clock.val();
            self.tables[i].read_enable.next = self.key_valid.val();
            self.tables[i].register_enable.next = self.read.q.val();
            self.tables[i].read_address.next =
                self.key.val().get_bits::<8>(self.offsets[i].val().index());
            self.tables[i].write_address.next = self.entry.val().address;
            self.tables[i].write_data.next = self.entry.val().data;
            self.tables[i].write_enable.next =
                self.fill.write.valid.val() & (self.entry.val().table == self.numbers[i].val());
        }
        for i in 0..8 {
            self.parts[i].next = self.tables[i].read_data.val()
                ^ self.tables[i + 8].read_data.val()
                ^ self.tables[i + 16].read_data.val()
                ^ self.tables[i + 24].read_data.val()
                ^ self.tables[i + 32].read_data.val()
                ^ self.tables[i + 40].read_data.val();
        }
        self.read.d.next = self.key_valid.val();
        self.sum.next = self.parts[0].val()
            ^ self.parts[1].val()
            ^ self.parts[2].val()
            ^ self.parts[3].val()
            ^ self.parts[4].val()
            ^ self.parts[5].val()
            ^ self.parts[6].val()
            ^ self.parts[7].val();
        self.hash_low.next = self.sum.val().get_bits::<16>(0);
        self.hash_high.next = self.sum.val().get_bits::<16>(16);
    }
}
