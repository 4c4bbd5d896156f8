//! Identification words: what a card is, and how it stands.
//!
//! ```text
//!  word ──►┌──────────┐──► value
//!  state ─►│ Identity │
//!          └──────────┘
//! ```
//! Timing: combinational. Words beyond the last read as 0.
//!
//! Source: `abi::registers`, 0x0000 to 0x001c.

use abi::config::CardConfig;
use abi::{registers as r, ABI_VERSION};
use stream::prelude::*;

/// The words. See the module's head.
#[derive(LogicBlock)]
pub struct Identity {
    /// Index of the 32-bit word.
    pub word: Signal<In, Bits<4>>,
    /// Epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Receive and send run.
    pub enables: Signal<In, Bits<2>>,
    /// STATUS word.
    pub status: Signal<In, Bits<32>>,
    /// The word.
    pub value: Signal<Out, Bits<32>>,

    id_value: Constant<Bits<32>>,
    version_value: Constant<Bits<32>>,
    sizes_0: Constant<Bits<32>>,
    sizes_1: Constant<Bits<32>>,
    features: Constant<Bits<32>>,
}

fn bytes_of(values: [usize; 4]) -> u64 {
    values
        .iter()
        .enumerate()
        .fold(0, |word, (at, &value)| word | (value as u64) << (8 * at))
}

impl Identity {
    /// The words of a card with these sizes.
    pub fn new(config: &CardConfig) -> Self {
        let sizes_0 = [
            config.flow_bits,
            config.bucket_bits,
            config.segment_bits,
            config.region_bits,
        ];
        let sizes_1 = [config.page_bits, config.owner_bits, 0, 0];
        let features = r::FEATURE_IPV6 | r::FEATURE_TSO | r::FEATURE_PROFILES | r::FEATURE_PUSH;
        Self {
            word: Default::default(),
            epoch: Default::default(),
            enables: Default::default(),
            status: Default::default(),
            value: Default::default(),
            id_value: Constant::new(u64::from(r::ID_VALUE).to_bits()),
            version_value: Constant::new(u64::from(ABI_VERSION).to_bits()),
            sizes_0: Constant::new(bytes_of(sizes_0).to_bits()),
            sizes_1: Constant::new(bytes_of(sizes_1).to_bits()),
            features: Constant::new(u64::from(features).to_bits()),
        }
    }
}

impl Logic for Identity {
    #[hdl_gen]
    fn update(&mut self) {
        self.value.next = bits::<32>(0);
        if self.word.val() == bits::<4>(0) {
            self.value.next = self.id_value.val();
        } else if self.word.val() == bits::<4>(1) {
            self.value.next = self.version_value.val();
        } else if self.word.val() == bits::<4>(2) {
            self.value.next = self.sizes_0.val();
        } else if self.word.val() == bits::<4>(3) {
            self.value.next = self.sizes_1.val();
        } else if self.word.val() == bits::<4>(4) {
            self.value.next = self.features.val();
        } else if self.word.val() == bits::<4>(5) {
            self.value.next = bit_cast::<32, 16>(self.epoch.val());
        } else if self.word.val() == bits::<4>(6) {
            self.value.next = bit_cast::<32, 2>(self.enables.val());
        } else if self.word.val() == bits::<4>(7) {
            self.value.next = self.status.val();
        }
    }
}
