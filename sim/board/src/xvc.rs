//! A cable: a server of XVC 1.0 (Xilinx Virtual Cable, XAPP1251) before a [`JtagDevice`].
//!
//! ```text
//!   TCP ─► getinfo:   name, version, bytes of a shift
//!       ─► settck:    period, given back
//!       ─► shift:     TMS and TDI ─► device ─► TDO
//!   cut_after(n) ──── at shift n + 1 the connection is closed, and nobody listens any more
//! ```

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::jtag::JtagDevice;

/// Most bytes of TMS, and of TDI, in a shift.
const SHIFT_BYTES_MAX: usize = 32 << 10;

#[derive(Debug)]
struct Shared {
    device: Mutex<JtagDevice>,
    shifts: AtomicU64,
    shifts_left: AtomicU64,
    ended: AtomicBool,
}

/// A cable with a device at its end. Dropped, it is gone.
#[derive(Debug)]
pub struct XvcServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl XvcServer {
    /// Serves one connection at a time, at a free port of this machine.
    pub fn start(device: JtagDevice) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            device: Mutex::new(device),
            shifts: AtomicU64::new(0),
            shifts_left: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serving.serve(&listener));
        Ok(Self { shared, address, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The device; the cable waits until it is given back.
    pub fn device(&self) -> MutexGuard<'_, JtagDevice> {
        let device = self.shared.device.lock();
        device.unwrap_or_else(PoisonError::into_inner)
    }

    /// Shifts so far.
    pub fn shifts(&self) -> u64 {
        self.shared.shifts.load(Ordering::SeqCst)
    }

    /// Pulls the cable after so many more shifts.
    pub fn cut_after(&self, shifts: u64) {
        self.shared.shifts_left.store(shifts, Ordering::SeqCst);
    }
}

impl Drop for XvcServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes it up; where nobody listens any more there is nothing to wake.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            // A panic was printed where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, listener: &TcpListener) {
        while let Ok((stream, _)) = listener.accept() {
            let is_pulled = || self.shifts_left.load(Ordering::SeqCst) == 0;
            if self.ended.load(Ordering::SeqCst) {
                return;
            }
            // A client that goes away, or sends nonsense, ends its connection alone.
            let _ = self.talk(stream);
            if is_pulled() {
                return;
            }
        }
    }

    fn talk(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        loop {
            match &command(&mut stream)?[..] {
                b"getinfo:" => {
                    // In one piece: clients take what comes first for the whole.
                    let info = format!("xvcServer_v1.0:{}\n", 2 * SHIFT_BYTES_MAX);
                    stream.write_all(info.as_bytes())?;
                }
                b"settck:" => {
                    let period = take(&mut stream, 4)?;
                    stream.write_all(&period)?;
                }
                b"shift:" => {
                    let answer = self.shift(&mut stream)?;
                    let Some(answer) = answer else { return Ok(()) };
                    stream.write_all(&answer)?;
                }
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }

    /// Carries a shift out; `None` when the cable was pulled before.
    fn shift(&self, stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
        let head = take(stream, 4)?;
        let bits = head.iter().rev().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bytes = bits.div_ceil(8);
        if bytes > SHIFT_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let (tms, tdi) = (take(stream, bytes)?, take(stream, bytes)?);
        let one_less = |left: u64| match left {
            u64::MAX => Some(left),
            left => left.checked_sub(1),
        };
        let order = Ordering::SeqCst;
        if self.shifts_left.fetch_update(order, order, one_less).is_err() {
            return Ok(None);
        }
        self.shifts.fetch_add(1, order);
        let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tdo = vec![0; bytes];
        for bit in 0..bits {
            let of = |bytes: &[u8]| bytes[bit / 8] >> (bit % 8) & 1 == 1;
            tdo[bit / 8] |= u8::from(device.clock(of(&tms), of(&tdi))) << (bit % 8);
        }
        Ok(Some(tdo))
    }
}

/// A command's name, with its colon.
fn command(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut name = Vec::new();
    while !name.ends_with(b":") && name.len() < 16 {
        name.extend(take(stream, 1)?);
    }
    Ok(name)
}

fn take(stream: &mut TcpStream, bytes: usize) -> io::Result<Vec<u8>> {
    let mut taken = vec![0; bytes];
    stream.read_exact(&mut taken)?;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash_chip::FlashChip;

    fn server() -> XvcServer {
        let device = JtagDevice::new(0x14b3_1093, vec![FlashChip::new(1 << 20)]);
        XvcServer::start(device).expect("a server")
    }

    /// Six clocks into Shift-DR and 32 in it: the IDCODE.
    fn identify(stream: &mut TcpStream) -> io::Result<u32> {
        let tms: u64 = 0b0_0101_1111;
        let mut bytes = b"shift:".to_vec();
        bytes.extend(41u32.to_le_bytes());
        bytes.extend(&tms.to_le_bytes()[..6]);
        bytes.extend([0xff; 6]);
        stream.write_all(&bytes)?;
        let answer = take(stream, 6)?;
        let mut wide = [0; 8];
        wide[..6].copy_from_slice(&answer);
        Ok((u64::from_le_bytes(wide) >> 9) as u32)
    }

    #[test]
    fn a_client_finds_the_device() {
        let server = server();
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(b"getinfo:").expect("sent");
        let info = take(&mut stream, "xvcServer_v1.0:65536\n".len()).expect("an answer");
        assert_eq!(info, b"xvcServer_v1.0:65536\n");
        stream.write_all(b"settck:\x64\0\0\0").expect("sent");
        assert_eq!(take(&mut stream, 4).expect("an answer"), [0x64, 0, 0, 0]);
        assert_eq!(identify(&mut stream).expect("an answer"), 0x14b3_1093);
        assert_eq!(server.shifts(), 1);
    }

    #[test]
    fn pulled_cable_does_not_answer() {
        let server = server();
        server.cut_after(1);
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        identify(&mut stream).expect("an answer");
        assert!(identify(&mut stream).is_err());
        assert_eq!(server.shifts(), 1);
        let mut tries = (0..1000).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            TcpStream::connect(server.address())
        });
        assert!(tries.any(|stream| stream.is_err()));
    }

    #[test]
    fn nonsense_ends_the_connection_alone() {
        let server = server();
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(b"dance:").expect("sent");
        assert!(take(&mut stream, 1).is_err());
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        assert_eq!(identify(&mut stream).expect("an answer"), 0x14b3_1093);
    }
}
