//! The highest levels that the queues of the requester, and the buffers at the MAC, have reached.
//!
//! ```text
//!  levels ──► 8 registers, each the largest value since reset ──► value of `index`
//! ```
//! Timing: a level counts one cycle later; `value` is combinational from `index`.
//!
//! Invariants:
//! 1. `reset` starts every peak at 0.
//!
//! Source: `abi::counters::PEAKS`.

use dma::activity::ActivitySink;
use stream::prelude::*;

/// One peak: the largest level since reset.
#[derive(LogicBlock, Default)]
pub struct Peak {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Sets the peak to 0.
    pub reset: Signal<In, Bit>,
    /// Level in this cycle.
    pub level: Signal<In, Bits<16>>,
    /// Largest level since reset, the last cycle included.
    pub highest: Signal<Out, Bits<16>>,

    held: DFF<Bits<16>>,
}

impl Logic for Peak {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        if self.level.val() > self.held.q.val() {
            self.held.d.next = self.level.val();
        }
        if self.reset.val() {
            self.held.d.next = bits::<16>(0);
        }
        self.highest.next = self.held.q.val();
    }
}

/// The peaks. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Peaks {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: every peak is set to 0.
    pub reset: Signal<In, Bit>,
    /// Levels of the requester.
    pub activity: ActivitySink,
    /// Beats in use in the packet buffer of the receive side.
    pub rx_buffer_beats: Signal<In, Bits<16>>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,
    /// Number of the peak to read, in the order of `abi::counters::PEAKS`.
    pub index: Signal<In, Bits<3>>,
    /// Value of peak `index`.
    pub value: Signal<Out, Bits<16>>,

    reads: Peak,
    headers: Peak,
    data: Peak,
    writes: Peak,
    beats: Peak,
    tags: Peak,
    rx_buffer: Peak,
    tx_fifo: Peak,
}

impl Logic for Peaks {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, reads, headers, data, writes, beats, tags);
        clock!(self, clock, rx_buffer, tx_fifo);
        self.reads.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.data.reset.next = self.reset.val();
        self.writes.reset.next = self.reset.val();
        self.beats.reset.next = self.reset.val();
        self.tags.reset.next = self.reset.val();
        self.rx_buffer.reset.next = self.reset.val();
        self.tx_fifo.reset.next = self.reset.val();
        self.reads.level.next = self.activity.reads_in_flight.val();
        self.headers.level.next = self.activity.completion_headers.val();
        self.data.level.next = self.activity.completion_data.val();
        self.writes.level.next = self.activity.writes_in_flight.val();
        self.beats.level.next = self.activity.write_beats.val();
        self.tags.level.next = self.activity.tags_quarantined.val();
        self.rx_buffer.level.next = self.rx_buffer_beats.val();
        self.tx_fifo.level.next = self.tx_fifo_beats.val();

        self.value.next = bits::<16>(0);
        if self.index.val() == bits::<3>(0) {
            self.value.next = self.reads.highest.val();
        } else if self.index.val() == bits::<3>(1) {
            self.value.next = self.headers.highest.val();
        } else if self.index.val() == bits::<3>(2) {
            self.value.next = self.data.highest.val();
        } else if self.index.val() == bits::<3>(3) {
            self.value.next = self.writes.highest.val();
        } else if self.index.val() == bits::<3>(4) {
            self.value.next = self.beats.highest.val();
        } else if self.index.val() == bits::<3>(5) {
            self.value.next = self.tags.highest.val();
        } else if self.index.val() == bits::<3>(6) {
            self.value.next = self.rx_buffer.highest.val();
        } else {
            self.value.next = self.tx_fifo.highest.val();
        }
    }
}
