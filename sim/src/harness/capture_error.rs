//! Why a capture cannot be read.

use std::io;

/// Why nothing of a capture can be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("capture: {0}")]
    File(#[from] io::Error),
    /// It has no bytes.
    #[error("capture is empty: 0 bytes")]
    Empty,
    /// It is neither pcapng nor pcap.
    #[error(
        "capture begins with {0:#010x}: neither pcapng nor pcap; `editcap -F pcapng` converts \
         other formats"
    )]
    Magic(u32),
    /// It ends inside its first header.
    #[error("capture ends inside its header: {0} bytes")]
    Short(usize),
    /// A block ends outside the file or is too short for its content, and nothing comes before it.
    #[error("capture is broken at byte {0}")]
    Broken(usize),
    /// It is packed in a way that is not known here.
    #[error("capture is packed with {0}: unpack it first")]
    Packed(&'static str),
    /// It cannot be unpacked.
    #[error("capture is damaged: {0}")]
    Damaged(String),
    /// It unpacks to more than can be held.
    #[error("capture unpacks to more than {0} bytes: cut it, as with `editcap -c`")]
    Vast(usize),
}
