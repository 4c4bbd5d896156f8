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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_table::toeplitz_fill::REWRITE_CYCLES;
    use abi::flow_key::SECRET_WORDS;
    use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};

    fn cycle(dut: &mut ToeplitzHash) {
        for high in [false, true] {
            dut.clock.next = Clock { clk: high };
            assert!(simulate(dut, 20));
        }
    }

    fn write(dut: &mut ToeplitzHash, address: u32, data: u32) {
        dut.settings.valid.next = true;
        dut.settings.payload.next = RegisterWrite {
            address: u64::from(address).into(),
            data: u64::from(data).into(),
        };
        cycle(dut);
        dut.settings.valid.next = false;
    }

    /// Cycles until the tables are written.
    fn filled(dut: &mut ToeplitzHash) -> u64 {
        let mut cycles = 0;
        while dut.busy.val() {
            assert!(cycles <= REWRITE_CYCLES, "the tables are never written");
            cycle(dut);
            cycles += 1;
        }
        cycles
    }

    fn check(dut: &mut ToeplitzHash, secrets: &[[u32; SECRET_WORDS]; 2]) {
        for seed in 0..12u64 {
            let key: [u8; KEY_BYTES] =
                std::array::from_fn(|at| (((at as u64 + 7) * (seed * 0x1_0035 + 3)) >> 3) as u8);
            let mut wide = Bits::<384>::default();
            for byte in key.iter().rev() {
                wide = (wide << 8) | bit_cast::<384, 8>(u64::from(*byte).into());
            }
            dut.key.next = wide;
            dut.key_valid.next = true;
            cycle(dut);
            dut.key.next = Default::default();
            dut.key_valid.next = false;
            cycle(dut);
            let (low, high) = (dut.hash_low.val().index(), dut.hash_high.val().index());
            assert_eq!(low, usize::from(abi::flow_key::hash(&key, &secrets[0])));
            assert_eq!(high, usize::from(abi::flow_key::hash(&key, &secrets[1])));
        }
    }

    #[test]
    fn hashes_are_those_of_the_contract() {
        let mut dut = ToeplitzHash::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        assert!(simulate(&mut dut, 20));
        assert_eq!(filled(&mut dut), REWRITE_CYCLES);
        check(&mut dut, &[[0; SECRET_WORDS]; 2]);

        let mut secrets = [[0u32; SECRET_WORDS]; 2];
        for (bank, words) in secrets.iter_mut().enumerate() {
            for (at, word) in words.iter_mut().enumerate() {
                *word = 0x9e37_79b9u32.wrapping_mul((16 * bank + at) as u32 + 1);
                let address = HASH_SECRET + bank as u32 * HASH_SECRET_STRIDE + 4 * at as u32;
                write(&mut dut, address, *word);
                assert!(dut.busy.val());
                // Neighbouring registers are not the secrets'.
                write(&mut dut, address + 4 * HASH_SECRET_STRIDE, !*word);
            }
        }
        filled(&mut dut);
        check(&mut dut, &secrets);

        // A write within the rewrite starts it again.
        secrets[0][12] ^= 0xffff;
        write(&mut dut, HASH_SECRET + 48, secrets[0][12]);
        (0..300).for_each(|_| cycle(&mut dut));
        secrets[1][0] ^= 1;
        write(&mut dut, HASH_SECRET + HASH_SECRET_STRIDE, secrets[1][0]);
        assert_eq!(filled(&mut dut), REWRITE_CYCLES);
        check(&mut dut, &secrets);
    }
}
