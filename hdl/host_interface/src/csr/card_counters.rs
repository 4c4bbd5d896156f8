//! Every counter of the card, and the word that a read of one returns.
//!
//! ```text
//!  drop, disposition, send error ──►┌──────────────┐
//!  events of the stages, activity ─►│ CardCounters │──► value
//!               address, reading ──►└──────────────┘
//! ```
//! Timing: `value` belongs to the `address` of the cycle before. A pulse shows after at most 16
//! cycles.
//!
//! Invariants:
//! 1. Each pulse is counted once. Counters are never reset; peaks start at 0 in each epoch.
//! 2. Reading a low word latches the high word; reading a high word returns what is latched.
//!
//! Source: `abi::counters`.

use abi::counters as c;
use abi::reason::{Disposition, DropReason, SendError};

use crate::csr::event_counters::EventCounters;
use crate::csr::peaks::Peaks;
use dma::activity::ActivitySink;
use stream::prelude::*;

/// Groups of stage counters.
const GROUPS: usize = c::COUNTER_GROUPS.len();
const _: () = assert!(GROUPS == 9, "the kernel joins nine groups");

/// The counters. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CardCounters {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// An epoch begins: peaks start at 0, counters keep their values.
    pub reset: Signal<In, Bit>,

    /// Reason of each dropped frame.
    pub drop_count: PulseSink<DropCode>,
    /// Disposition of each delivered packet.
    pub disposition_count: PulseSink<DispositionCode>,
    /// Error of each failed send.
    pub send_error_count: PulseSink<SendErrorCode>,
    /// Events of the counter group "work".
    pub work: Signal<In, WorkEvents>,
    /// Events of the counter group "faults".
    pub faults: Signal<In, FaultEvents>,
    /// Events of the requester port.
    pub requests: Signal<In, RequestEvents>,
    /// Events at the ends of the data path.
    pub path_ends: Signal<In, PathEndEvents>,
    /// Events of the wire and the MAC.
    pub wire_events: Signal<In, WireEvents>,
    /// Events of the board window and the PCIe hard block.
    pub board_events: Signal<In, BoardEvents>,
    /// Events of runs of received packets.
    pub run_events: Signal<In, RunEvents>,
    /// Beats in use in the packet buffer of the receive side.
    pub rx_buffer_beats: Signal<In, Bits<16>>,
    /// Beats that wait for the MAC.
    pub tx_fifo_beats: Signal<In, Bits<16>>,
    /// Event groups and levels of the requester.
    pub activity: ActivitySink,

    /// Byte offset in BAR 0 of the word that is read.
    pub address: Signal<In, Bits<24>>,
    /// A read takes place in this cycle; a low word latches its high word.
    pub reading: Signal<In, Bit>,
    /// Counter word at the `address` of the cycle before.
    pub value: Signal<Out, Bits<32>>,

    drops: CounterBank<{ DropReason::CODE_BITS }>,
    dispositions: CounterBank<{ Disposition::CODE_BITS }>,
    send_errors: CounterBank<{ SendError::CODE_BITS }>,
    groups: [EventCounters; GROUPS],
    peaks: Peaks,
    picked: DFF<Bits<64>>,
    latched_high: DFF<Bits<32>>,

    bank: Signal<Local, Bits<64>>,
    stage: Signal<Local, Bits<64>>,
    group: Signal<Local, Bits<6>>,
    #[value(GROUPS as u64 | (c::PEAKS.len() as u64) << 8)]
    info: Constant<Bits<64>>,
    #[value(|at| {
        let offset = (c::COUNTERS_STAGE - c::COUNTERS_DROP) / c::COUNTER_GROUP_STRIDE;
        u64::from(offset) + at as u64
    })]
    group_number: [Constant<Bits<6>>; GROUPS],
}

impl Logic for CardCounters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, picked, latched_high);
        clock!(self, clock, drops, dispositions, send_errors, peaks);
        self.peaks.reset.next = self.reset.val();
        PulseSink::<DropCode>::link(&mut self.drop_count, &mut self.drops.count);
        PulseSink::<DispositionCode>::link(
            &mut self.disposition_count,
            &mut self.dispositions.count,
        );
        PulseSink::<SendErrorCode>::link(&mut self.send_error_count, &mut self.send_errors.count);
        // In the order of `COUNTER_GROUPS`.
        self.groups[0].events.next = self.work.val().into();
        self.groups[1].events.next = self.faults.val().into();
        self.groups[2].events.next = self.requests.val().into();
        self.groups[3].events.next = self.activity.reads.val().into();
        self.groups[4].events.next = self.activity.latency.val().into();
        self.groups[5].events.next = bit_cast::<8, 6>(self.path_ends.val().into());
        self.groups[6].events.next = self.wire_events.val().into();
        self.groups[7].events.next = bit_cast::<8, 4>(self.board_events.val().into());
        self.groups[8].events.next = self.run_events.val().into();
        ActivitySink::link(&mut self.activity, &mut self.peaks.activity);
        self.peaks.rx_buffer_beats.next = self.rx_buffer_beats.val();
        self.peaks.tx_fifo_beats.next = self.tx_fifo_beats.val();

        self.drops.read_index.next = self.address.val().get_bits::<4>(3);
        self.dispositions.read_index.next = self.address.val().get_bits::<4>(3);
        self.send_errors.read_index.next = self.address.val().get_bits::<3>(3);
        self.peaks.index.next = self.address.val().get_bits::<3>(3);
        self.group.next = self.address.val().get_bits::<6>(6);
        self.stage.next = bits::<64>(0);
        for i in 0..9 {
            self.groups[i].clock.next = self.clock.val();
            self.groups[i].index.next = self.address.val().get_bits::<3>(3);
            if self.group.val() == self.group_number[i].val() {
                self.stage.next = self.groups[i].value.val();
            }
        }
        self.bank.next = self.stage.val();
        if self.address.val().get_bits::<5>(7) == bits::<5>(0) {
            self.bank.next = self.drops.read_value.val();
        } else if self.address.val().get_bits::<5>(7) == bits::<5>(2) {
            self.bank.next = self.dispositions.read_value.val();
        } else if self.address.val().get_bits::<6>(6) == bits::<6>(8) {
            self.bank.next = self.send_errors.read_value.val();
        } else if self.address.val().get_bits::<6>(6) == bits::<6>(0x20) {
            self.bank.next = bit_cast::<64, 16>(self.peaks.value.val());
        } else if self.address.val().get_bits::<9>(3) == bits::<9>(0x1e0) {
            self.bank.next = self.info.val();
        }
        self.picked.d.next = self.bank.val();

        self.value.next = self.picked.q.val().get_bits::<32>(0);
        if self.address.val().get_bit(2) {
            self.value.next = self.latched_high.q.val();
        }
        if self.reading.val() & !self.address.val().get_bit(2) {
            self.latched_high.d.next = self.picked.q.val().get_bits::<32>(32);
        }
    }
}
