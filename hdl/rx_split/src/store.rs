//! The packet store: keeps frames until they are verified, then until they are written out.
//!
//! ```text
//!  beats ──► 2^A beats of memory ──► read port
//!    │ last: commit, or roll back and count
//!    └─► FIFO of descriptors ──► packets          release ──► room
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | beats, info | in | judged beats; the packet's facts with the last one |
//! | room | out | to the door: what is on its way and one beat more fits |
//! | packets | out | verified packets in order |
//! | read_address, read_data | in, out | memory, one cycle latency |
//! | release | in | everything before this pointer is forgotten |
//! | drop_count | out | a frame was dropped, with its reason |
//!
//! Timing: one beat a cycle; a packet is offered two cycles behind its last beat.
//!
//! Invariants:
//! 1. Not one byte of a refused frame is offered; its room is free at once.
//! 2. `room` falls while [`IN_FLIGHT_MAX`] beats, or as many packets, still fit.
//! 3. `reset` frees all but the packets that still wait in the FIFO.

use crate::messages::{PacketInfo, Release, RxBeat, StoredPacket};
use stream::prelude::*;

/// Most beats between the door and the store, with a margin.
pub const IN_FLIGHT_MAX: usize = 18;
/// log2 of the packets that can wait.
pub const PACKET_BITS: usize = 6;

/// The store. See the module's head.
#[derive(LogicBlock)]
pub struct Store<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Judged beats.
    pub beats: PulseSink<RxBeat>,
    /// The packet, valid with its last beat.
    pub info: Signal<In, PacketInfo>,
    /// Verified packets.
    pub packets: MessageSource<StoredPacket>,
    /// Dropped frames.
    pub drop_count: PulseSource<Bits<4>>,

    /// The door may admit a beat.
    pub room: Signal<Out, Bit>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<A>>,
    /// That beat, one cycle later.
    pub read_data: Signal<Out, Bits<512>>,
    /// Pointer up to which memory is free again.
    pub release: PulseSink<Release>,

    memory: BlockRam<Bits<512>, A>,
    waiting: Fifo<StoredPacket, 6, 7>,
    write_pointer: DFF<Bits<16>>,
    commit_pointer: DFF<Bits<16>>,
    read_pointer: DFF<Bits<16>>,
    has_room: DFF<Bit>,

    held: Signal<Local, Bits<16>>,
    write_next: Signal<Local, Bits<16>>,
    finished: Signal<Local, Bit>,
    beats_max: Constant<Bits<16>>,
    packets_max: Constant<Bits<7>>,
}

impl<const A: usize> Default for Store<A> {
    fn default() -> Self {
        assert!(
            (9..16).contains(&A),
            "a store holds at least three giant frames"
        );
        let packets_max = (1 << PACKET_BITS) - IN_FLIGHT_MAX;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            beats: Default::default(),
            info: Default::default(),
            packets: Default::default(),
            drop_count: Default::default(),
            room: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            release: Default::default(),
            memory: Default::default(),
            waiting: Default::default(),
            write_pointer: Default::default(),
            commit_pointer: Default::default(),
            read_pointer: Default::default(),
            has_room: Default::default(),
            held: Default::default(),
            write_next: Default::default(),
            finished: Default::default(),
            beats_max: Constant::new((((1usize << A) - IN_FLIGHT_MAX) as u64).to_bits()),
            packets_max: Constant::new((packets_max as u64).to_bits()),
        }
    }
}

impl<const A: usize> Logic for Store<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_pointer,
            commit_pointer,
            read_pointer,
            has_room
        );
        self.memory.clock.next = self.clock.val();
        self.waiting.clock.next = self.clock.val();
        self.waiting.reset.next = false;
        self.packets.valid.next = self.waiting.source.valid.val();
        self.packets.payload.next = self.waiting.source.payload.val();
        self.waiting.source.ready.next = self.packets.ready.val();

        self.held.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.has_room.d.next = (self.held.val() < self.beats_max.val())
            & (self.waiting.level.val() < self.packets_max.val());
        self.room.next = self.has_room.q.val();

        self.memory.read_address.next = self.read_address.val();
        self.read_data.next = self.memory.read_data.val();
        self.memory.write_address.next = bit_cast::<A, 16>(self.write_pointer.q.val());
        self.memory.write_data.next = self.beats.payload.val().data;
        self.memory.write_enable.next = self.beats.valid.val();

        self.write_next.next = self.write_pointer.q.val() + 1;
        self.finished.next = self.beats.valid.val() & self.beats.payload.val().last;
        self.drop_count.valid.next = self.finished.val() & self.beats.payload.val().refused;
        self.drop_count.payload.next = self.beats.payload.val().reason;
        self.waiting.sink.valid.next = self.finished.val() & !self.beats.payload.val().refused;
        self.waiting.sink.payload.next.start = self.commit_pointer.q.val();
        self.waiting.sink.payload.next.stop = self.write_next.val();
        self.waiting.sink.payload.next.info = self.info.val();
        if self.beats.valid.val() {
            self.write_pointer.d.next = self.write_next.val();
        }
        if self.finished.val() {
            if self.beats.payload.val().refused {
                self.write_pointer.d.next = self.commit_pointer.q.val();
            } else {
                self.commit_pointer.d.next = self.write_next.val();
            }
        }

        if self.release.valid.val() {
            self.read_pointer.d.next = self.release.payload.val().pointer;
        }
        if self.reset.val() {
            self.read_pointer.d.next = self.commit_pointer.q.val();
            if self.waiting.source.valid.val() {
                self.read_pointer.d.next = self.waiting.source.payload.val().start;
            }
        }
    }
}
