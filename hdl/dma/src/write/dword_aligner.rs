//! Shifts the bytes of a write so that they lie in dwords as their bus address requires.
//!
//! ```text
//!   data  b0 b1 ... b63 │ b64 ...        offset = address mod 4, here 3
//!   beat  -- -- -- b0 ... b60 │ b61 b62 b63 b64 ...
//! ```
//! If a job shares its last beat, the second half of that beat belongs to the next job and is not
//! shifted.
//!
//! Timing: combinational from `data` to `beat`; `data_ready` does not wait for `data_valid`. One
//! beat per cycle. A job whose shifted bytes reach into one more beat takes one more cycle.
//!
//! Invariants:
//! 1. A job yields ceil((offset + bytes) / 64) beats; its first dword is dword 0 of the first one.
//!    A job that joins a shared beat begins at dword 8 of that beat, which the job before it
//!    yields, and yields beats for the rest of its bytes only.
//! 2. The job is popped with its last beat. Its length decides: `last` and `abort` of the data have
//!    no effect.
//! 3. It relies on a beat at `data` that is offered until it is taken, while `client` names it.

use stream::prelude::*;

/// Shift and length of the packet of one write job.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AlignJob {
    /// Client that delivers the packet.
    pub client: Bits<2>,
    /// Bus address modulo 4.
    pub offset: Bits<2>,
    /// The second half of the last beat belongs to the next job.
    pub shares: Bit,
    /// Number of the packet's last beat that begins with bytes of this job, counted from 0.
    pub last: Bits<8>,
    /// The shifted bytes need one more beat.
    pub spills: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DwordAligner {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the current job.
    pub reset: Signal<In, Bit>,

    /// Jobs, one for each packet.
    pub job: MessageSink<AlignJob>,
    /// Client whose packet is taken.
    pub client: Signal<Out, Bits<2>>,
    /// The client offers a beat of the job's packet.
    pub data_valid: Signal<In, Bit>,
    /// The beat that the client offers.
    pub data: Signal<In, Bits<512>>,
    /// The beat is taken.
    pub data_ready: Signal<Out, Bit>,
    /// Shifted beats.
    pub beat: MessageSource<Bits<512>>,

    taken: DFF<Bits<8>>,
    carry: DFF<Bits<24>>,
    spilling: DFF<Bit>,

    shift: Signal<Local, Bits<5>>,
    rear_shift: Signal<Local, Bits<5>>,
    front: Signal<Local, Bits<256>>,
    wide: Signal<Local, Bits<536>>,
    is_end: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
}

impl Logic for DwordAligner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taken, carry, spilling);

        self.client.next = self.job.payload.val().client;
        self.shift.next = bit_cast::<5, 2>(self.job.payload.val().offset) << 3;
        self.is_end.next = self.taken.q.val() == self.job.payload.val().last;
        self.rear_shift.next = self.shift.val();
        if self.is_end.val() & self.job.payload.val().shares {
            self.rear_shift.next = 0.into();
        }
        self.front.next = bit_cast::<256, 512>(self.data.val()) << self.shift.val();
        self.wide.next = bit_cast::<536, 512>(self.data.val()) << self.rear_shift.val();

        self.offered.next = self.job.valid.val() & (self.data_valid.val() | self.spilling.q.val());
        self.beat.valid.next = self.offered.val();
        self.beat.payload.next = (bit_cast::<512, 256>(self.wide.val().get_bits::<256>(256))
            << 256)
            | bit_cast::<512, 256>(self.front.val())
            | bit_cast::<512, 24>(self.carry.q.val());
        if self.spilling.q.val() {
            self.beat.payload.next = bit_cast::<512, 24>(self.carry.q.val());
        }
        self.data_ready.next =
            self.job.valid.val() & self.beat.ready.val() & !self.spilling.q.val();
        self.job.ready.next = false;

        if self.offered.val() & self.beat.ready.val() {
            self.taken.d.next = self.taken.q.val() + 1;
            self.carry.d.next = self.wide.val().get_bits::<24>(512);
            if self.spilling.q.val() | (self.is_end.val() & !self.job.payload.val().spills) {
                self.job.ready.next = true;
                self.taken.d.next = 0.into();
                self.carry.d.next = 0.into();
                self.spilling.d.next = false;
            } else if self.is_end.val() {
                self.spilling.d.next = true;
            }
        }
        if self.reset.val() {
            self.taken.d.next = 0.into();
            self.carry.d.next = 0.into();
            self.spilling.d.next = false;
        }
    }
}
