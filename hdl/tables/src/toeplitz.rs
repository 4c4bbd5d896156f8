//! The keyed hash of one bank, with its secret.
//!
//! ```text
//!  settings ──► 13 words ──► secret (416 bits)
//!                              │ window i = secret >> i
//!  key (384) ────────────────► & ──► parity ──► hash bit i
//! ```
//! Timing: `hash` belongs to the `key` of one cycle before. The secret is quasi-static: a word
//! written counts from the next cycle on, and software writes it before the first key.
//!
//! Model: `abi::flow_key::hash`.

use abi::flow_key::{KEY_BYTES, SECRET_BITS, SECRET_WORDS};
use abi::registers::{HASH_SECRET, HASH_SECRET_STRIDE};
use stream::prelude::*;

const _: () = assert!(SECRET_WORDS == 13 && KEY_BYTES * 8 == 384 && SECRET_BITS <= 416);

/// The hash. See the module's head.
#[derive(LogicBlock)]
pub struct ToeplitzHash {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Register writes; the secret is taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// Key, byte 0 in bits 7:0.
    pub key: Signal<In, Bits<384>>,
    /// Its hash, one cycle later.
    pub hash: Signal<Out, Bits<16>>,

    words: [DFF<Bits<32>>; SECRET_WORDS],
    result: DFF<Bits<16>>,

    secret: Signal<Local, Bits<416>>,
    parity: [Signal<Local, Bits<1>>; 16],
    addresses: [Constant<Bits<24>>; SECRET_WORDS],
}

impl ToeplitzHash {
    /// The hash of one bank.
    pub fn new(bank: u32) -> Self {
        let base = HASH_SECRET + bank * HASH_SECRET_STRIDE;
        Self {
            clock: Default::default(),
            settings: Default::default(),
            key: Default::default(),
            hash: Default::default(),
            words: Default::default(),
            result: Default::default(),
            secret: Default::default(),
            parity: Default::default(),
            addresses: std::array::from_fn(|word| {
                Constant::new((u64::from(base) + 4 * word as u64).to_bits())
            }),
        }
    }
}

impl Logic for ToeplitzHash {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, result);
        for i in 0..13 {
            self.words[i].clock.next = self.clock.val();
            self.words[i].d.next = self.words[i].q.val();
            if self.settings.valid.val()
                & (self.settings.payload.val().address == self.addresses[i].val())
            {
                self.words[i].d.next = self.settings.payload.val().data;
            }
        }
        self.secret.next = bit_cast::<416, 32>(self.words[0].q.val())
            | (bit_cast::<416, 32>(self.words[1].q.val()) << 32)
            | (bit_cast::<416, 32>(self.words[2].q.val()) << 64)
            | (bit_cast::<416, 32>(self.words[3].q.val()) << 96)
            | (bit_cast::<416, 32>(self.words[4].q.val()) << 128)
            | (bit_cast::<416, 32>(self.words[5].q.val()) << 160)
            | (bit_cast::<416, 32>(self.words[6].q.val()) << 192)
            | (bit_cast::<416, 32>(self.words[7].q.val()) << 224)
            | (bit_cast::<416, 32>(self.words[8].q.val()) << 256)
            | (bit_cast::<416, 32>(self.words[9].q.val()) << 288)
            | (bit_cast::<416, 32>(self.words[10].q.val()) << 320)
            | (bit_cast::<416, 32>(self.words[11].q.val()) << 352)
            | (bit_cast::<416, 32>(self.words[12].q.val()) << 384);
        for i in 0..16 {
            self.parity[i].next = (self.key.val() & self.secret.val().get_bits::<384>(i))
                .xor()
                .into();
        }
        self.result.d.next = bit_cast::<16, 1>(self.parity[0].val())
            | (bit_cast::<16, 1>(self.parity[1].val()) << 1)
            | (bit_cast::<16, 1>(self.parity[2].val()) << 2)
            | (bit_cast::<16, 1>(self.parity[3].val()) << 3)
            | (bit_cast::<16, 1>(self.parity[4].val()) << 4)
            | (bit_cast::<16, 1>(self.parity[5].val()) << 5)
            | (bit_cast::<16, 1>(self.parity[6].val()) << 6)
            | (bit_cast::<16, 1>(self.parity[7].val()) << 7)
            | (bit_cast::<16, 1>(self.parity[8].val()) << 8)
            | (bit_cast::<16, 1>(self.parity[9].val()) << 9)
            | (bit_cast::<16, 1>(self.parity[10].val()) << 10)
            | (bit_cast::<16, 1>(self.parity[11].val()) << 11)
            | (bit_cast::<16, 1>(self.parity[12].val()) << 12)
            | (bit_cast::<16, 1>(self.parity[13].val()) << 13)
            | (bit_cast::<16, 1>(self.parity[14].val()) << 14)
            | (bit_cast::<16, 1>(self.parity[15].val()) << 15);
        self.hash.next = self.result.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(dut: &mut ToeplitzHash, high: bool) {
        dut.clock.next = Clock { clk: high };
        assert!(simulate(dut, 20));
    }

    #[test]
    fn hash_is_that_of_the_contract() {
        let mut dut = ToeplitzHash::new(1);
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut secret = [0u32; SECRET_WORDS];
        for (at, word) in secret.iter_mut().enumerate() {
            *word = 0x9e37_79b9u32.wrapping_mul(at as u32 + 1);
            for bank in 0..2 {
                // The other bank's words must not arrive here.
                let address = HASH_SECRET + bank * HASH_SECRET_STRIDE + 4 * at as u32;
                edge(&mut dut, false);
                dut.settings.valid.next = true;
                dut.settings.payload.next = RegisterWrite {
                    address: u64::from(address).into(),
                    data: u64::from(*word & (0u32.wrapping_sub(bank))).into(),
                };
                edge(&mut dut, true);
            }
        }
        dut.settings.valid.next = false;
        for seed in 0..6u64 {
            let key: [u8; KEY_BYTES] =
                std::array::from_fn(|at| (((at as u64 + 7) * (seed * 0x1_0035 + 3)) >> 3) as u8);
            let mut wide = Bits::<384>::default();
            for byte in key.iter().rev() {
                wide = (wide << 8) | bit_cast::<384, 8>(u64::from(*byte).into());
            }
            edge(&mut dut, false);
            dut.key.next = wide;
            edge(&mut dut, true);
            let expected = abi::flow_key::hash(&key, &secret);
            assert_eq!(dut.hash.val().index(), usize::from(expected));
        }
    }
}
