//! What is known of an image only when it is built: hash of the sources, time, slot.
//!
//! ```text
//!   defines of the build ──► hash, built, slot
//! ```
//! The emitted text holds none of them: `ZERONIC_GIT_HASH`, `ZERONIC_BUILD_SECONDS` and
//! `ZERONIC_IMAGE_SLOT` are given to the synthesis (`-verilog_define`); without one it is zero.
//!
//! Timing: constants.

use stream::prelude::*;

/// The words. See the module's head.
#[derive(LogicBlock, Default)]
pub struct BuildWords {
    /// Git hash of the sources, its first digit in bits 159:156.
    pub hash: Signal<Out, Bits<160>>,
    /// Seconds since 1970.
    pub built: Signal<Out, Bits<32>>,
    /// Slot of the flash that the image is built for.
    pub image_slot: Signal<Out, Bits<32>>,
}

impl Logic for BuildWords {
    fn update(&mut self) {
        self.hash.next = Bits::<160>::default();
        self.built.next = Bits::<32>::default();
        self.image_slot.next = Bits::<32>::default();
    }

    fn connect(&mut self) {
        self.hash.connect();
        self.built.connect();
        self.image_slot.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "\
`ifndef ZERONIC_GIT_HASH
`define ZERONIC_GIT_HASH 160'h0
`endif
`ifndef ZERONIC_BUILD_SECONDS
`define ZERONIC_BUILD_SECONDS 32'd0
`endif
`ifndef ZERONIC_IMAGE_SLOT
`define ZERONIC_IMAGE_SLOT 32'd0
`endif
assign hash = `ZERONIC_GIT_HASH;
assign built = `ZERONIC_BUILD_SECONDS;
assign image_slot = `ZERONIC_IMAGE_SLOT;
"
            .to_owned(),
            cores: String::new(),
        })
    }
}
