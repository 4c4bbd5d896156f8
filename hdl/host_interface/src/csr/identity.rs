//! Identification words: what the card is, and its state.
//!
//! ```text
//!  word ──►┌──────────┐──► value
//!  state ─►│ Identity │
//!          └──────────┘
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. Words past the last one read as 0.
//!
//! Source: `abi::registers`, 0x0000 to 0x003c.

use abi::config::CardConfig;
use abi::{registers as r, ABI_VERSION};
use stream::prelude::*;

/// What this card can do.
const FEATURES: u64 = (r::FEATURE_IPV6
    | r::FEATURE_TSO
    | r::FEATURE_PROFILES
    | r::FEATURE_PUSH
    | r::FEATURE_ARM
    | r::FEATURE_COALESCE) as u64;

/// The words. See the module's head.
///
/// The words of a card with these sizes.
#[derive(LogicBlock, BlockDefault)]
#[new(config: &CardConfig)]
pub struct Identity {
    /// Index of the 32-bit word to read.
    pub word: Signal<In, Bits<4>>,
    /// Current epoch.
    pub epoch: Signal<In, Bits<16>>,
    /// Bit 0: receive runs. Bit 1: send runs.
    pub enables: Signal<In, Bits<2>>,
    /// Value of the STATUS register.
    pub status: Signal<In, Bits<32>>,
    /// Value of the PCIE_STATE register.
    pub pcie_state: Signal<In, Bits<32>>,
    /// Identification word `word`.
    pub value: Signal<Out, Bits<32>>,

    #[value(u64::from(r::ID_VALUE))]
    id_value: Constant<Bits<32>>,
    #[value(u64::from(ABI_VERSION))]
    version_value: Constant<Bits<32>>,
    #[value(bytes_of([
        config.flow_bits,
        config.bucket_bits,
        config.segment_bits,
        config.region_bits,
    ]))]
    sizes_0: Constant<Bits<32>>,
    #[value(bytes_of([config.page_bits, config.owner_bits, 0, 0]))]
    sizes_1: Constant<Bits<32>>,
    #[value(FEATURES)]
    features: Constant<Bits<32>>,
}

fn bytes_of(values: [usize; 4]) -> u64 {
    values.iter().enumerate().fold(0, |word, (at, &value)| word | (value as u64) << (8 * at))
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
        } else if self.word.val() == bits::<4>(12) {
            self.value.next = self.pcie_state.val();
        }
    }
}
