//! Who the card says it is.

use abi::window::{
    BlockKind, IDENTITY_BOARD, IDENTITY_BUILT, IDENTITY_CONFIG, IDENTITY_CONFIG_WORDS,
    IDENTITY_HASH, IDENTITY_HASH_WORDS, IDENTITY_SLOT, IDENTITY_VERSION,
};

use crate::window::{find, read, read_word, Window, WindowError};

/// The identity words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of the board.
    pub board: u32,
    /// Version of the contract: major, minor.
    pub contract: (u32, u32),
    /// Name of the configuration.
    pub config: String,
    /// Git hash of the sources, 40 hexadecimal digits.
    pub git: String,
    /// When the image was built, seconds since 1970.
    pub built: u32,
    /// The slot that the image was built for; 0: golden, 1: user.
    pub slot: u32,
}

/// Reads the identity words.
pub fn identity(window: &mut impl Window) -> Result<Identity, WindowError> {
    let place = find(window, BlockKind::Identity)?;
    let mut config = Vec::new();
    for word in (IDENTITY_CONFIG..).take(IDENTITY_CONFIG_WORDS) {
        config.extend(read(window, place, word)?.to_le_bytes());
    }
    let name = config.split(|byte| *byte == 0).next().unwrap_or(&config);
    let mut git = String::new();
    for word in (IDENTITY_HASH..).take(IDENTITY_HASH_WORDS) {
        git += &format!("{:08x}", read(window, place, word)?);
    }
    Ok(Identity {
        board: read_word(window, place, IDENTITY_BOARD)?,
        contract: abi::image::contract(read_word(window, place, IDENTITY_VERSION)?),
        config: String::from_utf8_lossy(name).into_owned(),
        git,
        built: read(window, place, IDENTITY_BUILT)?,
        slot: read_word(window, place, IDENTITY_SLOT)?,
    })
}
