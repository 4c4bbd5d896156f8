//! The image file: what a build writes for a board's flash, `NAME.zimg`.
//!
//! ```text
//!   header, HEADER_BYTES of text          data: the device's configuration data
//!   zeronic-image 1 \n key value \n ...   (field 'e' of Vivado's .bit file)
//!   filled with \n
//!
//!   slot of the flash   SLOT_PAD_BYTES of 0xff, then the data; the header is not written
//! ```
//! The keys follow the first line in the order of [`KEYS`], one a line, each with a value without
//! blanks. An image that is not all it must be has [`KEY_FORCED`] behind them; a program that does
//! not know this key refuses the image.

/// First line of the header, without the end of the line: a word, and the version of the format.
pub const MAGIC: &str = "zeronic-image 1";
/// Bytes of the header.
pub const HEADER_BYTES: usize = 512;
/// What fills the header behind its last line.
pub const FILLER: u8 = b'\n';

/// Key: name of the board, as `zeronic board list` shows it.
pub const KEY_BOARD: &str = "board";
/// Key: part that the image was built for, as Vivado writes it: `xcvu9p-flga2104-2L-e`.
pub const KEY_PART: &str = "part";
/// Key: name of the card's configuration, or `golden`.
pub const KEY_CONFIG: &str = "config";
/// Key: slot of the flash, a [`Slot`].
pub const KEY_SLOT: &str = "slot";
/// Key: [`crate::ABI_VERSION`] as `major.minor`, decimal.
pub const KEY_CONTRACT: &str = "contract";
/// Key: git hash of the sources, 40 hexadecimal digits.
pub const KEY_GIT: &str = "git";
/// Key: when the image was built, seconds since 1970.
pub const KEY_BUILT: &str = "built";
/// Key: bytes of the data.
pub const KEY_BYTES: &str = "bytes";
/// Key: SHA-256 of the data, 64 hexadecimal digits.
pub const KEY_SHA256: &str = "sha256";

/// Key of an image that was built though something is wrong with it (`zeronic build
/// --force-image`), a line behind the others: how many things, 1 or more. Others have no such line.
pub const KEY_FORCED: &str = "forced";

/// The keys, in the order of the header's lines.
pub const KEYS: [&str; 9] = [
    KEY_BOARD,
    KEY_PART,
    KEY_CONFIG,
    KEY_SLOT,
    KEY_CONTRACT,
    KEY_GIT,
    KEY_BUILT,
    KEY_BYTES,
    KEY_SHA256,
];

/// Bytes of 0xff at the start of the user's slot, before the data: a jump has the upper 24 bits of
/// the address alone (WBSTAR), so it may begin anywhere in them (UG570).
pub const SLOT_PAD_BYTES: u32 = 256;

/// Word that begins a device's configuration: the data have it behind bytes of 0xff and the
/// detection of the bus width (UG570).
pub const SYNC_WORD: u32 = 0xaa99_5566;

/// A slot of the flash; the number is that of [`crate::window::IDENTITY_SLOT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// What the device loads at power-up, at address 0. It is written over a cable alone.
    Golden = 0,
    /// The card: what the golden image jumps to.
    User = 1,
}

impl Slot {
    /// Both.
    pub const ALL: [Slot; 2] = [Slot::Golden, Slot::User];

    /// Its name in the header.
    pub const fn name(self) -> &'static str {
        match self {
            Slot::Golden => "golden",
            Slot::User => "user",
        }
    }

    /// The slot of a name.
    pub fn find_slot(name: &str) -> Option<Slot> {
        Slot::ALL.into_iter().find(|slot| slot.name() == name)
    }
}

/// The two numbers of a version of the contract: major, minor.
pub const fn contract(version: u32) -> (u32, u32) {
    (version >> 16, version & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_longest_header_fits() {
        let mut keys = [&KEYS[..], &[KEY_FORCED]].concat();
        let lines: usize = keys.iter().map(|key| key.len() + 2).sum();
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
        // Names of 32 characters, hashes of 40 and 64, four numbers of 64 bits.
        let values = 4 * 32 + 40 + 64 + 4 * 20;
        assert!(MAGIC.len() + 1 + lines + values <= HEADER_BYTES);
    }

    #[test]
    fn slots_have_names_and_identity_numbers() {
        for slot in Slot::ALL {
            assert_eq!(Slot::find_slot(slot.name()), Some(slot));
        }
        assert_eq!((Slot::Golden as u32, Slot::User as u32), (0, 1));
        assert_eq!(Slot::find_slot("factory"), None);
        assert_eq!(contract(0x0001_000a), (1, 10));
    }
}
