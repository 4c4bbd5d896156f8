//! The bundles between blocks, and the only buffers and clock crossings of the card.
//!
//! | bundle | for | back-pressure |
//! |---|---|---|
//! | [`packet::PacketSource`] | bytes of whole packets, up to 64 in a beat | valid/ready |
//! | [`message::MessageSource`] | one struct per handshake | valid/ready |
//! | [`pulse::PulseSource`] | one struct per cycle, taken at once | none |
//!
//! [`rotate`] and [`masked_beat`] rotate and mask the bytes of beats for all crates.
//!
//! Blocks of the other crates import everything through [`prelude`].

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod async_fifo;
pub mod block_fifo;
pub mod block_ram;
pub mod count_crossing;
pub mod counter_events;
pub mod counters;
pub mod deep_fifo;
pub mod fifo;
pub mod fifo_pointers;
pub mod frame_fifo;
pub mod masked_beat;
pub mod memory;
pub mod message;
pub mod messages;
pub mod packet;
pub mod peak_crossing;
pub mod pulse;
pub mod pulse_merge;
pub mod read_ahead;
pub mod register_slice;
pub mod rotate;
pub mod same_bits;
pub mod through_fifo;
pub mod value_crossing;

/// The one import of a block file: rust-hdl, its derives and ours, bundles, messages and buffers.
pub mod prelude {
    /// A block that derives its `Default`:
    ///
    /// ```
    /// use stream::prelude::*;
    ///
    /// #[derive(LogicBlock, BlockDefault)]
    /// #[require(BITS <= 16, "an index has at most 16 bits")]
    /// pub struct Wrap<const BITS: usize> {
    ///     pub clock: Signal<In, Clock>,
    ///     count: DFF<Bits<BITS>>,
    ///     #[value((1u64 << BITS) - 1)]
    ///     last: Constant<Bits<BITS>>,
    ///     #[value(|lane| 8 * lane as u64)]
    ///     offsets: [Constant<Bits<9>>; 64],
    /// }
    /// # impl<const BITS: usize> Logic for Wrap<BITS> {
    /// #     fn update(&mut self) {}
    /// # }
    ///
    /// let block = Wrap::<4>::default();
    /// assert_eq!(block.last.val(), 15);
    /// assert_eq!(block.offsets[63].val(), 504);
    /// ```
    ///
    /// One with an argument:
    ///
    /// ```
    /// # use stream::prelude::*;
    /// /// Gives up after `cycles` cycles.
    /// #[derive(LogicBlock, BlockDefault)]
    /// #[new(cycles: u64)]
    /// #[require(cycles > 1, "{cycles} cycles are too few")]
    /// pub struct Timer {
    ///     pub clock: Signal<In, Clock>,
    ///     #[value(cycles - 1)]
    ///     last: Constant<Bits<16>>,
    /// }
    /// # impl Logic for Timer {
    /// #     fn update(&mut self) {}
    /// # }
    ///
    /// assert_eq!(Timer::new(100).last.val(), 99);
    /// ```
    ///
    /// A constant without a value does not compile:
    ///
    /// ```compile_fail
    /// # use stream::prelude::*;
    /// #[derive(BlockDefault)]
    /// struct Step {
    ///     one: Constant<Bits<4>>,
    /// }
    /// ```
    ///
    /// Nor does a value of another type than the field's, here a `u32` where a `u64` becomes
    /// `Bits`:
    ///
    /// ```compile_fail
    /// # use stream::prelude::*;
    /// #[derive(BlockDefault)]
    /// struct Step {
    ///     #[value(1u32)]
    ///     one: Constant<Bits<4>>,
    /// }
    /// ```
    pub use block_default::BlockDefault;
    pub use rust_hdl_core::prelude::*;
    pub use rust_hdl_macros::{hdl_gen, LogicBlock, LogicInterface, LogicState, LogicStruct};
    pub use rust_hdl_widgets::dff::DFF;
    pub use rust_hdl_widgets::dff_setup;

    pub use crate::async_fifo::{AsyncFifo, Synchronizer};
    pub use crate::block_fifo::BlockFifo;
    pub use crate::block_ram::BlockRam;
    pub use crate::count_crossing::CountCrossing;
    pub use crate::counter_events::{
        BoardEvents, FaultEvents, LatencyEvents, PathEndEvents, ReadEvents, RequestEvents,
        RunEvents, WireEvents, WorkEvents,
    };
    pub use crate::counters::CounterBank;
    pub use crate::deep_fifo::DeepFifo;
    pub use crate::fifo::Fifo;
    pub use crate::fifo_pointers::{FifoPointers, SamePlace, StepMeets};
    pub use crate::frame_fifo::FrameFifo;
    pub use crate::masked_beat::MaskedBeat;
    pub use crate::memory::{EightPortRam, LutRam, PairRam};
    pub use crate::message::{MessageSink, MessageSource};
    pub use crate::messages::*;
    pub use crate::packet::{PacketSink, PacketSource};
    pub use crate::peak_crossing::PeakCrossing;
    pub use crate::pulse::{PulseSink, PulseSource};
    pub use crate::read_ahead::ReadAhead;
    pub use crate::register_slice::RegisterSlice;
    pub use crate::rotate::{Rotate, RotateBlock, RotateDwords, RotateStage};
    pub use crate::same_bits::SameBits;
    pub use crate::through_fifo::ThroughFifo;
    pub use crate::value_crossing::ValueCrossing;
}
