//! The harness itself, shown on a block small enough to check by eye.
//!
//! ```text
//!   number (message) ──> Increment: one register ──> result (message) = number + 1
//! ```

use std::collections::VecDeque;

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;
use seed::seed;
use sim::harness::bench::Bench;
use sim::harness::monitor::StreamMonitor;
use sim::harness::sink::MessageSink;
use sim::harness::source::MessageSource;
use sim::harness::stall::Stall;

#[derive(Clone, Debug, Default, LogicInterface)]
struct NumberIn {
    valid: Signal<In, Bit>,
    ready: Signal<Out, Bit>,
    payload: Signal<In, Bits<16>>,
}

#[derive(Clone, Debug, Default, LogicInterface)]
struct NumberOut {
    valid: Signal<Out, Bit>,
    ready: Signal<In, Bit>,
    payload: Signal<Out, Bits<16>>,
}

#[derive(LogicBlock, Default)]
struct Increment {
    clock: Signal<In, Clock>,
    number: NumberIn,
    result: NumberOut,
    sum: Signal<Local, Bits<16>>,
    take: Signal<Local, Bit>,
    full: DFF<Bit>,
    value: DFF<Bits<16>>,
}

impl Logic for Increment {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, value);
        self.sum.next = self.number.payload.val() + 1;
        self.take.next = !self.full.q.val() | self.result.ready.val();
        self.number.ready.next = self.take.val();
        self.result.valid.next = self.full.q.val();
        self.result.payload.next = self.value.q.val();
        if self.take.val() {
            self.full.d.next = self.number.valid.val();
            self.value.d.next = self.sum.val();
        }
    }
}

#[test]
fn results_follow_numbers_under_all_stalls() {
    Stall::matrix(seed(), |source_stall, sink_stall, seed| {
        let mut bench = Bench::of(&mut Increment::default(), "increment").expect("builds");
        let mut source = MessageSource::new(&bench.model, "number", source_stall, seed);
        let mut sink = MessageSink::new(&bench.model, "result", sink_stall, seed);
        let mut monitor = StreamMonitor::new(&bench.model, "result");
        let numbers: Vec<u64> = (0..200).map(|i| (i * 331) & 0xffff).chain([0xffff]).collect();
        numbers.iter().for_each(|number| source.push_u64(*number));
        while sink.messages.len() < numbers.len() {
            bench.cycle(&mut [&mut source, &mut sink, &mut monitor]);
            assert!(bench.now() < 20_000, "{} results after 20,000 cycles", sink.messages.len());
        }
        for number in numbers {
            assert_eq!(sink.pop_u64(), Some((number + 1) & 0xffff));
        }
        monitor.assert_clean();
    });
}

#[test]
fn both_simulators_agree_cycle_by_cycle() {
    let mut rust = Increment::default();
    let mut bench = Bench::of(&mut rust, "increment").expect("builds");
    let (mut state, mut trace) = (seed() | 1, VecDeque::new());
    for _ in 0..500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (valid, ready, payload) =
            (state >> 63 == 1, (state >> 62) & 1 == 1, state >> 40 & 0xffff);
        bench.set("number$valid", u64::from(valid));
        bench.set("result$ready", u64::from(ready));
        bench.set("number$payload", payload);
        rust.number.valid.next = valid;
        rust.result.ready.next = ready;
        rust.number.payload.next = payload.into();
        rust.clock.next = Clock { clk: false };
        assert!(simulate(&mut rust, 100));
        trace.push_back((valid, ready, payload));
        assert_eq!(bench.get("result$valid") == 1, rust.result.valid.val(), "{trace:?}");
        assert_eq!(bench.get("number$ready") == 1, rust.number.ready.val(), "{trace:?}");
        assert_eq!(bench.get("result$payload"), rust.result.payload.val().index() as u64);
        rust.clock.next = Clock { clk: true };
        assert!(simulate(&mut rust, 100));
        bench.cycle(&mut []);
    }
}
