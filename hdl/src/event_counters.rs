//! Eight 64-bit counters, each with a pulse of its own.
//!
//! Timing: a pulse is counted one cycle later; `value` is combinational from `index`.
//!
//! Invariants:
//! 1. Each cycle with bit i of `events` high adds one to counter i; all eight may count at once.
//! 2. Counters start at zero and are never reset.

use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock)]
pub struct EventCounters {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// One pulse for each counter.
    pub events: Signal<In, Bits<8>>,
    /// Counter to read.
    pub index: Signal<In, Bits<3>>,
    /// Its value.
    pub value: Signal<Out, Bits<64>>,

    count: [DFF<Bits<64>>; 8],
    number: [Constant<Bits<3>>; 8],
    one: Constant<Bits<64>>,
}

impl Default for EventCounters {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            events: Default::default(),
            index: Default::default(),
            value: Default::default(),
            count: Default::default(),
            number: std::array::from_fn(|at| Constant::new((at as u64).to_bits())),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.value.next = self.count[0].q.val();
        for i in 0..8 {
            self.count[i].clock.next = self.clock.val();
            self.count[i].d.next = self.count[i].q.val();
            if self.events.val().get_bit(i) {
                self.count[i].d.next = self.count[i].q.val() + self.one.val();
            }
            if self.index.val() == self.number[i].val() {
                self.value.next = self.count[i].q.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counts_its_own_pulses() {
        let mut dut = EventCounters::default();
        dut.connect_all();
        check_all(&dut).expect("checks");
        for cycle in 0..40u64 {
            dut.clock.next = Clock { clk: false };
            // Event i comes every i + 1 cycles.
            let events = (0..8)
                .filter(|i| cycle % (i + 1) == 0)
                .fold(0u64, |all, i| all | 1 << i);
            dut.events.next = events.to_bits();
            assert!(simulate(&mut dut, 20));
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        for i in 0..8u64 {
            dut.index.next = i.to_bits();
            assert!(simulate(&mut dut, 20));
            assert_eq!(dut.value.val().to_u64(), 40u64.div_ceil(i + 1));
        }
    }
}
