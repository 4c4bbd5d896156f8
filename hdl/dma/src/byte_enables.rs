//! Number of dwords of a request, and the byte enables of its first and its last dword.
//!
//! ```text
//!   address 0x1003, 6 bytes:  -- -- -- b0 │ b1 b2 b3 b4 │ b5 -- -- --   enables 8, 1
//! ```
//! Timing: combinational.
//!
//! Source: PCI Express Base 3.0, 2.2.5.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ByteEnables {
    /// Bus address of the first byte.
    pub address: Signal<In, Bits<64>>,
    /// Length in bytes, 1 to 1,024.
    pub bytes: Signal<In, Bits<11>>,

    /// Bus address of the first dword.
    pub dword_address: Signal<Out, Bits<64>>,
    /// Number of dwords, 1 to 256.
    pub dwords: Signal<Out, Bits<9>>,
    /// Byte enables of the first dword.
    pub first_be: Signal<Out, Bits<4>>,
    /// Byte enables of the last dword; 0 for a request of one dword.
    pub last_be: Signal<Out, Bits<4>>,

    offset: Signal<Local, Bits<2>>,
    bytes_padded: Signal<Local, Bits<12>>,
    count: Signal<Local, Bits<9>>,
    all: Signal<Local, Bits<4>>,
    first_mask: Signal<Local, Bits<4>>,
    last_mask: Signal<Local, Bits<4>>,
}

impl Logic for ByteEnables {
    #[hdl_gen]
    fn update(&mut self) {
        self.offset.next = bit_cast::<2, 64>(self.address.val());
        // Bytes from the start of the first dword on, rounded up to dwords, in one sum.
        self.bytes_padded.next = bit_cast::<12, 11>(self.bytes.val())
            + bit_cast::<12, 3>(bit_cast::<3, 2>(self.offset.val()) + 3);
        self.count.next = self.bytes_padded.val().get_bits::<9>(2);
        self.all.next = 15.into();
        self.first_mask.next = self.all.val() << self.offset.val();
        // The sum is 4 above the place of the last byte: the two low bits are equal.
        self.last_mask.next =
            self.all.val() >> (bits::<2>(3) - bit_cast::<2, 12>(self.bytes_padded.val()));

        self.dword_address.next = bit_cast::<64, 62>(self.address.val().get_bits::<62>(2)) << 2;
        self.dwords.next = self.count.val();
        self.first_be.next = self.first_mask.val();
        self.last_be.next = self.last_mask.val();
        if self.count.val() == 1 {
            self.first_be.next = self.first_mask.val() & self.last_mask.val();
            self.last_be.next = 0.into();
        }
    }
}
