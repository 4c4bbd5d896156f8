//! What is between the served card and its wire: the MAC's core, in the board window.
//!
//! ```text
//!   window ─► BoardWindow ─► link up? ─► STATUS of the card
//!   sent ──┬─ up, no loopback ─► the wire
//!          ├─ up, loopback ────► received
//!          └─ down ────────────► lost
//! ```
//! At power-up the link is brought up, as the program would do that runs on a board then. It stays
//! as clients leave it: neither a reset of the function nor an epoch concerns the MAC.

use std::time::Instant;

use abi::registers as r;
use golden::device::{GoldenDevice, Memory};
use sim_board::board_window::BoardWindow;
use sim_board::mac_core::Wire;

/// Bits of STATUS that are the wire's.
const STATUS_WIRE: u32 = r::STATUS_WIRE_UP
    | r::STATUS_MAC_CLOCK
    | r::STATUS_WIRE_ALIGNED
    | r::STATUS_LOCAL_FAULT
    | r::STATUS_REMOTE_FAULT;

/// The MAC's core, its board, and the time of the machine.
pub struct ServedWire {
    board: BoardWindow,
    looked: Instant,
}

impl ServedWire {
    /// The board of an image with a configuration of this name.
    pub fn new(configuration: &str) -> Self {
        let mut board = BoardWindow::new(configuration, Wire::GOOD);
        board.bring_up();
        Self { board, looked: Instant::now() }
    }

    /// Whether a register is of the board window.
    pub fn has(offset: u32) -> bool {
        (r::BOARD_WINDOW..r::BOARD_WINDOW_END).contains(&offset)
    }

    /// Time has gone by.
    fn pass(&mut self) {
        let now = Instant::now();
        self.board.pass(now - self.looked);
        self.looked = now;
    }

    /// Reads a register of the window.
    pub fn read(&mut self, offset: u32) -> u32 {
        self.pass();
        self.board.read_word(offset)
    }

    /// Writes one.
    pub fn write(&mut self, offset: u32, value: u32) {
        self.pass();
        self.board.write_word(offset, value);
    }

    /// STATUS of the card, with the wire as it is.
    pub fn status(&mut self, status: u32) -> u32 {
        self.pass();
        let mac = &self.board.mac;
        let bits = [
            (mac.is_up(), r::STATUS_WIRE_UP),
            (mac.has_clock(), r::STATUS_MAC_CLOCK),
            (mac.is_aligned(), r::STATUS_WIRE_ALIGNED),
            (!mac.is_aligned(), r::STATUS_LOCAL_FAULT),
            (mac.has_remote_fault(), r::STATUS_REMOTE_FAULT),
        ];
        let wire = bits.iter().filter(|(holds, _)| *holds).map(|(_, bit)| bit).sum::<u32>();
        status & !STATUS_WIRE | wire
    }

    /// Whether frames come and go at the wire.
    pub fn is_open(&mut self) -> bool {
        if !self.board.mac.is_up() {
            self.pass();
        }
        self.board.mac.is_up() && !self.board.mac.loops()
    }

    /// With loopback, has the card receive what it has sent.
    pub fn loop_sent(&mut self, device: &mut GoldenDevice, memory: &mut dyn Memory) {
        if !self.board.mac.loops() || device.sent.is_empty() {
            return;
        }
        self.pass();
        let sent: Vec<Vec<u8>> = device.sent.drain(..).collect();
        if self.board.mac.is_up() {
            for frame in sent {
                device.receive(&frame, false, memory);
            }
        }
    }
}
