//! The cards that the environment names: `ZERONIC_CARD`.
//!
//! ```text
//!   golden:DIR[?loss=0.01&reorder=0.01&seed=7&mtu=9000&dmabuf=1&small=1&buffer=9000],vfio:ADDRESS
//! ```
//! Each is a device of NCCL, in this order, and opened when it is used.

use std::collections::HashMap;

use abi::config::{CardConfig, DEFAULT, FRAME_BYTES_MAX, SMALL};
use lab::wire::Disturbance;

use crate::datagrams::LineSettings;
use crate::error::{PluginError, Result};

/// The variable that names the cards.
pub const VARIABLE: &str = "ZERONIC_CARD";
/// MTU where none is named, bytes.
const MTU_BYTES: u16 = 9000;
/// Least MTU that IPv6 allows (RFC 8200, 5), bytes.
const MTU_BYTES_MIN: u16 = 1280;
const MTU_BYTES_MAX: u16 = FRAME_BYTES_MAX as u16 - 14;
/// Longest buffer of a socket that can be asked for, bytes.
const BUFFER_BYTES_MAX: usize = 1 << 30;

/// What a card is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// In software, in this process.
    Golden(CardConfig, LineSettings),
    /// In a slot, at this address.
    Vfio(String),
    /// A simulated one of a test, of this name: see [`bring`](crate::bring).
    Brought(String),
}

/// A card that was named.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// As it was named, without its settings.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Longest IP packet, bytes.
    pub mtu_bytes: u16,
    /// Whether it is offered dma-bufs: only a simulated card, for tests, where a sealed memfd
    /// stands for the memory of a GPU.
    pub takes_dma_bufs: bool,
}

/// The cards that a text names.
pub fn parse(text: &str) -> Result<Vec<Card>> {
    let bad = |why: String| PluginError::BadCards { text: text.to_owned(), why };
    let cards: Result<Vec<Card>> =
        text.split(',').map(|one| card(one.trim()).map_err(bad)).collect();
    match cards {
        Ok(cards) if text.is_empty() || cards.is_empty() => Err(PluginError::NoCards),
        cards => cards,
    }
}

fn card(text: &str) -> std::result::Result<Card, String> {
    let (name, settings) = text.split_once('?').unwrap_or((text, ""));
    let (kind, place) = name.split_once(':').ok_or_else(|| format!("`{name}` has no kind"))?;
    if place.is_empty() {
        return Err(format!("`{name}` does not say where"));
    }
    let mut settings = Settings::of(settings)?;
    let mtu_bytes = settings.take("mtu", MTU_BYTES)?;
    if !(MTU_BYTES_MIN..=MTU_BYTES_MAX).contains(&mtu_bytes) {
        return Err(format!("mtu={mtu_bytes} is not from {MTU_BYTES_MIN} to {MTU_BYTES_MAX}"));
    }
    let (kind, takes_dma_bufs) = match kind {
        "golden" => {
            let disturbance = Disturbance {
                loss: settings.take("loss", 0.0)?,
                reorder: settings.take("reorder", 0.0)?,
                ..Disturbance::default()
            };
            for share in [disturbance.loss, disturbance.reorder] {
                if !(0.0..=0.5).contains(&share) {
                    return Err(format!("{share} is no share of the frames: 0 to 0.5"));
                }
            }
            let is_small = settings.take("small", 0)? == 1;
            let config = if is_small { SMALL } else { DEFAULT };
            let line = LineSettings {
                folder: place.into(),
                disturbance,
                seed: settings.take("seed", 1)?,
                buffer_bytes: buffer_bytes(settings.take("buffer", 0)?, mtu_bytes)?,
            };
            (Kind::Golden(config, line), settings.take("dmabuf", 0)? == 1)
        }
        "vfio" => (Kind::Vfio(place.to_owned()), false),
        "brought" => (Kind::Brought(place.to_owned()), settings.take("dmabuf", 0)? == 1),
        other => return Err(format!("`{other}` is no kind of card")),
    };
    settings.end()?;
    Ok(Card { name: name.to_owned(), kind, mtu_bytes, takes_dma_bufs })
}

/// The buffer of a socket: one that holds no frame would lose each, for ever. 0 is the longest.
fn buffer_bytes(bytes: usize, mtu_bytes: u16) -> std::result::Result<Option<usize>, String> {
    match bytes {
        0 => Ok(None),
        // The system takes twice of it, for what it keeps beside a frame.
        _ if (usize::from(mtu_bytes)..=BUFFER_BYTES_MAX).contains(&bytes) => Ok(Some(bytes)),
        _ => Err(format!("buffer={bytes} is not from mtu={mtu_bytes} to {BUFFER_BYTES_MAX}")),
    }
}

/// Settings behind a card.
struct Settings<'a>(HashMap<&'a str, &'a str>);

impl<'a> Settings<'a> {
    fn of(text: &'a str) -> std::result::Result<Self, String> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').ok_or_else(|| format!("`{pair}`")));
        Ok(Self(pairs.collect::<std::result::Result<_, String>>()?))
    }

    fn take<T: std::str::FromStr>(&mut self, name: &str, or: T) -> std::result::Result<T, String> {
        match self.0.remove(name) {
            None => Ok(or),
            Some(text) => text.parse().map_err(|_| format!("`{name}={text}`")),
        }
    }

    fn end(self) -> std::result::Result<(), String> {
        match self.0.keys().next() {
            Some(name) => Err(format!("`{name}` is no setting of it")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_cards_is_understood() {
        let cards = parse("golden:/tmp/a?loss=0.25&mtu=1500&dmabuf=1&small=1,vfio:0000:03:00.0");
        let cards = cards.unwrap();
        assert_eq!(cards.len(), 2);
        let Kind::Golden(config, line) = &cards[0].kind else { panic!("{cards:?}") };
        assert_eq!((line.folder.to_str(), line.disturbance.loss), (Some("/tmp/a"), 0.25));
        assert_eq!((*config, line.buffer_bytes), (SMALL, None));
        assert_eq!((cards[0].mtu_bytes, cards[0].takes_dma_bufs), (1500, true));
        assert_eq!(cards[1].kind, Kind::Vfio("0000:03:00.0".to_owned()));
        assert_eq!((cards[1].mtu_bytes, cards[1].takes_dma_bufs), (9000, false));
    }

    #[test]
    fn wrong_list_says_what_is_wrong() {
        for (text, why) in [
            ("gold:/tmp", "`gold` is no kind of card"),
            ("golden:", "does not say where"),
            ("golden", "has no kind"),
            ("golden:/tmp?loss=much", "`loss=much`"),
            ("golden:/tmp?loss=0.9", "0.9 is no share"),
            ("golden:/tmp?mtu=576", "mtu=576 is not from 1280 to 9202"),
            ("golden:/tmp?buffer=4096", "buffer=4096 is not from mtu=9000 to 1073741824"),
            ("golden:/tmp?lost=1", "`lost` is no setting"),
            ("vfio:0000:03:00.0?loss=0.1", "`loss` is no setting"),
            ("golden:/tmp,", "has no kind"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(matches!(parse(""), Err(PluginError::BadCards { .. } | PluginError::NoCards)));
    }
}
