//! A TAP device of this machine, by its name: what is at the other end is whatever uses the
//! interface, this machine's own kernel or a bridge to others.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use super::{is_overrun, sys};
use crate::transport::{Result, TransportError};

/// Frames as on the wire, from and to an interface.
#[derive(Debug)]
pub struct TapPort {
    device: File,
}

impl TapPort {
    /// Longest name of an interface, bytes.
    pub const NAME_BYTES_MAX: usize = 15;

    /// Opens the interface of that name; where there is none, it is made, which needs rights and
    /// lasts as long as this does.
    ///
    /// # Errors
    /// [`TransportError::TapRefused`]: no driver, no rights, or another program has it.
    pub fn open(name: &str) -> Result<Self> {
        let refused = |step| move |source| TransportError::TapRefused { step, source };
        let is_name = !name.is_empty() && name.len() <= Self::NAME_BYTES_MAX;
        let name = CString::new(name).ok().filter(|_| is_name);
        let wrong = || refused("its name")(io::Error::from(io::ErrorKind::InvalidInput));
        let name = name.ok_or_else(wrong)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
        let device = options.open("/dev/net/tun").map_err(refused("open /dev/net/tun"))?;
        let flags = libc::IFF_TAP | libc::IFF_NO_PI;
        sys::tun_set_interface(device.as_fd(), &name, flags).map_err(refused("TUNSETIFF"))?;
        Ok(Self { device })
    }

    /// Copies the next frame of the interface into `buffer`; returns its length.
    ///
    /// # Errors
    /// The interface is gone; a frame longer than the buffer.
    pub fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        // One byte more than the buffer shows whether the frame was truncated.
        let mut excess = [0];
        match sys::read_vectored(self.device.as_fd(), buffer, &mut excess) {
            Ok(bytes) if bytes > buffer.len() => {
                Err(TransportError::FrameTooLong { bytes, limit: buffer.len() })
            }
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if sys::would_block(&error) => Ok(None),
            // Nobody has set it up: nothing comes out of it.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(None),
            Err(source) => Err(TransportError::System { call: "read from TAP", source }),
        }
    }

    /// Hands a frame to the interface. One that is down, or whose queue is full, loses it.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn inject_frame(&mut self, frame: &[u8]) -> Result<()> {
        match sys::write_filled(self.device.as_fd(), frame, &[], &[], 0) {
            Ok(_) => Ok(()),
            Err(error) if is_overrun(&error) || error.raw_os_error() == Some(libc::EIO) => Ok(()),
            Err(source) => Err(TransportError::System { call: "write to TAP", source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_interface_name_is_refused() {
        for name in ["", "sixteen-letters-", "nul\0"] {
            let error = TapPort::open(name).unwrap_err();
            assert!(error.is_refusal() && error.to_string().contains("its name"), "{error}");
        }
    }
}
