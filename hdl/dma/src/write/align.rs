//! Shifts the bytes of a write so that they lie in the dwords that their bus address asks for.
//!
//! ```text
//!   data  b0 b1 ... b63 │ b64 ...        offset = address mod 4, here 3
//!   beat  -- -- -- b0 ... b60 │ b61 b62 b63 b64 ...
//! ```
//! The second half of a beat that a job shares with the next one is that one's, and stays.
//!
//! Timing: combinational from `data` to `beat`; `data_ready` waits for no `data_valid`. One beat a
//! cycle. A job whose shifted bytes reach
//! into one more beat costs that beat.
//!
//! Invariants:
//! 1. A job yields ceil((offset + bytes) / 64) beats, the first one starting at its first dword.
//! 2. The job is popped with its last beat; its length decides, `last` and `abort` of the data do
//!    not.

use stream::prelude::*;

/// How the packet of one write job is shifted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AlignJob {
    /// Client whose packet it is.
    pub client: Bits<2>,
    /// Address modulo 4.
    pub offset: Bits<2>,
    /// The second half of its last beat belongs to the next job.
    pub shares: Bit,
    /// Number of the last one of the packet's beats that begin with bytes of this job, from 0 on.
    pub last: Bits<8>,
    /// The shifted bytes need one more beat.
    pub spills: Bit,
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DwordAligner {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the job at hand.
    pub reset: Signal<In, Bit>,

    /// Jobs in, one for each packet.
    pub job: MessageSink<AlignJob>,
    /// Client whose packet is drawn.
    pub client: Signal<Out, Bits<2>>,
    /// A beat of the job's packet is there.
    pub data_valid: Signal<In, Bit>,
    /// That beat.
    pub data: Signal<In, Bits<512>>,
    /// The beat is taken.
    pub data_ready: Signal<Out, Bit>,
    /// Shifted beats out.
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
    advance: Signal<Local, Bit>,
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
        self.advance.next = self.offered.val() & self.beat.ready.val();
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

        if self.advance.val() {
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
