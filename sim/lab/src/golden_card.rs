//! The golden device as a card behind a [`Bus`]: a driver runs on it without RTL. The device takes
//! no time, unless it is one that takes its time (`golden_card/delay.rs`); a round of the host
//! takes as long as on the simulated card.

mod delay;
mod memory;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use abi::config::CardConfig;
use abi::registers::DOORBELLS;
pub use golden::device::RingKind;
use golden::device::{GoldenDevice, Memory};
use golden::interrupts::Interrupts;
use host::driver::bus::{page_bits, Bus, BusError, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::bus_memory::{new_pages, BusAddresses};
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;

pub use self::delay::Withheld;
use self::delay::{Delay, DelayedMemory};

use self::memory::{HostMemory, Piece};
use crate::frame::Frame;
use crate::network_side::NetworkSide;
use crate::time::{duration_of_ps, ADVANCE_CYCLES, USER_CLOCK_PS};

/// The golden device with its host memory.
pub struct GoldenCard {
    device: GoldenDevice,
    memory: HostMemory,
    now_ps: u64,
    /// Frames handed in or taken out, and registers accessed.
    traffic: u64,
    frames_in: u64,
    /// What it has not done yet, of a card that takes its time.
    delay: Option<Delay>,
    /// A test holds descriptors, see [`GoldenCard::hold_sends`].
    is_held_by_test: bool,
    is_held: bool,
}

impl GoldenCard {
    /// A device of a configuration, just powered up, behind a handle to share.
    pub fn new(config: CardConfig) -> Rc<RefCell<GoldenCard>> {
        Self::with(config, None)
    }

    /// The same, of a card that takes its time: it does late, at random by `seed`, what the
    /// contract lets it do late. Its time goes on with [`Bus::advance`].
    pub fn late(config: CardConfig, seed: u64) -> Rc<RefCell<GoldenCard>> {
        Self::with(config, Some(Delay::new(1 << config.owner_bits, seed)))
    }

    fn with(config: CardConfig, delay: Option<Delay>) -> Rc<RefCell<GoldenCard>> {
        let interrupts = Interrupts::new(1 << config.owner_bits);
        Rc::new(RefCell::new(GoldenCard {
            device: GoldenDevice::new(config),
            memory: HostMemory { interrupts, ..HostMemory::default() },
            now_ps: 0,
            traffic: 0,
            frames_in: 0,
            delay,
            is_held_by_test: false,
            is_held: false,
        }))
    }

    /// A card that takes its time withholds this without end, until the next call.
    ///
    /// # Panics
    /// If the card does everything at once.
    pub fn withhold(&mut self, withheld: Option<Withheld>) {
        self.delay.as_mut().expect("a late card").withhold(withheld);
    }

    /// Calls the device with the memory that it has.
    fn act(&mut self, act: impl FnOnce(&mut GoldenDevice, &mut dyn Memory)) {
        let memory = &mut self.memory;
        match &mut self.delay {
            Some(delay) => act(&mut self.device, &mut DelayedMemory { memory, delay }),
            None => act(&mut self.device, memory),
        }
    }

    /// A register write reaches the card.
    fn write_register(&mut self, offset: u32, value: u32) {
        if let Some(delay) = &mut self.delay {
            if delay.take_doorbell(offset, value) {
                return;
            }
            // What is set up anew finds nothing of before under way.
            if offset < DOORBELLS {
                self.catch_up();
            }
        }
        if let Some(delay) = &mut self.delay {
            delay.note_register(offset, value);
        }
        self.memory.interrupts.note_register(offset, value);
        self.act(|device, memory| device.write_register(offset, value, memory));
    }

    /// The card does everything that it has put off.
    fn catch_up(&mut self) {
        let rung = self.delay.as_mut().map(Delay::all_doorbells);
        self.ring(rung.unwrap_or_default());
        if self.is_held && !self.is_held_by_test {
            self.let_go();
        }
        if let Some(delay) = &mut self.delay {
            delay.show_all(&mut self.memory);
        }
    }

    fn ring(&mut self, doorbells: Vec<(u32, u32)>) {
        for (offset, value) in doorbells {
            self.act(|device, memory| device.write_register(offset, value, memory));
        }
    }

    /// Whether nothing happens by itself any more.
    fn rests(&self) -> bool {
        let is_late = self.delay.as_ref().is_some_and(|delay| !delay.is_empty());
        let is_coalescing = self.device.open_runs() > 0;
        !is_late && !is_coalescing && (!self.is_held || self.is_held_by_test)
    }

    /// Lets `cycles` cycles pass; a card that takes its time goes on once for every
    /// [`ADVANCE_CYCLES`] that begin.
    pub fn run(&mut self, cycles: u64) {
        self.now_ps += cycles * USER_CLOCK_PS;
        self.act(|device, memory| device.pass_cycles(cycles, memory));
        for _ in 0..cycles.div_ceil(ADVANCE_CYCLES) {
            self.go_on();
        }
    }

    /// A round of a card that takes its time.
    fn go_on(&mut self) {
        let Some(delay) = &mut self.delay else { return };
        let rung = delay.due_doorbells();
        let turns = !self.is_held_by_test && delay.toggle_hold(self.is_held);
        self.ring(rung);
        match (turns, self.is_held) {
            (true, true) => self.let_go(),
            (true, false) => {
                self.is_held = true;
                self.device.hold_sends();
            }
            _ => {}
        }
        if let Some(delay) = &mut self.delay {
            delay.show(&mut self.memory);
        }
    }

    fn let_go(&mut self) {
        self.is_held = false;
        self.act(|device, memory| device.release_sends(memory));
    }

    /// Holds descriptors between their two look-ups, see [`GoldenDevice::hold_sends`].
    pub fn hold_sends(&mut self) {
        (self.is_held, self.is_held_by_test) = (true, true);
        self.device.hold_sends();
    }

    /// Descriptors that are held.
    pub fn held_sends(&self) -> usize {
        self.device.held_sends()
    }

    /// Lets all that is held go on.
    pub fn release_sends(&mut self) {
        self.is_held_by_test = false;
        self.let_go();
    }

    /// From now on a ring of an owner cannot be read: it stops when it has work, until its context
    /// is enabled again.
    pub fn make_unreadable(&mut self, owner: u8, ring: RingKind) {
        self.device.make_unreadable(owner.into(), ring);
    }

    /// Pieces of control memory that the card reaches.
    pub fn control_pieces(&self) -> usize {
        self.memory.pieces.values().filter(|piece| piece.is_control).count()
    }

    /// Frames that were handed in.
    pub fn frames_in(&self) -> u64 {
        self.frames_in
    }

    /// Rings that stopped, commands and sends.
    pub fn rings_stopped(&self) -> [u64; 2] {
        self.device.rings_stopped
    }

    /// Failed sends whose event found the header queue of their owner full.
    pub fn send_events_lost(&self) -> u64 {
        self.device.send_events_lost
    }
}

impl NetworkSide for GoldenCard {
    fn receive(&mut self, frame: Frame) {
        self.traffic += 1;
        self.frames_in += 1;
        self.act(|device, memory| device.receive(&frame.bytes, frame.is_bad, memory));
    }

    fn take_sent(&mut self, into: &mut Vec<Frame>) {
        self.traffic += self.device.sent.len() as u64;
        into.extend(self.device.sent.drain(..).map(|bytes| Frame { bytes, ..Frame::default() }));
    }

    fn is_quiet(&self) -> bool {
        true
    }

    fn wire_busy_ps(&self) -> u64 {
        0
    }

    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn traffic(&self) -> Option<u64> {
        let is_late = self.delay.as_ref().is_some_and(|delay| !delay.is_empty());
        let is_held = self.is_held && self.device.holds_any() && !self.is_held_by_test;
        let is_coalescing = self.device.open_runs() > 0;
        let is_quiet = self.device.sent.is_empty() && !is_late && !is_held && !is_coalescing;
        is_quiet.then_some(self.traffic)
    }
}

/// The golden card as a bus.
pub struct GoldenBus {
    card: Rc<RefCell<GoldenCard>>,
    addresses: BusAddresses,
    /// Register writes that wait, of a bus that is late.
    late: Option<VecDeque<(u32, u32)>>,
}

impl GoldenBus {
    /// A bus to `card`.
    pub fn new(card: Rc<RefCell<GoldenCard>>) -> Self {
        Self { card, addresses: BusAddresses::default(), late: None }
    }

    /// A bus on which register writes wait for [`GoldenBus::carry_out`] or the next read, so that
    /// the card works between the calls of the host and not inside them.
    pub fn late(card: Rc<RefCell<GoldenCard>>) -> Self {
        Self { late: Some(VecDeque::new()), ..Self::new(card) }
    }

    /// The card takes the register writes that wait.
    pub fn carry_out(&mut self) {
        let late = self.late.iter_mut().flat_map(|late| late.drain(..));
        let card = &mut *self.card.borrow_mut();
        for (offset, value) in late {
            card.write_register(offset, value);
        }
    }

    /// Adds memory at the next address of that alignment, and returns it.
    fn add(&mut self, is_control: bool, range: MemoryRange, align: u64) -> Result<u64> {
        let bytes = range.bytes();
        let address = self.addresses.next(align);
        let piece = Piece { is_control, bytes: range.map_device()?, range };
        self.addresses.take(address, bytes);
        self.card.borrow_mut().memory.pieces.insert(address, piece);
        Ok(address)
    }
}

impl Bus for GoldenBus {
    fn read_register(&mut self, offset: u32) -> Result<u32> {
        self.carry_out();
        let card = &mut *self.card.borrow_mut();
        card.traffic += 1;
        Ok(card.device.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        let card = &mut *self.card.borrow_mut();
        card.traffic += 1;
        if let Some(late) = &mut self.late {
            late.push_back((offset, value));
            return Ok(());
        }
        card.write_register(offset, value);
        Ok(())
    }

    fn allocate_control(&mut self, bytes: usize, align: usize) -> Result<ControlMemory> {
        let pages = new_pages(bytes)?;
        let address = self.add(true, pages.clone(), align as u64)?;
        Ok(ControlMemory::new(address, &pages)?)
    }

    fn release_control(&mut self, memory: ControlMemory) -> Result<()> {
        let pieces = &mut self.card.borrow_mut().memory.pieces;
        pieces.remove(&memory.address());
        Ok(())
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        let address = self.add(false, new_pages(bytes)?, align as u64)?;
        Ok(DmaMemory { address, bytes, kind })
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        let bytes = range.bytes();
        let address = self.add(false, range.clone(), 1 << page_bits(bytes as u64))?;
        Ok(DmaMemory { address, bytes, kind: MemoryKind::Application })
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.card.borrow_mut().memory.pieces.remove(&memory.address);
        Ok(())
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        let card = self.card.borrow();
        match card.memory.pieces.get(&memory.address) {
            Some(piece) if !piece.is_control => Ok(piece.range.clone()),
            _ => Err(BusError::BadAddress { address: memory.address, bytes: memory.bytes }),
        }
    }

    fn flush_address(&self, _kind: MemoryKind) -> Option<u64> {
        None
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        std::mem::take(&mut self.card.borrow_mut().memory.faults)
    }

    fn now(&self) -> Duration {
        duration_of_ps(self.card.borrow().now_ps)
    }

    fn advance(&mut self) -> Result<()> {
        self.card.borrow_mut().run(ADVANCE_CYCLES);
        Ok(())
    }

    fn enable_interrupt(&mut self, _vector: u16) -> Result<()> {
        Ok(())
    }

    /// A card that takes its time goes on meanwhile.
    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.carry_out();
        let limit_ps = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000);
        let end_ps = self.card.borrow().now_ps.saturating_add(limit_ps);
        loop {
            let card = &mut *self.card.borrow_mut();
            if let Some(vector) = card.memory.interrupts.take_next() {
                return Ok(Some(vector));
            }
            if card.now_ps >= end_ps || card.rests() {
                card.now_ps = card.now_ps.max(end_ps);
                return Ok(None);
            }
            card.run(ADVANCE_CYCLES);
        }
    }
}
