//! The emitted Verilog means what rust-hdl simulates: the same random inputs into both, every
//! output compared before and after every clock edge.
//!
//! ```text
//!   random inputs ─┬─> rust-hdl's simulator ──> outputs ─┐
//!                  └─> Verilog ──> Verilator ─> outputs ─┴─ equal?
//! ```
//!
//! `Traps` holds the expressions of which rust-hdl's own emitter changes the meaning.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod cosim;
mod random;

use cosim::cosim;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    Run,
    Stop,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct Pair {
    low: Bits<5>,
    flag: Bit,
    high: Bits<7>,
}

#[derive(LogicBlock)]
struct Traps {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    by: Signal<In, Bits<4>>,
    wide: Signal<In, Bits<100>>,
    at: Signal<In, Bits<6>>,
    c: Signal<In, Bit>,

    cast_sum: Signal<Out, Bits<16>>,
    cast_not: Signal<Out, Bits<16>>,
    cast_difference: Signal<Out, Bits<16>>,
    sum_equals: Signal<Out, Bit>,
    difference_less: Signal<Out, Bit>,
    difference_less_cast: Signal<Out, Bit>,
    sum_halved: Signal<Out, Bits<8>>,
    shifted_compared: Signal<Out, Bit>,
    mixed: Signal<Out, Bit>,
    xor_or_and: Signal<Out, Bits<8>>,
    narrow_sum: Signal<Out, Bits<4>>,
    narrow_shift: Signal<Out, Bits<3>>,
    sum_slice: Signal<Out, Bits<3>>,
    every: Signal<Out, Bit>,
    any: Signal<Out, Bit>,
    parity: Signal<Out, Bit>,
    negated: Signal<Out, Bits<8>>,
    picked: Signal<Out, Bits<40>>,
    one_bit: Signal<Out, Bit>,
    replaced: Signal<Out, Bits<8>>,
    wide_shift: Signal<Out, Bits<100>>,
    constant_sum: Signal<Out, Bits<8>>,
    one_bit_sum: Signal<Out, Bit>,

    mask: Constant<Bits<8>>,
}

impl Default for Traps {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            a: Default::default(),
            b: Default::default(),
            by: Default::default(),
            wide: Default::default(),
            at: Default::default(),
            c: Default::default(),
            cast_sum: Default::default(),
            cast_not: Default::default(),
            cast_difference: Default::default(),
            sum_equals: Default::default(),
            difference_less: Default::default(),
            difference_less_cast: Default::default(),
            sum_halved: Default::default(),
            shifted_compared: Default::default(),
            mixed: Default::default(),
            xor_or_and: Default::default(),
            narrow_sum: Default::default(),
            narrow_shift: Default::default(),
            sum_slice: Default::default(),
            every: Default::default(),
            any: Default::default(),
            parity: Default::default(),
            negated: Default::default(),
            picked: Default::default(),
            one_bit: Default::default(),
            replaced: Default::default(),
            wide_shift: Default::default(),
            constant_sum: Default::default(),
            one_bit_sum: Default::default(),
            mask: Constant::new(0xc3u64.to_bits()),
        }
    }
}

impl Logic for Traps {
    #[hdl_gen]
    #[rustfmt::skip]
    fn update(&mut self) {
        self.cast_sum.next = bit_cast::<16, 8>(self.a.val() + self.b.val());
        self.cast_not.next = bit_cast::<16, 8>(!self.a.val());
        self.cast_difference.next = bit_cast::<16, 8>(self.a.val() - self.b.val());
        self.sum_equals.next = (self.a.val() + bits::<8>(1)) == self.b.val();
        self.difference_less.next = (self.a.val() - self.b.val()) < 5;
        self.difference_less_cast.next = (self.a.val() - self.b.val()) < bits::<8>(5);
        self.sum_halved.next = (self.a.val() + self.b.val()) >> 1;
        self.shifted_compared.next = (self.a.val() << self.by.val()) >= self.b.val();
        self.mixed.next = self.a.val() & self.mask.val() == self.b.val() | self.mask.val();
        self.xor_or_and.next =
            self.a.val() ^ self.b.val() | self.a.val() & 0x0f ^ self.mask.val();
        self.narrow_sum.next = bit_cast::<4, 8>(self.a.val() + self.b.val());
        self.narrow_shift.next = bit_cast::<3, 8>((self.a.val() ^ self.b.val()) >> self.by.val());
        self.sum_slice.next = (self.a.val() + self.b.val()).get_bits::<3>(4);
        self.every.next = (self.a.val() | self.b.val()).all();
        self.any.next = (self.a.val() - self.b.val()).any();
        self.parity.next = (self.a.val() + self.b.val()).xor();
        self.negated.next = (bits::<8>(0) - self.a.val()) + 3;
        self.picked.next = self.wide.val().get_bits::<40>(self.at.val().index());
        self.one_bit.next =
            (self.wide.val() ^ (self.wide.val() >> 1)).get_bit(self.at.val().index());
        self.replaced.next = self.a.val().replace_bit(5, self.c.val());
        self.wide_shift.next = (!self.wide.val() << self.at.val()) - 1;
        self.constant_sum.next = self.mask.val() + 0xf0;
        self.one_bit_sum.next = !(self.c.val() ^ self.mixed.val()) & !self.c.val();
    }
}

/// Order of assignments, latches that are none, enumerations, structs, arrays, loops.
#[derive(LogicBlock, Default)]
struct Orders {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    c: Signal<In, Bit>,
    d: Signal<In, Bit>,

    between: Signal<Out, Bits<8>>,
    register_between: Signal<Out, Bits<8>>,
    register_input: Signal<Out, Bits<8>>,
    guarded: Signal<Out, Bits<8>>,
    state: Signal<Out, Bits<2>>,
    packing: Signal<Out, Bits<13>>,
    sum: Signal<Out, Bits<8>>,

    running: Signal<Local, Bits<8>>,
    late: Signal<Local, Bits<8>>,
    pair: Signal<Local, Pair>,
    lanes: [DFF<Bits<8>>; 3],
    step: DFF<Step>,
    kept: DFF<Bits<8>>,
    seen: DFF<Bits<8>>,
    stored: DFF<Pair>,
}

impl Logic for Orders {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, kept, seen, stored);
        for i in 0..3 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].d.next = self.lanes[i].q.val();
        }

        // Read between two assignments, by an output and by a register.
        self.running.next = self.a.val();
        self.between.next = self.running.val() + 1;
        if self.c.val() {
            self.kept.d.next = self.running.val();
        }
        self.running.next = self.running.val() ^ self.b.val();
        self.register_between.next = self.kept.q.val();

        // A register's input is read as it settles.
        if self.d.val() {
            self.seen.d.next = self.running.val();
        }
        self.register_input.next = self.seen.d.val();

        self.late.next = self.b.val();
        self.guarded.next = bits::<8>(0);
        if self.c.val() {
            self.late.next = self.a.val() + self.b.val();
            if self.late.val() > 100 {
                self.guarded.next = self.late.val();
            }
        } else if self.d.val() {
            self.guarded.next = self.late.val() - 1;
        }

        match self.step.q.val() {
            Step::Idle => {
                self.state.next = bits::<2>(0);
                if self.c.val() {
                    self.step.d.next = Step::Run;
                }
            }
            Step::Run => {
                self.state.next = bits::<2>(1);
                if self.d.val() {
                    self.step.d.next = Step::Stop;
                }
            }
            Step::Stop => {
                self.state.next = bits::<2>(2);
                self.step.d.next = Step::Idle;
            }
        }

        self.pair.next.low = bit_cast::<5, 8>(self.a.val());
        self.pair.next.flag = self.c.val();
        self.pair.next.high = bit_cast::<7, 8>(self.b.val());
        self.stored.d.next.low = self.pair.val().low;
        if self.d.val() {
            self.stored.d.next = self.pair.val();
        }
        self.packing.next = bit_cast::<13, 5>(self.stored.q.val().low)
            | (bit_cast::<13, 7>(self.stored.q.val().high) << 6);

        if self.c.val() & self.d.val() {
            self.lanes[0].d.next = self.a.val();
            for i in 1..3 {
                self.lanes[i].d.next = self.lanes[i - 1].q.val() + 1;
            }
        }
        self.sum.next = self.lanes[0].q.val() + self.lanes[1].q.val() + self.lanes[2].q.val();
    }
}

cosim! {
    trap_expressions_keep_their_meaning: Traps::default(), 4000,
    clocks [clock],
    inputs [a, b, by, wide, at, c],
    outputs [
        cast_sum, cast_not, cast_difference, sum_equals, difference_less, difference_less_cast,
        sum_halved, shifted_compared, mixed, xor_or_and, narrow_sum, narrow_shift, sum_slice, every,
        any, parity, negated, picked, one_bit, replaced, wide_shift, constant_sum, one_bit_sum
    ]
}

cosim! {
    order_of_assignments_is_kept: Orders::default(), 4000,
    clocks [clock],
    inputs [a, b, c, d],
    outputs [between, register_between, register_input, guarded, state, packing, sum]
}

cosim! {
    fifo: stream::fifo::Fifo::<Bits<12>, 2, 3>::default(), 3000,
    clocks [clock],
    inputs [reset, sink.valid, sink.payload, source.ready],
    outputs [sink.ready, source.valid, source.payload, level]
}

cosim! {
    crossing: stream::async_fifo::AsyncFifo::<Bits<12>, 3, 4>::default(), 2000,
    clocks [write_clock, read_clock],
    inputs [sink.valid, sink.payload, source.ready],
    outputs [sink.ready, source.valid]
}

cosim! {
    mac_receive: ip::cmac::receive::MacReceive::default(), 300,
    clocks [mac_clock],
    inputs [rx_axis_tdata, rx_axis_tkeep, rx_axis_tvalid, rx_axis_tlast, rx_axis_tuser],
    outputs [frames.valid, frames.data, frames.byte_count, frames.last, frames.abort]
}

cosim! {
    frame_fifo: stream::frame_fifo::FrameFifo::<3, 4>::new(true, true), 1500,
    clocks [clock],
    inputs [
        reset, sink.valid, sink.data, sink.byte_count, sink.last, sink.abort, source.ready
    ],
    outputs [sink.ready, source.valid, dropped]
}
