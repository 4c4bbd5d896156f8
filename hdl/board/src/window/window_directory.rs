//! The directory of the board window, and the words that name board and image.
//!
//! ```text
//!   0x40000  directory: abi::window::directory(), or golden_directory()
//!   0x41000  identity: board, contract, configuration, hash, time, slot
//! ```
//! Timing: a reply one cycle after its access.
//!
//! Invariants:
//! 1. Words past the last one read as 0.
//!
//! On error: a write is answered with SLVERR.
//!
//! Source: `abi::window`.

use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use abi::window::{DIRECTORY_WORDS, IDENTITY_CONFIG_WORDS, IDENTITY_WORDS};
use abi::ABI_VERSION;
use stream::prelude::*;

/// Word `number` of a configuration's name.
fn name_word(name: &str, number: usize) -> u64 {
    let bytes = name.bytes().skip(4 * number).take(4);
    bytes.enumerate().fold(0, |word, (at, byte)| word | u64::from(byte) << (8 * at))
}

/// The words of a board, number `board`, with a card of this configuration, and the directory of
/// its window.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(board: u32, config: &str, directory: [u32; DIRECTORY_WORDS])]
#[require(config.len() <= 4 * IDENTITY_CONFIG_WORDS, "the name {config} is too long")]
pub struct WindowDirectory {
    /// Clock of the block.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// Git hash of the sources.
    pub hash: Signal<In, Bits<160>>,
    /// When the image was built, seconds since 1970.
    pub built: Signal<In, Bits<32>>,
    /// Slot of the flash that the image is built for.
    pub image_slot: Signal<In, Bits<32>>,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,

    address: Signal<Local, Bits<20>>,
    word: Signal<Local, Bits<10>>,
    identity: [Signal<Local, Bits<32>>; IDENTITY_WORDS as usize],
    #[value(|number| u64::from(directory[number]))]
    entries: [Constant<Bits<32>>; DIRECTORY_WORDS],
    #[value(|number| number as u64)]
    numbers: [Constant<Bits<10>>; DIRECTORY_WORDS],
    #[value(u64::from(board))]
    board_number: Constant<Bits<32>>,
    #[value(u64::from(ABI_VERSION))]
    version: Constant<Bits<32>>,
    #[value(|number| name_word(config, number))]
    config_name: [Constant<Bits<32>>; IDENTITY_CONFIG_WORDS],
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
}

impl Logic for WindowDirectory {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer);
        self.address.next = self.access.payload.val().address;
        self.word.next = self.address.val().get_bits::<10>(2);
        self.identity[0].next = self.board_number.val();
        self.identity[1].next = self.version.val();
        for i in 0..4 {
            self.identity[2 + i].next = self.config_name[i].val();
        }
        self.identity[6].next = self.hash.val().get_bits::<32>(128);
        self.identity[7].next = self.hash.val().get_bits::<32>(96);
        self.identity[8].next = self.hash.val().get_bits::<32>(64);
        self.identity[9].next = self.hash.val().get_bits::<32>(32);
        self.identity[10].next = self.hash.val().get_bits::<32>(0);
        self.identity[11].next = self.built.val();
        self.identity[12].next = self.image_slot.val();

        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.data = bits::<32>(0);
        self.answer.d.next.response = bits::<2>(0);
        if self.access.payload.val().write {
            self.answer.d.next.response = self.refused.val();
        } else if self.address.val().get_bit(12) {
            for i in 0..13 {
                if self.word.val() == self.numbers[i].val() {
                    self.answer.d.next.data = self.identity[i].val();
                }
            }
        } else {
            for i in 0..34 {
                if self.word.val() == self.numbers[i].val() {
                    self.answer.d.next.data = self.entries[i].val();
                }
            }
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
