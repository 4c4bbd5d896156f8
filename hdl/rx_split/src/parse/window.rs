//! Second part of the parser: cuts the L4 header out of the first three beats.
//!
//! ```text
//!  first 3 beats ──► shift by 0, 16, 32, 48 bytes ──► by 0, 4, 8, 12 ──► 72 bytes from L4
//! ```
//! Timing: latency three cycles from the frame's third beat, or from its last if it has fewer; no
//! back-pressure.
//!
//! Invariants:
//! 1. One pulse per frame, in order.
//! 2. Bytes past the end of a short frame are stale; consumers must check lengths first.
//! 3. Without TCP or UDP the bytes are undefined; consumers ignore them.

use crate::messages::{NetworkInfo, RxBeat};
use stream::prelude::*;

/// Bytes 34 to 153 of a frame: every place where an L4 header can lie.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct HeaderWindow {
    /// Bytes 34 to 63, of the first beat.
    pub beat0: Bits<240>,
    /// Bytes 64 to 127, the second beat.
    pub beat1: Bits<512>,
    /// Bytes 128 to 153, of the third beat.
    pub beat2: Bits<208>,
}

/// An L4 header and what is known from the headers before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TransportHeader {
    /// 72 bytes from the L4 header on.
    pub bytes: Bits<576>,
    /// Contents of the headers before the L4 header.
    pub network: NetworkInfo,
}

/// The cut. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Window {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Beats after the first part of the parser.
    pub beats: PulseSink<RxBeat>,
    /// What the frame's first beat holds, from its first to its last beat.
    pub network: Signal<In, NetworkInfo>,
    /// One pulse for each frame: 72 bytes from the L4 header on.
    pub header: PulseSource<TransportHeader>,

    beat0: DFF<Bits<512>>,
    beat1: DFF<Bits<512>>,
    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    valid_3: DFF<Bit>,
    window_1: DFF<Bits<960>>,
    network_1: DFF<NetworkInfo>,
    window_2: DFF<Bits<672>>,
    network_2: DFF<NetworkInfo>,
    shift_2: DFF<Bits<2>>,
    header_3: DFF<TransportHeader>,

    data: Signal<Local, Bits<512>>,
    index: Signal<Local, Bits<8>>,
    first_beat: Signal<Local, Bits<512>>,
    second_beat: Signal<Local, Bits<512>>,
    window: Signal<Local, HeaderWindow>,
    from: Signal<Local, Bits<8>>,
    coarse: Signal<Local, Bits<2>>,
}

impl Logic for Window {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat0, beat1, valid_1, valid_2, valid_3, window_1);
        dff_setup!(self, clock, network_1, window_2, network_2, shift_2, header_3);
        self.header.valid.next = self.valid_3.q.val();
        self.header.payload.next = self.header_3.q.val();

        // Collect: the window is complete with the third beat, or with the last.
        self.data.next = self.beats.payload.val().data;
        self.index.next = self.beats.payload.val().index;
        self.first_beat.next = self.beat0.q.val();
        self.second_beat.next = self.beat1.q.val();
        if self.index.val() == 0 {
            self.first_beat.next = self.data.val();
        }
        if self.index.val() == 1 {
            self.second_beat.next = self.data.val();
        }
        if self.beats.valid.val() & (self.index.val() == 0) {
            self.beat0.d.next = self.data.val();
        }
        if self.beats.valid.val() & (self.index.val() == 1) {
            self.beat1.d.next = self.data.val();
        }
        self.window.next.beat0 = self.first_beat.val().get_bits::<240>(272);
        self.window.next.beat1 = self.second_beat.val();
        self.window.next.beat2 = self.data.val().get_bits::<208>(0);
        // The window is complete with the third beat at the latest.
        if self.beats.valid.val() & !self.index.val().get_bits::<6>(2).any() {
            self.window_1.d.next = self.window.val().into();
            self.network_1.d.next = self.network.val();
        }
        self.valid_1.d.next = self.beats.valid.val()
            & ((self.index.val() == 2) | (self.beats.payload.val().last & (self.index.val() < 2)));

        // Shift by multiples of 16 bytes, then of 4: L4 begins at byte 34 or up to 48 bytes later.
        self.from.next = self.network_1.q.val().l4_offset - 34;
        self.coarse.next = self.from.val().get_bits::<2>(4);
        if self.valid_1.q.val() {
            self.shift_2.d.next = self.from.val().get_bits::<2>(2);
            self.network_2.d.next = self.network_1.q.val();
            self.window_2.d.next = self.window_1.q.val().get_bits::<672>(0);
            if self.coarse.val() == 1 {
                self.window_2.d.next = self.window_1.q.val().get_bits::<672>(128);
            }
            if self.coarse.val() == 2 {
                self.window_2.d.next = self.window_1.q.val().get_bits::<672>(256);
            }
            if self.coarse.val() == 3 {
                self.window_2.d.next =
                    bit_cast::<672, 576>(self.window_1.q.val().get_bits::<576>(384));
            }
        }
        self.valid_2.d.next = self.valid_1.q.val();

        if self.valid_2.q.val() {
            self.header_3.d.next.network = self.network_2.q.val();
            self.header_3.d.next.bytes = self.window_2.q.val().get_bits::<576>(0);
            if self.shift_2.q.val() == 1 {
                self.header_3.d.next.bytes = self.window_2.q.val().get_bits::<576>(32);
            }
            if self.shift_2.q.val() == 2 {
                self.header_3.d.next.bytes = self.window_2.q.val().get_bits::<576>(64);
            }
            if self.shift_2.q.val() == 3 {
                self.header_3.d.next.bytes = self.window_2.q.val().get_bits::<576>(96);
            }
        }
        self.valid_3.d.next = self.valid_2.q.val();
    }
}
